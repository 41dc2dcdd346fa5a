"""Check the answers to the exercises of lesson 07, Many machines."""
import numpy
from mxnet import np
from mxnet.gluon import nn

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check

FUNCTION = "give a function: its name alone, without parentheses"


def check_1(answer, bound, sizes):
    """Check the shares of two servers with the bound 100,000, and the highest power of ten that evens them out."""
    def share(bound):
        """Return the smaller share: arrays from `bound` numbers on are halved, others are dealt out in turn."""
        held = [0, 0]
        for key, size in enumerate(sizes):
            if size >= bound:
                held = [each + size / 2 for each in held]
            else:
                held[key % 2] += size
        return min(held) / sum(held)

    def smaller(pair):
        return float(min(pair)) / float(sum(pair))

    return check(
        answer,
        ("no-two-shares", lambda pair: len([float(each) for each in pair]) == 2, "two shares, in square brackets"),
        ("wrong-total", lambda pair: any(abs(float(sum(pair)) / whole - 1) < 0.02 for whole in (1, 100, sum(sizes))),
         "the two servers together hold everything: what do your shares add up to?"),
        ("larger-bound", lambda pair: abs(smaller(pair) - share(1_000_000)) > 0.01,
         "those are the shares with the bound 1,000,000. Has no array of LeNet 100,000 numbers?"),
        ("halves-every-array", lambda pair: abs(smaller(pair) - share(1)) > 0.001,
         "that is every array divided equally. Which of them have at least 100,000 numbers?"),
        ("smaller-bound", lambda pair: abs(smaller(pair) - share(10_000)) > 0.001,
         "you divide an array that has fewer than 100,000 numbers"),
        ("other-shares", lambda pair: abs(smaller(pair) - share(100_000)) < 0.005,
         "not these shares. Each server gets half of an array that reaches the bound, besides its even or odd ones"),
        ("no-bound", lambda _: bound is not ...,
         "that is right. Now the power of ten, in place of the second three dots"),
        ("no-power-of-ten", lambda _: float(bound) in [10.0 ** power for power in range(10)],
         "10, 100, 1,000, ...: a power of ten"),
        ("bound-too-large", lambda _: share(float(bound)) >= 0.49, "with this bound, one server holds less than 49 %"),
        ("bound-too-small", lambda _: share(10 * float(bound)) < 0.49,
         "both servers hold 49 % or more, but it is not the largest"),
    )


def learned(net, kind=""):
    """Return how many numbers of a network have a gradient; of those whose parameter's name contains `kind`."""
    return sum(param.data().size for param in net.collect_params().values()
               if param.grad_req != "null" and kind in param.name)


def right_bytes(net, k, bits=32):
    """Return the bytes that a machine sends on a ring of k for the gradients of a network."""
    return 2 * (k - 1) / k * learned(net) * bits / 8


def some_networks(random):
    """Yield networks, of which some layers are frozen and some have the names of statistics, machines and bits.

    Whoever counts whole bytes is right, too: there are so many that a part of one is nothing.
    """
    for frozen, one, two in ([], "a", "b"), ([], "my_var", "a_mean"), ([0], "bias", "beta"), ([1, 2], "running", "var"):
        net = nn.Sequential()
        net.add(nn.Dense(600, prefix=f"{one}_"), nn.BatchNorm(), nn.Dense(300, prefix=f"{two}_"))
        net.initialize(init="ones")
        net(np.zeros((1, int(random.integers(200, 600)))))
        for number in frozen:
            net[number].collect_params().setattr("grad_req", "null")
        yield net, int(random.integers(2, 30)), int(random.choice([1, 2, 8, 16, 32, 64]))


