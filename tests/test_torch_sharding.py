"""What a process holds of a sharded network, and the script that trains one."""
import re
import sys
import time
from functools import partial
from pathlib import Path
from threading import Thread

import pytest
import torch
from torch import nn

from d2lhelpers.process import in_group, launch
from d2lhelpers.torch.sharding import full_parameters, live_tensors_mb, reduce_scatter, state_mb, trace_fsdp_step

SCRIPT = Path(__file__).parent.parent / "notebooks" / "scripts" / "fsdp2_train.py"


def sharded():
    """Return a network of two layers, each sharded on its own."""
    from torch.distributed.fsdp import fully_shard
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
    for layer in (net[0], net[2], net):
        fully_shard(layer)
    return net


def step(net, optimizer):
    """Take a step on four rows."""
    net(torch.ones(4, 8, requires_grad=True)).sum().backward()
    optimizer.step()


def test_half_of_everything_is_here():
    """Each of two ranks holds half of parameters, gradients and state; `full_parameters` gives both all numbers."""
    def held():
        net = sharded()
        optimizer = torch.optim.AdamW(net.parameters())
        step(net, optimizer)
        return state_mb(net, optimizer), full_parameters(net)

    (first, one), (second, other) = in_group(held)
    numbers = 2 * (8 * 8 + 8) / 2  # of each rank
    assert first == second
    assert first["parameters"] == first["gradients"] == numbers * 4 / 1e6
    assert first["state"] == pytest.approx((2 * numbers + 4) * 4 / 1e6)  # and the number of steps, four times
    assert one.shape == (144,)
    assert torch.equal(one, other)


def test_what_another_thread_is_about_to_free_is_not_held():
    """A tensor that only another thread has, for a moment, does not count; one that stays does."""
    before = live_tensors_mb()
    stays = torch.ones(500_000)
    Thread(target=lambda tensor: time.sleep(0.03), args=[torch.ones(250_000)]).start()
    assert live_tensors_mb() - before == pytest.approx(stays.nbytes / 1e6, rel=1e-9)


def test_each_rank_gets_the_mean_of_its_part():
    """Part r of all ranks' inputs has its mean in the output of rank r."""
    def scattered():
        import torch.distributed as dist
        output = torch.empty(2)
        reduce_scatter(output, torch.arange(4.0) * (1 + dist.get_rank()))
        return output.tolist()

    assert in_group(scattered) == [[0, 1.5], [3, 4.5]]


def test_a_step_is_watched_and_left_as_it_was():
    """A step's collectives and layers are noted in order; afterwards nothing is noted any more."""
    def watched():
        import torch.distributed as dist
        before = dist.all_gather_single, dist.reduce_scatter_single
        net = sharded()
        names, sizes = trace_fsdp_step(partial(step, net, torch.optim.SGD(net.parameters())), net)
        assert before == (dist.all_gather_single, dist.reduce_scatter_single)
        return names, sizes

    names, sizes = in_group(watched)[0]
    assert names == ["all-gather", "forward 0", "all-gather", "forward 1", "all-gather", "all-gather", "backward 1",
                     "reduce-scatter", "backward 0", "reduce-scatter"]
    assert sizes[0] == 288e-6  # half of all numbers
    assert sizes[1] == 432e-6  # and the other half of one layer's


@pytest.mark.slow
def test_the_script_trains_the_same_network_on_any_number_of_ranks(tmp_path):
    """Two ranks hold half each, the loss falls, and the checkpoint is that of one rank."""
    checkpoints = []
    for ranks in (1, 2):
        file = tmp_path / f"{ranks}.pt"
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", SCRIPT]
        network = "lo0" if sys.platform == "darwin" else "lo"
        printed = launch({"torchrun": ([*command, file], {"OMP_NUM_THREADS": 1, "GLOO_SOCKET_IFNAME": network})}, 300)
        losses = [float(loss) for loss in re.findall(r"loss (\S+)", printed["torchrun"])]
        assert losses[-1] < 0.8 * losses[0]
        held = re.findall(r"holds (\d+) of (\d+) bytes", printed["torchrun"])
        assert [int(total) / int(mine) for mine, total in held] == [ranks] * ranks
        numbers = torch.load(file)
        checkpoints.append(nn.utils.parameters_to_vector(numbers.values()))
    one, two = checkpoints
    assert (one - two).norm() < 1e-3 * one.norm()
