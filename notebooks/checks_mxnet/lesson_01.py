"""Check the answers to the exercises of lesson 01, Imperative and symbolic programming."""
from mxnet import np
from mxnet.gluon import nn

from d2lhelpers.counters import count_calls
from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check
from d2lhelpers.messages import say


def check_1(answer, mlp):
    """Check the calls per pass with the first, the last, or each layer of an `mlp` hybridized by itself."""
    def calls(*layers):
        net, x = mlp(256, 128, 2), np.ones((1, 512))
        net(x)
        for layer in layers:
            net[layer].hybridize()
        net(x)
        return count_calls(lambda: net(x))

    first, last, each = calls(0), calls(2), calls(0, 1, 2)
    return check(
        answer,
        ("no-three-numbers", lambda a: len([int(n) for n in a]) == 3, "give three numbers, in square brackets"),
        ("in-a-set", lambda a: not isinstance(a, (set, frozenset)),
         "a set has no order: give the three numbers in a list"),
        ("counts-layers", lambda a: list(a) != [3, 3, 3],
         "those are the layers. Which of them is more than one operator?"),
        ("counts-operators", lambda a: list(a) != [2, 1, 5],
         "those are the operators that you handed over. How many calls are left?"),
        ("saves-nothing", lambda a: a[0] != 5,
         "the first layer has two operators. Hybridized, it is not as many calls as before"),
        ("wrong-first-layer", lambda a: a[0] == first,
         "with the first layer hybridized: count one call for it, and one per operator of the layers that are not"),
        ("last-like-first", lambda a: a[1] != first,
         "it saves as much as the first layer only if it has as many operators. Has it?"),
        ("wrong-last-layer", lambda a: a[1] == last,
         "with the last layer hybridized: it has no activation. What does one operator save that becomes one call?"),
        ("whole-network", lambda a: a[2] != 1,
         "that is the network hybridized as a whole. Here Python still goes from layer to layer"),
        ("wrong-each-layer", lambda a: a[2] == each,
         "with each layer hybridized by itself: every layer is a graph of its own"),
    )


class _Counted(nn.Dense):
    """A layer that counts how often it is traced, and how often its Python code runs on arrays."""

    traced = ran = 0

    def hybrid_forward(self, F, x, *parameters, **named):
        if F.__name__.endswith("symbol"):
            self.traced += 1
        else:
            self.ran += 1
        return super().hybrid_forward(F, x, *parameters, **named)


class _Network(nn.HybridSequential):
    """A network whose layers count."""

    @property
    def traced(self):
        return max(layer.traced for layer in self)

    @property
    def ran(self):
        return min(layer.ran for layer in self)

    def forget(self):
        """Count from 0 again."""
        for layer in self:
            layer.traced = layer.ran = 0


def counted_network(inputs=3):
    """Return a small network with so many inputs; it counts how often its layers are traced, and how often they run."""
    net = _Network()
    net.add(_Counted(4, activation="relu", in_units=inputs), _Counted(2, in_units=4))
    net.initialize()
    return net


def right_start(net, debug=None):
    """Return a server that hybridizes its network when it starts, and after each round that somebody debugs."""
    def serve(requests, debug=False):
        if debug:
            net.hybridize(False)
        answers = [net(request) for request in requests]
        if debug:
            net.hybridize()
        return answers

    net.hybridize()
    return serve


def some_rounds(random):
    """Yield networks, the rounds that somebody debugs, and for each the values of its requests."""
    drawn = list(random.integers(2, size=6) > 0)
    for rounds in [False], [True], [False, True, False], [True, True, False, False, True, False, True], drawn:
        net = counted_network()
        for parameter in net.collect_params().values():
            parameter.set_data(np.array(random.normal(size=parameter.shape)))
        yield net, rounds, [random.normal(size=(random.integers(1, 6), 1, 3)).astype("float32") for _ in rounds]


def played(start, net, rounds, values):
    """Return what a server does in several rounds, whose requests are in the same arrays: answers, and how they came.

    A network that is hybridized again may be traced once more, but only once until somebody debugs again.
    """
    def way():
        if graphs > 1:
            return say("traced again")
        ran = {layer.ran for layer in net}
        known = {0: say("compiled"), len(requests): say("imperative")}
        return known.get(ran.pop(), say("partly compiled")) if len(ran) == 1 else say("partly compiled")

    net.hybridize()
    serve = start(net)
    arrays = [np.zeros((1, 3)) for _ in range(5)]
    found, graphs = [], 0
    for debug, inputs in zip(rounds, values, strict=True):
        net.forget()
        requests = arrays[:len(inputs)]
        for request, value in zip(requests, inputs, strict=True):
            request[:] = np.array(value)
        given = list(requests)
        answers = [answer.asnumpy() for answer in (serve(given, debug=True) if debug else serve(given))]
        graphs = 0 if debug else graphs + net.traced
        found.append((answers, way(), [each.asnumpy() for each in given]))
    return found


