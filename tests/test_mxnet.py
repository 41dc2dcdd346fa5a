import subprocess
import sys
import threading
import time
from multiprocessing.pool import ThreadPool
from types import SimpleNamespace

import mxnet as mx
import numpy as np
import pytest
from PIL import Image

from d2lhelpers import Timeline, allreduce, configure_engine, devices, evaluate_accuracy
from d2lhelpers.exercises import check
from d2lhelpers.mxnet import lines_that_wait, loading
from d2lhelpers.mxnet.loading import Loads, begun_early, begun_inside, draw_pictures, kind, start_threads
from d2lhelpers.timeline import Operator


def test_every_device_adds_its_part():
    """Every device adds up a part of large arrays, and all-reduce returns while they are still being computed."""
    x = [mx.nd.ones((1500, 1500), ctx=mx.cpu(i)) for i in (0, 1)]

    def reduce_products():
        allreduce([mx.nd.dot(mx.nd.dot(each, each), each) for each in x])

    timeline = Timeline.best(reduce_products, lambda record: -record.returned / record.end, enough=-0.5)
    assert {o.device for o in timeline.operators if o.name == "add_n"} == {"cpu(0)", "cpu(1)"}
    assert timeline.returned < timeline.end / 2


def test_allreduce_of_gradients():
    """Gradients and parameters are summed in place where autograd keeps them, even while it records."""
    weights = [mx.np.ones(4, ctx=mx.cpu(i)) for i in (0, 1)]
    for weight in weights:
        weight.attach_grad()
    with mx.autograd.record():
        mx.autograd.backward([w * (i + 1) for i, w in enumerate(weights)])
    with mx.autograd.record():
        allreduce([weight.grad for weight in weights])
        allreduce(weights)
    assert [w.grad.asnumpy().tolist() for w in weights] == [[3] * 4] * 2
    assert [w.asnumpy().tolist() for w in weights] == [[2] * 4] * 2


def test_allreduce_takes_both_kinds_of_arrays():
    """An array of mx.np and one of mx.nd are summed as two of one kind are."""
    data = [mx.np.ones(3, ctx=mx.cpu(0)), mx.nd.ones(3, ctx=mx.cpu(1))]
    allreduce(data)
    assert [array.asnumpy().tolist() for array in data] == [[2] * 3] * 2


def test_allreduce_refuses_sparse_arrays():
    """Sparse arrays are refused, because add_n would drop the rows that the first one lacks."""
    with pytest.raises(TypeError, match=r"RowSparseNDArray.*dense MXNet arrays"):
        allreduce([mx.nd.ones((2, 2), ctx=mx.cpu(i)).tostype("row_sparse") for i in (0, 1)])


@pytest.mark.parametrize("size", [5, 1 << 21])
def test_allreduce_where_devices_share_no_memory(monkeypatch, size):
    """On a machine with a GPU, arrays are copied to the device that sums them, and the sums are the same."""
    monkeypatch.setattr(mx.context, "num_gpus", lambda: 1)
    data = [mx.nd.ones((size,), ctx=mx.cpu(i)) * i for i in range(3)]
    allreduce(data)
    assert all((array.asnumpy() == 3).all() for array in data)


def test_accuracy_is_measured_without_dropout():
    """Even while autograd records, the accuracy is measured without dropout, and no gradient is recorded."""
    dropout = mx.gluon.nn.Dropout(0.9)
    recorded = []

    def forward(F, x):
        recorded.append(mx.autograd.is_recording())
        return dropout(x)

    batches = [(mx.nd.array(np.eye(3).repeat(50, 0)), mx.nd.array(np.arange(3).repeat(50)))]
    with mx.autograd.record():
        net = mx.gluon.nn.HybridLambda(forward)
        assert evaluate_accuracy(batches, net, devices(2, "cpu")) == 1
    assert recorded == [False, False]


def run(program):
    """Run a program in a fresh process."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)


def counted(number, noun):
    """Return a number and its noun, in the plural if there is not just one."""
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"


@pytest.mark.parametrize(("devices", "cores", "threads"), [(1, 16, 16), (2, 16, 1), (64, 1, 1)])
def test_the_engine_is_configured_before_mxnet(devices, cores, threads):
    """One device gets a thread per core, several get one each, and products finish; changing this later is an error."""
    other = 2 if devices == 1 else 1
    result = run(f"""
