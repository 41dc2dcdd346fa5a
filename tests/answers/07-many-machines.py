# %% 1 right. In numbers, not in shares, the busier server first.
answer_1 = (77_660, 51_408)
bound_1 = 1e4

# %% 1 right. In percent.
answer_1 = np.array([40, 60]).asnumpy()
bound_1 = 10 ** 4

# %% 1 given
answer_1 = [0.398, 0.602]

# %% 1 right, each line
bound_1 = 10_000

# %% 1 wrong, each line
bound_1 = ...  # no-bound
bound_1 = 100_000  # bound-too-large
bound_1 = 1_000  # bound-too-small
# The size of an array: right by luck, had the question been another one.
bound_1 = 25_000  # no-power-of-ten
# The power, not the bound.
bound_1 = 4  # no-power-of-ten

# %% 1 given
bound_1 = 10_000

# %% 1 wrong, each line
answer_1 = [0.002, 0.998]  # larger-bound
answer_1 = [0.5, 0.5]  # halves-every-array
# Divides the two largest.
answer_1 = [0.4951, 0.5049]  # smaller-bound
# The array that is divided, and all others.
answer_1 = [0.793, 0.207]  # other-shares
# Numbers the others anew, as if the divided array had no number.
answer_1 = [0.593, 0.407]  # other-shares
# The array that is divided, half of it on each server, and nothing else.
answer_1 = [0.397, 0.397]  # wrong-total
answer_1 = 0.398  # no-two-shares
answer_1 = "0.398 and 0.602"  # no-two-shares

# %% 2 right. From the gradients themselves, in whole bytes.
import math

def answer_2(net, k, bits=32):
    numbers = 0
    for param in net.collect_params().values():
        if param.grad_req == "write":
            numbers += math.prod(param.grad().shape)
    return 2 * (k - 1) * numbers * bits // (8 * k)

# %% 2 wrong: asks-missing-gradients. It asks each parameter for a gradient, and running statistics have none.
def answer_2(net, k, bits=32):
    return sum(p.grad().size for p in net.collect_params().values()) * bits / 8 * 2 * (k - 1) / k

# %% 2 wrong: no-biases
def answer_2(net, k, bits=32):
    return sum(p.data().size for p in net.collect_params(".*weight").values()) * bits / 8 * 2 * (k - 1) / k

# %% 2 wrong: right-for-lenet-only
reference_bytes = P
def answer_2(net, k, bits=32):
    return reference_bytes * bits / 32 * 2 * (k - 1) / k

# %% 2 wrong: endless
def answer_2(net, k, bits=32):
    sent, step = 0, 0
    while step != 2 * (k - 1):
        sent += 1
    return sent

# %% 2 given
def all_numbers(net):
    return sum(p.data().size for p in net.collect_params().values())

def learned_numbers(net):
    return sum(p.data().size for p in net.collect_params().values() if p.grad_req != "null")

# %% 2 right, each line
answer_2 = lambda net, k, bits=32: learned_numbers(net) * bits / 8 * 2 * (k - 1) / k

