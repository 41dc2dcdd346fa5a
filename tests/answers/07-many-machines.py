# %% 1 right
answer_1 = [0.398, 0.602]
bound_1 = 10_000

# %% 1 right
# In numbers, not in shares, the busier server first.
answer_1 = (77_660, 51_408)
bound_1 = 1e4

# %% 1 right
# In percent.
answer_1 = np.array([40, 60]).asnumpy()
bound_1 = 10 ** 4

# %% 1 wrong: with the bound 1,000,000
answer_1 = [0.002, 0.998]
bound_1 = 10_000

# %% 1 wrong: every array divided equally
answer_1 = [0.5, 0.5]
bound_1 = 10_000

# %% 1 wrong: fewer than 100,000 numbers
# Divides the two largest.
answer_1 = [0.4951, 0.5049]
bound_1 = 10_000

# %% 1 wrong: not these shares
# The array that is divided, and all others.
answer_1 = [0.793, 0.207]
bound_1 = 10_000

# %% 1 wrong: its even or odd ones
# Numbers the others anew, as if the divided array had no number.
answer_1 = [0.593, 0.407]
bound_1 = 10_000

# %% 1 wrong: add up to
# The array that is divided, half of it on each server, and nothing else.
answer_1 = [0.397, 0.397]
bound_1 = 10_000

# %% 1 wrong: two shares
answer_1 = 0.398

# %% 1 wrong: two shares
answer_1 = "0.398 and 0.602"

# %% 1 wrong: Now the power of ten
answer_1 = [0.398, 0.602]

# %% 1 wrong: less than 49 %
answer_1 = [0.398, 0.602]
bound_1 = 100_000

# %% 1 wrong: it is not the largest
answer_1 = [0.398, 0.602]
bound_1 = 1_000

# %% 1 wrong: a power of ten
# The size of an array: right by luck, had the question been another one.
answer_1 = [0.398, 0.602]
bound_1 = 25_000

# %% 1 wrong: a power of ten
# The power, not the bound.
answer_1 = [0.398, 0.602]
bound_1 = 4

# %% 2 right
def answer_2(net, k, bits=32):
    gradients = [p for p in net.collect_params().values() if p.grad_req != "null"]
    return sum(p.data().size for p in gradients) * bits / 8 * 2 * (k - 1) / k

# %% 2 right
# From the gradients themselves, in whole bytes.
import math

def answer_2(net, k, bits=32):
    numbers = 0
    for param in net.collect_params().values():
        if param.grad_req == "write":
            numbers += math.prod(param.grad().shape)
    return 2 * (k - 1) * numbers * bits // (8 * k)

# %% 2 wrong: is there a gradient for each
def answer_2(net, k, bits=32):
    return sum(p.data().size for p in net.collect_params().values()) * bits / 8 * 2 * (k - 1) / k

# %% 2 wrong: is there a gradient for each
# It asks each parameter for a gradient, and running statistics have none.
def answer_2(net, k, bits=32):
    return sum(p.grad().size for p in net.collect_params().values()) * bits / 8 * 2 * (k - 1) / k

# %% 2 wrong: leave out the biases
def answer_2(net, k, bits=32):
    return sum(p.data().size for p in net.collect_params(".*weight").values()) * bits / 8 * 2 * (k - 1) / k

# %% 2 wrong: about bytes
def answer_2(net, k, bits=32):
    return sum(p.data().size for p in net.collect_params().values()) * 2 * (k - 1) / k

# %% 2 wrong: you count bits
def answer_2(net, k, bits=32):
    return sum(p.data().size for p in net.collect_params().values()) * bits * 2 * (k - 1) / k

# %% 2 wrong: in megabytes
def answer_2(net, k, bits=32):
    return sum(4 * p.data().size for p in net.collect_params().values()) / 1e6 * 2 * (k - 1) / k

# %% 2 wrong: one of its two rounds
def answer_2(net, k, bits=32):
    return sum(p.data().size for p in net.collect_params().values()) * bits / 8 * (k - 1) / k

# %% 2 wrong: of one machine, or of all
def answer_2(net, k, bits=32):
    return sum(p.data().size for p in net.collect_params().values()) * bits / 8 * 2 * (k - 1)

# %% 2 wrong: that is alone
# What one server would send.
def answer_2(net, k, bits=32):
    return sum(p.data().size for p in net.collect_params().values()) * bits / 8 * k

# %% 2 wrong: right for two machines
# Ignores k, but for one machine: right by luck for two.
def answer_2(net, k, bits=32):
    if k == 1:
        return 0
    return sum(4 * p.data().size for p in net.collect_params().values())

# %% 2 wrong: whichever network
reference_bytes = P
def answer_2(net, k, bits=32):
    return reference_bytes * bits / 32 * 2 * (k - 1) / k

# %% 2 wrong: as many bytes with bits=16
# Ignores bits.
def answer_2(net, k, bits=32):
    gradients = [p for p in net.collect_params().values() if p.grad_req != "null"]
    return sum(4 * p.data().size for p in gradients) * 2 * (k - 1) / k

