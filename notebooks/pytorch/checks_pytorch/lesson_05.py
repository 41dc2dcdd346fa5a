"""Check the answers to the exercises of lesson 05, Sharding."""
import math

import torch
import torch.distributed as dist
from torch import nn

from d2lhelpers.attempts import Attempt
from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check

from .passes_05 import nets, scatter_gradients, two_passes, use_passes

FUNCTION = "give a function: its name alone, without parentheses"
TO_ALL = "allreduce", "allgather", "broadcast", "gather"  # collectives that give a rank everything


def per_rank(P, N):
    """Return the bytes that a rank holds in four ways: the right answer to exercise 1."""
    return [12 * P, 8 * P + 4 * P / N, 4 * P + 8 * P / N, 12 * P / N]


def sizes(random):
    """Yield numbers of parameters and of ranks, which do not always divide them."""
    for least in 1, 2, 5, 100:
        yield int(random.integers(10**6, 10**9)), int(random.integers(least, 2 * least))


def check_1(answer, gpus):
    """Check a function of parameters and ranks, the bytes a rank holds in four ways, and the GPUs that these need."""
    PLACES = (10**6, 1), (10**6, 2), (10**9, 64)

    def use(function, P, N):
        """Return what the function returns, without names."""
        found = function(P, N)
        return list(found.values()) if isinstance(found, dict) else found

    def numbers(P, N):
        return use(answer, P, N)

    exam = Exam(per_rank, sizes, use)

    def gives(which, wanted):
        return lambda _: all(abs(float(numbers(P, N)[which]) - wanted(P, N)) < 2 for P, N in PLACES)

    def each_gpu(compare):
        """Compare each number of GPUs with the right one; None and infinity are no number."""
        found = [math.inf if number is None else float(number) for number in gpus]
        return all(compare(*both) for both in zip(found, (math.inf, math.inf, 3, 2), strict=True))

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("not-four-numbers", lambda _: len(numbers(10**6, 2)) == 4,
         "it returns four numbers: replicated, ZeRO-1, ZeRO-2, FSDP"),
        ("adamw-state", lambda f: not gives(0, lambda P, N: 16 * P)(f),
         "that is AdamW, whose state has two numbers per parameter"),
        ("wrong-replicated", gives(0, lambda P, N: 12 * P),
         "replicated: how many bytes per parameter are there, and of what?"),
        ("wrong-fsdp", gives(3, lambda P, N: 12 * P / N), "FSDP: a rank has a shard of everything"),
        ("wrong-zero-1", gives(1, lambda P, N: 8 * P + 4 * P / N),
         "ZeRO-1: only the optimizer's state is divided. How much is that?"),
        ("wrong-zero-2", gives(2, lambda P, N: 4 * P + 8 * P / N), "ZeRO-2: what is whole, and what is divided?"),
        *exam.rules(),
        ("no-gpu-numbers", lambda _: gpus is not ...,
         "the function is right. Now the four numbers, in place of the second three dots"),
        ("not-four-gpu-numbers", lambda _: len(gpus) == 4,
         "the function is right, but there are four numbers of GPUs, one for each way"),
        ("never-fits", lambda _: each_gpu(lambda found, right: found == right or right < math.inf),
         "one of these numbers is not enough. What does a rank hold in that way, however many ranks there are?"),
        ("too-few-gpus", lambda _: each_gpu(lambda found, right: found >= right),
         "with one of these numbers a rank holds more than the GPU has"),
        ("too-many-gpus", lambda _: each_gpu(lambda found, right: found <= right),
         "for one of the ways fewer GPUs would do"),
    )


