"""The rules of the checks in lesson 05, Sharding."""
import torch
import torch.distributed as dist
from torch import nn

from d2lhelpers.exercises import check
from d2lhelpers.process import in_group


def check_1(answer):
    """Check a function of parameters and ranks that returns what a rank holds in four ways, in bytes."""
    def near(which, wanted):
        return lambda f: all(abs(f(P, N)[which] - wanted(P, N)) < 1 for P, N in ((10**6, 1), (10**6, 2), (10**9, 64)))

    return check(
        answer,
        (callable, "a function: its name alone, without parentheses"),
        (lambda f: len(f(10**6, 2)) == 4, "it returns four numbers: replicated, ZeRO-1, ZeRO-2, FSDP"),
        (near(0, lambda P, N: 16 * P), "replicated: how many bytes per parameter did the first plot add up to?"),
        (near(3, lambda P, N: 16 * P / N), "FSDP: a rank has a shard of everything"),
        (near(1, lambda P, N: 8 * P + 8 * P / N), "ZeRO-1: only AdamW's state is divided. How much of the 16 is that?"),
        (near(2, lambda P, N: 4 * P + 12 * P / N), "ZeRO-2: only the parameters are whole"))


def check_2(answer, make, X, y):
    """Check a function that has each gradient averaged and freed during the backward pass."""
    def backward(function):
        rank, ranks = dist.get_rank(), dist.get_world_size()
        net, whole = make(), []
        parameters = list(net.parameters())
        shards = function(net)
        if shards:
            raise ValueError("the dict is not empty before the backward pass")
        for each in parameters:          # after the answer's own hooks
            each.register_post_accumulate_grad_hook(
                lambda _: whole.append(sum(other.grad is not None for other in parameters)))
        nn.functional.cross_entropy(net(X.chunk(ranks)[rank]), y.chunk(ranks)[rank]).backward()
        found = [shards.get(each) for each in parameters]
        return found, max(whole), sum(each.grad is not None for each in parameters)

    results = []

    def truth(rank):
        net = make()
        nn.functional.cross_entropy(net(X), y).backward()
        return [each.grad.flatten().chunk(2)[rank] for each in net.parameters()]

    def everywhere(rule):
        return lambda _: all(rule(found, right) for rank, (found, _, _) in enumerate(results)
                             for found, right in zip(found, truth(rank), strict=True))

    return check(
        answer,
        (callable, "a function: its name alone, without parentheses"),
        (lambda function: results.extend(in_group(backward, function)) or True, "it failed on two ranks"),
        (everywhere(lambda found, right: found is not None), "a parameter has no shard in the dict"),
        (everywhere(lambda found, right: found.shape == right.shape), "a shard is half of a gradient, and flat"),
        (everywhere(lambda found, right: torch.allclose(found, right, rtol=1e-3, atol=1e-6)),
         "a shard is not the mean of both ranks' gradients"),
        (lambda _: all(left == 0 for _, _, left in results), "a whole gradient is left after the backward pass"),
        (lambda _: all(most == 0 for _, most, _ in results),
         "whole gradients wait for others: free each one in its own hook"))


def check_3(answer):
    """Check a function that clips the gradient of a sharded vector by the norm of the whole."""
    whole = torch.arange(1.0, 7.0)

    def clipped(function, limit):
        shard = torch.zeros(2)
        shard.grad = whole.chunk(3)[dist.get_rank()].clone()
        function(shard, limit)
        return shard.grad

    def after(function, limit):
        return torch.cat(in_group(clipped, function, limit, size=3))

    found = []
    return check(
        answer,
        (callable, "a function: its name alone, without parentheses"),
        (lambda function: found.append(after(function, 1.0)) or True, "it failed on three ranks"),
        (lambda _: not torch.equal(found[0], whole), "the gradients are as they were: change `shard.grad` in place"),
        (lambda _: (whole / found[0]).std() < 1e-3,
         "the ranks scale by different factors: what must they know of each other first?"),
        (lambda _: abs(found[0].norm() - 1) < 1e-3,
         "all ranks scale alike, but not to the limit: do norms add up, or their squares?"),
        (lambda function: torch.allclose(after(function, 100.0), whole), "a norm below the limit is left alone"))
