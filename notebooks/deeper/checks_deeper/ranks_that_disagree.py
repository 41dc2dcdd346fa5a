"""Check the answer to the exercise of the notebook Ranks that disagree."""
import torch
import torch.distributed as dist
from torch import nn

from d2lhelpers.exercises import check
from d2lhelpers.messages import say
from d2lhelpers.process import in_group

PATIENCE = 10  # seconds for two processes, far more than a right answer takes
SAME = [[8, 8], [8, 8]]  # the rows of each batch, for rank 0 and rank 1
UNEQUAL_ROWS = [[8, 8], [8, 2]]
UNEQUAL_BATCHES = [[8, 8, 5], [4]]
NONE = [[8, 3], []]


class RankError(Exception):
    """What a reader's function raised in another process: the last line of its traceback."""

    def __repr__(self):
        return str(self)


def numbers(sizes, dtype=torch.float64):
    """Return a network, and for each rank its batches with as many rows as `sizes` says."""
    random = torch.Generator().manual_seed(0)
    net = nn.Linear(6, 3, dtype=dtype)
    with torch.no_grad():
        for each in net.parameters():
            each.copy_(torch.randn(each.shape, generator=random, dtype=dtype))
    ranks = []
    for batches in sizes:
        ranks.append([(torch.randn(rows, 6, generator=random, dtype=dtype) * (1 + len(ranks)),
                       torch.randint(3, (rows,), generator=random)) for rows in batches])
    return net, ranks


def losses(sizes):
    """Return the loss of each row, by rank."""
    net, ranks = numbers(sizes)
    of_ranks = []
    for batches in ranks:
        rows = [torch.log_softmax(net(X), 1).gather(1, y[:, None]).neg().flatten().detach() for X, y in batches]
        of_ranks.append(torch.cat(rows) if rows else torch.zeros(0))
    return of_ranks


def call(function, sizes):
    """Call the function on this rank with its batches; return what it returned, and whether it is one number."""
    net, ranks = numbers(sizes)
    found = function(net, ranks[dist.get_rank()])
    try:
        return float(found), True
    except (TypeError, ValueError, RuntimeError):
        return 0.0, False


def check_1(answer):
    """Check a function of a network and this rank's batches that returns the mean loss over all rows of all ranks."""
    returned = {}

    def ends(sizes):
        """Return a rule: that both ranks end. What they returned is kept."""
        def rule(function):
            try:
                returned[str(sizes)] = in_group(call, function, sizes, timeout=PATIENCE)
            except TimeoutError:
                return False
            except RuntimeError as error:
                raise RankError(str(error).split("\n--- ")[1].splitlines()[-1]) from None
            return True
        return rule

    def is_near(sizes, wanted):
        """Return a rule: that both ranks returned `wanted`, one number per rank."""
        return lambda _: all(abs(value - right) < 1e-4 * abs(right)
                             for (value, _), right in zip(returned[str(sizes)], wanted(losses(sizes)), strict=True))

    def is_not(sizes, wanted):
        return lambda _: not is_near(sizes, wanted)(_)

    def mean(of_ranks):
        return [torch.cat(of_ranks).mean().item()] * 2

    def own(of_ranks):
        return [each.mean().item() for each in of_ranks]

    def total(of_ranks):
        return [torch.cat(of_ranks).sum().item()] * 2

    def mean_of_means(of_ranks):
        return [sum(own(of_ranks)) / 2] * 2

    def twice(of_ranks):
        return [2 * each for each in mean(of_ranks)]

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        ("equal-batches-fail", ends(SAME),
         say("two ranks with equal batches were still running after {seconds} seconds", seconds=PATIENCE)),
        ("no-number", lambda _: all(number for _, number in returned[str(SAME)]), "it returns no number"),
        ("own-rows-alone", is_not(SAME, own), "each rank returns the mean over its own rows"),
        ("sum-not-mean", is_not(SAME, total), "that is the sum over all rows, not the mean"),
        ("twice-the-mean", is_not(SAME, twice),
         "equal batches: twice the mean. What is added up over the ranks, and what is it divided by?"),
        ("not-the-mean", is_near(SAME, mean), "not the mean over all rows, even if all batches are equal"),
        ("unequal-rows-fail", ends(UNEQUAL_ROWS),
         say("still running after {seconds} seconds with unequal rows", seconds=PATIENCE)),
        ("mean-of-means", is_not(UNEQUAL_ROWS, mean_of_means),
         "right if all parts are equal, but otherwise it is the mean of the ranks' means"),
        ("unequal-rows-wrong", is_near(UNEQUAL_ROWS, mean),
         "right for equal batches, but not if one batch is smaller than the others"),
        ("unequal-batches-fail", ends(UNEQUAL_BATCHES),
         "three batches on rank 0, one on rank 1: a rank waits in vain. Which collective does the other one not make?"),
        ("unequal-batches-wrong", is_near(UNEQUAL_BATCHES, mean),
         "right for equal numbers of batches, but not for three and one"),
        ("no-batch-fails", ends(NONE), "rank 1 has no batch at all, and somebody waits in vain"),
        ("no-batch-wrong", is_near(NONE, mean), "wrong if rank 1 has no batch at all"),
    )
