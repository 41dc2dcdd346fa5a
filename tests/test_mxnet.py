import subprocess
import sys

import mxnet as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import d2lhelpers.mxnet
from d2lhelpers import (
    Timeline,
    allreduce,
    configure_engine,
    devices,
    evaluate_accuracy,
    load_data,
    split_and_load,
)

settings.register_profile("house", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("house")

TYPES = ["float16", "float32", "float64", "int8", "uint8", "int32", "int64"]
KINDS = ["np", "nd"]


def array(values, device=0, kind="np"):
    """Return an MXNet array of the NumPy or the legacy kind on CPU device number `device`."""
    values = np.asarray(values)
    module = mx.np if kind == "np" else mx.nd
    with mx.util.np_shape(kind == "np"):
        return module.array(values, dtype=values.dtype, ctx=mx.cpu(device))


def host(arrays):
    """Return the arrays as NumPy's."""
    with mx.util.np_shape(True):
        return [a.asnumpy() for a in arrays]


@st.composite
def copies(draw):
    """Draw one array a device, of one shape and type: small whole numbers, whose sums every type holds exactly."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, max_side=7))
    dtype = draw(st.sampled_from(TYPES))
    count = draw(st.integers(1, 6))
    numbers = st.integers(0, 20)
    return [draw(hnp.arrays(dtype, shape, elements=numbers)) for _ in range(count)]


@given(copies(), st.sampled_from(KINDS), st.sampled_from([1, 1 << 20]))
def test_allreduce_is_the_sum_on_every_copy(values, kind, small):
    """All-reduce leaves the sum, in place and in its own type, on any number of devices, whole or in parts."""
    data = [array(v, i, kind) for i, v in enumerate(values)]
    before = d2lhelpers.mxnet.SMALL
    d2lhelpers.mxnet.SMALL = small
    try:
        allreduce(a for a in data)
    finally:
        d2lhelpers.mxnet.SMALL = before
    total = np.sum(values, axis=0).astype(values[0].dtype)
    for index, result in enumerate(data):
        assert result.context == mx.cpu(index)
        assert np.dtype(result.dtype) == total.dtype
        np.testing.assert_array_equal(result.asnumpy(), total)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_allreduce_of_large_arrays(count):
    """Arrays large enough to be cut into parts are summed right, odd sizes included, and all copies are identical."""
    rng = np.random.default_rng(0)
    values = [rng.normal(size=(1013, 1031)).astype("float32") for _ in range(count)]
    data = [array(v, i) for i, v in enumerate(values)]
    allreduce(data)
    results = host(data)
    np.testing.assert_allclose(results[0], np.sum(values, axis=0), rtol=1e-4, atol=1e-5)
    assert all((result == results[0]).all() for result in results)


def test_every_device_adds_its_part():
    """Large arrays are added up on all devices: every one runs a sum of its own."""
    data = [mx.nd.ones((1 << 20,), ctx=mx.cpu(i)) for i in (0, 1)]
    with Timeline() as timeline:
        allreduce(data)
    assert sorted(o.device for o in timeline.operators if o.name == "add_n") == ["cpu(0)", "cpu(1)"]


def test_allreduce_keeps_nan_and_infinity():
    """NaN and infinity reach every copy as they would in a sum."""
    data = [array(np.array(v, "float32"), i) for i, v in enumerate([[np.nan, np.inf, -np.inf], [1, 1, np.inf]])]
    allreduce(data)
    for result in host(data):
        np.testing.assert_array_equal(result, np.array([np.nan, np.inf, np.nan], "float32"))


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), ()])
def test_allreduce_of_empty_and_single(shape):
    """Arrays without elements are left alone, and single numbers are summed."""
    with mx.util.np_shape(True):
        data = [mx.np.ones(shape, ctx=mx.cpu(i)) for i in (0, 1)]
        allreduce(data)
        assert [d.asnumpy().tolist() for d in data] == [np.full(shape, 2.0).tolist()] * 2


def test_allreduce_of_one_is_left_alone():
    """A single array is not touched."""
    data = [array(np.arange(3.0))]
    allreduce(data)
    assert host(data)[0].tolist() == [0, 1, 2]


def test_allreduce_of_gradients():
    """Gradients, and parameters, are summed in place where autograd keeps them, also while it records."""
    weights = [array(np.ones(4, "float32"), i) for i in (0, 1)]
    for weight in weights:
        weight.attach_grad()
    with mx.autograd.record():
        losses = [(w * (i + 1)).sum() for i, w in enumerate(weights)]
    for loss in losses:
        loss.backward()
    with mx.autograd.record():
        allreduce([weight.grad for weight in weights])
        allreduce(weights)
    assert [w.grad.asnumpy().tolist() for w in weights] == [[3] * 4] * 2
    assert [w.asnumpy().tolist() for w in weights] == [[2] * 4] * 2


@pytest.mark.parametrize(("make", "error", "words"), [
    (lambda: [], ValueError, ["no arrays"]),
    (lambda: [array(np.ones((2, 3))), array(np.ones((3, 2)), 1)], ValueError, ["array 1", "(3, 2)", "cpu(1)"]),
    (lambda: [array(np.ones(2, "float32")), array(np.ones(2, "int32"), 1)], ValueError, ["array 1", "int32"]),
    (lambda: [array(np.ones(2)), np.ones(2)], TypeError, ["item 1", "ndarray"]),
    (lambda: [array(np.ones(2)), None], TypeError, ["item 1", "NoneType"]),
    (lambda: [mx.nd.ones((2, 2)).tostype("csr")] * 2, TypeError, ["item 0", "CSRNDArray"]),
    (lambda: [array(np.ones(2, bool), i) for i in (0, 1)], TypeError, ["array 0", "bool", "astype"]),
    (lambda: [array(np.ones(2)), array(np.ones(2), 1), array(np.ones(1), 2)], ValueError, ["array 2", "(1,)"]),
])
def test_allreduce_refuses_and_changes_nothing(make, error, words):
    """What cannot be summed is refused with its index, shape, type or device, and no array is modified."""
    data = make()
    with pytest.raises(error) as caught:
        allreduce(data)
    assert all(word in str(caught.value) for word in words), caught.value
    assert all((a.asnumpy() == 1).all() for a in data if type(a) is mx.np.ndarray)


@st.composite
def splits(draw):
    """Draw rows, a number of devices that they suffice for, and weights or None."""
    count = draw(st.integers(1, 6))
    rows = draw(st.integers(count, 60))
    weights = st.lists(st.floats(1e-3, 1e3), min_size=count, max_size=count)
    return rows, count, draw(st.none() | weights)


@given(splits(), st.sampled_from([*KINDS, "numpy"]), st.sampled_from(TYPES))
def test_split_then_concatenate_is_the_identity(split, kind, dtype):
    """The parts, put one after another, are the data; each is on its device, has its type, and at least one row."""
    rows, count, weights = split
    values = np.arange(rows * 2).reshape(rows, 2).astype(dtype)
    data = values if kind == "numpy" else array(values, 0, kind)
    parts = split_and_load(data, devices(count, "cpu"), weights)
    assert [part.context for part in parts] == [mx.cpu(i) for i in range(count)]
    assert all(len(part) > 0 and np.dtype(part.dtype) == np.dtype(dtype) for part in parts)
    np.testing.assert_array_equal(np.concatenate(host(parts)), values)


@given(splits())
def test_parts_follow_the_weights(split):
    """Without weights sizes differ by one row at most, larger first; with them each is within a row of its share."""
    rows, count, weights = split
    sizes = [len(part) for part in split_and_load(np.zeros(rows), devices(count, "cpu"), weights)]
    if weights is None:
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] - sizes[-1] <= 1
    else:
        shares = [rows * weight / sum(weights) for weight in weights]
        lent = sum(share < 1 for share in shares)  # rows that small parts took from large ones
        assert all(-1 - lent - 1e-6 < size - share < 1 + 1e-6 for size, share in zip(sizes, shares, strict=True))


@pytest.mark.parametrize(("rows", "weights", "sizes"), [
    (10, None, [4, 3, 3]),
    (10, [1, 1, 1], [4, 3, 3]),
    (10, [5, 3, 2], [5, 3, 2]),
    (10, [0.56, 0.24, 0.2], [6, 2, 2]),
    (10, [0.2, 0.24, 0.56], [2, 2, 6]),
    (10, [1e308, 1e308, 1e308], [4, 3, 3]),
    (3, [100, 1, 1], [1, 1, 1]),
    (10, [1000, 1, 1], [8, 1, 1]),
])
def test_largest_remainder(rows, weights, sizes):
    """Parts are sized by largest remainder, ties to the first, and none is empty."""
    parts = split_and_load(np.zeros((rows, 2)), devices(3, "cpu"), weights)
    assert [len(part) for part in parts] == sizes


@pytest.mark.parametrize(("rows", "weights", "words"), [
    (1, None, ["1 rows", "2 devices"]),
    (0, None, ["0 rows", "2 devices"]),
    (5, [1], ["1 weights", "2 devices"]),
    (5, [1, 0], ["weight 1", "0.0"]),
    (5, [-1, 1], ["weight 0", "-1.0"]),
    (5, [1, float("nan")], ["weight 1", "nan"]),
    (5, [float("inf"), 1], ["weight 0", "inf"]),
])
def test_split_refuses(rows, weights, words):
    """Too few rows and wrong weights are refused with the numbers that do not fit."""
    with pytest.raises(ValueError, match="split_and_load") as caught:
        split_and_load(np.zeros((rows, 3)), devices(2, "cpu"), weights)
    assert all(word in str(caught.value) for word in words), caught.value


def test_split_refuses_no_devices_and_no_rows():
    """No devices at all, and a single number without rows, are refused."""
    with pytest.raises(ValueError, match="0 devices"):
        split_and_load(np.zeros(3), [])
    with pytest.raises(ValueError, match="single number"):
        split_and_load(mx.np.array(3.0), devices(1, "cpu"))


def test_split_takes_the_interface_that_is_on():
    """NumPy data become arrays of the NumPy interface where it is on, legacy arrays where it is off."""
    with mx.util.np_array(True):
        assert type(split_and_load(np.zeros(2), devices(1, "cpu"))[0]) is mx.np.ndarray
    with mx.util.np_array(False):
        assert type(split_and_load(np.zeros(2), devices(1, "cpu"))[0]) is mx.nd.NDArray


def test_devices():
    """Without GPUs, n devices are n CPU devices; the default is two."""
    assert devices(3, "cpu") == [mx.cpu(0), mx.cpu(1), mx.cpu(2)]
    assert len(devices()) == 2


@pytest.mark.parametrize(("n", "kind", "gpus", "expected"), [
    (2, None, 0, "cpu"), (2, None, 1, "cpu"), (2, None, 2, "gpu"), (1, "cpu", 2, "cpu"), (2, "gpu", 2, "gpu"),
])
def test_gpus_are_taken_where_there_are_enough(monkeypatch, n, kind, gpus, expected):
    """GPUs are taken only where the machine has as many as asked for, unless a kind is insisted on."""
    monkeypatch.setattr(mx.context, "num_gpus", lambda: gpus)
    assert [(d.device_type, d.device_id) for d in devices(n, kind)] == [(expected, i) for i in range(n)]


@pytest.mark.parametrize(("n", "kind", "words"), [
    (0, None, ["n=0", "1 GPU ", "CPU cores"]), (-1, "cpu", ["n=-1"]), (2, "gpu", ["2 GPUs", "1 GPU "]),
    (1, "tpu", ["'tpu'", "1 GPU "]),
])
def test_devices_refuses(monkeypatch, n, kind, words):
    """Fewer than one device, more GPUs than there are, or another kind: an error that names what the machine has."""
    monkeypatch.setattr(mx.context, "num_gpus", lambda: 1)
    with pytest.raises(ValueError, match="devices") as caught:
        devices(n, kind)
    assert all(word in str(caught.value) for word in words), caught.value


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(1, 4), st.sampled_from(KINDS))
def test_accuracy_counts_every_row(batches, count, kind):
    """The accuracy is that of all rows, for any batch sizes, batches smaller than the devices included."""
    rng = np.random.default_rng(sum(batches))
    scores = [rng.normal(size=(rows, 3)).astype("float32") for rows in batches]
    labels = [rng.integers(0, 3, rows).astype("int32") for rows in batches]
    expected = np.mean(np.concatenate([s.argmax(1) == y for s, y in zip(scores, labels, strict=True)]))
    loader = [(array(s, 0, kind), array(y, 0, kind)) for s, y in zip(scores, labels, strict=True)]
    assert evaluate_accuracy(loader, lambda x: x, devices(count, "cpu")) == pytest.approx(expected)


def test_accuracy_runs_each_part_on_its_device():
    """Each device gets its own part of a batch, there."""
    seen = []

    def net(x):
        seen.append((x.context, len(x)))
        return x

    evaluate_accuracy([(array(np.eye(5, 3, dtype="float32")), array(np.zeros(5)))], net, devices(2, "cpu"))
    assert seen == [(mx.cpu(0), 3), (mx.cpu(1), 2)]


def test_accuracy_of_nothing_is_refused():
    """Data without rows have no accuracy: a ValueError."""
    with pytest.raises(ValueError, match="no rows"):
        evaluate_accuracy([], lambda x: x, devices(1, "cpu"))


@pytest.mark.parametrize("kind", KINDS)
def test_load_data(kind):
    """The loaders give all rows in batches, images scaled and resized, labels whole, in the interface that is on."""
    with mx.util.np_array(kind == "np"):
        train, test = load_data(500, dataset="digits", resize=12)
        sizes = [len(labels) for _, labels in train]
        images, labels = next(iter(test))
    assert sizes == [500, 500, 437]
    assert images.shape == (360, 1, 12, 12)
    assert type(images) is (mx.np.ndarray if kind == "np" else mx.nd.NDArray)
    assert (np.dtype(images.dtype), np.dtype(labels.dtype)) == ("float32", "int32")
    assert (images.asnumpy().min(), images.asnumpy().max()) == (0, 1)


def test_load_data_refuses():
    """A batch size below one is refused by name."""
    with pytest.raises(ValueError, match="batch_size=0"):
        load_data(0)


def run(program):
    """Run a program in a fresh process."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)


def test_the_engine_is_configured_before_mxnet():
    """configure_engine sets the environment and says so, does not import MXNet, and may be called again unchanged."""
    result = run("import os, sys; from d2lhelpers import configure_engine; a = configure_engine(devices=1);"
                 "assert 'mxnet' not in sys.modules and all(os.environ[name] == a[name] for name in a);"
                 "import mxnet; assert configure_engine(devices=1) == a")
    assert result.returncode == 0, result.stderr
    first, second = result.stdout.splitlines()
    assert first == second
    assert first.startswith("engine: 1 device, 1 worker")


@pytest.mark.parametrize(("devices", "threads"), [(1, 16), (2, 1), (64, 1)])
def test_several_devices_have_one_thread_each(devices, threads):
    """On many cores one device gets a thread a core; several get one each, and their products come to an end."""
    result = run(f"""
import os
os.sched_getaffinity = lambda process: range(16)
from d2lhelpers import configure_engine, devices
assert configure_engine(devices={devices})["OMP_NUM_THREADS"] == "{threads}"
import mxnet as mx
x = [mx.nd.ones((600, 600), ctx=mx.cpu(i)) for i in range(min(2, {devices}))]
for array in x * 5:
    mx.nd.dot(array, array)
mx.nd.waitall()
""")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("before", ["", "configure_engine(devices=64);"])
def test_the_engine_is_not_configured_afterwards(before):
    """After MXNet is imported, other settings than those made before it are a RuntimeError that says what to do."""
    result = run(f"from d2lhelpers import configure_engine; {before} import mxnet; configure_engine(devices=1)")
    assert "RuntimeError: configure_engine: MXNet is imported already" in result.stderr
    assert "restart the kernel" in result.stderr


def test_no_devices_are_no_engine():
    """Fewer than one device is refused before anything is set."""
    with pytest.raises(ValueError, match="devices=0"):
        configure_engine(0)


def test_helpers_leave_the_interface_alone():
    """Using every helper switches NumPy semantics neither on nor off."""
    program = """
import d2lhelpers as h, mxnet as mx
for on in (False, True):
    mx.npx.set_np() if on else mx.npx.reset_np()
    train, test = h.load_data(200, dataset="digits")
    cpus = h.devices(2, kind="cpu")
    with h.Timeline():
        for images, labels in test:
            parts = h.split_and_load(images, cpus)
            h.allreduce([parts[0].copy(), parts[0].as_in_context(cpus[1])])
    h.evaluate_accuracy(test, lambda x: x.reshape((x.shape[0], -1)), cpus)
    assert mx.util.is_np_array() == mx.util.is_np_shape() == on
"""
    result = run(program)
    assert result.returncode == 0, result.stderr


def test_an_allreduce_that_does_not_write_in_place_is_caught(monkeypatch):
    """The property above fails for an all-reduce that returns the sum instead of writing it."""
    monkeypatch.setitem(globals(), "allreduce", lambda data: sum(data))
    with pytest.raises(AssertionError, match="Arrays are not equal"):
        test_allreduce_is_the_sum_on_every_copy()
