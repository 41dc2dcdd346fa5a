"""Timing that drains the queue, warms up and repeats: `Benchmark` for one reading, `measure` for a result."""
import os
import statistics
import sys
import time
from collections.abc import Mapping

from . import plots


def _checked_sync(sync):
    """Return `sync`, or a function that does nothing if it was not given; TypeError for what cannot be called."""
    if sync is not None and not callable(sync):
        raise TypeError(f"sync is {sync!r}, which cannot be called; give a function without arguments, not its result")
    return sync or (lambda: None)


def _seconds(seconds):
    """Write a time in the unit that suits it, with four digits or all those before the point."""
    for unit, scale in (("sec", 1), ("ms", 1e3)):
        if seconds * scale >= 1:
            return f"{seconds:.0f} sec" if seconds >= 1000 else f"{seconds * scale:.4g} {unit}"
    return f"{seconds * 1e6:.4g} µs"


class Benchmark:
    """Time a `with` block once, print `description: 0.1234 sec`, and keep the time in `.seconds`.

    `sync` is called before the clock starts and before it stops, to drain the engine's queue (`npx.waitall`). Without
    it the clock stops when the block returns: on an asynchronous engine, when the work is queued. An exception passes
    through, nothing is printed, and `.seconds` is None.

    Lesson: 03-asynchronous-computation. A single reading proves little: see `measure`.

    >>> with Benchmark("a million additions") as benchmark:   # doctest: +ELLIPSIS
    ...     total = sum(range(1_000_000))
    a million additions: 0... sec
    >>> benchmark.seconds < 60
    True
    """

    def __init__(self, description="Done", sync=None):
        self.description = description
        self.sync = _checked_sync(sync)
        self.seconds = None

    def __enter__(self):
        self.seconds = None
        self.sync()
        self._start = time.perf_counter()
        return self

    def __exit__(self, kind, error, traceback):
        if kind is None:
            self.sync()
            self.seconds = time.perf_counter() - self._start
            print(f"{self.description}: {self.seconds:.4f} sec")


def _quartiles(values):
    """Return (lower quartile, median, upper quartile)."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    return tuple(statistics.quantiles(values, n=4, method="inclusive"))


class Measurement:
    """The times of one callable: `.times` (seconds, in order), `.median`, and the quartiles `.low` and `.high`."""

    def __init__(self, times):
        self.times = list(times)
        self.low, self.median, self.high = _quartiles(self.times)

    def __repr__(self):
        return (f"median {_seconds(self.median)} ({_seconds(self.low)} to {_seconds(self.high)}, "
                f"{len(self.times)} runs)")

    def plot(self, ax=None):
        """Draw the measurement as one bar, with a whisker over the quartiles."""
        Comparison({"": self}).plot(ax)


class Ratio(float):
    """A median of ratios of times, with the quartiles `.low` and `.high`; `.ratios` holds all of them."""

    def __new__(cls, ratios):
        """Take the ratios, in any order."""
        ratios = list(ratios)
        low, median, high = _quartiles(ratios)
        ratio = super().__new__(cls, median)
        ratio.low, ratio.high, ratio.ratios = low, high, ratios
        return ratio

    def __getnewargs__(self):
        return (self.ratios,)  # for copy and pickle

    def __repr__(self):
        return f"{float(self):.2f}× ({self.low:.2f}× to {self.high:.2f}×)"

    __str__ = __repr__


class Comparison(dict):
    """Several callables measured in turns: a dictionary from label to `Measurement`, in the order given."""

    def ratio(self, slower, faster):
        """Return how many times longer `slower` took than `faster`: the median over the rounds, as a `Ratio`.

        The two are divided round by round: a machine that slows down in the middle then affects both alike.
        """
        return Ratio(a / b for a, b in zip(self[slower].times, self[faster].times, strict=True))

    def __repr__(self):
        width = max(len(str(label)) for label in self)
        return "\n".join(f"{label!s:<{width}}  {measurement}" for label, measurement in self.items())

    def plot(self, ax=None):
        """Draw one bar per label, as long as the median, with a whisker over the quartiles."""
        longest = max(measurement.median for measurement in self.values())
        scale, unit = next((s, u) for s, u in ((1, "seconds"), (1e3, "milliseconds"), (1e6, "microseconds"))
                           if longest * s >= 1 or s == 1e6)
        plots.bars(self, f"{unit} (median, whiskers over the middle half)", ax, scale)


def measure(fn, *, repeat=7, warmup=1, sync=None, reported=False):
    """Time a callable several times, or several callables in turns.

    Parameters
    ----------
    fn : callable, or mapping from label to callable
        Each is called without arguments. Several are measured round by round, every second round backwards, so that
        a machine that drifts, and the order, affect all of them alike.
    repeat, warmup : int
        Rounds that count (at least 1), and rounds before them that do not (at least 0).
    sync : callable, optional
        Called before the clock starts and before it stops, as in `Benchmark`.
    reported : bool
        Take the seconds that each callable returns instead of the clock's: for work in another process, or for a
        part of what the callable does.

    In a notebook a progress bar appears after two seconds, drawn between the runs.

    Returns a Measurement, or for a mapping a Comparison, which also has `.ratio(slower, faster)`; both have `.plot()`.
    Raises TypeError for what cannot be called or returns no seconds where it should, ValueError for an empty mapping
    or too few rounds.

    Lesson: 01-imperative-and-symbolic.

    >>> result = measure({"long": lambda: sum(range(100_000)), "short": lambda: sum(range(100))}, repeat=5)
    >>> result.ratio("long", "short") > 10
    True
    >>> measure(lambda: 0.25, repeat=3, reported=True)
    median 250 ms (250 ms to 250 ms, 3 runs)
    """
    several = isinstance(fn, Mapping)
    callables = dict(fn) if several else {"fn": fn}
    if not callables:
        raise ValueError("measure: the mapping is empty; give at least one callable")
    for label, call in callables.items():
        if not callable(call):
            raise TypeError(f"measure: {label!r} is {call!r}, which cannot be called; give a function without "
                            "arguments, not its result")
    if repeat < 1 or warmup < 0:
        raise ValueError(f"measure: repeat={repeat} and warmup={warmup}, but at least 1 and 0 are needed")
    sync = _checked_sync(sync)
    times = {label: [] for label in callables}
    for number in progress(range(-warmup, repeat)):
        for label in reversed(callables) if number % 2 else callables:
            sync()
            start = time.perf_counter()
            returned = callables[label]()
            sync()
            seconds = time.perf_counter() - start
            if reported:
                if not isinstance(returned, (int, float)):
                    raise TypeError(f"measure: {label!r} returned {returned!r}, not its seconds")
                seconds = returned
            if number >= 0:
                times[label].append(seconds)
    measurements = {label: Measurement(values) for label, values in times.items()}
    return Comparison(measurements) if several else measurements["fn"]


def progress(rounds):
    """Return `rounds` behind a progress bar, which appears after two seconds and is gone at the end.

    Only a notebook shows it, and not with D2LHELPERS_WIDGETS=0: stored outputs have no trace of it.

    >>> [number for number in progress(range(3))]
    [0, 1, 2]
    """
    ipython = sys.modules.get("IPython")  # a notebook has it loaded
    if os.environ.get("D2LHELPERS_WIDGETS") == "0" or not ipython or not hasattr(ipython.get_ipython(), "kernel"):
        return rounds
    from tqdm import tqdm

    # On standard output what comes next is written over it; on standard error a red block would stay.
    return tqdm(rounds, delay=2, leave=False, file=sys.stdout)
