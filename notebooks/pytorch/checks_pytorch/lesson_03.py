"""Check the answers to the exercises of lesson 03, Waiting, threads and copies."""
import math

import numpy
import torch

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check
from d2lhelpers.torch import lines_that_wait

from .ahead_03 import before_error, constants, held, in_order, lists, use_ahead


def loss_and_gradient(loss_of):
    """Return the loss of 30 rows by a function, and its gradient or None, in double precision."""
    scores = torch.randn(30, 3, generator=torch.Generator().manual_seed(3), dtype=torch.float64, requires_grad=True)
    loss = loss_of(scores, torch.arange(30) % 3)
    gradient = None
    if isinstance(loss, torch.Tensor) and loss.requires_grad:
        [gradient] = torch.autograd.grad(loss, scores, allow_unused=True)
    return float(torch.as_tensor(loss).detach()), gradient


def use_loss(function, scores, labels):
    """Return the loss and the gradient of the scores."""
    loss = function(scores, labels)
    return loss, torch.autograd.grad(loss, scores)[0]


def scores_and_labels(random):
    """Yield scores in double precision, with labels: two rows, and more."""
    for rows, classes in (2, 2), (5, 3), (int(random.integers(10, 60)), 7):
        yield (torch.from_numpy(random.normal(size=(rows, classes))).requires_grad_(),
               torch.from_numpy(random.integers(classes, size=rows)))


def two_losses(random):
    """Yield pairs of losses: infinities of both signs, zero, negative ones, equal ones."""
    some = [torch.tensor(float(each)) for each in ("inf", "-inf", 0, -random.random(), random.random())]
    yield from ((one.clone(), other.clone()) for one in some for other in some)


def check_1(answer, functions, run):
    """Check new functions in place of some of `functions`, so that no line of `run(functions)` waits for a GPU."""
    wanted, wanted_gradient = loss_and_gradient(functions["loss_of"])

    def with_zeros(scores, labels):  # the likeliest mistake
        losses = torch.nn.functional.cross_entropy(scores, labels, reduction="none")
        return torch.where(losses > losses.mean(), losses, 0).mean()

    def runs(new):
        run(functions | new)
        return True

    def close(one, two):
        return abs(one - two) < 1e-6

    def waits(**new):
        return len(lines_that_wait(lambda: run(functions | new)))

    def averages_zeros(new):
        loss, _ = loss_and_gradient(new["loss_of"])
        return close(loss, loss_and_gradient(with_zeros)[0])

    def same_loss(new):
        loss, _ = loss_and_gradient(new["loss_of"])
        return close(loss, wanted)

    def same_gradient(new):
        _, gradient = loss_and_gradient(new["loss_of"])
        return gradient is not None and torch.allclose(gradient, wanted_gradient)

    def same_lowest(new):
        one, two = torch.tensor(1.0), torch.tensor(2.0)
        return [float(new["lowest"](*pair)) for pair in [(one, two), (two, one), (one, one)]] == [1, 1, 1]

    def first_lowest(new):
        return float(new["lowest"](torch.tensor(float("inf")), torch.tensor(1.0))) == 1

    def examined(name, *exam):
        """Return a rule that examines one of the new functions."""
        exam = Exam(functions[name], *exam)
        return "examined", lambda new: name not in new or exam.examine(new[name]), ""

    def needs_no_values(new):
        try:
            run(functions | new, device="meta")
        except (NotImplementedError, RuntimeError, TypeError):
            return False
        return True

    return check(
        answer,
        ("no-dictionary",
         lambda new: isinstance(new, dict) and new and set(new) <= set(functions) and all(map(callable, new.values())),
         'give a dictionary from names of functions to new functions, such as {"name": my_function}'),
        ("loop-fails", runs, "the loop has to run with your functions: they get the arguments of the old ones"),
        ("replaces-harmless", lambda new: not set(new) & {"drop", "clip"},
         "one of the functions that you replaced never made Python wait: leave it"),
        ("mean-over-all", lambda new: "loss_of" not in new or not averages_zeros(new),
         "the losses of the hard rows are added up, but then divided by the number of all rows"),
        ("other-loss", lambda new: "loss_of" not in new or same_loss(new),
         "the loss should have the same value as before: the mean over the hard rows, and over no others"),
        ("other-gradient", lambda new: "loss_of" not in new or same_gradient(new),
         "the loss has the right value, but its gradient is not what it was: the network would not learn the same"),
        ("not-the-lower", lambda new: "lowest" not in new or same_lowest(new),
         "of two losses, lowest should return the lower one"),
        ("fails-at-infinity", lambda new: "lowest" not in new or first_lowest(new),
         "right for two losses. But the loop begins with infinity: what does your lowest return for infinity and 1?"),
        ("waits-as-before", lambda new: waits(**new) < waits(),
         "as many lines wait as before, or more. Which ones, with this answer?"),
        ("one-still-waits", lambda new: waits(**new) == 0,
         "fewer lines wait than before, but one still does. Which one, with this answer?"),
        ("needs-values", needs_no_values,
         "no line seems to wait, but on the meta device the loop fails: a value is still needed"),
        examined("loss_of", scores_and_labels, use_loss),
        examined("lowest", two_losses))


