"""Check the answers to the exercises of lesson 02, HybridBlock."""
import numpy
from mxnet import np
from mxnet.gluon import nn

from d2lhelpers.exercises import check
from d2lhelpers.machine import count_calls

FROZEN = {"b", "c", "e"}


def check_1(answer):
    """Check the letters of the results that are frozen."""
    return check(
        answer,
        (lambda a: isinstance(a, (list, tuple, set)) and set(a) <= set("abcde"),
         "give a list of letters from a to e, in square brackets"),
        (lambda a: "a" not in a and "d" not in a,
         "one of yours comes from F: is it a number in the graph, or an operator that runs in every call?"),
        (lambda a: "b" in a, "whose random number generator draws in b, and when?"),
        (lambda a: "c" in a, "how often does Python add 1 to self.steps once the layer is compiled?"),
        (lambda a: set(a) == FROZEN, "which call traced the layer, and was it learning then?"),
    )


def check_2(answer, four_calls, Deep):
    """Check how often the input is squared in each of the four calls, which are made here."""
    depths = [round(numpy.log2(numpy.log2(result.item()))) for result in four_calls(Deep(), np.array([2.0]))]
    return check(
        answer,
        (lambda a: isinstance(a, (list, tuple)) and len(a) == 4, "give a list of four numbers"),
        (lambda a: a[0] == depths[0], "the first call: what is depth while it is traced?"),
        (lambda a: a[1] == depths[1], "the second call: who reads the attribute?"),
        (lambda a: a[2] == depths[2], "the third call: what becomes of the old graph?"),
        (lambda a: a[3] == depths[3], "the fourth call: is there a graph after hybridize(False)?"),
    )


def check_3(answer, MLP):
    """Check a class that is `MLP`, converted."""
    small = np.random.uniform(size=(3, 1, 8, 8))
    original = MLP()
    original(small)

    def compiled():
        network = answer()
        network(small)
        for source, target in zip(original.collect_params().values(), network.collect_params().values(), strict=True):
            target.set_data(source.data())
        network.hybridize()
        network(small[:2])  # traces
        return network

    def same(images):
        return numpy.allclose(compiled()(images).asnumpy(), original(images).asnumpy(), rtol=1e-4, atol=1e-5)

    def calls(network):
        return count_calls(lambda: network(small))

    return check(
        answer,
        (lambda a: isinstance(a, type), "give the class itself, without parentheses"),
        (lambda a: issubclass(a, nn.HybridBlock), "derive it from nn.HybridBlock"),
        (lambda a: a()(small).shape == (3, 10), "imperatively, three images need three rows of ten numbers"),
        (lambda a: compiled()(small[:2]).shape == (2, 10),
         "compiled, it fails: which line decides about data, asks for a shape, or lacks its F?"),
        (lambda a: same(small), "it was traced with two images; with three it differs from the MLP"),
        (lambda a: same(255 * small), "it was traced with values up to 1; up to 255 it differs: what was frozen?"),
        (lambda a: calls(compiled()) == 1, "it is not one graph"),
    )
