"""Timeline: which operator ran when on which device, from the framework's own profiler."""
import itertools
import json
import os
import re
import tempfile
import time
from typing import NamedTuple

# Okabe and Ito's colours, which colour-blind readers can tell apart; grey is for all operators that come after these.
COLOURS = "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"
GREY, PYTHON = "#999999", "#4d4d4d"
# What the engine does for itself, freeing, waiting and seeding: not the reader's.
HOUSEKEEPING = {"DeleteVariable", "DeleteOperator", "WaitForVar", "ResourceRandomSetSeed",
                "ResourceParallelRandomSetSeed"}


class Operator(NamedTuple):
    """One run of one operator; `start` and `end` in seconds since the Timeline's block began."""

    name: str
    device: str
    start: float
    end: float


class Timeline:
    """Record what runs inside a `with` block: every operator with its device, start and end.

    The queue is drained before the block begins and after it ends, so that the record is whole and nobody else's.
    Usable as often as you like in one kernel, but not one inside another (RuntimeError). An exception inside the
    block, or an operator's late one, passes through; the recording is then stopped and left empty.

    Attributes
    ----------
    operators : list of Operator
        In order of their start.
    devices : list of str
        The devices that ran anything, such as "cpu(0)".
    returned : float
        Seconds after which Python had come to the end of the block, whatever was still queued.
    end : float
        Seconds after which the last operator, and Python, had ended.

    MXNet 1.9.1 keeps one record a core and two more: recording CPU devices with larger numbers stops the process.

    Lesson: 00-start-here. Source of the record: `mxnet.profiler`.

    >>> import mxnet as mx
    >>> with Timeline() as timeline:
    ...     y = mx.nd.ones((100, 100)) + 1
    >>> timeline.devices
    ['cpu(0)']
    >>> [operator.name for operator in timeline.operators]
    ['ones', 'plus_scalar']
    """

    _recording = False

    def __init__(self):
        self.operators, self.returned, self.end = [], 0.0, 0.0

    def __enter__(self):
        if Timeline._recording:
            raise RuntimeError("a Timeline is recording already: end its block before you begin another")
        self.operators, self.returned, self.end = [], 0.0, 0.0
        self._begin()
        Timeline._recording = True
        return self

    def __exit__(self, kind, error, traceback):
        try:
            operators, returned = self._finish()
        finally:
            Timeline._recording = False
        if kind is None:
            self.operators = sorted(operators, key=lambda operator: operator.start)
            self.returned = returned
            self.end = max([returned, *(operator.end for operator in operators)])

    def _begin(self):
        """Drain the queue and start the framework's profiler."""
        import mxnet as mx

        self._folder = tempfile.TemporaryDirectory()
        self._file = os.path.join(self._folder.name, "profile.json")
        try:
            mx.nd.waitall()
            mx.profiler.set_config(filename=self._file, profile_imperative=True, profile_symbolic=True,
                                   continuous_dump=False)
            mx.profiler.set_state("run")
        except BaseException:
            self._folder.cleanup()
            raise
        self._start = time.time()

    def _finish(self):
        """Drain the queue, stop the profiler, whatever comes; return the operators in its record, and when Python came.

        Both by the same clock, the profiler's: a busy machine may stop this process between the reading of two.
        """
        returned = time.time() - self._start
        import mxnet as mx

        try:
            mx.nd.waitall()
        finally:
            mx.profiler.set_state("stop")
            mx.profiler.dump(finished=False)  # finished=True would end profiling for the whole process
            with open(self._file, encoding="utf-8") as file:
                record = file.read()
            self._folder.cleanup()
        return _operators(record, self._start), returned

    @classmethod
    def best(cls, work, key, enough=float("inf"), of=10):
        """Record `work()` up to `of` times, and return the record whose `key(timeline)` is the largest.

        The first one with `enough` ends it. For what a machine *can* do, such as working on two devices at once:
        another program that holds a core may prevent that, none can bring it about, so one record that shows it
        proves it. A quarter of a second lies between two records. ValueError for less than one.

        Lesson: 00-start-here.

        >>> import mxnet as mx
        >>> timeline = Timeline.best(lambda: mx.nd.ones((2, 2)), lambda record: len(record.operators), enough=1)
        >>> [operator.name for operator in timeline.operators]
        ['ones']
        """
        if of < 1:
            raise ValueError(f"Timeline.best: the best of {of} records is none; give of=1 or more")
        best = most = None
        for number in range(of):
            if number:
                time.sleep(0.25)
            with cls() as timeline:
                work()
            found = key(timeline)
            if best is None or found > most:
                best, most = timeline, found
            if most >= enough:
                break
        return best

    @property
    def devices(self):
        """The names of the devices that ran anything, 2 before 10."""
        return sorted({operator.device for operator in self.operators},
                      key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)])

    def _busy(self, device):
        """Return the stretches in which `device` ran anything, as disjoint (start, end) in order."""
        spans = [(o.start, o.end) for o in self.operators if o.device == str(device)]
        if not spans:
            shown = ", ".join(self.devices) or "none at all"
            raise ValueError(f"the Timeline shows no operator on {device}; it shows {shown}")
        merged = [spans[0]]
        for start, end in spans[1:]:
            if start <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(end, merged[-1][1])
            else:
                merged.append((start, end))
        return merged

    def busy(self, device):
        """Return for how many seconds `device` (a device, or its name) ran anything; ValueError if it never did."""
        return sum(end - start for start, end in self._busy(device))

    def overlap(self, a, b):
        """Return the share of the less busy device's time during which both were busy: 0 in turns, 1 side by side.

        `a` and `b` are devices or their names; one that ran nothing raises ValueError.
        """
        both = sum(max(0.0, min(x[1], y[1]) - max(x[0], y[0]))
                   for x, y in itertools.product(self._busy(a), self._busy(b)))
        return both / (min(self.busy(a), self.busy(b)) or 1.0)

    def plot(self, ax=None, label=None):
        """Draw one row a device, one block an operator, and above them Python working through the block's lines.

        `label` takes an Operator and returns what the legend calls it: by default its name. Operators of one label
        share a colour; the labels beyond the six that take longest share grey.
        """
        import matplotlib.pyplot as plt

        rows = ["Python", *self.devices]
        own = ax is None
        if own:
            _, ax = plt.subplots(figsize=(10, 1.6 + 0.5 * len(rows)), layout="constrained")
        scale, unit = (1e3, "milliseconds") if self.end < 2 else (1, "seconds")
        ax.broken_barh([(0, self.returned * scale)], (-0.25, 0.5), color=PYTHON)
        groups = {}
        for operator in self.operators:
            groups.setdefault(label(operator) if label else operator.name, []).append(operator)
        ranked = sorted(groups.items(), key=lambda group: -sum(o.end - o.start for o in group[1]))
        shown, rest = ranked[:len(COLOURS)], ranked[len(COLOURS):]
        if rest:
            shown.append((f"{len(rest)} others", [operator for _, group in rest for operator in group]))
        for (name, group), colour in zip(shown, (*COLOURS, GREY), strict=False):
            for row, device in enumerate(rows):
                spans = [(o.start * scale, (o.end - o.start) * scale) for o in group if o.device == device]
                ax.broken_barh(spans, (row - 0.35, 0.7), facecolor=colour, edgecolor="white", linewidth=0.3)
            ax.plot([], [], color=colour, linewidth=8, label=name.lstrip("_"))  # with it, matplotlib leaves it out
        ax.set_yticks(range(len(rows)), rows)
        ax.invert_yaxis()
        ax.set_xlim(0, (self.end or 1) * scale)
        ax.set_xlabel(f"{unit} since the block began", fontsize=13)
        ax.tick_params(labelsize=13)
        ax.spines[["top", "right"]].set_visible(False)
        if shown:
            ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, frameon=False, fontsize=13)
        if own:
            plt.show()

    def save(self, path):
        """Write the record to `path` as a Chrome trace, which Perfetto (ui.perfetto.dev) opens."""
        rows = {"Python": 0} | {device: row for row, device in enumerate(self.devices, 1)}
        spans = [Operator("the block's lines", "Python", 0.0, self.returned), *self.operators]
        events = [{"ph": "M", "name": "thread_name", "pid": 1, "tid": row, "args": {"name": device}}
                  for device, row in rows.items()]
        events += [{"ph": "X", "name": span.name, "pid": 1, "tid": rows[span.device],
                    "ts": span.start * 1e6, "dur": (span.end - span.start) * 1e6} for span in spans]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events}, file)


_process_names = {}  # the profiler names its processes (one a device) in its first record only: kept for the later ones


def _operators(record, start):
    """Return the operators in one record of `mxnet.profiler`, in seconds since `start` (seconds since the epoch)."""
    events = json.loads(re.sub(r"\[\s*,", "[", record, count=1))["traceEvents"]  # later records begin with a comma
    _process_names.update({e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M"})
    found, begun = [], {}
    for event in events:
        key = event["pid"], event.get("tid"), event["name"]
        if event["ph"] == "B":
            begun[key] = event["ts"]
        elif event["ph"] == "E" and event["name"] not in HOUSEKEEPING:
            name = re.sub(r"^_(npi|npx|np)?_?", "", event["name"])
            found.append(Operator(name, _device(event["pid"]), begun.pop(key) / 1e6 - start, event["ts"] / 1e6 - start))
    return found


def _device(process):
    """Name the device of one of the profiler's processes: "cpu/0" is cpu(0)."""
    kind, _, number = _process_names.get(process, "").partition("/")
    return f"{kind}({number})" if number else f"cpu({process})"  # its two spare slots serve the next CPU devices
