"""Check the answers to the exercises of lesson 02, HybridBlock."""
import numpy
from mxnet import np
from mxnet.gluon import nn

from d2lhelpers.counters import count_calls
from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check

FROZEN = {"b", "d", "e"}


def letters(answer):
    """Return the letters in an answer: a list of them, or a text such as "b, d"."""
    return {letter for part in answer for letter in part.lower() if letter.isalpha()}


def check_1(answer):
    """Check the letters of the results that are frozen."""
    return check(
        answer,
        ("no-letters", lambda a: letters(a) <= set("abcde"), "give a list of letters from a to e, in square brackets"),
        ("nothing-frozen", lambda a: letters(a),
         "some are frozen: what stays the same in the compiled layer, but not imperatively?"),
        ("names-a-and-c", lambda a: not {"a", "c"} <= letters(a),
         "two of yours stay the same imperatively, too, as long as nothing changes between the calls"),
        ("names-a", lambda a: "a" not in letters(a),
         "one of yours stays the same only while the network predicts, and so it does imperatively"),
        ("names-c", lambda a: "c" not in letters(a),
         "one of yours stays the same only while the parameter does, and so it does imperatively"),
        ("names-only-one", lambda a: len(letters(a)) > 1, "what you name is frozen, but it is not the only one"),
        ("lacks-b", lambda a: "b" in letters(a),
         "what you name is frozen. Which other one draws, and how often when compiled?"),
        ("lacks-e", lambda a: "e" in letters(a), "what you name is frozen. Did epoch change between your calls?"),
        ("lacks-d", lambda a: letters(a) == FROZEN,
         "what you name is frozen. Did the parameter change between your calls?"),
    )


def check_2(answer, five_calls, Deep):
    """Check how often the input is squared in each of the five calls, which are made here."""
    results = [result[0].item() for result in five_calls(Deep(), np.array([2.0]))]
    depths = [round(numpy.log2(numpy.log2(result))) for result in results]
    return check(
        answer,
        ("no-five-numbers", lambda a: len([float(n) for n in a]) == 5, "give five numbers, in square brackets"),
        ("squares-both-rows", lambda a: float(a[3]) != 2 * depths[3],
         "the fourth call: one operator squares both rows. How often is a row squared?"),
        ("counts-results", lambda a: max(float(n) for n in a) <= 5,
         "count how often the input is squared, not what comes out"),
        ("wrong-first-call", lambda a: float(a[0]) == depths[0],
         "the first call: which depth is there while the layer is traced?"),
        ("wrong-second-call", lambda a: float(a[1]) == depths[1], "the second call: who reads the attribute?"),
        ("wrong-third-call", lambda a: float(a[2]) == depths[2], "the third call: what becomes of the old graph?"),
        ("wrong-fourth-call", lambda a: float(a[3]) == depths[3],
         "the fourth call: does a second row, or recording, need another graph?"),
        ("wrong-fifth-call", lambda a: float(a[4]) == depths[4],
         "the fifth call: which code runs after hybridize(False)?"),
    )


def some_batches(random):
    """Yield batches of images of one size: the first has no pixel above 1, and one batch just a little above.

    One whose largest value is 1 has a pixel far below −1.
    """
    for size in (1, 1), (6, 5), (8, 8):
        batches = [random.uniform(-1, 1, size=(rows, 1, *size)) for rows in (2, 1, 5, 3, 4)]
        for batch, top in zip(batches[1:], (1.004, 1, 2, 255), strict=True):
            batch.flat[batch.argmax()] = 1
            batch *= top
        batches[2].flat[batches[2].argmin()] = -3
        yield ([np.array(batch, dtype="float32") for batch in batches],)


def outputs(kind, batches):
    """Return what a network of a class gives for batches, imperatively and then compiled, with known parameters."""
    network = kind() if isinstance(kind, type) else kind(batches)
    network(batches[0])
    known = numpy.random.default_rng(0)
    for parameter in network.collect_params().values():
        parameter.set_data(np.array(known.normal(size=parameter.shape), dtype="float32"))
    imperative = [network(batch).asnumpy() for batch in batches]
    network.hybridize()
    return imperative + [network(batch).asnumpy() for batch in batches]


