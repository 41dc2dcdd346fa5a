"""The rows that PyTorch runs, on CPU tensors."""
import json
import subprocess
import sys
from itertools import pairwise

import torch
from run import line
from torch import distributed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from d2lhelpers.process import free_port, in_group
from d2lhelpers.torch import allreduce, devices, measure, split_and_load

MB = 1 << 20
TINY = "limit: one element per tensor"
WARMUP = 2


def textbook_allreduce(data):
    """All-reduce as the textbook does it."""
    for index in range(1, len(data)):
        data[0][:] += data[index].to(data[0].device)
    for index in range(1, len(data)):
        data[index][:] = data[0].to(data[index].device)


def join(rank, count, port):
    """Join a group of processes that reduce through gloo."""
    distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=count)


def other_rank(rank, count, port, sizes):
    """Be one of gloo's other processes: reduce as often as the first one does."""
    join(int(rank), int(count), int(port))
    for size, repeat in json.loads(sizes).items():
        tensor = torch.zeros(int(size) // 4)
        for _ in range(repeat + WARMUP):
            distributed.all_reduce(tensor)
    distributed.destroy_process_group()


def allreduce_rows(count, quick=False):
    """Return the lines of one number of tensors; gloo has one in each of as many processes."""
    sizes = {4 << 10: 3} if quick else {4 << 10: 200, 64 << 10: 200, MB: 60, 16 * MB: 9, 64 * MB: 5}
    port = str(free_port())
    others = [subprocess.Popen([sys.executable, __file__, str(rank), str(count), port, json.dumps(sizes)])
              for rank in range(1, count)]
    join(0, count, port)
    lines = []
    for size, repeat in sizes.items():
        data, spare, tiny = ([torch.zeros(length) for _ in range(count)] for length in (size // 4, size // 4, 1))

        def once(data=data, spare=spare):
            for tensor, other in zip(data, spare, strict=True):
                other.copy_(tensor)

        def calls(data=data):
            for tensor in data[1:]:
                data[0].add_(tensor)
            for tensor in data[1:]:
                tensor.copy_(data[0])

        times = measure({"ours": lambda data=data: allreduce(data),
                         "textbook loop": lambda data=data: textbook_allreduce(data),
                         "gloo, a process each": lambda data=data: distributed.all_reduce(data[0]),
                         "limit: read and write once": once, TINY: lambda tiny=tiny: allreduce(tiny),
                         **({"limit: its operators, nothing checked": calls} if size <= MB else {})},
                        repeat=repeat, warmup=WARMUP)
        goals = {"fastest peer": 0.95 if size >= MB else 1.3}
        if size >= 64 * MB:
            goals |= {"limit: read and write once": 0.4}
        written = f"{size // MB} MB" if size >= MB else f"{size // 1024} kB"
        lines.append(line(f"PyTorch all-reduce, {count} tensors, {written}", times, goals, "memory"))
    distributed.destroy_process_group()
    for other in others:
        other.wait()
    return lines


def split(quick=False):
    """Return the lines of splitting a batch; PyTorch's own scatter needs GPUs."""
    both, lines, tiny = devices(2), [], torch.zeros(2, 1)
    for rows in (256,) if quick else (256, 4096, 100_000):
        data = torch.zeros(rows, 64)
        contestants = {"ours": lambda data=data: split_and_load(data, both),
                       TINY: lambda: split_and_load(tiny, both), "chunk, each part to its device": lambda data=data: [
                           part.to(device) for part, device in zip(torch.chunk(data, 2), both, strict=True)]}
        if both[0].type == "cuda":
            contestants["scatter"] = lambda data=data: torch.nn.parallel.scatter(data, both)
        times = measure(contestants, repeat=3 if quick else 200, warmup=WARMUP)
        lines.append(line(f"PyTorch split_and_load, {rows:,} rows", times, {"fastest peer": 0.7}, "memory"))
    return lines


def perceptron(width, hidden):
    """Return the same two dense layers in every process."""
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(width, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, width))


def step_of(net, rows, width):
    """Return a function that takes one training step."""
    x, optimizer = torch.randn(rows, width), torch.optim.SGD(net.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()
    return step


def race(way, width, rows, repeat):
    """In the ranks of a group: measure a step that they share beside that of one process and its limits."""
    rank, ranks = distributed.get_rank(), distributed.get_world_size()
    mesh = init_device_mesh("cpu", (ranks,))

    def shared(width):
        net = perceptron(width, 4 * width)
        if way == "DDP":
            return torch.nn.parallel.DistributedDataParallel(net)
        if way == "tensor parallel":
            return parallelize_module(net, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
        for layer in net[0], net[2], net:
            fully_shard(layer, mesh=mesh)
        return net

    mine, hidden = (rows, 4 * width // ranks) if way == "tensor parallel" else (rows // ranks, 4 * width)
    alone = step_of(perceptron(width, 4 * width), rows, width)
    return measure({"ours": step_of(shared(width), mine, width),
                    "one process": lambda: alone() if rank == 0 else None,
                    "limit: nothing exchanged": step_of(perceptron(width, hidden), mine, width),
                    "limit: one element per row, one row": step_of(shared(1), 1, 1)},
                   repeat=repeat, warmup=WARMUP, sync=distributed.barrier)


def two_processes(way, quick=False):
    """Return the lines of a small and a large training step that two processes share."""
    lines = []
    for width, rows, repeat in ((64, 64, 3),) if quick else ((64, 64, 60), (512, 512, 11)):
        times = in_group(race, way, width, rows, repeat)[0]
        waits = times.ratio("limit: nothing exchanged", "ours") < 0.6
        work = f"PyTorch, {way}: a step of {width}-{4 * width}-{width} on {rows} rows by two processes"
        lines.append(line(work, times, bound="communication" if waits else "compute"))
    return lines


def compiled(quick=False):
    """Return the lines of `torch.compile`, or nothing where there is no compiler for it."""
    torch.set_num_threads(1)
    lines, count, length = [], *((10, 1000) if quick else (200, 8_000_000))

    def network(*widths):
        layers = [layer for pair in pairwise(widths) for layer in (torch.nn.Linear(*pair), torch.nn.ReLU())]
        return torch.nn.Sequential(*layers[:-1])

    def chain(x):
        return ((x * 2 - 1).clamp(0, 1) * 3 + 1).sqrt()

    for work, function, x, tiny, calls in (
            (f"{count} forward passes of 512-256-128-2, batch 1", network(512, 256, 128, 2), torch.randn(1, 512),
             (network(1, 1, 1, 1), torch.ones(1, 1)), count),
            (f"a chain of five element-wise operators, {length:,} numbers", chain, torch.rand(length),
             (chain, torch.ones(1)), 1)):
        def run(function, x, calls=calls):
            compiled = function if quick else torch.compile(function, dynamic=False)

            def run_once(function=compiled):
                with torch.no_grad():
                    for _ in range(calls):
                        function(x)
            return run_once

        fast, slow = run(function, x), run(*tiny)
        try:
            fast()
            slow()
        except RuntimeError:  # no C++ compiler, or one that does not work
            return []
        times = measure({"ours": fast, "eager": lambda fast=fast, function=function: fast(function),
                         "limit: one element": slow}, repeat=3 if quick else 15)
        lines.append(line(f"{work}: torch.compile", times, bound="memory"))
    return lines


if __name__ == "__main__":
    other_rank(*sys.argv[1:])