import os, sys
os.sched_getaffinity = lambda process: range({cores})
from d2lhelpers import configure_engine
settings = configure_engine(devices={devices})
assert settings["OMP_NUM_THREADS"] == "{threads}" and settings.items() <= os.environ.items()
assert "mxnet" not in sys.modules
import mxnet as mx
assert configure_engine(devices={devices}) == settings
x = [mx.nd.ones((600, 600), ctx=mx.cpu(i)) for i in range(min(2, {devices}))]
for array in x * 5:
    mx.nd.dot(array, array)
mx.nd.waitall()
os.sched_getaffinity = lambda process: range(9)
configure_engine(devices={other})
""")
    assert "RuntimeError: configure_engine: MXNet is already imported; restart the kernel" in result.stderr
    note = " (on 1 core, devices take turns)" if cores == 1 else ""
    line = (f"engine: {counted(devices, 'device')}, 1 worker and {counted(threads, 'OpenMP thread')} "
            f"per device, 64 workspaces{note}")
    assert result.stdout.splitlines() == [line, line]


def test_devices_take_turns_on_one_core(monkeypatch, capsys):
    """On one core the two devices that are the default are said to take turns, but not a single one."""
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0}, raising=False)
    configure_engine()
    configure_engine(devices=1)
    assert capsys.readouterr().out.splitlines() == [
        "engine: 2 devices, 1 worker and 1 OpenMP thread per device, 64 workspaces (on 1 core, devices take turns)",
        "engine: 1 device, 1 worker and 1 OpenMP thread per device, 64 workspaces"]


def test_no_devices_are_refused():
    """An engine for no devices is refused."""
    result = run("from d2lhelpers import configure_engine; configure_engine(devices=0)")
    assert "ValueError: configure_engine: devices=0; at least one is needed" in result.stderr


def test_helpers_leave_the_interface_alone():
    """The helpers leave NumPy semantics on or off as they are, and make arrays of the interface that is in use."""
    result = run("""
import d2lhelpers as h, mxnet as mx, numpy
for on in (False, True):
    if on:
        mx.npx.set_np()
    else:
        mx.npx.reset_np()
    train, test = h.load_data(200, dataset="digits")
    cpus = h.devices(2, kind="cpu")
    for images, labels in test:
        h.allreduce(h.split_and_load(images, cpus))
    h.evaluate_accuracy(test, lambda x: x.reshape((x.shape[0], -1)), cpus)
    assert mx.util.is_np_array() == mx.util.is_np_shape() == on
    kinds = {type(images), type(h.split_and_load(numpy.zeros(2), cpus)[0])}
    assert kinds == {mx.np.ndarray if on else mx.nd.NDArray}
""")
    assert result.returncode == 0, result.stderr


def test_the_line_that_waits_is_named():
    """`lines_that_wait` counts by lines: through functions, in masks and loops, and not where nothing waits."""
    mx.npx.set_np()
    try:
        y = mx.np.ones(3)

        def positive(array):
            return array[array > 0]

        def work():
            for _ in range(2):
                largest = max(y[:1], 1)  # Python's own max asks which is larger
            text = f"{positive(y)} {largest.shape}"
            return mx.np.where(y > 0, y, 0), text

        assert lines_that_wait(work) == {
            "largest = max(y[:1], 1)  # Python's own max asks which is larger": 2,
            "return array[array > 0]": 1,
            'text = f"{positive(y)} {largest.shape}"': 1}
        assert lines_that_wait(lambda: y + 1) == {}
    finally:
        mx.npx.reset_np()


def test_lines_that_wait_leaves_the_profile_function_alone():
    """After `lines_that_wait`, and after an error in it, Python's profile function is the one that was set before."""
    def own(*_):
        pass

    sys.setprofile(own)
    try:
        lines_that_wait(lambda: None)
        with pytest.raises(ZeroDivisionError):
            lines_that_wait(lambda: 1 / 0)
        found = sys.getprofile()
    finally:
        sys.setprofile(None)
    assert found is own


