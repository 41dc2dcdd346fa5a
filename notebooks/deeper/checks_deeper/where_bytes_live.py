"""Check the answer to the exercise of the notebook Where bytes live."""
import numpy

from d2lhelpers.exercises import check


def check_1(answer):
    """Check a function (operators, numbers, size) that takes each piece through all operators."""
    def used(length, size, count=3):
        """Return what each operator was given: its number, and where its piece began and ended; and the result."""
        numbers, calls = numpy.arange(float(length)), []

        def operator(number):
            def change(piece):
                start = (piece.__array_interface__["data"][0] - numbers.__array_interface__["data"][0]) // 8
                calls.append((number, start, start + len(piece)))
                piece *= 2
                piece += number
            return change

        answer([operator(number) for number in range(count)], numbers, size)
        return calls, numbers

    def result(length, size, count=3):
        _, numbers = used(length, size, count)
        wanted = numpy.arange(float(length))
        for number in range(count):
            wanted = wanted * 2 + number
        return numpy.array_equal(numbers, wanted)

    def in_place(length, size):
        calls, _ = used(length, size)
        return all(0 <= start <= end <= length for _, start, end in calls)

    def whole(calls, length):
        return all(end - start == length for _, start, end in calls)

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        ("no-operator-called", lambda _: used(12, 4)[0], "no operator was called"),
        ("copy-changed", lambda _: in_place(12, 4),
         "an operator got numbers that are not in the array: a copy is not changed"),
        ("whole-array", lambda _: not whole(used(12, 4)[0], 12),
         "the operators got the whole array at once: what is `size` for?"),
        ("pieces-too-long", lambda _: all(end - start <= 4 for _, start, end in used(12, 4)[0]),
         "an operator got more than `size` numbers: did you count pieces, or numbers?"),
        ("pieces-too-short", lambda _: all(end - start == 4 for _, start, end in used(12, 4)[0]),
         "the pieces are smaller than they may be"),
        ("operator-missing", lambda _: len({number for number, _, _ in used(12, 4)[0]}) == 3,
         "an operator was never called"),
        ("operator-by-operator", lambda _: [number for number, _, _ in used(12, 4)[0]][:3] != [0, 0, 0],
         "the first operator goes over all pieces before the second begins: each piece is fetched again for each"),
        ("wrong-numbers", lambda _: result(12, 4),
         "the numbers are wrong: is every operator applied once to each piece, in order?"),
        ("last-piece-wrong", lambda _: result(10, 4),
         "right for 12 numbers by 4, not for 10 by 4: what of the last piece?"),
        ("last-piece-too-long", lambda _: all(end - start <= 4 for _, start, end in used(10, 4)[0]),
         "for 10 numbers by 4, an operator got more than 4"),
        ("one-size-alone", lambda _: result(3, 4) and result(7, 1) and result(5, 5, 1),
         "right for 12 by 4, not for every length and size"),
    )
