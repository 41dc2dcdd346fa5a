"""The helpers of both tracks, put through the same cases."""
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

# The helpers; how to make an array on a device, to read it, and to ask where it is; a device; sizes for small parts.
Track = namedtuple("Track", "helpers array host place device parts")

TRACKS, without_elements = {}, contextlib.nullcontext
if find_spec("mxnet"):  # conftest.py says where a framework may be missing
    import mxnet as mx

    import d2lhelpers.mxnet

    without_elements = functools.partial(mx.util.np_shape, True)  # in it MXNet has arrays without elements
    for name, module in {"mxnet-np": mx.np, "mxnet-nd": mx.nd}.items():
        def array(values, device=0, module=module):
            """Return an array of one of MXNet's kinds."""
            return module.array(values, dtype=np.asarray(values).dtype, ctx=mx.cpu(device))

        TRACKS[name] = Track(d2lhelpers.mxnet, array, lambda a: a.asnumpy(), lambda a: a.context, mx.cpu, {"PART": 8})
if find_spec("torch"):
    import torch

    import d2lhelpers.torch

    TRACKS["torch"] = Track(  # its CPU is one device, however often it is named
        d2lhelpers.torch, lambda values, device=0: torch.tensor(values), lambda tensor: tensor.numpy(),
        lambda tensor: tensor.device, lambda number: torch.device("cpu"), {"CACHED": 8, "CHUNK": 3})

TYPES = ["float16", "float32", "float64", "int8", "uint8", "int32", "int64"]


@pytest.fixture(params=TRACKS, scope="session")
def track(request):
    """Run a test once per track."""
    return TRACKS[request.param]


@st.composite
def copies(draw):
    """Draw one array per device, of one shape and type: small whole numbers, whose sums every type holds exactly."""
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=7))
    arrays = hnp.arrays(draw(st.sampled_from(TYPES)), shape, elements=st.integers(0, 20))
    return draw(st.lists(arrays, min_size=1, max_size=6))


@given(copies(), st.booleans())
@example([np.arange(9.0)] * 2, True)  # three parts for two devices: the last round is not full
def test_allreduce_is_the_sum_on_every_copy(track, values, cut):
    """All-reduce leaves the sum, in place and in its own type, on any number of devices, whole or in parts."""
    with without_elements(), pytest.MonkeyPatch.context() as patch:
        for name, size in track.parts.items() if cut else ():
            patch.setattr(track.helpers, name, size)
        data = [track.array(v, i) for i, v in enumerate(values)]
        track.helpers.allreduce(data)
        assert [track.place(result) for result in data] == [track.device(i) for i in range(len(data))]
        for result in map(track.host, data):
            assert result.dtype == values[0].dtype
            np.testing.assert_array_equal(result, np.sum(values, axis=0))


REFUSED = {
    "nothing": (lambda a: [], ValueError, r"no tensors|on \[\]; give one"),
    "one array": (lambda a: a(np.ones((1, 9))), TypeError, "give a list"),
    "shapes": (lambda a: [a(np.ones((2, 9))), a(np.ones((9, 2)), 1)], ValueError, r"\(9, 2\) .*all must be equal"),
    "ranks": (lambda a: [a(np.ones((1, 9))), a(np.ones(9), 1)], ValueError, r"\(9,\) .*all must be equal"),
    "types": (lambda a: [a(np.ones(9, "int32")), a(np.ones(9), 1)], ValueError, "float64.*all must be equal"),
    "the same twice": (lambda a: [a(np.ones(9))] * 2, ValueError, "one array per device|share memory"),
    "views": (lambda a: (lambda b: [b[:9], b[8:]])(a(np.ones(17))), ValueError, "one array per device|share memory"),
    "NumPy": (lambda a: [a(np.ones(9)), np.ones(9)], (TypeError, ValueError), "ndarray|float64"),
    "None": (lambda a: [None, a(np.ones(9))], (TypeError, AttributeError), "None"),
}


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("what", REFUSED)
def test_allreduce_refuses_and_changes_nothing(monkeypatch, track, what, cut):
    """What cannot be summed is refused with the fact that is wrong, be it cut into parts or not; nothing is changed."""
    make, error, words = REFUSED[what]
    for name, size in track.parts.items() if cut else ():
        monkeypatch.setattr(track.helpers, name, size)
    data = make(track.array)
    with pytest.raises(error, match=words):
        track.helpers.allreduce(data)
    assert all((track.host(a) == 1).all() for a in data if isinstance(a, type(track.array([1]))))


