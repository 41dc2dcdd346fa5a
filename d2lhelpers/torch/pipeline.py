"""Record, replay and plot a pipeline schedule: stages that record their passes, and the orders that PyTorch plans."""
import time
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import NamedTuple

import torch
from torch.distributed.pipelining import PipelineStage

from ..plots import FONT, axes, device_colour, shade

SLOTS = {"F": 1, "I": 1, "W": 1, "B": 2}  # how long a pass takes, by its kind: a backward pass is twice the work


class Pass(NamedTuple):
    """A micro-batch's forward ("F") or backward ("B") pass through a stage; times in seconds, on the machine's clock.

    A backward pass may be split into the gradient of the input ("I") and those of the weights ("W"). `stage` is the
    number of the stage if a rank has several.

    >>> str(Pass("F", 2, 0.0, 0.1))
    'F2'
    """

    kind: str
    part: int
    start: float
    end: float
    stage: int | None = None

    def __str__(self):
        return f"{self.kind}{self.part}"


class Step(NamedTuple):
    """What one rank has after a step: its passes, the losses of the micro-batches (last rank), and its gradients."""

    passes: list[Pass]
    losses: list[torch.Tensor]
    gradients: list[torch.Tensor]


class Slots(NamedTuple):
    """What a schedule costs, and its `record` on an ideal machine; `count_slots` says what the numbers mean."""

    record: list[list[Pass]]
    idle: float
    together: float
    sends: int
    alive: list[float]

    def __str__(self):
        return f"idle {self.idle:g}, sends {self.sends}, alive {' '.join(f'{each:g}' for each in self.alive)}"


class RecordedStage(PipelineStage):
    """A stage of a pipeline on the CPU, which records its passes and can sleep in place of heavy work.

    After a forward pass it sleeps as long as `restart` was told, after a backward pass, which is about twice the work,
    twice as long. Sleeping needs no core: four ranks on one core show the same schedule as four GPUs. `passes` is a
    list of `Pass`. Lesson: pytorch/06-splitting-the-network.
    """

    def __init__(self, layers, stage, stages):
        super().__init__(layers, stage, stages, torch.device("cpu"))
        self.restart(0)

    def restart(self, seconds):
        """Forget all passes, and sleep for `seconds` from now on."""
        self.passes = []
        self.seconds = seconds

    def forward_one_chunk(self, part, *args, **options):
        """Do a forward pass, sleep, and record it."""
        return self._record("F", part, 1, super().forward_one_chunk, part, *args, **options)

    def backward_one_chunk(self, part, full_backward=True, **options):
        """Do a backward pass, or only the part of it for which the stage before waits; sleep, and record it."""
        kind, work = ("B", 2) if full_backward else ("I", 1)
        self._record(kind, part, work, super().backward_one_chunk, part, full_backward=full_backward, **options)

    def backward_weight_one_chunk(self, part, **options):
        """Compute the gradients of the weights, if the backward pass has left them out; sleep, and record it."""
        self._record("W", part, 1, super().backward_weight_one_chunk, part, **options)

    def _record(self, kind, part, work, method, *args, **options):
        start = time.monotonic()
        outputs = method(*args, **options)
        time.sleep(work * self.seconds)
        self.passes.append(Pass(kind, part, start, time.monotonic(), self.stage_index))
        return outputs


def record_step(schedule: object, stages: Sequence[RecordedStage], rows: torch.Tensor,
                targets: torch.Tensor) -> list[Pass]:
    """Do a step of a schedule on this rank; return the passes of its stages, in their order.

    `rows` are used on the rank that has the first stage. Lesson: deeper/schedules-with-smaller-bubbles.
    """
    inputs = [rows] if any(each.is_first for each in stages) else []
    schedule.step(*inputs, target=targets)
    return sorted([each for stage in stages for each in stage.passes], key=lambda each: each.start)


