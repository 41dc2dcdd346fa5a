"""Find the bottleneck of a PyTorch function: its counts against what the machine can do, and its waits."""
import contextlib
import time
import warnings
from collections.abc import Callable, Mapping
from typing import NamedTuple

from torch.utils.data import dataloader

from ..machine import MachineLimits
from ..plots import BLUE, COMMUNICATION, DEVICES, FONT, PYTHON, axes
from .work import Counts, count_work

COLOURS = {
    "waiting": "white", "feeding": DEVICES[2], "overhead": PYTHON, "memory": COMMUNICATION, "arithmetic": BLUE}


class Breakdown(NamedTuple):
    """The seconds that a function took, and five parts that can be its bottleneck; made by `find_bottleneck`.

    `processor` is how long this thread used the processor. `waiting` and `feeding` are measured. `overhead`, `memory`
    and `arithmetic` are the shortest times that the counts allow on this machine. `counts` holds the counts.
    """

    seconds: float
    processor: float
    waiting: float
    feeding: float
    overhead: float
    memory: float
    arithmetic: float
    counts: Counts

    @property
    def parts(self) -> dict[str, float]:
        """The five parts by name, in seconds."""
        return {name: getattr(self, name) for name in self._fields[2:7]}

    @property
    def bound_by(self) -> str:
        """The name of the largest part."""
        return max(self.parts, key=self.parts.__getitem__)

    @property
    def binds(self) -> str:
        """The same as `bound_by`, for copies of lessons made with an earlier version."""
        warnings.warn("Breakdown.binds is now bound_by; the old name goes with the next release", FutureWarning,
                      stacklevel=2)
        return self.bound_by


def find_bottleneck(fn: Callable[[], object], machine: MachineLimits) -> Breakdown:
    """Call `fn()` twice, with a clock and with counters, and return a `Breakdown` of its time on a `machine`.

    `machine` is what `limits` returns. Waiting is the time in which this thread neither runs nor is ready to run,
    feeding the time inside of DataLoaders (without what other programs take on Linux, with it elsewhere). Both are for
    a CPU, where nothing is queued. Lesson: pytorch/10-find-the-bottleneck.

    >>> machine = MachineLimits("example", peak=1e9, bandwidth=1e9, dispatch=1e-6)
    >>> find_bottleneck(lambda: time.sleep(0.2), machine).bound_by
    'waiting'
    """
    loading = _Clock()
    with _clocked_loaders(loading), _Clock() as all_of_it:
        start = time.perf_counter()
        fn()
        seconds = time.perf_counter() - start
    counts = count_work(fn)
    return Breakdown(seconds, all_of_it.used, max(all_of_it.idle - loading.idle, 0.0), loading.used + loading.idle,
                 counts.calls * machine.dispatch, counts.bytes / machine.bandwidth, counts.flops / machine.peak, counts)


def plot_parts(found: Mapping[str, Breakdown]) -> None:
    """Draw one bar for each `Breakdown`, all of the same length, divided into the five parts.

    Lesson: pytorch/10-find-the-bottleneck.
    """
    with axes(None, (10, 1.6 + 0.6 * len(found)), "share of the five parts") as ax:
        said = []
        for row, (label, breakdown) in enumerate(found.items()):
            total = sum(breakdown.parts.values())
            shares = {part: seconds / total for part, seconds in breakdown.parts.items()}
            _draw_bar(ax, row, shares)
            said.append(f"{label}: {', '.join(f'{part} {share:.0%}' for part, share in shares.items())}")
        ax.set_label("; ".join(said))
        ax.set_yticks(range(len(found)), list(found))
        ax.invert_yaxis()
        ax.legend(ncols=len(COLOURS), fontsize=FONT, frameon=False, columnspacing=1, loc="lower center",
                  bbox_to_anchor=(0.5, 1))


def _draw_bar(ax, row, shares):
    """Draw a bar of the five parts; those of the first row name the parts for the legend."""
    left = 0.0
    for part, share in shares.items():
        hatch = "//" if part == "waiting" else ""
        name = part if row == 0 else None
        ax.barh(row, share, 0.7, left, color=COLOURS[part], edgecolor=PYTHON, hatch=hatch, label=name)
        left += share


class _Clock:
    """Add up for `with` blocks how long this thread `used` the processor, and how long it was `idle`.

    Idle means blocked: neither running nor runnable.
    """

    def __init__(self):
        self.used = self.idle = 0.0

    def __enter__(self):
        self._time_at_start = _unqueued_time()
        self._used_at_start = time.thread_time()
        return self

    def __exit__(self, *error):
        passed = _unqueued_time() - self._time_at_start
        used = time.thread_time() - self._used_at_start
        self.used += used
        self.idle += max(passed - used, 0.0)


def _unqueued_time():
    """Return wall-clock time minus run-queue wait, both of one moment."""
    while True:
        waited = _run_queue_wait()
        now = time.perf_counter()
        # Read again if others had the core between the two readings, for tens of milliseconds on a busy machine.
        if _run_queue_wait() == waited:
            return now - waited


def _run_queue_wait():
    """Return for how many seconds this thread has been ready to run while others had the processor, if known."""
    try:
        with open("/proc/thread-self/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


@contextlib.contextmanager
def _clocked_loaders(clock):
    """Let `clock` run while a DataLoader is asked for a batch."""
    kind = dataloader._BaseDataLoaderIter
    take = kind.__next__

    def clocked_take(iterator):
        with clock:
            return take(iterator)

    kind.__next__ = clocked_take
    try:
        yield
    finally:
        kind.__next__ = take


def training_flops(weights: int, layers: int, width: int, length: int, rows: int) -> int:
    """Return the FLOPs of a training step of a GPT: 6 per weight and token, and those of attention.

    `weights` are the numbers in matrices that multiply tokens: no embeddings. The products of attention, of queries
    with keys and of weights with values, take 12 × `length` × `width` per token and layer; a mask saves none. Lesson:
    pytorch/10-find-the-bottleneck. Source: J. Kaplan and others, Scaling laws for neural language models, 2020.

    >>> training_flops(weights=1000, layers=1, width=10, length=8, rows=2)
    111360
    """
    tokens = rows * length
    return 6 * weights * tokens + 12 * layers * width * length * tokens
