"""The Timeline of the MXNet track, over `mxnet.profiler`."""
import functools
import json
import re
import tempfile
from pathlib import Path

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
        mx.profiler.set_config(profile_memory=self._with_memory, continuous_dump=False)
        mx.profiler.set_state("run")
        _marker(BEGIN).mark()

    def _finish(self):
        import mxnet as mx
        _marker(END).mark()
        try:
            mx.nd.waitall()
        finally:
            mx.profiler.set_state("stop")
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "profile.json")
                mx.profiler.set_config(filename=str(path), continuous_dump=False)
                mx.profiler.dump(finished=False)  # other records may follow
                text = re.sub(r"\[\s*,", "[", path.read_text("utf-8"), count=1)  # later records begin with a comma
            events = json.loads(text)["traceEvents"]
            _processes.update({event["pid"]: event["args"]["name"] for event in events if event["ph"] == "M"})
        return _read(events)


_processes: dict[int, str] = {}  # the profiler names its processes, one per device, only in its first record
_levels: dict[str, int] = {}  # the last values of the profiler's counters of memory, which go on in the next record


@functools.cache  # MXNet never frees what belongs to a marker
def _marker(name):
    import mxnet as mx
    return mx.profiler.Marker(mx.profiler.Domain("Timeline"), name)


def _read(events):
    """Return operators, Python's end, calls, waits and memory from the events of one record of `mxnet.profiler`."""
    begin = next(event for event in events if event["name"] == BEGIN and event["ph"] == "n")
    end = next(event for event in events if event["name"] == END and event["ph"] == "n")
    threads = _devices_of_threads(events, begin["tid"])
    operators = []
    calls = 0
    waits = []
    begun = {}
    for event in events:
        name = event["name"]
        kind = event["ph"]  # B and E: an operator begins and ends; b and e: a call of the C library
        seconds = (event.get("ts", 0) - begin["ts"]) / 1e6
        if kind in ("B", "b"):
            begun[event["pid"], event["tid"], name] = seconds
        elif kind in ("E", "e"):
            start = begun.pop((event["pid"], event["tid"], name))
            if kind == "E" and not HOUSEKEEPING.match(name):
                device = _device(event["pid"]) or threads.get(event["tid"], f"cpu({event['pid']})")
                operators.append(Operator(re.sub(r"^_(npi|npx|np)?_?", "", name), device, start, seconds))
            elif event["ts"] <= end["ts"]:
                if CALLS.match(name):
                    calls += 1
                if WAITS.match(name) and event["tid"] == begin["tid"]:
                    waits.append((start, seconds))
    return operators, (end["ts"] - begin["ts"]) / 1e6, calls, waits, _memory(events, begin["ts"])


def _devices_of_threads(events, python):
    """Return the device of each thread that runs operators, but not of Python's thread, which NaiveEngine uses for all.

    All copies through page-locked memory are in one process of the record, so only the thread tells which device made
    them. A CPU device beyond the cores is in that process, too, but its thread runs more than copies: it is left out.
    """
    devices = {}
    beyond_the_cores = set()
    for event in events:
        if event["ph"] != "E" or event["tid"] == python:
            continue
        device = _device(event["pid"])
        if device:
            devices[event["tid"]] = device
        elif not re.match("Copy|Delete", event["name"]):
            beyond_the_cores.add(event["tid"])
    return {thread: device for thread, device in devices.items() if thread not in beyond_the_cores}


def _memory(events, begin):
    """Return the memory in use after each allocation, relative to the level before the block."""
    counts = [event for event in events if event["name"].startswith("Memory: ")]
    counts.sort(key=lambda event: (event["ts"], event["name"]))
    before = sum(_levels.values())
    memory = [(0.0, 0)] if counts else []
    for event in counts:
        _levels.update(event["args"])
        memory.append(((event["ts"] - begin) / 1e6, sum(_levels.values()) - before))
    return memory


def _device(process):
    """Return the device of a process in the record: "cpu(0)" for "cpu/0", None for CPU devices beyond the cores."""
    kind, _, number = _processes.get(process, "").partition("/")
    return f"{kind}({number})" if number else None
