"""The rules of the checks in lesson 03, Waiting, threads and copies."""
import math
import threading

from d2lhelpers.exercises import check


def check_1(answer):
    """Check the letters of the lines that would wait for a GPU."""
    return check(
        answer,
        (lambda a: isinstance(a, str) and a and set(a) <= set("abcdefghijk"), 'give letters from a to k, like "abc"'),
        (lambda a: "e" not in a, "e: the norm is a tensor; does the function look at its value?"),
        (lambda a: "i" not in a, "i: argmax, == and mean give tensors, which can stay where they are"),
        (lambda a: not set(a) & set("abcdgh"), "a line that only hands tensors on is among yours: try it on meta"),
        (lambda a: "f" in a, "which line decides something by a tensor's value?"),
        (lambda a: "j" in a, "which line makes a tensor whose shape depends on values?"),
        (lambda a: "k" in a, "which line makes a Python number of a tensor?"))


def check_2(answer):
    """Check a function of load, train and cores that returns the fewest workers with which training never waits."""
    cases = [(0.12, 0.035, 8), (0.03, 0.05, 8), (0.4, 0.1, 8), (0.4, 0.02, 4), (0.1, 0.1, 1)]
    wanted = [min(math.ceil(load / train), cores - 1) for load, train, cores in cases]
    return check(
        answer,
        (callable, "put the function itself, without calling it"),
        (lambda f: all(isinstance(f(*case), int) for case in cases), "it must return a whole number"),
        (lambda f: f(*cases[0]) == wanted[0], "0.12 s to load, 0.035 s to train: does load / w stay below train?"),
        (lambda f: f(*cases[1]) == wanted[1], "0.03 s to load, 0.05 s to train: how many hide that?"),
        (lambda f: f(*cases[2]) == wanted[2], "0.4 s to load, 0.1 s to train: is one fewer enough?"),
        (lambda f: [f(*case) for case in cases] == wanted, "how many cores are left beside the one that trains?"))


def check_3(answer):
    """Check a generator that loads one batch ahead in a thread, and no more than one."""
    def begun_while_held():
        """Return how many batches are begun while the first is held, without being asked for."""
        begun, second = [], threading.Event()

        def batches():
            for number in range(9):
                begun.append(number)
                if number:
                    second.set()
                yield number

        received = iter(answer(batches()))
        next(received)
        second.wait(timeout=2)
        threading.Event().wait(0.1)  # for a third, if it comes
        return len(begun)

    def passes_errors():
        def broken():
            yield 0
            raise OSError("the disk")

        try:
            list(answer(broken()))
        except OSError:
            return True
        return False

    return check(
        answer,
        (callable, "put the function itself, without calling it"),
        (lambda f: list(f(range(5))) == list(range(5)), "it must yield all batches in order, and end after the last"),
        (lambda f: begun_while_held() > 1, "while the first batch is held, nobody loads the second: submit it before "
         "you yield"),
        (lambda f: begun_while_held() == 2, "it runs more than one batch ahead"),
        (lambda f: passes_errors(), "an error in loading must reach the loop: who asks the future for its result?"))
