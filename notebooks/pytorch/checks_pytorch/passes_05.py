"""What the check of exercise 2 of lesson 05 runs on each rank: backward passes, and what they leave and send."""
import copy

import torch
import torch.distributed as dist
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from d2lhelpers.torch.sharding import live_tensors_mb

A_PART = "reducescatter", "scatter", "recv"  # collectives whose first argument is filled by other ranks


class Calls(TorchDispatchMode):
    """Keep the names of the collectives in a `with` block, and add up the bytes that come from other ranks."""

    def __init__(self):
        super().__init__()
        self.names = []
        self.bytes = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function.namespace in ("c10d", "_c10d_functional"):
            name = function.__name__.replace("_", "")
            self.names.append(name)
            filled = [args[0]] if torch.is_tensor(args[0]) else args[0]
            if name.startswith("reducescatter") and "functional" in function.namespace:  # it is given all
                self.bytes += sum(each.nbytes for each in filled) / dist.get_world_size()
            elif name.startswith(A_PART) or (name.startswith("reduce.") and args[3] == dist.get_rank()):
                self.bytes += sum(each.nbytes for each in filled)
            elif name.startswith("alltoall"):  # a part of what it gets is its own
                self.bytes += sum(each.nbytes for each in filled) * (1 - 1 / dist.get_world_size())
        return function(*args, **(kwargs or {}))


def scatter_gradients(net):
    """Average each gradient and keep this rank's part, in each backward pass: the right answer to exercise 2."""
    parts = {}

    def scatter(parameter):
        parts[parameter] = torch.empty(parameter.numel() // dist.get_world_size())
        dist.reduce_scatter_single(parts[parameter], parameter.grad.flatten())
        parts[parameter] /= dist.get_world_size()
        parameter.grad = None

    for each in net.parameters():
        each.register_post_accumulate_grad_hook(scatter)
    return parts


def take_pass(net, X, y):
    """Take a backward pass on this rank's rows."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    nn.functional.cross_entropy(net(X.chunk(ranks)[rank]), y.chunk(ranks)[rank]).backward()


def two_passes(function, make, X, y):
    """Take two backward passes with what the function has prepared; return the parts, and what is left and was sent."""
    net = make()
    parameters = list(net.parameters())
    before = live_tensors_mb()
    shards = function(net)
    whole = [0]
    if not isinstance(shards, dict) or shards:
        return {"dict": isinstance(shards, dict), "early": bool(shards)}

    def count(_):                    # runs after the answer's own hooks
        whole.append(sum(each.grad is not None for each in parameters))

    for each in parameters:
        each.register_post_accumulate_grad_hook(count)
    with Calls() as calls:
        take_pass(net, X, y)
    found = [shards.get(each) for each in parameters]
    kept = {each.untyped_storage().data_ptr(): each.untyped_storage().nbytes() for each in found if each is not None}
    allowed = sum(kept.values()) + max(each.nbytes for each in parameters)  # a buffer for one gradient may stay
    more = live_tensors_mb() - before > allowed / 1e6
    result = {"dict": True, "early": False, "found": [None if each is None else each.clone() for each in found],
              "calls": calls.names, "sent": calls.bytes, "most": max(whole), "left": whole[-1],
              "bytes": sum(kept.values()), "more": more}
    take_pass(net, -X, y)
    return {**result, "again": [shards.get(each) for each in parameters], "left again": whole[-1]}


def nets(random):
    """Yield networks with an even number of parameters in each tensor, and a batch for each."""
    for rows, classes in (2, 2), (6, 4):
        wide = 2 * int(random.integers(1, 9))
        torch.manual_seed(int(random.integers(10**6)))
        net = nn.Sequential(nn.Conv1d(1, wide, 3), nn.LayerNorm(8), nn.Flatten(), nn.Linear(8 * wide, classes))
        yield net, torch.randn(rows, 1, 10), torch.randint(classes, (rows,))


def use_passes(function, net, X, y):
    """Prepare a copy of the network, and return the parts after each of two backward passes."""
    prepared = copy.deepcopy(net)  # hooks stay, and the next call must not find them
    shards = function(prepared)
    found = []
    for rows in X, -X:
        take_pass(prepared, rows, y)
        found.append([shards[each].clone() for each in prepared.parameters()])
    net.load_state_dict(prepared.state_dict())
    net.train(prepared.training)
    return found
