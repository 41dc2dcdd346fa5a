"""Check the answer to the exercise of the notebook Three ways to split."""
import re

import numpy
from mxnet import np, npx

from d2lhelpers import Timeline, devices
from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check

WIDE = 256  # of layers of which a half is far larger than any output


def right_layers(Xs, columns, rows, bias):
    """Return on each device the sum of both devices' terms, and the bias."""
    terms = [np.dot(npx.relu(np.dot(X, W1)), W2) for X, W1, W2 in zip(Xs, columns, rows, strict=True)]
    return [(terms[0].as_in_ctx(X.ctx) + terms[1].as_in_ctx(X.ctx)) + bias.as_in_ctx(X.ctx) for X in Xs]


def some_layers(random):
    """Yield halves of layers of several sizes, and inputs."""
    for rows, wide, hidden, out in (1, 2, 2, 1), (1, 3, 4, 5), (4, 6, 2, 1), (int(random.integers(2, 9)), 5, 8, 3):
        def on(device, *sizes):
            return np.array(random.normal(size=sizes), dtype="float32", ctx=device)
        both = devices(2)
        X = on(both[0], rows, wide)
        yield ([X, X.copyto(both[1])], [on(device, wide, hidden // 2) for device in both],
               [on(device, hidden // 2, out) for device in both], on(both[0], out))


def placed(function, *arguments):
    """Return the outputs of a function, each with its device."""
    return [(str(output.ctx), output) for output in function(*arguments)]


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
    return given, {"hidden": hidden, "parts": parts, "bias": bias.copy(), "linear": np.dot(np.dot(X, W1), W2)}


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

    def recorded():
        """Return a record of wide layers, and the largest array that they make, as multiples of a layer's weights."""
        given, _ = problem(rows=1, wide=WIDE, out=WIDE)
        npx.waitall()
        with Timeline(memory=True) as record:
            answer(*given)
        used = [0, *(each for _, each in record.memory)]
        return record, numpy.diff(used).max(initial=0) / (4 * WIDE ** 2)

    def products():
        """Return how many products each device computes: one per layer, if it has a half of each."""
        record, _ = recorded()
        done = [each.device for each in record.operators if re.search("dot|mul|Connected|einsum|gemm", each.name)]
        return [done.count(str(device)) for device in devices(2)]

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
        *Exam(right_layers, some_layers, placed).rules(),
        ("one-device-works", lambda _: min(products()) > 0, "one device computes everything"),
        ("nothing-split", lambda _: products() == [2, 2], "a device computes more than one product for each layer"),
        ("weights-joined", lambda _: min(recorded()[1] for _ in range(3)) < 0.75,  # two may be made at one moment
         "somewhere the halves of a layer are joined: no device should need room for all of its weights"),
    )
