"""What lesson 11 counts about a Training: the functions that run in the processes of a score."""
import contextlib
import functools
import inspect
import threading
from unittest.mock import patch

import torch
import torch.distributed as dist
from slow_gpt import Training
from torch.nn.utils import parameters_to_vector
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

import __main__
from d2lhelpers.torch.gpt import batch, load_text
from d2lhelpers.torch.memory import LiveBytes

LENGTHS = 64, 48, 56, 60, 52, 64  # of the batches, in tokens
STEPS = len(LENGTHS)
ROWS = 12  # in a batch
ONE = (1,)  # shares of a single process
CLIPPED = 4  # steps in which the gradient is too long


WIDE = torch.float32, torch.float64
SMALL = 1000  # bytes of a message that may hold whole numbers, such as the order of buckets
PRODUCTS = "aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm"
DOORS = "tolist", "numpy", "data_ptr", "untyped_storage", "__dlpack__"  # of a CPU's tensor: these are no operators


@functools.cache
def batches(seed=0):
    """Return the batches that an answer trains on: others for each seed."""
    ids, _ = load_text()
    return [batch(ids, ROWS, length, seed=STEPS * seed + number) for number, length in enumerate(LENGTHS)]


class Calls(TorchDispatchMode):
    """Count what Python calls in a `with` block: operators outside of graphs, graphs, and reads of a value.

    What runs inside a graph or in a backward pass is not called by Python. `sent` are the bytes of each message;
    `narrow` says whether some message or product has numbers of other types than float32 and float64.
    """

    def __init__(self):
        super().__init__()
        self.calls = 0
        self.graphs = 0
        self.reads = 0
        self.sent = []
        self.narrow = False
        self.inside = 0  # how many graphs are running

    @classmethod
    def ignore_compile_internals(cls):
        """Let PyTorch compile in the `with` block, too."""
        return True

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.name()
        if name.startswith("c10d::") and "barrier" not in name:
            message = [each for each in tree_leaves(args[0]) if isinstance(each, torch.Tensor)]
            self.sent.append(sum(tensor.nbytes for tensor in message))
            self.narrow |= any(tensor.dtype not in WIDE and tensor.nbytes > SMALL for tensor in message)
        elif name in PRODUCTS:
            self.narrow |= any(tensor.dtype not in WIDE for tensor in args if isinstance(tensor, torch.Tensor))
        if not self.inside and torch._C._current_graph_task_id() == -1:  # -1: not in a backward pass
            self.calls += 1
        self.reads += name in ("aten::_local_scalar_dense", "aten::equal")
        return function(*args, **(kwargs or {}))

    def count_read(self, old):
        """Return the method `old` of a tensor, which reads all its values, such that it is counted."""
        def read(tensor, *args, **options):
            self.reads += 1
            return old(tensor, *args, **options)
        return read

    def backend(self, graph, inputs):
        """Compile a graph for `torch.compile`: count it, and count its calls. Its operators run as they are."""
        self.graphs += 1

        def call(*values):
            self.calls += not self.inside
            self.inside += 1
            try:
                return graph(*values)
            finally:
                self.inside -= 1
        return call


def vector(training):
    """Return all parameters, end to end."""
    return parameters_to_vector(training.net.parameters()).detach().clone()


def distance(start, one, other):
    """Return how far apart two trainings end, as a share of how far the first one went from the start."""
    if one.shape != other.shape:
        return float("inf")
    return ((one - other).norm() / (one - start).norm()).item()


def run_eagerly(kind, data, *modes, rank=0, shares=ONE):
    """Train without compiling, with some counters; return the parameters before and after, and the history."""
    torch.compiler.set_stance("force_eager")
    training = kind(rank, shares)
    before = vector(training)
    with contextlib.ExitStack() as stack:
        for mode in modes:
            stack.enter_context(mode)
        history = list(training.run(data))
    return before, vector(training), history


