# %% 1 given
import itertools
import queue
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from multiprocessing.pool import ThreadPool

# %% 1 right. The first ones at once; then one more for each that is taken.
def answer_1(load, keys, workers, depth):
    keys = iter(keys)
    with ThreadPoolExecutor(workers) as pool:
        waiting = [pool.submit(load, key) for key in itertools.islice(keys, depth + 1)]
        while waiting:
            oldest = waiting.pop(0)
            yield oldest.result()
            for key in itertools.islice(keys, 1):
                waiting.append(pool.submit(load, key))

# %% 1 wrong: not-ahead. One too few: the batch that the loop has is counted.
#- waiting = [pool.submit(load, key) for key in itertools.islice(keys, depth + 1)]
#+ waiting = [pool.submit(load, key) for key in itertools.islice(keys, depth)]

# %% 1 wrong: takes-all-keys
#- keys = iter(keys)
#+ keys = iter(list(keys))

# %% 1 wrong: loses-some. Nothing more is asked for.
#- for key in itertools.islice(keys, 1):
#+ for key in itertools.islice(keys, 0):

# %% 1 wrong: too-far-ahead. Two for each that is taken.
#- for key in itertools.islice(keys, 1):
#+ for key in itertools.islice(keys, 2):

# %% 1 wrong: no-batches. The futures, not what they stand for.
#- yield oldest.result()
#+ yield oldest

# %% 1 wrong: no-batches. The newest one first.
#- oldest = waiting.pop(0)
#+ oldest = waiting.pop()

# %% 1 wrong: wrong-order. Whichever is ready first.
#- oldest = waiting.pop(0)
#+ oldest = next(as_completed(waiting))
#+             waiting.remove(oldest)

# %% 1 wrong: other-threads. As many threads as the pool likes.
#- with ThreadPoolExecutor(workers) as pool:
#+ with ThreadPoolExecutor() as pool:

# %% 1 wrong: other-threads. A thread for each batch.
#- with ThreadPoolExecutor(workers) as pool:
#+ with ThreadPoolExecutor(depth + 1) as pool:

# %% 1 wrong: other-threads
#- with ThreadPoolExecutor(workers) as pool:
#+ with ThreadPoolExecutor(1) as pool:

# %% 1 wrong: error-elsewhere. An error is left out.
#- yield oldest.result()
#+ if not oldest.exception():
#+                 yield oldest.result()

# %% 1 wrong: error-elsewhere. An error is yielded.
#- yield oldest.result()
#+ yield oldest.exception() or oldest.result()

# %% 1 wrong: old-batches. One list for all loops: what a loop leaves, the next one gets.
#- def answer_1(load, keys, workers, depth):
#+ def answer_1(load, keys, workers, depth, waiting=[]):
#- waiting = [pool.submit(load, key) for key in itertools.islice(keys, depth + 1)]
#+ waiting += [pool.submit(load, key) for key in itertools.islice(keys, depth + 1)]

# %% 1 wrong: wrong-result. What was loaded once is not loaded again.
#- keys = iter(keys)
#+ keys = iter(keys)
#+     kept = {}
#- waiting.append(pool.submit(load, key))
#+ if key not in kept:
#+                     kept[key] = pool.submit(load, key)
#+                 waiting.append(kept[key])

# %% 1 wrong: not-ahead. Right for the first batch; then more are asked for only when all are taken.
#- for key in itertools.islice(keys, 1):
#+ for key in itertools.islice(keys, 0 if waiting else depth + 1):

# %% 1 wrong: waits-for-later. In order, but only when all that are asked for are loaded.
#- yield oldest.result()
#+ wait([oldest, *waiting])
#+             yield oldest.result()

# %% 1 wrong: error-elsewhere. An error is left out, except among the last batches.
#- yield oldest.result()
#+ if len(waiting) < depth or not oldest.exception():
#+                 yield oldest.result()

# %% 1 wrong: error-elsewhere. An error is raised as soon as it is there, before the batches that are earlier.
#- oldest = waiting.pop(0)
#+ for each in waiting:
#+                 if each.done():
#+                     each.result()
#+             oldest = waiting.pop(0)

# %% 1 wrong: error-elsewhere. Another error.
#- yield oldest.result()
#+ if oldest.exception():
#+                 raise KeyError("could not load")
#+             yield oldest.result()

# %% 1 wrong: thread-stays. The threads stay for as long as somebody holds the error.
#- with ThreadPoolExecutor(workers) as pool:
#+ pool = ThreadPoolExecutor(workers)
#+     if pool:

# %% 1 wrong: wrong-result. None is a batch, too.
#- yield oldest.result()
#+ if oldest.result() is not None:
#+                 yield oldest.result()

# %% 1 wrong: old-batches. One list for all loops, emptied: a loop within another one takes its batches away.
#- def answer_1(load, keys, workers, depth):
#+ def answer_1(load, keys, workers, depth, waiting=[]):
#- waiting = [pool.submit(load, key) for key in itertools.islice(keys, depth + 1)]
#+ waiting[:] = [pool.submit(load, key) for key in itertools.islice(keys, depth + 1)]

