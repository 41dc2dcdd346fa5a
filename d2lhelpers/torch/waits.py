"""Waiting for GPUs, and the lines of a program that would make Python wait for one."""
import traceback
from collections.abc import Callable
from pathlib import Path

import torch
from torch.overrides import TorchFunctionMode

# Functions of PyTorch that look at values: to hand them to Python, or because the shape of the result depends on them.
LOOK_AT_VALUES = {
    "__array__", "__bool__", "__complex__", "__contains__", "__float__", "__format__", "__index__", "__int__",
    "__repr__", "allclose", "argwhere", "bincount", "cpu", "equal", "is_nonzero", "item", "masked_select", "nonzero",
    "numpy", "tolist", "unique", "unique_consecutive"}


def synchronize() -> None:
    """Wait until every GPU has done what was queued for it. On a CPU there is nothing to wait for.

    Lesson: pytorch/00-start-here.
    """
    for index in range(torch.cuda.device_count()):
        torch.cuda.synchronize(index)


def lines_that_wait(work: Callable[[], object]) -> dict[str, int]:
    """Run `work()`, and return a dictionary of its lines that would wait for a GPU: how often each one did so.

    No GPU is needed: a line counts when it calls a function of PyTorch that looks at the values of a tensor, wherever
    the tensor is. A line is the last one outside PyTorch. Calls of other threads are not seen, nor is `to("cpu")`,
    which may be a copy in either direction; what an optimizer or a DataLoader asks its own tensors, which stay on the
    CPU, is left out. Lesson: pytorch/03-waiting-threads-and-copies.

    >>> def add_up(y):
    ...     total = y.sum()
    ...     return total.item()
    >>> lines_that_wait(lambda: add_up(torch.ones(3)))
    {'return total.item()': 1}
    """
    look = _LookAtCalls()
    with look:
        work()
    return look.lines


class _LookAtCalls(TorchFunctionMode):
    """Count the calls that look at a tensor's values, by the line that made them; PyTorch reports every call here."""

    inside = str(Path(torch.__file__).parent)
    on_cpu = str(Path(inside, "optim")), str(Path(inside, "utils", "data"))

    def __init__(self):
        super().__init__()
        self.lines = {}

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if _looks_at_values(getattr(function, "__name__", ""), args):
            frames = traceback.extract_stack()[:-1]  # without this function itself
            outside = [frame.line for frame in frames if frame.line and not frame.filename.startswith(self.inside)]
            if not any(frame.filename.startswith(self.on_cpu) for frame in frames):
                line = outside[-1] if outside else "a line without source"
                self.lines[line] = self.lines.get(line, 0) + 1
        return function(*args, **(kwargs or {}))


def _looks_at_values(name, args):
    """Return whether a call of PyTorch's function `name` with these arguments has to look at values of tensors."""
    if name == "__getitem__":  # a mask: nobody knows how many elements it chooses
        index = args[1] if isinstance(args[1], tuple) else [args[1]]
        return any(isinstance(each, torch.Tensor) and each.dtype == torch.bool for each in index)
    if name == "where":
        return len(args) == 1  # the same as nonzero
    if name in ("tensor", "as_tensor"):  # from a list of tensors
        data = args[0] if args and isinstance(args[0], (list, tuple)) else []
        return any(isinstance(each, torch.Tensor) for each in data)
    return name in LOOK_AT_VALUES
