"""Check the answers to the exercises of lesson 03, Asynchronous computation."""
import functools
import itertools
from inspect import signature

from mxnet import np
from scripts import slow_epoch

from d2lhelpers import Timeline
from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check

from .spoiled import raises, spoiled


def some_results(random):
    """Yield two arrays, of which the first has one number."""
    for value in random.normal(size=2):
        yield np.full((1,), value), np.full((2, 2), value)


def check_1(answer, two_stages):
    """Check a function that waits for the first of the two results of `two_stages`, and not for the second."""
    def runs(wait):
        wait(*two_stages())
        return True

    def with_spoiled_intermediate(wait):
        intermediate = spoiled((1,)) * 1  # one number, like that of `two_stages`
        wait(intermediate, intermediate * np.ones((2, 2)))

    def with_spoiled_final(wait):
        intermediate = np.ones((1,)) * 1
        wait(intermediate, intermediate * spoiled((2, 2)))

    return check(
        answer,
        ("no-function", callable, "give a function, not its result: its name alone, or lambda intermediate, final: …"),
        ("does-not-run", runs, "it takes two arrays, and has to run without an error"),
        ("skips-intermediate", lambda wait: raises(lambda: with_spoiled_intermediate(wait)),
         "Python went on although the intermediate values could not be read: it did not wait for the intermediate "
         "values"),
        ("waits-for-final", lambda wait: not raises(lambda: with_spoiled_final(wait)),
         "the intermediate values are there, but Python also waited for the final values"),
        *Exam(lambda intermediate, final: intermediate.wait_to_read(), some_results).rules(),
    )


def played(t1, t2, t3, n, k):
    """Return the time of n calls with a wait after every k-th, call by call."""
    python = device = 0
    for call in range(1, n + 1):
        python += t1
        device = max(python, device) + t2
        if call % k == 0:
            python = device = device + t3
    return python


def some_times(random):
    """Yield times, and n calls of which every k-th is followed by a wait."""
    yield from [(3, 3, 3, 1, 1), (0.002, 0.005, 0.001, 8, 2), (0, 4, 1, 6, 3), (4, 0, 1, 6, 3), (2, 5, 0, 8, 2)]
    for _ in range(20):
        k = int(random.integers(1, 9))
        yield *random.uniform(1, 300, size=3).tolist(), k * int(random.integers(1, 9)), k


def check_2(answer, k):
    """Check a model of n calls with a wait after every k-th, and the k that is the best bargain."""
    def right(total, *case):
        return abs(total(*case) / played(*case) - 1) < 1e-9

    return check(
        answer,
        ("no-function", callable, "give a function, not its result: its name alone, or lambda t1, t2, t3, n, k: …"),
        ("no-number", lambda total: float(total(2, 5, 3, 12, 4)) > 0, "it should return a number"),
        ("ignores-n", lambda total: total(2, 5, 3, 12, 4) != total(2, 5, 3, 24, 4),
         "twice as many calls take no longer: does it compute with n, or with the lesson's N?"),
        ("wrong-each-call", lambda total: right(total, 2, 5, 3, 12, 1),
         "with k = 1 it should be the formula for a wait after every call"),
        ("wrong-single-wait", lambda total: right(total, 2, 5, 3, 12, 12),
         "with k = n it should be the formula for a single wait at the end"),
        ("wrong-several-waits", lambda total: right(total, 2, 5, 3, 12, 4),
         "right with one wait in all. With more of them: after each one the queue is empty. What follows from that?"),
        ("wrong-if-python-slower", lambda total: right(total, 5, 2, 3, 12, 4) and right(total, 4, 4, 0, 100, 5),
         "right where the device is the slower one. And if Python is the slower one?"),
        *Exam(played, some_times, tolerance=1e-9).rules(),
        ("no-k", lambda _: k is not ..., "that is right. Now the k, in place of the second three dots"),
        ("k-not-dividing", lambda _: 1 <= float(k) <= 200 and 200 % float(k) == 0,
         "k should divide 200, the number of calls"),
        ("saves-too-little", lambda _: float(k) >= 10,
         "such a k saves less than nine tenths. Let your function compute it"),
        ("too-much-memory", lambda _: float(k) == 10,
         "that is more than nine tenths. Can you have nine tenths with less memory?"),
    )


