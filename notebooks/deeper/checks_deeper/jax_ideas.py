"""Check the answer to the exercise of the notebook The same ideas in JAX."""
import numpy as np

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import Broken, check


def softmax(rows):
    """Return the softmax of each column."""
    raised = np.exp(rows - rows.max(axis=0))
    return raised / raised.sum(axis=0)


class Step:
    """A step that keeps what it is called with, and computes the softmax of each column over the rows that count."""

    def __init__(self):
        self.blocks = []
        self.counts = []
        self.kinds = []  # the type of each count, which is part of what JAX stores a program under

    def __call__(self, block, count):
        """Return as many rows as the block has; those that do not count are zero."""
        self.blocks.append(np.array(block))
        self.counts.append(int(count))
        self.kinds.append((type(count).__name__, str(getattr(count, "dtype", ""))))
        result = np.zeros_like(self.blocks[-1])
        result[:self.counts[-1]] = softmax(self.blocks[-1][:self.counts[-1]])
        return result


def room(length):
    """Return the smallest power of two that is not less than a length."""
    return 1 << (length - 1).bit_length()


def requests(random):
    """Yield requests: of one row, of lengths at and beside powers of two, and of many rows, in two types."""
    for length in 1, 2, 3, 4, 5, 8, 9, int(random.integers(17, 500)), 512, 513, 1000:
        for kind in np.float32, np.float64:
            yield (random.normal(size=(length, int(random.integers(1, 4)))).astype(kind),)


def use(function, rows):
    """Return what `function` makes of `rows` with a new step, and the type of the block that the step got."""
    step = Step()
    result = np.asarray(function(step, rows))
    return result, [str(block.dtype) for block in step.blocks], [block.shape for block in step.blocks]


def few(step, rows):
    """Return what a step computes for rows, by one call with a block that has room for them."""
    block = np.zeros((room(len(rows)), rows.shape[1]), rows.dtype)
    block[:len(rows)] = rows
    return step(block, len(rows))[:len(rows)]


LENGTHS = [1, 3, 4, 5, 8, 13, 100, 600]


def check_1(answer):
    """Check a function (step, rows) that returns what the step gives for the rows, whose block is a power of two."""
    tried = []
    kinds = set()

    def every(obeys):
        """Return whether all calls of the answer obey a rule (length, block, count, result)."""
        if not tried:
            for length in LENGTHS:
                step = Step()
                result = np.asarray(answer(step, np.arange(2.0 * length, dtype=np.float32).reshape(length, 2) / length))
                if len(step.blocks) != 1:
                    raise Broken("calls", "step must be called once for a request, with all of its rows")
                kinds.add(*step.kinds)
                tried.append((length, step.blocks[0], step.counts[0], result))
        return all(obeys(*each) for each in tried)

    return check(
        answer,
        ("no-function", callable, "give a function (step, rows): its name alone, without parentheses"),
        ("calls", lambda _: every(lambda *_: True), "the block has two axes: its rows, and the columns of rows"),
        ("too-small", lambda _: every(lambda length, block, *_: len(block) >= length),
         "rows are lost: the block is too small"),
        ("no-power", lambda _: every(lambda _, block, *__: len(block) == room(len(block))),
         "there are nearly as many programs as lengths: which numbers of rows may a block have?"),
        ("too-large", lambda _: every(lambda length, block, *_: len(block) == room(length)),
         "a smaller power of two has room for these rows, too: try 1, 4 and 5 rows"),
        ("other-type", lambda _: every(lambda _, block, *__: block.dtype == np.float32),
         "the block has another type than rows, so step is traced once more"),
        ("wrong-count", lambda _: every(lambda length, _, count, __: count == length),
         "step takes rows into account that nobody has sent: what is count?"),
        ("other-counts", lambda _: len(kinds) == 1,
         "count is of one type for some requests and of another for others, so step is traced for both"),
        ("not-cut", lambda _: every(lambda length, _, __, result: len(result) == length),
         "the result has another number of rows than the request"),
        *Exam(few, requests, use).rules(),
    )