def check_3(answer, MLP):
    """Check a class that is `MLP`, converted."""
    dark = np.random.uniform(0, 0.99, size=(3, 1, 8, 8))
    bright = 2 + 253 * dark
    shaded = bright.copy()
    shaded[:, :, :4] = 1  # in every image, half of the pixels lie not above 1
    mixed = np.concatenate([dark[:1], bright[:2]])
    brightest = dark / dark.max()  # not above 1
    one_pixel = dark.copy()
    one_pixel[0, 0, 0, 0] = 200
    originals = {}

    def pair(size=(8, 8)):
        """Return the original and a converted network for images of a size, with the same parameters."""
        if size not in originals:
            originals[size] = MLP()
        original, network = originals[size], answer()
        for each in (original, network):
            each(np.ones((3, 1, *size)))
        layers = zip(original.collect_params().values(), network.collect_params().values(), strict=True)
        for source, target in layers:
            target.set_data(source.data())
        return original, network

    def compiled():
        """Return the original and a converted network that was traced with two dark images."""
        original, network = pair()
        network.hybridize()
        network(dark[:2])
        return original, network

    def initialized(network):
        """Return whether a network that has just been made can be called."""
        try:
            network(dark)
        except Exception as error:
            return "not been initialized" not in str(error)
        return True

    def agree(networks, images):
        original, network = networks
        return numpy.allclose(network(images).asnumpy(), original(images).asnumpy(), rtol=1e-4, atol=1e-5)

    def calls(network):
        return count_calls(lambda: network(dark))

    return check(
        answer,
        ("no-class", lambda a: isinstance(a, type), "give the class itself, without parentheses"),
        ("no-hybridblock", lambda a: issubclass(a, nn.HybridBlock), "derive it from nn.HybridBlock"),
        ("own-forward", lambda a: a.forward is nn.HybridBlock.forward or a.forward is nn.HybridSequential.forward,
         "it keeps a forward of its own, which is called in place of hybrid_forward"),
        ("not-initialized", lambda a: initialized(a()),
         "its parameters have not been initialized. Which line of MLP does that?"),
        ("wrong-shape", lambda a: a()(dark).shape == (3, 10),
         "imperatively, three images of 8 by 8 need three rows of ten numbers"),
        ("other-layers", lambda a: len(a().collect_params().keys()) == 4 and pair(),
         "it needs the two layers of the MLP, in the same order"),
        ("wrong-if-dark-or-bright", lambda a: agree(pair(), dark) or agree(pair(), bright),
         "imperatively, it differs from the MLP for dark and for bright images: compare the two line by line"),
        ("wrong-if-dark", lambda a: agree(pair(), dark),
         "imperatively, images with values up to 1 come out differently"),
        ("wrong-if-bright", lambda a: agree(pair(), bright),
         "imperatively, images with values up to 255 come out differently"),
        ("wrong-if-shaded", lambda a: agree(pair(), shaded),
         "imperatively, bright images come out differently if they have dark pixels, too"),
        ("wrong-if-mixed", lambda a: agree(pair(), mixed),
         "imperatively, a dark image in a batch with bright ones comes out differently"),
        ("wrong-at-1", lambda a: agree(pair(), brightest),
         "imperatively, images whose largest value is 1 come out differently"),
        ("wrong-if-one-pixel", lambda a: agree(pair(), one_pixel),
         "imperatively, dark images with a single pixel of 200 come out differently"),
        ("wrong-above-1", lambda a: agree(pair(), 1.01 * brightest) and agree(pair(), 1.5 * brightest),
         "imperatively, images whose largest value is a little above 1 come out differently"),
        ("only-8-by-8", lambda a: agree(pair((6, 5)), mixed[:, :, :6, :5]), "right for images of 8 by 8 pixels alone"),
        ("fails-compiled", lambda a: compiled()[1](dark[:2]).shape == (2, 10),
         "compiled, it fails: which line asks for a fact, or lacks its F?"),
        ("wrong-compiled", lambda a: agree(compiled(), dark[:2]), "imperatively it is right, but not compiled"),
        ("freezes-rows", lambda a: agree(compiled(), dark),
         "right for two images, with which it was traced; with three it is not"),
        ("freezes-brightness", lambda a: agree(compiled(), bright),
         "it was traced with values up to 1; up to 255 it is no longer right"),
        ("compiled-wrong-if-mixed", lambda a: agree(compiled(), mixed),
         "compiled, a mixed batch comes out differently"),
        *Exam(lambda batches: MLP(), some_batches, outputs, tolerance=1e-4).rules(),
        ("more-calls", lambda a: calls(compiled()[1]) == 1, "compiled, Python still hands over more than one call"),
    )