def some_gradients(random):
    """Yield lists of gradients: of zeros, short and long ones, and some whose norm is just above or below the limit."""
    for shapes in [(1,)], [(2, 2), (3,)], [(4, 1), (3,), (2, 3)], [(5,), (1, 2), (3, 3), (7,)]:
        values = [random.normal(size=shape) for shape in shapes]
        norm = sum((value ** 2).sum() for value in values) ** 0.5
        for length in 0, 1e-4, 0.0099, 0.0101, 30:
            yield ([np.array(value * length / norm, dtype="float32") for value in values],)
        yield [np.array(value * 0.3 / norm, dtype="float32") for value in values], 0.02  # another limit


def check_3(answer, functions, run):
    """Check new functions in place of some of `functions`, so that `run(functions)` never waits for the engine."""
    functions = {name: getattr(slow_epoch, name) for name in functions}  # whatever is in the dictionary by now

    def replaced(answer):
        return {name: new for name, new in answer.items() if new is not functions[name]}

    @functools.cache
    def waits(*names_and_functions):
        """Return how often Python waits in the loop with these functions."""
        with Timeline() as timeline:
            run(functions | dict(names_and_functions))
        return len(timeline.waits)

    def clipped(clip, scale):  # the gradients after clip: long ones for a large scale, short ones for a small one
        grads = [np.full((3,), scale), np.full((2, 2), -3 * scale)]
        clip(list(grads))  # what it puts into the list is lost, as in the loop
        return [float(grad.sum()) for grad in grads]

    def clipped_by(clip, grads, *limit):
        clip = clip["clip"] if isinstance(clip, dict) else clip
        if len(signature(clip).parameters) <= len(limit):  # one for the loop's limit alone
            clip = slow_epoch.clip
        arrays = list(grads)
        clip(grads, *limit)
        if len(grads) == len(arrays):
            grads[:] = arrays

    def same(new, scale):
        found, wanted = clipped(new["clip"], scale), clipped(functions["clip"], scale)
        return all(abs(a - b) <= 1e-4 * abs(b) for a, b in itertools.zip_longest(found, wanted))

    return check(
        answer,
        ("no-dictionary",
         lambda new: isinstance(new, dict) and new and set(new) <= set(functions) and all(map(callable, new.values())),
         'give a dictionary from names of functions to new functions, such as {"read": my_read}'),
        ("loop-fails", lambda new: waits(*new.items()) >= 0, "with this answer the loop ends in an error"),
        ("waits-as-before", lambda new: waits(*new.items()) < waits(),
         "Python waits as often as before. Which line waits, with this answer?"),
        ("replaces-too-much", lambda new: set(replaced(new)) == {"clip"},
         "one of the functions that you replaced never made Python wait: leave it"),
        ("clips-nothing", lambda new: clipped(new["clip"], 10.0) != clipped(lambda grads: None, 10.0),
         "Python no longer waits, but long gradients are left as they are: clip changes the arrays that it gets"),
        ("changes-short-gradients", lambda new: same(new, 1e-4),
         "Python no longer waits, but short gradients should stay as they are"),
        ("clips-otherwise", lambda new: same(new, 10.0),
         "Python no longer waits, but long gradients should come out as before: all by one factor, to one norm"),
        ("still-waits", lambda new: waits(*new.items()) == 0,
         "Python waits less often than before, but it still waits"),
        ("waits-inside-operator", lambda new: not raises(lambda: new["clip"]([spoiled((3,)), spoiled((2, 2))])),
         "no line waits any more, but Python still waits, inside an operator: the shape of what it makes depends on "
         "values"),
        *Exam(slow_epoch.clip, some_gradients, clipped_by, tolerance=1e-7).rules(),  # of gradients of 0.01
        seconds=15,
    )
