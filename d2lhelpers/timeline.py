"""What all Timelines share: a record of which operator ran when on which device, with its figures and its picture."""
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
    """One run of one operator; `start` and `end` are in seconds since the Timeline's block began."""

    name: str
    device: str
    start: float
    end: float


class Timeline:
    """A record of what ran inside a `with` block; each framework has a Timeline of its own, which makes the record.

    The queue is drained before the block begins and after it ends. If the block raises an exception, or an operator
    that it has queued fails later, the exception is raised as usual and the Timeline stays empty. A Timeline can be
    pickled, so a function that runs in another process can return one. All times are seconds since the block began:

    - `operators`: the list of Operators, in order of their start;
    - `returned`: when Python reached the end of the block; `end`: when everything had ended;
    - `waits`: the list of (start, end) in which Python waited for results;
    - `calls`: how often Python handed work over: an operator, a compiled graph or a backward pass;
    - `memory`: with MXNet's `Timeline(memory=True)` the list of (seconds, bytes) in use, relative to before the block.

    Lesson: 00-start-here.

    Raises:
        RuntimeError: The block is inside the block of another Timeline.

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
        self.returned = returned
        self.calls = calls
        self.waits = list(waits)
        self.memory = list(memory)
        self.end = max([returned, *(operator.end for operator in operators)])

    def __repr__(self):
        busy = ", ".join(f"{device} busy {share:.0%}" for device, share in self.utilization.items()) or "no operators"
        return (f"{len(self.operators)} operators in {self.end * 1e3:.2f} ms: {busy}\n"
                f"Python: {self.calls} calls, {len(self.waits)} waits, done after {self.returned * 1e3:.2f} ms")

    def __enter__(self) -> "Timeline":
        if Timeline._recording:
            raise RuntimeError("a Timeline is already recording: end its block before you begin another")
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
        """Drain the queue, and start recording."""
        raise NotImplementedError

    def _finish(self):
        """Drain the queue, stop recording, and return the arguments for `_keep`."""
        raise NotImplementedError

    @classmethod
    def best(cls, work: Callable[[], object], key: Callable[["Timeline"], float], enough: float = float("inf"),
             of: int = 10) -> "Timeline":
        """Record `work()` up to `of` times, and return the record whose `key(timeline)` is the largest.

        It stops at the first record that reaches `enough`. Use it to show what a machine *can* do: other programs can
        only make a record worse. Lesson: 00-start-here.
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
        def text_and_numbers(name):
            return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]

        return sorted({operator.device for operator in self.operators}, key=text_and_numbers)

    def _busy(self, device):
        """Return the spans in which `device` ran anything, as disjoint (start, end) in order."""
        spans = []
        last_end = 0.0
        for operator in self.operators:
            if operator.device == str(device):
                start = max(operator.start, last_end)
                last_end = max(operator.end, last_end)
                spans.append((start, last_end))
        if not spans:
            raise ValueError(f"the Timeline shows no operator on {device}; it shows {self.devices}")
        return spans

    def busy(self, device: object) -> float:
        """Return for how many seconds `device` (a device, or its name) ran anything.

        Raises:
            ValueError: It ran nothing.
        """
        return sum(end - start for start, end in self._busy(device))

    @property
    def utilization(self) -> dict[str, float]:
        """For each device, the share of the time from 0 to `end` in which it ran anything."""
        return {device: round(self.busy(device) / self.end, 3) for device in self.devices}

    def overlap(self, a: object, b: object) -> float:
        """Return the share of the less busy device's time in which both were busy: 0 in turns, 1 side by side.

        Raises:
            ValueError: One of the devices ran nothing.
        """
        both = 0.0
        for start_a, end_a in self._busy(a):
            for start_b, end_b in self._busy(b):
                both += max(0.0, min(end_a, end_b) - max(start_a, start_b))
        return both / (min(self.busy(a), self.busy(b)) or 1.0)

    def plot(self, ax: "Axes | None" = None, label: Callable[[Operator], str] | None = None) -> None:
        """Draw one row per device with one block per operator, and above them Python's row, hatched where Python waits.

        `label` takes an Operator and returns the name to show for it, so that a lesson can group operators.
        """
        timeline_plot.draw(self, ax, label)

    @staticmethod
    def plot_all(records: "Mapping[str, Timeline]", label: Callable[[Operator], str] | None = None) -> None:
        """Draw several records one above the other on one scale of time: `records` maps titles to Timelines."""
        timeline_plot.draw_all(records, label)

    def plot_memory(self, ax: "Axes | None" = None, label: str | None = None) -> None:
        """Draw the memory in use since the block began. `label` names the curve where `ax` has several.

        Lesson: 03-asynchronous-computation.

        Raises:
            ValueError: The Timeline recorded no memory.
        """
        if not self.memory:
            raise ValueError("this Timeline recorded no memory; with MXNet, make it with Timeline(memory=True)")
        points = [(seconds * 1e3, size / 1e6) for seconds, size in self.memory]
        plots.curves({label or "": points}, "milliseconds since the block began", "megabytes more", ax)

    def save(self, path: str | PathLike) -> None:
        """Write the record to `path` as a Chrome trace, which Perfetto (ui.perfetto.dev) opens."""
        rows = ["Python", *self.devices]
        events = []
        for row, name in enumerate(rows):
            events.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": row, "args": {"name": name}})
        block = Operator("the block's lines", "Python", 0.0, self.returned)
        for span in [block, *self.operators]:
            events.append({"ph": "X", "name": span.name, "pid": 1, "tid": rows.index(span.device),
                           "ts": span.start * 1e6, "dur": (span.end - span.start) * 1e6})
        Path(path).write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
