"""The rules of the checks in lesson 07, many machines."""
import numpy

from d2lhelpers.exercises import check

FUNCTION = "give the name of a function, without parentheses"


def check_1(answer, parameters):
    """Check the shares of two servers with the bound 100,000, and the highest power of ten that evens them out."""
    sizes = [param.size for param in parameters]

    def share(bound):
        """Return the smaller share: arrays from `bound` numbers on are halved, others are dealt out in turn."""
        held = [sum(size / 2 if size >= bound else size * (key % 2 == server) for key, size in enumerate(sizes))
                for server in range(2)]
        return min(held) / sum(held)

    return check(
        answer,
        (lambda given: len(given) == 3, "three numbers: two shares and a bound"),
        (lambda given: min(given[:2]) >= 0 and max(given[:2]) <= 1,
         "a share is a number between 0 and 1, neither bytes nor a percentage"),
        (lambda given: abs(sum(given[:2]) - 1) < 0.02,
         "the two servers together hold everything: what do your shares add up to?"),
        (lambda given: abs(min(given[:2]) - share(1_000_000)) > 0.01,
         "those are the shares with the default bound. Which array has at least 100,000 numbers?"),
        (lambda given: abs(min(given[:2]) - share(100_000)) < 0.01,
         "the bound 100,000: halve the arrays that have at least so many numbers, and deal out the others by key: "
         "those with even keys to one server, those with odd keys to the other"),
        (lambda given: share(given[2]) >= 0.49, "with this bound, one server holds less than 49 %: is it low enough?"),
        (lambda given: share(10 * given[2]) < 0.49, "low enough, but a bound ten times as high would do, too"))


def check_2(answer, lenet, resnet, ring):
    """Check a function (net, k, bits=32) of the bytes that a machine sends on a ring of k, held against `ring`."""
    def learned(net):
        return sum(param.data().size for param in net.collect_params().values() if param.grad_req != "null")

    def sent_by(k):
        """Return the bytes that `ring` sends for the gradients of LeNet, as the average of its machines."""
        sent = {}
        for _ in ring(numpy.zeros((k, learned(lenet)), "float32"), sent):
            pass
        return sum(sent.values()) / k

    def same(value, other):
        return abs(value - other) <= 1e-6 * other

    return check(
        answer,
        (callable, FUNCTION),
        (lambda sends: isinstance(sends(lenet, 2), (int, float, numpy.number)),
         "called with a network and a number of machines, it should return one number"),
        (lambda sends: not same(4 * sends(lenet, 2), sent_by(2)), "you count numbers, and the question is about bytes"),
        (lambda sends: sends(lenet, 1) == 0, "how much does a machine send that is alone?"),
        (lambda sends: same(sends(lenet, 2), sent_by(2)),
         "for LeNet on two machines the simulated ring sends another number of bytes"),
        (lambda sends: same(sends(lenet, 8), sent_by(8)),
         "right for two machines, but not for eight: what grows with k, and what shrinks?"),
        (lambda sends: same(sends(resnet, 2), 4 * learned(resnet)),
         "right for LeNet, but not for ResNet-18: print the names and `grad_req` of its parameters. What does a "
         "parameter need in order to be summed?"),
        (lambda sends: same(sends(lenet, 8, bits=16), sent_by(8) / 2), "right with 32 bits, but not with bits=16"))


def check_3(answer, size, star_time, ring_time):
    """Check a function (T, size) that returns the best number of machines, with one server and on a ring."""
    large = 400_000_000  # bytes
    cases = [(1.0, size), (0.01, size), (1.0, large)]

    def seconds(T, size, k, exchange):
        return T / k + (exchange(size, k) if k > 1 else 0)

    def holds(T, size, k, exchange):
        others = {1, 2, k - 1, k + 1, k // 2, 2 * k, int(k / 1.3), int(1.3 * k) + 1} - {0}
        return seconds(T, size, k, exchange) <= 1.01 * min(seconds(T, size, other, exchange) for other in others)

    return check(
        answer,
        (callable, FUNCTION),
        (lambda best: all(len(best(*case)) == 2 for case in cases), "called with T and a size, it returns a pair"),
        (lambda best: all(k >= 1 and k == int(k) for case in cases for k in best(*case)),
         "machines are whole numbers, from 1 on: round, and think of small results"),
        (lambda best: best(1.0, size)[0] <= best(1.0, size)[1],
         "the number for one server comes first. Which plan can use more machines?"),
        (lambda best: all(holds(*case, best(*case)[0], star_time) for case in cases),
         "with one server, another number of machines is faster: how does each of the two times change with k? "
         "Remember that the server both receives and sends"),
        (lambda best: all(holds(*case, best(*case)[1], ring_time) for case in cases),
         "on the ring, another number of machines is faster: what grows with k there, the bytes or the messages?"),
        (lambda best: tuple(best(0.1, large)) == (1, 1),
         "a fast machine and a large network: compare with one machine, which exchanges nothing"))
