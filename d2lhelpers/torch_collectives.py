"""What the ranks of a PyTorch process group send: collectives, counted by name."""
from collections.abc import Callable
from typing import Any

from torch.distributed.tensor.debug import CommDebugMode

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
