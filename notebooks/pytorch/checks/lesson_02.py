"""The rules of the checks in lesson 02, Asynchronous computation."""
import threading
from concurrent.futures import Future

import torch

from d2lhelpers.exercises import check


def check_1(answer):
    """Check a function of two functions that returns the first one's result and the second one's promise.

    The second task ends only when the answer has returned, or after one second.
    """
    back, begun, seen = threading.Event(), [], []

    def one():
        begun.append(("one", threading.get_ident()))
        return "the first result"

    def two():
        begun.append(("two", threading.get_ident()))
        return back.wait(1)              # whether the answer had returned by then

    def runs(function):
        try:
            seen.extend(function(one, two))
        finally:
            back.set()
        return len(seen) == 2

    return check(
        answer,
        (callable, "a function: its name alone, without parentheses"),
        (runs, "it returns a pair: a result, and a promise"),
        (lambda _: not isinstance(seen[0], Future),
         "the first of the pair is still a promise: who asks it for its result?"),
        (lambda _: seen[0] == "the first result", "the first of the pair is not what `one` gave"),
        (lambda _: isinstance(seen[1], Future),
         "the second of the pair is no promise: was it called, or its result asked for, instead of being queued?"),
        (lambda _: seen[1].result() in (True, False) and threading.get_ident() not in {thread for _, thread in begun},
         "one of the two ran in Python's own thread"),
        (lambda _: seen[1].result() and [name for name, _ in begun] == ["one", "two"],
         "Python returned only when the second one had ended. "
         "What were you waiting for, and what was queued before it?"))


def check_2(answer):
    """Check a function of `get`, `use`, `steps` and `depth` that keeps at most `depth` batches alive.

    A batch is only a number here. The first one is held until the answer is as far ahead as it may be.
    """
    depth, steps, begun, ended, alive, promises = 3, 12, [], [], [0], []
    far, too_far = threading.Event(), threading.Event()

    def get():
        begun.append(len(begun))
        alive.append(len(begun) - len(ended))
        if alive[-1] >= depth:
            far.set()
        if alive[-1] > depth:
            too_far.set()
        return begun[-1]

    def use(number):
        if number == 0:                  # held until others come, but not for ever
            far.wait(0.5)
            too_far.wait(0.2)
        ended.append(number)
        return number

    def runs(function):
        promises.extend(function(get, use, steps, depth))
        return all(isinstance(promise, Future) for promise in promises)

    return check(
        answer,
        (callable, "a function: its name alone, without parentheses"),
        (runs, "it returns a list of what `submit` gave"),
        (lambda _: [promise.result(10) for promise in promises] == list(range(steps)),
         "each step has one promise, in order, which gives what `use` made of its batch"),
        (lambda _: max(alive) > 1, "Python waits for each batch before it prepares the next"),
        (lambda _: max(alive) >= depth, "Python waits although it might be further ahead"),
        (lambda _: max(alive) <= depth + 1, "they pile up: nothing stops Python"),
        (lambda _: max(alive) <= depth,
         "one too many is alive: look at when a token is taken, and at when it is put back"))


def check_3(answer):
    """Check a function that puts tasks in an order in which each comes after those that it needs."""
    plans = [{"eat": ["cook"], "cook": []},
             {"d": ["c"], "b": ["a"], "c": ["b"], "a": []},
             {"wash": ["eat"], "eat": ["cook", "set"], "set": ["buy"], "cook": ["buy"], "buy": []}]

    def everywhere(rule):
        return lambda function: all(rule(plan, list(function(dict(plan)))) for plan in plans)

    def kept(plan, order):
        return [order.index(need) < order.index(task) for task in plan for need in plan[task]]

    return check(
        answer,
        (callable, "a function: its name alone, without parentheses"),
        (everywhere(lambda plan, order: set(order) == set(plan)), "all tasks, and nothing else"),
        (everywhere(lambda plan, order: len(order) == len(plan)),
         "each task once: another one may have needed it already"),
        (everywhere(lambda plan, order: any(kept(plan, order))),
         "no task finds what it needs: is your list in reverse order?"),
        (everywhere(lambda plan, order: all(kept(plan, order))),
         "a task comes before one that it needs. What a task needs may itself need something"))


def check_4(answer):
    """Check a function that counts how many results are alive at most, on three kinds of `make`."""
    calls, counts = [], {}

    def makes(limit):                    # keeps the newest `limit` results itself
        kept = []

        def make():
            calls.append(limit)
            kept.append(torch.zeros(1))
            result = kept[-1]
            del kept[:max(0, len(kept) - limit)]
            return result
        return make

    def runs(function):
        counts.update({limit: function(makes(limit), 10) for limit in (0, 4, 10)})
        return all(isinstance(count, int) for count in counts.values())

    return check(
        answer,
        (callable, "a function: its name alone, without parentheses"),
        (runs, "it returns a whole number"),
        (lambda _: len(calls) == 30, "`make` is called once per step"),
        (lambda _: counts[10] == 10, "if somebody else keeps all of them, all of them are alive"),
        (lambda _: counts[0] < 10, "your count keeps alive what it counts"),
        (lambda _: counts[0] < 2, "one too many: does an older result still have a name when you count?"),
        (lambda _: counts[0] == 1 and counts[4] == 4, "the newest is alive, and so are those that somebody else keeps"))
