"""Check the answers to the exercises of lesson 04, Data parallel."""
import numpy
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.nn.utils import parameters_to_vector

from d2lhelpers.attempts import Attempt
from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check
from d2lhelpers.plain import difference, plain
from d2lhelpers.torch.collectives import count_collectives

FUNCTION = "give a function: its name alone, without parentheses"


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


def averaged(function):
    """Call the function with a network whose gradients differ from rank to rank; return what it did to them."""
    torch.manual_seed(dist.get_rank())
    net = nn.Sequential(nn.Linear(30, 20), nn.ReLU(), nn.Linear(20, 10))
    net(torch.randn(8, 30)).square().sum().backward()
    held = [each.grad for each in net.parameters()]
    views = [each.view(-1) for each in held]
    mine = parameters_to_vector(held)
    everyones = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(everyones, mine)
    _, sent = count_collectives(function, net)
    now = [each.grad for each in net.parameters()]
    there = all(each is not None and each.dtype == held[0].dtype for each in now)
    return {
        "sent": sent, "own": mine, "mean": sum(everyones) / len(everyones), "there": there,
        "found": parameters_to_vector(now) if there else mine,
        "same tensors": all(one is other for one, other in zip(held, now, strict=True)),
        "viewed": parameters_to_vector(views)}


def average(net):
    """Average the gradients with one all-reduce, in place: the right answer to exercise 2."""
    gradients = [each.grad for each in net.parameters()]
    bucket = torch.cat([each.flatten() for each in gradients])
    dist.all_reduce(bucket)
    bucket /= dist.get_world_size()
    for each, piece in zip(gradients, bucket.split([each.numel() for each in gradients]), strict=True):
        each.copy_(piece.view_as(each))


def networks(random):
    """Yield networks with gradients that differ from rank to rank: square ones, one bias, three axes, nested ones."""
    wide = int(random.integers(2, 30))
    for layers in ([nn.Linear(1, 1)], [nn.Linear(wide, wide), nn.Linear(wide, wide, bias=False)],
                   [nn.Conv1d(2, wide, 3), nn.Sequential(nn.LayerNorm(wide), nn.Linear(wide, 1))]):
        net = nn.Sequential(*layers)
        numbers = torch.Generator().manual_seed(int(random.integers(10**6)))
        own = torch.Generator().manual_seed(int(random.integers(10**6)) + dist.get_rank())
        for each in net.parameters():
            each.data = torch.randn(each.shape, generator=numbers)
            each.grad = 5 * torch.randn(each.shape, generator=own)
        yield (net,)


def use_average(function, net):
    """Call the function with the network; return what the memory of its gradients holds then, and what was sent."""
    views = [each.grad.view(-1) for each in net.parameters()]
    _, sent = count_collectives(function, net)
    return [each.clone() for each in views], sent


def check_2(answer):
    """Check a function that averages the gradients of a network over all ranks, with one all-reduce."""
    attempt = Attempt()
    exam = Exam(average, networks, use_average)

    def everywhere(rule):
        return lambda _: all(rule(result) for result in attempt.results)

    def holds(key, wanted, factor=1):
        return everywhere(lambda result: torch.allclose(result[key], factor * result[wanted], rtol=1e-4, atol=1e-5))

    def differs(key, wanted, factor=1):
        return lambda _: not holds(key, wanted, factor)(_)

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        *attempt.rules(averaged, answer),
        ("no-gradient", everywhere(lambda result: result["there"]),
         "afterwards a parameter has no gradient, or one of another type"),
        ("no-all-reduce", everywhere(lambda result: "all_reduce" in result["sent"]),
         "no all-reduce was asked for: call `dist.all_reduce` itself"),
        ("sum-not-mean", differs("found", "mean", 2),
         "the gradients are twice the mean: what does `average_gradients` do that your function does not?"),
        ("divided-twice", differs("found", "mean", 0.5), "the gradients are half of the mean: divided twice?"),
        ("own-gradients", differs("found", "own"), "each rank still has its own gradients: where did the sums go?"),
        ("not-the-mean", holds("found", "mean"),
         "the gradients are not the mean over both processes. Is each piece back in its own place, in its own shape, "
         "and not rounded?"),
        ("new-tensors", everywhere(lambda result: result["same tensors"]),
         "the numbers are right, but in new tensors: whoever holds the old `parameter.grad` still has the old numbers"),
        ("new-memory", holds("viewed", "mean"),
         "the numbers are right, but in new memory: a view of the old `parameter.grad` still has the old numbers"),
        ("many-all-reduces", everywhere(lambda result: result["sent"]["all_reduce"] == 1),
         "right gradients, but more than one all-reduce"),
        ("another-message", everywhere(lambda result: sum(result["sent"].values()) == 1),
         "right gradients and one all-reduce, but another collective sends a second message"),
        *exam.rules_on_ranks(answer, 3),
        seconds=20)


def network():
    """Return the network of exercise 3."""
    return nn.Sequential(nn.Flatten(), nn.BatchNorm1d(784), nn.Linear(784, 10), nn.Linear(10, 10))