# %% 2 wrong, each line
answer_2 = lambda net, k, bits=32: learned_numbers(net) * (bits // 8) * 2 * (k - 1) / k  # whole-bytes-only
# Ignores bits.
answer_2 = lambda net, k, bits=32: 4 * learned_numbers(net) * 2 * (k - 1) / k  # ignores-bits
answer_2 = lambda net, k, bits=32: all_numbers(net) * bits / 8 * 2 * (k - 1) / k  # counts-statistics
answer_2 = lambda net, k, bits=32: all_numbers(net) * 2 * (k - 1) / k  # counts-numbers
answer_2 = lambda net, k, bits=32: all_numbers(net) * bits * 2 * (k - 1) / k  # counts-bits
answer_2 = lambda net, k, bits=32: 4 * all_numbers(net) / 1e6 * 2 * (k - 1) / k  # in-megabytes
answer_2 = lambda net, k, bits=32: all_numbers(net) * bits / 8 * (k - 1) / k  # one-round
answer_2 = lambda net, k, bits=32: all_numbers(net) * bits / 8 * 2 * (k - 1)  # all-machines
# What one server would send.
answer_2 = lambda net, k, bits=32: all_numbers(net) * bits / 8 * k  # alone-sends
# Whole numbers of 32 bits.
answer_2 = lambda net, k, bits=32: 4 * (bits // 32) * learned_numbers(net) * 2 * (k - 1) / k  # wrong-with-16-bits
# Eight bytes for each number, as Python's own have.
answer_2 = lambda net, k, bits=32: learned_numbers(net) * bits / 4 * 2 * (k - 1) / k  # wrong-on-two
# Ignores k, but for one machine: right by luck for two.
answer_2 = lambda net, k, bits=32: 0 if k == 1 else 4 * all_numbers(net)  # right-for-two-only
answer_2 = lambda net, k, bits=32: [p.data().size * bits / 8 for p in net.collect_params().values()]  # no-number
# It prints, and returns nothing.
answer_2 = lambda net, k, bits=32: print(end="")  # no-number
answer_2 = 516_272  # no-function

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

# %% 3 right. By the formulas, compared with one machine.
def answer_3(T, P):
    def better(k, exchange):
        k = max(2, round(k))
        return k if T / k + exchange(P, k) < T else 1
    star = better((T / 2 / (P / LINK + EACH)) ** 0.5, star_time)
    ring = better(max(0, (T - 2 * P / LINK) / 2 / (EACH + LATENCY)) ** 0.5, ring_time)
    return star, ring

# %% 3 right. With NumPy's numbers.
def answer_3(T, P):
    import numpy
    k = numpy.arange(2, 5000)
    star = numpy.append(T, T / k + star_time(P, k))
    ring = numpy.append(T, T / k + ring_time(P, k))
    return star.argmin() + 1, ring.argmin() + 1

# %% 3 wrong: more-than-one. The ring's part that shrinks with k is forgotten.
def answer_3(T, P):
    star = max(1, round((T / 2 / (P / LINK + EACH)) ** 0.5))
    if T < star_time(P, star) + T / star:
        star = 1
    return star, round((T / 2 / (EACH + LATENCY)) ** 0.5)

# %% 3 wrong: slower-than-one. One plan for both: compares with one machine on the ring only.
#-     if T < star_time(P, star) + T / star:
#-         star = 1
#-     return star, round((T / 2 / (EACH + LATENCY)) ** 0.5)
#+     ring = max(0, (T - 2 * P / LINK) / 2 / (EACH + LATENCY)) ** 0.5
#+     return star, max(1, round(ring))

# %% 3 wrong: ignores-size
def answer_3(T, P):
    def best(exchange):
        return min(range(1, 5000), key=lambda k: T / k + (exchange(516_272, k) if k > 1 else 0))
    return best(star_time), best(ring_time)

# %% 3 wrong: slower-than-one. Ignores that a single machine exchanges nothing.
#- return min(range(1, 5000), key=lambda k: T / k + (exchange(516_272, k) if k > 1 else 0))
#+ return min(range(1, 5000), key=lambda k: T / k + exchange(P, k))

# %% 3 wrong: more-than-one. Never thinks of one machine.
#- return min(range(1, 5000), key=lambda k: T / k + (exchange(516_272, k) if k > 1 else 0))
#+ return min(range(2, 5000), key=lambda k: T / k + exchange(P, k))

# %% 3 wrong: no-whole-numbers
#- return min(range(1, 5000), key=lambda k: T / k + (exchange(516_272, k) if k > 1 else 0))
#+ return min(T / k + (exchange(P, k) if k > 1 else 0) for k in range(1, 5000))

# %% 3 wrong: counts-from-0. The index of the best one, without + 1.
#- return min(range(1, 5000), key=lambda k: T / k + (exchange(516_272, k) if k > 1 else 0))
#+ return int(numpy.argmin([T / k + (exchange(P, k) if k > 1 else 0) for k in range(1, 5001)]))

# %% 3 wrong: wrong-on-ring. As if the exchange were hidden behind the computing.
#- return min(range(1, 5000), key=lambda k: T / k + (exchange(516_272, k) if k > 1 else 0))
#+ return min(range(1, 5001), key=lambda k: max(T / k, exchange(P, k) if k > 1 else 0))

# %% 3 wrong: wrong-on-ring. Does not try enough machines.
#- return min(range(1, 5000), key=lambda k: T / k + (exchange(516_272, k) if k > 1 else 0))
#+ return min(range(1, 64), key=lambda k: T / k + (exchange(P, k) if k > 1 else 0))

# %% 3 wrong: one-for-both. One machine for both, as soon as it is best for one.
#-         return min(range(1, 5000), key=lambda k: T / k + (exchange(516_272, k) if k > 1 else 0))
#-     return best(star_time), best(ring_time)
#+         return min(range(1, 5000), key=lambda k: T / k + (exchange(P, k) if k > 1 else 0))
#+     star = best(star_time)
#+     return (star, best(ring_time)) if star > 1 else (1, 1)

# %% 3 wrong: other-order
#-         return min(range(1, 5000), key=lambda k: T / k + (exchange(516_272, k) if k > 1 else 0))
#-     return best(star_time), best(ring_time)
#+         return min(range(1, 5000), key=lambda k: T / k + (exchange(P, k) if k > 1 else 0))
#+     return best(ring_time), best(star_time)

# %% 3 wrong: endless
def answer_3(T, P):
    k = 1
    while T / k + star_time(P, k) > 0:
        k += 1
    return k, k

# %% 3 wrong, each line
# The formula, not rounded.
answer_3 = lambda T, P: ((T / 2 / (P / LINK + EACH)) ** 0.5, (T / 2 / (EACH + LATENCY)) ** 0.5)  # no-whole-numbers
# The more, the better.
answer_3 = lambda T, P: (round(1000 * T + P / 1e6), round(2000 * T + P / 1e6))  # wrong-with-server
# Right by luck for one T.
answer_3 = lambda T, P: (35, 136)  # ignores-computing
answer_3 = lambda T, P: min(range(1, 5000), key=lambda k: T / k + (star_time(P, k) if k > 1 else 0))  # no-pair
answer_3 = 35, 136  # no-function

# %% 2 wrong: wrong-result. By the names of the parameters.
def answer_2(net, k, bits=32):
    size = 0
    for param in net.collect_params().values():
        if "running" not in param.name:
            size += param.data().size
    return 2 * (k - 1) / k * size * bits / 8

# %% 2 wrong: wrong-result
#- if "running" not in param.name:
#+ if not param.name.endswith(("mean", "var")):

# %% 2 right
#- if "running" not in param.name:
#+ if param.grad_req != "null":

# %% 3 wrong: wrong-result. One machine is tried only for large networks.
def answer_3(T, P):
    def best(exchange):
        return min(range(1 if P > 1e8 else 2, 5001), key=lambda k: T / k + (exchange(P, k) if k > 1 else 0))
    return best(star_time), best(ring_time)

# %% 3 right
#- return min(range(1 if P > 1e8 else 2, 5001), key=lambda k: T / k + (exchange(P, k) if k > 1 else 0))
#+ return min(range(1, 3001), key=lambda k: T / k + (exchange(P, k) if k > 1 else 0))