def check_2(answer):
    """Check a function that returns the fewest workers with which training never waits, or None if none are enough."""
    def plain(result):
        return result if result is None else float(result)

    def right(*cases):
        return lambda workers: all(plain(workers(*case)) == wanted for case, wanted in cases)

    def is_number_or_none(workers):
        result = plain(workers(0.25, 0.25, 0.125, 8))
        return result is None or result == round(result)

    def fewest(wait, compute, train, cores):
        return None if compute > train * (cores - 1) else math.ceil((wait + compute) / train)

    def use(function, *case):  # None is a result, too
        return repr(plain(function(*case)))

    def drawn(numbers):  # with a power of two for the training, no sum and no quotient is rounded
        yield 0.5, 0.25, 0.5, 1
        for longest, cores in [(41, 1)] * 50 + [(4001, 21)] * 5:  # also for hundreds of workers, with enough cores
            wait, compute = numbers.integers(1, longest) / 16, numbers.integers(41) / 16
            train = 2.0 ** -int(numbers.integers(1, 4))
            yield float(wait), float(compute), train, int(numbers.integers(cores, cores + 9))

    return check(
        answer,
        ("no-function", callable,
         "give a function, not its result: its name alone, or lambda wait, compute, train, cores: …"),
        ("says-none", lambda workers: workers(0.25, 0.25, 0.125, 8) is not None,
         "0.25 s of waiting, 0.25 s of computing, 0.125 s of training, 8 cores: that can be done, and your function "
         "says None"),
        ("not-whole", is_number_or_none, "it should return a whole number of workers"),
        ("wrong-for-disk", right(((0.25, 0, 0.125, 8), 2), ((1.0, 0, 0.125, 16), 8)),
         "a disk alone: one worker delivers a batch every `wait` seconds. How often do w workers deliver one?"),
        ("wrong-rounding", right(((0.11, 0, 0.05, 8), 3), ((0.03, 0, 0.05, 8), 1)),
         "right if the times divide evenly. And 0.11 s of waiting for 0.05 s of training, or 0.03 s?"),
        ("not-both-times", right(((0.25, 0.25, 0.125, 8), 4), ((0.125, 0.5, 0.25, 8), 3)),
         "right for a disk alone. But a worker that waits and computes takes time for both, batch by batch"),
        ("cores-for-waiting", right(((1.0, 0, 0.125, 2), 8), ((1.0, 0, 0.125, 1), 8)),
         "right with many cores. But who waits for the disk needs no core: a worker that only waits is never one too "
         "many"),
        ("ignores-cores", right(((0.25, 0.25, 0.125, 2), None), ((0, 0.5, 0.125, 4), None)),
         "0.25 s of computing per 0.125 s of training keep two cores busy, and one of the two trains. Is any number of "
         "workers enough?"),
        ("counts-workers-not-cores",
         right(((0.25, 0.25, 0.125, 3), 4), ((0, 0.5, 0.125, 5), 4), ((1.0, 0.125, 0.125, 2), 9)),
         "your function says that the cores are not enough, or asks for another number, where they just are enough: "
         "count cores that compute, not workers"),
        ("always-computing", right(((0.1, 0.45, 0.25, 3), 3)),
         "right where the times divide evenly. But 0.1 s of waiting, 0.45 s of computing, 0.25 s of training, 3 cores? "
         "Workers that are faster than training together do not compute all the time"),
        *Exam(fewest, drawn, use).rules())


def check_3(answer):
    """Check a generator that loads one batch ahead in a thread, and no more than one."""
    tensors = [torch.zeros(2), numpy.ones(2), torch.ones(2)]
    odd = [0, None, (), 1, ..., False, None, "end", -1, *constants(answer), "last"]
    return check(
        answer,
        ("no-function", callable, "give the function itself, without calling it: its name alone"),
        ("other-batches", lambda ahead: list(ahead(iter(range(5)))) == list(range(5)),
         "it should yield all batches in order, each once, and end after the last"),
        ("lists-fail", lambda ahead: list(ahead([3, 4])) == [3, 4] and list(ahead([])) == [],
         "`batches` may be a list, or empty: anything that a for loop takes"),
        ("compares-tensors", lambda ahead: list(map(id, ahead(tensors))) == list(map(id, tensors)),
         "right for numbers. But batches are tensors, which == compares element by element"),
        ("loses-batches", lambda ahead: list(ahead(odd)) == odd,
         "some batches were lost: a batch may be anything, also None, False or any text. What tells your function that "
         "there are no more?"),
        ("takes-turns", lambda ahead: held(ahead)[1],
         "the loop got its first batch only after the second had been loaded, so loading and training take turns"),
        ("loads-too-late", lambda ahead: held(ahead)[0] > 1,
         "while the loop holds the first batch, nobody has begun to load the second"),
        ("loads-too-many", lambda ahead: held(ahead)[0] == 2,
         "while the loop holds the first batch, more than the second is loaded"),
        ("loses-error", lambda ahead: all(before_error(ahead, count)[1] for count in (2, 1, 0)),
         "an error in loading should reach the loop. Here it was lost"),
        ("error-too-early", lambda ahead: before_error(ahead)[0] == [0, 1],
         "the batches before an error should arrive before it does"),
        ("first-ahead-only", lambda ahead: held(ahead, 2) == (3, True) and held(ahead, 3) == (4, True),
         "right while the loop holds the first batch. What is loaded while it holds the second, and the third?"),
        *Exam(in_order, lists, use_ahead).rules())
