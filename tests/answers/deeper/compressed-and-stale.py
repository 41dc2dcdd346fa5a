# %% 1 right
def answer_1(gradient, residual, k):
    rest = gradient + residual
    message = numpy.zeros(len(rest))
    order = numpy.argsort(-abs(rest), kind="stable")
    message[order[:k]] = rest[order[:k]]
    rest[order[:k]] = 0
    return [message, rest]

# %% 1 wrong: residual-not-sent
def answer_1(gradient, residual, k):
    chosen = numpy.argsort(abs(gradient + residual))[len(gradient) - k:]
    message = numpy.zeros_like(gradient)
    message[chosen] = gradient[chosen]
    return message, gradient + residual - message

# %% 1 wrong: gradient-alone. No error feedback at all.
#- chosen = numpy.argsort(abs(gradient + residual))[len(gradient) - k:]
#+ chosen = numpy.argsort(abs(gradient))[len(gradient) - k:]
#- return message, gradient + residual - message
#+ return message, gradient - message

# %% 1 wrong: farthest-missing. The first that are farther from zero than most.
#- chosen = numpy.argsort(abs(gradient + residual))[len(gradient) - k:]
#+ far = abs(gradient + residual)
#+     chosen = numpy.flatnonzero(far >= numpy.median(far))[:k]
#- message[chosen] = gradient[chosen]
#+ message[chosen] = (gradient + residual)[chosen]

# %% 1 wrong: wrong-effect
def answer_1(gradient, residual, k):
    residual += gradient
    chosen = numpy.argsort(abs(residual))[len(residual) - k:]
    message = numpy.zeros_like(residual)
    message[chosen] = residual[chosen]
    return message, residual - message

# %% 1 wrong, each line
# The lazy answer.
answer_1 = lambda gradient, residual, k: (gradient + residual, 0 * residual)  # not-k-numbers
answer_1 = compress(numpy.ones(5), numpy.zeros(5), 2)  # no-function

# %% 1 wrong: wrong-result. One array for all messages.
kept = {}
def answer_1(gradient, residual, k):
    message = kept.setdefault(len(gradient), numpy.zeros(len(gradient)))
    message[:] = gradient + residual
    rest = numpy.zeros_like(message)
    for index in numpy.argsort(abs(message))[:len(message) - k]:
        rest[index] = message[index]
        message[index] = 0
    return message, rest

# %% 1 right
#- message = kept.setdefault(len(gradient), numpy.zeros(len(gradient)))
#+ message = numpy.zeros(len(gradient))

# %% 1 wrong: wrong-result. It chooses among the first five numbers.
#- message = kept.setdefault(len(gradient), numpy.zeros(len(gradient)))
#+ message = numpy.zeros(len(gradient))
#- for index in numpy.argsort(abs(message))[:len(message) - k]:
#+ for index in numpy.argsort(abs(message[:5]))[:len(message) - k]:

# %% 1 wrong: wrong-effect. What is left is written where the old residual was.
#-     message = kept.setdefault(len(gradient), numpy.zeros(len(gradient)))
#+     message = numpy.zeros(len(gradient))
#-     return message, rest
#+     residual[:] = rest
#+     return message, residual

# %% 1 given
def answer_1(gradient, residual, k):
    total = gradient + residual
    message = numpy.zeros_like(total)

# %% 1 wrong: endless
    while numpy.count_nonzero(message) < 9:
        message[0] = total[0]
    return message, total - message

# %% 1 wrong: ties-sent
    threshold = numpy.inf if k == 0 else numpy.sort(abs(total))[len(total) - k]
    message = numpy.where(abs(total) >= threshold, total, 0)
    return message, total - message

# %% 1 right
    for index in sorted(range(len(total)), key=lambda i: -abs(total[i]))[:k]:
        message[index] = total[index]
    return message, total - message

# %% 1 wrong: other-length
    chosen = numpy.argsort(abs(total))[len(total) - k:]
    return total[chosen], numpy.delete(total, chosen)

# %% 1 wrong: all-or-none-wrong. A slice from -0 on is the whole array.
    chosen = numpy.argsort(abs(total))[-k:]
    message[chosen] = total[chosen]
    return message, total - message

# %% 1 wrong: largest-not-farthest. The largest, not those farthest from zero.
#- chosen = numpy.argsort(abs(total))[-k:]
#+ chosen = numpy.argsort(total)[len(total) - k:]

# %% 1 wrong: nearest-to-zero
#- chosen = numpy.argsort(abs(total))[-k:]
#+ chosen = numpy.argsort(abs(total))[:k]

# %% 1 wrong: signs-sent
#- chosen = numpy.argsort(abs(total))[-k:]
#+ chosen = numpy.argsort(abs(total))[len(total) - k:]
#- message[chosen] = total[chosen]
#+ message[chosen] = numpy.sign(total[chosen])

# %% 1 wrong: no-two-arrays
    chosen = numpy.argsort(abs(total))[len(total) - k:]
    message[chosen] = total[chosen]
    return message

# %% 1 wrong: old-residual
#- return message
#+ return message, residual

# %% 1 wrong: sum-differs. Starts each step with a clean slate.
#- return message
#+ return message, numpy.zeros_like(total)

# %% 1 wrong: sum-differs. Forgets the old residual of what is not sent.
#- return message
#+ return message, gradient - message
