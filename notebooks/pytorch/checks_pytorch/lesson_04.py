"""Check the answers to the exercises of lesson 04, Data parallel."""
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.utils import parameters_to_vector
from torch.optim.optimizer import register_optimizer_step_pre_hook

from d2lhelpers.exercises import check
from d2lhelpers.messages import say
from d2lhelpers.process import in_group
from d2lhelpers.torch.collectives import Messages

FUNCTION = "give a function: its name alone, without parentheses"
PATIENCE = 20  # seconds for two processes, far more than a right answer takes


class RankError(Exception):
    """What a reader's function raised in another process: the last line of its traceback."""

    def __repr__(self):
        return str(self)


class Attempt:
    """What two ranks returned when they called a reader's function: `results`, empty if a rank did not end."""

    def __init__(self):
        self.results = []

    def run(self, function, *arguments):
        """Call the function on two ranks; return whether both ended in time."""
        try:
            self.results = in_group(function, *arguments, timeout=PATIENCE)
        except TimeoutError:
            return False
        except RuntimeError as error:
            first = str(error).split("\n--- ")[1]  # what the rank that failed first printed
            raise RankError(first.splitlines()[-1]) from None
        return True

    def everywhere(self, rule):
        """Return a rule for `check`: that `rule` holds for the result of each rank."""
        return lambda _: all(rule(result) for result in self.results)


ENDS = say("still running after {seconds} seconds: does every rank call the same collectives, equally often? "
           "If it raised an error, it did so on one of the ranks", seconds=PATIENCE)


def check_1(answer):
    """Check three factors of the learning rate: mean, sum, and a sum of means."""
    def near(place, factor):
        return lambda a: abs(float(a[place]) - factor) < 0.01

    return check(
        answer,
        ("not-three-numbers", lambda a: len([float(each) for each in a]) == 3, "give three numbers, such as (1, 1, 1)"),
        ("wrong-a", near(0, 1), "a: section 3 compared such a step with that of one process"),
        ("b-upside-down", lambda a: not near(1, 0.5)(a), "b: is DDP's step too large, or too small?"),
        ("b-one", lambda a: not near(1, 1)(a),
         "b: DDP divides by the world size. Does one process divide its sum by anything?"),
        ("b-counts-rows", lambda a: not near(1, 64)(a) and not near(1, 128)(a),
         "b: both losses are sums; the number of rows is the same in both"),
        ("wrong-b", near(1, 2), "b: one process adds up all rows; what does DDP do with the sums of two processes?"),
        ("c-upside-down", lambda a: not near(2, 2)(a), "c: is this step too large, or too small?"),
        ("wrong-c", near(2, 0.5), "c: what is the sum of two means, compared with the mean over all rows?"),
    )


def averaged(function, wide):
    """Call the function with a network whose gradients differ from rank to rank; return what it did to them."""
    torch.manual_seed(dist.get_rank())
    net = nn.Sequential(nn.Linear(30, wide), nn.ReLU(), nn.Linear(wide, 10))
    net(torch.randn(8, 30)).square().sum().backward()
    held = [each.grad for each in net.parameters()]
    views = [each.view(-1) for each in held]
    mine = parameters_to_vector(held)
    everyones = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(everyones, mine)
    start = parameters_to_vector(net.parameters()).detach()
    sizes = []
    with Messages(sizes):
        function(net)
    now = [each.grad for each in net.parameters()]
    return {
        "messages": len(sizes), "bytes": sum(sizes), "own": mine, "mean": sum(everyones) / len(everyones),
        "parameters kept": bool(torch.equal(start, parameters_to_vector(net.parameters()).detach())),
        "there": all(each is not None for each in now),
        "found": parameters_to_vector([torch.zeros(1) if each is None else each for each in now]),
        "same tensors": all(one is other for one, other in zip(held, now, strict=True)),
        "viewed": parameters_to_vector(views)}


