"""The rules of the checks in lesson 06, Splitting the network."""
import torch
from torch.distributed.pipelining import ScheduleGPipe

from d2lhelpers.exercises import check
from d2lhelpers.process import in_group


def _waiting(stages, parts):
    """Return the share of waiting under GPipe, from a timetable of passes; a backward pass takes two units."""
    end = {}
    for stage in range(stages):
        for part in range(parts):
            end["F", stage, part] = 1 + max(end.get(("F", stage - 1, part), 0), end.get(("F", stage, part - 1), 0))
    for stage in reversed(range(stages)):
        for part in range(parts):
            own = end["B", stage, part - 1] if part else end["F", stage, parts - 1]
            end["B", stage, part] = 2 + max(own, end.get(("B", stage + 1, part), 0))
    return 1 - 3 * parts / end["B", 0, parts - 1]


def check_1(answer):
    """Check a share of waiting, the fewest micro-batches for a small one, and how many of them are alive."""
    return check(
        answer,
        (lambda a: isinstance(a, (list, tuple)) and len(a) == 3, "three numbers: (share, micro-batches, alive)"),
        (lambda a: abs(a[0] - 7 / 24) > 0.005, "that is relative to the useful time; relative to all of the time?"),
        (lambda a: abs(a[0] - _waiting(8, 24)) < 0.005, "a step lasts as long as m + p - 1 passes of each kind"),
        (lambda a: _waiting(8, int(a[1])) <= 0.1 + 1e-9, "with so few, more than a tenth is waiting"),
        (lambda a: _waiting(8, int(a[1]) - 1) > 0.1 + 1e-9, "fewer are enough"),
        (lambda a: a[2] != a[1], "that is GPipe's number: 1F1B starts going backward earlier"),
        (lambda a: a[2] == 8, "how many forward passes does the first rank do before its first backward pass?"))


def check_2(answer, attention):
    """Check a function that computes one rank's part of attention, from that rank's part of each matrix."""
    x, *matrices = (torch.randn(12, 12, generator=torch.Generator().manual_seed(seed)) for seed in range(5))
    whole = attention(x, *matrices, 6)

    def parts(function, ranks):
        return [function(x, *matrices, 6, rank, ranks) for rank in range(ranks)]

    def used(function, ranks):           # the share of each matrix that a rank's part depends on
        asked = [matrix.clone().requires_grad_() for matrix in matrices]
        function(x, *asked, 6, ranks - 1, ranks).square().sum().backward()
        return [(each.grad != 0).float().mean().item() for each in asked]

    return check(
        answer,
        (callable, "a function: its name alone, without parentheses"),
        (lambda f: torch.allclose(parts(f, 1)[0], whole, atol=1e-4), "a single rank must give the whole output"),
        (lambda f: all(part.shape == whole.shape for part in parts(f, 2)), "each part is as large as the output"),
        (lambda f: all(torch.allclose(sum(parts(f, ranks)), whole, atol=1e-4) for ranks in (2, 3)),
         "the parts do not add up to the output: which rows of P belong to your heads?"),
        (lambda f: max(used(f, 3)) < 0.34, "right, but a rank needs more than its share of a matrix"))


def check_3(answer, pipeline, network, alone, loss_fn, data):
    """Check a schedule that sums the loss: losses and gradients are those of one process."""
    results = {}

    def run(make):
        plans = [(make, parts) for parts in (2, 4)]
        results["first"], results["last"] = in_group(pipeline, network, plans, *data)
        results["loss"], results["gradients"] = alone(network, 2, *data, loss_fn)
        return True

    def factors(which):
        found = [first[2] + last[2] for first, last in zip(results["first"], results["last"], strict=True)][which]
        return [(a.norm() / b.norm()).item() for a, b in zip(results["gradients"], found, strict=True)]

    return check(
        answer,
        (lambda make: callable(make) and make is not ScheduleGPipe, "a function like `colleague`, without parentheses"),
        (run, "it does not run"),
        (lambda _: all(torch.allclose(sum(losses), results["loss"]) for _, losses, _ in results["last"]),
         "the losses no longer add up to the sum of one process: keep `summed`"),
        (lambda _: all(abs(factor - 1) < 1e-3 for factor in factors(1)),
         "with four micro-batches the gradients are not those of one process: what does PyTorch do with them?"),
        (lambda _: all(abs(factor - 1) < 1e-3 for factor in factors(0)), "right for four micro-batches, not for two"))
