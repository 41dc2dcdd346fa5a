"""Check the answer to the exercise of the notebook Three ways to split."""
import numpy
from mxnet import np, npx

from d2lhelpers import devices
from d2lhelpers.exercises import check


def problem(rows=3, wide=8, out=4):
    """Return inputs, both layers' halves and the bias as the exercise gives them, and the layers' terms, whole."""
    first, second = both = devices(2)
    random = numpy.random.default_rng(0)  # so that some outputs are negative
    X, W1, W2, bias = (np.array(values, dtype="float32", ctx=first) for values in (
        random.normal(size=(rows, wide)), random.normal(size=(wide, wide)), random.normal(size=(wide, out)),
        random.uniform(1, 2, size=out)))
    half = wide // 2
    columns = [W1[:, :half].copyto(first), W1[:, half:].copyto(second)]
    lines = [W2[:half].copyto(first), W2[half:].copyto(second)]
    given = [X.as_in_ctx(device) for device in both], columns, lines, bias
    hidden = npx.relu(np.dot(X, W1))
    parts = [np.dot(hidden[:, :half], W2[:half]), np.dot(hidden[:, half:], W2[half:])]
    return given, {"hidden": hidden, "parts": parts, "bias": bias, "linear": np.dot(np.dot(X, W1), W2)}


def check_1(answer):
    """Check a function (Xs, columns, rows, bias) that returns the outputs of two split layers on both devices."""
    def gaps(wanted, **sizes):
        """Return how far each device's output is from `wanted(terms)`: infinity where the shape is another one."""
        given, terms = problem(**sizes)
        outputs = answer(*given)
        target = wanted(terms).asnumpy()
        found = []
        for output in outputs:
            values = output.asnumpy()
            found.append(abs(values - target).max() if values.shape == target.shape else float("inf"))
        return found

    def equal(wanted, **sizes):
        return max(gaps(wanted, **sizes)) < 1e-3

    def whole(terms):
        return terms["parts"][0] + terms["parts"][1] + terms["bias"]

    def same_arguments():
        given, _ = problem()
        before = [array.asnumpy() for array in (*given[0], *given[1], *given[2], given[3])]
        answer(*given)
        after = [array.asnumpy() for array in (*given[0], *given[1], *given[2], given[3])]
        return all((old == new).all() for old, new in zip(before, after, strict=True))

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        ("no-two-outputs", lambda layers: len(layers(*problem()[0])) == 2, "return two outputs, one for each device"),
        ("other-device", lambda layers: [each.ctx for each in layers(*problem()[0])] == devices(2),
         "the first output belongs on the first device, the second on the second"),
        ("bias-twice", lambda _: not equal(lambda terms: whole(terms) + terms["bias"]), "the bias is in the sum twice"),
        ("no-bias", lambda _: not equal(lambda terms: whole(terms) - terms["bias"]),
         "the sum is right, without the bias"),
        ("no-relu", lambda _: not equal(lambda terms: terms["linear"] + terms["bias"]),
         "there is no ReLU between the layers"),
        ("second-relu", lambda _: not equal(lambda terms: npx.relu(whole(terms))),
         "a ReLU follows the first layer, not the second"),
        ("own-half-alone", lambda _: min(gaps(lambda terms: terms["parts"][0] + terms["bias"])
                                         + gaps(lambda terms: terms["parts"][0])) > 1e-3,
         "device 0 has only its own half of the sum"),
        ("one-device-right", lambda _: gaps(whole)[0] > 1e-3 or gaps(whole)[1] < 1e-3,
         "right on device 0, another output on device 1"),
        ("other-outputs", lambda _: equal(whole), "the outputs are not those of the whole layers"),
        ("one-size-alone", lambda _: equal(whole, rows=1) and equal(whole, wide=16, out=1),
         "right for one size, not for another"),
        ("changes-argument", lambda _: same_arguments(), "it changes an array that it was given"),
    )
