"""Check the answers to the exercises of the notebook To the last bit."""
import math

import numpy as np
import torch

from d2lhelpers.examine import Exam, draw_seed
from d2lhelpers.exercises import check
from d2lhelpers.plain import plain

GROUPS = 2, 3, 4, 5, 7, 8, 12, 40  # numbers of ranks that are compared with one rank


def dealt(leaves, ranks):
    """Return a list of vectors for each rank: copies of the rows of `leaves`, dealt in turn."""
    return [[torch.from_numpy(leaf.copy()) for leaf in leaves[rank::ranks]] for rank in range(ranks)]


def exact(ranks):
    """Return the sum of all vectors, each number rounded once."""
    columns = zip(*[leaf.tolist() for own in ranks for leaf in own], strict=True)
    return torch.tensor([math.fsum(column) for column in columns], dtype=torch.float64)


def random_leaves(random, number, length):
    """Return `number` vectors of `length` numbers of ordinary size."""
    return random.normal(size=(number, length)).astype(np.float32)


def alike(random, number, length):
    """Return vectors that cannot be told apart by their first number, their numbers, or the sum of these."""
    one = random_leaves(random, 1, length)[0]
    one[0] = 0
    return np.stack([np.concatenate([one[:1], np.roll(one[1:], place)]) for place in range(number)])


def cancelling(random, number, length):
    """Return vectors in which large numbers cancel: too large for any format to hold small ones beside them."""
    leaves = random_leaves(random, number, length)
    for column in leaves.T:
        for size in 2.0**60, 2.0**118:
            first, second = random.choice(number, 2, replace=False)
            column[first], column[second] = size, -size
    return leaves


def unlike(random, number, length):
    """Return vectors of very different sizes, each larger than those before it: rank 0 need not have the largest."""
    return random_leaves(random, number, length) * np.float32(32) ** np.arange(number, dtype=np.float32)[:, None]


def opposite(random, number, length):
    """Return vectors in which numbers have an opposite, too large for small ones beside them, or of ordinary size."""
    leaves = random_leaves(random, number, length)
    for place, column in enumerate(leaves.T):
        large, its, usual, other = random.choice(number, 4, replace=False)
        column[large] = 2.0 ** (24, 53)[place % 2]
        column[its], column[other] = -column[large], -column[usual]
    return leaves


def cases(random):
    """Yield arguments: one leaf, one number, more ranks than leaves, numbers of leaves that ranks do not divide."""
    for number, length, ranks in (1, 1, 1), (1, 3, 3), (2, 1, 2), (5, 2, 3), (12, 3, 4), (33, 2, 6), (7, 2, 2):
        yield (dealt(random_leaves(random, number, length), ranks),)
    yield (dealt(np.zeros((2, 3), dtype=np.float32), 2),)
    number, length, ranks = (int(each) for each in random.integers([5, 2, 2], [50, 20, 11]))
    yield (dealt(random_leaves(random, number, length), ranks),)


def check_1(answer):
    """Check a function of leaves dealt to ranks: its sum has the same bits on any number of ranks."""
    random = np.random.default_rng(draw_seed())

    def total(leaves, ranks):
        return np.asarray(plain(answer(dealt(leaves, ranks))), dtype=float)

    def whole(number, ranks):
        """Return whether the answer adds whole numbers rightly, which needs no rounding."""
        leaves = np.arange(3 * number, dtype=np.float32).reshape(number, 3) % 5 - 1
        found = total(leaves, ranks)
        return found.shape == (3,) and np.array_equal(found, leaves.sum(0))

    def precise(_):
        alike_sizes = [random_leaves(random, 20, 50) * np.float32(size) for size in (1, 1e-15, 1e15)]
        for leaves in *alike_sizes, unlike(random, 12, 50):
            apart = abs(total(leaves, 2) - leaves.astype(float).sum(0))
            if not np.all(apart <= 1e-5 * abs(leaves.astype(float)).sum(0)):
                return False
        return True

    def same(make, number, length, repeat=1):
        """Return whether the bits are those of one rank on any number of ranks."""
        for _ in range(repeat):
            leaves = make(random, number, length)
            one = total(leaves, 1)
            if not all(np.array_equal(total(leaves, ranks), one) for ranks in GROUPS if ranks < number + 9):
                return False
        return True

    def keeps_earlier(_):
        """Return whether what one call returned is still the same after a call with other leaves."""
        first = answer(dealt(random_leaves(random, 5, 3), 2))
        before = plain(first)
        answer(dealt(random_leaves(random, 5, 3), 2))
        return np.array_equal(plain(first), before)

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        ("wrong-sum", lambda _: whole(6, 1) and whole(6, 2),
         "the sum of a few whole numbers is wrong, although the ranks have equally many leaves"),
        ("unequal-ranks", lambda _: whole(7, 3) and whole(11, 4) and whole(25, 7),
         "with 7 leaves on 3 ranks the sum is wrong: some ranks have one leaf more than others"),
        ("empty-rank", lambda _: whole(2, 5) and whole(1, 3), "with 2 leaves on 5 ranks it fails: three have none"),
        ("imprecise", precise, "the error is too large: numbers may be around 1, but also around 1e-15 or 1e15"),
        ("other-bits", lambda _: same(random_leaves, 12, 300) and same(random_leaves, 37, 300),
         "the same leaves have other bits on another number of ranks: in which order are they added?"),
        ("other-bits-alike", lambda _: same(alike, 12, 13, repeat=4),
         "other bits on another number of ranks, if leaves are alike: what tells one leaf from another?"),
        ("other-bits-cancelling", lambda _: same(cancelling, 12, 60),
         "other bits on another number of ranks, if large numbers cancel: more digits make other bits rare, no more"),
        ("other-bits-opposite", lambda _: same(opposite, 12, 200),
         "other bits on another number of ranks, if a number and its opposite are there: which of them comes first?"),
        ("other-bits-unlike", lambda _: same(unlike, 12, 20),
         "other bits on another number of ranks, if leaves differ in size: what did you take from one rank alone?"),
        ("alters-earlier", keeps_earlier, "a call changes what an earlier call has returned"),
        *Exam(exact, cases).rules())


def check_2(answer):
    """Check which of the six ways have the same bits on any number of ranks."""
    def letters():
        return sorted({each.strip().lower() for each in answer if str(each).strip() not in ("", ",")})

    def known(_):
        return all(isinstance(each, str) for each in answer) and set(letters()) <= set("abcdef")

    return check(
        answer,
        ("no-letters", known, "answer with letters from a to f, in one text"),
        ("double", lambda _: "a" not in letters(),
         "a: is there no sum that float64 rounds, and none for which that shows in a float32?"),
        ("own-trees", lambda _: "b" not in letters(), "b: on 4 ranks, is a rank's own tree a branch of the whole one?"),
        ("switch", lambda _: "e" not in letters(), "e: the switch is about the same call again; is it the same call?"),
        ("maximum", lambda _: "c" in letters(), "c is missing: does a maximum round anything?"),
        ("sorting", lambda _: "d" in letters(), "d is missing: do the sorted values depend on where they came from?"),
        ("integers", lambda _: "f" in letters(), "f is missing: which step of it depends on the ranks?"))
