"""What a rank sees of the exercise of A DDP of your own: gradients, and the order in which messages leave."""
import copy
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

from d2lhelpers.torch.collectives import Messages

HELD = 4  # seconds after which a rank that is held back begins nevertheless; an `Attempt` ends ranks that idle longer
LIMIT = 48  # bytes at least in a bucket of `net_of_sizes`


class Visits(nn.Module):
    """A network of equal experts that are run in an order that is set, each once, or not at all."""

    def __init__(self, width, count):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(count))
        self.order = list(range(count))

    def forward(self, rows):
        """Return the sum of what the experts give."""
        return sum(torch.tanh(self.experts[number](rows)) for number in self.order)


def numbers(seed, *shape):
    """Return random numbers that each rank draws from a seed of its own."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + 7919 * dist.get_rank())).double()


def net_of_sizes():
    """Return a network of parameters of different sizes, in float64, the second of which is frozen."""
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 4, bias=False), nn.Tanh(), nn.Linear(4, 2), nn.Tanh(),
                        nn.Linear(2, 2)).double()
    net[0].bias.requires_grad_(False)
    return net


def backward(net, rows):
    """Compute the gradients of a loss."""
    net(rows).square().mean().backward()


def gradients(net):
    """Return the gradients of the parameters that require one; zeros stand for one that is not there."""
    trained = [each for each in net.parameters() if each.requires_grad]
    return torch.cat([(torch.zeros_like(each) if each.grad is None else each.grad).flatten() for each in trained])


def mean_of(net, rows):
    """Return this rank's gradients and the mean over the ranks, computed with a copy of a network."""
    other = copy.deepcopy(net)
    backward(other, rows)
    own = gradients(other)
    mean = own.clone()
    dist.all_reduce(mean)
    return own, mean / dist.get_world_size()


def two_steps(function):
    """Average the gradients of two backward passes; return what came out, what is right, and the order of events."""
    net = net_of_sizes()
    order = []
    for each in net.parameters():
        if each.requires_grad:
            each.register_hook(lambda _: order.append("gradient"))
    finish = function(net, LIMIT)
    if not callable(finish):
        return None
    found = []
    for step in range(2):
        rows = numbers(step, 6, 3)
        own, mean = mean_of(net, rows)
        net.zero_grad()
        order.clear()
        with Messages(order):
            backward(net, rows)
            order.append("over")
            finish()
        thawed = net[0].bias.requires_grad
        net[0].bias.requires_grad_(False)
        found.append({"own": own, "mean": mean, "found": gradients(net), "order": list(order), "thawed": thawed})
    return found


def with_late_rank(function):
    """Let rank 1 come late: return whether its backward pass had to begin first, and whether `finish` did not wait."""
    net = net_of_sizes()
    finish = function(net, LIMIT)
    store = dist.distributed_c10d._get_default_store()

    def is_told(word, seconds):
        try:
            store.wait([word], timedelta(seconds=seconds))
        except RuntimeError:
            return False
        return True

    stuck, hasty = False, False
    if dist.get_rank() == 1:
        stuck = not is_told("through", HELD)
        hasty = not stuck and is_told("finished", 0.5)
    rows = numbers(5, 6, 3)
    backward(net, rows)
    if dist.get_rank() == 0:
        store.set("through", "")
    finish()
    if dist.get_rank() == 0:
        store.set("finished", "")
    own, _ = mean_of(net, rows)
    return stuck, hasty or bool(torch.isclose(gradients(net), own / 2).any())


def with_visits(function, *orders):
    """Average the gradients of experts that this rank visits, each time in an order; return them and what is right."""
    net = Visits(4, 4).double()
    for number, expert in enumerate(net.experts):
        nn.init.constant_(expert.weight, 0.1 * (number + 1))
    finish = function(net, 1)
    found, means = [], []
    for step, net.order in enumerate(orders):
        net.zero_grad()
        rows = numbers(9 + step, 6, 4)
        means.append(mean_of(net, rows)[1])
        sizes = []
        with Messages(sizes):
            backward(net, rows)
        finish()
        found.append(gradients(net))
    return {"found": torch.cat(found), "mean": torch.cat(means), "left": len(sizes)}


def observe(function):
    """Run the function on this rank; return all that the rules ask for."""
    steps = two_steps(function)
    if steps is None:
        return {"steps": None}
    late = with_late_rank(function)
    others = with_visits(function, [0, 1, 2, 3] if dist.get_rank() == 0 else [2, 0, 3, 1])
    return {"steps": steps, "late": late, "others": others}


def visit_some(function):
    """Let each rank leave out no expert in a first step, and others than the other rank in a second one."""
    return with_visits(function, [0, 1, 2, 3], [0, 2, 3] if dist.get_rank() == 0 else [0, 1])