def planned_order(schedule: type, ranks: int, parts: int, chunks: int = 1) -> list[list[Pass]]:
    """Return the order of passes that a schedule of PyTorch plans, a list for each rank; all times are 0.

    `schedule` is a class for several stages per rank: each rank has `chunks` of them. The batch is cut into `parts`
    micro-batches. Nothing runs: the schedule gets stages without layers. What it plans as one pass that overlaps with
    another is two passes here. Lesson: deeper/schedules-with-smaller-bubbles.

    Raises:
        ValueError: The schedule does not work with these numbers.

    >>> from torch.distributed.pipelining import ScheduleInterleavedZeroBubble
    >>> [" ".join(map(str, passes)) for passes in planned_order(ScheduleInterleavedZeroBubble, 2, 3)]
    ['F0 F1 I0 W0 F2 I1 W1 I2 W2', 'F0 I0 F1 I1 W0 F2 I2 W1 W2']
    """
    stages = []
    for number in range(0, chunks * ranks, ranks):  # those of rank 0: it plans for all
        stages.append(SimpleNamespace(stage_index=number, num_stages=chunks * ranks, group_rank=0, group_size=ranks,
                                      is_first=number == 0, is_last=False, has_backward=True, submod=None))
    plan = schedule(stages, parts).pipeline_order
    orders: list[list[Pass]] = [[] for _ in range(ranks)]
    for rank, order in enumerate(orders):
        for action in plan[rank]:
            for each in (action and action.sub_actions) or [action]:
                if each is not None:  # else the rank waits
                    order.append(Pass(each.computation_type.value, each.microbatch_index, 0, 0, each.stage_index))
    return orders


def bubble_fraction(record: Sequence[Sequence[Pass]]) -> float:
    """Return the share of waiting in the time of all ranks, from 0 to 1. `record` has a list of passes for each rank.

    >>> bubble_fraction([[Pass("F", 0, 0, 1), Pass("B", 0, 4, 6)], [Pass("F", 0, 1, 2), Pass("B", 0, 2, 4)]])
    0.5
    """
    start = min(passes[0].start for passes in record)
    end = max(passes[-1].end for passes in record)
    work = sum(each.end - each.start for passes in record for each in passes)
    return 1 - work / (len(record) * (end - start))


def plot_passes(record: Sequence[Sequence[Pass]], unit: str = "seconds") -> None:
    """Draw the passes of one step, a row per rank. Hatched is waiting. `record` has a list of passes for each rank.

    The gradients of weights are darkest. Where ranks have several stages, a black line marks all but the first one.
    """
    start = min(passes[0].start for passes in record)
    end = max(passes[-1].end for passes in record)
    rows = [f"rank {rank}: {' '.join(map(str, passes))}" for rank, passes in enumerate(record)]
    with axes(None, (9, 0.8 + 0.55 * len(record)), unit) as ax:
        ax.set_label("; ".join([*rows, f"{bubble_fraction(record):.0%} of the time is waiting"]))
        for rank, passes in enumerate(record):
            ax.barh(f"rank {rank}", end - start, color="w", edgecolor="grey", hatch="//")
            first = min(_stage(each, rank) for each in passes)
            for each in passes:
                length, left = each.end - each.start, each.start - start
                colour = shade(device_colour(rank), {"F": 1, "W": 0}.get(each.kind, 3))
                bar = ax.barh(rank, length, left=left, color=colour, ec="w")
                if len({other.stage for other in passes}) == 1:
                    ax.bar_label(bar, [str(each)], label_type="center", fontsize=FONT if len(passes) < 10 else 9)
                elif _stage(each, rank) > first:
                    ax.barh(rank + 0.33, length, 0.14, left=left, color="k", ec="w")
        ax.invert_yaxis()


