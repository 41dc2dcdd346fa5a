"""What the check of exercise 3 of lesson 03 tries with a generator that loads ahead."""
import threading
from types import CodeType

WAIT = 3  # seconds until a check no longer waits for what a right answer does at once
PLAIN = str, bytes, int, float, tuple, type(None), type(...)


def of_code(code):
    """Return the plain values that stand in a function's code, and in that of functions inside."""
    found = []
    for each in code.co_consts:
        found += of_code(each) if isinstance(each, CodeType) else [each]
    return found


def constants(function):
    """Return the plain values in a function, in its defaults and in what it reads: one may be its sign of the end."""
    if not hasattr(function, "__code__"):
        return []
    read = [function.__globals__.get(name) for name in function.__code__.co_names]
    found = [*of_code(function.__code__), *(function.__defaults__ or ()), *read]
    return [each for each in found if isinstance(each, PLAIN)]


def in_order(batches):
    """Yield what `batches` yields: the right batches."""
    yield from batches


def use_ahead(function, batches):
    """Return all batches that arrive."""
    return list(function(batches))


def lists(random):
    """Yield lists of batches: none, one, and several of many kinds."""
    for count in 0, 1, 3, int(random.integers(4, 20)):
        yield ([[None, "end", -1, 0.5, "", False][kind] for kind in random.integers(6, size=count)],)


def held(ahead, holding=1):
    """Return how many batches are begun while the loop holds number `holding`, and whether that came in time."""
    begun = []
    in_time = []
    gate = threading.Event()
    following, another = threading.Event(), threading.Event()

    def batches():
        for number in range(9):
            begun.append(number)
            if number == holding:
                following.set()
                in_time.append(gate.wait(WAIT))  # the next is loaded only after the loop has this one
            if number == holding + 1:
                another.set()
            yield number

    received = iter(ahead(batches()))
    for _ in range(holding):
        next(received)
    gate.set()
    following.wait(1)  # a wrong answer may never begin it
    another.wait(0.3)  # a right one never begins this
    count = len(begun)
    list(received)
    return count, all(in_time)


def before_error(ahead, count=2):
    """Return the batches that arrive before an error in loading, and whether the error arrives."""
    def broken():
        yield from range(count)
        raise OSError("the disk")

    received = []
    try:
        for batch in ahead(broken()):
            received.append(batch)
    except OSError:
        return received, True
    return received, False
