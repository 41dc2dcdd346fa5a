"""Check the answer to the exercise of the notebook A loader that starves the device."""
import itertools
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check

PATIENCE = 3  # seconds until it counts as never done; what a right answer does is noticed at once
MANY = 2000  # keys, more than anybody should take


class Loading:
    """A function to load with, which notes which keys it is asked for, which ones have ended, and by which threads.

    The keys in `gates` are loaded when `open` is set, a key in `errors` raises the error, and without a factor there is
    None for each key.
    """

    def __init__(self, gates=(), errors=None, factor=10):
        self.gates = gates
        self.open = threading.Event()
        self.errors = errors or {}
        self.factor = factor
        self.asked, self.ended, self.threads = [], [], set()
        self.changed = threading.Condition()

    def __call__(self, key):
        """Load what a key stands for."""
        with self.changed:
            self.asked.append(key)
            self.threads.add(threading.current_thread())
            self.changed.notify_all()
        if key in self.gates:
            self.open.wait(PATIENCE)
        with self.changed:
            self.ended.append(key)
            self.changed.notify_all()
        if key in self.errors:
            raise self.errors[key]
        return None if self.factor is None else self.factor * key

    def reaches(self, number, keys):
        """Return whether the list `keys`, of those asked for or ended, has so many before patience ends."""
        with self.changed:
            return self.changed.wait_for(lambda: len(keys) >= number, PATIENCE)

    def opened_after(self, number, keys):
        """Start a thread that opens the gates once `keys` has so many; its result says how many it had then."""
        def wait_and_open():
            self.reaches(number, keys)
            time.sleep(0.05)  # whatever is too many comes now, or is let pass
            reached.append(len(keys))
            self.open.set()

        reached = []
        threading.Thread(target=wait_and_open).start()
        return reached


class Keys:
    """The keys 0, 1, 2 …, of which `taken` are taken."""

    taken = 0

    def __iter__(self):
        for key in range(MANY):
            self.taken += 1
            yield key


def close(generator):
    """End a generator early, as a loop does that breaks off."""
    if hasattr(generator, "close"):
        generator.close()


def until_error(batches):
    """Return the batches up to an error of a load, and that error or None."""
    found = []
    try:
        for batch in batches:
            found.append(batch)
    except KeyError as error:
        return found, error
    return found, None


def run_ahead(load, keys, workers, depth):
    """Yield load(key) for each key in order; `depth` more are loaded meanwhile, in `workers` threads."""
    waiting = deque()
    with ThreadPoolExecutor(workers) as pool:
        for key in keys:
            waiting.append(pool.submit(load, key))
            if len(waiting) > depth:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def loaded(function, factor, keys, workers, depth):
    """Return the batches that a function yields, and what it asks for, each key as often as it does."""
    load = Loading(factor=factor)
    return {"batches": list(function(load, keys, workers, depth)), "asked": sorted(load.asked)}


def some_keys(random):
    """Yield a factor, keys, a number of workers and a depth: of no key, one, a few, many, with some keys twice.

    Batches are numbers, None, or arrays.
    """
    yield 1, [], 1, 1
    yield -2, [3], 3, 4
    yield None, [3, 1, 4], 2, 2
    yield np.array([1, -1]), [3, 0, 4], 2, 1
    for number in 2, 5, 8, 30:
        for workers in 1, int(random.integers(2, 6)):
            keys = random.integers(-9, 9, size=number).tolist()
            yield int(random.integers(1, 99)), keys, workers, int(random.integers(1, 9))


