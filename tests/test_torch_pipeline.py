"""Stages of a pipeline that record their passes, the replay of a record, and collectives that are counted."""
from importlib.util import find_spec

import pytest

if find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

from d2lhelpers.torch.pipeline import Pass, count_slots, planned_order, plot_passes, replay


def orders(*ranks):
    """Return a record whose passes have the given names, such as "F0 B0", and no times."""
    return [[Pass(name[0], int(name[1:]), 0, 0) for name in names.split()] for names in ranks]


def test_replay_waits_for_neighbours():
    """A forward pass starts after that of the rank before, a backward pass after that of the next rank."""
    first, last = replay(orders("F0 F1 B0 B1", "F0 B0 F1 B1"), {"F": 1, "B": 2})
    assert [(str(each), each.start, each.end) for each in first] == [
        ("F0", 0, 1), ("F1", 1, 2), ("B0", 4, 6), ("B1", 7, 9)]
    assert [(str(each), each.start, each.end) for each in last] == [
        ("F0", 1, 2), ("B0", 2, 4), ("F1", 4, 5), ("B1", 5, 7)]


def test_replay_refuses_an_order_that_never_ends():
    """Ranks of which each waits for the other are reported."""
    with pytest.raises(ValueError, match="wait for one another"):
        replay(orders("B0 F0", "F0 B0"), {"F": 1, "B": 2})


def test_the_plot_has_a_bar_for_each_pass():
    """A bar is drawn when its pass was, counted from the first one, bears its name, and is lighter if it goes back."""
    from matplotlib import pyplot as plt
    plot_passes([[Pass("F", 0, 3, 4), Pass("B", 0, 7, 9)], [Pass("F", 0, 4, 5), Pass("B", 0, 5, 7)]])
    ax = plt.gca()
    assert [(bar.get_x(), bar.get_width()) for bar in ax.patches] == [(0, 6), (0, 1), (4, 2), (0, 6), (1, 1), (2, 2)]
    assert [bool(bar.get_hatch()) for bar in ax.patches] == [True, False, False] * 2
    assert [text.get_text() for text in ax.texts] == ["F0", "B0"] * 2
    assert sum(ax.patches[2].get_facecolor()) > sum(ax.patches[1].get_facecolor())
    assert ax.get_label() == "rank 0: F0 B0; rank 1: F0 B0; 50% of the time is waiting"
    plt.close()


def test_a_stage_records_a_step():
    """A pipeline of two recorded stages gives the passes of both ranks, which can be drawn."""
    from d2lhelpers.process import in_group

    def step():
        import torch
        from torch import distributed
        from torch.distributed.pipelining import ScheduleGPipe

        from d2lhelpers.torch.pipeline import RecordedStage
        rank = distributed.get_rank()
        stage = RecordedStage(torch.nn.Linear(3, 3), rank, 2)
        assert stage.seconds == 0  # until `restart` says otherwise
        stage.restart(0.001)
        schedule = ScheduleGPipe(stage, 2, loss_fn=torch.nn.functional.mse_loss)
        inputs = [torch.ones(4, 3)] if rank == 0 else []
        schedule.step(*inputs, target=torch.zeros(4, 3))
        return stage.passes

    record = in_group(step)
    assert [list(map(str, passes)) for passes in record] == [["F0", "F1", "B0", "B1"]] * 2
    for each in record[0] + record[1]:
        assert each.end - each.start >= (0.001 if each.kind == "F" else 0.002)
    plot_passes(record)


def test_collectives_have_one_name():
    """The operators that PyTorch has for the same collective are counted as one."""
    from d2lhelpers.process import in_group

    def rank():
        import torch
        from torch import distributed
        from torch.distributed import _functional_collectives as functional

        from d2lhelpers.torch.collectives import count_collectives
        x = torch.ones(4)

        def send():
            distributed.all_reduce(x)
            functional.all_reduce(x, "sum", [0, 1]).sum()
            functional.reduce_scatter_tensor(x, "sum", 0, [0, 1]).sum()
            functional.all_gather_tensor(x, 0, [0, 1]).sum()
            distributed.all_gather_into_tensor(torch.empty(8), x)

        return count_collectives(send)[1]

    assert in_group(rank) == [{"all_reduce": 2, "reduce_scatter": 1, "all_gather": 2}] * 2


def staged(*ranks):
    """Return a record whose passes have names such as "F0.2", with the number of their stage, and no times."""
    record = []
    for names in ranks:
        passes = [name.partition(".") for name in names.split()]
        record.append([Pass(name[0], int(name[1:]), 0, 0, int(stage)) for name, _, stage in passes])
    return record


def test_replay_waits_for_inputs_not_for_weights():
    """The gradient of an input lets the stage before go on; those of weights start after that of their own input."""
    first, last = replay(orders("F0 I0 W0", "F0 I0 W0"), {"F": 1, "I": 2, "W": 4})
    assert [(each.start, each.end) for each in first] == [(0, 1), (4, 6), (6, 10)]
    assert [(each.start, each.end) for each in last] == [(1, 2), (2, 4), (4, 8)]
    with pytest.raises(ValueError, match="wait for one another"):
        replay(orders("F0 W0 I0"), {"F": 1, "I": 1, "W": 1})


