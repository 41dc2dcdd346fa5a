"""Timing that drains the queue, warms up and repeats: `Benchmark` for one reading, `measure` for a result."""
import statistics
import time
from collections.abc import Mapping

from .exercises import progress
from .tracks import whole

BLUE, ORANGE = "#0072b2", "#d55e00"  # two of Okabe and Ito's colours: colour-blind readers can tell them apart


def _callable(sync):
    """Return `sync`, or what does nothing if it was not given; TypeError for what cannot be called."""
    if sync is not None and not callable(sync):
        raise TypeError(f"sync is {sync!r}, which cannot be called; give a function without arguments, not its result")
    return sync or (lambda: None)


def _seconds(seconds):
    """Write a time with four digits in the unit that suits it."""
    for unit, scale in (("sec", 1), ("ms", 1e3)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.4g} {unit}"
    return f"{seconds * 1e6:.4g} µs"


class Benchmark:
    """Time a `with` block once, print `description: 0.1234 sec`, and keep the time in `.seconds`.

    Parameters
    ----------
    description : str
        What the printed line calls the block.
    sync : callable, optional
        Called before the clock starts and before it stops, to drain the engine's queue (`npx.waitall`). Without it
        the block's own return is timed: on an asynchronous engine that is how long queueing took, not the work.

    An exception inside the block passes through, and no time is printed or kept. `.seconds` is None until then.
    TypeError for a `sync` that cannot be called.

    Lesson: 03-asynchronous-computation. A single reading proves little: see `measure`.

    >>> with Benchmark("a million additions") as benchmark:   # doctest: +ELLIPSIS
    ...     total = sum(range(1_000_000))
    a million additions: 0... sec
    >>> benchmark.seconds < 60
    True
    """

    def __init__(self, description="Done", sync=None):
        self.description = description
        self.sync = _callable(sync)
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

    @property
    def spread(self):
        """The distance between the quartiles, in seconds."""
        return self.high - self.low

    def __repr__(self):
        return (f"median {_seconds(self.median)} ({_seconds(self.low)} to {_seconds(self.high)}, "
                f"{len(self.times)} runs)")

    def plot(self, ax=None):
        """Draw the measurement as one bar, with a whisker over the quartiles."""
        Comparison({"": self}).plot(ax)


class Ratio(float):
    """A median of ratios of times, with the quartiles `.low` and `.high`."""

    def __new__(cls, ratios):
        """Take the ratios, in any order."""
        low, median, high = _quartiles(list(ratios))
        ratio = super().__new__(cls, median)
        ratio.low, ratio.high = low, high
        return ratio

    def __repr__(self):
        return f"{float(self):.2f}× ({self.low:.2f}× to {self.high:.2f}×)"

    __str__ = __repr__


class Comparison(Mapping):
    """Several callables measured in turns: a mapping from label to `Measurement`, in the order given."""

    def __init__(self, measurements):
        self._measurements = dict(measurements)

    def __getitem__(self, label):
        return self._measurements[label]

    def __iter__(self):
        return iter(self._measurements)

    def __len__(self):
        return len(self._measurements)

    def ratio(self, slower, faster):
        """Return how many times longer `slower` took than `faster`: the median over the rounds, as a `Ratio`.

        The two are divided round by round, so that a machine that slows down in the middle moves both alike.
        """
        return Ratio(a / b for a, b in zip(self[slower].times, self[faster].times, strict=True))

    def __repr__(self):
        width = max(len(str(label)) for label in self)
        return "\n".join(f"{label!s:<{width}}  {measurement}" for label, measurement in self.items())

    def plot(self, ax=None):
        """Draw one bar a label, as long as the median, with a whisker over the quartiles."""
        import matplotlib.pyplot as plt

        longest = max(measurement.median for measurement in self.values())
        scale, unit = next((s, u) for s, u in ((1, "seconds"), (1e3, "milliseconds"), (1e6, "microseconds"))
                           if longest * s >= 1 or s == 1e6)
        own = ax is None
        if own:
            _, ax = plt.subplots(figsize=(8, 0.9 + 0.55 * len(self)), layout="constrained")
        medians = [m.median * scale for m in self.values()]
        whiskers = [[(m.median - m.low) * scale for m in self.values()],
                    [(m.high - m.median) * scale for m in self.values()]]
        ax.barh([str(label) for label in self], medians, xerr=whiskers, color=BLUE, height=0.6, capsize=5)
        ax.invert_yaxis()
        ax.set_xlabel(f"{unit} (median, whiskers over the middle half)", fontsize=13)
        ax.tick_params(labelsize=13)
        ax.spines[["top", "right"]].set_visible(False)
        if own:
            plt.show()


def measure(fn, *, repeat=7, warmup=1, sync=None):
    """Time a callable several times, or several callables in turns.

    Parameters
    ----------
    fn : callable, or mapping from label to callable
        Each is called without arguments. Several are measured round by round, every second round backwards, so that
        a drifting machine and the order move all of them alike.
    repeat, warmup : int
        Rounds that count (at least 1), and rounds before them that do not (at least 0).
    sync : callable, optional
        Called before the clock starts and before it stops, as in `Benchmark`.

    In a notebook a progress bar shows after two seconds, drawn between the runs.

    Returns
    -------
    Measurement, or for a mapping a Comparison
        Times in seconds; a Comparison also has `.ratio(slower, faster)`. Both have `.plot()`.

    Raises
    ------
    TypeError, ValueError
        Something is not callable, nothing is to be measured, or `repeat` or `warmup` is too small.

    Lesson: 01-imperative-and-symbolic.

    >>> result = measure({"long": lambda: sum(range(100_000)), "short": lambda: sum(range(100))}, repeat=5)
    >>> result["long"].median > result["short"].median
    True
    >>> result.ratio("long", "short") > 10
    True
    """
    several = isinstance(fn, Mapping)
    callables = dict(fn) if several else {"": fn}
    if not callables:
        raise ValueError("measure: the mapping is empty; give at least one callable")
    for label, call in callables.items():
        if not callable(call):
            raise TypeError(f"measure: {label or 'fn'!r} is {call!r}, which cannot be called; "
                            "give a function without arguments, not its result")
    if not whole(repeat, 1) or not whole(warmup, 0):
        raise ValueError(f"measure: repeat={repeat!r} and warmup={warmup!r}, but whole numbers, at least 1 and 0, are "
                         "needed")
    sync = _callable(sync)
    times = {label: [] for label in callables}
    for number in progress(range(-warmup, repeat)):
        for label in reversed(callables) if number % 2 else callables:
            sync()
            start = time.perf_counter()
            callables[label]()
            sync()
            if number >= 0:
                times[label].append(time.perf_counter() - start)
    measurements = {label: Measurement(values) for label, values in times.items()}
    return Comparison(measurements) if several else measurements[""]
