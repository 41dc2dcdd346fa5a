# %% 1 right
def hard(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none")
    chosen = losses > losses.mean()
    return torch.where(chosen, losses, 0).sum() / chosen.sum()
answer_1 = {"loss_of": hard, "lowest": torch.minimum}

# %% 1 right
# With a product, and a stack.
def hard(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none")
    weights = (losses > losses.mean()).to(losses.dtype)
    return losses @ weights / weights.sum()
answer_1 = dict(loss_of=hard, lowest=lambda best, loss: torch.stack([best, loss]).min())

# %% 1 right
# NaN for all others, and a mean that skips NaN.
def hard(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none")
    return losses.where(losses > losses.mean(), torch.nan).nanmean()
answer_1 = {"loss_of": hard, "lowest": lambda best, loss: torch.where(loss < best, loss, best)}

# %% 1 wrong: divided by the number of all rows
# The likeliest mistake: zeros take part in the mean.
def hard(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none")
    return torch.where(losses > losses.mean(), losses, 0).mean()
answer_1 = {"loss_of": hard, "lowest": torch.minimum}

# %% 1 wrong: over no others
# Nothing is chosen any more.
answer_1 = {"loss_of": nn.functional.cross_entropy, "lowest": torch.minimum}

# %% 1 wrong: over no others
# As many rows in each step, whatever the losses are.
def hard(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none")
    return losses.topk(len(losses) // 2).values.mean()
answer_1 = {"loss_of": hard, "lowest": torch.minimum}

# %% 1 wrong: has to run with your functions
# Without the graph that backward() needs.
def hard(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none").detach()
    chosen = losses > losses.mean()
    return (losses * chosen).sum() / chosen.sum()
answer_1 = {"loss_of": hard, "lowest": torch.minimum}

# %% 1 wrong: has to run with your functions
# One argument instead of two.
answer_1 = {"lowest": lambda losses: losses.min()}

# %% 1 wrong: its gradient is not
# The same, and then made to run.
def hard(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none").detach()
    chosen = losses > losses.mean()
    return ((losses * chosen).sum() / chosen.sum()).requires_grad_()
answer_1 = {"loss_of": hard, "lowest": torch.minimum}

# %% 1 wrong: one still does
# Found the mask, but not Python's min.
def hard(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none")
    chosen = losses > losses.mean()
    return (losses * chosen).sum() / chosen.sum()
answer_1 = {"loss_of": hard}

# %% 1 wrong: one still does
answer_1 = {"lowest": torch.minimum}

# %% 1 wrong: as many lines wait
# Another way to make a tensor whose length depends on values.
def hard(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none")
    return losses.masked_select(losses > losses.mean()).mean()
answer_1 = {"loss_of": hard}

# %% 1 wrong: as many lines wait
# An `if` instead of min.
def lower(best, loss):
    if loss < best:
        return loss
    return best
answer_1 = {"lowest": lower}

# %% 1 wrong: as many lines wait
# The values as numbers.
answer_1 = {"lowest": lambda best, loss: torch.tensor(min(best.tolist(), loss.tolist()))}

# %% 1 wrong: one still does
# torch.tensor takes the numbers out of the two tensors, one by one.
def hard(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none")
    chosen = losses > losses.mean()
    return (losses * chosen).sum() / chosen.sum()
answer_1 = {"loss_of": hard, "lowest": lambda best, loss: torch.tensor([best, loss]).min()}

# %% 1 wrong: the lower one
answer_1 = {"lowest": lambda best, loss: loss}

# %% 1 wrong: the lower one
answer_1 = {"lowest": torch.maximum}

# %% 1 wrong: begins with infinity
# The product with a mask, as in the loss: infinity times zero is not a number.
def hard(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none")
    chosen = losses > losses.mean()
    return (losses * chosen).sum() / chosen.sum()
answer_1 = {"loss_of": hard, "lowest": lambda best, loss: loss * (loss < best) + best * ~(loss < best)}

# %% 1 wrong: begins with infinity
answer_1 = {"lowest": lambda best, loss: (best + loss - (best - loss).abs()) / 2}

# %% 1 wrong: one still does
# One line that waits twice: as many waits as before, in one line.
def hard(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none")
    chosen = losses > losses.mean()
    return (losses * chosen).sum() / chosen.sum()
answer_1 = {"loss_of": hard, "lowest": lambda best, loss: torch.tensor(min(best.item(), loss.item()))}

# %% 1 wrong: as many lines wait as before, or more
# Two lines that wait in place of one.
def lower(best, loss):
    one = best.item()
    two = loss.item()
    return torch.tensor(min(one, two))
answer_1 = {"lowest": lower}

# %% 1 wrong: never made Python wait
# The first that one suspects.
answer_1 = {"clip": lambda parameters: None}

# %% 1 wrong: never made Python wait
answer_1 = {"drop": lambda x, dropped: x * ~dropped, "lowest": torch.minimum}

# %% 1 wrong: as many lines wait
# Left as they are.
answer_1 = {"loss_of": functions["loss_of"], "lowest": functions["lowest"]}

# %% 1 wrong: give a dictionary
answer_1 = torch.minimum

# %% 1 wrong: give a dictionary
# Names instead of functions.
answer_1 = {"loss_of", "lowest"}

# %% 1 wrong: give a dictionary
answer_1 = {"min": torch.minimum}

# %% 1 wrong: still running
def hard(scores, labels):
    losses = nn.functional.cross_entropy(scores, labels, reduction="none")
    while losses.mean() >= 0:
        losses = losses * 1
answer_1 = {"loss_of": hard}

# %% 2 right
import math
def answer_2(wait, compute, train, cores):
    if compute / train > cores - 1:
        return None
    return math.ceil((wait + compute) / train)

# %% 2 right
# NumPy's numbers, and nothing where no number is enough.
def answer_2(wait, compute, train, cores):
    if (cores - 1) * train >= compute:
        return numpy.ceil((wait + compute) / train)

# %% 2 right
# Worker by worker.
def answer_2(wait, compute, train, cores):
    if compute > train * (cores - 1):
        return None
    workers = 1
    while (wait + compute) / workers > train:
        workers += 1
    return workers

# %% 2 wrong: needs no core
# As many as there are cores beside the one that trains.
import math
answer_2 = lambda wait, compute, train, cores: min(math.ceil((wait + compute) / train), cores - 1)

# %% 2 wrong: needs no core
import math
def answer_2(wait, compute, train, cores):
    workers = math.ceil((wait + compute) / train)
    return workers if workers <= cores - 1 else None

# %% 2 wrong: keep two cores busy
# Ignores the cores.
import math
answer_2 = lambda wait, compute, train, cores: math.ceil((wait + compute) / train)

# %% 2 wrong: takes time for both
import math
answer_2 = lambda wait, compute, train, cores: math.ceil(max(wait, compute) / train)

# %% 2 wrong: takes time for both
# Each kind rounded up by itself.
import math
answer_2 = lambda wait, compute, train, cores: math.ceil(wait / train) + math.ceil(compute / train / 8)

# %% 2 wrong: divide evenly
# One too few where something is left.
answer_2 = lambda wait, compute, train, cores: int((wait + compute) / train)

# %% 2 wrong: divide evenly
answer_2 = lambda wait, compute, train, cores: round((wait + compute) / train)

# %% 2 wrong: a disk alone
# One too many where the times divide evenly.
answer_2 = lambda wait, compute, train, cores: int((wait + compute) / train) + 1

# %% 2 wrong: a disk alone
# Upside down.
import math
answer_2 = lambda wait, compute, train, cores: math.ceil(train / (wait + compute))

# %% 2 wrong: a disk alone
# Right by luck, for the lesson's own disk twice as slow as a step ... plus two.
answer_2 = lambda wait, compute, train, cores: 4

# %% 2 wrong: a disk alone
# The usual advice: one per core.
answer_2 = lambda wait, compute, train, cores: cores

# %% 2 wrong: just are enough
# The cores are counted as if one more were taken.
import math
def answer_2(wait, compute, train, cores):
    if compute / train >= cores - 1 and compute > 0:
        return None
    return math.ceil((wait + compute) / train)

# %% 2 wrong: do not compute all the time
# Each worker's share of computing times the workers, although they are faster than training.
import math
def answer_2(wait, compute, train, cores):
    workers = math.ceil((wait + compute) / train)
    return None if workers * compute / (wait + compute) + 1 > cores else workers

# %% 2 wrong: keep two cores busy
# All cores compute: none is left for training.
import math
def answer_2(wait, compute, train, cores):
    return math.ceil((wait + compute) / train) if compute / train <= cores else None

# %% 2 wrong: a whole number
answer_2 = lambda wait, compute, train, cores: (wait + compute) / train + 0.5

# %% 2 wrong: says None
def answer_2(wait, compute, train, cores):
    workers = (wait + compute) / train

# %% 2 wrong: not its result
answer_2 = 2

# %% 2 wrong: still running
def answer_2(wait, compute, train, cores):
    workers = 1
    while (wait + compute) / workers != train / 3.3:
        workers += 1
    return workers

# %% 3 right
END = object()
def answer_3(batches):
    batches = iter(batches)
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, batches, END)
        while True:
            batch = coming.result()
            if batch is END:
                return
            coming = thread.submit(next, batches, END)
            yield batch

# %% 3 right
# A thread per batch, and no pool; the end is a flag.
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

# %% 3 right
# Lists of one batch: an empty list is the end.
import itertools
def answer_3(batches):
    batches = iter(batches)
    pool = ThreadPoolExecutor(1)
    take = lambda: list(itertools.islice(batches, 1))
    coming = pool.submit(take)
    while found := coming.result():
        coming = pool.submit(take)
        yield found[0]

# %% 3 wrong: some of these batches were lost
# None means the end, and is also a batch.
def answer_3(batches):
    batches = iter(batches)
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = thread.submit(next, batches, None)
            yield batch

# %% 3 wrong: tensors, which ==
def answer_3(batches):
    batches = iter(batches)
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, batches, "end")
        while True:
            batch = coming.result()
            if batch == "end" or batch != batch:
                return
            coming = thread.submit(next, batches, "end")
            yield batch

# %% 3 wrong: tensors, which ==
# Asks whether the batch is true.
def answer_3(batches):
    batches = iter(batches)
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, batches, None)
        while True:
            batch = coming.result()
            if not batch and batch != 0:
                return
            coming = thread.submit(next, batches, None)
            yield batch

# %% 3 wrong: only after the second had been loaded
# One ahead, but no thread, so nothing overlaps.
END = object()
def answer_3(batches):
    batches = iter(batches)
    coming = next(batches, END)
    while coming is not END:
        batch = coming
        coming = next(batches, END)
        yield batch

# %% 3 wrong: only after the second had been loaded
# The lesson's own: it copies in the thread, and loads in the loop's.
def answer_3(batches):
    return prefetched(batches, InThread(lambda batch: batch))

# %% 3 wrong: only after the second had been loaded
# A thread whose result is asked for at once.
END = object()
def answer_3(batches):
    batches = iter(batches)
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, batches, END)
        while coming.result() is not END:
            batch = coming.result()
            coming = thread.submit(next, batches, END)
            coming.result()
            yield batch

# %% 3 wrong: only after the second had been loaded
# Everything is loaded first.
answer_3 = lambda batches: iter(list(batches))

# %% 3 wrong: nobody has begun to load the second
# Does nothing.
def answer_3(batches):
    yield from batches

# %% 3 wrong: nobody has begun to load the second
# A thread, but the next batch is submitted after the loop has come back.
END = object()
def answer_3(batches):
    batches = iter(batches)
    with ThreadPoolExecutor(1) as thread:
        while (batch := thread.submit(next, batches, END).result()) is not END:
            yield batch

# %% 3 wrong: more than the second
# A queue that a thread fills: one batch in it, one in the thread's hand.
import queue
import threading
END = object()
def answer_3(batches):
    waiting = queue.Queue(maxsize=1)
    def fill():
        for batch in batches:
            waiting.put(batch)
        waiting.put(END)
    threading.Thread(target=fill, daemon=True).start()
    while (batch := waiting.get()) is not END:
        yield batch

# %% 3 wrong: more than the second
# All at once, in a pool.
END = object()
def answer_3(batches):
    batches = iter(batches)
    with ThreadPoolExecutor(1) as thread:
        coming = [thread.submit(next, batches, END) for _ in range(20)]
        for each in coming:
            if each.result() is END:
                return
            yield each.result()

# %% 3 wrong: in order, each once
# The first batch is forgotten.
END = object()
def answer_3(batches):
    batches = iter(batches)
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, batches, END)
        while coming.result() is not END:
            coming = thread.submit(next, batches, END)
            if coming.result() is not END:
                yield coming.result()

# %% 3 wrong: in order, each once
# Futures instead of batches.
END = object()
def answer_3(batches):
    batches = iter(batches)
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, batches, END)
        while coming.result() is not END:
            now, coming = coming, thread.submit(next, batches, END)
            yield now

# %% 3 wrong: in order, each once
# The end of the batches is no result, but an error.
def answer_3(batches):
    batches = iter(batches)
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, batches)
        while True:
            batch = coming.result()
            coming = thread.submit(next, batches)
            yield batch

# %% 3 wrong: may be a list
END = object()
def answer_3(batches):
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, batches, END)
        while True:
            batch = coming.result()
            if batch is END:
                return
            coming = thread.submit(next, batches, END)
            yield batch

# %% 3 wrong: an error in loading
# Any error counts as the end.
def answer_3(batches):
    batches = iter(batches)
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(lambda: (next(batches),))
        while True:
            try:
                [batch] = coming.result()
            except Exception:
                return
            coming = thread.submit(lambda: (next(batches),))
            yield batch

# %% 3 wrong: before an error should arrive
# Looks at the next batch's error too early.
END = object()
def answer_3(batches):
    batches = iter(batches)
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, batches, END)
        while True:
            batch = coming.result()
            if batch is END:
                return
            coming = thread.submit(next, batches, END)
            if type(batch) is int and batch == 1 and coming.exception():
                raise coming.exception()
            yield batch

# %% 3 wrong: itself, without calling
answer_3 = prefetched([], InThread(torch.clone))

# %% 3 wrong: still running
END = object()
def answer_3(batches):
    batches = iter(batches)
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, batches, END)
        while True:
            batch = coming.result()
            if batch is not END:
                coming = thread.submit(next, batches, END)
                yield batch
