import functools
import itertools
import re
import sys

import matplotlib
import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import same_color
from matplotlib.text import Text

from d2lhelpers import machine, measure, plots
from d2lhelpers.benchmark import Comparison, Measurement
from d2lhelpers.counters import count_calls, count_new_pages
from d2lhelpers.machine import MachineLimits, limits, report
from d2lhelpers.timeline import Operator, Timeline

matplotlib.use("Agg")
LIMITS = MachineLimits("example", peak=1e12, bandwidth=1e10, dispatch=1e-5)
SMI = "#!/bin/sh\n[ $1 = --query-gpu=name,memory.total,driver_version ] && printf 'A\\nB\\n'\nexit "


@pytest.fixture
def ax():
    """Return empty axes."""
    _, axes = plt.subplots(figsize=(10, 4), layout="constrained")
    yield axes
    plt.close("all")


@pytest.mark.parametrize(("status", "gpus"), [(None, "none (there is no"), (0, "A; B"), (9, "A; B")])
def test_the_report_has_one_shape(status, gpus, tmp_path, monkeypatch, capsys):
    """The report has the same lines on a machine with GPUs, without GPUs, and with a driver that fails."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0, 2, 5}, raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 2**22}.get)
    if status is not None:
        (tmp_path / "nvidia-smi").write_text(f"{SMI}{status}\n")
        (tmp_path / "nvidia-smi").chmod(0o755)
    report()
    printed = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert list(printed) == ["system", "cores", "memory", "Python", "frameworks", "GPUs", "settings"]
    assert printed["GPUs"].strip().startswith(gpus)
    assert (printed["cores"].strip(), printed["memory"].strip()) == ("3 of 8", "16 GiB")
    assert "numpy 1" in printed["frameworks"] or "numpy 2" in printed["frameworks"]


def test_a_driver_that_hangs_is_not_waited_for(tmp_path, monkeypatch, capsys):
    """If nvidia-smi does not answer, the report says so and goes on."""
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(machine, "NVIDIA_SMI_SECONDS", 0.2)
    report()
    assert "GPUs:       unknown (nvidia-smi did not answer in 0.2 seconds)" in capsys.readouterr().out


def test_the_report_names_disturbing_settings(monkeypatch, capsys):
    """The report names settings that disable what the lessons show, and says what they do; it omits harmless ones."""
    module = pytest.importorskip("torch")
    monkeypatch.setitem(sys.modules, "torch", module)
    monkeypatch.setenv("OMP_PROC_BIND", "false")
    report()
    assert "settings:   none that" in capsys.readouterr().out
    for name, value in (("OMP_PROC_BIND", "close"), ("TORCH_COMPILE_DISABLE", "1")):
        monkeypatch.setenv(name, value)
    report()
    assert re.search(r"OMP_PROC_BIND=close: threads.*; TORCH_COMPILE_DISABLE=1: torch.comp", capsys.readouterr().out)


@pytest.mark.parametrize("module", ["mxnet", "torch"])
def test_limits_are_rates(module, monkeypatch):
    """Limits are a product's operations and a copy's bytes divided by their times, in the loaded framework."""
    def call_once(fn, **options):
        fn()
        return Measurement([0.5, 0.25])

    pytest.importorskip(module)
    if module == "torch":
        monkeypatch.delitem(sys.modules, "mxnet", raising=False)
    monkeypatch.setattr(machine, "measure", call_once)
    monkeypatch.setattr(machine, "LARGE", 480 * 10**5)
    found = limits.__wrapped__()
    assert found.device in ("cpu", "cuda:0", "cpu(0)", "gpu(0)")
    assert found[1:] == (2 * 512**3 / 0.25, 8 * 480 * 10**5 / 0.25, 0.25)
    assert str(found).splitlines()[1:] == ["memory 1.5 GB/s", "arithmetic 1.1 Gflop/s", "one dispatch 250000.0 µs"]


class Number:
    """Something to add, which counts the additions."""

    added = 0

    def __add__(self, other):
        Number.added += 1


@pytest.mark.parametrize(("least", "sizes"), [(1024, [512, 1024]), (10**6, [512, 1024, 2048, 4096, 8192])])
def test_limits_are_those_of_long_work(least, sizes, monkeypatch):
    """The product is the first that takes 5 ms, or 8192 wide; a dispatch is an addition's share of the time of many."""
    module = pytest.importorskip("torch")
    monkeypatch.delitem(sys.modules, "mxnet", raising=False)
    ones = {(2, 2): Number()}  # all else is large, and holds nothing
    monkeypatch.setattr(module, "ones", lambda size, device: ones.get(size, module.empty(size, device="meta")))
    monkeypatch.setattr("time.perf_counter", lambda: Number.added)
    tried = []

    def measured(fn, **options):
        assert bool(options["sync"]) == module.cuda.is_available()
        if not isinstance(fn, functools.partial):
            seconds = fn()
            return Measurement([seconds if options.get("reported") else 1])
        tried.append(len(fn.args[0]))
        return Measurement([0.005 if tried[-1] >= least else 0.004])

    monkeypatch.setattr(machine, "measure", measured)
    assert limits.__wrapped__().dispatch == 1
    assert tried == sizes


