import gc
import itertools
import json
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2lhelpers import Timeline
from d2lhelpers.timeline import Operator


@pytest.fixture
def mx():
    """Return MXNet, where it is installed."""
    return pytest.importorskip("mxnet")


@pytest.fixture
def over_torch():
    """Return the module of PyTorch's Timeline, where PyTorch is installed."""
    pytest.importorskip("torch")
    return import_module("d2lhelpers.torch.timeline")


@pytest.fixture(params=["mx", "over_torch"])
def track(request):
    """Return each track's Timeline and a function that runs exp."""
    module = request.getfixturevalue(request.param)
    if request.param == "mx":
        return Timeline, module.nd.ones(10).exp
    return module.Timeline, module.torch.ones(10).exp


def made(*operators):
    """Return a Timeline of operators that were not measured, given as (name, device, start, end)."""
    timeline = Timeline()
    timeline._keep([Operator(*operator) for operator in operators], 1.0)
    return timeline


def names(timeline):
    """Return the names of a Timeline's operators."""
    return [operator.name for operator in timeline.operators]


def test_it_shows_what_ran_and_where(mx):
    """The operators of the block are shown with their devices, in order, undelayed by what was queued before."""
    x = [mx.nd.ones((1000, 1000), ctx=mx.cpu(i)) for i in (0, 1)]
    start = time.perf_counter()
    for _ in range(20):
        y = mx.nd.dot(x[0], x[0])
    with Timeline() as timeline:
        backlog = time.perf_counter() - start
        for array in (y, y, y, x[1]):
            array.exp()
    assert sorted((o.name, o.device) for o in timeline.operators) == [("exp", "cpu(0)")] * 3 + [("exp", "cpu(1)")]
    assert timeline.operators == sorted(timeline.operators, key=lambda o: o.start)
    assert timeline.operators[0].start < backlog / 2
    assert (timeline.calls, timeline.memory) == (4, [])


def test_two_devices_overlap_and_python_is_back_first(mx):
    """Operators on two CPU devices overlap, and most start after Python has returned, unless it waits for a result."""
    x = [mx.nd.ones((1000, 1000), ctx=mx.cpu(i)) for i in (0, 1)]
    timeline = Timeline.best(lambda: [mx.nd.dot(array, array) for array in x * 8],
                             lambda record: record.overlap(mx.cpu(0), mx.cpu(1)), enough=0.5)
    assert timeline.overlap(mx.cpu(0), mx.cpu(1)) > 0.3
    assert timeline.returned < timeline.operators[8].start
    assert timeline.waits == []
    with Timeline() as timeline:
        for _ in range(8):
            y = mx.nd.dot(x[0], x[0])
        y.asnumpy()
    [(start, end)] = timeline.waits
    assert start < timeline.operators[-1].end <= end <= timeline.returned


@pytest.mark.parametrize(("enough", "best", "left"), [(4, 4, [2, 1]), (9, 4, [])])
def test_the_best_record(track, enough, best, left):
    """Timeline.best stops at the first record that is good enough, and otherwise returns the best of all."""
    cls, run = track
    counts = iter([1, 4, 2, 1])

    def run_some():
        for _ in range(next(counts)):
            run()

    timeline = cls.best(run_some, lambda record: len(record.operators), enough, 4)
    assert names(timeline) == ["exp"] * best
    assert list(counts) == left


def test_the_best_of_ten(monkeypatch):
    """If nothing is enough, Timeline.best takes ten records, and waits longer before each for other programs to end."""
    pauses, ends = [], iter([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 10])
    monkeypatch.setattr(Timeline, "_begin", lambda self: None)
    monkeypatch.setattr(Timeline, "_finish", lambda self: ([], next(ends)))
    monkeypatch.setattr("time.sleep", pauses.append)
    assert Timeline.best(list, lambda record: record.end).end == 9
    assert pauses == pytest.approx([0.05 * number for number in range(10)])


def test_it_can_be_used_again(track):
    """A Timeline can be used again, but not nested; an exception passes through and leaves the Timeline empty."""
    cls, run = track
    with cls() as outer:
        with pytest.raises(RuntimeError, match="already"), cls():
            pass
        run()
    assert names(outer) == ["exp"]
    with pytest.raises(KeyError), outer:
        run()
        raise KeyError
    assert names(outer) == outer.devices == []


