"""Check the answer to the exercise of the notebook A DDP of your own."""
import copy

import torch
import torch.distributed as dist
from torch import nn

from d2lhelpers.attempts import Attempt
from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check
from d2lhelpers.torch.collectives import Messages

from .averaged_on_ranks import LIMIT, backward, gradients, net_of_sizes, numbers, observe, visit_some


def overlapped(net, size):
    """Put hooks in place that average gradients bucket by bucket: the right answer to exercise 1."""
    buckets = [[]]
    for each in reversed([each for each in net.parameters() if each.requires_grad]):
        if sum(other.nbytes for other in buckets[-1]) >= size:
            buckets.append([])
        buckets[-1].append(each)
    here, sent = set(), []

    def send(bucket):
        for each in bucket:
            if each.grad is None:
                each.grad = torch.zeros_like(each)
        flat = torch.cat([each.grad.flatten() for each in bucket]) / dist.get_world_size()
        sent.append((dist.all_reduce(flat, async_op=True), flat))

    def ready(parameter):
        here.add(parameter)
        while len(sent) < len(buckets) and here.issuperset(buckets[len(sent)]):
            send(buckets[len(sent)])

    def finish():
        for bucket in buckets[len(sent):]:
            send(bucket)
        for bucket, (handle, flat) in zip(buckets, sent, strict=True):
            handle.wait()
            for each, piece in zip(bucket, flat.split([each.numel() for each in bucket]), strict=True):
                each.grad.copy_(piece.view_as(each))
        here.clear()
        sent.clear()

    for bucket in buckets:
        for each in bucket:
            each.register_post_accumulate_grad_hook(ready)
    return finish


def cases(random):
    """Yield networks and sizes of buckets: one parameter, frozen ones, three axes, one bucket, float32."""
    wide = int(random.integers(3, 9))
    frozen = nn.Sequential(nn.Linear(wide, wide), nn.Tanh(), nn.Linear(wide, wide), nn.Tanh(), nn.Linear(wide, 1))
    frozen[int(random.integers(3)) * 2].weight.requires_grad_(False)
    layers = [nn.Conv1d(1, 2, 3), nn.Tanh(), nn.Flatten(), nn.Linear(2 * (wide - 2), 3, bias=False)]
    deep = nn.Sequential(nn.Unflatten(1, (1, wide)), nn.Sequential(*layers), nn.LayerNorm(3)).eval()
    for net, rows, size in ((nn.Linear(1, 1, bias=False), 1, 1), (frozen, wide, 10**6), (frozen, wide, 1),
                            (deep, wide, int(random.integers(20, 90))), (frozen, wide, 8 * wide)):
        for each in net.parameters():
            each.data = torch.from_numpy(random.normal(size=each.shape))
        yield net.double(), size, rows
    yield frozen.float(), 8 * wide, wide


def use(function, net, size, width):
    """Return gradients and messages of four backward passes, the last of which adds to the gradients before.

    Of a network in float32 only the messages: its gradients are rounded in one way or another.
    """
    net = copy.deepcopy(net)
    kind = next(net.parameters()).dtype
    for each in net.parameters():
        each.grad = torch.ones_like(each) if each.requires_grad else None
    finish = function(net, size)
    found = [gradients(net)]
    for step in range(4):
        if step < 3:
            net.zero_grad()
        sizes = []
        with Messages(sizes):
            backward(net, numbers(step, 3, width).to(kind))
            finish()
        found.append([gradients(net) if kind == torch.float64 else 0, sizes])
    held = [each.requires_grad for each in net.parameters()], [each.training for each in net.modules()]
    return found, [each.detach() for each in net.parameters()], held


def check_1(answer):
    """Check a function that puts hooks in place, so that gradients are averaged in buckets in the backward pass."""
    attempt, partial = Attempt(), Attempt()

    def steps(rule, number=0):
        return lambda _: all(rule(result["steps"][number]) for result in attempt.results)

    def is_near(which, factor=1.0):
        return lambda step: torch.allclose(step["found"], factor * step[which], rtol=1e-9, atol=1e-12)

    def is_not(rule):
        return lambda step: not rule(step)

    def sizes(step):
        return [each for each in step["order"] if isinstance(each, int)]

    def right_sizes():
        found = [0]
        for each in reversed([each for each in net_of_sizes().parameters() if each.requires_grad]):
            if found[-1] >= LIMIT:
                found.append(0)
            found[-1] += each.nbytes
        return found

    def early(step):
        """Return the sizes of the messages that start before the last gradient comes."""
        last = len(step["order"]) - 1 - step["order"][::-1].index("gradient")
        return sizes({"order": step["order"][:last]})

    def in_time(step):
        """Return whether all but the last bucket leave before the last gradient comes, and that one right after it."""
        return len(early(step)) == len(sizes(step)) - 1 and step["order"][-1] == "over"

    def right_means(results):
        return all(torch.allclose(each["found"], each["mean"], rtol=1e-9, atol=1e-12) for each in results)

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        *attempt.rules(observe, answer),
        ("no-finish", lambda _: all(result["steps"] for result in attempt.results),
         "your function returns another function, which is called after each backward pass"),
        ("frozen-parameters", steps(lambda step: not step["thawed"]),
         "a parameter that required no gradient requires one now"),
        ("no-all-reduce", steps(sizes), "no all-reduce was asked for: call `dist.all_reduce` itself"),
        ("stands-still", lambda _: not any(result["late"][0] for result in attempt.results),
         "rank 1 was late, and rank 0 could not end its backward pass before rank 1 came: what does it wait for?"),
        ("no-wait", lambda _: not any(result["late"][1] for result in attempt.results),
         "rank 1 was late, and rank 0's `finish` did not wait for what it sends: which gradients does rank 0 have?"),
        ("own-gradients", steps(is_not(is_near("own"))),
         "each rank still has its own gradients: where did the sums go?"),
        ("sum-not-mean", steps(is_not(is_near("mean", 2))), "the gradients are the sum over the ranks, not the mean"),
        ("divided-twice", steps(is_not(is_near("mean", 0.5))), "the gradients are half of the mean: divided twice?"),
        ("not-the-mean", steps(is_near("mean")),
         "the gradients are not the mean over the ranks. Is each piece of a bucket back in its own place?"),
        ("after-backward", steps(early),
         "the gradients are right, but no message leaves while some are still to come"),
        ("other-buckets", steps(lambda step: sizes(step) == right_sizes()),
         "the gradients are right, but these are other messages than the text asks for: compare how many bytes each "
         "one has"),
        ("late-buckets", steps(in_time), "the right buckets, but one leaves later than it could"),
        ("second-step", steps(is_near("mean"), 1), "the first backward pass is right, the second one is not"),
        ("second-order", steps(lambda step: in_time(step) and sizes(step) == right_sizes(), 1),
         "in the second backward pass other buckets leave, or later"),
        ("other-order", lambda _: right_means([result["others"] for result in attempt.results]),
         "wrong if gradients come in another order on another rank: are buckets sent in the order in which they fill?"),
        ("one-at-a-time", lambda _: all(result["others"]["left"] == 4 for result in attempt.results),
         "if gradients come in another order, a bucket that could leave stays behind until `finish`"),
        *partial.rules(visit_some, answer),
        ("no-gradient", lambda _: right_means(partial.results), "wrong if a parameter gets no gradient on one rank"),
        *Exam(overlapped, cases, use, tolerance=1e-9).rules_on_ranks(answer, 3),
        seconds=20)