# %% 1 right. A pool of multiprocessing, whose threads are ended by hand.
def answer_1(load, keys, workers, depth):
    pool = ThreadPool(workers)
    waiting = deque()
    try:
        for key in keys:
            waiting.append(pool.apply_async(load, (key,)))
            if len(waiting) > depth:
                yield waiting.popleft().get()
        while waiting:
            yield waiting.popleft().get()
    finally:
        pool.terminate()

# %% 1 wrong: loses-some. What is still waiting at the end is lost.
#- while waiting:
#-             yield waiting.popleft().get()
#+ pass

# %% 1 wrong: too-far-ahead
#- if len(waiting) > depth:
#+ if len(waiting) > depth + 1:

# %% 1 wrong: not-ahead. No more than there are workers.
#- if len(waiting) > depth:
#+ if len(waiting) > min(workers, depth):

# %% 1 wrong: too-far-ahead. At least as many as there are workers.
#- if len(waiting) > depth:
#+ if len(waiting) > max(workers, depth):

# %% 1 wrong: no-generator. A list of all batches.
def answer_1(load, keys, workers, depth):
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(load, keys))

# %% 1 wrong: takes-all-keys. All at once.
def answer_1(load, keys, workers, depth):
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(load, keys)

# %% 1 wrong: in-the-loop. The lazy one.
def answer_1(load, keys, workers, depth):
    for key in keys:
        yield load(key)

# %% 1 wrong: not-ahead. A thread loads, and the loop waits for it.
def answer_1(load, keys, workers, depth):
    with ThreadPoolExecutor(workers) as pool:
        for key in keys:
            yield pool.submit(load, key).result()

# %% 1 wrong: no-batches
def answer_1(load, keys, workers, depth):
    yield from keys

# %% 1 wrong: wrong-order. Group after group, each in the order in which it is ready.
def answer_1(load, keys, workers, depth):
    keys = iter(keys)
    with ThreadPoolExecutor(workers) as pool:
        waiting = {pool.submit(load, key) for key in itertools.islice(keys, depth + 1)}
        while waiting:
            done = next(as_completed(waiting))
            waiting.remove(done)
            yield done.result()
            waiting |= {pool.submit(load, key) for key in itertools.islice(keys, 1)}

# %% 1 right. A thread that feeds, until it is told to end.
def answer_1(load, keys, workers, depth):
    room = threading.Semaphore(depth + 1)
    futures = queue.Queue()
    ended = threading.Event()

    def feed():
        with ThreadPoolExecutor(workers) as pool:
            for key in keys:
                room.acquire()
                if ended.is_set():
                    return
                futures.put(pool.submit(load, key))
            futures.put(None)

    threading.Thread(target=feed).start()
    try:
        while future := futures.get():
            yield future.result()
            room.release()
    finally:
        ended.set()
        room.release()

# %% 1 wrong: thread-stays. If the loop breaks off, the thread that feeds waits for room for ever.
#- threading.Thread(target=feed).start()
#+ threading.Thread(target=feed, daemon=True).start()
#- ended.set()
#-         room.release()
#+ pass

# %% 1 wrong: too-far-ahead. Room for as many again.
#- room = threading.Semaphore(depth + 1)
#+ room = threading.Semaphore(2 * depth + 1)

# %% 1 wrong: thread-stays. Told to end if the loop breaks off, but not if there is an error.
#- threading.Thread(target=feed).start()
#+ threading.Thread(target=feed, daemon=True).start()
#- finally:
#+ except GeneratorExit:

# %% 1 right. A thread for each key, of which as many as workers are at work.
def answer_1(load, keys, workers, depth):
    room = threading.Semaphore(workers)

    def begin(key):
        def work():
            with room:
                try:
                    ready.put((load(key), None))
                except Exception as error:
                    ready.put((None, error))

        ready = queue.SimpleQueue()
        thread = threading.Thread(target=work)
        thread.start()
        return thread, ready

    def end(thread, ready):
        thread.join()
        batch, error = ready.get()
        if error:
            raise error
        return batch

    waiting = deque()
    try:
        for key in keys:
            waiting.append(begin(key))
            if len(waiting) > depth:
                yield end(*waiting.popleft())
        while waiting:
            yield end(*waiting.popleft())
    finally:
        for thread, _ in waiting:
            thread.join()

# %% 1 wrong: other-threads. All of them at work.
#- room = threading.Semaphore(workers)
#+ room = threading.Semaphore(depth + 1)

# %% 1 right. A batch is waited for before one more is asked for.
def answer_1(load, keys, workers, depth):
    keys = iter(keys)
    with ThreadPoolExecutor(workers) as pool:
        waiting = deque(pool.submit(load, key) for key in itertools.islice(keys, depth))
        while waiting:
            batch = waiting.popleft().result()
            waiting.extend(pool.submit(load, key) for key in itertools.islice(keys, 1))
            yield batch

# %% 1 wrong: fails-if-few. As many keys as fit, whether there are so many or not.
#- waiting = deque(pool.submit(load, key) for key in itertools.islice(keys, depth))
#+ waiting = deque([pool.submit(load, next(keys)) for _ in range(depth)])

# %% 1 wrong, each line
answer_1 = iter(range(3))  # no-function