def test_each_thread_that_loads_has_a_row():
    """Threads that load are rows of the Timeline; a batch counts as begun early if it is begun during a step."""
    loads = Loads()
    weight = mx.nd.ones(1000)

    def load(batch):
        with loads.of_batch(batch):
            sum(range(100))

    def work():
        for batch in 0, 1, 2:
            load(batch)
            mx.nd.sgd_update(weight, weight, lr=0.1, out=weight)
            weight.wait_to_read()
        other = threading.Thread(target=load, args=(3,))
        other.start()
        other.join()

    record = loads.timeline(work)
    names = [(each.name, each.device) for each in record.operators if each.device.startswith("thread")]
    assert names == [*((f"load {batch}", "thread 0") for batch in (0, 1, 2)), ("load 3", "thread 1")]
    assert begun_early(record) == 0


def test_of_decoded_pictures_the_first_of_a_batch_counts():
    """A batch that MXNet's own decoder makes begins with the first of its pictures, and the last step hides nothing."""
    record = Timeline()
    steps = [Operator("sgd_update", "cpu(0)", end - 1, end) for end in (3, 6, 9)]
    pictures = [Operator("Imdecode", "cpu(0)", start, start + 0.1) for start in (0, 1, 2, 5, 7, 7.5)]
    record._keep([*steps, *pictures, Operator("dot", "cpu(0)", 0, 9)])
    assert begun_early(record, per_batch=2) == 1
    assert begun_early(record) == 2


@pytest.mark.parametrize(("counts", "best", "left"), [([3, 9, 12, 5], 12, [5]), ([3, 1, 2, 0, 12], 3, [12])])
def test_the_best_record_has_the_most_batches_begun_early(monkeypatch, counts, best, left):
    """The best of four records is returned, or the first in which ten batches were begun early."""
    loads, counts = Loads(), [*counts]
    monkeypatch.setattr(loads, "timeline", lambda work: counts.pop(0))
    monkeypatch.setattr(loading, "begun_early", lambda record, per_batch: record)
    assert (loads.best(print), counts) == (best, left)


def test_pictures_are_the_same_ones_each_time(tmp_path):
    """Each file has a grey picture of its own, of the size that was asked for, and the next call draws it again."""
    drawn = []
    for folder in tmp_path / "one", tmp_path / "other":
        folder.mkdir()
        drawn.append([Image.open(file) for file in draw_pictures(folder, 3, 20)])
    assert {(each.size, each.mode) for each in drawn[0]} == {((20, 20), "L")}
    assert [each.tobytes() for each in drawn[0]] == [each.tobytes() for each in drawn[1]]
    assert len({each.tobytes() for each in drawn[0]}) == 3


def test_what_loads_a_picture_is_no_step():
    """A plot shows a thread's own loading and MXNet's decoder as loading, everything else as the step."""
    names = "load 3", "Imdecode", "cvimresize", "dot"
    assert [kind(Operator(name, "cpu(0)", 0, 1)) for name in names] == ["load", "load", "load", "step"]


def test_all_threads_of_a_loader_have_started():
    """Afterwards each thread is ready, not only the quickest; a loader without threads has none to start."""
    started = []
    with ThreadPool(3, initializer=lambda: (time.sleep(0.2 * len(started)), started.append(1))) as pool:
        start_threads(SimpleNamespace(_worker_pool=pool))
        assert len(started) == 3
    start_threads(SimpleNamespace(_worker_pool=None))


def test_a_call_that_keeps_the_lock_is_not_overtaken():
    """Only calls that release Python's lock by themselves are overtaken, and the switch interval is what it was."""
    before = sys.getswitchinterval()
    assert begun_inside(lambda _: time.sleep(0.001)) > 5
    assert begun_inside(lambda _: [number ^ 1 for number in range(10_000)]) < 5
    assert sys.getswitchinterval() == before


def test_an_error_of_earlier_work_is_not_the_answers():
    """A check does not take an error in work that was begun before it for one in the answer, which it still finds."""
    def fails():
        return mx.np.random.normal(0, -1, (2, 2))

    def answer():
        return mx.np.ones(2)

    rule = "fails", lambda answer: [answer(), mx.nd.waitall()], ""
    fails()
    assert check(answer, rule)
    assert not check(fails, rule)
    assert check(answer, rule)
