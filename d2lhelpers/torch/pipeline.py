"""Record and plot a pipeline schedule: stages that record their passes, and what a step's record shows."""
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch.distributed.pipelining import PipelineStage

from ..plots import FONT, axes, device_colour, shade


class Pass(NamedTuple):
    """A micro-batch's forward ("F") or backward ("B") pass through a stage; times in seconds, on the machine's clock.

    >>> str(Pass("F", 2, 0.0, 0.1))
    'F2'
    """

    kind: str
    part: int
    start: float
    end: float

    def __str__(self):
        return f"{self.kind}{self.part}"


class Step(NamedTuple):
    """What one rank has after a step: its passes, the losses of the micro-batches (last rank), and its gradients."""

    passes: list[Pass]
    losses: list[torch.Tensor]
    gradients: list[torch.Tensor]


class RecordedStage(PipelineStage):
    """One rank's stage of a pipeline on the CPU, which records its passes and can sleep in place of heavy work.

    After a forward pass it sleeps as long as `restart` was told, after a backward pass, which is about twice the work,
    twice as long. Sleeping needs no core: four ranks on one core show the same schedule as four GPUs. `passes` is a
    list of `Pass`. Lesson: pytorch/06-splitting-the-network.
    """

    def __init__(self, layers, rank, ranks):
        super().__init__(layers, rank, ranks, torch.device("cpu"))
        self.restart(0)

    def restart(self, seconds):
        """Forget all passes, and sleep for `seconds` from now on."""
        self.passes = []
        self.seconds = seconds

    def forward_one_chunk(self, part, *args, **options):
        """Do a forward pass, sleep, and record it."""
        start = time.monotonic()
        outputs = super().forward_one_chunk(part, *args, **options)
        time.sleep(self.seconds)
        self.passes.append(Pass("F", part, start, time.monotonic()))
        return outputs

    def backward_one_chunk(self, part, **options):
        """Do a backward pass, sleep, and record it."""
        start = time.monotonic()
        super().backward_one_chunk(part, **options)
        time.sleep(2 * self.seconds)
        self.passes.append(Pass("B", part, start, time.monotonic()))


def bubble_fraction(record: Sequence[Sequence[Pass]]) -> float:
    """Return the share of waiting in the time of all ranks, from 0 to 1. `record` has a list of passes for each rank.

    >>> bubble_fraction([[Pass("F", 0, 0, 1), Pass("B", 0, 4, 6)], [Pass("F", 0, 1, 2), Pass("B", 0, 2, 4)]])
    0.5
    """
    start = min(passes[0].start for passes in record)
    end = max(passes[-1].end for passes in record)
    work = sum(each.end - each.start for passes in record for each in passes)
    return 1 - work / (len(record) * (end - start))


def plot_passes(record: Sequence[Sequence[Pass]]) -> None:
    """Draw the passes of one step, a row per rank. Hatched is waiting. `record` has a list of passes for each rank."""
    start = min(passes[0].start for passes in record)
    end = max(passes[-1].end for passes in record)
    rows = [f"rank {rank}: {' '.join(map(str, passes))}" for rank, passes in enumerate(record)]
    with axes(None, (9, 0.8 + 0.55 * len(record)), "seconds") as ax:
        ax.set_label("; ".join([*rows, f"{bubble_fraction(record):.0%} of the time is waiting"]))
        for rank, passes in enumerate(record):
            ax.barh(f"rank {rank}", end - start, color="w", edgecolor="grey", hatch="//")
            for each in passes:
                colour = shade(device_colour(rank), 3 if each.kind == "B" else 1)
                bar = ax.barh(rank, each.end - each.start, left=each.start - start, color=colour, ec="w")
                ax.bar_label(bar, [str(each)], label_type="center", fontsize=FONT if len(passes) < 10 else 9)
        ax.invert_yaxis()


def replay(record: Sequence[Sequence[Pass]], units: Mapping[str, float]) -> list[list[Pass]]:
    """Return the record with the times that an ideal machine would need for the same passes in the same order.

    A pass takes `units[kind]`, and messages take no time. Each rank does its passes in the recorded order; a pass
    starts when the same pass of the neighbour that it needs has ended.

    Raises:
        ValueError: In this order, ranks would wait for one another for ever.

    >>> first, last = [Pass("F", 0, 3, 8), Pass("B", 0, 9, 11)], [Pass("F", 0, 8, 9), Pass("B", 0, 9, 9.5)]
    >>> replay([first, last], {"F": 1, "B": 2})[0]
    [Pass(kind='F', part=0, start=0, end=1), Pass(kind='B', part=0, start=4, end=6)]
    """
    ideal: list[list[Pass]] = [[] for _ in record]
    ends: dict[tuple[str, int, int], float] = {}  # by kind, micro-batch and rank
    ranks = range(len(record))
    to_try = deque(ranks)  # those whose next pass may be able to start
    while to_try:
        rank = to_try.popleft()
        done = ideal[rank]
        if len(done) == len(record[rank]):
            continue
        kind, part, *_ = record[rank][len(done)]
        before, after = (rank - 1, rank + 1) if kind == "F" else (rank + 1, rank - 1)
        if before in ranks and (kind, part, before) not in ends:
            continue  # that rank will add this one again
        free = done[-1].end if done else 0
        start = max(free, ends.get((kind, part, before), 0))
        ends[kind, part, rank] = start + units[kind]
        done.append(Pass(kind, part, start, start + units[kind]))
        to_try.append(rank)
        if after in ranks:
            to_try.append(after)
    if sum(map(len, ideal)) < sum(map(len, record)):
        raise ValueError("replay: in this order the ranks wait for one another for ever")
    return ideal
