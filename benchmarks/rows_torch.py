"""The rows that PyTorch runs, on CPU tensors."""
import json
import subprocess
import sys
import time

import torch
from run import line
from torch import distributed

from d2lhelpers.process import free_port
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


def compiled(quick=False):
    """Return the line of `torch.compile`, for orientation, or nothing where there is no compiler for it."""
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Linear(512, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128), torch.nn.ReLU(),
                              torch.nn.Linear(128, 2))
    x = torch.randn(1, 512)
    fast = net if quick else torch.compile(net)

    def forward(net):
        def run():
            with torch.no_grad():
                for _ in range(10 if quick else 200):
                    net(x)
        return run

    begin = time.perf_counter()
    try:
        forward(fast)()
    except RuntimeError:  # no C++ compiler, or one that does not work
        return []
    seconds = time.perf_counter() - begin
    times = measure({"ours": forward(fast), "eager": forward(net)}, repeat=3 if quick else 15)
    return [line("200 forward passes of 512-256-128-2, batch 1: torch.compile, for orientation", times,
                 **{f"the first call took {seconds:.1f} seconds": ""})]


if __name__ == "__main__":
    other_rank(*sys.argv[1:])