def test_allreduce_takes_a_generator(track):
    """What yields the arrays one by one is as good as a list of them."""
    data = [track.array([1.0, 2.0], device) for device in (0, 1)]
    track.helpers.allreduce(array for array in data)
    assert [track.host(array).tolist() for array in data] == [[2, 4], [2, 4]]


@st.composite
def splits(draw):
    """Draw rows, a number of devices that they suffice for, and weights or None."""
    count = draw(st.integers(1, 6))
    weights = st.lists(st.floats(1e-3, 1e3), min_size=count, max_size=count)
    return draw(st.integers(count, 60)), count, draw(st.none() | weights)


@given(splits(), st.booleans(), st.sampled_from(TYPES))
def test_split_then_concatenate_is_the_identity(track, split, from_numpy, dtype):
    """The parts, put one after another, are the data; each is on its device, has its type, and its share of rows."""
    rows, count, weights = split
    values = np.arange(rows * 2).reshape(rows, 2).astype(dtype)
    data = values if from_numpy else track.array(values)
    parts = track.helpers.split_and_load(data, track.helpers.devices(count, "cpu"), weights)
    assert [track.place(part) for part in parts] == [track.device(i) for i in range(count)]
    assert all(len(part) > 0 and track.host(part).dtype == np.dtype(dtype) for part in parts)
    np.testing.assert_array_equal(np.concatenate([track.host(part) for part in parts]), values)
    shares = [rows * weight / sum(weights or [1] * count) for weight in weights or [1] * count]
    lent = sum(share < 1 for share in shares)  # rows that small parts took from large ones
    assert all(-1 - lent - 1e-6 < len(part) - share < 1 + 1e-6 for part, share in zip(parts, shares, strict=True))


def test_a_part_on_its_own_device_is_a_view(track):
    """A part whose device is the data's own shares its memory; parts of a NumPy array never do."""
    values = np.zeros((4, 2))
    data = track.array(values)
    for each in (data, values):
        track.helpers.split_and_load(each, [track.device(0)])[0][:] = 1
    assert (track.host(data).min(), values.max()) == (1, 0)


@pytest.mark.parametrize(("rows", "weights", "expected"), [
    (11, None, [4, 4, 3]), (10, [1, 1, 1], [4, 3, 3]), (10, [0.56, 0.24, 0.2], [6, 2, 2]), (3, [100, 1, 1], [1, 1, 1]),
    (10, [0.2, 0.24, 0.56], [2, 2, 6]), (10, np.array([5, 3, 2]), [5, 3, 2]), (10, [1000, 1, 1], [8, 1, 1]),
    (10, [1e308, 1, 1], [8, 1, 1]),
])
def test_largest_remainder(track, rows, weights, expected):
    """Parts are sized by largest remainder, ties to the first, and none is empty."""
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
    """Too few rows, wrong weights, and what is no list of devices are refused with what does not fit."""
    devices = track.helpers.devices(2, "cpu")[:devices] if isinstance(devices, int) else devices
    with pytest.raises(error, match=words):
        track.helpers.split_and_load(track.array(np.zeros(rows)), devices, weights)


