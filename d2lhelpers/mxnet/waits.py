"""Which lines of a program make Python wait for MXNet."""
import sys
import traceback
from collections.abc import Callable

WAITING = {"asnumpy", "waitall", "wait_to_read"}  # functions of MXNet's Python code
# Operators that wait, because the shape of their result depends on values. MXNet makes them while it is imported.
WAITING_OPERATORS = {"boolean_mask", "nonzero", "unique"}


def lines_that_wait(work: Callable[[], object]) -> dict[str, int]:
    """Run `work()`, and return a dictionary of the lines that made Python wait for results: how often each one did.

    A line is the last one outside MXNet that was being executed when Python began to wait; a wait inside an operator,
    as that of a mask, counts as well. Lesson: 03-asynchronous-computation.

    >>> import mxnet as mx
    >>> def add_up(y):
    ...     total = y.sum()
    ...     return total.asscalar()
    >>> lines_that_wait(lambda: add_up(mx.nd.ones(3)))
    {'return total.asscalar()': 1}
    """
    import mxnet as mx
    folder = mx.__path__[0]
    lines = {}

    def look(frame, event, _):
        if event == "call" and _waits(frame.f_code, folder):
            stack = traceback.extract_stack(frame)
            ours = [each.line for each in stack if each.line and not each.filename.startswith(folder)]
            line = ours[-1] if ours else "a line without source"
            lines[line] = lines.get(line, 0) + 1

    before = sys.getprofile()
    sys.setprofile(look)  # Python calls it whenever a function is called
    try:
        work()
    finally:
        sys.setprofile(before)
    return lines


def _waits(code, folder):
    """Return whether code is that of a function of MXNet, which is in a folder, that waits."""
    if code.co_filename == "<string>":
        return code.co_name in WAITING_OPERATORS
    return code.co_name in WAITING and code.co_filename.startswith(folder)
