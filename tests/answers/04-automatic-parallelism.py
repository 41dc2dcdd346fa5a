# %% 1 right. Asks the theory.
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

# %% 1 given
answer_1 = 137

# %% 1 right, each line
workspaces_1 = 201

# %% 1 wrong, each line
workspaces_1 = ...  # no-workspaces
workspaces_1 = 200  # one-too-few
# One for each product.
workspaces_1 = 400  # more-than-needed
workspaces_1 = 128  # too-few
workspaces_1 = 200.5  # workspaces-not-whole

# %% 1 wrong: never-waits. As if 64 were enough for ever.
answer_1 = 0
workspaces_1 = 64

# %% 1 given
workspaces_1 = 201

# %% 1 wrong, each line
answer_1 = 136  # counts-from-0
# 200 divided by 64 leaves 8, and number 8 had the workspace first.
answer_1 = 9  # earlier-user
answer_1 = 8  # earlier-user
# Number 72 had the workspace, but not last.
answer_1 = 72  # earlier-user
answer_1 = 64  # counts-workspaces
answer_1 = 200  # waits-for-all
# As with four workspaces and ten products: seven tenths.
answer_1 = 140  # same-share
# Off by one on the other side.
answer_1 = 138  # other-product
answer_1 = "about half"  # no-whole-number
answer_1 = theory(64, 200 * ["cpu(0)"] + 200 * ["cpu(1)"])  # no-whole-number

# %% 2 right. The devices themselves.
answer_2 = []
for _ in range(5):
    answer_2 += [first, second, second, first]

# %% 2 right
import numpy
answer_2 = numpy.array(10 * ["cpu(0)", "cpu(1)"])

# %% 2 right, each line
answer_2 = 10 * ["cpu(0)", "cpu(1)"]
# In pairs, as a tuple.
answer_2 = 5 * ("cpu(1)", "cpu(1)", "cpu(0)", "cpu(0)")
# In threes: the theory says that this is right, too.
answer_2 = 3 * (3 * ["cpu(0)"] + 3 * ["cpu(1)"]) + ["cpu(0)", "cpu(1)"]

# %% 2 wrong: not-ten-each. One after the other, without end.
import itertools
answer_2 = itertools.cycle(["cpu(0)", "cpu(1)"])

# %% 2 wrong, each line
answer_2 = order  # as-before
# The other way round.
answer_2 = order[::-1]  # as-before
answer_2 = 20 * ["cpu(0)"]  # not-ten-each
answer_2 = ["cpu(0)", "cpu(1)"]  # not-ten-each
# In halves.
answer_2 = 5 * ["cpu(0)"] + 5 * ["cpu(1)"] + 5 * ["cpu(0)"] + 5 * ["cpu(1)"]  # takes-12
# In fours, because there are four workspaces.
answer_2 = 2 * (4 * ["cpu(0)"] + 4 * ["cpu(1)"]) + 2 * ["cpu(0)"] + 2 * ["cpu(1)"]  # takes-11
# One product of cpu(1) goes first.
answer_2 = ["cpu(1)"] + 10 * ["cpu(0)"] + 9 * ["cpu(1)"]  # takes-16
answer_2 = 10 * [0, 1]  # no-names
answer_2 = "alternate"  # no-names
# The workspaces in place of the devices.
answer_2 = 5 * ["A", "B", "C", "D"]  # no-names

# %% 3 right. An array per device.
def answer_3(xs):
    parts = []
    for x in xs:
        part = np.empty((COUNT, SIZE, SIZE), ctx=x.ctx)
        for number in range(COUNT):
            np.dot(x, x, out=part[number])
        parts.append(part)
    return np.concatenate([part.as_in_ctx(first) for part in parts])
reason_3 = "B"

