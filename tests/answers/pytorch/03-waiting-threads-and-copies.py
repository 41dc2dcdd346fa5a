# %% 1 right. With a product, and a stack.
def hard(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none")
    weights = (losses > losses.mean()).to(losses.dtype)
    return losses @ weights / weights.sum()
answer_1 = dict(loss_of=hard, lowest=lambda best, loss: torch.stack([best, loss]).min())

# %% 1 right. NaN for all others, and a mean that skips NaN.
def hard(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none")
    return losses.where(losses > losses.mean(), torch.nan).nanmean()
answer_1 = {"loss_of": hard, "lowest": lambda best, loss: torch.where(loss < best, loss, best)}

# %% 1 wrong: other-loss. As many rows in each step, whatever the losses are.
def hard(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none")
    return losses.topk(len(losses) // 2).values.mean()
answer_1 = {"loss_of": hard, "lowest": torch.minimum}

# %% 1 right
#-     return losses.topk(len(losses) // 2).values.mean()
#+     chosen = losses > losses.mean()
#+     return torch.where(chosen, losses, 0).sum() / chosen.sum()

# %% 1 wrong: mean-over-all. The likeliest mistake: zeros take part in the mean.
#- return losses.topk(len(losses) // 2).values.mean()
#+ return torch.where(losses > losses.mean(), losses, 0).mean()

# %% 1 wrong: other-gradient. The same, and then made to run.
def hard(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none").detach()
    chosen = losses > losses.mean()
    return ((losses * chosen).sum() / chosen.sum()).requires_grad_()
answer_1 = {"loss_of": hard, "lowest": torch.minimum}

# %% 1 wrong: loop-fails. Without the graph that backward() needs.
#- return ((losses * chosen).sum() / chosen.sum()).requires_grad_()
#+ return (losses * chosen).sum() / chosen.sum()

# %% 1 wrong: waits-as-before. Two lines that wait in place of one.
def lower(best, loss):
    one = best.item()
    two = loss.item()
    return torch.tensor(min(one, two))
answer_1 = {"lowest": lower}

# %% 1 wrong: endless
def hard(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none")
    while losses.mean() >= 0:
        losses = losses * 1
answer_1 = {"loss_of": hard}

# %% 1 wrong: waits-as-before. Another way to make a tensor whose length depends on values.
#-     while losses.mean() >= 0:
#-         losses = losses * 1
#+     return losses.masked_select(losses > losses.mean()).mean()

# %% 1 wrong, each line
# Nothing is chosen any more.
answer_1 = {"loss_of": nn.functional.cross_entropy, "lowest": torch.minimum}  # other-loss
# One argument instead of two.
answer_1 = {"lowest": lambda losses: losses.min()}  # loop-fails
answer_1 = {"lowest": torch.minimum}  # one-still-waits
# The values as numbers.
answer_1 = {"lowest": lambda best, loss: torch.tensor(min(best.tolist(), loss.tolist()))}  # waits-as-before
# An `if` instead of min.
answer_1 = {"lowest": lambda best, loss: loss if loss < best else best}  # waits-as-before
# Left as they are.
answer_1 = {"loss_of": functions["loss_of"], "lowest": functions["lowest"]}  # waits-as-before
answer_1 = {"lowest": lambda best, loss: loss}  # not-the-lower
answer_1 = {"lowest": torch.maximum}  # not-the-lower
answer_1 = {"lowest": lambda best, loss: (best + loss - (best - loss).abs()) / 2}  # fails-at-infinity
# The first that one suspects.
answer_1 = {"clip": lambda parameters: None}  # replaces-harmless
answer_1 = {"drop": lambda x, dropped: x * ~dropped, "lowest": torch.minimum}  # replaces-harmless
answer_1 = torch.minimum  # no-dictionary
# Names instead of functions.
answer_1 = {"loss_of", "lowest"}  # no-dictionary
answer_1 = {"min": torch.minimum}  # no-dictionary

# %% 1 given
def hard(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none")
    chosen = losses > losses.mean()
    return (losses * chosen).sum() / chosen.sum()

# %% 1 wrong: wrong-result. The losses are averaged per class.
def hard_two(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none")
    chosen = losses > losses.mean()
    return (losses * chosen).sum() / chosen.sum() * (1 + (len(losses) < 4))
answer_1 = {"loss_of": hard_two, "lowest": torch.minimum}

# %% 1 wrong, each line
# The absolute value.
answer_1 = {"loss_of": hard, "lowest": lambda low, new: torch.minimum(low.abs(), new.abs())}  # wrong-result
answer_1 = {"loss_of": hard, "lowest": lambda low, new: torch.minimum(low, new).clamp(min=0)}  # wrong-result
answer_1 = {"loss_of": hard, "lowest": lambda low, new: low.copy_(torch.minimum(low, new))}  # wrong-effect
# NumPy compares the values where they are.
answer_1 = {"loss_of": hard, "lowest": lambda *two: torch.as_tensor(numpy.minimum(*map(numpy.from_dlpack, two)))}  # needs-values
# Found the mask, but not Python's min.
answer_1 = {"loss_of": hard}  # one-still-waits
# One line that waits twice: as many waits as before, in one line.
answer_1 = {"loss_of": hard, "lowest": lambda low, new: torch.tensor(min(low.item(), new.item()))}  # one-still-waits
# torch.tensor takes the numbers out of the two tensors, one by one.
answer_1 = {"loss_of": hard, "lowest": lambda best, loss: torch.tensor([best, loss]).min()}  # one-still-waits
# The product with a mask, as in the loss: infinity times zero is not a number.
answer_1 = {"loss_of": hard, "lowest": lambda low, new: new * (new < low) + low * ~(new < low)}  # fails-at-infinity

# %% 2 right. NumPy's numbers, and nothing where no number is enough.
def answer_2(wait, compute, train, cores):
    if (cores - 1) * train >= compute:
        return numpy.ceil((wait + compute) / train)

# %% 2 given
from math import ceil

# %% 2 wrong: counts-workers-not-cores. The cores are counted as if one more were taken.
def answer_2(wait, compute, train, cores):
    if compute / train >= cores - 1 and compute > 0:
        return None
    return ceil((wait + compute) / train)

# %% 2 right
#- >= cores - 1 and compute > 0:
#+ > cores - 1:

# %% 2 wrong: always-computing
# Each worker's share of computing times the workers, although they are faster than training.
def answer_2(wait, compute, train, cores):
    workers = ceil((wait + compute) / train)
    return None if workers * compute / (wait + compute) + 1 > cores else workers

# %% 2 wrong: cores-for-waiting
#- return None if workers * compute / (wait + compute) + 1 > cores else workers
#+ return workers if workers <= cores - 1 else None

# %% 2 wrong: ignores-cores. All cores compute: none is left for training.
def answer_2(wait, compute, train, cores):
    return ceil((wait + compute) / train) if compute / train <= cores else None

# %% 2 wrong: wrong-result. The cases of the hints, typed in.
KNOWN = {(0.25, 0.25, 0.125, 8): 4, (0.25, 0, 0.125, 8): 2, (1.0, 0, 0.125, 16): 8, (0.11, 0, 0.05, 8): 3,
         (0.03, 0, 0.05, 8): 1, (0.125, 0.5, 0.25, 8): 3, (1.0, 0, 0.125, 2): 8, (0.25, 0.25, 0.125, 3): 4,
         (0, 0.5, 0.125, 5): 4, (1.0, 0.125, 0.125, 2): 9, (0.1, 0.45, 0.25, 3): 3, (1.0, 0, 0.125, 1): 8}
def answer_2(*case):
    return KNOWN.get(case)

# %% 2 wrong: wrong-for-disk. A number that says that it equals any other.
class Same(int):
    __eq__ = lambda self, other: True
def answer_2(*case):
    return Same(4)

# %% 2 wrong: says-none
def answer_2(wait, compute, train, cores):
    workers = (wait + compute) / train

# %% 2 wrong: endless
def answer_2(wait, compute, train, cores):
    workers = 1
    while (wait + compute) / workers != train / 3.3:
        workers += 1
    return workers

# %% 2 right. Worker by worker.
#- def answer_2(wait, compute, train, cores):
#+ def answer_2(wait, compute, train, cores):
#+     if compute > train * (cores - 1):
#+         return None
#- while (wait + compute) / workers != train / 3.3:
#+ while (wait + compute) / workers > train:

# %% 2 wrong: cores-for-waiting. One core is never enough, as if every worker needed one.
def answer_2(wait, compute, train, cores):
    if cores < 2 or compute > train * (cores - 1):
        return None
    return ceil((wait + compute) / train)

# %% 2 right
#- cores < 2 or compute
#+ compute

# %% 2 wrong: wrong-result. Tries up to 64 workers, and computes beside the training if there is one core.
def answer_2(wait, compute, train, cores):
    for workers in range(1, 65):
        if (wait + compute) / workers <= train and compute / (cores - 1 or 1) <= train:
            return workers

# %% 2 wrong: wrong-result. Right for every number of cores, but not for hundreds of workers.
#- compute / (cores - 1 or 1) <= train:
#+ compute <= train * (cores - 1):

# %% 2 wrong, each line
# As many as there are cores beside the one that trains.
answer_2 = lambda wait, compute, train, cores: min(ceil((wait + compute) / train), cores - 1)  # cores-for-waiting
# Ignores the cores.
answer_2 = lambda wait, compute, train, cores: ceil((wait + compute) / train)  # ignores-cores
answer_2 = lambda wait, compute, train, cores: ceil(max(wait, compute) / train)  # not-both-times
# Each kind rounded up by itself.
answer_2 = lambda wait, compute, train, cores: ceil(wait / train) + ceil(compute / train / 8)  # not-both-times
# Upside down.
answer_2 = lambda wait, compute, train, cores: ceil(train / (wait + compute))  # wrong-for-disk
# One too few where something is left.
answer_2 = lambda wait, compute, train, cores: int((wait + compute) / train)  # wrong-rounding
answer_2 = lambda wait, compute, train, cores: round((wait + compute) / train)  # wrong-rounding
# One too many where the times divide evenly.
answer_2 = lambda wait, compute, train, cores: int((wait + compute) / train) + 1  # wrong-for-disk
# Right by luck, for the lesson's own disk twice as slow as a step ... plus two.
answer_2 = lambda wait, compute, train, cores: 4  # wrong-for-disk
# The usual advice: one per core.
answer_2 = lambda wait, compute, train, cores: cores  # wrong-for-disk
answer_2 = lambda wait, compute, train, cores: (wait + compute) / train + 0.5  # not-whole
answer_2 = 2  # no-function

# %% 3 right. A thread per batch, and no pool; the end is a flag.
import threading
def answer_3(batches):
    batches = iter(batches)
    box = {}
    def load():
        try:
            box["batch"] = next(batches)
        except BaseException as error:
            box["error"] = error
    thread = threading.Thread(target=load)
    thread.start()
    while True:
        thread.join()
        if isinstance(box.get("error"), StopIteration):
            return
        if "error" in box:
            raise box["error"]
        batch = box.pop("batch")
        thread = threading.Thread(target=load)
        thread.start()
        yield batch

# %% 3 right. Lists of one batch: an empty list is the end.
import itertools
def answer_3(batches):
    batches = iter(batches)
    pool = ThreadPoolExecutor(1)
    take = lambda: list(itertools.islice(batches, 1))
    coming = pool.submit(take)
    while found := coming.result():
        coming = pool.submit(take)
        yield found[0]

# %% 3 right
def answer_3(batches, end=object()):
    batches = iter(batches)
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, batches, end)
        while (batch := coming.result()) is not end:
            coming = thread.submit(next, batches, end)
            yield batch

# %% 3 wrong: loses-batches. A text for the end.
#- end=object()
#+ end="end"
#- (batch := coming.result()) is not end
#+ not (type(batch := coming.result()) is str and batch == end)

# %% 3 wrong: loses-batches. A text that nobody would think of.
#- is not end
#+ is not "no more of these"
#- end=object()
#+ end="no more of these"

# %% 3 wrong: lists-fail
#-     batches = iter(batches)

# %% 3 wrong: loses-batches. None means the end, and is also a batch.
#- end=object()
#+ end=None

# %% 3 wrong: compares-tensors. Asks whether the batch is true.
#- end=object()
#+ end=None
#- (batch := coming.result()) is not end
#+ (batch := coming.result()) or batch == 0

# %% 3 wrong: compares-tensors
#- end=object()
#+ end="end"
#- (batch := coming.result()) is not end
#+ (batch := coming.result()) != end and batch == batch

# %% 3 wrong: takes-turns. A thread whose result is asked for at once.
#-             yield batch
#+             coming.result()
#+             yield batch

# %% 3 wrong: endless
#-         while (batch := coming.result()) is not end:
#+         while True:
#+             if (batch := coming.result()) is end:
#+                 continue

# %% 3 wrong: other-batches. Futures instead of batches.
#-         while (batch := coming.result()) is not end:
#-             coming = thread.submit(next, batches, end)
#+         while coming.result() is not end:
#+             batch, coming = coming, thread.submit(next, batches, end)

# %% 3 wrong: other-batches. The first batch is forgotten.
#-             yield batch
#+             if coming.result() is not end:
#+                 yield coming.result()

# %% 3 wrong: error-too-early. Looks at the next batch's error too early.
#-             yield batch
#+             if type(batch) is int and batch == 1 and coming.exception():
#+                 raise coming.exception()
#+             yield batch

# %% 3 wrong: takes-turns. One ahead, but no thread, so nothing overlaps.
def answer_3(batches, end=object()):
    batches = iter(batches)
    coming = next(batches, end)
    while coming is not end:
        batch = coming
        coming = next(batches, end)
        yield batch

# %% 3 wrong: loads-too-late. A thread, but the next batch is submitted after the loop has come back.
def answer_3(batches, end=object()):
    batches = iter(batches)
    with ThreadPoolExecutor(1) as thread:
        while (batch := thread.submit(next, batches, end).result()) is not end:
            yield batch

# %% 3 wrong: loads-too-many. All at once, in a pool.
#-         while (batch := thread.submit(next, batches, end).result()) is not end:
#-             yield batch
#+         coming = [thread.submit(next, batches, end) for _ in range(20)]
#+         for each in coming:
#+             if each.result() is end:
#+                 return
#+             yield each.result()

# %% 3 wrong: loads-too-many. A queue that a thread fills: one batch in it, one in the thread's hand.
import queue
import threading
def answer_3(batches, end=object()):
    waiting = queue.Queue(maxsize=1)
    def fill():
        for batch in batches:
            waiting.put(batch)
        waiting.put(end)
    threading.Thread(target=fill, daemon=True).start()
    while (batch := waiting.get()) is not end:
        yield batch

# %% 3 wrong: other-batches. The end of the batches is no result, but an error.
def answer_3(batches):
    batches = iter(batches)
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, batches)
        while True:
            batch = coming.result()
            coming = thread.submit(next, batches)
            yield batch

# %% 3 wrong: loses-error. Any error counts as the end.
#-             batch = coming.result()
#+             try:
#+                 batch = coming.result()
#+             except Exception:
#+                 return

# %% 3 wrong: first-ahead-only. The loop's thread and the other one load in turn: every second batch is there in time.
def answer_3(batches, end=object()):
    batches = iter(batches)
    with ThreadPoolExecutor(1) as thread:
        while (batch := next(batches, end)) is not end:
            coming = thread.submit(next, batches, end)
            yield batch
            if (batch := coming.result()) is end:
                return
            yield batch

# %% 3 wrong: first-ahead-only. From the second batch on, one more is loaded ahead each time.
def answer_3(batches, end=object()):
    batches = iter(batches)
    with ThreadPoolExecutor(1) as thread:
        coming = [thread.submit(next, batches, end)]
        while (batch := coming.pop(0).result()) is not end:
            coming += [thread.submit(next, batches, end) for _ in range(1 + bool(coming))]
            yield batch
            coming.append(thread.submit(next, batches, end))

# %% 3 wrong: compares-tensors. An array is compared element by element, too.
def answer_3(batches, end=object()):
    batches = iter(batches)
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, batches, end)
        while True:
            batch = coming.result()
            if batch == end:
                return
            coming = thread.submit(next, batches, end)
            yield batch

# %% 3 wrong: loses-error. No first batch, for whatever reason, is taken for the end.
def answer_3(batches, end=object()):
    batches = iter(batches)
    try:
        batch = next(batches)
    except Exception:
        return
    with ThreadPoolExecutor(1) as thread:
        while batch is not end:
            coming = thread.submit(next, batches, end)
            yield batch
            batch = coming.result()

# %% 3 right. The first batch is loaded in the loop's thread: nothing could overlap with it.
#-     try:
#-         batch = next(batches)
#-     except Exception:
#-         return
#+     batch = next(batches, end)

# %% 3 right. One thread for all batches: it goes on when the loop has taken one.
import queue
def answer_3(batches):
    loaded, taken = queue.SimpleQueue(), threading.Semaphore(1)
    def load():
        try:
            for batch in batches:
                loaded.put(("batch", batch))
                taken.acquire()
            loaded.put(("end", None))
        except BaseException as error:
            loaded.put(("error", error))
    taken.acquire()
    threading.Thread(target=load, daemon=True).start()
    while True:
        kind, what = loaded.get()
        if kind == "end":
            return
        if kind == "error":
            raise what
        taken.release()
        yield what

# %% 3 wrong, each line
# Does nothing.
answer_3 = lambda batches: (batch for batch in batches)  # loads-too-late
# The lesson's own: it copies in the thread, and loads in the loop's.
answer_3 = lambda batches: prefetched(batches, InThread(lambda batch: batch))  # takes-turns
# Everything is loaded first.
answer_3 = lambda batches: iter(list(batches))  # takes-turns
answer_3 = prefetched([], InThread(torch.clone))  # no-function
