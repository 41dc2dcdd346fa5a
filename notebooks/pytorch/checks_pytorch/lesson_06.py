"""Check the answers to the exercises of lesson 06, Splitting the network."""
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from d2lhelpers.exercises import check
from d2lhelpers.process import in_group
from d2lhelpers.torch.pipeline import Pass, replay

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


def check_2(answer, attention):
    """Check a function that computes one rank's part of attention, from that rank's part of each matrix."""
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
        answer(x, *asked, 6, rank, ranks).square().sum().backward()
        return max((each.grad != 0).float().mean().item() for each in asked if each.grad is not None)

    def operations(function, *arguments):
        with FlopCounterMode(display=False) as counter:
            function(*inputs(12), 6, *arguments)
        return counter.get_total_flops()

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("no-result", lambda _: parts(1)[0] is not None,
         "with one rank it gives no result: who calls it, and what does it return?"),
        ("one-rank-wrong", lambda _: adds_up(1), "a single rank must give the whole output"),
        ("other-shape", lambda _: parts(2)[0].shape == (12, 12), "each part is as large as the output"),
        ("same-on-all", lambda _: not same_on_all(parts(2)), "both ranks return the same: each adds the same part"),
        ("wrong-sum", lambda _: adds_up(2),
         "the parts of two ranks do not add up to the output: which heads is each part made of?"),
        ("two-ranks-only", lambda _: adds_up(3) and adds_up(4, 16, 8), "right for two ranks and six heads only"),
        ("needs-too-much", lambda _: max(used(rank, 3) for rank in range(3)) < 0.34,
         "the parts add up, but a rank needs more than its share of a matrix"),
        ("computes-too-much", lambda _: 3 * operations(answer, 2, 3) < 1.1 * operations(attention),
         "the parts add up, but a rank computes more than its share: other ranks' heads as well"),
    )


class RankError(Exception):
    """What a reader's function raised in another process: the last line of its traceback."""

    def __repr__(self):
        return str(self)


def check_3(answer, pipeline, network, rows, labels):
    """Check a schedule of micro-batches that count unequally: its losses and gradients are those of the batch."""
    others = labels.clone()
    others[labels == -100] = 1
    others[[0, 1, 2, 5, 6]] = -100
    runs = {"four": (4, labels), "two": (2, labels), "others": (4, others)}
    found = {}

    def steps():
        """Run in each rank: return its step for each of the runs."""
        def planned(chosen):
            return lambda stage, parts, loss_fn: answer(stage, parts, chosen)

        return {name: pipeline(network, [(planned(chosen), parts)], rows, chosen)[0]
                for name, (parts, chosen) in runs.items()}

    def run(_):
        try:
            found.update(zip(("first", "last"), in_group(steps, timeout=30), strict=True))
        except RuntimeError as error:
            first = str(error).partition("\n--- ")[2].partition("\n--- ")[0]  # of the rank that failed first
            raise RankError((first.splitlines() or [str(error)])[-1]) from None
        return True

    def asked(name):
        parts, _ = runs[name]
        return all(len(found[rank][name].passes) == 2 * parts for rank in found)

    def total(name, **options):
        """Return the loss of one process."""
        scores = nn.Sequential(*network(2))(rows)
        return nn.functional.cross_entropy(scores, runs[name][1], **options)

    def adds_up_to(loss):
        losses = sum(each.detach() for each in found["last"]["four"].losses)
        return torch.allclose(losses, loss, rtol=1e-3)

    def means(_):
        """Return whether each loss is the mean over its own micro-batch, or a quarter of it."""
        scores = nn.Sequential(*network(2))(rows)
        pairs = zip(scores.chunk(4), labels.chunk(4), strict=True)
        own = [nn.functional.cross_entropy(*pair).detach() for pair in pairs]
        given = found["last"]["four"].losses
        return all(torch.allclose(each, mean, rtol=1e-3) or torch.allclose(4 * each, mean, rtol=1e-3)
                   for each, mean in zip(given, own, strict=True))

    def same(name, times=1.0):
        """Return whether the gradients are those of one process, multiplied by `times`."""
        net = nn.Sequential(*network(2))
        nn.functional.cross_entropy(net(rows), runs[name][1]).backward()
        gradients = found["first"][name].gradients + found["last"][name].gradients
        return all(torch.allclose(one, times * two.grad, rtol=1e-3, atol=1e-6)
                   for one, two in zip(gradients, net.parameters(), strict=True))

    def loss_of(name):
        losses = sum(each.detach() for each in found["last"][name].losses)
        return torch.allclose(losses, total(name), rtol=1e-3)

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("rank-raises", run, "it failed in one of two ranks"),
        ("other-part-count", lambda _: asked("four") and asked("two"),
         "it does not run as many micro-batches as it is asked for"),
        ("own-means", lambda _: not means(_),
         "each micro-batch's loss is a mean over its own labels, however few they are"),
        ("sum-not-mean", lambda _: not adds_up_to(total("four", reduction="sum")),
         "the losses add up to the sum over all labels, not to their mean"),
        ("counts-padding", lambda _: not adds_up_to(total("four", reduction="sum") / len(rows)),
         "the losses add up to too little: padding was counted"),
        ("half-the-loss", lambda _: not adds_up_to(total("four") / 2),
         "the losses add up to half of the loss of one process: does each rank have labels of its own?"),
        ("other-loss", lambda _: adds_up_to(total("four")), "the losses do not add up to the loss of one process"),
        ("gradients-too-small", lambda _: not same("four", 1 / 4),
         "the losses are right. The gradients are four times too small"),
        ("other-gradients", lambda _: same("four"), "the losses are right. The gradients are not those of one process"),
        ("four-parts-only", lambda _: loss_of("two") and same("two"), "right for four micro-batches, but not for two"),
        ("these-labels-only", lambda _: loss_of("others") and same("others"),
         "right for these labels, but not for others"),
    )