@pytest.mark.parametrize(("n", "kind", "gpus", "expected"), [
    (2, None, 0, "cpu"), (2, None, 1, "cpu"), (2, None, 2, "gpu"), (1, "cpu", 2, "cpu"), (2, "gpu", 2, "gpu"),
    (0, None, 1, "n=0"), (2, "gpu", 1, "GPUs here: 1"), (1, "tpu", 1, "'tpu'"),
])
def test_devices(monkeypatch, track, n, kind, gpus, expected):
    """GPUs are taken where the machine has as many as asked for, or if told to; what it does not have is an error."""
    over_torch = track is TRACKS.get("torch")
    monkeypatch.setattr(*(torch.cuda, "device_count") if over_torch else (mx.context, "num_gpus"), lambda: gpus)
    if expected in ("cpu", "gpu"):
        gpu = (lambda i: torch.device("cuda", i)) if over_torch else mx.gpu
        assert track.helpers.devices(n, kind) == [(gpu if expected == "gpu" else track.device)(i) for i in range(n)]
    else:
        with pytest.raises(ValueError, match=expected):
            track.helpers.devices(n, kind)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(1, 4), st.booleans(),
       st.sampled_from(["float16", "float32", "float64"]))
def test_accuracy_counts_every_row(track, batches, count, diverged, dtype):
    """The accuracy is that of all rows, for batches of any size; a row with NaN is not guessed right."""
    rng = np.random.default_rng(sum(batches))
    scores = [rng.normal(size=(rows, 3)).astype(dtype) for rows in batches]
    labels = [rng.integers(0, 3, rows).astype("int32") for rows in batches]
    for each in scores if diverged else []:
        each[rng.random(each.shape) < 0.2] = np.nan
        each[rng.random(each.shape) < 0.2] = np.inf
    right = [(s.argmax(1) == y) & ~np.isnan(s).any(1) for s, y in zip(scores, labels, strict=True)]
    loader = [(track.array(s), track.array(y)) for s, y in zip(scores, labels, strict=True)]
    seen = []
    result = track.helpers.evaluate_accuracy(loader, lambda x: seen.append(track.place(x)) or x,
                                             track.helpers.devices(count, "cpu"))
    assert result == pytest.approx(np.mean(np.concatenate(right)))
    assert seen == [track.device(i) for rows in batches for i in range(min(rows, count))]


ONES = np.ones((4, 3), "float32")


@pytest.mark.parametrize(("scores", "labels"), [
    (ONES, ONES[:3, 0]), (ONES, np.ones(5)), (ONES, ONES[:, :1]), (ONES, ONES), (ONES[:, 0], ONES[:, 0]),
])
def test_accuracy_refuses_labels_and_scores_that_do_not_fit(track, scores, labels):
    """Labels or scores that are not one for each row are refused with their shapes, where they would broadcast."""
    two = track.helpers.devices(2, "cpu")
    with pytest.raises(ValueError, match=r"evaluate_accuracy: scores \(.*\) do not fit labels \("):
        track.helpers.evaluate_accuracy([(track.array(scores), track.array(labels))], lambda x: x, two)
    with pytest.raises(ValueError, match="no rows"):
        track.helpers.evaluate_accuracy([], lambda x: x, two)
    with pytest.raises(TypeError, match="the data comes first, then the network"):
        track.helpers.evaluate_accuracy(lambda x: x, [], two)


def test_load_data(track):
    """The loaders give all rows in batches, images scaled and resized, labels whole; only training is shuffled."""
    train, test = track.helpers.load_data(500, dataset="digits", resize=12)
    assert [len(labels) for _, labels in train] == [500, 500, 437]
    [(images, labels)] = [(track.host(images), track.host(labels)) for images, labels in test]
    assert (images.shape, images.dtype, images.min(), images.max()) == ((360, 1, 12, 12), "float32", 0, 1)
    assert labels.dtype == ("int64" if track is TRACKS.get("torch") else "int32")
    firsts = [[track.host(next(iter(loader))[1])[:360].tolist() for loader in (train, test)] for _ in range(2)]
    assert firsts[0][0] != firsts[1][0]
    assert firsts[0][1] == firsts[1][1] == labels.tolist()


def test_both_tracks_have_the_same_names_and_arguments():
    """Both tracks have the same names, which take the same arguments, of the same defaults, in the same order."""
    for name in ("devices", "allreduce", "split_and_load", "evaluate_accuracy", "load_data"):
        taken = [inspect.signature(getattr(track.helpers, name)).parameters.values() for track in TRACKS.values()]
        first, *others = [[(each.name, each.kind, each.default) for each in parameters] for parameters in taken]
        assert all(other == first for other in others), name
