# %% 1 right
answer_1 = 137
workspaces_1 = 201

# %% 1 right
# Asks the theory.
def least():
    for workspaces in range(1, 401):
        if waited_for(theory(workspaces, both)) == 0:
            return workspaces
both = 200 * ["cpu(0)"] + 200 * ["cpu(1)"]
answer_1 = waited_for(theory(64, both))
workspaces_1 = least()

# %% 1 right
import numpy
answer_1 = numpy.int64(137)
workspaces_1 = 201.0

# %% 1 wrong: the numbers begin with 0
answer_1 = 136
workspaces_1 = 201

# %% 1 wrong: who had it last
# 200 divided by 64 leaves 8, and number 8 had the workspace first.
answer_1 = 9
workspaces_1 = 201

# %% 1 wrong: who had it last
answer_1 = 8
workspaces_1 = 201

# %% 1 wrong: who had it last
# Number 72 had the workspace, but not last.
answer_1 = 72
workspaces_1 = 201

# %% 1 wrong: how often is each of the 64 used
# As if 64 were enough for ever.
answer_1 = 0
workspaces_1 = 64

# %% 1 wrong: how many workspaces there are
answer_1 = 64
workspaces_1 = 201

# %% 1 wrong: not for all 200
answer_1 = 200
workspaces_1 = 201

# %% 1 wrong: seven tenths
# As with four workspaces and ten products: seven tenths.
answer_1 = 140
workspaces_1 = 201

# %% 1 wrong: which product of cpu(0)
# Off by one on the other side.
answer_1 = 138
workspaces_1 = 201

# %% 1 wrong: Now the number of workspaces
answer_1 = 137

# %% 1 wrong: still waits for one
answer_1 = 137
workspaces_1 = 200

# %% 1 wrong: but fewer do
# One for each product.
answer_1 = 137
workspaces_1 = 400

# %% 1 wrong: with so few
answer_1 = 137
workspaces_1 = 128

# %% 1 wrong: whole number
answer_1 = "about half"
workspaces_1 = 201

# %% 1 wrong: whole number
answer_1 = theory(64, 200 * ["cpu(0)"] + 200 * ["cpu(1)"])
workspaces_1 = 201

# %% 2 right
answer_2 = 10 * ["cpu(0)", "cpu(1)"]

# %% 2 right
# In pairs, as a tuple.
answer_2 = 5 * ("cpu(1)", "cpu(1)", "cpu(0)", "cpu(0)")

# %% 2 right
# In threes: the theory says that this is right, too.
answer_2 = 3 * (3 * ["cpu(0)"] + 3 * ["cpu(1)"]) + ["cpu(0)", "cpu(1)"]

# %% 2 right
# The devices themselves.
answer_2 = []
for _ in range(5):
    answer_2 += [first, second, second, first]

# %% 2 right
import numpy
answer_2 = numpy.array(10 * ["cpu(0)", "cpu(1)"])

# %% 2 wrong: one of the devices waits for 7
answer_2 = order

# %% 2 wrong: one of the devices waits for 7
# The other way round.
answer_2 = order[::-1]

# %% 2 wrong: ten products for each device
answer_2 = 20 * ["cpu(0)"]

# %% 2 wrong: ten products for each device
answer_2 = ["cpu(0)", "cpu(1)"]

# %% 2 wrong: ten products for each device
# One after the other, without end.
import itertools
answer_2 = itertools.cycle(["cpu(0)", "cpu(1)"])

# %% 2 wrong: takes 12
# In halves.
answer_2 = 5 * ["cpu(0)"] + 5 * ["cpu(1)"] + 5 * ["cpu(0)"] + 5 * ["cpu(1)"]

# %% 2 wrong: takes 11
# In fours, because there are four workspaces.
answer_2 = 2 * (4 * ["cpu(0)"] + 4 * ["cpu(1)"]) + 2 * ["cpu(0)"] + 2 * ["cpu(1)"]

# %% 2 wrong: takes 16
# One product of cpu(1) goes first.
answer_2 = ["cpu(1)"] + 10 * ["cpu(0)"] + 9 * ["cpu(1)"]

# %% 2 wrong: such as "cpu(0)"
answer_2 = 10 * [0, 1]

# %% 2 wrong: such as "cpu(0)"
answer_2 = "alternate"

# %% 2 wrong: such as "cpu(0)"
# The workspaces in place of the devices.
answer_2 = 5 * ["A", "B", "C", "D"]

# %% 3 right
def answer_3(xs):
    return [np.dot(x, x) for x in xs for _ in range(COUNT)]
reason_3 = "b"

# %% 3 right
# An array per device.
def answer_3(xs):
    parts = []
    for x in xs:
        part = np.empty((COUNT, SIZE, SIZE), ctx=x.ctx)
        for number in range(COUNT):
            np.dot(x, x, out=part[number])
        parts.append(part)
    return np.concatenate([part.as_in_ctx(first) for part in parts])
reason_3 = "B"

