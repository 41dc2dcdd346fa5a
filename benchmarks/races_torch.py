"""What is raced in PyTorch, on CPU tensors and one thread."""
import torch
from collect import COUNTS, QUICK, SIZES, WARMUP, race, written
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from d2lhelpers.process import in_group
from d2lhelpers.surroundings import compiler_fault
from d2lhelpers.torch import allreduce, devices, split_and_load

torch.set_num_threads(1)


def textbook(data):
    """All-reduce as the textbook does it."""
    for index in range(1, len(data)):
        data[0][:] += data[index].to(data[0].device)
    for index in range(1, len(data)):
        data[index][:] = data[0].to(data[index].device)


def all_reduce_of(count, size, repeat):
    """Race one tensor per replica in the first of as many processes; the others are there for gloo."""
    torch.set_num_threads(1)
    data, spare, tiny = ([torch.zeros(length) for _ in range(count)] for length in (size // 4, size // 4, 1))

    def gloo():
        distributed.all_reduce(data[0])

    def copy():
        for tensor, other in zip(data, spare, strict=True):
            other.copy_(tensor)

    if distributed.get_rank() > 0:
        for _ in range(WARMUP + repeat):
            gloo()
        return None
    return race("all-reduce in PyTorch", f"{count} tensors", written(size), {
        "ours": lambda: allreduce(data), "textbook loop": lambda: textbook(data), "gloo, a process each": gloo,
        "limit: a copy": copy, "limit: one element": lambda: allreduce(tiny)}, repeat)


def all_reduce():
    """Race all sizes on all numbers of tensors."""
    return [in_group(all_reduce_of, count, size, repeat, size=count)[0]
            for count in COUNTS for size, repeat in SIZES.items()]


def split():
    """Race splitting a batch; PyTorch's own scatter needs GPUs."""
    records, both, tiny = [], devices(2, "cpu"), torch.zeros(2, 1)

    def by_chunk(data):
        return [part.to(device) for part, device in zip(torch.chunk(data, 2), both, strict=True)]

    for rows in [256] if QUICK else [256, 4096, 100_000]:
        data = torch.zeros(rows, 64)
        contestants = {"ours": lambda data=data: split_and_load(data, both),
                       "torch.chunk, to": lambda data=data: by_chunk(data),
                       "limit: one element": lambda: split_and_load(tiny, both)}
        records.append(race("split", "PyTorch", f"{rows:,} rows", contestants, 200))
    return records


def compiled():
    """Race torch.compile against the same function run eagerly, where it gains and where it does not."""
    fault = compiler_fault()
    if fault:
        return [{"missing": f"torch.compile: {fault}"}]

    def chain(x):
        return ((x * 2 - 1).clamp(0, 1) * 3 + 1).sqrt()

    def calls(function, x, count):
        @torch.no_grad()
        def run():
            for _ in range(count):
                function(x)
        return run

    dense = nn.Sequential(nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 2))
    works = {"torch.compile: dense layers": (dense, torch.randn(1, 512), 100),
             "torch.compile: element-wise": (chain, torch.rand(8_000_000), 1)}
    records = []
    for work, (function, x, count) in works.items():
        contestants = {"ours": calls(torch.compile(function, dynamic=False), x, count),
                       "without it": calls(function, x, count)}
        records.append(race("compiling", "", work, contestants, 15))
    return records


def step_of(net, rows, width):
    """Return a function that takes one training step."""
    x, optimizer = torch.randn(rows, width), torch.optim.SGD(net.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()
    return step


def shared_step(way, width, rows, repeat):
    """Race, in each of two processes, a step that they share against one process and against no exchange."""
    def perceptron():
        return nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))

    rank, half = distributed.get_rank(), rows // 2
    net, mesh = perceptron(), init_device_mesh("cpu", (2,))
    alone, unshared = step_of(perceptron(), rows, width), step_of(perceptron(), half, width)
    if way == "DDP":
        net = nn.parallel.DistributedDataParallel(net)
    else:
        for layer in net[0], net[2], net:
            fully_shard(layer, mesh=mesh)
    return race("two processes", way, f"{width}-{4 * width}-{width}", {
        "ours": step_of(net, half, width), "one process": lambda: alone() if rank == 0 else None,
        "limit: nothing exchanged": unshared}, repeat, sync=distributed.barrier)


def two_processes():
    """Race a small and a large training step."""
    records = []
    for width, repeat in [(64, 3)] if QUICK else [(64, 60), (512, 11)]:
        for way in ("DDP", "FSDP2"):
            records.append(in_group(shared_step, way, width, width, repeat)[0])
    return records
