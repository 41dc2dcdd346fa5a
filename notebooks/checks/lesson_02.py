"""Check the answers to the exercises of lesson 02, HybridBlock."""
import json

import mxnet as mx
import numpy
from d2l import mxnet as d2l
from mxnet import np
from mxnet.base import NotImplementedForSymbol
from mxnet.gluon import nn

from d2lhelpers.exercises import check

STEPS = ["imperative call", "hybridize()", "first call", "second call", "next call", "hybridize() again",
         "call after that"]


def _failing_steps():
    """Take the seven steps of exercise 1, and return the names of those that fail."""
    with_line, failing, data = True, set(), np.ones(3)

    def body(F, x):
        return 0 * x.asnumpy().sum() + x if with_line else x

    network = nn.HybridLambda(body)
    for step in STEPS:
        if step == "next call":
            with_line = False
            network(data)  # compiles without the line
            with_line = True
        try:
            network.hybridize() if "hybridize" in step else network(data)
        except NotImplementedForSymbol:
            failing.add(step)
    return failing


def check_1(answer):
    """Check the list of the steps that fail."""
    failing = _failing_steps()

    def right_about(answer, *names):
        return all((name in answer) == (name in failing) for name in names)

    return check(
        answer,
        (lambda a: isinstance(a, (list, tuple, set)), "give a list of names, in square brackets"),
        (lambda a: set(a) <= set(STEPS), "one name is not among the seven: check the spelling"),
        (lambda a: right_about(a, "hybridize()", "hybridize() again"),
         "look at hybridize() again: does it run your code, or does it only set a flag?"),
        (lambda a: right_about(a, "imperative call"),
         "look at the imperative call again: is x an array there, or a symbol?"),
        (lambda a: right_about(a, "first call", "second call"),
         "the first network: does it have a graph once a call has failed?"),
        (lambda a: right_about(a, *STEPS), "the network that got the line later: which of its calls run Python code?"),
    )


def check_2(answer):
    """Check a HybridBlock that squares its input `depth` times, and turns the sign if `flip` and the sum say so."""
    def made(depth=3, flip=True, compiled=False):
        network = answer()
        network.depth, network.flip = depth, flip
        network.hybridize(compiled)
        return network

    def gives(network, number):
        return network(np.array([number])).item()

    def both_signs(network):
        return [gives(network, 2), gives(network, -2)]

    def operators(network):
        graph = network(mx.sym.var("data").as_np_ndarray())
        return sum(node["op"] != "null" for node in json.loads(graph.tojson())["nodes"])

    return check(
        answer,
        (lambda a: isinstance(a, type), "give the class itself, without parentheses"),
        (lambda a: issubclass(a, nn.HybridBlock), "derive it from nn.HybridBlock"),
        (lambda a: (a().depth, a().flip) == (3, True),
         "a new network, made without arguments, has depth 3 and flip True"),
        (lambda a: gives(made(flip=False), 2) == 256,
         "without flip: 2, squared three times, is 4, then 16, then 256"),
        (lambda a: gives(made(depth=1, flip=False), 2) == 4, "does the number of rounds come from self.depth?"),
        (lambda a: gives(made(), 2) == -256, "with flip, the result for 2 is negative"),
        (lambda a: gives(made(), -2) == 256, "the sum of the *input* decides, and that of -2 is negative"),
        (lambda a: both_signs(made(compiled=True)) == both_signs(made()),
         "compiled, it fails or differs: who asks for the sum, Python or an operator?"),
        (lambda a: operators(made(depth=5)) - operators(made(depth=3)) >= 2,
         "the graph does not grow with depth: square in a loop"),
    )


def check_2b(answer):
    """Check how often the input is squared in each of the three calls."""
    depth, rounds = 3, []

    def body(F, x):
        for _ in range(depth):
            x = x * x
        return x

    network = nn.HybridLambda(body)
    for depth, anew in ((3, True), (5, False), (5, True)):  # noqa: B007, body reads depth
        if anew:
            network.hybridize()
        result = network(np.array([2])).item()  # 2 to the power of 2 to the power of rounds
        rounds.append(round(numpy.log2(numpy.log2(result))))
    return check(
        answer,
        (lambda a: isinstance(a, (list, tuple)) and len(a) == 3, "give a list of three numbers"),
        (lambda a: a[0] == rounds[0], "the first call: what is depth while it is traced?"),
        (lambda a: a[1] == rounds[1], "the second call: who looks at the attribute?"),
        (lambda a: a[2] == rounds[2], "the third call: what becomes of the old graph?"),
    )


def check_3(answer, MLP, like):
    """Check two converted classes against `MLP` and d2l.LeNet; `like` copies the parameters and compares."""
    images = np.random.normal(size=(3, 1, 28, 28))

    def compiled(network):
        network(images[:2])
        network.hybridize()
        network(images[:2])
        return network

    def same(original, network):
        network(images)
        try:
            return like(original, network, images) is network
        except AssertionError:
            return False

    return check(
        answer,
        (lambda a: len(a) == 2 and all(isinstance(kind, type) for kind in a),
         "give a list of two classes, without parentheses after their names"),
        (lambda a: all(issubclass(kind, nn.HybridBlock) for kind in a), "derive both from nn.HybridBlock"),
        (lambda a: all(kind()(images) is not None for kind in a),
         "it fails before hybridize(): are all layers registered and initialized?"),
        (lambda a: all(compiled(kind()) for kind in a),
         "compiled, it fails: which line asks for a shape? which function lacks its F?"),
        (lambda a: all(compiled(kind())(images).shape == (3, 10) for kind in a),
         "three images need three rows of ten numbers, but the graph was traced for two images"),
        (lambda a: same(MLP(), a[0]()) and same(d2l.LeNet(), a[1]()),
         "with the original's parameters, the outputs differ: compare layer by layer"),
    )
