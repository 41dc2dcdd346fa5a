"""What the ranks of a PyTorch process group send: collectives counted by name, bytes of all-reduces, and when."""
import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.tensor.debug import CommDebugMode
from torch.utils._python_dispatch import TorchDispatchMode

from ..benchmark import measure

NAMES = "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"


def count_collectives(function: Callable[..., Any], *arguments: object) -> tuple[Any, dict[str, int]]:
    """Call `function(*arguments)`; return its result, and how often this rank took part in which collective.

    PyTorch's `CommDebugMode` counts. PyTorch has several operators for the same collective, such as `allreduce_` and
    `all_reduce`; they are counted as one. Lesson: pytorch/06-splitting-the-network.

    >>> count_collectives(abs, -1)
    (1, {})
    """
    with CommDebugMode() as mode:
        result = function(*arguments)
    sent: dict[str, int] = {}
    for operator, count in mode.get_comm_counts().items():
        name = operator.__name__.strip("_")
        for known in NAMES:
            if name.replace("_", "").startswith(known.replace("_", "")):
                name = known
        sent[name] = sent.get(name, 0) + count
    return result, sent


class Messages(TorchDispatchMode):
    """Append the bytes of each all-reduce in a `with` block to a list, in order, whoever asks for it.

    These are the bytes that a rank hands over; how many of them are sent, and how often, is the backend's choice. The
    list may be one that other functions append to, such as hooks. Lesson: pytorch/04-data-parallel.

    >>> sizes = []
    >>> with Messages(sizes):
    ...     pass
    >>> sizes
    []
    """

    def __init__(self, sizes: list):
        super().__init__()
        self.sizes = sizes

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function.name() == "c10d::allreduce_":
            self.sizes += [tensor.nbytes for tensor in args[0]]
        return function(*args, **(kwargs or {}))


def record_backward(blocks: Iterable[torch.nn.Module], loss: Callable[[], torch.Tensor], order: list) -> list:
    """Return what happens in a backward pass, in order: "block 1" when that of block 1 begins, and bytes that are sent.

    `loss()` is called twice, and what is recorded is the second backward pass, because DistributedDataParallel and
    compilers prepare themselves in the first. Bytes are those of `Messages`. `order` is the list to append to, and is
    emptied before; others may append to it, too. Lesson: deeper/a-ddp-of-your-own.

    >>> net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    >>> record_backward(net, lambda: net(torch.ones(1, 2, requires_grad=True)).sum(), [])
    ['block 1', 'block 0']
    """
    loss().backward()
    for number, block in enumerate(blocks):
        block.register_full_backward_pre_hook(lambda *_, number=number: order.append(f"block {number}"))
    value = loss()
    order.clear()
    with Messages(order):
        value.backward()
    return order


@contextlib.contextmanager
def hold_rank_1(seconds: float, key: str = "rank 0 is through") -> Iterator[None]:
    """Let rank 1 begin a `with` block when rank 0 has ended its own, or after `seconds`; other ranks begin at once.

    Each use in a group needs another `key`. Lesson: deeper/a-ddp-of-your-own.
    """
    store = dist.distributed_c10d._get_default_store()
    if dist.get_rank() == 1:
        with contextlib.suppress(RuntimeError):  # it has waited long enough
            store.wait([key], timedelta(seconds=seconds))
    yield
    if dist.get_rank() == 0:
        store.set(key, "")


def message_seconds(count: int, size: int) -> float:
    """Return the median seconds that `count` all-reduces of `size` bytes take if all are started, then waited for.

    All ranks of a process group call it. Lesson: deeper/a-ddp-of-your-own.
    """
    messages = torch.zeros(count, size // 4)

    def send():
        handles = [dist.all_reduce(message, async_op=True) for message in messages]
        for handle in handles:
            handle.wait()

    return measure(send, repeat=9, sync=dist.barrier).median


def latency_and_bandwidth(sizes: Sequence[int]) -> tuple[float, float]:
    """Return the seconds and the bytes per second of the line through the seconds of an all-reduce of each size.

    The line is the one with the smallest relative errors. On a busy machine it may fall; a latency is at least 0, and a
    bandwidth at most 1e12. All ranks of a process group call it. Lesson: deeper/a-ddp-of-your-own.
    """
    seconds = np.array([message_seconds(1, size) for size in sizes])
    slope, latency = np.polyfit(sizes, seconds, 1, w=1 / seconds)
    return max(float(latency), 0.0), 1 / max(float(slope), 1e-12)
