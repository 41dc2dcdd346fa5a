"""The helpers of both tracks, put through the same cases: same results, same errors."""
from importlib.util import find_spec
from pathlib import Path

import mxnet as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import d2lhelpers.mxnet
from d2lhelpers.tracks import cut

if find_spec("torch"):  # else conftest.py says where that is allowed
    import torch

    import d2lhelpers.torch

TYPES = ["float16", "float32", "float64", "int8", "uint8", "int32", "int64"]


class MXNet:
    """The MXNet track with arrays of one of its kinds, "np" or "nd"; each of its CPU devices is one of its own."""

    helpers = d2lhelpers.mxnet

    def __init__(self, kind):
        self.kind = kind

    def array(self, values, device=0):
        values = np.asarray(values)
        module = mx.np if self.kind == "np" else mx.nd
        with mx.util.np_shape(self.kind == "np"):
            return module.array(values, dtype=values.dtype, ctx=mx.cpu(device))

    def host(self, array):
        with mx.util.np_shape(True):
            return array.asnumpy()

    def device(self, number):
        return mx.cpu(number)

    def device_of(self, array):
        return array.context


class PyTorch:
    """The PyTorch track, whose CPU is one device, however often it is named."""

    def __init__(self):
        self.helpers = d2lhelpers.torch

    def array(self, values, device=0):
        return torch.tensor(np.asarray(values))

    def host(self, tensor):
        return tensor.detach().numpy()

    def device(self, number):
        return torch.device("cpu")

    def device_of(self, tensor):
        return tensor.device


TRACKS = {"mxnet-np": MXNet("np"), "mxnet-nd": MXNet("nd"), **({"torch": PyTorch()} if find_spec("torch") else {})}
STRANGERS = [TRACKS[track].array(np.ones(4)) for track in ("mxnet-np", "torch") if track in TRACKS]


def cut_above(size, track, patch):
    """Let all-reduce cut whatever is larger."""
    for name in {"PART", "SMALL", "CHUNK"} & set(vars(track.helpers)):
        patch.setattr(track.helpers, name, size)


@pytest.fixture(params=TRACKS, scope="session")
def track(request):
    """Run a test once a track."""
    return TRACKS[request.param]


