"""Plain values of what a reader's code gives, so that no class of the reader's takes part in a comparison."""
import inspect
from collections.abc import Iterable, Mapping
from itertools import islice
from numbers import Real
from typing import Any

import numpy as np

SCALARS = bool, int, float, complex, str, bytes
FEW = 12  # numbers of an array that are shown together
LONGEST = 100_000  # of an iterator, which may have no end, no more is read


def plain(value: Any) -> Any:
    """Return a value as numbers, text, NumPy arrays, lists, tuples, sets and dictionaries of such.

    Of a network it takes parameters, buffers, gradients and modes, of an optimizer its settings and what it keeps.
    Functions and objects that it does not know stay as they are. Lesson: 00-start-here.

    >>> plain((1, {"a": np.float32(0.5)}, np.arange(2)))
    (1, {'a': 0.5}, array([0, 1]))
    """
    for kind in SCALARS:
        if isinstance(value, kind):
            return value if type(value) is kind else kind.__new__(kind, value)
    if isinstance(value, np.ndarray | np.generic):
        return np.array(value) if np.ndim(value) else np.asarray(value).item()
    if isinstance(value, Real):  # such as a fraction
        return float(value)
    if isinstance(value, Mapping):
        return {plain(key): plain(each) for key, each in value.items()}
    for kind in (tuple, set, frozenset):
        if isinstance(value, kind):
            return kind(plain(each) for each in value)
    return _of_framework(value)


def _of_framework(value):
    """Return a plain value of an array, a network or an optimizer of MXNet or PyTorch, or of another iterable."""
    if isinstance(value, type) or inspect.isroutine(value):
        return value
    if hasattr(value, "asnumpy"):
        return plain(value.asnumpy())
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        tensor = value.detach().cpu()
        return plain((tensor.double() if tensor.is_floating_point() else tensor).numpy())
    if hasattr(value, "named_parameters"):
        return {"parameters": plain(dict(value.named_parameters())), "buffers": plain(dict(value.named_buffers())),
                "gradients": plain({name: each.grad for name, each in value.named_parameters()}),
                "requires_grad": {name: each.requires_grad for name, each in value.named_parameters()},
                "training": {name: each.training for name, each in value.named_modules()}}
    if hasattr(value, "collect_params"):
        parameters = value._collect_params_with_prefix()  # by names that say where each is in the network
        made = {name: each for name, each in parameters.items() if each._data is not None}
        return {"parameters": {name: plain(each.list_data()) for name, each in made.items()},
                "gradients": {name: plain(each.list_grad()) for name, each in made.items() if each._grad},
                "requires_grad": {name: each.grad_req for name, each in parameters.items()}}
    if hasattr(value, "param_groups"):
        return plain(value.state_dict())
    if hasattr(value, "set_learning_rate"):  # Gluon's Trainer
        return {"learning_rate": value.learning_rate}
    return [plain(each) for each in islice(value, LONGEST)] if isinstance(value, Iterable) else value


def difference(given: Any, right: Any, tolerance: float = 1e-5, path: tuple = ()) -> tuple | None:
    """Return where two plain values differ first, and both values there; None if they are equal.

    Numbers may differ by `tolerance` times the largest of the right ones, or times 1. A list, a tuple and an array of
    the same numbers are equal. Lesson: 00-start-here.

    >>> difference({"a": [1, 2]}, {"a": [1, 3]})
    (('a',), [1, 2], [1, 3])
    """
    if isinstance(right, dict) and isinstance(given, dict):
        if given.keys() != right.keys():
            return path, given, right
        found = (difference(given[key], right[key], tolerance, (*path, key)) for key in right)
        return next((each for each in found if each), None)
    one, two = _numbers(given), _numbers(right)
    if one is not None and two is not None:
        if _close(one, two, tolerance):
            return None
        if one.shape != two.shape or one.size <= FEW:
            return path, given, right
        apart = np.nan_to_num(np.abs(one - two), nan=np.inf)  # of many numbers, those farthest apart
        place = np.unravel_index(np.argmax(apart), one.shape)
        return (*path, *map(int, place)), one[place].item(), two[place].item()
    if isinstance(right, list | tuple) and isinstance(given, list | tuple):
        if len(given) != len(right):
            return path, given, right
        pairs = enumerate(zip(given, right, strict=True))
        found = (difference(each, other, tolerance, (*path, number)) for number, (each, other) in pairs)
        return next((each for each in found if each), None)
    same = type(given) is type(right) and not isinstance(right, np.ndarray) and given == right
    return None if same else (path, given, right)


def _numbers(value):
    """Return a number, an array, or a list of equally long lists of numbers as an array; None for anything else."""
    if not isinstance(value, list | tuple):
        array = np.asarray(value)
        return array if array.dtype.kind in "biufc" else None
    parts = [_numbers(each) for each in value]
    alike = all(part is not None and part.shape == parts[0].shape for part in parts)
    return np.array(parts) if alike else None


def _close(one, two, tolerance):
    """Return whether two arrays have one shape and the same numbers, as near as the tolerance says."""
    if one.shape != two.shape:
        return False
    largest = np.abs(two[np.isfinite(two)]).max(initial=1)
    return np.allclose(one, two, rtol=0, atol=tolerance * largest, equal_nan=True)
