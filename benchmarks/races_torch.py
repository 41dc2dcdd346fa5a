"""The races in PyTorch, on CPU tensors and one thread."""
from functools import partial

import torch
from collect import COUNTS, LARGE, LIMIT, SIZES, race
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from d2lhelpers.environment import compiler_fault
from d2lhelpers.process import in_group
from d2lhelpers.torch import allreduce, devices, split_and_load

torch.set_num_threads(1)


def textbook(data):
    """All-reduce as the textbook does it."""
    for tensor in data[1:]:
        data[0][:] += tensor.to(data[0].device)
    for tensor in data[1:]:
        tensor[:] = data[0].to(tensor.device)


def all_reduce():
    """Race one tensor per replica, all in the first of as many processes; the other processes are there for gloo."""
    for count in COUNTS:
        for size in SIZES:
            yield from in_group(all_reduce_of, count, *size, size=count)[0]


def all_reduce_of(count, size, length, repeat):
    """Race tensors of one size."""
    every = torch.zeros(count, length)
    data = list(every)
    tiny = list(torch.zeros(count, 1))
    copy = partial(torch.zeros_like(every).copy_, every)
    gloo = {"gloo, a process each": partial(distributed.all_reduce, data[0])}
    contestants = {
        "our all-reduce in PyTorch": partial(allreduce, data),
        "textbook loop": partial(textbook, data),
        **gloo,
        LIMIT: copy if length >= LARGE else partial(allreduce, tiny),
    }
    if distributed.get_rank() > 0:
        contestants = gloo
    return race(f"{count} tensors", size, contestants, repeat)


def chunks(data):
    """Split a batch by PyTorch's own means; its scatter needs GPUs."""
    return [part.to("cpu") for part in torch.chunk(data, 2)]


def split():
    """Race splitting a batch."""
    both = devices(2, "cpu")
    for rows in (256, 4096, 100_000):
        data = torch.zeros(rows, 64)
        contestants = {
            "our split_and_load": partial(split_and_load, data, both),
            "torch.chunk, to": partial(chunks, data),
            "limit: one element": partial(split_and_load, torch.zeros(2, 1), both),
        }
        yield from race("PyTorch", f"{rows:,} rows", contestants, 200)


@torch.no_grad()
def calls(function, x, count):
    """Call a function so many times."""
    for _ in range(count):
        function(x)


def compiled():
    """Race torch.compile against the same function run eagerly, where it loses and where it gains."""
    fault = compiler_fault()
    if fault:
        raise RuntimeError(fault)
    dense = nn.Sequential(nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 2))
    works = {
        "dense layers": (dense, torch.randn(1, 512), 100),
        "element-wise": (lambda x: ((x * 2 - 1).clamp(0, 1) * 3 + 1).sqrt(), torch.rand(8_000_000), 1),
    }
    for work, (function, x, count) in works.items():
        contestants = {
            "compiled code": partial(calls, torch.compile(function, dynamic=False), x, count),
            "not compiled": partial(calls, function, x, count),
        }
        yield from race("torch.compile", work, contestants, 15)


def training_step(rows, width, way=""):
    """Return a function that trains a network of two layers on one batch."""
    net = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))
    if way == "DDP":
        net = nn.parallel.DistributedDataParallel(net)
    if way == "FSDP2":
        for layer in (net[0], net[2], net):
            fully_shard(layer, mesh=init_device_mesh("cpu", (2,)))
    x = torch.randn(rows, width)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()
    return step


def shared_step(way, width, repeat):
    """Race, in each of two processes, a training step that they share against all of it in the first process."""
    alone = training_step(width, width)
    contestants = {
        "two processes": training_step(width // 2, width, way),
        "one process": alone if distributed.get_rank() == 0 else lambda: None,
        "limit: nothing exchanged": training_step(width // 2, width),
    }
    return race(way, f"{width}-{4 * width}-{width}", contestants, repeat, sync=distributed.barrier)


def two_processes():
    """Race a small and a large training step."""
    for width, repeat in ((64, 60), (512, 11)):
        for way in ("DDP", "FSDP2"):
            yield from in_group(shared_step, way, width, repeat)[0]
