"""Check the answer to the exercise of the notebook Splits on a mesh."""
import math

import numpy

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check


def groups(rank, shape):
    """Return the ranks along each dimension of a mesh, from a table of all ranks."""
    mesh = numpy.arange(math.prod(shape)).reshape(shape)
    place = numpy.argwhere(mesh == rank)[0].tolist()
    return [mesh[(*place[:axis], slice(None), *place[axis + 1:])].tolist() for axis in range(len(shape))]


def meshes(random):
    """Yield ranks and the shapes of their meshes: of one to five dimensions, some of length 1, and a large one."""
    yield 1, (1, 2)
    for dimensions in 1, 2, 3, 4, 5:
        for _ in range(3):
            shape = tuple(random.integers(1, 5, size=dimensions).tolist())
            yield int(random.integers(math.prod(shape))), shape
    yield int(random.integers(1024, 16384)), (128, 16, 8)


def check_1(answer):
    """Check a function (rank, shape) that returns the groups of a rank in a mesh, a list of ranks per dimension."""
    def given(rank, shape):
        """Return the rank's groups in the mesh as lists, each in order."""
        return [sorted(int(each) for each in group) for group in answer(rank, shape)]

    def ascending(shape):
        return all([int(each) for each in group] == own
                   for group, own in zip(answer(shape[0], shape), given(shape[0], shape), strict=True))

    def right(*shape):
        return all(given(rank, shape) == groups(rank, shape) for rank in range(math.prod(shape)))

    def swapped(*shape):
        return all(given(rank, shape)[::-1] == groups(rank, shape) for rank in range(math.prod(shape)))

    def members(shape):
        """Return whether each rank is in all of its groups, and these are as long as their dimensions."""
        found = [(rank, given(rank, shape)) for rank in range(math.prod(shape))]
        return all(rank in group for rank, own in found for group in own)

    def columns_first(*shape):
        """Return whether the first dimension counts fastest."""
        back = shape[::-1]
        return all(given(rank, shape) == groups(rank, back)[::-1] for rank in range(math.prod(shape)))

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        ("no-two-groups", lambda f: f(1, (2, 2)) is not None and len(f(1, (2, 2))) == 2,
         "a mesh of two dimensions has two groups per rank"),
        ("other-length", lambda _: [len(group) for group in given(1, (2, 3))] in ([2, 3], [3, 2]),
         "a group along a dimension has as many ranks as the dimension is long"),
        ("lacks-itself", lambda _: members((2, 3)), "a rank is in each of its groups itself"),
        ("other-order", lambda _: not swapped(2, 3), "the groups are right, but come in the other order"),
        ("columns-first", lambda _: not columns_first(2, 3), "in your mesh the first dimension counts fastest"),
        ("group-wrong", lambda _: right(2, 2) and right(2, 3) and right(3, 2),
         "a group is wrong: draw the mesh of shape (2, 3), number its ranks, and look along both dimensions"),
        ("two-dimensions-alone", lambda _: right(3, 2, 4) and right(6),
         "right for two dimensions, but not for one or three"),
        ("not-ascending", lambda _: ascending((2, 3)), "the right ranks, but not in ascending order"),
        *Exam(groups, meshes).rules(),
    )
