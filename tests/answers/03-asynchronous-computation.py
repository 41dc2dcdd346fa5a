# %% 1 right
def answer_1(intermediate, final):
    intermediate.wait_to_read()

# %% 1 right
# Reads them: values that are there have been waited for.
answer_1 = lambda first, second: first.asnumpy()

# %% 1 right
answer_1 = lambda i, f: print(end="" if str(i) else "")

# %% 1 right
# The result holds one number: whoever reads it has waited for it.
answer_1 = lambda i, f: i.item()

# %% 1 right
answer_1 = lambda i, f: float(i)

# %% 1 right
answer_1 = lambda i, f: 1 if i else 0

# %% 1 right
answer_1 = lambda i, f: bool(i > 0)

# %% 1 wrong: did not wait for the intermediate values
answer_1 = lambda intermediate, final: None

# %% 1 wrong: did not wait for the intermediate values
# Known before any value.
answer_1 = lambda intermediate, final: intermediate.shape

# %% 1 wrong: did not wait for the intermediate values
# Right by luck: long enough on most machines.
answer_1 = lambda intermediate, final: time.sleep(0.2)

# %% 1 wrong: did not wait for the intermediate values
# Only asks for one more operator.
answer_1 = lambda intermediate, final: intermediate + 0

# %% 1 wrong: did not wait for the intermediate values
# Waits, but for something else.
answer_1 = lambda intermediate, final: matrix.wait_to_read()

# %% 1 wrong: waited for the final values
answer_1 = lambda intermediate, final: npx.waitall()

# %% 1 wrong: waited for the final values
answer_1 = lambda intermediate, final: final.wait_to_read()

# %% 1 wrong: waited for the final values
# The names are in the wrong order.
answer_1 = lambda final, intermediate: intermediate.wait_to_read()

# %% 1 wrong: waited for the final values
def answer_1(intermediate, final):
    intermediate.wait_to_read()
    print(final)

# %% 1 wrong: two arrays
answer_1 = lambda pair: pair[0].wait_to_read()

# %% 1 wrong: two arrays
answer_1 = np.ndarray.wait_to_read

# %% 1 wrong: not its result
# It has waited here and now.
answer_1 = two_stages()[0].wait_to_read()

# %% 1 wrong: not its result
answer_1 = "intermediate.wait_to_read()"

# %% 1 wrong: still running
def answer_1(intermediate, final):
    while not hasattr(intermediate, "ready"):
        pass

# %% 2 right
def answer_2(t1, t2, t3, n, k):
    return n / k * (t1 + (k - 1) * max(t1, t2) + t2 + t3)
k_2 = 10

# %% 2 right
# With the lesson's own formula.
answer_2 = lambda t1, t2, t3, n, k: n // k * waiting_once(t1, t2, t3, k)
k_2 = np.array(10)

# %% 2 right
# Call by call.
def answer_2(t1, t2, t3, n, k):
    python = device = 0
    for call in range(n):
        python = python + t1
        device = max(python, device) + t2
        if (call + 1) % k == 0:
            python = device + t3
    return numpy.float64(python)
k_2 = 10.0

# %% 2 wrong: a wait after every call
# The lesson's formula unchanged: ignores k.
answer_2 = lambda t1, t2, t3, n, k: waiting_once(t1, t2, t3, n)
k_2 = 10

# %% 2 wrong: a single wait
# The other formula unchanged.
answer_2 = lambda t1, t2, t3, n, k: waiting_each(t1, t2, t3, n)
k_2 = 10

# %% 2 wrong: a wait after every call
# One pipeline, and n / k waits: it never drains.
answer_2 = lambda t1, t2, t3, n, k: t1 + (n - 1) * max(t1, t2) + t2 + n / k * t3
k_2 = 10

# %% 2 wrong: a wait after every call
# Groups, but the wait is counted once.
answer_2 = lambda t1, t2, t3, n, k: n / k * (t1 + (k - 1) * max(t1, t2) + t2) + t3
k_2 = 10

# %% 2 wrong: or with the lesson's N
answer_2 = lambda t1, t2, t3, n, k: N / k * waiting_once(t1, t2, t3, k)
k_2 = 10

# %% 2 wrong: one wait in all
# The two formulas that there are, and nothing between them.
def answer_2(t1, t2, t3, n, k):
    return waiting_each(t1, t2, t3, n) if k == 1 else waiting_once(t1, t2, t3, n)
k_2 = 10

