"""What a piece of PyTorch computes and moves, counted and not timed: `count_work`."""
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count

aten = torch.ops.aten
WRITTEN_ONLY = aten.copy_.default, aten.fill_.Scalar, aten.zero_.default  # they do not read what they change
WRITTEN_IN_PART = aten.index_copy_.default, aten.index_put_.default, aten.scatter_.src  # as much as they read


class Counts(NamedTuple):
    """What was counted: `flops` of products, `bytes` that operators read and write, `calls` of operators."""

    flops: int
    bytes: int
    calls: int


def count_work(fn: Callable[[], object]) -> Counts:
    """Call `fn()`, and count its floating-point operations, the bytes that its operators read and write, and the calls.

    FLOPs are those of products, convolutions and attention, as PyTorch's `FlopCounterMode` counts them: a mask saves
    none. Bytes are those of every operator's inputs and results: what the memory would move if no cache kept anything
    from one operator to the next. A view moves nothing, and of an embedding only the rows that it returns are counted.
    Lessons: pytorch/09-serving-a-transformer, pytorch/10-find-the-bottleneck.

    >>> x, y = torch.ones(100, 100), torch.ones(100, 100)
    >>> count_work(lambda: x @ y)  # 2 * 100 ** 3 operations on three arrays
    Counts(flops=2000000, bytes=120000, calls=1)
    """
    counter = FlopCounterMode(display=False, custom_mapping=CPU_ATTENTION)
    with _Operators() as operators, counter:
        fn()
    return Counts(counter.get_total_flops(), operators.bytes, operators.calls)


def _attention(query, key, value, *_, **options):
    """Return the operations of one call of attention; the arguments are the shapes of its tensors."""
    return sdpa_flop_count(query, key, value)


def _attention_backward(gradient, query, key, value, *_, **options):
    """Return the operations of the backward pass of one call of attention."""
    return sdpa_backward_flop_count(gradient, query, key, value)


CPU_ATTENTION = {  # which PyTorch's counter does not know
    aten._scaled_dot_product_flash_attention_for_cpu: _attention,
    aten._scaled_dot_product_flash_attention_for_cpu_backward: _attention_backward}


class _Operators(TorchDispatchMode):
    """Count the operators in a `with` block, and the bytes that they read and write."""

    def __init__(self):
        super().__init__()
        self.bytes = self.calls = 0

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        result = operator(*args, **(kwargs or {}))
        self.calls += 1
        if not operator.is_view:
            read = args[1:] if operator in WRITTEN_ONLY + WRITTEN_IN_PART else args
            written = read if operator in WRITTEN_IN_PART else result
            if operator is aten.embedding.default:
                read = result
            self.bytes += _size((read, kwargs)) + _size(written)
        return result


def _size(values):
    """Return the bytes of all tensors in `values`, each once: an expanded tensor has fewer than its shape says."""
    tensors = {id(each): each for each in tree_leaves(values) if isinstance(each, torch.Tensor)}
    return sum(min(each.nbytes, each.untyped_storage().nbytes()) for each in tensors.values())
