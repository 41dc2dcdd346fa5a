"""Check the answer to the exercise of the notebook Ranks that disagree."""
import torch
import torch.distributed as dist
from torch import nn

from d2lhelpers.attempts import Attempt
from d2lhelpers.examine import Exam
from d2lhelpers.exercises import Broken, check
from d2lhelpers.messages import say

SAME = [[8, 8], [8, 8]]  # the rows of each batch, for rank 0 and rank 1
UNEQUAL_ROWS = [[8, 8], [8, 2]]
UNEQUAL_BATCHES = [[8, 8, 5], [4]]
NONE = [[8, 3], []]


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


def mean_loss(net, batches):
    """Return the mean loss over the rows of all ranks: the right answer."""
    both = torch.zeros(2, dtype=torch.float64)
    with torch.no_grad():
        for X, y in batches:
            both[0] += nn.functional.cross_entropy(net(X), y, reduction="sum")
            both[1] += len(y)
    dist.all_reduce(both)
    return both[0] / both[1]


def batches_of_ranks(random):
    """Yield networks and this rank's batches: of one row, of many rows, none; as many ranks as there are."""
    ranks = dist.get_world_size()
    for most in 1, 4, 6:
        sizes = [random.integers(1, 7, size=random.integers(most)).tolist() for _ in range(ranks - 1)]
        sizes.insert(int(random.integers(ranks)) if most > 1 else 0, [1] * most)
        net, batches = numbers(sizes)
        yield net, batches[dist.get_rank()]


def use(function, net, batches):
    """Return the mean loss, and whether this rank computed its own rows, and not all of them."""
    own, seen = sum(len(y) for _, y in batches), []
    hook = net.register_forward_pre_hook(lambda _, inputs: seen.append(len(inputs[0])))
    try:
        return float(function(net, batches)), sum(seen) <= 2 * own
    finally:
        hook.remove()


def check_1(answer):
    """Check a function of a network and this rank's batches that returns the mean loss over all rows of all ranks."""
    attempt = Attempt()
    exam = Exam(mean_loss, batches_of_ranks, use)

    def ends(sizes):
        """Return a rule: that both ranks end. What they returned is kept."""
        def rule(function):
            attempt.run(call, function, sizes)
            if attempt.fault not in ("", "waits", "runs"):
                raise Broken("rank-raises", say("it failed on one of {size} ranks", size=2),
                             say("It raised {error}.", error=attempt.fault))
            return not attempt.fault
        return rule

    def is_near(sizes, wanted):
        """Return a rule: that both ranks returned `wanted`, one number per rank."""
        return lambda _: all(abs(value - right) < 1e-4 * abs(right)
                             for (value, _), right in zip(attempt.results, wanted(losses(sizes)), strict=True))

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
        *attempt.rules(call, answer, SAME),
        ("no-number", lambda _: all(number for _, number in attempt.results), "it returns no number"),
        ("own-rows-alone", is_not(SAME, own), "each rank returns the mean over its own rows"),
        ("sum-not-mean", is_not(SAME, total), "that is the sum over all rows, not the mean"),
        ("twice-the-mean", is_not(SAME, twice),
         "equal batches: twice the mean. What is added up over the ranks, and what is it divided by?"),
        ("not-the-mean", is_near(SAME, mean), "not the mean over all rows, even if all batches are equal"),
        ("unequal-rows-fail", ends(UNEQUAL_ROWS),
         "with unequal rows a rank waits in vain"),
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
        *exam.rules_on_ranks(answer, 2, 3),
        seconds=20)