# %% 3 right
# Products with arrays of their own, copied to their places afterwards.
def answer_3(xs):
    results = np.empty((2 * COUNT, SIZE, SIZE))
    for number in range(2 * COUNT):
        x = xs[number // COUNT]
        results[number] = x @ x
    return results
reason_3 = ["b"]

# %% 3 right
# Waits, but only when all products are queued.
def answer_3(xs):
    results = []
    for x in xs:
        results += products(x)
    npx.waitall()
    return [result.asnumpy() for result in results]
reason_3 = "b"

# %% 3 right
# A list per device, in a tuple.
def answer_3(xs):
    return tuple(products(x) for x in xs)
reason_3 = "b"

# %% 3 right
# Reads early, but only when everything is queued; an empty queue before that is no harm.
def answer_3(xs):
    npx.waitall()
    there, here = products(xs[1]), products(xs[0])
    there = [product.asnumpy() for product in there]
    return [product.asnumpy() for product in here] + there
reason_3 = "b"

# %% 3 wrong: Python waits
# The devices overlap, but Python waits for each pair.
def answer_3(xs):
    here, there = [], []
    for _ in range(COUNT):
        here.append(np.dot(xs[0], xs[0]))
        there.append(np.dot(xs[1], xs[1]))
        npx.waitall()
    return here + there
reason_3 = "b"

# %% 3 wrong: Python waits
# Shares nothing, but takes each product at once.
def answer_3(xs):
    results = []
    for x in xs:
        for _ in range(COUNT):
            results.append(np.dot(x, x).asnumpy())
    return results
reason_3 = "b"

# %% 3 wrong: Python waits
# Shares nothing, but reads a number of each product.
def answer_3(xs):
    results = []
    for x in xs:
        for product in products(x):
            if float(product.max()) >= 0:
                results.append(product)
    return results
reason_3 = "b"

# %% 3 wrong: Python waits
def answer_3(xs):
    results = []
    for x in xs:
        results += products(x)
        npx.waitall()
    return results
reason_3 = "b"

# %% 3 wrong: still take turns
# As it was.
answer_3 = slow
reason_3 = "b"

# %% 3 wrong: still take turns
# The cure of exercise 2.
def answer_3(xs):
    results = np.empty((2 * COUNT, SIZE, SIZE))
    for number in range(COUNT):
        for device in (0, 1):
            np.dot(xs[device], xs[device], out=results[device * COUNT + number])
    return results
reason_3 = "b"

# %% 3 wrong: still take turns
# Waits at the end, which is not what holds the devices up.
def answer_3(xs):
    return slow(xs).asnumpy()
reason_3 = "b"

# %% 3 wrong: ten calls for each
# One call for all products of a device.
def answer_3(xs):
    return [np.matmul(np.stack([x] * COUNT), x) for x in xs]
reason_3 = "b"

# %% 3 wrong: fewer than ten products
# Everything on one device.
def answer_3(xs):
    here = [x.as_in_ctx(first) for x in xs]
    return [np.dot(x, x) for x in here for _ in range(COUNT)]
reason_3 = "b"

# %% 3 wrong: fewer than ten products
# The ten products of a device are equal, so compute one of them.
def answer_3(xs):
    results = []
    for x in xs:
        results += COUNT * [np.dot(x, x)]
    return results
reason_3 = "b"

# %% 3 wrong: fewer than ten products
# Returns what was computed before.
kept = slow(xs)
answer_3 = lambda xs: kept
reason_3 = "b"

# %% 3 wrong: not those of `slow`, in its order
# In turns between the devices, so in another order.
def answer_3(xs):
    return [np.dot(x, x) for _ in range(COUNT) for x in xs]
reason_3 = "b"

# %% 3 wrong: return twenty products
def answer_3(xs):
    return [np.dot(x, x).sum() for x in xs for _ in range(COUNT)]
reason_3 = "b"

# %% 3 wrong: return twenty products
# Returns nothing.
def answer_3(xs):
    at_once(xs)
reason_3 = "b"

# %% 3 wrong: a function
answer_3 = slow(xs)
reason_3 = "b"

# %% 3 wrong: still running
def answer_3(xs):
    while True:
        np.dot(xs[0], xs[0]).wait_to_read()
reason_3 = "b"

# %% 3 wrong: Now the letter
def answer_3(xs):
    return [np.dot(x, x) for x in xs for _ in range(COUNT)]

# %% 3 wrong: 64 workspaces
def answer_3(xs):
    return [np.dot(x, x) for x in xs for _ in range(COUNT)]
reason_3 = "a"

# %% 3 wrong: timeline.waits
def answer_3(xs):
    return [np.dot(x, x) for x in xs for _ in range(COUNT)]
reason_3 = "c"

# %% 3 wrong: devices that it shows
def answer_3(xs):
    return [np.dot(x, x) for x in xs for _ in range(COUNT)]
reason_3 = "D"

# %% 3 wrong: one letter
def answer_3(xs):
    return [np.dot(x, x) for x in xs for _ in range(COUNT)]
reason_3 = "they share an array"