@st.composite
def copies(draw):
    """Draw one array a device, of one shape and type: small whole numbers, whose sums every type holds exactly."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, max_side=7))
    dtype = draw(st.sampled_from(TYPES))
    count = draw(st.integers(1, 6))
    numbers = st.integers(0, 20)
    return [draw(hnp.arrays(dtype, shape, elements=numbers)) for _ in range(count)]


@given(copies(), st.sampled_from([8, 1 << 20]))
def test_allreduce_is_the_sum_on_every_copy(track, values, small):
    """All-reduce leaves the sum, in place and in its own type, on any number of devices, whole or in parts."""
    data = [track.array(v, i) for i, v in enumerate(values)]
    with pytest.MonkeyPatch.context() as patch:
        cut_above(small, track, patch)
        track.helpers.allreduce(a for a in data)
    total = np.sum(values, axis=0).astype(values[0].dtype)
    for index, result in enumerate(data):
        assert track.device_of(result) == track.device(index)
        assert track.host(result).dtype == total.dtype
        np.testing.assert_array_equal(track.host(result), total)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_allreduce_of_large_arrays(track, count):
    """Arrays large enough to be cut into parts are summed right, odd sizes included, and all copies are identical."""
    rng = np.random.default_rng(0)
    values = [rng.normal(size=(2027, 1031)).astype("float32") for _ in range(count)]
    data = [track.array(v, i) for i, v in enumerate(values)]
    track.helpers.allreduce(data)
    results = [track.host(d) for d in data]
    np.testing.assert_allclose(results[0], np.sum(values, axis=0), rtol=1e-4, atol=1e-5)
    assert all((result == results[0]).all() for result in results)


def test_allreduce_keeps_nan_and_infinity(track):
    """NaN and infinity reach every copy as they would in a sum."""
    values = [[np.nan, np.inf, -np.inf], [1, 1, np.inf]]
    data = [track.array(np.array(v, "float32"), i) for i, v in enumerate(values)]
    track.helpers.allreduce(data)
    for result in data:
        np.testing.assert_array_equal(track.host(result), np.array([np.nan, np.inf, np.nan], "float32"))


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), ()])
def test_allreduce_of_empty_and_single(track, shape):
    """Arrays without elements are left alone, and single numbers are summed."""
    with mx.util.np_shape(True):
        data = [track.array(np.ones(shape, "float32"), i) for i in (0, 1)]
        track.helpers.allreduce(data)
        assert [track.host(d).tolist() for d in data] == [np.full(shape, 2.0).tolist()] * 2


def test_allreduce_of_one_is_left_alone(track):
    """A single array is not touched."""
    data = [track.array(np.arange(3.0))]
    track.helpers.allreduce(data)
    assert track.host(data[0]).tolist() == [0, 1, 2]


@pytest.mark.parametrize("size", [5, 1 << 21])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_allreduce_of_the_same_array_twice(track, count, size):
    """An array that is given several times counts as often as it is given."""
    data = [track.array(np.ones(size, "float32"))] * count
    track.helpers.allreduce(data)
    assert (track.host(data[0]) == count).all()


@given(st.lists(st.integers(0, 12), min_size=2, max_size=4), st.integers(1, 6), st.sampled_from([1, 1 << 20]))
def test_allreduce_of_views_of_one_array(track, starts, length, small):
    """Views of one array that are apart or the same are summed right; if two overlap it is refused, nothing changed."""
    values = np.arange(1.0, 19.0)
    base = track.array(values)
    overlap = any(0 < abs(one - other) < length for one in starts for other in starts)
    with pytest.MonkeyPatch.context() as patch:
        cut_above(small, track, patch)
        data = [base[start:start + length] for start in starts]
        if overlap:
            with pytest.raises(ValueError, match=r"allreduce: array \d shares a part of its memory with array \d"):
                track.helpers.allreduce(data)
        else:
            track.helpers.allreduce(data)
            total = sum(values[start:start + length] for start in starts)
            for start in starts:
                values[start:start + length] = total
    np.testing.assert_array_equal(track.host(base), values)


REFUSED = {
    "nothing": (lambda a: [], ValueError, ["no arrays"]),
    "None": (lambda a: None, TypeError, ["must be a list", "NoneType"]),
    "a number": (lambda a: 3, TypeError, ["must be a list", "int"]),
    "text": (lambda a: "abc", TypeError, ["must be a list", "str"]),
    "one array": (lambda a: a(np.ones((2, 3))), TypeError, ["must be a list", "of type"]),
    "one number": (lambda a: a(np.ones(1))[0], TypeError, ["must be a list"]),
    "a mapping": (lambda a: {"a": a(np.ones(2))}, TypeError, ["item 0", "str"]),
    "a generator": (lambda a: (a(np.ones(n)) for n in (2, 3)), ValueError, ["array 1", "(3,)", "float64"]),
    "lists": (lambda a: [[1.0], [1.0]], TypeError, ["item 0", "list"]),
    "ranks": (lambda a: [a(np.ones((1, 2))), a(np.ones(2), 1)], ValueError, ["array 1", "(2,)", "(1, 2)"]),
    "none and some": (lambda a: [a(np.ones((2, 3))), a(np.ones((2, 1)), 1)], ValueError, ["array 1", "(2, 1)"]),
    "shapes": (lambda a: [a(np.ones((2, 3))), a(np.ones((3, 2)), 1)], ValueError, ["array 1", "(3, 2)", "float64 on"]),
    "types": (lambda a: [a(np.ones(2, "float32")), a(np.ones(2, "int32"), 1)], ValueError, ["array 1", "int32"]),
    "NumPy": (lambda a: [a(np.ones(2)), np.ones(2)], TypeError, ["item 1", "ndarray"]),
    "a missing one": (lambda a: [a(np.ones(2)), None], TypeError, ["item 1", "NoneType"]),
    "truth values": (lambda a: [a(np.ones(2, bool)), a(np.ones(2, bool), 1)], TypeError, ["array 0", "bool"]),
    "lengths": (lambda a: [a(np.ones(2)), a(np.ones(2), 1), a(np.ones(1), 2)], ValueError, ["array 2", "(1,)"]),
}


@pytest.mark.parametrize("what", REFUSED)
def test_allreduce_refuses_and_changes_nothing(track, what):
    """What cannot be summed is refused with its index, shape, type or device, and no array is modified."""
    make, error, words = REFUSED[what]
    data = make(track.array)
    with pytest.raises(error) as caught:
        track.helpers.allreduce(data)
    assert all(word in str(caught.value) for word in words), caught.value
    arrays = data if isinstance(data, list) else [data]
    assert all((track.host(a) == 1).all() for a in arrays if isinstance(a, type(track.array(0))))


def test_an_array_of_another_framework_is_refused(track):
    """An array of the other track is refused by all-reduce and split_and_load, by its type, with what to give."""
    own = track.array(np.ones(4))
    for stranger in STRANGERS:
        if isinstance(stranger, mx.nd.NDArray) == isinstance(own, mx.nd.NDArray):
            continue
        with pytest.raises(TypeError, match=f"allreduce: item 1 is a {type(stranger).__name__}, not a dense"):
            track.helpers.allreduce([own, stranger])
        with pytest.raises(TypeError, match=f"the data is of type {type(stranger).__name__}, not an? .* array"):
            track.helpers.split_and_load(stranger, [track.device(0)])
        with pytest.raises(TypeError, match=f"the data is of type {type(stranger).__name__}, not an? .* array"):
            track.helpers.evaluate_accuracy([(stranger.reshape((2, 2)), stranger[:2])], None, [track.device(0)])
    assert (track.host(own) == 1).all()


NUMBERS = st.none() | st.booleans() | st.floats() | st.complex_numbers() | st.text() | st.binary() | st.just(object())
ANYTHING = st.recursive(NUMBERS | st.integers(max_value=0), lambda inner: st.lists(inner, max_size=3) | st.tuples(inner)
                        | st.dictionaries(st.text(max_size=2), inner, max_size=2), max_leaves=5)
HOUSE = Path(d2lhelpers.mxnet.__file__).parent


@given(ANYTHING)
def test_anything_else_is_refused(track, thing):
    """Whatever is given in the place of data, devices, weights, numbers or names, the helpers refuse it themselves."""
    helpers, two = track.helpers, [track.device(0), track.device(1)]
    own = track.array(np.ones((4, 2)))
    calls = {
        "allreduce": lambda: helpers.allreduce(thing),
        "one of allreduce": lambda: helpers.allreduce([own, thing]),
        "data": lambda: helpers.split_and_load(thing, two),
        "a device": lambda: helpers.split_and_load(own, [two[0], thing]),
        "devices": lambda: helpers.split_and_load(own, thing),
        "a weight": lambda: helpers.split_and_load(own, two, [thing, -1]),
        "batches": lambda: helpers.evaluate_accuracy(thing, lambda x: x, two),
        "a batch": lambda: helpers.evaluate_accuracy([thing], lambda x: x, two),
        "labels": lambda: helpers.evaluate_accuracy([(own, thing)], lambda x: x, two),
        "features": lambda: helpers.evaluate_accuracy([(thing, own[:, 0])], lambda x: x, two),
        "scores": lambda: helpers.evaluate_accuracy([(own, own[:, 0])], lambda x: thing, two),
        "devices of accuracy": lambda: helpers.evaluate_accuracy([(own, own[:, 0])], lambda x: x, thing),
        "how many devices": lambda: helpers.devices(thing),
        "rows a batch": lambda: helpers.load_data(thing),
        "pixels": lambda: helpers.load_data(5, "digits", 0 if thing is None else thing),
        "data set": lambda: helpers.load_data(5, "" if thing is None else thing),
        "kind": lambda: helpers.devices(1, "" if thing is None else thing),
    }
    for what, call in calls.items():
        with pytest.raises((TypeError, ValueError)) as caught:
            call()
        assert Path(caught.traceback[-1].path).parent == HOUSE, (what, caught.value)
        assert len(str(caught.value)) > 20, (what, caught.value)
    assert (track.host(own) == 1).all()


@st.composite
def splits(draw):
    """Draw rows, a number of devices that they suffice for, and weights or None."""
    count = draw(st.integers(1, 6))
    rows = draw(st.integers(count, 60))
    weights = st.lists(st.floats(1e-3, 1e3), min_size=count, max_size=count)
    return rows, count, draw(st.none() | weights)


VIEWS = {
    "whole": lambda values: values,
    "backwards": lambda values: values[::-1],
    "columns backwards": lambda values: values[:, ::-1],
    "every other row": lambda values: values.repeat(2, axis=0)[::2],
    "every other column": lambda values: values.repeat(2, axis=1)[:, 1::2],
    "column by column": np.asfortranarray,
    "one row, repeated": lambda values: np.broadcast_to(values[0], values.shape),
    "another machine's": lambda values: values.astype(values.dtype.newbyteorder()),
    "no columns": lambda values: values[:, :0],
}


@given(splits(), st.sampled_from([None, *VIEWS]), st.sampled_from(TYPES))
def test_split_then_concatenate_is_the_identity(track, split, view, dtype):
    """The parts, put one after another, are the data; each is on its device, has its type, and at least one row."""
    rows, count, weights = split
    values = np.arange(rows * 2).reshape(rows, 2).astype(dtype)
    if view:
        values = VIEWS[view](values)
    data = values if view else track.array(values)
    parts = track.helpers.split_and_load(data, iter(track.helpers.devices(count, "cpu")), weights)
    assert [track.device_of(part) for part in parts] == [track.device(i) for i in range(count)]
    assert all(len(part) > 0 and track.host(part).dtype == np.dtype(dtype) for part in parts)
    np.testing.assert_array_equal(np.concatenate([track.host(part) for part in parts]), values)


def test_a_part_on_its_own_device_is_a_view(track):
    """A part whose device is the data's own shares its memory; parts of a NumPy array never do."""
    values = np.zeros((4, 2))
    data = track.array(values)
    part = track.helpers.split_and_load(data, [track.device(0)])[0]
    copy = track.helpers.split_and_load(values, [track.device(0)])[0]
    part[:] = 1
    copy[:] = 1
    assert track.host(data).min() == 1
    assert values.max() == 0


