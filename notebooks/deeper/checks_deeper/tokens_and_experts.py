"""Check the answer to the exercise of the notebook Tokens and experts."""
from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check


def striped(rank, ranks, n):
    """Return every `ranks`-th position: a right answer."""
    return range(rank, n, ranks)


def sizes(random):
    """Yield numbers of ranks and of tokens."""
    for ranks in 1, 2, 5, int(random.integers(6, 12)):
        yield "each of them", ranks, 2 * ranks * int(random.integers(32, 60))


def use(function, _, ranks, n):
    """Return all positions in order, how many each rank has, and whether its pairs are nearly as many as another's."""
    parts = [[float(position) for position in function(rank, ranks, n)] for rank in range(ranks)]
    pairs = [sum(part) + len(part) for part in parts]
    positions = sorted(position for part in parts for position in part)
    return positions, [len(part) for part in parts], max(pairs) <= 1.05 * min(pairs)


def check_1(answer):
    """Check a function (rank, ranks, n) that gives ranks the positions of their tokens, and so equal work."""
    CASES = (2, 256), (4, 256), (3, 1002), (8, 1024)

    def given(ranks, n):
        """Return each rank's positions, as whole numbers."""
        return [[int(position) for position in answer(rank, ranks, n)] for rank in range(ranks)]

    def everywhere(rule):
        """Return a rule for the answer that holds if `rule(positions of all ranks, n)` does for each case."""
        return lambda _: all(rule(given(ranks, n), n) for ranks, n in CASES)

    def pairs(parts):
        return [sum(position + 1 for position in part) for part in parts]

    def once(parts, n):
        return sorted(position for part in parts for position in part) == list(range(n))

    def equal(parts, n):
        return max(pairs(parts)) <= 1.05 * min(pairs(parts))

    def far(parts, n):
        """Return whether some rank has over twice as many pairs as another, as with tokens in a row."""
        return max(pairs(parts)) > 2 * min(pairs(parts))

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        ("no-positions", lambda f: f(0, 2, 256) is not None and len(f(0, 2, 256)) > 0, "rank 0 of 2 gets no positions"),
        ("out-of-range", everywhere(lambda parts, n: all(0 <= position < n for part in parts for position in part)),
         "there are positions below 0, or beyond the last token"),
        ("unequal-shares", everywhere(lambda parts, n: all(len(part) == n / len(parts) for part in parts)),
         "a rank has more or fewer tokens than its share"),
        ("same-tokens", everywhere(lambda parts, n: len({tuple(sorted(part)) for part in parts}) == len(parts)),
         "two ranks have the same tokens"),
        ("given-twice", everywhere(once), "some positions are given twice, others to nobody"),
        ("far-from-equal", lambda _: not all(far(given(*case), case[1]) for case in CASES if case[0] > 2),
         "one rank still has far more pairs than another: where are the tokens that see many others?"),
        ("two-ranks-unequal", lambda _: equal(given(2, 256), 256),
         "for two ranks one still has over 5 % more pairs than the other"),
        ("many-ranks-unequal", everywhere(equal),
         "right for some numbers of ranks, but not for all: count the pairs of eight ranks"),
        *Exam(striped, sizes, use).rules(),
    )
