import copy
import itertools
import pickle
import subprocess
import sys

import numpy as np
import pytest

from d2lhelpers import Benchmark, measure
from d2lhelpers.benchmark import Measurement


class Clock:
    """A clock that stands still unless a callable moves it."""

    now = 0.0

    def work(self, *seconds):
        """Return a callable whose calls move the clock by these numbers of seconds in turn."""
        durations = itertools.cycle(seconds)

        def call():
            self.now += next(durations)

        return call


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that takes the place of `time.perf_counter`."""
    clock = Clock()
    monkeypatch.setattr("time.perf_counter", lambda: clock.now)
    return clock


def test_import_is_light():
    """Importing the package and its instruments loads no framework, no NumPy and no plotting library."""
    program = ("import sys, d2lhelpers.torch; from d2lhelpers import Timeline, exercises, machine, measure, plots;"
               "assert not {'mxnet', 'torch', 'matplotlib', 'numpy', 'tqdm'} & set(sys.modules)")
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


IMPORTS = """
import importlib, logging, os, pkgutil, signal, sys, threading, warnings
from importlib.util import find_spec
import matplotlib.pyplot, psutil
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.instance().kernel = None  # as in a notebook
frameworks = [name for name in ("torch", "mxnet") if find_spec(name)]
if "torch" in frameworks:
    import torch.distributed.pipelining, torch.distributed.tensor.debug, torch.utils.flop_counter
matplotlib.rcParams["figure.dpi"] = 33

def session():
    return {
        "matplotlib": dict(matplotlib.rcParams), "backend": matplotlib.get_backend(), "variables": dict(os.environ),
        "signals": [signal.getsignal(number) for number in signal.valid_signals()], "folder": os.getcwd(),
        "path": list(sys.path), "filters": list(warnings.filters), "threads": threading.active_count(),
        "logs": {name: log.level for name, log in logging.root.manager.loggerDict.items() if hasattr(log, "level")},
        "shown": InteractiveShell.instance().ast_node_interactivity}

before = session()
import d2lhelpers
for module in pkgutil.walk_packages(d2lhelpers.__path__, "d2lhelpers."):
    if ".torch." not in module.name or "torch" in frameworks:
        importlib.import_module(module.name)
after = session()
after["logs"] = {name: after["logs"].get(name) for name in before["logs"]}
print({name: (before[name], after[name]) for name in before if before[name] != after[name]})
"""


def test_import_changes_nothing():
    """Importing all of the package, even in a notebook, changes no setting and prints nothing."""
    run = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, timeout=600)
    assert run.stdout == "{}\n", run.stderr


def test_benchmark_prints_and_keeps_the_time(clock, capsys):
    """A Benchmark prints and keeps the time, without that of work queued before; after an exception it does neither."""
    with Benchmark("work", sync=clock.work(10, 2)) as benchmark:
        clock.work(0.25)()
    assert capsys.readouterr().out == "work: 2.2500 sec\n"
    assert benchmark.seconds == 2.25
    with pytest.raises(KeyError), benchmark:
        raise KeyError
    assert capsys.readouterr().out == ""
    assert benchmark.seconds is None


def test_measure_takes_turns():
    """Several callables are called in rounds, in reverse order in every second round; `repeat` is given by name."""
    calls = []
    with pytest.raises(TypeError, match="positional"):
        measure(calls.clear, 3)
    measure({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, repeat=3, warmup=1)
    assert "".join(calls) == "ba" + "ab" + "ba" + "ab"


def test_measure_drains_around_each_call(clock):
    """With sync, every call starts on an empty queue, and its time includes the work that it queues."""
    queue = [100]

    def sync():
        clock.now += sum(queue)
        queue.clear()

    result = measure({"a": lambda: queue.append(1), "b": lambda: queue.append(2)}, repeat=3, warmup=0, sync=sync)
    assert result["a"].times == [1, 1, 1]
    assert result["b"].times == [2, 2, 2]


def test_reported_seconds_count(clock):
    """With `reported`, the seconds that a callable returns count, not the clock's; one without seconds is named."""
    seconds = iter([100, 5, 1, 4, 2, 3])

    def report():
        clock.now += 50
        return next(seconds)

    result = measure(report, repeat=5, warmup=1, reported=True)
    assert result.times == [5, 1, 4, 2, 3]
    assert str(result) == "median 3 sec (2 sec to 4 sec, 5 runs)"
    with pytest.raises(TypeError, match="'a' returned None, not a time in seconds"):
        measure({"a": clock.work(1)}, reported=True)
    assert measure(lambda: np.float32(0.5), reported=True).times == [0.5] * 7
    assert measure(lambda: 0, repeat=1, reported=True).times == [0]


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -1, True, "1"])
def test_impossible_seconds_are_refused(wrong):
    """A callable that reports anything but a possible number of seconds is refused."""
    with pytest.raises(TypeError, match="not a time in seconds"):
        measure(lambda: wrong, reported=True)


def test_ratio_is_taken_round_by_round(clock):
    """A machine that becomes ten times slower with every round changes the medians but not the ratio."""
    result = measure({256: clock.work(2, 20, 200), "b": clock.work(1, 10, 100)}, repeat=3, warmup=0)
    assert [line.split()[:3] for line in str(result).splitlines()] == [["256", "median", "20"], ["b", "median", "10"]]
    assert str(result.ratio(256, "b")) == "2.00× (2.00× to 2.00×)"


@pytest.mark.parametrize("make_copy", [copy.copy, copy.deepcopy, lambda result: pickle.loads(pickle.dumps(result))])
def test_results_can_be_copied(clock, make_copy):
    """Measurements, comparisons and ratios can be copied and pickled, so that other processes can send them back."""
    result = make_copy(measure({"a": clock.work(3, 2, 6), "b": clock.work(1)}, repeat=3))
    assert result["a"].times == [2, 6, 3]
    assert str(make_copy(result.ratio("a", "b"))) == "3.00× (2.50× to 4.50×)"


@pytest.mark.parametrize(("fn", "options", "error", "message"), [
    (3, {}, TypeError, "'fn' is 3"),
    ({"a": pytest.fail, "b": None}, {}, TypeError, "'b' is None"),
    ({}, {}, ValueError, "0 callables"),
    (pytest.fail, {"repeat": 0}, ValueError, "repeat=0"),
])
def test_measure_refuses(fn, options, error, message):
    """Arguments that cannot be measured are refused with an error that names them, before anything runs."""
    with pytest.raises(error, match=message):
        measure(fn, **options)


def test_two_runs_have_quartiles():
    """Of two runs, the quartiles are a quarter and three quarters of the way from the shorter to the longer."""
    assert str(Measurement([2, 1])) == "median 1.5 sec (1.25 sec to 1.75 sec, 2 runs)"


@pytest.mark.parametrize(("seconds", "words"), [
    (12345.6, "12346 sec"), (999.94, "999.9 sec"), (1, "1 sec"), (0.99994, "999.9 ms"), (1e-3, "1 ms"),
    (0.99994e-3, "999.9 µs"), (0, "0 µs")])
def test_a_time_has_the_unit_that_suits_it(seconds, words):
    """Times are shown in seconds, milliseconds or microseconds, with four digits; one run is its own quartiles."""
    assert str(Measurement([seconds])) == f"median {words} ({words} to {words}, 1 runs)"
