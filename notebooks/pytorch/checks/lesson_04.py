"""The rules of the checks in lesson 04, Data parallel."""
import torch
import torch.distributed as dist
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from d2lhelpers.exercises import check
from d2lhelpers.process import in_group


class Messages(TorchDispatchMode):
    """Counts the all-reduces inside a `with` block."""

    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        """Count a call if it is an all-reduce, and make it."""
        self.count += function.name() == "c10d::allreduce_"
        return function(*args, **(kwargs or {}))


def averaged(function):
    """Let `function` average the gradients of a network; return its distance from the mean, and its all-reduces."""
    torch.manual_seed(dist.get_rank())
    net = nn.Sequential(nn.Linear(30, 20), nn.ReLU(), nn.Linear(20, 10))
    net(torch.randn(8, 30)).square().sum().backward()
    mine = nn.utils.parameters_to_vector([each.grad for each in net.parameters()])
    everyones = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(everyones, mine)
    with Messages() as messages:
        function(net)
    found = nn.utils.parameters_to_vector([each.grad for each in net.parameters()])
    mean = sum(everyones) / len(everyones)
    return ((found - mean).abs().max() / mean.abs().max()).item(), messages.count


def check_1(answer):
    """Check three factors of the learning rate: mean, sum, and a sum of means."""
    return check(
        answer,
        (lambda a: isinstance(a, (list, tuple)) and len(a) == 3, "give three numbers, such as (1, 1, 1)"),
        (lambda a: a[0] == 1, "a: section 3 compared such a step with that of one process"),
        (lambda a: a[1] != 0.5, "b: is DDP's step too large, or too small?"),
        (lambda a: a[1] == 2, "b: one process adds up all rows; what does DDP do with the sums of two processes?"),
        (lambda a: a[2] == 0.5, "c: section 2 took this step: 32 + 32 rows, weight 1"))


def check_2(answer):
    """Check a function that averages the gradients of a network over two processes, with one all-reduce."""
    outcomes = []

    def result(function):
        outcomes[:] = in_group(averaged, function)
        return all(distance < 1e-5 for distance, _ in outcomes)

    return check(
        answer,
        (callable, "put the function itself, without calling it"),
        (result, "the gradients are not the mean over both processes: is each `parameter.grad` itself changed?"),
        (lambda _: all(count == 1 for _, count in outcomes), "more than one all-reduce: put all gradients into one "
         "tensor before you send it"))


def check_3(answer):
    """Check the letters of the lines that leave the parameters, and the running means, of two replicas different."""
    return check(
        answer,
        (lambda a: isinstance(a, (list, tuple)) and len(a) == 2 and set(a) <= set("abcde"),
         'give two letters from a to e, such as ("a", "b")'),
        (lambda a: "a" not in a, "the seeds differ, but what does DDP do with the parameters when it wraps a network?"),
        (lambda a: a[0] == "d", "parameters: the names that differ tell which layer; when was it added?"),
        (lambda a: a[1] == "b", "running means: which layer keeps them, and which rows has it seen?"))
