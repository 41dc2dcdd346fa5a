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
    """Return a time as text with four digits, in sec, ms or µs; from 1000 sec on, in whole seconds."""
    if seconds >= 1000:
        return f"{seconds:.0f} sec"
    if seconds >= 1:
        return f"{seconds:.4g} sec"
    if seconds * 1e3 >= 1:
        return f"{seconds * 1e3:.4g} ms"
    return f"{seconds * 1e6:.4g} µs"


class Benchmark:
    """Time a `with` block once, print `description: 0.1234 sec`, and keep the time in `.seconds`.

    `sync`, such as `npx.waitall`, is called before the clock starts and before it stops, to drain the engine's queue.
    Without it the clock stops at the end of the block, when an asynchronous engine has only queued the work. After an
    exception `.seconds` is None. A single reading proves little: see `measure`. Lesson: 03-asynchronous-computation.

    >>> with Benchmark("a million additions") as benchmark:   # doctest: +ELLIPSIS
    ...     total = sum(range(1_000_000))
    a million additions: 0... sec
    """

    def __init__(self, description: str = "Done", sync: Callable[[], object] | None = None):
        self.description = description
        self.sync = sync or (lambda: None)
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
    if len(values) > 1:
        return tuple(statistics.quantiles(values, n=4, method="inclusive"))
    [only] = values
    return only, only, only


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
    """The median of several ratios of times, with the quartiles `.low` and `.high`; `.ratios` holds all ratios."""

    ratios: list[float]
    low: float
    median: float
    high: float

    def __new__(cls, ratios: Iterable[float]) -> "Ratio":
        """Take the ratios, in any order."""
        ratios = list(ratios)
        ratio = super().__new__(cls, statistics.median(ratios))
        ratio.ratios = ratios
        ratio.low, ratio.median, ratio.high = _quartiles(ratios)
        return ratio

    def __getnewargs__(self):
        return (self.ratios,)  # for copy and pickle

    def __repr__(self):
        return f"{float(self):.2f}× ({self.low:.2f}× to {self.high:.2f}×)"

    __str__ = __repr__


class Comparison(dict[Any, Measurement]):
    """Several callables measured in turns: a dictionary from label to `Measurement`, in the order given."""

    def ratio(self, slower: object, faster: object) -> Ratio:
        """Return how many times as long as `faster` the callable `slower` took: a `Ratio`, the median over the rounds.

        The times are divided round by round, so a machine that slows down midway affects both alike.
        """
        return Ratio(a / b for a, b in zip(self[slower].times, self[faster].times, strict=True))

    def __repr__(self):
        width = max(len(str(label)) for label in self)
        return "\n".join(f"{label!s:<{width}}  {measurement}" for label, measurement in self.items())

    def plot(self, ax: "Axes | None" = None) -> None:
        """Draw one bar per label: its length is the median, its whisker spans the quartiles."""
        longest = max(measurement.median for measurement in self.values())
        if longest >= 1:
            scale, unit = 1, "seconds"
        elif longest * 1e3 >= 1:
            scale, unit = 1e3, "milliseconds"
        else:
            scale, unit = 1e6, "microseconds"
        plots.bars(self, f"{unit} (median, whiskers over the middle half)", ax, scale)


@overload
def measure(fn: Mapping[Any, Callable[[], object]], *, repeat: int = 7, warmup: int = 1,
            sync: Callable[[], object] | None = None, reported: bool = False) -> Comparison: ...
@overload
def measure(fn: Callable[[], object], *, repeat: int = 7, warmup: int = 1,
            sync: Callable[[], object] | None = None, reported: bool = False) -> Measurement: ...
def measure(fn, *, repeat=7, warmup=1, sync=None, reported=False):
    """Time a callable `repeat` times, after `warmup` runs that do not count; return a Measurement.

    `fn` is called without arguments; `sync` drains the queue before and after each call, as in `Benchmark`. A mapping
    from labels to callables is measured in rounds, every second round backwards, so that the order, and a machine that
    changes its speed, affect all callables alike; the result is a Comparison, with `.ratio(slower, faster)` and
    `.plot()`. With `reported` each callable returns seconds, which are used instead of the clock's: for work in another
    process, or for a part of what the callable does. Lesson: 00-start-here.

    Raises:
        TypeError: `fn` cannot be called, or with `reported` it returned no time in seconds.
        ValueError: There is nothing to measure, or there are too few rounds.

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
        order = reversed(callables) if number % 2 else callables
        for label in order:
            sync()
            start = time.perf_counter()
            returned = callables[label]()
            sync()
            seconds = time.perf_counter() - start
            if reported:
                if isinstance(returned, bool) or not isinstance(returned, Real) or not 0 <= returned < math.inf:
                    raise TypeError(f"measure: {label!r} returned {returned!r}, not a time in seconds")
                seconds = float(returned)
            if number >= 0:
                times[label].append(seconds)
    measurements = {label: Measurement(values) for label, values in times.items()}
    return Comparison(measurements) if isinstance(fn, Mapping) else measurements["fn"]