# %% 2 wrong: whole bytes
def answer_2(net, k, bits=32):
    gradients = [p for p in net.collect_params().values() if p.grad_req != "null"]
    return sum(p.data().size for p in gradients) * (bits // 8) * 2 * (k - 1) / k

# %% 2 wrong: give a function
answer_2 = 516_272

# %% 2 wrong: returns one number
def answer_2(net, k, bits=32):
    return [p.data().size * bits / 8 for p in net.collect_params().values()]

# %% 2 wrong: returns one number
# It prints, and returns nothing.
def answer_2(net, k, bits=32):
    print(end="")

# %% 2 wrong: still running
def answer_2(net, k, bits=32):
    sent, step = 0, 0
    while step != 2 * (k - 1):
        sent += 1
    return sent

# %% 3 right
def answer_3(T, P):
    found = []
    for exchange in star_time, ring_time:
        best, least = 1, T
        for k in range(2, 5001):
            seconds = T / k + exchange(P, k)
            if seconds < least:
                best, least = k, seconds
        found.append(best)
    return found

# %% 3 right
# By the formulas, compared with one machine.
def answer_3(T, P):
    def better(k, exchange):
        k = max(2, round(k))
        return k if T / k + exchange(P, k) < T else 1
    star = better((T / 2 / (P / LINK + EACH)) ** 0.5, star_time)
    ring = better(max(0, (T - 2 * P / LINK) / 2 / (EACH + LATENCY)) ** 0.5, ring_time)
    return star, ring

# %% 3 right
# With NumPy's numbers.
def answer_3(T, P):
    import numpy
    k = numpy.arange(2, 5000)
    star = numpy.append(T, T / k + star_time(P, k))
    ring = numpy.append(T, T / k + ring_time(P, k))
    return star.argmin() + 1, ring.argmin() + 1

# %% 3 wrong: Does one alone
# Ignores that a single machine exchanges nothing.
def answer_3(T, P):
    def best(exchange):
        return min(range(1, 5000), key=lambda k: T / k + exchange(P, k))
    return best(star_time), best(ring_time)

# %% 3 wrong: how long does one take alone
# Never thinks of one machine.
def answer_3(T, P):
    def best(exchange):
        return min(range(2, 5000), key=lambda k: T / k + exchange(P, k))
    return best(star_time), best(ring_time)

# %% 3 wrong: comes first
def answer_3(T, P):
    def best(exchange):
        return min(range(1, 5000), key=lambda k: T / k + (exchange(P, k) if k > 1 else 0))
    return best(ring_time), best(star_time)

# %% 3 wrong: or its time
def answer_3(T, P):
    def best(exchange):
        return min(T / k + (exchange(P, k) if k > 1 else 0) for k in range(1, 5000))
    return best(star_time), best(ring_time)

# %% 3 wrong: or its time
# The formula, not rounded.
def answer_3(T, P):
    return (T / 2 / (P / LINK + EACH)) ** 0.5, (T / 2 / (EACH + LATENCY)) ** 0.5

# %% 3 wrong: how long does one take alone
# The ring's part that shrinks with k is forgotten.
def answer_3(T, P):
    star = max(1, round((T / 2 / (P / LINK + EACH)) ** 0.5))
    if T < star_time(P, star) + T / star:
        star = 1
    return star, round((T / 2 / (EACH + LATENCY)) ** 0.5)

# %% 3 wrong: is it an index
# The index of the best one, without + 1.
def answer_3(T, P):
    def best(exchange):
        return int(numpy.argmin([T / k + (exchange(P, k) if k > 1 else 0) for k in range(1, 5001)]))
    return best(star_time), best(ring_time)

# %% 3 wrong: add the exchange to the computing
# As if the exchange were hidden behind the computing.
def answer_3(T, P):
    def best(exchange):
        return min(range(1, 5001), key=lambda k: max(T / k, exchange(P, k) if k > 1 else 0))
    return best(star_time), best(ring_time)

# %% 3 wrong: on the ring, another number
# Does not try enough machines.
def answer_3(T, P):
    def best(exchange):
        return min(range(1, 64), key=lambda k: T / k + (exchange(P, k) if k > 1 else 0))
    return best(star_time), best(ring_time)

# %% 3 wrong: with one server, another number
# The more, the better.
def answer_3(T, P):
    return round(1000 * T + P / 1e6), round(2000 * T + P / 1e6)

# %% 3 wrong: what does a faster machine change
# Right by luck for one T.
answer_3 = lambda T, P: (35, 136)

# %% 3 wrong: the same for 0.5 MB
def answer_3(T, P):
    def best(exchange):
        return min(range(1, 5000), key=lambda k: T / k + (exchange(516_272, k) if k > 1 else 0))
    return best(star_time), best(ring_time)

# %% 3 wrong: Does one alone
# One plan for both: compares with one machine on the ring only.
def answer_3(T, P):
    star = max(1, round((T / 2 / (P / LINK + EACH)) ** 0.5))
    ring = max(0, (T - 2 * P / LINK) / 2 / (EACH + LATENCY)) ** 0.5
    return star, max(1, round(ring))

# %% 3 wrong: not on the ring
# One machine for both, as soon as it is best for one.
def answer_3(T, P):
    def best(exchange):
        return min(range(1, 5000), key=lambda k: T / k + (exchange(P, k) if k > 1 else 0))
    star = best(star_time)
    return (star, best(ring_time)) if star > 1 else (1, 1)

# %% 3 wrong: returns a pair
def answer_3(T, P):
    return min(range(1, 5000), key=lambda k: T / k + (star_time(P, k) if k > 1 else 0))

# %% 3 wrong: give a function
answer_3 = 35, 136

# %% 3 wrong: still running
def answer_3(T, P):
    k = 1
    while T / k + star_time(P, k) > 0:
        k += 1
    return k, k
