"""Check the answer to the exercise of the notebook Planned memory."""
from numbers import Integral

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check

FALLING = [8, 8, 8, 4, 4, 4, 4, 2, 2, 2, 2, 2]
RISING = FALLING[::-1]
ZIGZAG = [9, 1, 9, 1, 9, 1]  # the best choice keeps 1, 3 and 5, and no other is as good


def peak(sizes, kept):
    """Return the sum of the kept outputs, and of the largest segment between them; the last output is always kept."""
    held = segment = largest = 0
    for number, size in enumerate(sizes):
        if number in kept or number == len(sizes) - 1:
            held += size
            segment = 0
        else:
            segment += size
            largest = max(largest, segment)
    return held + largest


def best_choice(sizes):
    """Return which outputs to keep for the smallest peak."""
    sums = [0]  # of all outputs before a layer
    for size in sizes:
        sums.append(sums[-1] + size)
    limits = {sums[end] - sums[start] for end in range(len(sizes)) for start in range(end + 1)}
    return min((cheapest_choice(sizes, sums, limit) for limit in limits), key=lambda kept: peak(sizes, kept))


def cheapest_choice(sizes, sums, limit):
    """Return which outputs to keep so that no segment is larger than the limit, and what is kept is least."""
    best = [(0, -1)]  # for each layer that ends a segment: the least kept sum, and the layer kept before
    for number, size in enumerate(sizes):
        best.append(min((held + size, before - 1) for before, (held, _) in enumerate(best)
                        if sums[number] - sums[before] <= limit))
    kept, number = [], len(sizes) - 1
    while number >= 0:
        kept.append(number)
        number = best[number + 1][1]
    return kept[::-1]


def some_sizes(random):
    """Yield sizes of outputs: of one layer, a few, many; equal, falling, at random, in both orders."""
    yield ([int(random.integers(1, 9))],)
    yield (random.integers(1, 9, size=2).tolist(),)
    unit = int(random.integers(1, 9))
    yield ([4 * unit, unit, 5 * unit, 2 * unit],)  # a segment that is closed at a limit keeps a large output
    for size in random.integers(3, 8, size=6):
        yield (random.integers(1, 10, size=size).tolist(),)
    yield ([unit] * 16,)
    yield ([30] * 3 + [1] * int(random.integers(12, 20)) + [9],)  # a long segment
    mixed = random.integers(1, 30, size=15).tolist()
    for sizes in mixed, mixed[::-1], sorted(mixed, reverse=True):
        yield (sizes,)
    yield (random.integers(1, 50, size=20).tolist(),)
    yield (random.integers(1, 5, size=40).tolist(),)
    yield (([4 * unit] * 7 + [unit]) * 5,)  # small outputs are far apart: the best limit is a sum of seven
    yield (random.integers(1, 5, size=20).tolist() + random.integers(100, 200, size=6).tolist(),)  # what counts is last


def peak_of(function, sizes):
    """Return the peak of what a function chooses."""
    before = list(sizes)
    return {"peak": peak(before, chosen(function, sizes) | {len(before) - 1})}


def chosen(function, sizes):
    """Return the numbers of the layers that a function keeps; the last one always is."""
    last = len(sizes) - 1  # before the function can alter them
    return {int(number) for number in function(sizes)} | {last}


def check_1(answer):
    """Check a function of sizes that returns which outputs to keep for the smallest peak."""
    def kept(sizes):
        return chosen(answer, list(sizes))

    def numbers(sizes):
        return [each for each in answer(list(sizes))
                if isinstance(each, Integral) and not isinstance(each, bool) and 0 <= each < len(sizes)]

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        ("returns-nothing", lambda keep: keep(list(FALLING)) is not None,
         "it returns nothing: return the numbers of the layers to keep"),
        ("no-list", lambda keep: hasattr(keep(list(FALLING)), "__iter__"),
         "return which layers are kept: a list of their numbers, not one number"),
        ("no-numbers", lambda _: len(numbers([40, 50, 60])) == len(list(answer([40, 50, 60]))),
         "return numbers of layers, counted from 0: for three layers, some of 0, 1 and 2"),
        ("keeps-all", lambda _: len(kept(FALLING)) < 12, "it keeps all outputs, so that nothing is recomputed"),
        ("keeps-none", lambda _: kept(FALLING) != {11} and kept(ZIGZAG) != {5},
         "it keeps no output but the last: the whole network is one segment"),
        ("sizes-ignored", lambda _: kept(FALLING) != kept(RISING) or kept(FALLING) != kept([1] * 12),
         "it keeps the same layers whatever their sizes are"),
        ("from-one", lambda _: kept(ZIGZAG) != {2, 4, 5}, "layers are counted from 0"),
        ("keeps-large", lambda _: not kept(ZIGZAG) & {0, 2, 4},
         "of the outputs 9, 1, 9, 1, 9, 1 it keeps a 9, though a 1 stands beside it"),
        *Exam(best_choice, some_sizes, peak_of).rules(),
    )