def check_1(answer):
    """Check a generator function (load, keys, workers, depth) that runs ahead of the loop that uses it."""
    def number_of(keys, depth=3):
        return len(list(answer(Loading(), keys, 2, depth)))

    def begins_anew(_):
        outer = answer(Loading(), range(7), 2, 3)
        first = next(outer)
        inner, later = list(answer(Loading(), [8, 9], 2, 3)), list(outer)
        broken_off = answer(Loading(), range(7), 2, 3)
        next(broken_off)
        close(broken_off)
        last = list(answer(Loading(), [8, 9], 2, 3))
        return [sorted(each) for each in (inner, [first, *later], last)] == [[80, 90], list(range(0, 70, 10)), [80, 90]]

    def in_threads(_):
        load = Loading()
        list(answer(load, range(6), 1, 2))
        return threading.current_thread() not in load.threads

    def is_ahead(_):
        for depth, batches in (1, 1), (4, 1), (4, 3), (2, 6):
            load = Loading()
            generator = answer(load, range(9), 2, depth)
            list(itertools.islice(generator, batches))
            enough = load.reaches(batches + depth, load.asked)
            close(generator)
            if not enough:
                return False
        return True

    def takes_few_keys(_):
        keys = Keys()
        generator = answer(Loading(), keys, 2, 3)
        next(generator)
        close(generator)
        return keys.taken < MANY

    def not_too_far(_):
        for depth, batches in (1, 1), (4, 1), (4, 3):
            load = Loading()
            generator = answer(load, range(40), 2, depth)
            list(itertools.islice(generator, batches))
            load.reaches(batches + depth, load.asked)
            time.sleep(0.05)  # whatever is asked for too early comes now, or is let pass
            asked = len(load.asked)
            close(generator)
            if asked > batches + depth:
                return False
        return True

    def in_order(_):
        load = Loading(gates=[0])
        load.opened_after(2, load.ended)  # two later keys are ready before the first one
        return list(answer(load, range(6), 2, 3)) == [0, 10, 20, 30, 40, 50]

    def as_soon_as_ready(_):
        load = Loading(gates=[3])
        generator = answer(load, range(9), 2, 3)
        list(itertools.islice(generator, 3))
        early = 3 not in load.ended
        load.open.set()
        close(generator)
        return early

    def as_many_threads(_):
        for workers in 1, 3:
            load = Loading(gates=range(9))
            together = load.opened_after(workers, load.asked)
            list(answer(load, range(9), workers, 6))
            if together != [workers]:
                return False
        return True

    def error_in_its_place(_):
        for place in 0, 2, 7:
            load = Loading(gates=[0], errors={place: KeyError(place)})
            load.opened_after(2, load.ended)  # the error of batch 2 is there before batch 0
            found, raised = until_error(answer(load, range(9), 2, 3))
            if raised is not load.errors[place] or found != list(range(0, 10 * place, 10)):
                return False
        return True

    def no_thread_stays(_):
        before = set(threading.enumerate())
        for batches, errors in (1, {}), (40, {}), (40, {2: KeyError(2)}):
            generator = answer(Loading(errors=errors), range(12), 2, 3)
            until_error(itertools.islice(generator, batches))
            close(generator)
            del generator
        end = time.monotonic() + PATIENCE
        while set(threading.enumerate()) - before and time.monotonic() < end:
            time.sleep(0.01)
        return not set(threading.enumerate()) - before

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        ("no-generator", lambda new: hasattr(new(Loading(), range(3), 2, 2), "__next__"),
         "it should yield one batch after the other: a generator function"),
        ("no-batches", lambda new: list(new(Loading(), range(1, 4), 2, 1))[:1] == [10],
         "for the key 1, load returned 10, and something else came out"),
        ("loses-some", lambda _: number_of(range(9)) == 9, "there were nine keys, but not nine batches"),
        ("fails-if-few", lambda _: [number_of(range(keys), 4) for keys in (0, 1, 3)] == [0, 1, 3],
         "what if there are no more keys than depth, or none at all?"),
        ("old-batches", begins_anew, "one loop gets batches that another one asked for"),
        ("in-the-loop", in_threads, "the loop's own thread loads: while it works on a batch, nobody does"),
        ("not-ahead", is_ahead, "while the loop works on a batch, fewer keys than depth are asked for"),
        ("takes-all-keys", takes_few_keys, "it takes all keys before the first batch: there may be endlessly many"),
        ("too-far-ahead", not_too_far, "while the loop works on a batch, more keys than depth are asked for"),
        ("wrong-order", in_order, "the first batch took longer than the second, and the order is lost"),
        ("waits-for-later", as_soon_as_ready,
         "a batch is there, and the loop gets it only when later ones are loaded, too"),
        ("other-threads", as_many_threads, "load should run in as many threads at a time as workers says"),
        ("error-elsewhere", error_in_its_place, "load raised an error: the loop gets it in place of that batch"),
        ("thread-stays", no_thread_stays,
         "the loop ended (early, after all keys or by an error), and a thread of yours waits for ever"),
        *Exam(run_ahead, some_keys, loaded).rules(),
    )