def sizes(track, rows, count, weights):
    """Return how many rows each part has."""
    devices = track.helpers.devices(count, "cpu")
    return [len(part) for part in track.helpers.split_and_load(np.zeros((rows, 2)), devices, weights)]


@given(splits())
def test_parts_follow_the_weights(track, split):
    """Without weights sizes differ by one row at most, larger first; with them each is within a row of its share."""
    rows, count, weights = split
    result = sizes(track, rows, count, weights)
    if weights is None:
        assert result == sorted(result, reverse=True)
        assert result[0] - result[-1] <= 1
    else:
        shares = [rows * weight / sum(weights) for weight in weights]
        lent = sum(share < 1 for share in shares)  # rows that small parts took from large ones
        assert all(-1 - lent - 1e-6 < size - share < 1 + 1e-6 for size, share in zip(result, shares, strict=True))


@pytest.mark.parametrize(("rows", "weights", "expected"), [
    (10, None, [4, 3, 3]),
    (10, [1, 1, 1], [4, 3, 3]),
    (10, [5, 3, 2], [5, 3, 2]),
    (10, [0.56, 0.24, 0.2], [6, 2, 2]),
    (10, [0.2, 0.24, 0.56], [2, 2, 6]),
    (10, [1e308, 1e308, 1e308], [4, 3, 3]),
    (10, [5e-324, 5e-324, 1e308], [1, 1, 8]),
    (10, np.array([5, 3, 2], "float32"), [5, 3, 2]),
    (3, [100, 1, 1], [1, 1, 1]),
    (10, [1000, 1, 1], [8, 1, 1]),
])
def test_largest_remainder(track, rows, weights, expected):
    """Parts are sized by largest remainder, ties to the first, and none is empty."""
    assert sizes(track, rows, 3, weights) == expected


