"""The helpers of both tracks, tested with the same cases."""
import contextlib
import functools
import inspect
from collections import namedtuple
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

# `array` makes an array, `host` copies it to NumPy, `place` returns its device, `device` makes a device from a number,
# and `parts` are sizes so small that all-reduce cuts small arrays into parts.
Track = namedtuple("Track", "helpers array host place device parts")

TRACKS = {}
without_elements = contextlib.nullcontext
if find_spec("mxnet"):  # conftest.py decides where a framework may be missing
    import mxnet as mx

    from d2lhelpers.mxnet import data_parallel

    without_elements = functools.partial(mx.util.np_shape, True)  # lets MXNet make arrays without elements
    for name, module in {"mxnet-np": mx.np, "mxnet-nd": mx.nd}.items():
        def array(values, device=0, module=module):
            """Return an array of this interface of MXNet."""
            return module.array(values, dtype=np.asarray(values).dtype, ctx=mx.cpu(device))

        TRACKS[name] = Track(data_parallel, array, lambda a: a.asnumpy(), lambda a: a.context, mx.cpu, {"PART": 8})
if find_spec("torch"):
    import torch

    from d2lhelpers.torch import data_parallel

    TRACKS["torch"] = Track(  # in PyTorch the CPU is a single device, whatever its number
        data_parallel, lambda values, device=0: torch.tensor(values), lambda tensor: tensor.numpy(),
        lambda tensor: tensor.device, lambda number: torch.device("cpu"), {"CACHED": 8, "CHUNK": 3})

TYPES = ["float16", "float32", "float64", "int8", "uint8", "int32", "int64"]


@pytest.fixture(params=TRACKS, scope="session")
def track(request):
    """Run a test once for each track."""
    return TRACKS[request.param]


@st.composite
def copies(draw):
    """Draw one array per device, all of one shape and type, with integers whose sum every type holds exactly."""
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=7))
    arrays = hnp.arrays(draw(st.sampled_from(TYPES)), shape, elements=st.integers(0, 20))
    return draw(st.lists(arrays, min_size=1, max_size=6))


@given(copies(), st.booleans())
@example([np.arange(9.0)] * 2, True)  # three parts for two devices: the last round is not full
def test_allreduce_is_the_sum_on_every_copy(track, values, cut):
    """All-reduce leaves the sum in every array, in place and in its type, on any number of devices, cut or not."""
    sizes = track.parts if cut else {}
    with without_elements(), pytest.MonkeyPatch.context() as patch:
        for name, size in sizes.items():
            patch.setattr(track.helpers, name, size)
        data = [track.array(v, i) for i, v in enumerate(values)]
        track.helpers.allreduce(data)
        assert [track.place(result) for result in data] == [track.device(i) for i in range(len(data))]
        for result in map(track.host, data):
            assert result.dtype == values[0].dtype
            np.testing.assert_array_equal(result, np.sum(values, axis=0))


def two_views(array):
    """Return two views of one array that share an element."""
    whole = array(np.ones(17))
    return [whole[:9], whole[8:]]


REFUSED = {
    "nothing": (lambda a: [], ValueError, r"no tensors|on \[\]; give one"),
    "one array": (lambda a: a(np.ones((1, 9))), TypeError, "give a list"),
    "shapes": (lambda a: [a(np.ones((2, 9))), a(np.ones((9, 2)), 1)], ValueError, r"\(9, 2\) .*all must be equal"),
    "ranks": (lambda a: [a(np.ones((1, 9))), a(np.ones(9), 1)], ValueError, r"\(9,\) .*all must be equal"),
    "types": (lambda a: [a(np.ones(9, "int32")), a(np.ones(9), 1)], ValueError, "float64.*all must be equal"),
    "the same twice": (lambda a: [a(np.ones(9))] * 2, ValueError, "one array per device|share memory"),
    "views": (two_views, ValueError, "one array per device|share memory"),
    "NumPy": (lambda a: [a(np.ones(9)), np.ones(9)], (TypeError, ValueError), "ndarray|float64"),
    "None": (lambda a: [None, a(np.ones(9))], (TypeError, AttributeError), "None"),
}


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("what", REFUSED)
def test_allreduce_refuses_and_changes_nothing(monkeypatch, track, what, cut):
    """Arrays that cannot be summed are refused with the reason, cut into parts or not, and nothing is changed."""
    make, error, words = REFUSED[what]
    sizes = track.parts if cut else {}
    for name, size in sizes.items():
        monkeypatch.setattr(track.helpers, name, size)
    data = make(track.array)
    with pytest.raises(error, match=words):
        track.helpers.allreduce(data)
    kind = type(track.array([1]))
    assert all((track.host(each) == 1).all() for each in data if isinstance(each, kind))