def test_the_regime_is_the_largest_bound():
    """Work is bound by whichever takes longest: one dispatch, its bytes or its operations."""
    assert [LIMITS.regime(*work) for work in ((1e6, 12e3), (1e6, 1e7), (1e12, 1e7))] == [
        ("overhead-bound", 1e-5), ("memory-bound", 1e-3), ("compute-bound", 1)]


def test_calls_are_counted():
    """An imperative network makes one call per operator, a hybridized one a single call for its graph."""
    mx = pytest.importorskip("mxnet")
    mx.npx.set_np()
    try:
        x = mx.np.ones((1, 8))
        net = mx.gluon.nn.HybridSequential()
        net.add(mx.gluon.nn.Dense(4, activation="relu"), mx.gluon.nn.Dense(2))
        net.initialize()
        net(x)
        assert count_calls(lambda: net(x)) == 3
        net.hybridize()
        net(x)
        assert count_calls(lambda: net(x).wait_to_read()) == 1
    finally:
        mx.npx.reset_np()  # other tests in this process use the older arrays, too


def test_new_pages_are_counted():
    """Memory that nobody has used before counts, memory that is used again does not."""
    size = 2**26
    assert count_new_pages(lambda: b"x" * size) >= size // 2**21  # pages of 2 MiB, or of 4 KiB
    used = bytearray(b"x" * 2**20)
    assert count_new_pages(lambda: used.count(b"x")) < 2**20 // 4096


def example_timeline():
    """Return a Timeline with long and short operators, communication and waiting."""
    timeline = Timeline()
    timeline._keep([Operator("dot", "cpu(0)", 0, 5), Operator("dot", "cpu(1)", 0, 5), Operator("exp", "cpu(1)", 5, 5.3),
                    Operator("add_n", "cpu(0)", 5, 10)], 2, 0, [(1, 2)], [(0, 0), (1, 8000)])
    return timeline


@pytest.mark.parametrize("draw", [
    lambda ax: example_timeline().plot(ax), lambda ax: example_timeline().plot_memory(ax, "a"),
    lambda ax: measure({"a": str}).plot(ax),
    lambda ax: LIMITS.roofline({"small": (1e3, 1e4, 2e-5), "large": (1e12, 1e6, 2)}, ax)])
def test_plots_can_be_read_from_the_back_row(ax, draw):
    """Every plot has units on its axis, and no text smaller than 13 points."""
    draw(ax)
    ax.figure.draw_without_rendering()
    texts = [text for text in ax.findobj(Text) if text.get_text() and text.get_visible()]
    assert min(text.get_fontsize() for text in texts) >= 13
    assert any(unit in ax.get_xlabel() for unit in ("seconds", "operations per byte"))


@pytest.mark.parametrize(("draw", "said"), [
    (lambda ax: example_timeline().plot(ax), "cpu(0) busy 100%, cpu(1) busy 53%, overlap of cpu(0) and cpu(1) 1.00, "
     "of all work dot 65%, add_n 33%, Python ends at 2,000.00 of 10,000.00 ms, waits: 1"),
    (lambda ax: example_timeline().plot_memory(ax, "a"),
     "megabytes more over milliseconds since the block began: a 0 → 0, 1,000 → 0.008"),
    (lambda ax: plots.bars({"eager": 2.5, "graph": Measurement([1, 2, 4]), "C++": 0.5}, "ms", ax),
     "ms: eager 2.5, graph 2, C++ 0.5"),
    (lambda ax: ax.bar(["a", "b"], [1, 20]) and ax.set(title="bytes", ylabel="MB"), "bytes: MB: a 1, b 20"),
    (lambda ax: plots.curves({"": [(x, abs(x - 5)) for x in range(20)]}, "steps", "loss", ax),
     "loss over steps: from 0 → 5 to 19 → 14 in 20 points, lowest 5 → 0, highest 19 → 14"),
    (lambda ax: ax.plot([1] * 8), ", ".join(f"{x} → 1" for x in range(8))),
    (lambda ax: ax.plot(["x", "y", "z"], [1, 2, 3]) and ax.axvline(1), "x → 1, y → 2, z → 3"),
    (lambda ax: LIMITS.roofline({"small": (1e3, 1e4, 2e-5)}, ax),
     "memory 10.0 GB/s; arithmetic 1000.0 Gflop/s; one dispatch 10.0 µs; "
     "small 0.1 operations per byte, 0.05 Gflop/s, overhead-bound"),
    (lambda ax: None, ""),
])
def test_plots_say_what_they_show(ax, draw, said):
    """The text alternative of a plot has the figures that the plot shows, whoever has drawn it."""
    draw(ax)
    assert plots.text_alternative(ax.figure) == said