class Rows:
    """Data of any number of rows, which only says which ones were asked for."""

    def __init__(self, rows):
        self.shape = (rows, 2)

    def __getitem__(self, part):
        return part.start, part.stop


ODD = st.floats() | st.integers(-2, 1 << 1100) | st.none() | st.text(max_size=2)


@given(st.integers(0, 1 << 62), st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=8)
       | st.lists(ODD, min_size=1, max_size=8))
def test_any_rows_and_any_weights(rows, weights):
    """Every row is in one part and no part is empty, up to any number of rows; else an error names what is wrong."""
    wrong = [index for index, weight in enumerate(weights)
             if not isinstance(weight, (int, float)) or not 0 < weight < 1.7e308]
    count = len(weights)
    if wrong or rows < count:
        with pytest.raises(ValueError, match=rf"{rows} rows for {count}" if rows < count else rf"weight {wrong[0]} is"):
            cut(Rows(rows), {Rows: "rows"}, range(count), weights)
    else:
        parts = cut(Rows(rows), {Rows: "rows"}, range(count), weights)
        assert [start for start, _ in parts] == [0, *(end for _, end in parts[:-1])]
        assert parts[-1][1] == rows
        assert all(start < end for start, end in parts)


@pytest.mark.parametrize(("rows", "weights", "words"), [
    (1, None, ["1 rows", "2 devices"]),
    (0, None, ["0 rows", "2 devices"]),
    (5, [1], ["1 weights", "2 devices"]),
    (5, [1, 0], ["weight 1 is 0"]),
    (5, [0, 0], ["weight 0 is 0"]),
    (5, [-1, 1], ["weight 0 is -1"]),
    (5, [1, "1"], ["weight 1 is '1'"]),
    (5, [1, None], ["weight 1 is None"]),
    (5, [1, 10**400], ["weight 1 is 1000", "..."]),
    (5, np.ones((2, 2)), ["weight 0 is"]),
    (5, [1, float("nan")], ["weight 1", "nan"]),
    (5, [float("inf"), 1], ["weight 0", "inf"]),
])
def test_split_refuses(track, rows, weights, words):
    """Too few rows and wrong weights are refused with the numbers that do not fit."""
    with pytest.raises(ValueError, match="split_and_load") as caught:
        sizes(track, rows, 2, weights)
    assert all(word in str(caught.value) for word in words), caught.value


