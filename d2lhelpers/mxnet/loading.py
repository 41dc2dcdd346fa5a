"""Who loads batches while a device computes: rows for the threads that load, and a count of batches begun early."""
import contextlib
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from ..timeline import Operator
from .timeline import Timeline


def draw_pictures(folder: str | Path, number: int, side: int) -> list[Path]:
    """Draw `number` grey pictures of `side` x `side` pixels into PNG files of `folder`, and return the files, in order.

    The pictures are waves with noise, the same ones each time. Lesson: deeper/a-loader-that-starves.
    """
    from PIL import Image
    rows, columns = np.mgrid[:side, :side]
    files = []
    for each in range(number):
        waves = 100 + 100 * np.sin(np.hypot(rows - 2 * each, columns - side / 2) / 9)
        noise = np.random.default_rng(each).integers(0, 40, size=(side, side))
        files.append(Path(folder, f"{each}.png"))
        Image.fromarray((waves + noise).astype("uint8")).save(files[-1])
    return files


class Loads:
    """A log of which thread loaded a part of which batch, and when. Lesson: deeper/a-loader-that-starves.

    >>> loads = Loads()
    >>> with loads.of_batch(3):
    ...     picture = np.zeros((2, 2))
    >>> [(batch, thread) for batch, thread, start, end in loads.spans]
    [(3, 'MainThread')]
    """

    def __init__(self):
        self.spans: list[tuple[int, str, float, float]] = []

    @contextlib.contextmanager
    def of_batch(self, batch: int):
        """Note that the block loads a part of this batch."""
        start = time.perf_counter()
        yield
        self.spans.append((batch, threading.current_thread().name, start, time.perf_counter()))

    def timeline(self, work: Callable[[], object]) -> Timeline:
        """Record `work()`, with a row for each thread that loads: "thread 0" is Python's own.

        Their times can only be too late, never too early, beside those of the engine: the clocks are compared after the
        work, before the Timeline's end.
        """
        self.spans.clear()
        with Timeline() as record:
            work()
            end = time.perf_counter()
        rows = {"MainThread": "thread 0"}
        for batch, thread, start, stop in self.spans:
            row = rows.setdefault(thread, f"thread {len(rows)}")
            times = start - end + record.returned, stop - end + record.returned
            record.operators.append(Operator(f"load {batch}", row, *times))
        return record

    def best(self, work: Callable[[], object], per_batch: int = 1) -> Timeline:
        """Record `work()` up to four times, and return the record with the most batches that were begun early."""
        records: list[Timeline] = []
        while len(records) < 4 and not any(begun_early(each, per_batch) > 9 for each in records):
            records.append(self.timeline(work))
        return max(records, key=lambda record: begun_early(record, per_batch))


def begun_early(record: Timeline, per_batch: int = 1) -> int:
    """Return how many batches began to be loaded before the step on the batch before had ended.

    A step ends with the operator of an SGD update. Of operators `Imdecode`, `per_batch` decode one batch. Lesson:
    deeper/a-loader-that-starves.

    >>> record = Timeline()
    >>> record._keep([Operator("load 0", "thread 0", 0, 1), Operator("sgd_update", "cpu(0)", 1, 3),
    ...               Operator("load 1", "thread 0", 2, 3), Operator("sgd_update", "cpu(0)", 3, 4)])
    >>> begun_early(record)
    1
    """
    began: dict[int, float] = {}
    ends = []
    decoded = 0
    for operator in record.operators:
        if "sgd" in operator.name:
            ends.append(operator.end)
            continue
        if operator.name == "Imdecode":
            batch = decoded // per_batch
            decoded += 1
        elif operator.name.startswith("load "):
            batch = int(operator.name.removeprefix("load "))
        else:
            continue
        began[batch] = min(operator.start, began.get(batch, operator.start))
    return sum(began[batch] < end for batch, end in enumerate(ends[:-1], 1))


def kind(operator: Operator) -> str:
    """Return "load" for what loads a picture, and "step" for every other operator: a label for a plot."""
    return "load" if operator.name.startswith(("load", "Imdecode", "cvimresize")) else "step"


def start_threads(loader: Any) -> None:
    """Wait until all threads of a Gluon `DataLoader` have started: until then they use MXNet, which ends a Timeline."""
    pool = loader._worker_pool
    if pool:
        meeting = threading.Barrier(pool._processes)
        pool.map(lambda _: meeting.wait(), range(pool._processes), chunksize=1)


def begun_inside(calls: Callable[[int], object], number: int = 40) -> int:
    """Call `calls(0)`, `calls(1)` … in two threads, and return how many calls began while another one ran.

    Meanwhile no thread is made to let go of Python's lock: a call is overtaken only if it lets go of it by itself.
    Lesson: deeper/a-loader-that-starves.

    >>> begun_inside(lambda _: sum(range(1000)))
    0
    """
    running = set()
    inside = []

    def call(each):
        inside.extend(running)
        running.add(each)
        calls(each)
        running.discard(each)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)
    try:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(call, range(number)))
    finally:
        sys.setswitchinterval(interval)
    return len(inside)
