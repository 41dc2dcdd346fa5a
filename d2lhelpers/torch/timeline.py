"""The Timeline of the PyTorch track, over `torch.profiler`."""
import json
import os
import re
import tempfile
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile, record_function

from .. import timeline
from .waits import synchronize

BLOCK = "Timeline block"  # the name of the block in the record
ON_GPU = "kernel", "gpu_memcpy", "gpu_memset"
WAITS = re.compile("cuda.*Synchronize")  # the calls in which Python waits for a GPU
# Not called by Python: steps of a backward pass, guards, and what gloo's threads do.
NOT_CALLED = "autograd::engine", "TorchDynamo Cache Lookup", "gloo:"


class Timeline(timeline.Timeline):
    """Record what runs inside a `with` block: every operator with its device, start and end.

    See `d2lhelpers.timeline.Timeline` for what a record holds; `memory` stays empty. An operator that calls others is
    shown as one. On a CPU each thread has a row: "cpu", "cpu thread 1", ... On a GPU kernels and copies are shown where
    they ran: "cuda:0", or with several streams "cuda:0 stream 7", ...; the CPU's rows then show which thread queued
    them. A process group's all-reduces have rows of their own, too: gloo's threads make them. Lesson:
    pytorch/00-start-here.

    >>> x = torch.ones(100, 100)
    >>> with Timeline() as timeline:
    ...     y = (x + 1).exp()
    >>> [operator.name for operator in timeline.operators], timeline.devices, timeline.calls
    (['add', 'exp'], ['cpu'], 2)
    """

    def _begin(self):
        synchronize()
        activities = [ProfilerActivity.CPU]
        if torch.cuda.is_available():
            activities.append(ProfilerActivity.CUDA)
        every_thread = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
        self._profile = profile(activities=activities, experimental_config=every_thread)
        os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # or the profiler would write two lines at each start
        self._profile.start()
        if torch.cuda.is_available():  # the first kernel after a start waits 3 ms for the profiler
            torch.zeros(1, device="cuda")
            synchronize()
        self._block = record_function(BLOCK)
        self._block.__enter__()

    def _finish(self):
        self._block.__exit__(None, None, None)  # before the wait, so that the block lasts as long as Python needed
        try:
            synchronize()
        finally:
            self._profile.stop()
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "trace.json")
                self._profile.export_chrome_trace(str(path))
                events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
            del self._profile, self._block
        return _read([event for event in events if event.get("ph") == "X"])


def _read(events):
    """Return operators (each thread's outermost ones and those on GPUs), Python's end, calls and waits of a record."""
    [block] = [event for event in events if event["name"] == BLOCK and event["cat"] == "user_annotation"]

    def seconds(event):
        return (event["ts"] - block["ts"]) / 1e6, (event["ts"] + event["dur"] - block["ts"]) / 1e6

    events = [event for event in events if event["ts"] >= block["ts"]]  # without what began before the block
    events.sort(key=lambda event: (event["ts"], -event["dur"]))  # an operator before those that it calls
    outermost = _outermost_on_cpu(events)
    on_gpu = [event for event in events if event["cat"] in ON_GPU]
    rows = _rows_of_threads(outermost, block["tid"]) + _rows_of_gpus(on_gpu)
    operators = []
    for event, row in zip(outermost + on_gpu, rows, strict=True):
        operators.append(timeline.Operator(_name(event), row, *seconds(event)))
    returned = block["dur"] / 1e6
    calls = [event for event in outermost if not event["name"].startswith(NOT_CALLED)]
    waits = []
    for event in events:
        start, end = seconds(event)
        if event["tid"] == block["tid"] and start < returned and WAITS.match(event["name"]):
            waits.append((start, end))
    return operators, returned, len(calls), waits


def _outermost_on_cpu(events):
    """Return the operators on CPUs that no other one of their thread has called; the events are in order."""
    outermost = []
    ends = {}  # by thread, when its last operator ended: what begins before is inside that operator
    for event in events:
        on_cpu = event["cat"] == "cpu_op" or event["name"].startswith("gloo:")
        if on_cpu and event["ts"] >= ends.get(event["tid"], event["ts"]):
            ends[event["tid"]] = event["ts"] + event["dur"]
            outermost.append(event)
    return outermost


def _rows_of_threads(events, python):
    """Return the row of each event's thread: that of Python's thread is "cpu", others are numbered as they come."""
    rows = {python: "cpu"}
    return [rows.setdefault(event["tid"], f"cpu thread {len(rows)}") for event in events]


def _rows_of_gpus(events):
    """Return the row of each event's GPU, or of its stream where the GPU has several."""
    places = [_place(event) for event in events]
    devices = [device for device, _ in set(places)]  # a device once for each of its streams
    rows = []
    for device, stream in places:
        several = devices.count(device) > 1
        rows.append(f"cuda:{device} stream {stream}" if several else f"cuda:{device}")
    return rows


def _place(event):
    """Return the GPU and the stream that ran something. A copy between GPUs calls the GPU that ran it "inDevice"."""
    return event["args"].get("device", event["args"].get("inDevice")), event["args"]["stream"]


def _name(event):
    """Return an operator's name without namespaces, and a kernel's without its C++ types."""
    name = event["name"]
    if event["cat"] == "kernel":
        name = re.split(r"[<(]", name.replace("(anonymous namespace)::", ""))[0].removeprefix("void ")
    return name.split("::")[-1].removeprefix("evaluate_function: ").removeprefix("gloo:")