# %% 3 right. Products with arrays of their own, copied to their places afterwards.
def answer_3(xs):
    results = np.empty((2 * COUNT, SIZE, SIZE))
    for number in range(2 * COUNT):
        x = xs[number // COUNT]
        results[number] = x @ x
    return results
reason_3 = ["b"]

# %% 3 given
answer_3 = lambda xs: [np.dot(x, x) for x in xs for _ in range(COUNT)]

# %% 3 wrong, each line
reason_3 = ...  # no-letter
reason_3 = "they share an array"  # not-a-letter
reason_3 = "a"  # blames-workspaces
reason_3 = "c"  # blames-waits
reason_3 = "D"  # blames-one-device

# %% 3 given
reason_3 = "b"

# %% 3 wrong: too-few-calls. The ten products of a device are equal, so compute one of them.
def answer_3(xs):
    results = []
    for x in xs:
        results += COUNT * [np.dot(x, x)]
    return results

# %% 3 right. Waits, but only when all products are queued.
#-         results += COUNT * [np.dot(x, x)]
#-     return results
#+         results += products(x)
#+     npx.waitall()
#+     return [result.asnumpy() for result in results]

# %% 3 wrong: python-waits. Shares nothing, but takes each product at once.
#-         results += COUNT * [np.dot(x, x)]
#+         for _ in range(COUNT):
#+             results.append(np.dot(x, x).asnumpy())

# %% 3 wrong: python-waits. Shares nothing, but reads a number of each product.
#-         results += COUNT * [np.dot(x, x)]
#+         for product in products(x):
#+             if float(product.max()) >= 0:
#+                 results.append(product)

# %% 3 wrong: python-waits
#-         results += COUNT * [np.dot(x, x)]
#+         results += products(x)
#+         npx.waitall()

# %% 3 wrong: too-few-calls. Returns what was computed before.
kept = slow(xs)
answer_3 = lambda xs: kept

# %% 3 wrong: not-twenty. Returns nothing.
def answer_3(xs):
    at_once(xs)

# %% 3 right. Reads early, but only when everything is queued; an empty queue before that is no harm.
#-     at_once(xs)
#+     npx.waitall()
#+     there, here = products(xs[1]), products(xs[0])
#+     there = [product.asnumpy() for product in there]
#+     return [product.asnumpy() for product in here] + there

# %% 3 wrong: python-waits. The devices overlap, but Python waits for each pair.
#-     at_once(xs)
#+     here, there = [], []
#+     for _ in range(COUNT):
#+         here.append(np.dot(xs[0], xs[0]))
#+         there.append(np.dot(xs[1], xs[1]))
#+         npx.waitall()
#+     return here + there

# %% 3 wrong: devices-take-turns. The cure of exercise 2.
#-     at_once(xs)
#+     results = np.empty((2 * COUNT, SIZE, SIZE))
#+     for number in range(COUNT):
#+         for device in (0, 1):
#+             np.dot(xs[device], xs[device], out=results[device * COUNT + number])
#+     return results

# %% 3 wrong: too-few-calls. Everything on one device.
#-     at_once(xs)
#+     here = [x.as_in_ctx(first) for x in xs]
#+     return [np.dot(x, x) for x in here for _ in range(COUNT)]

# %% 3 wrong: endless
#-     at_once(xs)
#+     while True:
#+         np.dot(xs[0], xs[0]).wait_to_read()

# %% 3 right, each line
answer_3 = lambda xs: [np.dot(x, x) for x in xs for _ in range(COUNT)]
# A list per device, in a tuple.
answer_3 = lambda xs: tuple(products(x) for x in xs)

# %% 3 wrong, each line
# As it was.
answer_3 = slow  # devices-take-turns
# Waits at the end, which is not what holds the devices up.
answer_3 = lambda xs: slow(xs).asnumpy()  # devices-take-turns
# One call for all products of a device.
answer_3 = lambda xs: [np.matmul(np.stack([x] * COUNT), x) for x in xs]  # too-few-calls
# In turns between the devices, so in another order.
answer_3 = lambda xs: [np.dot(x, x) for _ in range(COUNT) for x in xs]  # other-products
answer_3 = lambda xs: [np.dot(x, x).sum() for x in xs for _ in range(COUNT)]  # not-twenty
answer_3 = slow(xs)  # no-function

# %% 3 given
reason_3 = "b"

# %% 3 wrong: array-twice. Twenty names of two arrays, into which all products are written.
def answer_3(xs):
    places = [np.empty((SIZE, SIZE), ctx=x.ctx) for x in xs]
    for x, place in zip(xs, places):
        for _ in range(COUNT):
            np.dot(x, x, out=place)
    return COUNT * [places[0]] + COUNT * [places[1]]

# %% 3 wrong: wrong-effect. It empties the list that it is given.
def answer_3(xs):
    results = []
    while xs:
        x = xs.pop(0)
        results += [np.dot(x, x) for _ in range(COUNT)]
    return results

# %% 3 right
#- while xs:
#-         x = xs.pop(0)
#+ for x in xs:

# %% 3 wrong: wrong-result. The lesson's own matrices, whatever it is given.
mine = list(xs)
#- while xs:
#-         x = xs.pop(0)
#+ for x in mine:
