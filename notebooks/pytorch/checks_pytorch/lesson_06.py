"""Check the answers to the exercises of lesson 06, Splitting the network."""
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import ScheduleGPipe
from torch.utils.flop_counter import FlopCounterMode

from d2lhelpers.attempts import Attempt
from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check
from d2lhelpers.torch.pipeline import Pass, RecordedStage, replay

FUNCTION = "give a function: its name alone, without parentheses"


def waiting(stages, parts):
    """Return the share of waiting in a step of GPipe whose messages take no time."""
    order = [Pass(kind, part, 0, 0) for kind in "FB" for part in range(parts)]
    record = replay([order] * stages, {"F": 1, "B": 2})
    return 1 - 3 * parts / max(passes[-1].end for passes in record)


def check_1(answer):
    """Check a share of waiting, the fewest micro-batches for a small one, and how many of them are alive."""
    def near(share):
        return abs(float(answer[0]) - share) < 0.005

    return check(
        answer,
        ("not-three-numbers", lambda a: len(a) == 3, "give three numbers: (share, micro-batches, alive)"),
        ("no-share", lambda a: 0 < float(a[0]) < 1, "a share lies between 0 and 1"),
        ("relative-to-work", lambda _: not near(7 / 24),
         "that is the waiting relative to the useful time. Relative to all of the time?"),
        ("share-of-work", lambda _: not near(24 / 31), "that is the share of work, not of waiting"),
        ("wrong-share", lambda _: near(waiting(8, 24)),
         "share: how many passes long is the step, and in how many is a rank busy?"),
        ("not-a-count", lambda a: float(a[1]) == int(a[1]) > 0,
         "the share is right. Micro-batches are counted: a whole number"),
        ("too-few-parts", lambda a: waiting(8, int(a[1])) < 0.1 + 1e-9,
         "the share is right, but with so few, more than a tenth is waiting"),
        ("too-many-parts", lambda a: waiting(8, int(a[1]) - 1) > 0.1 + 1e-9,
         "the share is right, but fewer micro-batches are enough"),
        ("gpipe-alive", lambda a: a[2] != a[1],
         "the first two are right, but all of them are alive under GPipe, not under 1F1B"),
        ("other-rank-alive", lambda a: a[2] != 1,
         "the first two are right, but so few are alive on another rank than the first"),
        ("wrong-alive", lambda a: a[2] == 8,
         "the first two are right. The third: after how many forward passes does the first gradient come back?"),
    )