def check_2(answer):
    """Check a function that averages the gradients of a network over two processes, with one all-reduce."""
    attempt = Attempt()

    def near(one, other):
        return one.shape == other.shape and torch.allclose(one, other, rtol=1e-4, atol=1e-5)

    def holds(key, wanted, factor=1):
        return attempt.everywhere(lambda result: near(result[key], factor * result[wanted]))

    def differs(key, wanted, factor=1):
        return lambda _: not holds(key, wanted, factor)(_)

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("rank-fails", lambda function: attempt.run(averaged, function, 20), ENDS),
        ("no-gradient", attempt.everywhere(lambda result: result["there"]), "afterwards a parameter has no gradient"),
        ("no-all-reduce", attempt.everywhere(lambda result: result["messages"] > 0), "no all-reduce was asked for"),
        ("sum-not-mean", differs("found", "mean", 2),
         "the gradients are twice the mean: what does `average_gradients` do that your function does not?"),
        ("divided-twice", differs("found", "mean", 0.5), "the gradients are half of the mean: divided twice?"),
        ("own-gradients", differs("found", "own"), "each rank still has its own gradients: where did the sums go?"),
        ("not-the-mean", holds("found", "mean"),
         "the gradients are not the mean over both processes. Is each piece back in its own place, in its own shape, "
         "and not rounded?"),
        ("new-tensors", attempt.everywhere(lambda result: result["same tensors"]),
         "the numbers are right, but in new tensors: whoever holds the old `parameter.grad` still has the old numbers"),
        ("new-memory", holds("viewed", "mean"),
         "the numbers are right, but in new memory: a view of the old `parameter.grad` still has the old numbers"),
        ("many-all-reduces", attempt.everywhere(lambda result: result["messages"] == 1),
         "right gradients, but more than one all-reduce"),
        ("changes-parameters", attempt.everywhere(lambda result: result["parameters kept"]),
         "it changes the parameters, too"),
        ("one-network-only", lambda function: attempt.run(averaged, function, 7) and holds("found", "mean")(function),
         "right for one network, but not for another whose layers have other sizes"),
    )


def four_steps(function, X, y):
    """Call the function; return its result, and the bytes given to all-reduces before, between and after updates."""
    spans = [[]]
    messages = Messages(spans[0])

    def next_span(*_):
        spans.append([])
        messages.sizes = spans[-1]

    hook = register_optimizer_step_pre_hook(next_span)
    with messages:
        state = function(X, y)
    hook.remove()
    return (dict(state) if isinstance(state, dict) else None), [sum(sizes) for sizes in spans]


def check_3(answer, X, y):
    """Check a function that trains a network with batch normalization on two ranks and returns its state."""
    attempt = Attempt()
    names = ["1.weight", "1.bias", "1.running_mean", "1.running_var", "1.num_batches_tracked", "2.weight", "2.bias",
             "3.weight", "3.bias"]
    learned = [name for name in names if not name.startswith("1.r") and "num" not in name]
    numbers = 784 * 2 + 784 * 10 + 10 + 10 * 10 + 10

    def differing(kind):
        one, other = (state for state, _ in attempt.results)
        return [name for name in names if (name in learned) == (kind == "learned")
                and not torch.equal(one[name], other[name])]

    def of_layers(state):
        return state is not None and [each.removeprefix("module.") for each in state] == names

    def settle(_):
        """Drop the wrapper's prefix, which is no fault here."""
        attempt.results = [({each.removeprefix("module."): value for each, value in state.items()}, sent)
                           for state, sent in attempt.results]
        return True

    def all_averaged(spans):
        """Return whether all numbers were all-reduced before each update, as gradients, or after, as parameters."""
        each = [span >= 4 * numbers for span in spans]
        return sum(spans) >= 16 * numbers and (all(each[:-1]) or all(each[1:]))

    def moved(state):
        """Return whether the running mean is one of rows, and not the zeros or ones that it begins with."""
        return state["1.running_mean"].abs().max() > 0 and state["1.num_batches_tracked"] > 0

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("rank-fails", lambda function: attempt.run(four_steps, function, X, y), ENDS),
        ("no-state", attempt.everywhere(lambda result: result[0] is not None),
         "it returns a `state_dict`, as the colleague's does"),
        ("other-layers", attempt.everywhere(lambda result: of_layers(result[0])),
         "these are other layers, or not all of them: the network is to stay as it is"),
        ("has-prefix", settle, ""),
        ("parameters-differ", lambda _: not differing("learned"),
         "some parameters differ between the two ranks: which layer's, and why there?"),
        ("gradients-not-averaged", attempt.everywhere(lambda result: all_averaged(result[1])),
         "the ranks return the same parameters, but in the four steps not all gradients were averaged: some layer "
         "learned from the rows of one rank only, or not at all"),
        ("no-statistics", attempt.everywhere(lambda result: moved(result[0])),
         "batch normalization has gathered no statistics: how does it then normalize outside of training?"),
        ("statistics-differ", lambda _: not differing("buffers"),
         "all parameters are equal, but running statistics still differ: whose rows has each rank seen?"),
        ("not-four-steps", attempt.everywhere(lambda result: result[0]["1.num_batches_tracked"] == 4),
         "it did not take four steps"),
    )
