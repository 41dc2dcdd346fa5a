"""Counters: calls of a framework, new pages of memory, and bytes that are written."""
import math
import resource
import sys
from collections.abc import Callable

import psutil


def count_calls(fn: Callable[[], object]) -> int:
    """Return how often Python hands work to the framework in `fn()`: an operator, or a whole compiled graph at once.

    Lesson: 01-imperative-and-symbolic.
    """
    if "mxnet" in sys.modules:
        from .mxnet import Timeline
    else:
        from .torch import Timeline
    with Timeline() as timeline:
        fn()
    return timeline.calls


def count_new_pages(fn: Callable[[], object]) -> int:
    """Return how many pages of new memory the system provides during `fn()`: those that are used for the first time.

    A page has `resource.getpagesize()` bytes. Lesson: pytorch/01-compilers-and-interpreters.

    >>> count_new_pages(lambda: b"x" * 2**26) > 0
    True
    """
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    fn()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def count_bytes(fn: Callable[[], object]) -> float:
    """Return how many bytes this process writes in `fn()`, or nan where the system does not count them (Linux does).

    Counted is what goes through the system call `write`, as all data of PyTorch's gloo does. `fn` is called twice, and
    counted the second time: the first call may also connect with other processes. Lesson: pytorch/05-sharding.

    >>> import os
    >>> _, end = os.pipe()
    >>> count_bytes(lambda: os.write(end, b"1234")) if sys.platform == "linux" else 4
    4
    """
    counters = getattr(psutil.Process(), "io_counters", None)
    fn()
    if counters is None:
        fn()
        return math.nan
    before = counters().write_chars
    fn()
    return counters().write_chars - before
