"""Check the answer to the exercise of the notebook What sharding leaves."""
import torch
import torch.distributed as dist
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from d2lhelpers.attempts import Attempt
from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check


class Reductions(TorchDispatchMode):
    """Count the reduce-scatters and all-reduces in a `with` block."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += "c10d" in function.namespace and "reduce" in function.__name__
        return function(*args, **(kwargs or {}))


def check_1(answer, sharded, loss_of):
    """Check a function that accumulates gradients over micro-batches of any lengths, and reduces them once."""
    WIDTH = 16

    def make():
        torch.manual_seed(0)
        blocks = [nn.Sequential(nn.Linear(WIDTH, 32), nn.GELU(), nn.Linear(32, WIDTH)) for _ in range(2)]
        return nn.Sequential(*blocks).double()

    def rows_of(lengths):
        """Return the rows of both ranks' micro-batches: a list of tensors for each rank."""
        random = torch.Generator().manual_seed(3)
        return [[torch.randn(length, WIDTH, generator=random).double() for length in lengths] for _ in range(2)]

    def after(function, lengths, calls=1):
        """Return what one rank has after the last of several calls."""
        net = sharded(make())
        most = [0]
        net.register_forward_pre_hook(lambda net, arguments: most.append(len(arguments[0])))
        for _ in range(calls):
            net.zero_grad()
            with Reductions() as reductions:
                function(net, rows_of(lengths)[dist.get_rank()])
        gradients = [each.grad.full_tensor().flatten() for each in net.parameters() if each.grad is not None]
        return {"gradient": torch.cat(gradients) if gradients else None, "reductions": reductions.count,
                "most": max(most), "blocks": len(net), "missing": len(list(net.parameters())) - len(gradients)}

    def results(function):
        return [after(function, (4, 4, 4)), after(function, (5, 3, 2)), after(function, (6,)),
                after(function, (5, 3, 2), calls=2)]

    attempt = Attempt()

    def accumulate(net, micro_batches):
        total = sum(map(len, micro_batches))
        for number, rows in enumerate(micro_batches):
            net.set_requires_gradient_sync(number == len(micro_batches) - 1)
            (loss_of(net, rows) * len(rows) / total).backward()

    def batches(random):
        """Yield lists of micro-batches, of one row and of more."""
        for lengths in (1,), (1, 3), random.integers(1, 7, size=5):
            yield f"of {len(lengths)} batches", [torch.from_numpy(random.normal(size=(length, WIDTH)) + dist.get_rank())
                                                 for length in lengths]

    def use(function, _, micro_batches):
        """Return the gradients after a call, what the network is, and its gradients after a usual step that follows."""
        net = sharded(make())
        others = [each.clone() for each in micro_batches]
        found = []
        for run in function, lambda net, rows: loss_of(net, rows[0]).backward():
            net.zero_grad()
            if others:  # a wrong answer may have used up the list
                run(net, others if run is not function else micro_batches)
            found.append([each.grad if each.grad is None else each.grad.full_tensor() for each in net.parameters()])
        state = [each.full_tensor() for each in net.parameters()], [each.training for each in net.modules()]
        return found, state

    def wanted(lengths):
        net = make()
        loss_of(net, torch.cat([rows for each in rows_of(lengths) for rows in each])).backward()
        return nn.utils.parameters_to_vector([each.grad for each in net.parameters()])

    def near(which, lengths, factor=1.0):
        return all((found[which]["gradient"] / factor - wanted(lengths)).norm() < 1e-6 * wanted(lengths).norm()
                   for found in attempt.results)

    def is_scaled():
        """Return whether the gradient is a multiple of what it should be."""
        right = wanted((4, 4, 4))
        factor = (attempt.results[0][0]["gradient"] @ right) / (right @ right)
        return abs(factor - 1) > 1e-3 and abs(factor) > 1e-3 and near(0, (4, 4, 4), factor)

    def everywhere(rule):
        return lambda _: all(rule(case) for found in attempt.results for case in found)

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        *attempt.rules(results, answer),
        ("no-gradient", everywhere(lambda case: case["missing"] == 0),
         "a parameter has no gradient: nothing was reduced"),
        ("too-many-rows", lambda _: all(found[1]["most"] <= 5 for found in attempt.results),
         "more rows than the longest micro-batch at once: their activations are what should not be there together"),
        ("scaled-gradient", lambda _: not is_scaled(),
         "for equal micro-batches the gradient has the right direction, and the wrong size"),
        ("other-gradient", lambda _: near(0, (4, 4, 4)),
         "for equal micro-batches it is not the gradient of the mean over all rows"),
        ("unequal-batches-wrong", lambda _: near(1, (5, 3, 2)),
         "right for equal micro-batches, but not for unequal ones"),
        ("one-batch-wrong", lambda _: near(2, (6,)), "right for three micro-batches, but not for one"),
        ("second-call-wrong", lambda _: near(3, (5, 3, 2)),
         "the first call is right, the second call on the same network is not"),
        ("reduced-again", lambda _: all(found[1]["reductions"] <= found[1]["blocks"] for found in attempt.results),
         "the gradients are right, but they are reduced more than once"),
        *Exam(accumulate, batches, use).rules_on_ranks(answer, 2, 3),
        seconds=20)