def replay(record: Sequence[Sequence[Pass]], units: Mapping[str, float]) -> list[list[Pass]]:
    """Return the record with the times that an ideal machine would need for the same passes in the same order.

    A pass takes `units[kind]`, and messages take no time. Each rank does its passes in the recorded order. A forward
    pass starts when that of the stage before has ended; the gradient of an input when that of the stage after has, or,
    in the last stage, the forward pass; the gradients of weights after that of the same stage's input.

    Raises:
        ValueError: In this order, ranks would wait for one another for ever.

    >>> first, last = [Pass("F", 0, 3, 8), Pass("B", 0, 9, 11)], [Pass("F", 0, 8, 9), Pass("B", 0, 9, 9.5)]
    >>> [(each.start, each.end) for each in replay([first, last], {"F": 1, "B": 2})[0]]
    [(0, 1), (4, 6)]
    """
    ideal: list[list[Pass]] = [[] for _ in record]
    ends: dict[tuple[str, int, int], float] = {}  # by kind, micro-batch and stage; I and B are both "back"
    last = max(_stage(each, rank) for rank, passes in enumerate(record) for each in passes)
    going_on = True
    while going_on:
        going_on = False
        for rank, (passes, done) in enumerate(zip(record, ideal, strict=True)):
            for each in passes[len(done):]:
                stage = _stage(each, rank)
                way = "back" if each.kind in "IB" else each.kind
                needed = {"F": ("F", each.part, stage - 1), "W": ("back", each.part, stage)}.get(
                    each.kind, ("back", each.part, stage + 1) if stage < last else ("F", each.part, stage))
                if needed not in ends and needed[2] >= 0:
                    break  # in the next round, perhaps
                start = max(done[-1].end if done else 0, ends.get(needed, 0))
                ends[way, each.part, stage] = start + units[each.kind]
                done.append(each._replace(start=start, end=start + units[each.kind]))
                going_on = True
    if sum(map(len, ideal)) < sum(map(len, record)):
        raise ValueError("replay: in this order the ranks wait for one another for ever")
    return ideal


def count_slots(order: Sequence[Sequence[Pass]], slots: Mapping[str, float] = SLOTS) -> Slots:
    """Replay an order, and return what it costs. `order` has a list of passes for each rank, which name their stages.

    A pass through all layers of a rank takes `slots[kind]`; one through a stage with half of them takes half. `idle`
    is how long a rank waits between its own first pass and its last, on the rank that waits longest; `together` counts
    from the first pass of all ranks to the last one. `sends` counts the messages of the rank that sends most. A
    micro-batch is alive from its forward pass until its weights have their gradients; in a stage with half of the
    layers it counts half. `alive` has the most for each rank. Lesson: deeper/schedules-with-smaller-bubbles.

    >>> first, last = [Pass("F", 0, 0, 0, 0), Pass("B", 0, 0, 0, 0)], [Pass("F", 0, 0, 0, 1), Pass("B", 0, 0, 0, 1)]
    >>> print(count_slots([first, last]))
    idle 3, sends 1, alive 1 1
    """
    chunks = len({each.stage for each in order[0]})
    record = replay(order, {kind: length / chunks for kind, length in slots.items()})
    end = max(passes[-1].end for passes in record)
    last = max(each.stage or 0 for passes in record for each in passes)
    idle, together, sends, alive = [], [], [], []
    for passes in record:
        work = sum(each.end - each.start for each in passes)
        idle.append(passes[-1].end - passes[0].start - work)
        together.append(end - work)
        own = {each.stage for each in passes}
        receivers = [(each.stage or 0) + {"F": 1, "W": 0}.get(each.kind, -1) for each in passes]
        sends.append(sum(0 <= stage <= last and stage not in own for stage in receivers))
        now = most = 0
        for each in passes:
            now += {"F": 1, "I": 0}.get(each.kind, -1)
            most = max(most, now)
        alive.append(most / chunks)
    return Slots(record, max(idle), max(together), max(sends), alive)


def _stage(each, rank):
    """Return the number of a pass's stage; a rank with one stage has that of its own number."""
    return rank if each.stage is None else each.stage