FRESH = """
import contextlib, os, pickle, sys
if "one core" in sys.argv:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import mxnet as mx
from d2lhelpers.mxnet import timeline
with contextlib.suppress(mx.base.MXNetError), timeline.Timeline():
    failed = mx.nd.random.normal(0, -1, (2, 2))
assert timeline._recorder.processes[0] == "cpu/0", timeline._recorder.processes
x = [mx.nd.ones((300, 300), ctx=mx.cpu(i)) for i in (0, 1)]
with timeline.Timeline(memory=True) as record:
    for array in x * 2:
        mx.nd.dot(array, array)
    (mx.nd.dot(x[1], x[1]) - x[0].as_in_context(mx.cpu(1))).as_in_context(mx.cpu(0))
with open(sys.argv[1], "wb") as file:
    pickle.dump(record, file)
"""


@pytest.mark.parametrize("engine", ["NaiveEngine", "ThreadedEnginePerDevice", "one core"])
def test_it_comes_back_from_another_process(mx, engine, tmp_path, monkeypatch):
    """An operator's late error reaches the caller, the devices keep their names; the next record can be pickled."""
    kind = "NaiveEngine" if engine == "NaiveEngine" else "ThreadedEnginePerDevice"
    monkeypatch.setenv("MXNET_ENGINE_TYPE", kind)
    subprocess.run([sys.executable, "-c", FRESH, tmp_path / "record", engine], check=True, timeout=100)
    timeline = pickle.loads((tmp_path / "record").read_bytes())
    assert sorted(o.device for o in timeline.operators if o.name == "dot") == ["cpu(0)"] * 2 + ["cpu(1)"] * 3
    assert max(size for _, size in timeline.memory) >= 300 * 300 * 4
    if engine == "NaiveEngine":
        assert timeline.overlap("cpu(0)", "cpu(1)") == 0
        assert timeline.returned >= timeline.operators[-1].end


def test_memory_starts_at_zero(mx):
    """Memory starts at 0, whatever was allocated before, and counts what every device allocates."""
    gc.collect()  # so that no array of another test is freed meanwhile
    kept = []
    for _ in range(2):
        with Timeline(memory=True) as timeline:
            kept.append([mx.nd.ones((1000,), ctx=mx.cpu(i)) for i in (0, 1)])
        assert timeline.memory[0] == (0, 0)
        assert [size for _, size in timeline.memory][1:] == [4000, 8000]
    with pytest.raises(ValueError, match=r"Timeline\(memory=True\)"):
        made().plot_memory()


def test_page_locked_copies_belong_to_their_device(mx):
    """A KVStore's copies through page-locked memory are shown on the device that copies, not on one of their own."""
    store = mx.kv.create("local")
    values = [mx.nd.ones((9,), ctx=mx.cpu(i)) for i in (0, 1)]
    store.init(0, values[0])
    with Timeline() as timeline:
        store.pushpull(0, values, out=values)
    assert timeline.devices == ["cpu(0)", "cpu(1)"]