# %% 2 wrong: one wait in all
# From one formula to the other in a straight line.
def answer_2(t1, t2, t3, n, k):
    each, once = waiting_each(t1, t2, t3, n), waiting_once(t1, t2, t3, n)
    return once + (each - once) * (n - k) / (n - 1)
k_2 = 10

# %% 2 wrong: a wait after every call
# A group without what fills the pipeline.
answer_2 = lambda t1, t2, t3, n, k: n / k * (k * max(t1, t2) + min(t1, t2) + t3) if t1 > t2 else n / k * (k * t2 + t3)
k_2 = 10

# %% 2 wrong: Python is the slower one
# As if the device were always the slower one.
answer_2 = lambda t1, t2, t3, n, k: n / k * (t1 + k * t2 + t3)
k_2 = 10

# %% 2 wrong: Python is the slower one
# Sums where it should take the larger, except for one.
answer_2 = lambda t1, t2, t3, n, k: n / k * (t1 + (k - 1) * t2 + t2 + t3)
k_2 = 10

# %% 2 wrong: a wait after every call
# Python and the device take turns: no pipeline at all.
answer_2 = lambda t1, t2, t3, n, k: n * (t1 + t2) + n / k * t3 - t1
k_2 = 10

# %% 2 wrong: should return a number
def answer_2(t1, t2, t3, n, k):
    seconds = n / k * (t1 + (k - 1) * max(t1, t2) + t2 + t3)
k_2 = 10

# %% 2 wrong: give a function
answer_2 = waiting_once(20, 30, 40, 10) * 20
k_2 = 10

# %% 2 wrong: Now the k
answer_2 = lambda t1, t2, t3, n, k: n // k * waiting_once(t1, t2, t3, k)

# %% 2 wrong: k should divide 200
# Nine tenths, but not a group of whole calls.
answer_2 = lambda t1, t2, t3, n, k: n // k * waiting_once(t1, t2, t3, k)
k_2 = 9

# %% 2 wrong: saves less than nine tenths
answer_2 = lambda t1, t2, t3, n, k: n // k * waiting_once(t1, t2, t3, k)
k_2 = 1

# %% 2 wrong: saves less than nine tenths
answer_2 = lambda t1, t2, t3, n, k: n // k * waiting_once(t1, t2, t3, k)
k_2 = 8

# %% 2 wrong: with less memory
# All of the saving.
answer_2 = lambda t1, t2, t3, n, k: n // k * waiting_once(t1, t2, t3, k)
k_2 = 200

# %% 2 wrong: with less memory
answer_2 = lambda t1, t2, t3, n, k: n // k * waiting_once(t1, t2, t3, k)
k_2 = 20

# %% 2 wrong: k should divide 200
answer_2 = lambda t1, t2, t3, n, k: n // k * waiting_once(t1, t2, t3, k)
k_2 = 0

# %% 2 wrong: k should divide 200
answer_2 = lambda t1, t2, t3, n, k: n // k * waiting_once(t1, t2, t3, k)
k_2 = "10 MB"

# %% 2 wrong: still running
def answer_2(t1, t2, t3, n, k):
    seconds = 0
    while n != 0:
        seconds += waiting_once(t1, t2, t3, k)
        n -= 2 * k + 1
    return seconds
k_2 = 10

# %% 3 right
def clip(grads, limit=0.01):
    norm = np.sqrt(sum((grad * grad).sum() for grad in grads))
    for grad in grads:
        grad *= np.minimum(1, limit / norm)
answer_3 = {"clip": clip}

# %% 3 right
# A choice by where, and into the memory that the gradients have.
def shorter(grads):
    factor = 0.01 / slow_epoch.norm_of(grads)
    factor = np.where(factor < 1, factor, 1.0)
    for grad in grads:
        grad[:] = grad * factor
answer_3 = dict(clip=shorter)

# %% 3 right
# Without a choice: the same arithmetic.
def clip(grads, limit=0.01):
    norm = slow_epoch.norm_of(grads)
    longer = np.maximum(norm, limit)
    for grad in grads:
        np.multiply(grad, limit / longer, out=grad)
answer_3 = {"clip": clip}

# %% 3 right
# All four, of which three are as they were.
def clip(grads, limit=0.01):
    factor = np.minimum(1, limit / slow_epoch.norm_of(grads))
    for grad in grads:
        grad *= factor
answer_3 = {**functions, "clip": clip}