def test_split_refuses_no_devices_and_no_rows(track):
    """No devices at all, and a single number without rows, are refused."""
    with pytest.raises(ValueError, match="0 devices"):
        track.helpers.split_and_load(np.zeros(3), [])
    with mx.util.np_shape(True), pytest.raises(ValueError, match="single number"):
        track.helpers.split_and_load(track.array(3.0), track.helpers.devices(1, "cpu"))


@pytest.mark.parametrize("dtype", ["U1", "O", "M8[D]", "V3", "longdouble"])
def test_split_refuses_types_that_no_framework_has(track, dtype):
    """Text, objects, dates and the like in a NumPy array are refused with shape, type and what to do."""
    data = np.zeros((3, 2), dtype)
    with pytest.raises(TypeError, match=r"split_and_load: the data is \(3, 2\) .*convert it") as caught:
        track.helpers.split_and_load(data, [track.device(0)])
    assert str(data.dtype) in str(caught.value)


def test_devices_that_are_not_there_are_refused(track):
    """A GPU that the machine does not have, and a device of the other track, are refused with their place."""
    gpu = torch.device("cuda", 99) if track is TRACKS.get("torch") else mx.gpu(99)
    with pytest.raises(ValueError, match=r"device 1 is .*99.*, but this machine has . GPUs"):
        track.helpers.split_and_load(np.zeros(3), [track.device(0), gpu])
    for other in TRACKS.values():
        if other.helpers is not track.helpers:
            with pytest.raises(TypeError, match=f"device 1 is .*{type(other.device(0)).__name__}, which is no device"):
                track.helpers.split_and_load(np.zeros(3), [track.device(0), other.device(0)])


def test_devices(track):
    """CPU devices are as many as asked for; the default is two devices."""
    assert track.helpers.devices(3, "cpu") == [track.device(i) for i in range(3)]
    assert len(track.helpers.devices()) == 2
    assert len(track.helpers.devices(np.int64(500), "cpu")) == 500


def with_gpus(monkeypatch, gpus):
    """Let both frameworks say that the machine has so many GPUs."""
    monkeypatch.setattr(mx.context, "num_gpus", lambda: gpus)
    if find_spec("torch"):
        monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)