def test_mxnet_reads_a_record():
    """Operators are shown where they ran, calls before the end count, waits of Python's thread, and memory by time."""
    module = import_module("d2lhelpers.mxnet.timeline")
    recorder = module._Recorder()
    recorder.processes = {0: "cpu/0", 1: "cpu/1", 2: "cpu pinned/"}
    recorder.levels = {"Memory: cpu/0": 8}

    def spans(kinds, *spans):
        return [{"name": name, "ph": kind, "ts": 1e6 + seconds * 1e6, "pid": process, "tid": thread}
                for name, process, thread, *ends in spans for kind, seconds in zip(kinds, ends, strict=True)]

    def level(seconds, name, size):
        return {"name": name, "ph": "C", "ts": 1e6 + seconds * 1e6, "pid": 5, "tid": 7, "args": {name: size}}

    operators, *rest = recorder.read([
        *spans("n", (module.BEGIN, 9, 1, 0), (module.END, 9, 1, 6)),
        *spans("BE", ("dot", 0, 7, 1, 3), ("_npi_exp", 1, 8, 2, 4), ("CopyCPU2CPU", 2, 8, 4, 5), ("_add", 3, 9, 1, 2),
               ("DeleteVariable", 0, 7, 4, 5)),
        *spans("be", ("MXImperativeInvokeEx", 4, 1, 1, 6), ("MXKVStorePushPullEx", 4, 6, 1, 2),
               ("MXNDArrayFree", 4, 1, 1, 2), ("MXImperativeInvokeEx", 4, 1, 6, 7), ("MXNDArrayWaitAll", 4, 1, 2, 5),
               ("MXNDArrayWaitAll", 4, 6, 2, 5), ("MXNDArrayWaitAll", 4, 1, 6, 7)),
        level(3, "Memory: cpu/0", 4), level(2, "Memory: cpu/1", 16),
        level(2, "Memory: cpu/0", 20), level(2, "Memory: cpu/0", 24)])
    assert operators == [("dot", "cpu(0)", 1, 3), ("exp", "cpu(1)", 2, 4), ("CopyCPU2CPU", "cpu(1)", 4, 5),
                         ("add", "cpu(3)", 1, 2)]
    assert rest == [6, 2, [(2, 5)], [(0, 0), (2, 12), (2, 16), (2, 32), (3, 12)]]


@given(st.lists(st.tuples(st.sampled_from(["cpu(0)", "cpu(1)"]), st.integers(0, 30), st.integers(0, 30)), min_size=1))
def test_busy_and_overlap_are_what_counting_gives(spans):
    """Busy time and overlap equal a count of whole seconds for any operators, even empty, nested and repeated ones."""
    timeline = made(*(("a", device, min(a, b), max(a, b)) for device, a, b in spans))
    seconds = {device: set() for device in timeline.devices}
    for operator in timeline.operators:
        seconds[operator.device].update(range(operator.start, operator.end))
    for device, own in seconds.items():
        assert timeline.busy(device) == len(own)
        assert timeline.utilization[device] == pytest.approx(len(own) / timeline.end, abs=0.001)
    for one, other in itertools.combinations(seconds, 2):
        shorter = min(len(seconds[one]), len(seconds[other]))
        shared = len(seconds[one] & seconds[other])
        assert timeline.overlap(one, other) == pytest.approx(shared / max(1, shorter))


def test_as_the_last_line_of_a_cell_it_shows_its_figures():
    """A Timeline's text says how much ran where, how long Python took, and how often Python called and waited."""
    timeline = Timeline()
    timeline._keep([Operator("dot", "cpu(0)", 0.1, 0.4)], 0.2, 3, [(0.1, 0.2)])
    assert repr(timeline) == ("1 operators in 400.00 ms: cpu(0) busy 75%\n"
                              "Python: 3 calls, 1 waits, done after 200.00 ms")
    assert repr(Timeline()) == ("0 operators in 0.00 ms: no operators\n"
                                "Python: 0 calls, 0 waits, done after 0.00 ms")
    assert made(("a", "one", 0, 1), ("a", "two", 0, 3)).utilization == {"one": 0.333, "two": 1}


def test_an_idle_device_is_named():
    """Asking about an idle device raises a ValueError that lists the others in numerical order."""
    timeline = made(*(("a", name, 0, 1) for name in ("cpu(10)", "cpu(2)")))
    with pytest.raises(ValueError, match=r"no operator on cpu\(7\); it shows \['cpu\(2\)', 'cpu\(10\)'\]"):
        timeline.busy("cpu(7)")


