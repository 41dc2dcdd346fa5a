import subprocess
import sys

import mxnet as mx
import numpy as np
import pytest

from d2lhelpers import Timeline, allreduce, configure_engine, devices, load_data, split_and_load


def test_every_device_adds_its_part():
    """Large arrays are added up on all devices: every one runs a sum of its own."""
    data = [mx.nd.ones((1 << 21,), ctx=mx.cpu(i)) for i in (0, 1)]
    with Timeline() as timeline:
        allreduce(data)
    assert sorted(o.device for o in timeline.operators if o.name == "add_n") == ["cpu(0)", "cpu(1)"]


def test_allreduce_does_not_wait():
    """All-reduce over devices comes back while what it sums is still being computed."""
    x = [mx.nd.ones((1500, 1500), ctx=mx.cpu(i)) for i in (0, 1)]
    timeline = Timeline.best(lambda: allreduce([mx.nd.dot(mx.nd.dot(each, each), each) for each in x]),
                             lambda record: -record.returned / record.end, enough=-0.5)
    assert timeline.returned < timeline.end / 2


def test_allreduce_refuses_rows_that_overlap():
    """Rows of one matrix that overlap are refused while it is still being computed, and it stays as it was."""
    for module in (mx.np, mx.nd):
        base = module.dot(module.ones((700, 700)), module.ones((700, 700)))
        with pytest.raises(ValueError, match="array 2 shares a part of its memory with array 0"):
            allreduce([base[:3], base[3:6], base[2:5]])
        allreduce([base[:3], base[3:6]])
        assert np.unique(base[:6].asnumpy()).tolist() == [1400]
        assert np.unique(base[6:].asnumpy()).tolist() == [700]


def test_allreduce_of_gradients():
    """Gradients, and parameters, are summed in place where autograd keeps them, also while it records."""
    weights = [mx.np.ones(4, ctx=mx.cpu(i)) for i in (0, 1)]
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


def test_allreduce_refuses_sparse_arrays():
    """Sparse arrays are refused: their copies need not have the same elements."""
    with pytest.raises(TypeError, match="item 0 is a CSRNDArray, not a dense MXNet array"):
        allreduce([mx.nd.ones((2, 2)).tostype("csr")] * 2)


def test_split_takes_the_interface_that_is_on():
    """NumPy data become arrays of the NumPy interface where it is on, legacy arrays where it is off."""
    with mx.util.np_array(True):
        assert type(split_and_load(np.zeros(2), devices(1, "cpu"))[0]) is mx.np.ndarray
    with mx.util.np_array(False):
        assert type(split_and_load(np.zeros(2), devices(1, "cpu"))[0]) is mx.nd.NDArray


@pytest.mark.parametrize("kind", ["np", "nd"])
def test_load_data_in_the_interface_that_is_on(kind):
    """The loaders give arrays of the interface that is on, float32 and int32."""
    with mx.util.np_array(kind == "np"):
        _, test = load_data(500, dataset="digits")
        images, labels = next(iter(test))
    assert type(images) is (mx.np.ndarray if kind == "np" else mx.nd.NDArray)
    assert (np.dtype(images.dtype), np.dtype(labels.dtype)) == ("float32", "int32")


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


@pytest.mark.parametrize("number", [0, -1, 1.5, "2", None, True, float("nan")])
def test_no_devices_are_no_engine(number):
    """Fewer than one device, and what is no number of them, is refused before anything is set."""
    with pytest.raises(ValueError, match=f"devices={number!r}, but a whole number"):
        configure_engine(number)


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
