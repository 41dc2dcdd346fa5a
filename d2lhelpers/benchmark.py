"""Timing that drains the queue, warms up and repeats: `Benchmark` for one reading, `measure` for a result."""
import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, overload

from . import plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _seconds(seconds):
    """Write a time in the unit that suits it, with four digits or all those before the point."""
    for unit, scale in (("sec", 1), ("ms", 1e3)):
        if seconds * scale >= 1:
            return f"{seconds:.0f} sec" if seconds >= 1000 else f"{seconds * scale:.4g} {unit}"
    return f"{seconds * 1e6:.4g} µs"


class Benchmark:
    """Time a `with` block once, print `description: 0.1234 sec`, and keep the time in `.seconds`.

    `sync` is called before the clock starts and before it stops, to drain the engine's queue (`npx.waitall`). Without
    it the clock stops when the block returns: on an asynchronous engine, when the work is queued. After an exception
    `.seconds` is None. A single reading proves little: see `measure`. Lesson: 03-asynchronous-computation.

    >>> with Benchmark("a million additions") as benchmark:   # doctest: +ELLIPSIS
    ...     total = sum(range(1_000_000))
    a million additions: 0... sec
    """

    def __init__(self, description: str = "Done", sync: Callable[[], object] | None = None):
        self.description, self.sync = description, sync or (lambda: None)
        self.seconds: float | None = None

    def __repr__(self):
        return self.description if self.seconds is None else f"{self.description}: {self.seconds:.4f} sec"

    def __enter__(self) -> "Benchmark":
        self.seconds = None
        self.sync()
        self._start = time.perf_counter()
        return self

    def __exit__(self, kind, error, traceback) -> None:
        if kind is None:
            self.sync()
            self.seconds = time.perf_counter() - self._start
            print(repr(self))


def _quartiles(values):
    """Return (lower quartile, median, upper quartile)."""
    return tuple(statistics.quantiles(values, n=4, method="inclusive")) if len(values) > 1 else (*values,) * 3


class Measurement:
    """The times of one callable: `.times` (seconds, in order), `.median`, and the quartiles `.low` and `.high`."""

    low: float
    median: float
    high: float

    def __init__(self, times: Iterable[float]):
        self.times = list(times)
        self.low, self.median, self.high = _quartiles(self.times)

    def __repr__(self):
        low, median, high = map(_seconds, (self.low, self.median, self.high))
        return f"median {median} ({low} to {high}, {len(self.times)} runs)"


class Ratio(float):
    """A median of ratios of times, with the quartiles `.low` and `.high`; `.ratios` holds all of them."""

    ratios: list[float]
    low: float
    median: float
    high: float

    def __new__(cls, ratios: Iterable[float]) -> "Ratio":
        """Take the ratios, in any order."""
        ratios = list(ratios)
        ratio = super().__new__(cls, statistics.median(ratios))
        ratio.ratios, (ratio.low, ratio.median, ratio.high) = ratios, _quartiles(ratios)
        return ratio

    def __getnewargs__(self):
        return (self.ratios,)  # for copy and pickle

    def __repr__(self):
        return f"{float(self):.2f}× ({self.low:.2f}× to {self.high:.2f}×)"

    __str__ = __repr__


class Comparison(dict[Any, Measurement]):
    """Several callables measured in turns: a dictionary from label to `Measurement`, in the order given."""

    def ratio(self, slower: object, faster: object) -> Ratio:
        """Return how many times longer `slower` took than `faster`, as a `Ratio`: the median over the rounds.

        It divides round by round, so a machine that slows down midway affects both alike.
        """
        return Ratio(a / b for a, b in zip(self[slower].times, self[faster].times, strict=True))

    def __repr__(self):
        width = max(len(str(label)) for label in self)
        return "\n".join(f"{label!s:<{width}}  {measurement}" for label, measurement in self.items())

    def plot(self, ax: "Axes | None" = None) -> None:
        """Draw one bar per label, as long as the median, with a whisker over the quartiles."""
        longest = max(measurement.median for measurement in self.values())
        scale, unit = next((s, u) for s, u in ((1, "seconds"), (1e3, "milliseconds"), (1e6, "microseconds"))
                           if longest * s >= 1 or s == 1e6)
        plots.bars(self, f"{unit} (median, whiskers over the middle half)", ax, scale)


@overload
def measure(fn: Mapping[Any, Callable[[], object]], *, repeat: int = 7, warmup: int = 1,
            sync: Callable[[], object] | None = None, reported: bool = False) -> Comparison: ...
@overload
def measure(fn: Callable[[], object], *, repeat: int = 7, warmup: int = 1,
            sync: Callable[[], object] | None = None, reported: bool = False) -> Measurement: ...
def measure(fn, *, repeat=7, warmup=1, sync=None, reported=False):
    """Time a callable `repeat` times, after `warmup` runs that do not count; return a Measurement.

    `fn` is called without arguments; `sync` drains the queue around each call, as in `Benchmark`. A mapping from label
    to callable is measured round by round, every second round backwards, so that a machine that drifts, and the order,
    affect all of them alike; it gives a Comparison, which has `.ratio(slower, faster)` and `.plot()`.
    With `reported` each callable returns its own seconds, which count instead of the clock's: for work in another
    process, or for a part of what the callable does.

    TypeError for what cannot be called or returns no seconds; ValueError for nothing to measure or too few rounds.

    >>> result = measure({"long": lambda: sum(range(100_000)), "short": lambda: sum(range(100))}, repeat=5)
    >>> result.ratio("long", "short") > 10
    True
    >>> measure(lambda: 0.25, repeat=3, reported=True)
    median 250 ms (250 ms to 250 ms, 3 runs)
    """
    callables = dict(fn) if isinstance(fn, Mapping) else {"fn": fn}
    for label, call in callables.items():
        if not callable(call):
            raise TypeError(f"measure: {label!r} is {call!r}, which cannot be called; give a function without "
                            "arguments, not its result")
    if not callables or repeat < 1 or warmup < 0:
        raise ValueError(f"measure: {len(callables)} callables, repeat={repeat}, warmup={warmup}; at least 1, 1 and 0 "
                         "are needed")
    sync = sync or (lambda: None)
    times = {label: [] for label in callables}
    for number in range(-warmup, repeat):
        for label in reversed(callables) if number % 2 else callables:
            sync()
            start = time.perf_counter()
            returned = callables[label]()
            sync()
            seconds = time.perf_counter() - start
            if reported:
                if isinstance(returned, bool) or not isinstance(returned, Real) or not 0 <= returned < math.inf:
                    raise TypeError(f"measure: {label!r} returned {returned!r}, not its seconds")
                seconds = float(returned)
            if number >= 0:
                times[label].append(seconds)
    measurements = {label: Measurement(values) for label, values in times.items()}
    return Comparison(measurements) if isinstance(fn, Mapping) else measurements["fn"]