def test_save_writes_a_chrome_trace(tmp_path):
    """A saved record is a Chrome trace: one named row per device, and every operator with its microseconds."""
    made(("a", "cpu(0)", 0.5, 1.5), ("b", "cpu(1)", 1, 2)).save(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert len({event["pid"] for event in events}) == 1
    rows = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    spans = {event["name"]: (rows[event["tid"]], event["ts"], event["dur"]) for event in events if event["ph"] == "X"}
    assert spans == {"the block's lines": ("Python", 0, 1e6), "a": ("cpu(0)", 0.5e6, 1e6), "b": ("cpu(1)", 1e6, 1e6)}


def test_torch_shows_the_outermost_operators(over_torch):
    """Only outermost operators are shown, also in a backward pass; on a CPU they end before Python goes on."""
    x = over_torch.torch.ones(300, 300, requires_grad=True)
    with over_torch.Timeline() as timeline:
        (x @ x).relu().sum().backward()
    assert names(timeline)[:3] == ["matmul", "relu", "sum"]
    assert {"SumBackward0", "ReluBackward0"} < set(names(timeline))
    assert timeline.devices == ["cpu"]
    assert timeline.calls == 4  # three operators, and the backward pass, whose steps Python does not call
    assert max(o.end for o in timeline.operators) <= timeline.returned
    assert pickle.loads(pickle.dumps(timeline)).operators == timeline.operators


def test_torch_has_a_row_per_thread(over_torch):
    """Other threads have rows of their own, and their operators overlap if they run at the same time."""
    x = over_torch.torch.ones(400, 400)
    meet = threading.Barrier(2)

    def multiply(_):
        meet.wait(20)
        for _ in range(10):
            x @ x

    def multiply_in_threads():
        list(pool.map(multiply, range(2)))
        x.exp()

    with ThreadPoolExecutor(2) as pool:
        timeline = over_torch.Timeline.best(
            multiply_in_threads, lambda record: record.overlap("cpu thread 1", "cpu thread 2"), enough=0.5)
    assert timeline.devices == ["cpu", "cpu thread 1", "cpu thread 2"]
    assert timeline.overlap("cpu thread 1", "cpu thread 2") > 0.2


def test_torch_reads_a_record_of_gpus(over_torch):
    """Kernels and copies have a row per device, or per stream if it has several; waits and calls are counted."""
    def event(cat, name, ts, dur, tid=7, **args):
        return {"ph": "X", "cat": cat, "name": name, "tid": tid, "ts": ts, "dur": dur, "args": args}

    operators, *rest = over_torch._read([
        event("user_annotation", over_torch.BLOCK, 1e6, 9e6), event("gpu_user_annotation", over_torch.BLOCK, 4e6, 5e6),
        event("user_annotation", "a reader's own", 2e6, 1e6), event("cpu_op", "aten::empty", 2e6, 1e5),
        event("cpu_op", "aten::mm", 2e6, 1e6), event("cpu_op", "aten::add", 3e6, 1e6, tid=8),
        event("kernel", "gemm", 4e6, 2e6, device=0, stream=7),
        event("kernel", "void at::native::(anonymous namespace)::add<float, std::array<char*, 2> >(at::Params)",
              5e6, 2e6, device=1, stream=7),
        event("cuda_runtime", "cudaStreamSynchronize", 6e6, 3e6),
        event("cuda_runtime", "cudaStreamSynchronize", 3e6, 1e6, tid=8),
        event("gpu_memcpy", "Memcpy PtoP", 7e6, 1e6, fromDevice=0, inDevice=1, toDevice=1, stream=7),
        event("gpu_memcpy", "Memcpy HtoD", 4e6, 1e6, device=0, stream=20),
        event("cuda_runtime", "cudaDeviceSynchronize", 10e6, 1e6), event("cpu_op", "aten::zeros", 5e5, 1e5),
        event("kernel", "before the block", 6e5, 1e5, device=0, stream=7)])
    assert sorted((o.name, o.device, o.start, o.end) for o in operators) == [
        ("Memcpy HtoD", "cuda:0 stream 20", 3, 4), ("Memcpy PtoP", "cuda:1", 6, 7), ("add", "cpu thread 1", 2, 3),
        ("add", "cuda:1", 4, 6), ("gemm", "cuda:0 stream 7", 3, 5), ("mm", "cpu", 1, 2)]
    assert rest == [9, 2, [(5, 8)]]


def test_torch_shows_a_gpus_queue(over_torch):
    """On a GPU, Python reaches the end of the block before the kernels that it has queued are done."""
    if not over_torch.torch.cuda.is_available():
        pytest.skip("there is no GPU here")
    x = over_torch.torch.ones(8000, 8000, device="cuda")
    x @ x
    with over_torch.Timeline() as timeline:
        [x @ x for _ in range(5)]
    assert timeline.devices == ["cpu", "cuda:0"]
    assert timeline.returned < timeline.end / 2
