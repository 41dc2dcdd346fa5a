"""Train a network in shards with FSDP2, on GPUs or on CPUs: torchrun --nproc-per-node=2 fsdp2_train.py [checkpoint].

It learns to copy its input. Everything that lesson 05 shows is here: the meta device, numbers from rank 0, fully_shard,
the optimizer, the loop, and a checkpoint that one process can load.
"""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict, set_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

WIDTH = 64
BLOCKS = 4
ROWS = 120  # in a batch of all ranks together; the same number for each, or the mean of their gradients is not exact
STEPS = 100


def network():
    """Return the network; on the meta device it takes no memory."""
    blocks = [nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
              for _ in range(BLOCKS)]
    return nn.Sequential(*blocks)


def sharded(kind, ranks):
    """Return the network with this rank's shards of its parameters, on a device of this kind, "cuda" or "cpu"."""
    with torch.device("meta"):
        net = network()
    mesh = init_device_mesh(kind, (ranks,))
    for block in net:  # a block is gathered, computed and freed as one
        fully_shard(block, mesh=mesh)
    fully_shard(net, mesh=mesh)
    net.to_empty(device=kind)
    numbers = {}
    if dist.get_rank() == 0:  # in the CPU's memory; from a file, with mmap=True, it takes none
        torch.manual_seed(0)
        numbers = network().state_dict()
    from_0 = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    set_model_state_dict(net, numbers, options=from_0)
    return net


def batch(step, rank, ranks):
    """Return this rank's rows of a batch: the batch is the same for any number of ranks."""
    random = torch.Generator().manual_seed(step)
    return torch.randn(ROWS, WIDTH, generator=random).chunk(ranks)[rank]


def main(path):
    """Train on this rank; rank 0 saves the whole network at `path`, if there is one."""
    gpu = torch.cuda.device_count() >= int(os.environ["LOCAL_WORLD_SIZE"])  # one for each process here
    if gpu:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))  # before anything is on a GPU
    dist.init_process_group("nccl" if gpu else "gloo")
    rank = dist.get_rank()
    ranks = dist.get_world_size()
    kind = "cuda" if gpu else "cpu"
    net = sharded(kind, ranks)
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)  # after fully_shard and to_empty
    for step in range(STEPS):
        rows = batch(step, rank, ranks).to(kind)
        loss = ((net(rows) - rows) ** 2).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # knows shards
        optimizer.step()
        optimizer.zero_grad()
        if step % 20 == 0 and rank == 0:
            print(f"step {step}: loss {loss.item():.4f} on rank 0")  # .item() waits for the GPU
    held = sum(each.to_local().nbytes for each in net.parameters())
    everything = sum(each.nbytes for each in net.parameters())  # of a DTensor: of all ranks together
    print(f"rank {rank} holds {held} of {everything} bytes of parameters\n", end="")
    to_0 = StateDictOptions(full_state_dict=True, cpu_offload=True)
    numbers = get_model_state_dict(net, options=to_0)  # all ranks take part; rank 0 gets it
    if rank == 0 and path:
        torch.save(numbers, path)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