def check_2(answer, lenet, resnet, ring):
    """Check a function (net, k, bits=32) of the bytes that a machine sends on a ring of k, held against `ring`."""
    def sent_by(k):
        """Return the bytes that `ring` sends for the gradients of LeNet, as the average of its machines."""
        sent = [0] * k
        for _ in ring(numpy.zeros((k, learned(lenet)), "float32"), sent):
            pass
        return sum(sent) / k

    def same(value, other):
        return abs(float(value) - other) <= 1e-4 * other

    no_gradient = ("right for LeNet, but not for ResNet-18. Print the names of its parameters: is there a gradient for "
                   "each?")
    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("no-number", lambda sends: isinstance(float(sends(lenet, 2)), float),
         "called with a network and k, it returns one number"),
        ("counts-numbers", lambda sends: not same(4 * sends(lenet, 4), sent_by(4)),
         "you count numbers, and the question is about bytes"),
        ("counts-bits", lambda sends: not same(sends(lenet, 4) / 8, sent_by(4)),
         "you count bits, and the question is about bytes"),
        ("in-megabytes", lambda sends: not same(1e6 * sends(lenet, 4), sent_by(4)),
         "that is in megabytes: return bytes"),
        ("one-round", lambda sends: not same(2 * sends(lenet, 4), sent_by(4)),
         "that is half of what the ring sends: you count one of its two rounds of k−1 steps"),
        ("all-machines", lambda sends: not same(sends(lenet, 4), 4 * sent_by(4)),
         "that is k times as much as the ring's machine sends: the bytes of one machine, or of all?"),
        ("alone-sends", lambda sends: sends(lenet, 1) == 0, "how much does a machine send that is alone?"),
        ("no-biases", lambda sends: not same(sends(lenet, 2), 4 * learned(lenet, "weight")),
         "you leave out the biases, which have gradients, too"),
        ("wrong-on-two", lambda sends: same(sends(lenet, 2), sent_by(2)),
         "on two machines, the lesson's ring sends another number"),
        ("right-for-two-only", lambda sends: same(sends(lenet, 8), sent_by(8)),
         "right for two machines, but not for eight"),
        ("asks-missing-gradients", lambda sends: float(sends(resnet, 2)) > 0, no_gradient),
        ("right-for-lenet-only", lambda sends: not same(sends(resnet, 2), sent_by(2)),
         "this is for LeNet, whichever network it is given"),
        ("counts-statistics", lambda sends: same(sends(resnet, 2), 4 * learned(resnet)), no_gradient),
        ("ignores-bits", lambda sends: not same(sends(lenet, 8, bits=16), sent_by(8)),
         "as many bytes with bits=16 as with bits=32?"),
        ("wrong-with-16-bits", lambda sends: same(sends(lenet, 8, bits=16), sent_by(8) / 2),
         "right with 32 bits, but not with bits=16"),
        ("whole-bytes-only", lambda sends: same(sends(lenet, 8, bits=2), sent_by(8) / 16),
         "right with 16 and 32 bits, but not with bits=2: is a number always whole bytes?"),
        *Exam(right_bytes, some_networks, tolerance=1e-4).rules(),
    )


def check_3(answer, star_time, ring_time):
    """Check a function (T, P) that returns the best number of machines, with one server and on a ring."""
    small, large = 516_272, 400_000_000  # bytes: LeNet, and a network of 100 million parameters
    cases = [(1.0, small), (0.05, small), (0.2, 10 * small), (60.0, large)]

    def seconds(T, P, k, exchange):
        return T / k + (exchange(P, k) if k > 1 else 0)

    def best(T, P, exchange):
        return min(range(1, 5001), key=lambda k: seconds(T, P, k, exchange))

    def holds(given, exchange, T, P):
        """Return whether a number of machines takes at most 1 % longer than the best one, which formulas may miss."""
        return seconds(T, P, int(given), exchange) <= 1.01 * seconds(T, P, best(T, P, exchange), exchange)

    def best_pair(T, P):
        return best(T, P, star_time), best(T, P, ring_time)

    def nearly_best(find, T, P):
        """Return the best pair, or what is given in place of a number that takes more than 1 % longer."""
        pairs = zip(find(T, P), best_pair(T, P), (star_time, ring_time), strict=True)
        return [right if holds(given, exchange, T, P) else given for given, right, exchange in pairs]

    def problems(random):
        yield 0.01, 50_000_000
        for _ in range(9):
            yield float(10 ** random.uniform(-2, 1.5)), int(10 ** random.uniform(4, 9))

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("no-pair", lambda find: all(len(find(*case)) == 2 for case in cases),
         "called with T and P, it returns a pair"),
        ("no-whole-numbers", lambda find: all(k >= 1 and k == int(k) for case in cases for k in find(*case)),
         "machines are whole numbers, from 1 on. Do you return the best k, or its time?"),
        ("counts-from-0", lambda find: not all(k + 1 == best(*case, plan) for case in cases
                                               for k, plan in zip(find(*case), (star_time, ring_time), strict=True)),
         "each number is one too small: is it an index, which begins with 0?"),
        ("other-order", lambda find: find(1.0, small)[0] <= find(1.0, small)[1],
         "the number for one server comes first. Which plan can use more machines?"),
        ("ignores-computing", lambda find: tuple(find(1.0, small)) != tuple(find(0.05, small)),
         "with T = 1 s and 0.05 s it finds the same: what does a faster machine change?"),
        ("ignores-size", lambda find: find(60.0, large)[0] != find(60.0, small)[0],
         "it finds the same for 0.5 MB and for 400 MB"),
        ("wrong-with-server", lambda find: all(holds(find(*case)[0], star_time, *case) for case in cases),
         "with one server, another number of machines is faster. Its load grows with k"),
        ("wrong-on-ring", lambda find: all(holds(find(*case)[1], ring_time, *case) for case in cases),
         "for one server the number is right. But on the ring, another number of machines is faster. Do you add the "
         "exchange to the computing, and try enough machines?"),
        ("more-than-one", lambda find: find(0.1, large)[1] == 1 and find(0.1, large)[0] == 1,
         "with T = 0.1 s and 400 MB, it finds more than one machine: how long does one take alone?"),
        ("slower-than-one", lambda find: find(2.0, large)[0] == 1,
         "with T = 2 s and 400 MB, one server: your number of machines takes 2.28 s or more. Does one alone?"),
        ("one-for-both", lambda find: holds(find(2.0, large)[1], ring_time, 2.0, large),
         "with T = 2 s and 400 MB, one machine is best with one server, but not on the ring"),
        *Exam(best_pair, problems, nearly_best).rules(),
    )