def test_bars_end_at_the_median(ax):
    """A bar ends at its median, scaled, with a whisker over the quartiles, and its number beside it."""
    plots.bars({8: Measurement([1, 2, 4]), "b": 3}, "ms", ax, scale=10)
    assert [bar.get_width() for bar in ax.patches] == [20, 30]
    assert [text.get_text() for text in ax.texts] == ["20", "30"]
    assert ax.collections[0].get_segments()[0][:, 0].tolist() == [15, 30]


@pytest.mark.parametrize(("value", "whole"), [(17, True), (17.0, False)])
def test_counts_have_whole_numbers_on_their_axis(ax, value, whole):
    """Between 17 calls, or steps, and none there is no tick at 2.5; seconds may have one."""
    plots.bars({"a": value}, "calls", ax)
    assert all(tick.is_integer() for tick in ax.get_xticks()) == whole
    plots.curves({"a": [(0, 0), (value, 1)]}, "steps", "", ax.figure.add_subplot(2, 1, 2))
    assert all(tick.is_integer() for tick in ax.figure.axes[-1].get_xticks()) == whole


@pytest.mark.parametrize(("longest", "scale", "unit"), [
    (1, 1, "seconds"), (0.5, 1e3, "milliseconds"), (1e-3, 1e3, "milliseconds"), (5e-4, 1e6, "microseconds"),
    (1e-7, 1e6, "microseconds")])
def test_times_are_drawn_in_the_unit_that_suits_them(ax, longest, scale, unit):
    """The bars of a comparison are in the unit in which the longest is one or more, if there is one."""
    Comparison({"a": Measurement([longest / 2]), "b": Measurement([longest])}).plot(ax)
    assert [bar.get_width() for bar in ax.patches] == [longest / 2 * scale, longest * scale]
    assert ax.get_xlabel().split()[0] == unit


def test_a_roofline_has_the_limits_and_the_work(ax):
    """Memory's roof rises to the ridge, arithmetic's goes on; points have their regime's colour, overhead its limit."""
    LIMITS.roofline({"small": (1e3, 1e4, 2e-5), "large": (1e12, 1e6, 2), "even": (1e10, 1e9, 1)}, ax)
    numbers = [number for line in ax.lines for number in line.get_xydata().ravel()]
    assert numbers[:8] == pytest.approx([0.025, 2.5e8, 100, 1e12, 100, 1e12, 4e6, 1e12])
    assert numbers[8:] == pytest.approx([0.1, 5e7, 0.1, 1e8, 1e6, 5e11, 10, 1e10])
    colours = [line.get_color() for line in ax.lines]
    assert colours == [plots.COMMUNICATION, plots.BLUE, plots.PYTHON, plots.PYTHON, plots.PYTHON, plots.BLUE,
                       plots.COMMUNICATION]
    assert [text.get_text() for text in ax.texts] == ["small", "large", "even"]


def test_several_timelines_share_one_scale(monkeypatch):
    """Timelines drawn together have one axis of time, as long as the longest, rows alike, and titles above legends."""
    short = Timeline()
    short._keep([Operator("dot", f"cpu({number})", 0, 1) for number in range(8)], 1, 1)
    monkeypatch.setattr(plt, "show", lambda: None)
    Timeline.plot_all({"short": short, "long": example_timeline()})
    panels = plt.gcf().axes
    assert [panel.get_xlim()[1] for panel in panels] == [10, 10]
    assert [panel.get_title(loc="left") for panel in panels] == ["short", "long"]
    of_eight, of_two = (panel.bbox.height / (1 + devices) for panel, devices in zip(panels, (8, 2), strict=True))
    assert 0.7 < of_eight / of_two < 1.5
    [(legend, title)] = [(panel.get_legend(), panel._left_title) for panel in panels if panel.get_legend()]
    box = legend.get_window_extent()
    assert title.get_window_extent().y0 > (box.y0 + box.y1) / 2
    plt.close()


