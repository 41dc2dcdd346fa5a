"""What one process holds of a PyTorch network whose tensors may be sharded over several."""
import gc
import time
from collections.abc import Callable, Iterable
from functools import partial

import torch
import torch.distributed as dist
from torch import nn


def megabytes(tensors: Iterable[torch.Tensor]) -> float:
    """Return the megabytes (10⁶ bytes) of tensors in this process: of a DTensor only this rank's shard.

    Tensors on the meta device have no memory. Lesson: pytorch/05-sharding.

    >>> megabytes([torch.ones(250_000), torch.ones(250_000, device="meta")])
    1.0
    """
    total = 0
    for each in tensors:
        local = each.to_local() if hasattr(each, "to_local") else each
        if not local.is_meta:
            total += local.nbytes
    return total / 1e6


def state_mb(net: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, float]:
    """Return the megabytes of parameters, gradients and optimizer state in this process. Lesson: pytorch/05-sharding.

    >>> net = nn.Linear(500, 500, bias=False)
    >>> net(torch.ones(500)).sum().backward()
    >>> state_mb(net, torch.optim.SGD(net.parameters()))
    {'parameters': 1.0, 'gradients': 1.0, 'state': 0.0}
    """
    gradients = [each.grad for each in net.parameters() if each.grad is not None]
    state = []
    for each in optimizer.state.values():
        state += [value for value in each.values() if torch.is_tensor(value)]
    return {"parameters": megabytes(net.parameters()), "gradients": megabytes(gradients), "state": megabytes(state)}


def full_parameters(net: nn.Module) -> torch.Tensor:
    """Return all parameters in one vector, which every rank gets; all ranks must call it. Lesson: pytorch/05-sharding.

    >>> full_parameters(nn.Linear(3, 2)).shape
    torch.Size([8])
    """
    full = []
    for each in net.parameters():
        full.append(each.full_tensor() if hasattr(each, "full_tensor") else each)
    return nn.utils.parameters_to_vector(full).detach()


def trace_fsdp_step(step: Callable[[], object], net: nn.Sequential) -> tuple[list[str], list[float]]:
    """Return what happens in `step()`, in order: a list of names, and the megabytes of parameters at each of them.

    Noted are the beginnings of FSDP2's collectives and of each layer's forward pass, and the ends of the backward
    passes: "all-gather", "forward 0", "backward 0", "reduce-scatter". Only layers with parameters count. The batch
    needs a gradient, or the first layer's backward pass is not seen. Lesson: pytorch/05-sharding.
    """
    names = []
    sizes = []

    def note(what, *_):
        names.append(what)
        sizes.append(megabytes(net.parameters()))

    def noting(what, collective):
        def note_and_call(*args, **options):
            note(what)
            return collective(*args, **options)
        return note_and_call

    gather = dist.all_gather_single
    scatter = dist.reduce_scatter_single
    dist.all_gather_single = noting("all-gather", gather)
    dist.reduce_scatter_single = noting("reduce-scatter", scatter)
    handles = []
    layers = [layer for layer in net if list(layer.parameters())]
    for number, layer in enumerate(layers):
        handles.append(layer.register_forward_pre_hook(partial(note, f"forward {number}")))
        handles.append(layer.register_full_backward_hook(partial(note, f"backward {number}")))
    try:
        step()
    finally:
        dist.all_gather_single = gather
        dist.reduce_scatter_single = scatter
        for handle in handles:
            handle.remove()
    return names, sizes


def saved_activations_mb(net: nn.Module, rows: torch.Tensor) -> float:
    """Return the megabytes of activations that `net(rows)` keeps for its backward pass, without the parameters.

    Lesson: deeper/what-sharding-leaves.

    >>> net = nn.Sequential(nn.Linear(250, 250), nn.ReLU())
    >>> saved_activations_mb(net, torch.ones(1000, 250))  # the input, and the ReLU's result
    2.0
    """
    tensors = {}

    def keep(tensor):
        tensors[tensor.data_ptr()] = tensor  # by address: each memory counts once
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        net(rows)
    for each in net.parameters():
        tensors.pop(each.data_ptr(), None)
    return sum(each.nbytes for each in tensors.values()) / 1e6


def live_tensors_mb() -> float:
    """Return the megabytes of all tensors that Python can reach, and of their gradients, whole ones, too.

    The least of three counts: gloo's thread frees what it has sent a moment after Python's wait for it is over. Lesson:
    deeper/what-sharding-leaves.
    """
    return min(_reachable() for _ in range(3))


def _reachable():
    """Return the megabytes of all tensors that Python can reach in a moment."""
    time.sleep(0.02)
    gc.collect()
    tensors = [each for each in gc.get_objects() if _is_plain(each)]
    gradients = [each.grad for each in tensors if each.is_leaf and _is_plain(each.grad)]
    sizes = {}
    for each in tensors + gradients:
        if not each.is_meta:
            storage = each.untyped_storage()
            sizes[storage.data_ptr()] = storage.nbytes()  # by address: each memory counts once
    return sum(sizes.values()) / 1e6


def _is_plain(each):
    """Return whether this is a tensor with memory of its own kind: a DTensor's is that of the tensor inside."""
    return type(each) in (torch.Tensor, nn.Parameter)


def reduce_scatter(output: torch.Tensor, input: torch.Tensor, **options: object) -> None:
    """Put the mean of part r of all ranks' inputs into the output of rank r, and send nothing that nobody needs.

    It can stand in for `dist.reduce_scatter_single`, with whose gloo each rank receives the mean of all parts. Lesson:
    pytorch/05-sharding, which explains it.
    """
    parts = torch.empty_like(input)
    dist.all_to_all_single(parts, input)
    torch.mean(parts.view(dist.get_world_size(), -1), 0, out=output)
