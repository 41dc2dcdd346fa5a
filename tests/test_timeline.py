import json
import time
from importlib.util import find_spec

import matplotlib
import mxnet as mx
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jupyter_client.manager import start_new_kernel

from d2lhelpers import Timeline
from d2lhelpers.process import in_fresh_process
from d2lhelpers.timeline import Operator

matplotlib.use("Agg")


def made(*operators):
    """Return a Timeline of (name, device, start, end) that were not measured."""
    timeline = Timeline()
    timeline.operators = [Operator(*operator) for operator in operators]
    timeline.returned, timeline.end = 1.0, max(operator[3] for operator in operators)
    return timeline


def test_it_shows_what_ran_and_where():
    """The operators of the block, and no others, are shown with their devices, in order, within the block's time."""
    x = [mx.nd.ones((200, 200), ctx=mx.cpu(i)) for i in (0, 1)]
    x[0].log()
    with Timeline() as timeline:
        for _ in range(3):
            x[0].exp()
        x[1].sqrt()
    assert sorted((o.name, o.device) for o in timeline.operators) == [("exp", "cpu(0)")] * 3 + [("sqrt", "cpu(1)")]
    starts = [o.start for o in timeline.operators]
    assert starts == sorted(starts)
    assert all(-0.01 < o.start <= o.end <= timeline.end for o in timeline.operators)
    assert timeline.devices == ["cpu(0)", "cpu(1)"]


def test_python_returns_before_the_work_is_done():
    """Python reaches the end of a block that queues long operators long before they end."""
    x = mx.nd.ones((1000, 1000))
    timeline = Timeline.best(lambda: [mx.nd.dot(x, x) for _ in range(10)],
                             lambda record: -record.returned / record.end, enough=-0.5)
    assert timeline.returned < timeline.end / 2
    assert sum(o.end > timeline.returned for o in timeline.operators) > 5


def test_what_is_queued_before_is_left_out():
    """Work that was queued before the block is waited for: it is not recorded, and it does not delay the block."""
    x = mx.nd.ones((1000, 1000))
    start = time.perf_counter()
    for _ in range(20):
        y = mx.nd.dot(x, x)
    with Timeline() as timeline:
        y.exp()
    assert [o.name for o in timeline.operators] == ["exp"]
    assert timeline.end < (time.perf_counter() - start) / 2


