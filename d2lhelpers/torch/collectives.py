"""What the ranks of a PyTorch process group send: collectives counted by name, and the bytes of each all-reduce."""
from collections.abc import Callable
from typing import Any

from torch.distributed.tensor.debug import CommDebugMode
from torch.utils._python_dispatch import TorchDispatchMode

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