class Clipped(Training):
    """The script, and how often it shortens a gradient: it then calls more operators."""

    times = 0

    def clip(self):
        """Shorten the gradient if it is too long, and note that."""
        before = self.net.norm.weight.grad.clone()
        super().clip()
        self.times += not torch.equal(before, self.net.norm.weight.grad)


def of_script(seed):
    """Return what the script itself computes in one process: parameters before and after, and the history.

    Before that stands a seed: the first one, from `seed` on, with whose batches the script clips `CLIPPED` times.
    """
    while True:
        training = Clipped()
        before = vector(training)
        history = training.run(batches(seed))
        if training.times == CLIPPED:
            return seed, before, vector(training), history
        seed += 1


def unlike(history, expected):
    """Return the largest difference between two histories; of accuracies, what is above two tokens of a batch."""
    losses, accuracies = (torch.tensor(history) - torch.tensor(expected)).abs().max(dim=0).values.tolist()
    return max(losses, accuracies - 2 / (ROWS * min(LENGTHS)))


def of_one(answer, seed, before, after, expected):
    """Return the counts of an answer that trains in one process, beside what the script computes."""
    dispatch = Calls.__torch_dispatch__
    calls = Calls()
    flops = FlopCounterMode(display=False)
    doors = {name: getattr(torch.Tensor, name) for name in DOORS}
    for name, door in doors.items():
        setattr(torch.Tensor, name, calls.count_read(door))
    threads, start = [], threading.Thread.start
    with patch.object(threading.Thread, "start", lambda thread: threads.append(thread) or start(thread)):
        _, end, history = run_eagerly(answer, batches(seed), calls, flops)
    for name, door in doors.items():
        setattr(torch.Tensor, name, door)
    if any(isinstance(number, torch.Tensor) for pair in history for number in pair):
        raise TypeError("run should return numbers, not tensors")
    found = {"steps": len(history), "reads": calls.reads, "flops": round(flops.get_total_flops() / STEPS / 1e6),
             "narrow": calls.narrow, "threads": len(threads)}

    first, third = LiveBytes(), LiveBytes()  # of one step, and of three equal ones
    run_eagerly(answer, batches(seed)[:1], first)
    run_eagerly(answer, batches(seed)[:1] * 3, third)
    found["peak"] = round(third.peak / 1000)
    found["growth"] = third.peak / max(first.peak, 1) - 1

    for function in filter(inspect.isfunction, vars(answer).values()):
        vars(__main__).update({name: value for name, value in function.__globals__.items() if name[:2] != "__"})
    calls = Calls()  # the compiler looks up a notebook's names in __main__
    torch.compiler.set_stance("default", force_backend=calls.backend)
    training = answer()
    with calls:
        compiled = list(training.run(batches(seed)))
    found["calls"] = round(calls.calls / STEPS)
    found["graphs"] = calls.graphs

    found["parameters"] = max(distance(before, after, end), distance(before, after, vector(training)))
    found["first"] = unlike(history[:1], expected[:1])
    found["history"] = max(unlike(history, expected), unlike(compiled, expected)) if len(history) == STEPS else 1.0
    if Calls.__torch_dispatch__ is not dispatch:
        raise RuntimeError("the counter was changed")
    return found


def of_two(answer, seed=0):
    """Return the counts of an answer that trains in two processes: those of this process."""
    rank = dist.get_rank()
    data = batches(seed)
    torch.compiler.set_stance("force_eager")
    answer(rank, (1, 1)).run(data[:1])  # warm up
    training = answer(rank, (1, 1))
    calls = Calls()
    with calls:
        training.run(data[1:3])
    found = {"messages": len(calls.sent) // 2, "sent": round(sum(calls.sent) / 2 / 1000), "narrow": calls.narrow,
             "end": vector(training)}

    flops = FlopCounterMode(display=False)
    _, shared, _ = run_eagerly(answer, data[:5], flops, rank=rank, shares=(3, 1))  # the last two are clipped
    before, alone, _ = run_eagerly(answer, data[:5])
    found["unequal"] = distance(before, alone, shared)
    found["work"] = flops.get_total_flops()
    return found