def test_allreduce_takes_a_generator(track):
    """All-reduce takes a generator of arrays as well as a list."""
    data = [track.array([1.0, 2.0], device) for device in (0, 1)]
    track.helpers.allreduce(array for array in data)
    assert [track.host(array).tolist() for array in data] == [[2, 4], [2, 4]]


@st.composite
def splits(draw):
    """Draw a number of rows, a number of devices that is not larger, and weights or None."""
    count = draw(st.integers(1, 6))
    rows = draw(st.integers(count, 60))
    weights = draw(st.none() | st.lists(st.floats(1e-3, 1e3), min_size=count, max_size=count))
    return rows, count, weights


@given(splits(), st.booleans(), st.sampled_from(TYPES))
def test_split_then_concatenate_is_the_identity(track, split, from_numpy, dtype):
    """Concatenated, the parts are the data again; each has its device, the data's type and its share of the rows."""
    rows, count, weights = split
    values = np.arange(rows * 2).reshape(rows, 2).astype(dtype)
    data = values if from_numpy else track.array(values)
    parts = track.helpers.split_and_load(data, track.helpers.devices(count, "cpu"), weights)
    assert [track.place(part) for part in parts] == [track.device(i) for i in range(count)]
    assert all(len(part) > 0 for part in parts)
    assert all(track.host(part).dtype == np.dtype(dtype) for part in parts)
    np.testing.assert_array_equal(np.concatenate([track.host(part) for part in parts]), values)
    weights = weights or [1] * count
    shares = [rows * weight / sum(weights) for weight in weights]
    lent = sum(share < 1 for share in shares)  # rows that small parts took from large ones
    for part, share in zip(parts, shares, strict=True):
        assert -1 - lent - 1e-6 < len(part) - share < 1 + 1e-6


def test_a_part_on_its_own_device_is_a_view(track):
    """A part on the same device as its data shares the data's memory; a part of a NumPy array never does."""
    values = np.zeros((4, 2))
    data = track.array(values)
    for whole in (data, values):
        [part] = track.helpers.split_and_load(whole, [track.device(0)])
        part[:] = 1
    assert track.host(data).min() == 1
    assert values.max() == 0


@pytest.mark.parametrize(("rows", "weights", "expected"), [
    (11, None, [4, 4, 3]), (10, [1, 1, 1], [4, 3, 3]), (10, [0.56, 0.24, 0.2], [6, 2, 2]), (3, [100, 1, 1], [1, 1, 1]),
    (10, [0.2, 0.24, 0.56], [2, 2, 6]), (10, np.array([5, 3, 2]), [5, 3, 2]), (10, [1000, 1, 1], [8, 1, 1]),
    (10, [1e308, 1, 1], [8, 1, 1]),
])
def test_largest_remainder(track, rows, weights, expected):
    """Part sizes follow the largest-remainder method; the first part wins a tie, and no part is empty."""
    parts = track.helpers.split_and_load(track.array(np.zeros(rows)), track.helpers.devices(3, "cpu"), weights)
    assert [len(part) for part in parts] == expected


@pytest.mark.parametrize(("rows", "devices", "weights", "error", "words"), [
    (1, 2, None, ValueError, "1 rows for 2 devices"), (5, 0, None, ValueError, "5 rows for 0 devices"),
    (5, 2, [1], ValueError, r"weights \[1\] for 2 devices"), (5, 2, [1, 0], ValueError, r"\[1, 0\]"),
    (5, 2, [-1, 1], ValueError, r"\[-1, 1\]"), (5, 2, [1, float("nan")], ValueError, "nan"),
    (5, 2, [1e308, 1e308], ValueError, "1e[+]308"),
    (5, "cpu", None, (TypeError, RuntimeError), "device"), (5, [None], None, (TypeError, RuntimeError), "device"),
])
def test_split_refuses(track, rows, devices, weights, error, words):
    """Too few rows, wrong weights and anything but a list of devices are refused with an error that names them."""
    if isinstance(devices, int):
        devices = track.helpers.devices(2, "cpu")[:devices]
    with pytest.raises(error, match=words):
        track.helpers.split_and_load(track.array(np.zeros(rows)), devices, weights)