@pytest.mark.parametrize(("n", "kind", "gpus", "expected"), [
    (2, None, 0, "cpu"), (2, None, 1, "cpu"), (2, None, 2, "gpu"), (1, "cpu", 2, "cpu"), (2, "gpu", 2, "gpu"),
])
def test_gpus_are_taken_where_there_are_enough(monkeypatch, track, n, kind, gpus, expected):
    """GPUs are taken only where the machine has as many as asked for, unless a kind is insisted on."""
    with_gpus(monkeypatch, gpus)
    cuda = [torch.device("cuda", i) if track is TRACKS.get("torch") else mx.gpu(i) for i in range(n)]
    assert track.helpers.devices(n, kind) == (cuda if expected == "gpu" else [track.device(i) for i in range(n)])


@pytest.mark.parametrize(("n", "kind", "words"), [
    (0, None, ["n=0", "1 GPU ", "CPU cores"]), (-1, "cpu", ["n=-1"]), (2, "gpu", ["2 GPUs", "1 GPU "]),
    (1, "tpu", ["'tpu'", "1 GPU "]),
])
def test_devices_refuses(monkeypatch, track, n, kind, words):
    """Fewer than one device, more GPUs than there are, or another kind: an error that names what the machine has."""
    with_gpus(monkeypatch, 1)
    with pytest.raises(ValueError, match="devices") as caught:
        track.helpers.devices(n, kind)
    assert all(word in str(caught.value) for word in words), caught.value


@given(st.lists(st.integers(0, 9), min_size=1, max_size=4).filter(any), st.integers(1, 4), st.booleans(),
       st.sampled_from(["float16", "float32", "float64"]))
def test_accuracy_counts_every_row(track, batches, count, diverged, dtype):
    """The accuracy is that of all rows, for batches of any size, none included; a row with NaN is not guessed right."""
    rng = np.random.default_rng(sum(batches))
    scores = [rng.normal(size=(rows, 3)).astype(dtype) for rows in batches]
    labels = [rng.integers(0, 3, rows).astype("int32") for rows in batches]
    if diverged:
        for each in scores:
            each[rng.random(each.shape) < 0.2] = np.nan
            each[rng.random(each.shape) < 0.2] = np.inf
            each[rng.random(each.shape) < 0.2] = -np.inf
    right = [(s.argmax(1) == y) & ~np.isnan(s).any(1) for s, y in zip(scores, labels, strict=True)]
    expected = np.mean(np.concatenate(right))
    with mx.util.np_shape(True):  # as the NumPy interface has it, so that there are arrays without rows
        loader = [(track.array(s), track.array(y)) for s, y in zip(scores, labels, strict=True)]
    result = track.helpers.evaluate_accuracy(loader, lambda x: x, track.helpers.devices(count, "cpu"))
    assert result == pytest.approx(expected)


def test_accuracy_runs_each_part_on_its_device(track):
    """Each device gets its own part of a batch, there."""
    seen = []

    def net(x):
        seen.append((track.device_of(x), len(x)))
        return x

    batch = track.array(np.eye(5, 3, dtype="float32")), track.array(np.zeros(5))
    track.helpers.evaluate_accuracy([batch], net, track.helpers.devices(2, "cpu"))
    assert seen == [(track.device(0), 3), (track.device(1), 2)]


ONES = np.ones((4, 3), "float32")
BATCHES = {
    "fewer labels": (ONES, ONES[:3, 0], ["batch 1", "(4, 3)", "(3,)"]),
    "more labels": (ONES, np.ones(5), ["batch 1", "(4, 3)", "(5,)"]),
    "labels as a column": (ONES, ONES[:, :1], ["batch 1", "(4, 3)", "(4, 1)"]),
    "labels one-hot": (ONES, ONES, ["batch 1", "labels (4, 3)"]),
    "one score a row": (ONES[:, 0], ONES[:, 0], ["for features (2,)", "gave (2,)"]),
    "scores in space": (np.ones((4, 3, 2)), ONES[:, 0], ["for features (2, 3, 2)", "gave (2, 3, 2)", "(2, classes)"]),
}