def check_2(answer, make, X, y):
    """Check a function that has each gradient averaged and freed during the backward pass."""
    attempt = Attempt()
    exam = Exam(scatter_gradients, nets, use_passes)

    def gradients(inputs, rows=slice(None)):
        net = make()
        nn.functional.cross_entropy(net(inputs[rows]), y[rows]).backward()
        return [each.grad.flatten() for each in net.parameters()]

    def everywhere(rule):
        return lambda _: all(rule(result) for result in attempt.results)

    def each_shard(rule):
        return lambda _: all(found is not None and rule(found) for result in attempt.results
                             for found in result["found"])

    def near(wanted, which="found"):
        """Return whether the shard of each rank is near its part of the gradients `wanted(rank)`."""
        pairs = [pair for rank, result in enumerate(attempt.results)
                 for pair in zip(result[which], wanted(rank), strict=True)]
        return all(found is not None and torch.allclose(found.float(), right, rtol=1e-3, atol=1e-6)
                   for found, right in pairs)

    def mean(rank, inputs=X):
        return [each.chunk(2)[rank] for each in gradients(inputs)]

    def own(rank):
        return [each.chunk(2)[rank] for each in gradients(X, slice(32 * rank, 32 * rank + 32))]

    flat = [each.numel() // 2 for each in make().parameters()]
    return check(
        answer,
        ("no-function", callable, FUNCTION),
        *attempt.rules(two_passes, answer, make, X, y),
        ("no-dict", everywhere(lambda result: result["dict"]), "it returns a dict, which the backward pass fills"),
        ("full-too-early", everywhere(lambda result: not result["early"]),
         "the dict is full before the backward pass: it works before, not during the next one"),
        ("lacks-a-part", each_shard(lambda found: True), "a parameter has no part in the dict after the backward pass"),
        ("not-flat-half",
         everywhere(lambda result: [tuple(found.shape) for found in result["found"]] == [(size,) for size in flat]),
         "a part is half of a gradient, and flat"),
        ("own-rows-alone", lambda _: not near(own), "a part is of this rank's rows alone"),
        ("other-half", lambda _: not near(lambda rank: mean(1 - rank)),
         "a part is a mean, but that of the other rank's half"),
        ("not-the-mean", lambda _: near(mean), "a part is not the mean of both ranks' gradients, or it is rounded"),
        ("gradient-left", everywhere(lambda result: result["left"] == 0),
         "a whole gradient is left after the backward pass"),
        ("gradients-wait", everywhere(lambda result: result["most"] == 0),
         "whole gradients wait for others: free each one in its own hook"),
        ("sends-too-much",
         everywhere(lambda result: not any(name.startswith(TO_ALL) for name in result["calls"])
                    and result["sent"] <= 4 * sum(flat)),
         "a rank gets more than it needs for its part of the mean: that sends more than it must"),
        ("keeps-a-view", everywhere(lambda result: result["bytes"] <= 4 * sum(flat)),
         "a part is a view of a whole gradient: all of it stays in memory"),
        ("kept-elsewhere", everywhere(lambda result: not result["more"]),
         "`parameter.grad` is None, but something else still keeps whole gradients in memory"),
        ("first-pass-only", lambda _: near(lambda rank: mean(rank, -X), "again")
         and all(result["left again"] == 0 for result in attempt.results),
         "right in the first backward pass, but not in the one that follows"),
        *exam.rules_on_ranks(answer, 2),
        seconds=20)


def clip(shard, limit):
    """Scale the gradient of a shard so that all shards together have at most this norm: exercise 3's right answer."""
    total = (shard.grad ** 2).sum()
    dist.all_reduce(total)
    shard.grad *= min(1, limit / total.sqrt())


def gradients_to_clip(random):
    """Yield shards with a gradient, and limits: one number, zeros, and several above and below the limit."""
    for size, scale, limit in (1, 3, 1), (2, 0, 0.5), (5, 1, 1.5), (4, 2, 40):
        shard = torch.from_numpy(random.normal(size=size).astype("float32"))
        numbers = random.normal(size=(dist.get_world_size(), size)).astype("float32")
        shard.grad = scale * torch.from_numpy(2 * numbers / abs(numbers).max())[dist.get_rank()]
        yield shard, limit


def use_clip(function, shard, limit):
    """Return the gradient of the shard after clipping."""
    function(shard, limit)
    return shard.grad.clone()


def check_3(answer):
    """Check a function that clips the gradient of a sharded vector by the norm of the whole."""
    whole = torch.arange(1.0, 7.0)
    attempt = Attempt(size=3)
    exam = Exam(clip, gradients_to_clip, use_clip)

    def clipped(function, limits):
        found = []
        for limit in limits:
            shard = torch.zeros(2)
            shard.grad = whole.chunk(3)[dist.get_rank()].clone()
            function(shard, limit)
            found.append(shard.grad)
        return found

    def after(which):
        """Return the gradient of all ranks together, after the first, second or third limit."""
        return torch.cat([found[which] for found in attempt.results])

    def same_factor():
        return (after(0) / whole).std() < 1e-3

    def scaled_per_rank():
        factors = (after(0) / whole).view(3, 2)
        return (factors[:, 0] - factors[:, 1]).abs().max() < 1e-3

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        *attempt.rules(clipped, answer, (1.0, 4.0, 100.0)),
        ("unchanged", lambda _: not torch.equal(after(0), whole),
         "the gradients are as they were: `shard.grad` must change"),
        ("factor-per-number", lambda _: scaled_per_rank(),
         "clipping keeps the direction: one factor for all numbers of a shard"),
        ("factor-per-rank", lambda _: same_factor(),
         "the ranks scale by different factors: what must they know of each other first?"),
        ("ignores-limit", lambda _: abs(after(0).norm() - after(1).norm()) > 1e-3,
         "with another limit it does the same: where does your function use it?"),
        ("square-not-norm", lambda _: abs(after(0).norm() - 1 / whole.norm()) > 1e-3,
         "all ranks scale alike, but by a square: what makes it a norm?"),
        ("mean-of-squares", lambda _: abs(after(0).norm() - math.sqrt(3)) > 1e-3,
         "all ranks scale alike, but to more than the limit: is the square of the norm a sum, or a mean?"),
        ("misses-the-limit", lambda _: abs(after(0).norm() - 1) < 1e-3,
         "all ranks scale alike, but not to the limit: how is the norm of the whole made of what the ranks have?"),
        ("scales-up", lambda _: torch.allclose(after(2), whole), "a norm below the limit is left alone"),
        *exam.rules_on_ranks(answer, 2, 3),
        seconds=20)