def test_blocks_have_their_colours(ax):
    """A block has its device's colour, communication is green, waiting hatched; the legend names unlabelled blocks."""
    def extents(area):
        return area.get_paths()[0].get_extents()

    example_timeline().plot(ax)
    assert (*ax.get_xlim(), *ax.get_ylim()) == pytest.approx((-0.04, 10, 2.5, -0.5))
    python, waiting, *blocks = ax.collections
    assert extents(python).xmax == 2
    assert extents(waiting).xmin == 1
    assert waiting.get_hatch() == "////"
    colours = {}
    for block in blocks:
        box = extents(block)
        colours[box.x0, round(box.y0 + box.y1)] = block.get_facecolor()[0]
    assert same_color(colours[0, 2], plots.BLUE)
    assert same_color(colours[0, 4], plots.ORANGE)
    assert same_color(colours[5, 2], plots.COMMUNICATION)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["Python", "cpu(0)", "cpu(1)"]
    assert [text.get_text() for text in ax.texts] == ["busy 100%", "busy 53%", "dot", "dot", "add_n"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["waiting", "exp"]


def test_operators_that_took_no_time_are_drawn(ax):
    """A record whose operators began and ended at the same tick of the clock has a picture, and they have no share."""
    timeline = Timeline()
    timeline._keep([Operator("dot", "cpu(0)", 1, 1)], 2)
    timeline.plot(ax)
    assert ax.get_label() == "cpu(0) busy 0%, Python ends at 2,000.00 of 2,000.00 ms, waits: 0"


def test_a_gpu_makes_the_rows_of_cpus_grey(ax):
    """Beside a GPU's row, that of the CPU is grey, as Python is; long names are cut short; the fourth has no entry."""
    timeline = Timeline()
    operators = [Operator("queue", "cpu", 0, 0.1)]
    for number, letter in enumerate("abcd"):
        operators.append(Operator(letter * 40, "cuda:1", number, number + 1 - number / 10))
    timeline._keep(operators, 5, 0, [(1, 2)])
    timeline.plot(ax)
    _, _, *blocks = ax.collections
    colours = [block.get_facecolor()[0] for block in blocks]
    assert same_color(colours[0], plots.ORANGE)
    assert same_color(colours[-1], plots.shade(plots.PYTHON, 4))
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["waiting", *(f"{letter * 28}…" for letter in "abc")]


def test_curves_have_their_colours_and_units(ax):
    """Each curve has the colour of the next device, and memory is drawn in megabytes over milliseconds."""
    timeline = Timeline()
    timeline._keep(memory=[(0, 0), (0.25, 3_000_000)])
    for label in "ab":
        timeline.plot_memory(ax, label)
    assert [line.get_xydata().tolist() for line in ax.lines] == [[[0, 0], [250, 3]]] * 2
    assert [line.get_color() for line in ax.lines] == [plots.BLUE, plots.ORANGE]
    assert (ax.get_xlabel().split()[0], ax.get_ylabel().split()[0]) == ("milliseconds", "megabytes")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    plots.curves({"few": [(0, 0)] * 19, "many": [(0, 0)] * 20}, "x", "y", ax)
    assert [line.get_marker() for line in ax.lines[2:]] == ["o", "None"]


def test_a_plot_without_axes_makes_its_own(ax, monkeypatch):
    """Without axes a plot makes a figure, higher for more rows, and shows it; in given axes it shows nothing."""
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(plt.gcf().get_figheight()))
    for values in ({"a": 1}, {"a": 1, "b": 2}):
        plots.bars(values, "ms")
    example_timeline().plot()
    Timeline().plot()
    plots.bars({"a": 1}, "ms", ax)
    assert shown == pytest.approx([1.45, 2, 3, 1.8])


def test_communication_is_told_from_computation():
    """Copies between devices and sums over them are communication, by the names that both frameworks give them."""
    names = ["CopyCPU2GPU", "Memcpy DtoH", "copy_", "add_n", "ElementwiseSum", "KVStorePushPull", "ncclDevKernel_Sum",
             "allreduce_", "_allgather_base_", "reduce_scatter_", "broadcast_", "dot", "add_", "sum", "broadcast_add"]
    assert [name for name in names if not plots.is_communication(name)] == ["dot", "add_", "sum", "broadcast_add"]


@pytest.mark.parametrize("label", [None, lambda operator: "forward pass"])
def test_names_stay_in_their_blocks(ax, label):
    """A name is written in its block if it fits there, and nowhere else."""
    spans = list(itertools.pairwise(itertools.accumulate(range(9))))
    timeline = Timeline()
    timeline._keep([Operator("_product", "cpu", *span) for span in spans])
    timeline.plot(ax, label)
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent().transformed(ax.transData.inverted()) for text in ax.texts[1:]]
    assert 1 < len(boxes) < 8
    for box in boxes:
        assert any(start < box.x0 and box.x1 < end for start, end in spans)
