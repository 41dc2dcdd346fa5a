"""Which lines of a program make Python wait for MXNet."""
import sys
import traceback
from collections.abc import Callable

# Functions of MXNet's Python code that wait, and operators that do, as the shape of their result depends on values.
WAITING, WAITING_OPERATORS = {"asnumpy", "waitall", "wait_to_read"}, {"boolean_mask", "nonzero", "unique"}


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
    folder, lines = mx.__path__[0], {}

    def look(frame, event, _):
        name, file = frame.f_code.co_name, frame.f_code.co_filename
        waits = name in WAITING and file.startswith(folder)
        if event == "call" and (waits or (name in WAITING_OPERATORS and file == "<string>")):  # made while importing
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
