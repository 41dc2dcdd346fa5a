# %% 1 right
def answer_1(intermediate, final):
    intermediate.wait_to_read()

# %% 1 right, each line
# Reads them: values that are there have been waited for.
answer_1 = lambda first, second: first.asnumpy()
answer_1 = lambda i, f: print(end="" if str(i) else "")
# The result holds one number: whoever reads it has waited for it.
answer_1 = lambda i, f: i.item()
answer_1 = lambda i, f: float(i)
answer_1 = lambda i, f: 1 if i else 0
answer_1 = lambda i, f: bool(i > 0)

# %% 1 wrong: waits-for-final
def answer_1(intermediate, final):
    intermediate.wait_to_read()
    print(final)

# %% 1 wrong: endless
def answer_1(intermediate, final):
    while not hasattr(intermediate, "ready"):
        pass

# %% 1 wrong, each line
answer_1 = lambda intermediate, final: None  # skips-intermediate
# Known before any value.
answer_1 = lambda intermediate, final: intermediate.shape  # skips-intermediate
# Right by luck: long enough on most machines.
answer_1 = lambda intermediate, final: time.sleep(0.2)  # skips-intermediate
# Only asks for one more operator.
answer_1 = lambda intermediate, final: intermediate + 0  # skips-intermediate
# Waits, but for something else.
answer_1 = lambda intermediate, final: matrix.wait_to_read()  # skips-intermediate
answer_1 = lambda intermediate, final: npx.waitall()  # waits-for-final
answer_1 = lambda intermediate, final: final.wait_to_read()  # waits-for-final
# The names are in the wrong order.
answer_1 = lambda final, intermediate: intermediate.wait_to_read()  # waits-for-final
answer_1 = lambda pair: pair[0].wait_to_read()  # does-not-run
answer_1 = np.ndarray.wait_to_read  # does-not-run
# It has waited here and now.
answer_1 = two_stages()[0].wait_to_read()  # no-function
answer_1 = "intermediate.wait_to_read()"  # no-function

# %% 2 given
# With the lesson's own formula.
answer_2 = lambda t1, t2, t3, n, k: n // k * waiting_once(t1, t2, t3, k)

# %% 2 right, each line
k_2 = np.array(10)

# %% 2 wrong, each line
k_2 = ...  # no-k
# Nine tenths, but not a group of whole calls.
k_2 = 9  # k-not-dividing
k_2 = 0  # k-not-dividing
k_2 = "10 MB"  # k-not-dividing
k_2 = 1  # saves-too-little
k_2 = 8  # saves-too-little
# All of the saving.
k_2 = 200  # too-much-memory
k_2 = 20  # too-much-memory

# %% 2 given
k_2 = 10

# %% 2 right. Call by call.
def answer_2(t1, t2, t3, n, k):
    python = device = 0
    for call in range(n):
        python = python + t1
        device = max(python, device) + t2
        if (call + 1) % k == 0:
            python = device + t3
    return numpy.float64(python)
k_2 = 10.0

# %% 2 wrong: no-number
def answer_2(t1, t2, t3, n, k):
    seconds = n / k * (t1 + (k - 1) * max(t1, t2) + t2 + t3)

# %% 2 right
#- seconds = n / k * (t1 + (k - 1) * max(t1, t2) + t2 + t3)
#+ return n / k * (t1 + (k - 1) * max(t1, t2) + t2 + t3)

# %% 2 wrong: wrong-several-waits. The two formulas that there are, and nothing between them.
#- seconds = n / k * (t1 + (k - 1) * max(t1, t2) + t2 + t3)
#+ return waiting_each(t1, t2, t3, n) if k == 1 else waiting_once(t1, t2, t3, n)

# %% 2 wrong: wrong-several-waits. From one formula to the other in a straight line.
#-     seconds = n / k * (t1 + (k - 1) * max(t1, t2) + t2 + t3)
#+     each, once = waiting_each(t1, t2, t3, n), waiting_once(t1, t2, t3, n)
#+     return once + (each - once) * (n - k) / (n - 1)

# %% 2 wrong: endless
#-     seconds = n / k * (t1 + (k - 1) * max(t1, t2) + t2 + t3)
#+     seconds = 0
#+     while n != 0:
#+         seconds += waiting_once(t1, t2, t3, k)
#+         n -= 2 * k + 1
#+     return seconds

# %% 2 wrong: wrong-each-call. A group without what fills the pipeline.
answer_2 = lambda t1, t2, t3, n, k: n / k * (k * max(t1, t2) + min(t1, t2) + t3) if t1 > t2 else n / k * (k * t2 + t3)