@pytest.mark.parametrize(("enough", "runs"), [(1, 1), (3, 2), (5, 4), (9, 4)])
def test_the_best_record(enough, runs, monkeypatch):
    """Timeline.best records until one record has enough of what is asked for, then no longer, and returns the best."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    x, counts = mx.nd.ones((10, 10)), iter([1, 4, 2, 5])
    timeline = Timeline.best(lambda: [x.exp() for _ in range(next(counts))], lambda record: len(record.operators),
                             enough, of=4)
    assert len(list(counts)) == 4 - runs
    assert len(timeline.operators) == [1, 4, 4, 5][runs - 1]
    with pytest.raises(ValueError, match="best of 0 records"):
        Timeline.best(x.exp, lambda record: 1, of=0)


def test_an_empty_block_is_empty():
    """A block without operators shows none, and no devices."""
    with Timeline() as timeline:
        pass
    assert timeline.operators == timeline.devices == []


def test_it_can_be_used_many_times():
    """One kernel can record again and again, each record its own."""
    x = mx.nd.ones((10, 10))
    for count in (1, 3, 2):
        with Timeline() as timeline:
            for _ in range(count):
                x.exp()
        assert [o.name for o in timeline.operators] == ["exp"] * count


def test_one_that_was_not_used_is_empty(tmp_path):
    """A Timeline whose block has not run has no devices, and can be drawn, saved and asked all the same."""
    import matplotlib.pyplot as plt

    timeline = Timeline()
    assert timeline.operators == timeline.devices == []
    timeline.plot(plt.subplots()[1])
    plt.close("all")
    timeline.save(tmp_path / "trace.json")
    assert len(json.loads((tmp_path / "trace.json").read_text())["traceEvents"]) == 2
    for nothing in (None, 3, "", mx.cpu(0)):
        with pytest.raises(ValueError, match=r"shows no operator on .*; it shows none at all"):
            timeline.overlap(nothing, nothing)


SPANS = st.lists(st.tuples(st.sampled_from(["cpu(0)", "cpu(1)"]), st.integers(0, 30), st.integers(0, 30)), min_size=1)


@given(SPANS)
def test_busy_and_overlap_are_what_counting_gives(spans):
    """Any operators, empty, nested and repeated ones too, are busy and overlap as counting whole seconds says."""
    spans = sorted((min(a, b), max(a, b), device) for device, a, b in spans)
    timeline = made(*(("a", device, start, end) for start, end, device in spans))
    seconds = {device: {second for start, end, each in spans if each == device for second in range(start, end)}
               for device in timeline.devices}
    for device in timeline.devices:
        assert timeline.busy(device) == len(seconds[device])
    if len(seconds) == 2:
        one, other = seconds.values()
        share = len(one & other) / (min(len(one), len(other)) or 1)
        assert timeline.overlap("cpu(0)", "cpu(1)") == pytest.approx(share)


def test_two_devices_really_overlap():
    """Long operators on two CPU devices run side by side, and the Timeline shows it."""
    x = [mx.nd.ones((3_000_000,), ctx=mx.cpu(i)) for i in (0, 1)]
    timeline = Timeline.best(lambda: [array.exp() for _ in range(4) for array in x],
                             lambda record: record.overlap(mx.cpu(0), mx.cpu(1)), enough=0.5)
    assert timeline.overlap(mx.cpu(0), mx.cpu(1)) > 0.3


def test_one_inside_another_is_refused():
    """A Timeline inside another is a RuntimeError, and the outer one still works."""
    x = mx.nd.ones((10, 10))
    with Timeline() as outer:
        with pytest.raises(RuntimeError, match="already"), Timeline():
            pass
        x.exp()
    assert [o.name for o in outer.operators] == ["exp"]


def test_an_exception_passes_through():
    """An exception in the block passes through, nothing is kept, and the next Timeline works."""
    timeline = Timeline()
    with pytest.raises(KeyError), timeline:
        mx.nd.ones((2,)).exp()
        raise KeyError
    assert timeline.operators == []
    with Timeline() as timeline:
        mx.nd.ones((2,))
    assert [o.name for o in timeline.operators] == ["ones"]


def test_a_late_error_passes_through():
    """An operator's error that surfaces at the drain passes through, and the next Timeline works."""
    with pytest.raises(mx.base.MXNetError), Timeline():
        mx.nd.random.normal(0, -1, (2, 2))
    with Timeline() as timeline:
        mx.nd.ones((2,))
    assert [o.name for o in timeline.operators] == ["ones"]


def test_no_file_is_left(tmp_path, monkeypatch):
    """Recording leaves no file in the working folder."""
    monkeypatch.chdir(tmp_path)
    with Timeline():
        mx.nd.ones((2,))
    assert list(tmp_path.iterdir()) == []


def test_overlap_counts_shared_time():
    """The overlap is the shared busy time over the less busy device's, idle gaps and double cover left out."""
    timeline = made(("a", "cpu(0)", 0, 5), ("b", "cpu(0)", 3, 4), ("c", "cpu(0)", 8, 9), ("d", "cpu(1)", 4, 8.5))
    assert timeline.busy("cpu(0)") == 6
    assert timeline.busy("cpu(1)") == 4.5
    assert timeline.overlap("cpu(0)", "cpu(1)") == timeline.overlap("cpu(1)", "cpu(0)") == pytest.approx(1.5 / 4.5)


def test_in_turns_there_is_no_overlap():
    """Devices that work in turns do not overlap, and a device overlaps wholly with itself."""
    timeline = made(("a", "cpu(0)", 0, 1), ("a", "cpu(1)", 1, 2))
    assert timeline.overlap("cpu(0)", "cpu(1)") == 0
    assert timeline.overlap("cpu(0)", "cpu(0)") == 1


def test_an_idle_device_is_named():
    """Asking about a device that ran nothing is a ValueError that names those that did."""
    with pytest.raises(ValueError, match=r"cpu\(7\).*cpu\(0\)"):
        made(("a", "cpu(0)", 0, 1)).busy(mx.cpu(7))