def test_what_a_schedule_costs():
    """Idle slots, messages and live micro-batches are counted; in a V, a rank sends nothing to itself."""
    v = count_slots(staged("F0.0 F1.0 F0.3 B0.3 B0.0 F1.3 B1.3 B1.0", "F0.1 F0.2 F1.1 F1.2 B0.2 B0.1 B1.2 B1.1"))
    assert [(each.start, each.end) for each in v.record[1]] == [
        (0.5, 1), (1, 1.5), (1.5, 2), (2, 2.5), (3, 4), (4, 5), (7.5, 8.5), (8.5, 9.5)]
    assert (v.idle, v.together, v.sends, v.alive) == (4.5, 4.5, 4, [1.5, 2])
    assert str(v) == "idle 4.5, sends 4, alive 1.5 2"
    loop = count_slots(staged("F0.0 F0.2 I0.2 I0.0 W0.2 W0.0", "F0.1 F0.3 I0.3 W0.3 I0.1 W0.1"))
    assert (loop.idle, loop.sends, loop.alive) == (2, 3, [1, 1])
    assert count_slots(staged("F0.0 F0.2", "F0.1", "F0.3")).sends == 2  # forward, to the rank of the stage after
    assert count_slots(staged("F0.0 B0.0"), {"F": 1, "B": 7}).record[0][1].end == 8


def test_planned_orders():
    """A plan has all passes of all ranks; what overlaps in it is two passes; what a schedule refuses is refused."""
    from torch.distributed.pipelining import ScheduleDualPipeV, ScheduleLoopedBFS
    gpipe = planned_order(ScheduleLoopedBFS, 2, 2)
    assert [list(map(str, passes)) for passes in gpipe] == [["F0", "F1", "B1", "B0"]] * 2
    order = planned_order(ScheduleDualPipeV, 2, 4, 2)
    assert [{each.stage for each in passes} for passes in order] == [{0, 3}, {1, 2}]
    assert sum(each.kind == "F" for passes in order for each in passes) == 2 * 2 * 4
    assert sum({"I": 1, "W": 1, "B": 2}.get(each.kind, 0) for passes in order for each in passes) == 2 * 2 * 2 * 4
    with pytest.raises(ValueError, match="micro"):
        planned_order(ScheduleDualPipeV, 2, 3, 2)


def test_the_plot_marks_the_second_stage():
    """With two stages per rank no pass has a name; those of the second stage have a black line. Weights are darkest."""
    from matplotlib import pyplot as plt
    plot_passes(count_slots(staged("F0.0 F0.1 I0.1 I0.0 W0.1 W0.0")).record, "slots")
    ax = plt.gca()
    assert ax.get_xlabel() == "slots"
    assert not ax.texts
    black = [bar for bar in ax.patches if bar.get_facecolor()[:3] == (0, 0, 0)]
    assert [bar.get_x() for bar in black] == [0.5, 1, 2]
    _, forward, _, inputs, _, weights, _ = [sum(bar.get_facecolor()) for bar in ax.patches if bar not in black]
    assert weights < forward < inputs
    plt.close()


def test_a_rank_records_two_stages():
    """A schedule that splits backward passes runs on stages in a V; a rank records the order that was planned."""
    from d2lhelpers.process import in_group

    def step():
        import torch
        from torch import distributed
        from torch.distributed.pipelining import ScheduleZBVZeroBubble

        from d2lhelpers.torch.pipeline import RecordedStage, planned_order, record_step
        rank = distributed.get_rank()
        stages = [RecordedStage(torch.nn.Linear(3, 3), number, 4) for number in (rank, 3 - rank)]
        for each in stages:
            each.restart(0.001)
        schedule = ScheduleZBVZeroBubble(stages, 3, loss_fn=torch.nn.functional.mse_loss)
        passes = record_step(schedule, stages, torch.ones(3, 3), torch.zeros(3, 3))
        planned = planned_order(ScheduleZBVZeroBubble, 2, 3, 2)[rank]
        return passes, [each._replace(start=0, end=0) for each in passes] == planned

    for passes, planned in in_group(step):
        assert planned
        assert all(each.end - each.start >= 0.001 for each in passes)


def test_collectives_of_a_late_rank():
    """Rank 1 begins its block when rank 0 has ended its own, or when it has waited for long enough."""
    from d2lhelpers.process import in_group

    def rank():
        import torch
        from torch import distributed

        from d2lhelpers.torch.collectives import hold_rank_1
        x = torch.ones(1)
        with hold_rank_1(60):
            early = distributed.all_reduce(x, async_op=True)
            done = early.is_completed()  # on rank 0: nobody can have joined yet
        with hold_rank_1(0.1, "again"):
            early.wait()
            distributed.all_reduce(x)  # rank 0 can only end this if rank 1 does not wait for it
        return done and distributed.get_rank() == 0, x.item()

    assert in_group(rank) == [(False, 4), (False, 4)]


def test_collectives_have_a_latency_and_a_bandwidth():
    """Both are positive, however busy the machine is."""
    from d2lhelpers.process import in_group

    def rank():
        from d2lhelpers.torch.collectives import latency_and_bandwidth, message_seconds
        return *latency_and_bandwidth([4096, 2**20]), message_seconds(3, 4096)

    for latency, bandwidth, seconds in in_group(rank):
        assert latency >= 0
        assert bandwidth > 0
        assert seconds > 0
