import itertools
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import d2lhelpers
from d2lhelpers import Benchmark, measure
from d2lhelpers.benchmark import Measurement

matplotlib.use("Agg")


class Clock:
    """A clock that tests can set, and callables that take a known time by it."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr("time.perf_counter", lambda: self.now)

    def work(self, *seconds):
        durations = itertools.cycle(seconds)

        def run():
            self.now += next(durations)

        return run


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that stands still unless a callable moves it."""
    return Clock(monkeypatch)


def test_import_is_light():
    """Importing d2lhelpers loads no framework and no plotting, and every public name can then be used."""
    program = ("import sys, d2lhelpers as d; heavy = {'mxnet', 'torch', 'matplotlib', 'numpy', 'sklearn'}"
               " & set(sys.modules); assert not heavy, heavy; assert all(getattr(d, name) for name in d.__all__);"
               "heavy = {'mxnet', 'torch', 'matplotlib'} & set(sys.modules); assert not heavy, heavy")
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_import_is_quick():
    """Importing d2lhelpers takes under 50 ms, the best of five fresh processes."""
    program = "import time; start = time.perf_counter(); import d2lhelpers; print(time.perf_counter() - start)"
    command = [sys.executable, "-c", program]
    runs = [subprocess.run(command, check=True, capture_output=True, timeout=60) for _ in range(5)]
    assert min(float(run.stdout) for run in runs) < 0.05


def test_unknown_name_is_named():
    """A name that d2lhelpers does not have is an AttributeError that lists those it has."""
    with pytest.raises(AttributeError, match=r"allreduse.*allreduce"):
        d2lhelpers.allreduse  # noqa: B018


def test_benchmark_prints_and_keeps_the_time(clock, capsys):
    """A Benchmark prints its description and time, and keeps the time in seconds."""
    with Benchmark("work") as benchmark:
        clock.work(0.25)()
    assert capsys.readouterr().out == "work: 0.2500 sec\n"
    assert benchmark.seconds == 0.25


def test_benchmark_without_a_description(clock, capsys):
    """A Benchmark without a description calls the block Done."""
    with Benchmark():
        clock.work(1)()
    assert capsys.readouterr().out == "Done: 1.0000 sec\n"


def test_benchmark_drains_before_and_after(clock):
    """With sync, a backlog drained before the block does not count, and what the block queued does."""
    drains = iter([10, 2])
    with Benchmark(sync=lambda: clock.work(next(drains))()) as benchmark:
        clock.work(1)()
    assert benchmark.seconds == 3


def test_benchmark_lets_exceptions_through(capsys):
    """An exception inside a Benchmark passes through, and no time is printed or kept."""
    benchmark = Benchmark()
    with pytest.raises(KeyError), benchmark:
        raise KeyError("mine")
    assert capsys.readouterr().out == ""
    assert benchmark.seconds is None


def test_benchmark_can_be_used_again(clock):
    """A Benchmark used a second time keeps the second time, and none of the first after an exception."""
    benchmark = Benchmark()
    for seconds in (1, 2):
        with benchmark:
            clock.work(seconds)()
        assert benchmark.seconds == seconds
    with pytest.raises(KeyError), benchmark:
        raise KeyError
    assert benchmark.seconds is None


def test_measure_one(clock):
    """Measuring one callable gives its times in order, their median and their quartiles, warm-up left out."""
    result = measure(clock.work(100, 1, 2, 3, 4, 5), repeat=5, warmup=1)
    assert result.times == [1, 2, 3, 4, 5]
    assert (result.low, result.median, result.high, result.spread) == (2, 3, 4, 2)
    assert str(result) == "median 3 sec (2 sec to 4 sec, 5 runs)"


def test_measure_one_run(clock):
    """A single run is its own median and has no spread."""
    result = measure(clock.work(2), repeat=1, warmup=0)
    assert (result.median, result.spread) == (2, 0)


def test_measure_units(clock):
    """Times are written in the unit that suits them."""
    texts = [str(measure(clock.work(seconds), repeat=1)) for seconds in (2, 0.25, 0.00025)]
    assert [text.split(" (")[0] for text in texts] == ["median 2 sec", "median 250 ms", "median 250 µs"]


