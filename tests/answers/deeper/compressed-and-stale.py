# %% 1 right
def answer_1(gradient, residual, k):
    total = gradient + residual
    message = numpy.zeros_like(total)
    for index in sorted(range(len(total)), key=lambda i: -abs(total[i]))[:k]:
        message[index] = total[index]
    return message, total - message

# %% 1 right
def answer_1(gradient, residual, k):
    rest = gradient + residual
    message = numpy.zeros(len(rest))
    order = numpy.argsort(-abs(rest), kind="stable")
    message[order[:k]] = rest[order[:k]]
    rest[order[:k]] = 0
    return [message, rest]

# %% 1 wrong: from the gradient alone
# No error feedback at all.
def answer_1(gradient, residual, k):
    chosen = numpy.argsort(abs(gradient))[len(gradient) - k:]
    message = numpy.zeros_like(gradient)
    message[chosen] = gradient[chosen]
    return message, gradient - message

# %% 1 wrong: left over before is not sent
def answer_1(gradient, residual, k):
    chosen = numpy.argsort(abs(gradient + residual))[len(gradient) - k:]
    message = numpy.zeros_like(gradient)
    message[chosen] = gradient[chosen]
    return message, gradient + residual - message

# %% 1 wrong: farther from zero than 1.25
# The largest, not those farthest from zero.
def answer_1(gradient, residual, k):
    total = gradient + residual
    chosen = numpy.argsort(total)[len(total) - k:]
    message = numpy.zeros_like(total)
    message[chosen] = total[chosen]
    return message, total - message

# %% 1 wrong: nearest to zero
def answer_1(gradient, residual, k):
    total = gradient + residual
    chosen = numpy.argsort(abs(total))[:k]
    message = numpy.zeros_like(total)
    message[chosen] = total[chosen]
    return message, total - message

# %% 1 wrong: the residual is the old one
def answer_1(gradient, residual, k):
    total = gradient + residual
    chosen = numpy.argsort(abs(total))[len(total) - k:]
    message = numpy.zeros_like(total)
    message[chosen] = total[chosen]
    return message, residual

# %% 1 wrong: something is lost
# Starts each step with a clean slate.
def answer_1(gradient, residual, k):
    total = gradient + residual
    chosen = numpy.argsort(abs(total))[len(total) - k:]
    message = numpy.zeros_like(total)
    message[chosen] = total[chosen]
    return message, numpy.zeros_like(total)

# %% 1 wrong: something is lost
# Forgets the old residual of what is not sent.
def answer_1(gradient, residual, k):
    total = gradient + residual
    chosen = numpy.argsort(abs(total))[len(total) - k:]
    message = numpy.zeros_like(total)
    message[chosen] = total[chosen]
    return message, gradient - message

# %% 1 wrong: if all are sent, or none
# A slice from -0 on is the whole array.
def answer_1(gradient, residual, k):
    total = gradient + residual
    chosen = numpy.argsort(abs(total))[-k:]
    message = numpy.zeros_like(total)
    message[chosen] = total[chosen]
    return message, total - message

# %% 1 wrong: sends more than k
def answer_1(gradient, residual, k):
    total = gradient + residual
    threshold = numpy.inf if k == 0 else numpy.sort(abs(total))[len(total) - k]
    message = numpy.where(abs(total) >= threshold, total, 0)
    return message, total - message

# %% 1 wrong: changes the arrays
def answer_1(gradient, residual, k):
    residual += gradient
    chosen = numpy.argsort(abs(residual))[len(residual) - k:]
    message = numpy.zeros_like(residual)
    message[chosen] = residual[chosen]
    return message, residual - message

# %% 1 wrong: as long as the gradient
def answer_1(gradient, residual, k):
    total = gradient + residual
    chosen = numpy.argsort(abs(total))[len(total) - k:]
    return total[chosen], numpy.delete(total, chosen)

# %% 1 wrong: their sign
def answer_1(gradient, residual, k):
    total = gradient + residual
    chosen = numpy.argsort(abs(total))[len(total) - k:]
    message = numpy.zeros_like(total)
    message[chosen] = numpy.sign(total[chosen])
    return message, total - message

# %% 1 wrong: two numbers of the message
# The lazy answer.
def answer_1(gradient, residual, k):
    return gradient + residual, 0 * residual

# %% 1 wrong: return two arrays
def answer_1(gradient, residual, k):
    total = gradient + residual
    chosen = numpy.argsort(abs(total))[len(total) - k:]
    message = numpy.zeros_like(total)
    message[chosen] = total[chosen]
    return message

# %% 1 wrong: still running
def answer_1(gradient, residual, k):
    total, message = gradient + residual, numpy.zeros(len(gradient))
    while numpy.count_nonzero(message) < 9:
        message[0] = total[0]
    return message, total - message

# %% 1 wrong: give a function
answer_1 = compress(numpy.ones(5), numpy.zeros(5), 2)