@pytest.mark.parametrize(("n", "kind", "gpus", "expected"), [
    (2, None, 0, "cpu"), (2, None, 1, "cpu"), (2, None, 2, "gpu"), (1, "cpu", 2, "cpu"), (2, "gpu", 2, "gpu"),
    (0, None, 1, "n=0"), (2, "gpu", 1, "GPUs here: 1"), (1, "tpu", 1, "'tpu'"),
])
def test_devices(monkeypatch, track, n, kind, gpus, expected):
    """The devices are GPUs if the machine has enough of them or `kind` says so; asking for too many is an error."""
    over_torch = track is TRACKS.get("torch")
    monkeypatch.setattr("torch.cuda.device_count" if over_torch else "mxnet.context.num_gpus", lambda: gpus)
    gpu = functools.partial(torch.device, "cuda") if over_torch else mx.gpu
    make = {"cpu": track.device, "gpu": gpu}
    if expected in make:
        assert track.helpers.devices(n, kind) == [make[expected](i) for i in range(n)]
    else:
        with pytest.raises(ValueError, match=expected):
            track.helpers.devices(n, kind)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(1, 4), st.booleans(),
       st.sampled_from(["float16", "float32", "float64"]))
def test_accuracy_counts_every_row(track, batches, count, diverged, dtype):
    """The accuracy counts every row of batches of any size, and a row with NaN counts as wrong."""
    rng = np.random.default_rng(sum(batches))
    scores = [rng.normal(size=(rows, 3)).astype(dtype) for rows in batches]
    labels = [rng.integers(0, 3, rows).astype("int32") for rows in batches]
    if diverged:
        for each in scores:
            each[rng.random(each.shape) < 0.2] = np.nan
            each[rng.random(each.shape) < 0.2] = np.inf
    right = [(s.argmax(1) == y) & ~np.isnan(s).any(1) for s, y in zip(scores, labels, strict=True)]
    loader = [(track.array(s), track.array(y)) for s, y in zip(scores, labels, strict=True)]
    seen = []

    def net(x):
        seen.append(track.place(x))
        return x

    result = track.helpers.evaluate_accuracy(loader, net, track.helpers.devices(count, "cpu"))
    assert result == pytest.approx(np.mean(np.concatenate(right)))
    assert seen == [track.device(i) for rows in batches for i in range(min(rows, count))]


ONES = np.ones((4, 3), "float32")


@pytest.mark.parametrize(("scores", "labels"), [
    (ONES, ONES[:3, 0]), (ONES, np.ones(5)), (ONES, ONES[:, :1]), (ONES, ONES), (ONES[:, 0], ONES[:, 0]),
])
def test_accuracy_refuses_labels_and_scores_that_do_not_fit(track, scores, labels):
    """Shapes that do not fit are refused even if they would broadcast; so are empty data and swapped arguments."""
    two = track.helpers.devices(2, "cpu")
    with pytest.raises(ValueError, match=r"evaluate_accuracy: scores \(.*\) do not fit labels \("):
        track.helpers.evaluate_accuracy([(track.array(scores), track.array(labels))], lambda x: x, two)
    with pytest.raises(ValueError, match="no rows"):
        track.helpers.evaluate_accuracy([], lambda x: x, two)
    with pytest.raises(TypeError, match="the data comes first, then the network"):
        track.helpers.evaluate_accuracy(lambda x: x, [], two)


def test_load_data(track):
    """The loaders give all rows in batches, scaled and resized images, integer labels; only training is shuffled."""
    train, test = track.helpers.load_data(500, dataset="digits", resize=12)
    assert [len(labels) for _, labels in train] == [500, 500, 437]
    [(images, labels)] = [(track.host(images), track.host(labels)) for images, labels in test]
    assert (images.shape, images.dtype, images.min(), images.max()) == ((360, 1, 12, 12), "float32", 0, 1)
    assert labels.dtype == ("int64" if track is TRACKS.get("torch") else "int32")
    firsts = [track.host(next(iter(loader))[1])[:360].tolist() for loader in (train, train, test, test)]
    assert firsts[0] != firsts[1]
    assert firsts[2] == firsts[3] == labels.tolist()


def test_both_tracks_have_the_same_names_and_arguments():
    """The helpers of both tracks have the same names and parameters, with equal defaults and in the same order."""
    for name in ("devices", "allreduce", "split_and_load", "evaluate_accuracy", "load_data"):
        signatures = []
        for track in TRACKS.values():
            parameters = inspect.signature(getattr(track.helpers, name)).parameters.values()
            signatures.append([(each.name, each.kind, each.default) for each in parameters])
        assert all(signature == signatures[0] for signature in signatures), name
