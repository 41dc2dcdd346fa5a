"""Check the answer to the exercise of the notebook A thousand machines."""
from collections import defaultdict

import numpy

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check
from d2lhelpers.messages import say


def sums_alone(grid, arrays):
    """Give each GPU the sum of all arrays, and find no fault."""
    arrays[:] = arrays.sum(axis=0)
    return []


def sums_and_faults(plan, grid, arrays):
    """Do the same by a plan, and return what is wrong with the messages that it sends, in words."""
    if plan is sums_alone:
        return plan(grid, arrays)
    sent = defaultdict(list)
    plan(grid, arrays, sent)
    place = {gpu: (row, column) for (row, column), gpu in numpy.ndenumerate(grid)}
    along_rows, along_columns, by = 0, 0, defaultdict(int)
    faults = set()
    for (sender, receiver), sizes in sent.items():
        by[sender] += sum(sizes)
        (row, column), (other_row, other_column) = place[sender], place[receiver]
        along_rows += sum(sizes) * (row == other_row)
        along_columns += sum(sizes) * (column == other_column)
        if row != other_row and column != other_column:
            faults.add(say("a message to another row and another column"))
    if len(set(grid.shape)) == 1 and along_rows != along_columns:
        faults.add(say("links of rows and of columns that carry different amounts"))
    if {by[gpu] for gpu in place} != {2 * (grid.size - 1) * arrays[0].nbytes // grid.size}:
        faults.add(say("a GPU that sends more or less than with `two_rings`"))
    return sorted(faults)


def some_grids(random):
    """Yield grids, on which the GPUs are in any order, and arrays."""
    for rows, columns in (1, 1), (2, 1), (2, 2), (1, 3), (3, 2), (3, 3), (int(random.integers(2, 6)), 4):
        gpus = rows * columns
        yield random.permutation(gpus).reshape(rows, columns), random.integers(-99, 99, size=(gpus, 4 * gpus))


def check_1(answer):
    """Check a plan (grid, arrays, sent) whose halves travel along rows first and along columns first."""
    def ran(rows, columns):
        """Run the plan; return the arrays, their true sum, and what each link carried."""
        gpus = rows * columns
        arrays = numpy.random.RandomState(1).randint(100, size=(gpus, 4 * gpus))
        total = arrays.sum(axis=0)
        sent = defaultdict(list)
        answer(numpy.arange(gpus).reshape(rows, columns), arrays, sent)
        return arrays, total, sent

    def carried(sent, columns, along_rows):
        """Return the bytes on the links inside rows, or on those inside columns."""
        found = 0
        for (left, right), sizes in sent.items():
            if (left // columns == right // columns) == along_rows:
                found += sum(sizes)
        return found

    def neighbours(sent, columns):
        return all(a // columns == b // columns or a % columns == b % columns for a, b in sent)

    def each_sends(rows, columns):
        """Return the bytes that each GPU sends, as multiples of its array, at most and at least."""
        arrays, _, sent = ran(rows, columns)
        found = defaultdict(int)
        for (sender, _), sizes in sent.items():
            found[sender] += sum(sizes)
        return [round(of(found.values()) / arrays[0].nbytes, 6) for of in (max, min)]

    def sums(rows, columns):
        arrays, total, _ = ran(rows, columns)
        return (arrays == total).all()

    def equal_links():
        _, _, sent = ran(4, 4)
        return carried(sent, 4, True) == carried(sent, 4, False)

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        ("nothing-sent", lambda _: ran(4, 4)[2], "nothing was sent: hand `sent` on to the rings, they count"),
        ("summed-twice",
         lambda _: not (ran(4, 4)[0] == 16 * ran(4, 4)[1]).all() and not (ran(4, 4)[0] == 4 * ran(4, 4)[1]).all(),
         "the arrays are summed twice: a number belongs to one half only"),
        ("copies-summed", lambda _: (ran(4, 4)[0] != numpy.random.RandomState(1).randint(100, size=(16, 64))).any(),
         "the arrays are what they were: the rings changed copies"),
        ("half-left-out", lambda _: sums(4, 4),
         "a GPU does not have the sum of every number: which half was left out?"),
        ("no-neighbour", lambda _: neighbours(ran(4, 4)[2], 4),
         "a message went to a GPU that is in another row and another column"),
        ("unequal-links", lambda _: equal_links(),
         "the links of the rows carry more than those of the columns, or less"),
        ("sends-too-much", lambda _: each_sends(4, 4) == [1.875, 1.875],
         "a GPU sends more than 2 (rc - 1) / (rc) of its array"),
        *Exam(sums_alone, some_grids, sums_and_faults).rules(),
    )
