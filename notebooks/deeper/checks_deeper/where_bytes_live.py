"""Check the answer to the exercise of the notebook Where bytes live."""
import numpy

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check
from d2lhelpers.messages import say


def right_pieces(operators, numbers, size):
    """Change an array piece by piece, each piece by all operators."""
    for start in range(0, len(numbers), size):
        for operator in operators:
            operator(numbers[start:start + size])


def used(function, count, numbers, size):
    """Return what each of `count` operators was given: its number, and the indices of the numbers in its piece.

    Each number is its index and a fraction, in which the operators leave their traces, in their order. Return None if
    the operators worked on a copy of the whole array.
    """
    calls, copied = [], []

    def operator(number):
        def change(piece):
            index = numpy.floor(piece)
            calls.append((number, index.astype(int).tolist()))
            piece[...] = index + (piece - index + number + 1) / 16
            copied.append(len(piece) and not numpy.shares_memory(piece, numbers) and _owner(piece).size > size)
        return change

    function([operator(number) for number in range(count)], numbers, size)
    return None if any(copied) else calls


def _owner(array):
    return array if array.base is None else _owner(array.base)


def pieces(function, count, numbers, size):
    """Return what is to be like that of the right answer, whatever the order of the pieces, in words."""
    changed = []

    def watched(operators, *rest):
        kept = [*operators]
        function(operators, *rest)
        changed.append(operators != kept)

    calls = used(watched, count, numbers, size)
    if any(changed):
        return say("a list of operators that is not what it was")
    if calls is None:
        return say("a copy of the whole array")
    taken = [indices for number, indices in calls if number == 0]
    if calls != [(number, indices) for indices in taken for number in range(count)]:
        return say("pieces that leave before they have been through all operators")
    if any(indices != list(range(indices[0], indices[0] + len(indices))) for indices in taken):
        return say("pieces of numbers that are not neighbours")
    return say("{number} pieces, none longer than {longest}", number=len(taken), longest=max(size, *map(len, taken)))


def some_arrays(random):
    """Yield numbers of operators, arrays and sizes, each with each."""
    for length, size in (1, 1), (3, 4), (7, 1), (10, 4), (int(random.integers(40, 90)), int(random.integers(2, 5))), \
            (3000, int(random.integers(1001, 1400))):
        for count in 1, 3, 8:
            yield count, numpy.arange(float(length)), size


def check_1(answer):
    """Check a function (operators, numbers, size) that takes each piece through all operators."""
    def calls(length, size):
        return used(answer, 3, numpy.arange(float(length)), size)

    def lengths(length, size):
        return [len(indices) for _, indices in calls(length, size)]

    def result(length, size, function=answer):
        numbers = numpy.arange(float(length))
        used(function, 3, numbers, size)
        return numbers.tolist()

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        ("no-operator-called", lambda _: calls(12, 4) != [], "no operator was called"),
        ("copies-all", lambda _: calls(12, 4) is not None,
         "the operators work on a copy of the whole array: copying fetches all of it once more"),
        ("copy-changed", lambda _: result(12, 4) != list(range(12)),
         "an operator got a copy, and what it wrote there is not in the array"),
        ("whole-array", lambda _: min(lengths(12, 4)) < 12,
         "the operators got the whole array at once: what is `size` for?"),
        ("pieces-too-long", lambda _: max(lengths(12, 4)) <= 4,
         "an operator got more than `size` numbers: did you count pieces, or numbers?"),
        ("pieces-too-short", lambda _: min(lengths(12, 4)) == 4, "the pieces are smaller than they may be"),
        ("operator-missing", lambda _: len({number for number, _ in calls(12, 4)}) == 3,
         "an operator was never called"),
        ("operator-by-operator", lambda _: [number for number, _ in calls(12, 4)][:3] != [0, 0, 0],
         "the first operator goes over all pieces before the second begins: each piece is fetched again for each"),
        ("wrong-numbers", lambda _: result(12, 4) == result(12, 4, right_pieces),
         "the numbers are wrong: is every operator applied once to each piece, in order?"),
        ("strided", lambda _: all(indices == list(range(indices[0], indices[0] + 4)) for _, indices in calls(12, 4)),
         "the numbers of a piece are not neighbours: each one lies in another cache line"),
        ("last-piece-wrong", lambda _: result(10, 4) == result(10, 4, right_pieces),
         "right for 12 numbers by 4, not for 10 by 4: what of the last piece?"),
        ("last-piece-too-long", lambda _: max(lengths(10, 4)) <= 4,
         "for 10 numbers by 4, an operator got more than 4"),
        *Exam(right_pieces, some_arrays, pieces, tolerance=0).rules(),
    )
