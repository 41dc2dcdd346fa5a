"""Check the answers to the exercises of lesson 01, Imperative and symbolic programming."""
from mxnet import np
from mxnet.gluon import nn

from d2lhelpers.exercises import check
from d2lhelpers.machine import count_calls


def check_1(answer, mlp):
    """Check the calls per pass with the first, the last, or each layer of an `mlp` hybridized by itself."""
    def calls(*layers):
        net, x = mlp(256, 128, 2), np.ones((1, 512))
        net(x)
        for layer in layers:
            net[layer].hybridize()
        net(x)
        return count_calls(lambda: net(x))

    return check(
        answer,
        (lambda a: len(a) == 3, "give a list of three numbers in brackets"),
        (lambda a: all(type(n) is int for n in a), "each is a count: a whole number"),
        (lambda a: a[0] == calls(0),
         "the first layer has two operators, the product and the ReLU. How many calls are they, once compiled? Add "
         "those of the other layers"),
        (lambda a: a[1] == calls(2), "how many operators does the last layer have? It has no activation"),
        (lambda a: a[2] == calls(0, 1, 2), "each layer is a graph of its own, and each graph is a call"),
    )


class _Traced(nn.HybridSequential):
    """A layer that counts how often it is traced, and how often it runs imperatively."""

    traced = ran = 0

    def hybrid_forward(self, F, x):
        if F.__name__.endswith("symbol"):
            self.traced += 1
        else:
            self.ran += 1
        return super().hybrid_forward(F, x)


def _network():
    net = _Traced()
    net.add(nn.Dense(4, activation="relu"), nn.Dense(2))
    net.initialize()
    return net


def count_tracings(serve, requests):
    """Return how often `serve(net, requests)` has a small network traced."""
    net = _network()
    serve(net, requests)
    return net.traced


def check_2(answer):
    """Check a function (network, requests, debug) that has the network traced once, and not at all if it debugs."""
    requests = [np.ones((1, 3)) * number for number in range(5)]

    def right(answer, **options):
        net = _network()
        answers = answer(net, requests, **options)
        net.hybridize(False)
        return len(answers) == len(requests) and all(
            np.allclose(found, net(request)) for found, request in zip(answers, requests, strict=True))

    def debugged(answer):
        net = _network()
        answer(net, requests, debug=True)
        return net.ran == len(requests) and not net.traced

    return check(
        answer,
        (callable, "give a function that takes a network, requests and debug"),
        (right, "it should return the network's answers, one per request"),
        (lambda a: count_tracings(a, requests) > 0, "without debug=True, the network should run compiled"),
        (lambda a: count_tracings(a, requests) == 1,
         "the network is traced more than once. Every call of hybridize() discards the graph"),
        (lambda a: right(a, debug=True) and debugged(a), "with debug=True, the network should run imperatively"),
    )


def check_3(answer):
    """Check a function from a number of rows to the ratio of times: it is larger for one row than for many."""
    ratios = []
    return check(
        answer,
        (callable, "give a function that takes the number of rows"),
        (lambda a: ratios.extend(a(rows) for rows in (1, 1024)) or ratios[0] > 0,
         "it should return a ratio, such as measure({...}).ratio(\"imperative\", \"hybridized\")"),
        (lambda a: ratios[0] > ratios[1], "it gains more with many rows than with one: is the ratio upside down? Does "
         "the input have so many rows, and does sync=npx.waitall wait for the results?"),
        (lambda a: ratios[0] > 1.2, "with one row, hybridize() should gain something: is the hybridized network "
         "compiled?"),
    )
