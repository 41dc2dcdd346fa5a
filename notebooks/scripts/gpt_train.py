"""Train a small GPT, one process per GPU or CPU: torchrun --nproc-per-node=2 gpt_train.py STEPS.

Lesson: pytorch/10-find-the-bottleneck.
"""
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from d2lhelpers.torch.gpt import GPT, batch, load_text

GPU = torch.cuda.device_count() >= int(os.environ["LOCAL_WORLD_SIZE"])  # one for each process here
ROWS, LENGTH = (64, 256) if GPU else (4, 32)  # per process


def load(ids, step, device):
    """Return this rank's batch of a step; a copy from pinned memory to a GPU is only queued."""
    seed = step * dist.get_world_size() + dist.get_rank()
    both = batch(ids, ROWS, LENGTH, seed)
    if GPU:
        both = [each.pin_memory() for each in both]
    return [each.to(device, non_blocking=True) for each in both]


def train(net, ids, steps, device):
    """Train for some steps; print the loss at the first one, at every tenth and at the last, and the speed."""
    ddp = DistributedDataParallel(net, device_ids=[device] if GPU else None)
    model = torch.compile(ddp) if GPU else ddp
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, fused=True)
    coming = load(ids, 0, device)
    start = time.perf_counter()
    for step in range(steps):
        x, y = coming
        coming = load(ids, step + 1, device)  # is copied while this step computes
        with torch.autocast(device.type, torch.bfloat16, enabled=GPU):  # slower on most CPUs
            loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()  # DDP sums gradients meanwhile
        optimizer.step()
        if dist.get_rank() == 0 and (step % 10 == 0 or step == steps - 1):
            print(f"step {step:3}: loss {loss.item():.2f}\n", end="", flush=True)  # waits, but not in each step
    return steps * x.numel() * dist.get_world_size() / (time.perf_counter() - start)


def main(steps):
    """Join the group, train, and let each rank say how large its parameters are: they must agree."""
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if GPU else torch.device("cpu")
    if GPU:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if GPU else "gloo")
    torch.manual_seed(dist.get_rank())  # DDP sends rank 0's parameters
    ids, letters = load_text()
    net = GPT(len(letters)).to(device)
    speed = train(net, ids, steps, device)
    size = sum(parameter.double().square().sum() for parameter in net.parameters())
    print(f"rank {dist.get_rank()}: parameters {size.item():.6f}, {speed:.0f} tokens per sec\n", end="", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]))
