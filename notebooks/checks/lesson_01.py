"""Check the answers to the exercises of lesson 01, Imperative and symbolic programming."""
import dis
import inspect
import json

import mxnet as mx
from mxnet import np, npx

from d2lhelpers import Timeline
from d2lhelpers.exercises import check


def check_1(answer):
    """Check how many additions are left with the unknown in each of the four places."""
    def left_by_python(place):  # Python's own compiler folds constants, too
        a, b, c, d = ["x" if place == k else str(k) for k in range(4)]
        code = compile(f"({a} + {b}) + ({c} + {d})", "<program>", "eval")
        return sum(step.opname.startswith("BINARY") for step in dis.get_instructions(code))

    return check(
        answer,
        (lambda a: len(a) == 4, "give a list of four numbers in brackets, one for each place"),
        (lambda a: all(type(n) is int for n in a), "each is a count: a whole number"),
        (lambda a: set(a) != {3}, "that saves nothing. In each case, two constants meet in one of the sums"),
        (lambda a: 0 not in a, "x is not known, so the sum cannot be a constant"),
        (lambda a: set(a) != {1},
         "count the additions that are left, not those that are saved. Every addition keeps its place: only a sum of "
         "two constants folds"),
        (lambda a: len(set(a)) == 1,
         "draw the tree of the sums and mark the unknown: how do its left and its right half differ?"),
        (lambda a: list(a) == [left_by_python(place) for place in range(4)],
         "write down what the figure of section 4 becomes with an x among its leaves"),
    )


def check_2(answer, calls):
    """Check a symbol that adds a, b, c and d, and how often `add` is called while it runs; `calls` lists calls."""
    def bound(answer):
        numbers = {name: np.array([10.0 ** k]) for k, name in enumerate("abcd")}
        return answer[0].bind(mx.cpu(), numbers)

    def result(answer):
        return bound(answer).forward()[0].asnumpy().tolist()

    def operators(answer):
        return sum(node["op"] != "null" for node in json.loads(answer[0].tojson())["nodes"])

    return check(
        answer,
        (lambda a: not inspect.isfunction(a), "that is the function. What does it return when you call it?"),
        (lambda a: isinstance(a, tuple) and len(a) == 2,
         "give two things with a comma between them: the symbol, and a number"),
        (lambda a: isinstance(a[0], mx.sym.Symbol),
         "the first should be a symbol, a value that does not exist yet: see section 5"),
        (lambda a: sorted(a[0].list_arguments()) == list("abcd"),
         "look at its list_arguments(): they should be a, b, c and d, each of them once"),
        (lambda a: result(a) == [1111.0], "bound to four other numbers, it does not give their sum"),
        (lambda a: operators(a) == 3, "the sum is right, but the graph should consist of three additions"),
        (lambda a: type(a[1]) is int, "the second is a count: a whole number"),
        (lambda a: a[1] == calls(bound(a).forward).count("add"),
         "count while it runs, not while it is built: `calls` of section 1 can watch the executor's `forward`"),
    )


def check_3(answer, network, small_share):
    """Check layers and an input that keep the back end busier than `small_share`; `network` builds the layers."""
    shares = []

    def busy(answer):
        layers, shape = answer
        net = network(layers=layers)
        net.initialize()
        data = np.random.normal(size=shape)
        net(data)
        npx.waitall()
        with Timeline() as timeline:
            for _ in range(4):
                net(data)
        shares.append(timeline.busy("cpu(0)") / timeline.end)
        return shares[-1]

    enough = (1 + small_share) / 2  # the gap of the small network, closed by half
    return check(
        answer,
        (lambda a: isinstance(a, tuple) and len(a) == 2,
         "give two things with a comma between them: layers, and a shape"),
        (lambda a: all(len(layer) == 2 for layer in a[0]),
         "each layer is a pair: its units and its activation, as in SMALL"),
        (lambda a: len(a[1]) == 2, "the shape is a pair, too: the rows, and the numbers in a row"),
        (lambda a: busy(a) > 0, "can the network be built, and does it take such an input?"),
        (lambda a: shares[-1] > enough or len(a[0]) <= len(network()),
         "the back end still waits for Python. More layers mean more work, but just as many more calls from Python: "
         "it is the single operator that must take longer"),
        (lambda a: shares[-1] > enough,
         "the back end still waits for Python. What makes a single operator take longer: how wide is a layer, how "
         "many rows come at once?"),
    )