def test_plot_has_a_row_a_device():
    """The plot has a row for Python and one a device, an entry a name, and units; the rarest names share one entry."""
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    names = "abcdefgh"
    timeline = made(*((name, f"cpu({i % 2})", i, i + 1 - i / 100) for i, name in enumerate(names)))
    assert timeline.plot(ax) is None
    assert [label.get_text() for label in ax.get_yticklabels()] == ["Python", "cpu(0)", "cpu(1)"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c", "d", "e", "f", "2 others"]
    assert "seconds" in ax.get_xlabel()
    plt.close("all")


def test_rows_are_in_the_order_of_their_numbers():
    """Devices are listed by their numbers, the second one before the tenth."""
    timeline = made(*(("a", name, 0, 1) for name in ("cpu(10)", "gpu(0)", "cpu(2)", "cpu thread 10", "cpu thread 9")))
    assert timeline.devices == ["cpu thread 9", "cpu thread 10", "cpu(2)", "cpu(10)", "gpu(0)"]


def first_record():
    """Return what a Timeline shows of a process's first product."""
    import mxnet as mx

    from d2lhelpers import Timeline

    x = mx.nd.ones((300, 300))
    with Timeline() as timeline:
        mx.nd.dot(x, x)
    return [operator.name for operator in timeline.operators]


def test_the_first_record_shows_the_readers_operators_alone():
    """What the engine does once for itself before a process's first operator is not shown as an operator."""
    assert in_fresh_process(first_record) == ["dot"]


def test_every_name_is_in_the_legend():
    """An operator whose name begins with an underscore has its entry in the legend, too."""
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    made(("_unique2", "cpu", 0, 3), ("add", "cpu", 3, 4)).plot(ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["unique2", "add"]


def test_plot_takes_labels():
    """Operators with one label share an entry of the legend."""
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    made(("dot", "cpu(0)", 0, 3), ("exp", "cpu(0)", 3, 4), ("copy", "cpu(0)", 4, 6)).plot(
        ax, label=lambda operator: "copy" if operator.name == "copy" else "compute")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["compute", "copy"]
    plt.close("all")


def test_save_writes_a_chrome_trace(tmp_path):
    """A saved record is a Chrome trace: a named row a device, and every operator with its time in microseconds."""
    path = tmp_path / "trace.json"
    made(("a", "cpu(0)", 0.5, 1.5), ("b", "cpu(1)", 1, 2)).save(path)
    events = json.loads(path.read_text())["traceEvents"]
    rows = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    spans = {event["name"]: (rows[event["tid"]], event["ts"], event["dur"]) for event in events if event["ph"] == "X"}
    assert spans["a"] == ("cpu(0)", 0.5e6, 1e6)
    assert spans["b"] == ("cpu(1)", 1e6, 1e6)
    assert spans["the block's lines"] == ("Python", 0, 1e6)


TRACKS = {  # what each track's kernel imports, a line of work and the operator it runs
    "mxnet": ("from d2lhelpers import Timeline; from mxnet import nd; a = nd.ones((200, 200))",
              "nd.dot(a, a).wait_to_read()", "dot"),
    "torch": ("from d2lhelpers.torch import Timeline; import torch; a = torch.ones(200, 200)", "torch.mm(a, a)", "mm"),
}


@pytest.mark.parametrize("how", ["interrupt", "kill"])
@pytest.mark.parametrize("track", [name for name in TRACKS if find_spec(name)])
def test_a_kernel_stopped_in_the_middle_records_again(track, how):
    """A kernel interrupted, or killed and started again, in a block's middle records its next block as any other."""
    imports, work, name = TRACKS[track]
    manager, client = start_new_kernel()
    try:
        first = psutil.Process(manager.provisioner.pid)
        asked = client.execute(f"{imports}\nwith Timeline():\n    {work}\n    print('in the middle', flush=True)\n"
                               f"    while True:\n        {work}", stop_on_error=False)
        while client.get_iopub_msg(timeout=60)["content"].get("text") != "in the middle\n":
            pass
        if how == "interrupt":
            manager.interrupt_kernel()
            while (reply := client.get_shell_msg(timeout=60))["parent_header"]["msg_id"] != asked:
                pass
            assert reply["content"]["ename"] == "KeyboardInterrupt"
        else:
            manager.restart_kernel(now=True)
            client.wait_for_ready(timeout=60)
        assert first.is_running() is (how == "interrupt")
        reply = client.execute_interactive(
            f"{imports}\nwith Timeline() as timeline:\n    {work}\n"
            f"assert [operator.name for operator in timeline.operators].count({name!r}) == 1, timeline.operators",
            timeout=60, output_hook=lambda _: None)["content"]
        assert reply["status"] == "ok", reply
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert not first.is_running()