def own_heads(x, Q, K, V, P, heads, rank, ranks):
    """Return this rank's part of attention: the right answer to exercise 2."""
    mine = [(x @ W.chunk(ranks, dim=1)[rank]).unflatten(1, (heads // ranks, -1)).transpose(0, 1) for W in (Q, K, V)]
    mixed = nn.functional.scaled_dot_product_attention(*mine)
    return mixed.transpose(0, 1).flatten(1) @ P.chunk(ranks, dim=0)[rank]


def attentions(random):
    """Yield inputs and matrices, numbers of heads and of ranks; no two sizes are the same."""
    for rows, width, size, heads, ranks in (1, 2, 3, 1, 1), (5, 7, 2, 6, 2), (4, 10, 1, 6, 3), (9, 6, 4, 3, 3):
        inner = size * heads
        shapes = (rows, width), (width, inner), (width, inner), (width, inner), (inner, width + 1)
        numbers = [torch.from_numpy(random.normal(size=each) / each[1] ** 0.5).float() for each in shapes]
        yield *numbers, heads, "each of them", ranks


def use_all_ranks(function, *arguments):
    """Play all ranks; return the sum of their parts, and the gradients of all inputs."""
    *inputs, heads, _, ranks = arguments
    asked = [each.clone().requires_grad_() for each in inputs]
    total = sum(function(*asked, heads, rank, ranks) for rank in range(ranks))
    if total.requires_grad:
        total.square().sum().backward()
    return total, [each.grad for each in asked]


def check_2(answer, attention):
    """Check a function that computes one rank's part of attention, from that rank's part of each matrix."""
    exam = Exam(own_heads, attentions, use_all_ranks, tolerance=1e-4)

    def inputs(width):
        """Return an input and the four matrices, the same in every call."""
        return [torch.randn(width, width, generator=torch.Generator().manual_seed(seed)) for seed in range(5)]

    def parts(ranks, width=12, heads=6):
        return [answer(*inputs(width), heads, rank, ranks) for rank in range(ranks)]

    def adds_up(ranks, width=12, heads=6):
        """Return whether the parts add up to the output of attention."""
        return torch.allclose(sum(parts(ranks, width, heads)), attention(*inputs(width), heads), atol=1e-4)

    def same_on_all(found):
        return all(torch.allclose(part, found[0], atol=1e-4) for part in found)

    def used(rank, ranks):
        """Return the largest share of a matrix that the rank's part depends on."""
        x, *matrices = inputs(12)
        asked = [matrix.requires_grad_() for matrix in matrices]
        part = answer(x, *asked, 6, rank, ranks)
        if part.requires_grad:  # a rank may have nothing to do
            part.square().sum().backward()
        return max([(each.grad != 0).float().mean().item() for each in asked if each.grad is not None], default=0)

    def learns(ranks):
        """Return whether every input gets the gradient that it gets in one process."""
        found = []
        for run in attention, lambda *given: sum(answer(*given, rank, ranks) for rank in range(ranks)):
            asked = [each.requires_grad_() for each in inputs(12)]
            total = run(*asked, 6)
            found.append([torch.zeros(1) if each is None else each for each in torch.autograd.grad(
                total.square().sum(), asked, allow_unused=True)] if total.requires_grad else [torch.zeros(1)] * 5)
        return all(one.shape == other.shape and torch.allclose(one, other, rtol=1e-3, atol=1e-3 * one.abs().max())
                   for one, other in zip(*found, strict=True))

    def operations(function, *arguments):
        with FlopCounterMode(display=False) as counter:
            function(*inputs(12), 6, *arguments)
        return counter.get_total_flops()

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("no-result", lambda _: torch.is_tensor(parts(1)[0]),
         "with one rank it gives no tensor: who calls it, and what does it return?"),
        ("one-rank-wrong", lambda _: adds_up(1), "a single rank must give the whole output"),
        ("other-shape", lambda _: parts(2)[0].shape == (12, 12), "each part is as large as the output"),
        ("same-on-all", lambda _: not same_on_all(parts(2)), "both ranks return the same: each adds the same part"),
        ("wrong-sum", lambda _: adds_up(2),
         "the parts of two ranks do not add up to the output: which heads is each part made of?"),
        ("two-ranks-only", lambda _: adds_up(3) and adds_up(4, 16, 8), "right for two ranks and six heads only"),
        ("no-gradients", lambda _: learns(3), "the parts add up, but not their gradients: all four matrices learn, and "
         "the layer before needs the gradient of `x`"),
        ("needs-too-much", lambda _: max(used(rank, 3) for rank in range(3)) < 0.34,
         "the parts add up, but a rank needs more than its share of a matrix"),
        ("computes-too-much", lambda _: 3 * operations(answer, 2, 3) < 1.1 * operations(attention),
         "the parts add up, but a rank computes more than its share: other ranks' heads as well"),
        *exam.rules(),
    )


def shared_loss(stage, parts, labels):
    """Return a schedule whose losses add up to that of the batch: the right answer to exercise 3."""
    counting = (labels != -100).sum()

    def share(outputs, part):
        return nn.functional.cross_entropy(outputs, part, reduction="sum") / counting

    return ScheduleGPipe(stage, parts, loss_fn=share, scale_grads=False)


def padded(random):
    """Yield numbers of micro-batches, and labels of which at least one counts in each."""
    for parts, rows in (1, 2), (2, 6), (8, 3), (6, 4):
        labels = random.integers(3, size=(parts, rows))
        labels[:, 1:][random.random((parts, rows - 1)) < 0.6] = -100
        yield "one of two", parts, torch.from_numpy(labels.ravel())


def use_schedule(function, _, parts, labels):
    """Run two steps of a pipeline, and return what the second has: passes, the sum of the losses, and gradients."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    numbers = torch.Generator().manual_seed(len(labels))
    layers = [nn.Linear(3, 3, bias=False) for _ in range(ranks)]
    for each in layers:
        each.weight.data = torch.randn(3, 3, generator=numbers)
    rows = torch.randn(len(labels), 3, generator=numbers)
    stage = RecordedStage(layers[rank], rank, ranks)
    schedule = function(stage, parts, labels)
    for _ in range(2):
        stage.restart(0)
        layers[rank].zero_grad()
        losses = []
        schedule.step(*[rows][rank:], target=labels, losses=losses)
    return len(stage.passes), sum(each.item() for each in losses), layers[rank].weight.grad


def check_3(answer, pipeline, network, rows, labels):
    """Check a schedule of micro-batches that count unequally: its losses and gradients are those of the batch."""
    attempt = Attempt()
    exam = Exam(shared_loss, padded, use_schedule, free=["seeds"])

    def step():
        """Run in each rank."""
        return pipeline(network, [(lambda stage, parts, loss_fn: answer(stage, parts, labels), 4)], rows, labels)[0]

    def total(**options):
        """Return the loss of one process."""
        return nn.functional.cross_entropy(nn.Sequential(*network(2))(rows), labels, **options)

    def adds_up_to(loss):
        losses = sum(each.detach() for each in attempt.results[1].losses)
        return torch.allclose(losses, loss, rtol=1e-3)

    def means(_):
        """Return whether each loss is the mean over its own micro-batch, or a quarter of it."""
        scores = nn.Sequential(*network(2))(rows)
        pairs = zip(scores.chunk(4), labels.chunk(4), strict=True)
        own = [nn.functional.cross_entropy(*pair).detach() for pair in pairs]
        return all(torch.allclose(each, mean, rtol=1e-3) or torch.allclose(4 * each, mean, rtol=1e-3)
                   for each, mean in zip(attempt.results[1].losses, own, strict=True))

    def same(times=1.0):
        """Return whether the gradients are those of one process, multiplied by `times`."""
        net = nn.Sequential(*network(2))
        nn.functional.cross_entropy(net(rows), labels).backward()
        gradients = attempt.results[0].gradients + attempt.results[1].gradients
        return all(one is not None and torch.allclose(one, times * two.grad, rtol=1e-3, atol=1e-6)
                   for one, two in zip(gradients, net.parameters(), strict=True))

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        *attempt.rules(step),
        ("other-part-count", lambda _: all(len(each.passes) == 8 for each in attempt.results),
         "it does not run as many micro-batches as it is asked for"),
        ("own-means", lambda _: not means(_),
         "each micro-batch's loss is a mean over its own labels, however few they are"),
        ("sum-not-mean", lambda _: not adds_up_to(total(reduction="sum")),
         "the losses add up to the sum over all labels, not to their mean"),
        ("counts-padding", lambda _: not adds_up_to(total(reduction="sum") / len(rows)),
         "the losses add up to too little: padding was counted"),
        ("half-the-loss", lambda _: not adds_up_to(total() / 2),
         "the losses add up to half of the loss of one process: does each rank have labels of its own?"),
        ("other-loss", lambda _: adds_up_to(total()), "the losses do not add up to the loss of one process"),
        ("gradients-too-small", lambda _: not same(1 / 4),
         "the losses are right. The gradients are four times too small"),
        ("other-gradients", lambda _: same(), "the losses are right. The gradients are not those of one process"),
        *exam.rules_on_ranks(answer, 2),
        seconds=20)