# %% 3 right
# In the dictionary that the lesson has.
def clip(grads, limit=0.01):
    factor = np.minimum(1, limit / slow_epoch.norm_of(grads))
    for grad in grads:
        grad *= factor
functions["clip"] = clip
answer_3 = functions

# %% 3 wrong: waits as often as before
answer_3 = functions

# %% 3 wrong: ends in an error
# It needs a limit.
answer_3 = {"clip": gluon.utils.clip_global_norm}

# %% 3 wrong: waits as often as before
# The disk is the first that one suspects.
answer_3 = {"read": lambda batch: np.array(batch)}

# %% 3 wrong: waits as often as before
answer_3 = {"log": lambda losses, loss: losses.append(0.0)}

# %% 3 wrong: waits as often as before
# Another choice that needs the value.
def clip(grads, limit=0.01):
    norm = slow_epoch.norm_of(grads)
    if norm > limit:
        for grad in grads:
            grad *= limit / norm
answer_3 = {"clip": clip}

# %% 3 wrong: waits as often as before
def clip(grads, limit=0.01):
    factor = numpy.minimum(1, limit / slow_epoch.norm_of(grads).asnumpy())
    for grad in grads:
        grad *= float(factor)
answer_3 = {"clip": clip}

# %% 3 wrong: waits as often as before
# The lesson's own, unchanged.
answer_3 = {"clip": functions["clip"]}

# %% 3 wrong: still waits, inside an operator
# The mask makes an array whose shape depends on values.
def clip(grads, limit=0.01):
    norm = slow_epoch.norm_of(grads)
    factors = np.stack([np.ones_like(norm), limit / norm])
    for grad in grads:
        grad *= factors[factors <= 1].min()
answer_3 = {"clip": clip}

# %% 3 wrong: left as they are
# Nothing is clipped any more.
answer_3 = {"clip": lambda grads: None}

# %% 3 wrong: left as they are
# New arrays: the trainer never sees them.
def clip(grads, limit=0.01):
    factor = np.minimum(1, limit / slow_epoch.norm_of(grads))
    return [grad * factor for grad in grads]
answer_3 = {"clip": clip}

# %% 3 wrong: left as they are
def clip(grads, limit=0.01):
    factor = np.minimum(1, limit / slow_epoch.norm_of(grads))
    for grad in grads:
        grad = grad * factor
answer_3 = {"clip": clip}

# %% 3 wrong: short gradients
# Always scaled to the limit: the choice is gone.
def clip(grads, limit=0.01):
    norm = slow_epoch.norm_of(grads)
    for grad in grads:
        grad *= limit / norm
answer_3 = {"clip": clip}

# %% 3 wrong: long gradients
# Number by number instead of by the norm.
def clip(grads, limit=0.01):
    for grad in grads:
        grad[:] = np.clip(grad, -limit, limit)
answer_3 = {"clip": clip}

# %% 3 wrong: long gradients
# Each array by its own norm.
def clip(grads, limit=0.01):
    for grad in grads:
        grad *= np.minimum(1, limit / slow_epoch.norm_of([grad]))
answer_3 = {"clip": clip}

# %% 3 wrong: left as they are
# The choice is upside down.
def clip(grads, limit=0.01):
    factor = np.maximum(1, limit / slow_epoch.norm_of(grads))
    for grad in grads:
        grad *= factor
answer_3 = {"clip": clip}

# %% 3 wrong: waits less often than before, but
# Looks only now and then.
calls = []
def clip(grads, limit=0.01):
    calls.append(1)
    if len(calls) % 2:
        slow_epoch.clip(grads, limit)
answer_3 = {"clip": clip}

# %% 3 wrong: never made Python wait
# The right one, and another besides.
def clip(grads, limit=0.01):
    factor = np.minimum(1, limit / slow_epoch.norm_of(grads))
    for grad in grads:
        grad *= factor
answer_3 = {"clip": clip, "read": lambda batch: np.array(batch)}

# %% 3 wrong: give a dictionary
answer_3 = "clip"

# %% 3 wrong: give a dictionary
answer_3 = {"norm_of": slow_epoch.norm_of}

# %% 3 wrong: give a dictionary
def answer_3(grads, limit=0.01):
    factor = np.minimum(1, limit / slow_epoch.norm_of(grads))
    for grad in grads:
        grad *= factor

# %% 3 wrong: still running
def clip(grads, limit=0.01):
    while slow_epoch.norm_of(grads) >= 0:
        pass
answer_3 = {"clip": clip}
