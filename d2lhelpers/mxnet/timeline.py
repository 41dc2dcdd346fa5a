"""The Timeline of the MXNet track, over `mxnet.profiler`."""
import functools
import json
import re
import tempfile
from pathlib import Path
from typing import NamedTuple

from .. import timeline
from ..timeline import Operator

# Markers in the record, on the profiler's own clock.
BEGIN = "Timeline begins"
END = "Timeline ends"
HOUSEKEEPING = re.compile("Delete|WaitForVar|Resource.*SetSeed")  # the engine's own work, not the reader's
# Functions of MXNet's C library: with CALLS Python hands over work, in WAITS it waits for results.
CALLS = re.compile("MX(ImperativeInvokeEx|InvokeCachedOpEx|AutogradBackward|Executor(For|Back)ward|KVStorePu)")
WAITS = re.compile("MXNDArray(WaitAll|WaitToRead|WaitToWrite|SyncCopyToCPU)")


class Timeline(timeline.Timeline):
    """Record what runs inside a `with` block: every operator with its device, start and end.

    See `d2lhelpers.timeline.Timeline` for what a record holds. MXNet's profiler ends the process if another thread uses
    MXNet while a Timeline begins or ends, or if there are more CPU devices than cores plus two. Lesson: 00-start-here.

    >>> import mxnet as mx
    >>> with Timeline() as timeline:
    ...     y = mx.nd.ones((100, 100)) + 1
    >>> [operator.name for operator in timeline.operators], timeline.devices, timeline.calls
    (['ones', 'plus_scalar'], ['cpu(0)'], 2)
    """

    def _begin(self):
        import mxnet as mx
        mx.nd.waitall()
        _recorder.start(self._with_memory)

    def _finish(self):
        import mxnet as mx
        _recorder.mark(END)
        try:
            mx.nd.waitall()
        finally:
            events = _recorder.stop()
        return _recorder.read(events)


class _Recorder:
    """Make records with MXNet's profiler, and read them.

    One recorder makes all records of a process, because one record does not say everything: only the first has the
    names of the `processes`, one per device, and the counters of memory go on from their last values, the `levels`.
    """

    def __init__(self):
        self.processes = {}
        self.levels = {}

    def start(self, with_memory):
        """Start recording, and mark the beginning."""
        import mxnet as mx
        mx.profiler.set_config(profile_memory=with_memory, continuous_dump=False)
        mx.profiler.set_state("run")
        self.mark(BEGIN)

    def mark(self, name):
        """Put a marker into the record."""
        self._markers[name].mark()

    @functools.cached_property
    def _markers(self):
        """The two markers. MXNet never frees what belongs to a marker, so all records share them."""
        import mxnet as mx
        domain = mx.profiler.Domain("Timeline")
        return {name: mx.profiler.Marker(domain, name) for name in (BEGIN, END)}

    def stop(self):
        """Stop recording, and return the events of the record."""
        import mxnet as mx
        mx.profiler.set_state("stop")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "profile.json")
            mx.profiler.set_config(filename=str(path), continuous_dump=False)
            mx.profiler.dump(finished=False)  # other records may follow
            text = re.sub(r"\[\s*,", "[", path.read_text("utf-8"), count=1)  # later records begin with a comma
        events = json.loads(text)["traceEvents"]
        self.processes.update({event["pid"]: event["args"]["name"] for event in events if event["ph"] == "M"})
        return events

    def read(self, events):
        """Return operators, Python's end, calls, waits and memory from the events of a record."""
        begin = next(event for event in events if event["name"] == BEGIN and event["ph"] == "n")
        end = next(event for event in events if event["name"] == END and event["ph"] == "n")
        python = begin["tid"]
        returned = (end["ts"] - begin["ts"]) / 1e6
        devices = self._devices_of_threads(events, python)
        operators = []
        for span in _spans(events, "BE", begin["ts"]):
            if not HOUSEKEEPING.match(span.name):
                device = self._device(span.process) or devices.get(span.thread, f"cpu({span.process})")
                name = re.sub(r"^_(npi|npx|np)?_?", "", span.name)
                operators.append(Operator(name, device, span.start, span.end))
        in_block = [span for span in _spans(events, "be", begin["ts"]) if span.end <= returned]
        calls = [span for span in in_block if CALLS.match(span.name)]
        waits = [(span.start, span.end) for span in in_block if span.thread == python and WAITS.match(span.name)]
        return operators, returned, len(calls), waits, self._memory(events, begin["ts"])

    def _device(self, process):
        """Return the device of a process in the record: "cpu(0)" for "cpu/0", None for CPU devices beyond the cores."""
        kind, _, number = self.processes.get(process, "").partition("/")
        return f"{kind}({number})" if number else None

    def _devices_of_threads(self, events, python):
        """Return the device of each thread that runs operators, but not of Python's, which NaiveEngine uses for all.

        All copies through page-locked memory are in one process of the record, so only the thread tells which device
        made them. A CPU device beyond the cores is in that process, too, but its thread runs more than copies: it is
        left out.
        """
        devices = {}
        beyond_the_cores = set()
        for event in events:
            if event["ph"] != "E" or event["tid"] == python:
                continue
            device = self._device(event["pid"])
            if device:
                devices[event["tid"]] = device
            elif not re.match("Copy|Delete", event["name"]):
                beyond_the_cores.add(event["tid"])
        return {thread: device for thread, device in devices.items() if thread not in beyond_the_cores}

    def _memory(self, events, begin):
        """Return the memory in use after each allocation, relative to the level before the block."""
        counts = [event for event in events if event["name"].startswith("Memory: ")]
        counts.sort(key=lambda event: (event["ts"], event["name"]))
        before = sum(self.levels.values())
        memory = [(0.0, 0)] if counts else []
        for event in counts:
            self.levels.update(event["args"])
            memory.append(((event["ts"] - begin) / 1e6, sum(self.levels.values()) - before))
        return memory


_recorder = _Recorder()


class _Span(NamedTuple):
    """An operator's run, or a call of the C library; times in seconds since the block began."""

    name: str
    process: int
    thread: int
    start: float
    end: float


def _spans(events, kinds, begin):
    """Return the spans from events of two kinds: "BE" begin and end operators, "be" calls of the C library."""
    spans = []
    starts = {}
    for event in events:
        if event["ph"] in kinds:
            key = event["name"], event["pid"], event["tid"]
            seconds = (event["ts"] - begin) / 1e6
            if event["ph"] == kinds[0]:
                starts[key] = seconds
            else:
                spans.append(_Span(*key, starts.pop(key), seconds))
    return spans