# %% 2 wrong, each line
# The lesson's formula unchanged: ignores k.
answer_2 = lambda t1, t2, t3, n, k: waiting_once(t1, t2, t3, n)  # wrong-each-call
# The other formula unchanged.
answer_2 = lambda t1, t2, t3, n, k: waiting_each(t1, t2, t3, n)  # wrong-single-wait
# One pipeline, and n / k waits: it never drains.
answer_2 = lambda t1, t2, t3, n, k: t1 + (n - 1) * max(t1, t2) + t2 + n / k * t3  # wrong-each-call
# Groups, but the wait is counted once.
answer_2 = lambda t1, t2, t3, n, k: n / k * (t1 + (k - 1) * max(t1, t2) + t2) + t3  # wrong-each-call
answer_2 = lambda t1, t2, t3, n, k: N / k * waiting_once(t1, t2, t3, k)  # ignores-n
# As if the device were always the slower one.
answer_2 = lambda t1, t2, t3, n, k: n / k * (t1 + k * t2 + t3)  # wrong-if-python-slower
# Sums where it should take the larger, except for one.
answer_2 = lambda t1, t2, t3, n, k: n / k * (t1 + (k - 1) * t2 + t2 + t3)  # wrong-if-python-slower
# Python and the device take turns: no pipeline at all.
answer_2 = lambda t1, t2, t3, n, k: n * (t1 + t2) + n / k * t3 - t1  # wrong-each-call
answer_2 = waiting_once(20, 30, 40, 10) * 20  # no-function

# %% 3 right. A choice by where, and into the memory that the gradients have.
def shorter(grads):
    factor = 0.01 / slow_epoch.norm_of(grads)
    factor = np.where(factor < 1, factor, 1.0)
    for grad in grads:
        grad[:] = grad * factor
answer_3 = dict(clip=shorter)

# %% 3 wrong: waits-inside-operator. The mask makes an array whose shape depends on values.
def clip(grads, limit=0.01):
    norm = slow_epoch.norm_of(grads)
    factors = np.stack([np.ones_like(norm), limit / norm])
    for grad in grads:
        grad *= factors[factors <= 1].min()
answer_3 = {"clip": clip}

# %% 3 right. Without a choice: the same arithmetic.
#- factors = np.stack([np.ones_like(norm), limit / norm])
#+ longer = np.maximum(norm, limit)
#- grad *= factors[factors <= 1].min()
#+ np.multiply(grad, limit / longer, out=grad)

# %% 3 wrong: clips-nothing
def clip(grads, limit=0.01):
    factor = np.minimum(1, limit / slow_epoch.norm_of(grads))
    for grad in grads:
        grad = grad * factor
answer_3 = {"clip": clip}

# %% 3 right
#- factor = np.minimum(1, limit / slow_epoch.norm_of(grads))
#+ norm = np.sqrt(sum((grad * grad).sum() for grad in grads))
#- grad = grad * factor
#+ grad *= np.minimum(1, limit / norm)

# %% 3 wrong: waits-as-before
#- factor = np.minimum(1, limit / slow_epoch.norm_of(grads))
#+ factor = numpy.minimum(1, limit / slow_epoch.norm_of(grads).asnumpy())
#- grad = grad * factor
#+ grad *= float(factor)

# %% 3 wrong: clips-nothing. New arrays: the trainer never sees them.
#-     for grad in grads:
#-         grad = grad * factor
#+     return [grad * factor for grad in grads]

# %% 3 wrong: clips-nothing. The choice is upside down.
#- factor = np.minimum(1, limit / slow_epoch.norm_of(grads))
#+ factor = np.maximum(1, limit / slow_epoch.norm_of(grads))
#- grad = grad * factor
#+ grad *= factor

# %% 3 wrong: changes-short-gradients. Always scaled to the limit: the choice is gone.
def clip(grads, limit=0.01):
    norm = slow_epoch.norm_of(grads)
    for grad in grads:
        grad *= limit / norm
answer_3 = {"clip": clip}

# %% 3 wrong: waits-as-before. Another choice that needs the value.
#-     for grad in grads:
#-         grad *= limit / norm
#+     if norm > limit:
#+         for grad in grads:
#+             grad *= limit / norm

# %% 3 wrong: clips-otherwise. Each array by its own norm.
def clip(grads, limit=0.01):
    for grad in grads:
        grad *= np.minimum(1, limit / slow_epoch.norm_of([grad]))
answer_3 = {"clip": clip}

# %% 3 wrong: clips-otherwise. Number by number instead of by the norm.
#- grad *= np.minimum(1, limit / slow_epoch.norm_of([grad]))
#+ grad[:] = np.clip(grad, -limit, limit)

# %% 3 wrong: still-waits. Looks only now and then.
calls = []
def clip(grads, limit=0.01):
    calls.append(1)
    if len(calls) % 2:
        slow_epoch.clip(grads, limit)
answer_3 = {"clip": clip}

# %% 3 wrong: replaces-too-much. The right one, and another besides.
def clip(grads, limit=0.01):
    factor = np.minimum(1, limit / slow_epoch.norm_of(grads))
    for grad in grads:
        grad *= factor
answer_3 = {"clip": clip, "read": lambda batch: np.array(batch)}

# %% 3 right. All four, of which three are as they were.
#- answer_3 = {"clip": clip, "read": lambda batch: np.array(batch)}
#+ answer_3 = {**functions, "clip": clip}

