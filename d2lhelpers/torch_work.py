"""What a piece of PyTorch computes and moves, counted and not timed: `count_work`."""
from collections.abc import Callable

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

aten = torch.ops.aten
CPU_ATTENTION = aten._scaled_dot_product_flash_attention_for_cpu  # PyTorch's counter does not know it


def count_work(fn: Callable[[], object]) -> tuple[int, int]:
    """Call `fn()`; return the floating-point operations of its products, and the bytes its operators read and write.

    Operations are counted by PyTorch's `FlopCounterMode`, causal attention as if no score were masked. Bytes are those
    of every operator's inputs and outputs, each once: what the memory would move if no cache kept anything from one
    operator to the next. A view moves nothing, and of an embedding only the rows that it returns are counted.
    Lesson: pytorch/09-serving-a-transformer.

    >>> count_work(lambda: torch.ones(2, 3) @ torch.ones(3, 4))[0]   # 2 * 3 * 4 products, as many sums
    48
    """
    with _Bytes() as moved, FlopCounterMode(display=False, custom_mapping={CPU_ATTENTION: _attention}) as operations:
        fn()
    return operations.get_total_flops(), moved.bytes


def _attention(query, key, value, *_, **options):
    """Return the operations of one call of attention; the arguments are the shapes of its tensors."""
    return sdpa_flop_count(query, key, value)


class _Bytes(TorchDispatchMode):
    """Add up the bytes of all operators' inputs and outputs in a `with` block."""

    def __init__(self):
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        result = operator(*args, **(kwargs or {}))
        if not operator.is_view:
            read = result if operator is aten.embedding.default else (args, kwargs)
            tensors = {id(each): each for each in tree_leaves((read, result)) if isinstance(each, torch.Tensor)}
            self.bytes += sum(each.nbytes for each in tensors.values())
        return result