@pytest.mark.parametrize("what", BATCHES)
def test_accuracy_refuses_labels_and_scores_that_do_not_fit(track, what):
    """Labels or scores that are not one for each row are refused with batch and shapes, where they would broadcast."""
    features, labels, words = BATCHES[what]
    loader = [(track.array(f), track.array(y)) for f, y in ((ONES, ONES[:, 0]), (features, labels))]
    with pytest.raises(ValueError, match="evaluate_accuracy") as caught:
        track.helpers.evaluate_accuracy(loader, lambda x: x, track.helpers.devices(2, "cpu"))
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize("net", [lambda x: x[:1], lambda x: x.sum(), lambda x: np.ones((2, 3)), lambda x: [x],
                                 lambda x: None], ids=["one row", "one number", "NumPy", "a list", "None"])
def test_accuracy_refuses_nets_that_do_not_fit(track, net):
    """A net that gives not one row of scores for each row, of its framework, is refused with what it gave."""
    batch = track.array(ONES), track.array(ONES[:, 0])
    with pytest.raises(ValueError, match=r"for features \(2, 3\) the net gave .*, not one row of scores"):
        track.helpers.evaluate_accuracy([batch], net, track.helpers.devices(2, "cpu"))


def test_accuracy_of_nothing_is_refused(track):
    """Data without rows have no accuracy: a ValueError."""
    with pytest.raises(ValueError, match="no rows"):
        track.helpers.evaluate_accuracy([], lambda x: x, track.helpers.devices(1, "cpu"))


def test_load_data(track):
    """The loaders give all rows in batches, images scaled and resized, labels whole; only training is shuffled."""
    train, test = track.helpers.load_data(500, dataset="digits", resize=12)
    assert [len(labels) for _, labels in train] == [500, 500, 437]
    [(images, labels)] = [(track.host(images), track.host(labels)) for images, labels in test]
    assert (images.shape, images.dtype, images.min(), images.max()) == ((360, 1, 12, 12), "float32", 0, 1)
    assert labels.dtype.kind == "i"
    assert set(labels) == set(range(10))
    assert [track.host(labels).tolist() for _, labels in test] == [labels.tolist()]
    first, second = (track.host(next(iter(train))[1]).tolist() for _ in range(2))
    assert first != second


def test_load_data_refuses(track):
    """A batch size below one is refused by name."""
    with pytest.raises(ValueError, match="batch_size=0"):
        track.helpers.load_data(0)


def test_both_tracks_have_the_same_names_arguments_and_errors():
    """Same names, same order of arguments, and the very same words where both refuse the same thing."""
    import inspect

    for name in ("devices", "allreduce", "split_and_load", "evaluate_accuracy", "load_data"):
        signatures = {str(inspect.signature(getattr(track.helpers, name))) for track in TRACKS.values()}
        assert len(signatures) == 1, signatures
    for refuse in (lambda t: t.helpers.devices(0), lambda t: t.helpers.load_data(0), lambda t: t.helpers.allreduce([]),
                   lambda t: t.helpers.split_and_load(np.zeros((1, 2)), [t.device(0)] * 2),
                   lambda t: t.helpers.split_and_load(np.zeros((9, 2)), [t.device(0)] * 2, [1, -1]),
                   lambda t: t.helpers.evaluate_accuracy([], None, [t.device(0)])):
        words = set()
        for track in TRACKS.values():
            with pytest.raises(ValueError, match=r"\w") as caught:
                refuse(track)
            words.add(str(caught.value))
        assert len(words) == 1, words


@pytest.mark.parametrize("wrong", ["returns the sum", "leaves the last one"])
def test_a_wrong_allreduce_is_caught(monkeypatch, track, wrong):
    """The property above fails for an all-reduce that does not write in place, or not everywhere."""
    right = track.helpers.allreduce

    def leaves_the_last_one(data):
        *rest, last = data
        right([*rest, track.array(track.host(last), len(rest))])

    monkeypatch.setattr(track.helpers, "allreduce", sum if wrong == "returns the sum" else leaves_the_last_one)
    with pytest.raises(AssertionError):
        test_allreduce_is_the_sum_on_every_copy(track)