def test_measure_takes_turns():
    """Several callables are called round by round, every second round backwards."""
    calls = []
    measure({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, repeat=3, warmup=1)
    assert "".join(calls) == "ba" + "ab" + "ba" + "ab"


def test_measure_drains_around_each_call(clock):
    """With sync, every call starts on an empty queue and is waited for."""
    queue = [100]

    def sync():
        clock.now += sum(queue)
        queue.clear()

    result = measure({"a": lambda: queue.append(1), "b": lambda: queue.append(2)}, repeat=3, warmup=0, sync=sync)
    assert result["a"].times == [1, 1, 1]
    assert result["b"].times == [2, 2, 2]


def test_ratio_is_taken_round_by_round(clock):
    """A machine that becomes ten times slower half-way changes the medians but not the ratio."""
    result = measure({"a": clock.work(2, 20, 200), "b": clock.work(1, 10, 100)}, repeat=3, warmup=0)
    ratio = result.ratio("a", "b")
    assert (ratio, ratio.low, ratio.high) == (2, 2, 2)
    assert str(ratio) == "2.00× (2.00× to 2.00×)"


def test_labels_may_be_numbers(clock):
    """Batch sizes as labels are printed, and drawn as names, not as places on an axis."""
    import matplotlib.pyplot as plt

    result = measure({8: clock.work(1), 256: clock.work(2)}, repeat=2)
    assert [line.split("  ")[0] for line in str(result).splitlines()] == ["8", "256"]
    _, ax = plt.subplots()
    result.plot(ax)
    assert [bar.get_y() for bar in ax.patches] == pytest.approx([-0.3, 0.7])
    plt.close("all")


def test_comparison_is_a_mapping(clock):
    """A comparison keeps labels in the order given and prints a line each."""
    result = measure({"long one": clock.work(2), "b": clock.work(1)}, repeat=2)
    assert list(result) == ["long one", "b"]
    assert [line.split("  ")[0] for line in str(result).splitlines()] == ["long one", "b       ".strip()]


@pytest.mark.parametrize(("fn", "options", "error", "message"), [
    (3, {}, TypeError, "'fn' is 3"),
    ({"a": print, "b": None}, {}, TypeError, "'b' is None"),
    ({}, {}, ValueError, "empty"),
    (print, {"repeat": 0}, ValueError, "repeat=0"),
    (print, {"warmup": -1}, ValueError, "warmup=-1"),
    (None, {}, TypeError, "'fn' is None"),
    ([print], {}, TypeError, "which cannot be called"),
    (iter([print]), {}, TypeError, "which cannot be called"),
    (print, {"repeat": 1.5}, ValueError, "repeat=1.5"),
    (print, {"repeat": "7"}, ValueError, "repeat='7'"),
    (print, {"repeat": None}, ValueError, "repeat=None"),
    (print, {"repeat": True}, ValueError, "repeat=True"),
    (print, {"repeat": float("nan")}, ValueError, "repeat=nan"),
    (print, {"warmup": float("inf")}, ValueError, "warmup=inf"),
    (print, {"sync": 0}, TypeError, "sync is 0, which cannot be called"),
    (print, {"sync": "waitall"}, TypeError, "sync is 'waitall'"),
])
def test_measure_refuses(fn, options, error, message):
    """What cannot be measured is refused with its name before anything runs."""
    if fn is print:
        fn = pytest.fail
    with pytest.raises(error, match=message):
        measure(fn, **options)


@pytest.mark.parametrize("sync", [0, "waitall", [print]])
def test_benchmark_refuses(sync):
    """What cannot be called is refused as sync when the Benchmark is made, not when its block has ended."""
    with pytest.raises(TypeError, match=r"sync is .*, which cannot be called"):
        Benchmark(sync=sync)


def test_errors_pass_through_measure():
    """An error in what is measured, or in sync, passes through."""
    for options in ({"fn": lambda: 1 / 0}, {"fn": lambda: None, "sync": lambda: 1 / 0}):
        with pytest.raises(ZeroDivisionError):
            measure(**options)
    with pytest.raises(ZeroDivisionError), Benchmark(sync=lambda: 1 / 0):
        pytest.fail("the block ran")


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=30))
def test_quartiles_are_numpys(times):
    """Median and quartiles are NumPy's for any times, all equal, zero and single ones included."""
    result = Measurement(times)
    assert (result.low, result.median, result.high) == pytest.approx(tuple(np.percentile(times, [25, 50, 75])))
    assert "median" in repr(result)


def test_plots_are_drawn(clock, monkeypatch):
    """A comparison draws a bar a label with the unit on the axis; a measurement shows one bar in its own figure."""
    import matplotlib.pyplot as plt

    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(len(plt.gca().patches)))
    _, ax = plt.subplots()
    result = measure({"slow": clock.work(0.002), "fast": clock.work(0.001)}, repeat=3)
    assert result.plot(ax) is None
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([2, 1])
    assert "milliseconds" in ax.get_xlabel()
    assert shown == []
    assert result["slow"].plot() is None
    assert shown == [1]
    plt.close("all")