def check_2(answer):
    """Check a function that takes a network once and returns what serves its requests, compiled or not."""
    requests = [np.ones((1, 3)) * number for number in range(5)]

    class Used:
        """A server of a small network, with what its network counted in each round of requests."""

        def __init__(self, rounds):
            net = counted_network()
            wanted = [net(request) for request in requests]
            net.hybridize()
            serve = answer(net)
            self.right, self.traced, self.ran = True, [], []
            for debug in rounds:
                net.forget()
                given = list(requests)
                answers = list(serve(given, debug=True) if debug else serve(given))
                self.traced.append(net.traced)
                self.ran.append(net.ran)
                same = [np.allclose(found, value) for found, value in zip(answers, wanted, strict=True)]
                self.right = self.right and all(same)

    return check(
        answer,
        ("no-function", callable, "give a function that takes a network, such as `start`, repaired"),
        ("returns-no-server", lambda start: callable(start(counted_network())),
         "called with a network, it should return the function that serves"),
        ("not-one-per-request", lambda _: Used([False]).right,
         "return the network's answers in a list, one per request"),
        ("never-compiled", lambda _: Used([False]).traced != [0],
         "the network never runs compiled. Who calls hybridize()?"),
        ("traces-within-round", lambda _: Used([False]).traced == [1],
         "one round of requests traces the network more than once: what happens to the graph at each hybridize()?"),
        ("traces-each-round", lambda _: Used([False, False, False]).traced == [1, 0, 0],
         "the first round is right, but each later one traces the network again"),
        ("debugs-another-network", lambda _: Used([True]).right,
         "with debug=True the answers should be those of the network that it was started with, whichever that is"),
        ("debugs-compiled", lambda _: Used([True]).ran == [len(requests)],
         "with debug=True from the start, the layers' Python code should run for every request"),
        ("stays-compiled", lambda _: Used([False, True]).ran[1] == len(requests),
         "with debug=True after a compiled round, it still runs compiled: nobody could look inside"),
        ("stays-imperative",
         lambda _: Used([False, True, False, False]).traced[3] == 0 and Used([False, True, False]).ran[2] == 0,
         "after debugging, it does not go back to running compiled"),
        *Exam(right_start, some_rounds, played).rules(),
    )


def right_gain(asking, compiled, per_row, rows):
    """Return how many times as long an imperative pass takes as a compiled one."""
    return max(asking, rows * per_row) / max(compiled, rows * per_row)


def some_times(random):
    """Yield times and rows; in half of the cases both passes are about as long as the device's work."""
    yield from [(100, 30, 1, 90), (200, 20, 5, 60), (20, 20, 3, 1), (1000, 1, 0.5, 1)]
    for _ in range(20):
        asking, compiled, per_row = random.integers(100, 400), random.integers(20, 100), random.integers(1, 9)
        yield int(asking), int(compiled), int(per_row), int(random.integers(1, 2 * asking / per_row))


def check_3(answer, rows):
    """Check a function that predicts what compiling gains, and from how many rows on it gains nothing."""
    def right(gain, *case):
        return abs(gain(*case) - right_gain(*case)) < 0.006  # two decimals are enough

    def gains(function, *case):
        """Return a gain with few enough decimals for a hint, and enough to find any fault."""
        return round(float(function(*case)), 4)

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, or lambda asking, compiled, per_row, rows: …"),
        ("no-number", lambda gain: float(gain(150, 30, 2, 1)) > 0, "it should return a number"),
        ("no-ratio", lambda gain: min(abs(gain(150, 30, 2, 1) - wrong) for wrong in (4, 0.8, 80, 120)) > 0.006,
         "that is a difference or a share. How many times as long does the imperative pass take: a ratio"),
        ("upside-down", lambda gain: abs(gain(150, 30, 2, 1) - 30 / 150) > 1e-6,
         "with one row it says that compiling makes the network slower: is the ratio upside down?"),
        ("adds-times", lambda gain: abs(gain(150, 30, 2, 1) - 152 / 32) > 1e-6,
         "you add Python's time and the device's. What do the Timelines say: do they take turns?"),
        ("wrong-if-overhead-bound", lambda gain: right(gain, 150, 30, 2, 1),
         "with one row both are overhead-bound: the time is Python's"),
        ("zero-not-one", lambda gain: gain(150, 30, 2, 1000) != 0,
         "with a thousand rows you return 0: if both passes take as long, how many times as long is the one?"),
        ("wrong-if-device-bound", lambda gain: abs(gain(150, 30, 2, 1000) - 1) < 0.006,
         "with a thousand rows the device needs 2,000 µs. Does it matter then how long Python asked?"),
        ("wrong-in-between", lambda gain: right(gain, 150, 30, 2, 40),
         "with 40 rows the device needs 80 µs: longer than the one compiled call, but shorter than five calls"),
        ("ignores-the-times", lambda gain: right(gain, 200, 20, 5, 7) and right(gain, 90, 60, 1, 75),
         "right for 150, 30 and 2 µs alone"),
        *Exam(right_gain, some_times, gains, tolerance=0.006).rules(),
        ("no-rows", lambda _: rows is not ...,
         "that is right. Now the number of rows, in place of the second three dots"),
        ("rows-of-compiled", lambda _: float(rows) != 15,
         "from there on the *compiled* network is no longer overhead-bound. Compare the two networks"),
        ("wrong-rows", lambda _: float(rows) in (75, 76),
         "the gain is 1 where the device needs at least as long as Python, even imperatively"),
    )
