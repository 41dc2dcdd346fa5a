"""What all Timelines share: a record of which operator ran when on which device, with its figures and its picture."""
import itertools
import json
import re
import time
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from . import plots, timeline_plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Operator(NamedTuple):
    """One run of one operator; `start` and `end` in seconds since the Timeline's block began."""

    name: str
    device: str
    start: float
    end: float


class Timeline:
    """A record of what ran inside a `with` block; each framework's own Timeline knows how to make one.

    The queue is drained before the block begins and after it ends. One Timeline inside another is a RuntimeError. An
    exception in the block, or an operator's late one, passes through, and the Timeline is then empty. It can be
    pickled, so a function that runs in another process can return it. All times are seconds since the block began:

    - `operators`: the list of Operators, in order of their start;
    - `returned`: when Python reached the end of the block; `end`: when everything had ended;
    - `waits`: the list of (start, end) in which Python waited for results;
    - `calls`: how often Python handed work over, be it an operator, a compiled graph or a backward pass;
    - `memory`: with MXNet's `Timeline(memory=True)` the list of (seconds, bytes) in use, relative to before the block.

    Lesson: 00-start-here.

    >>> record = Timeline()
    >>> record._keep([Operator("dot", "cpu(0)", 0.0, 0.002), Operator("exp", "cpu(1)", 0.001, 0.002)], returned=0.001)
    >>> record.devices, record.overlap("cpu(0)", "cpu(1)")
    (['cpu(0)', 'cpu(1)'], 1.0)
    """

    operators: list[Operator]
    returned: float
    end: float
    calls: int
    waits: list[tuple[float, float]]
    memory: list[tuple[float, int]]
    _recording = False

    def __init__(self, memory: bool = False):
        self._with_memory = memory
        self._keep()

    def _keep(self, operators=(), returned=0.0, calls=0, waits=(), memory=()):
        self.operators = sorted(operators, key=lambda operator: operator.start)
        self.returned, self.calls, self.waits, self.memory = returned, calls, list(waits), list(memory)
        self.end = max([returned, *(operator.end for operator in operators)])

    def __repr__(self):
        busy = ", ".join(f"{device} busy {share:.0%}" for device, share in self.utilization.items()) or "no operators"
        return (f"{len(self.operators)} operators in {self.end * 1e3:.2f} ms: {busy}\n"
                f"Python: {self.calls} calls, {len(self.waits)} waits, done after {self.returned * 1e3:.2f} ms")

    def __enter__(self) -> "Timeline":
        if Timeline._recording:
            raise RuntimeError("a Timeline is recording already: end its block before you begin another")
        self._keep()
        self._begin()
        Timeline._recording = True
        return self

    def __exit__(self, kind, error, traceback) -> None:
        try:
            record = self._finish()
        finally:
            Timeline._recording = False
        if kind is None:
            self._keep(*record)

    def _begin(self):
        """Drain the queue, and begin to record."""
        raise NotImplementedError

    def _finish(self):
        """Drain the queue, stop recording, and return what `_keep` takes."""
        raise NotImplementedError

    @classmethod
    def best(cls, work: Callable[[], object], key: Callable[["Timeline"], float], enough: float = float("inf"),
             of: int = 10) -> "Timeline":
        """Record `work()` up to `of` times, and return the record whose `key(timeline)` is the largest.

        It stops at the first that reaches `enough`. Use it for what a machine *can* do: other programs only prevent it.
        """
        records: list[Timeline] = []
        while len(records) < of and not any(key(record) >= enough for record in records):
            time.sleep(0.05 * len(records))  # longer each time: the other program may be done by then
            with cls() as record:
                work()
            records.append(record)
        return max(records, key=key)

    @property
    def devices(self) -> list[str]:
        """The names of the devices that ran anything, such as "cpu(0)"; 2 comes before 10."""
        return sorted({operator.device for operator in self.operators},
                      key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)])

    def _busy(self, device):
        """Return the spans in which `device` ran anything, as disjoint (start, end) in order."""
        spans, last = [], 0.0
        for operator in self.operators:
            if operator.device == str(device):
                spans.append((max(operator.start, last), max(operator.end, last)))
                last = spans[-1][1]
        if not spans:
            raise ValueError(f"the Timeline shows no operator on {device}; it shows {self.devices}")
        return spans

    def busy(self, device: object) -> float:
        """Return for how many seconds `device` (a device, or its name) ran anything; ValueError if it never did."""
        return sum(end - start for start, end in self._busy(device))

    @property
    def utilization(self) -> dict[str, float]:
        """For each device the share of the time from 0 to `end` during which it ran anything."""
        return {device: round(self.busy(device) / self.end, 3) for device in self.devices}

    def overlap(self, a: object, b: object) -> float:
        """Return the share of the less busy device's time during which both were busy: 0 in turns, 1 side by side."""
        both = sum(max(0.0, min(x[1], y[1]) - max(x[0], y[0]))
                   for x, y in itertools.product(self._busy(a), self._busy(b)))
        return both / (min(self.busy(a), self.busy(b)) or 1.0)

    def plot(self, ax: "Axes | None" = None, label: Callable[[Operator], str] | None = None) -> None:
        """Draw one row per device, one block per operator, and above them Python, hatched where it waits.

        `label` takes an Operator and returns another name for it, so that a lesson can group operators.
        """
        timeline_plot.draw(self, ax, label)

    @staticmethod
    def plot_all(records: "Mapping[str, Timeline]", label: Callable[[Operator], str] | None = None) -> None:
        """Draw several records one above the other on one scale of time: `records` maps titles to Timelines."""
        timeline_plot.draw_all(records, label)

    def plot_memory(self, ax: "Axes | None" = None, label: str | None = None) -> None:
        """Draw the memory in use since the block began; `label` names the curve among others on the same `ax`."""
        if not self.memory:
            raise ValueError("this Timeline recorded no memory; with MXNet, make it with Timeline(memory=True)")
        points = [(seconds * 1e3, size / 1e6) for seconds, size in self.memory]
        plots.curves({label or "": points}, "milliseconds since the block began", "megabytes more", ax)

    def save(self, path: str | PathLike) -> None:
        """Write the record to `path` as a Chrome trace, which Perfetto (ui.perfetto.dev) opens."""
        rows, block = ["Python", *self.devices], Operator("the block's lines", "Python", 0.0, self.returned)
        events = [{"ph": "M", "name": "thread_name", "pid": 1, "tid": row, "args": {"name": name}}
                  for row, name in enumerate(rows)]
        events += [{"ph": "X", "name": span.name, "pid": 1, "tid": rows.index(span.device), "ts": span.start * 1e6,
                    "dur": (span.end - span.start) * 1e6} for span in [block, *self.operators]]
        Path(path).write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