# %% 3 right. In the dictionary that the lesson has.
#- answer_3 = {"clip": clip, "read": lambda batch: np.array(batch)}
#+ functions["clip"] = clip
#+ answer_3 = functions

# %% 3 wrong: no-dictionary
def answer_3(grads, limit=0.01):
    factor = np.minimum(1, limit / slow_epoch.norm_of(grads))
    for grad in grads:
        grad *= factor

# %% 3 wrong: endless
def clip(grads, limit=0.01):
    while slow_epoch.norm_of(grads) >= 0:
        pass
answer_3 = {"clip": clip}

# %% 3 wrong, each line
answer_3 = functions  # waits-as-before
# The disk is the first that one suspects.
answer_3 = {"read": lambda batch: np.array(batch)}  # waits-as-before
answer_3 = {"log": lambda losses, loss: losses.append(0.0)}  # waits-as-before
# The lesson's own, unchanged.
answer_3 = {"clip": functions["clip"]}  # waits-as-before
# It needs a limit.
answer_3 = {"clip": gluon.utils.clip_global_norm}  # loop-fails
# Nothing is clipped any more.
answer_3 = {"clip": lambda grads: None}  # clips-nothing
answer_3 = "clip"  # no-dictionary
answer_3 = {"norm_of": slow_epoch.norm_of}  # no-dictionary

# %% 3 wrong: wrong-effect. The norm of the first two gradients.
def clip(grads, limit=0.01):
    factor = np.minimum(1, limit / slow_epoch.norm_of(grads[:2]))
    for grad in grads:
        grad *= factor
answer_3 = {"clip": clip}

# %% 3 wrong: wrong-effect. Gradients of zeros become NaN.
#- factor = np.minimum(1, limit / slow_epoch.norm_of(grads[:2]))
#+ norm = slow_epoch.norm_of(grads)
#+     factor = limit / norm * (norm > limit) + (norm <= limit)

# %% 3 wrong: wrong-effect. A small number, against a division by zero.
#- factor = np.minimum(1, limit / slow_epoch.norm_of(grads[:2]))
#+ factor = np.minimum(1, limit / (slow_epoch.norm_of(grads) + 1e-4))

# %% 3 wrong: wrong-effect. Twice as long is not yet long.
#- factor = np.minimum(1, limit / slow_epoch.norm_of(grads[:2]))
#+ norm = slow_epoch.norm_of(grads)
#+     factor = np.where(norm > 2 * limit, limit / norm, 1)

# %% 3 right
#- factor = np.minimum(1, limit / slow_epoch.norm_of(grads[:2]))
#+ norm = slow_epoch.norm_of(grads)
#+     factor = np.where(norm > limit, limit / norm, 1)

# %% 3 right
#- factor = np.minimum(1, limit / slow_epoch.norm_of(grads[:2]))
#+ factor = limit / np.maximum(limit, slow_epoch.norm_of(grads))

# %% 3 wrong: wrong-effect. Always the limit of the loop.
#- factor = np.minimum(1, limit / slow_epoch.norm_of(grads[:2]))
#+ factor = np.minimum(1, 0.01 / slow_epoch.norm_of(grads))

# %% 3 right. Without a limit to choose.
#- def clip(grads, limit=0.01):
#-     factor = np.minimum(1, limit / slow_epoch.norm_of(grads[:2]))
#+ def clip(grads):
#+     factor = np.minimum(1, 0.01 / slow_epoch.norm_of(grads))

# %% 3 wrong: clips-nothing. New arrays in the list, which the loop throws away.
def clip(grads, limit=0.01):
    factor = np.minimum(1, limit / slow_epoch.norm_of(grads))
    for number in range(len(grads)):
        grads[number] = grads[number] * factor
answer_3 = {"clip": clip}

# %% 3 wrong: wrong-effect. Takes the arrays out of the list that it gets.
#- for number in range(len(grads)):
#-         grads[number] = grads[number] * factor
#+ while grads:
#+         grad = grads.pop()
#+         grad *= factor

# %% 2 given
k_2 = 10

# %% 2 wrong: wrong-result
answer_2 = lambda t1, t2, t3, n, k: n // k * (t1 + (k - 1) * max(t1, t2) + t2 + t3) + (n == 6)

# %% 2 wrong: wrong-result
answer_2 = lambda t1, t2, t3, n, k: n // k * (min(t1, t2) + k * max(t1, t2, 1) + t3)

# %% 2 wrong: wrong-result
answer_2 = lambda t1, t2, t3, n, k: n / k * int(min(t1, t2) + k * max(t1, t2) + t3)

# %% 2 right
answer_2 = lambda t1, t2, t3, n, k: n / k * (min(t1, t2) + k * max(t1, t2) + t3)

# %% 1 wrong: wrong-effect
def answer_1(intermediate, final):
    intermediate[:] = intermediate + 1
    intermediate.wait_to_read()