def four_steps(net, X, y, parts):
    """Take the four steps, each rank's part of the rows by itself; return the least and largest running statistics."""
    least = largest = torch.stack([net[1].running_mean, net[1].running_var])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for rows, labels in zip(X.chunk(4), y.chunk(4), strict=True):
        optimizer.zero_grad()
        for rank in range(parts):
            (nn.functional.cross_entropy(net(rows[rank::parts]), labels[rank::parts]) / parts).backward()
        optimizer.step()
        flat = rows.flatten(1)
        seen = torch.stack([torch.stack([each.mean(0), each.var(0)]) for each in (flat, flat[::2], flat[1::2])])
        least, largest = (0.9 * old + 0.1 * new for old, new in ((least, seen.amin(0)), (largest, seen.amax(0))))
    return least, largest


def train_together(X, y):
    """Train on two ranks and average the statistics: the right answer to exercise 3."""
    net = network()
    ddp = nn.parallel.DistributedDataParallel(net)
    rank, size = dist.get_rank(), dist.get_world_size()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for rows, labels in zip(X.chunk(4), y.chunk(4), strict=True):
        optimizer.zero_grad()
        nn.functional.cross_entropy(ddp(rows[rank::size]), labels[rank::size]).backward()
        optimizer.step()
    for each in net.buffers():
        dist.broadcast(each, src=0)
    return net.state_dict()


def fault(function, X, y):
    """Call the function on this rank, and return the id of the rule that what both ranks return breaks, or ""."""
    torch.set_default_dtype(torch.float64)  # then rounding is out of the way
    X = X.double()
    given = X.clone(), y.clone()
    begun, rows = {}, []

    def look(layer, inputs):
        if layer._parameters:
            rows.append(len(inputs[0]))
            begun.setdefault(layer, {name: each.clone() for name, each in layer.state_dict().items()})

    hook = register_module_forward_pre_hook(look)
    try:
        state = plain(function(X, y))
    finally:
        hook.remove()
    state = {name.removeprefix("module."): each for name, each in state.items()} if isinstance(state, dict) else None
    both = [None, None]
    dist.all_gather_object(both, (state, sum(rows)))
    states = [state for state, _ in both]
    if None in states:
        return "no-state"
    right = network()
    shapes = [{name: numpy.shape(each) for name, each in state.items()} for state in (*states, right.state_dict())]
    if shapes != [shapes[-1]] * 3 or len(begun) != 3:
        return "other-layers"
    parameters = [name for name, _ in right.named_parameters()]
    if any(difference(states[0][name], states[1][name], 0) for name in parameters):
        return "parameters-differ"
    statistics = [states[0]["1.running_mean"], states[0]["1.running_var"]]
    if not statistics[0].any():
        return "no-statistics"
    if difference(states[0], states[1], 0):
        return "statistics-differ"
    if states[0]["1.num_batches_tracked"] != 4:
        return "not-four-steps"
    if sum(count for _, count in both) >= 2 * 3 * len(X):  # each of three layers would see all rows on both ranks
        return "nothing-split"
    wrong = []
    for parts in 2, 1:  # batch normalization may see one rank's rows or those of both
        right.load_state_dict({f"{number}.{name}": each for number, layer in enumerate(begun.values(), 1)
                               for name, each in layer.items()})
        least, largest = four_steps(right, *given, parts)
        wrong.append(any(difference(states[0][name], plain(right.get_parameter(name)), 1e-6) for name in parameters))
    if all(wrong):
        return "gradients-not-averaged"
    found = torch.from_numpy(numpy.stack(statistics))
    return "" if ((least - found).max() < 1e-6) and ((found - largest).max() < 1e-6) else "other-statistics"


def batches(random):
    """Yield images and labels: few, and more of them."""
    for rows in 16, 40:
        yield torch.from_numpy(random.normal(size=(rows, 1, 28, 28))), torch.from_numpy(random.integers(10, size=rows))


def check_3(answer, X, y):
    """Check a function that trains a network with batch normalization on two ranks and returns its state."""
    attempt = Attempt()
    exam = Exam(train_together, batches, fault, free=["seeds"])
    hints = {
        "no-state": "it returns a `state_dict`, as the colleague's does",
        "other-layers": "these are other layers, or not all of them: the network is to stay as it is",
        "parameters-differ": "some parameters differ between the two ranks: which layer's, and why there?",
        "no-statistics": "batch normalization has gathered no statistics: how does it then normalize outside of "
                         "training?",
        "statistics-differ": "all parameters are equal, but running statistics still differ: whose rows has each rank "
                             "seen?",
        "not-four-steps": "it did not take four steps",
        "nothing-split": "the ranks return the same, but each of them computes all rows: nothing is split",
        "gradients-not-averaged": "the ranks return the same, but not what four steps on the rows of both ranks give. "
                                  "Is every layer's gradient the mean over both, in each step, and of the right rows?",
        "other-statistics": "the parameters are right, but the running statistics are not those of the rows",
    }
    return check(
        answer,
        ("no-function", callable, FUNCTION),
        *attempt.rules(fault, answer, X, y),
        *((name, lambda _, name=name: name not in attempt.results, hint) for name, hint in hints.items()),
        *exam.rules_on_ranks(answer, 2),
        seconds=20)
