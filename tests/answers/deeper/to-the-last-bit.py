# %% 1 right. In order, then from left to right.
def answer_1(ranks):
    count = sum(len(own) for own in ranks)
    total = torch.zeros_like(ranks[0][0])
    for number in range(count):
        total = total + ranks[number % len(ranks)][number // len(ranks)]
    return total

# %% 1 right. The exact sum of each number, rounded once: in any order.
import math

def answer_1(ranks):
    columns = zip(*[leaf.tolist() for own in ranks for leaf in own])
    return torch.tensor([math.fsum(column) for column in columns])

# %% 1 right. The same with fractions.
from fractions import Fraction

def answer_1(ranks):
    columns = zip(*[leaf.tolist() for own in ranks for leaf in own])
    return [float(sum(map(Fraction, column))) for column in columns]

# %% 1 right. The values of each number, sorted over all ranks.
def answer_1(ranks):
    together = torch.stack([leaf for own in ranks for leaf in own])
    return add_up(together.sort(0).values)

# %% 1 right. Fixed point, with a step that fits the largest number of all.
import math

def answer_1(ranks):
    every = [leaf.double() for own in ranks for leaf in own]
    largest = max(leaf.abs().max().item() for leaf in every)
    scale = 2.0 ** (60 - math.frexp(largest)[1] - len(every).bit_length())
    total = sum((leaf * scale).round().long() for leaf in every)
    return (total.double() / scale).float()

# %% 1 right. A tree over the leaves in order; the numbers of leaves are known from the lists.
def answer_1(ranks):
    turns = [[own[turn] for own in ranks if len(own) > turn] for turn in range(len(ranks[0]))]
    leaves = [leaf for turn in turns for leaf in turn]
    while len(leaves) > 1:
        pairs = [leaves[number:number + 2] for number in range(0, len(leaves), 2)]
        leaves = [pair[0] + pair[1] if len(pair) == 2 else pair[0] for pair in pairs]
    return leaves[0].clone()

# %% 1 right. In order, in float64.
from itertools import zip_longest

def answer_1(ranks):
    total = 0
    for turn in zip_longest(*ranks):
        for leaf in turn:
            if leaf is not None:
                total = total + leaf.double()
    return total.float()

# %% 1 wrong: other-bits. Rank after rank.
def answer_1(ranks):
    return add_up(leaf for own in ranks for leaf in own)

# %% 1 wrong: other-bits. Each rank adds its own.
def answer_1(ranks):
    return add_up(add_up(own) for own in ranks if own)

# %% 1 wrong: other-bits. A tree over the leaves rank after rank.
def answer_1(ranks):
    return tree(torch.stack([leaf for own in ranks for leaf in own]))

# %% 1 wrong: other-bits. The tree of each rank, then the tree of these.
def answer_1(ranks):
    return tree(torch.stack([tree(torch.stack(own)) for own in ranks if own]))

# %% 1 wrong: other-bits. Each rank sorts its own.
def answer_1(ranks):
    return add_up(add_up(torch.stack(own).sort(0).values) for own in ranks if own)

# %% 1 wrong: other-bits. Each rank's sum is exact, the sum of these is not.
import math

def answer_1(ranks):
    sums = [torch.tensor([math.fsum(column) for column in zip(*map(torch.Tensor.tolist, own))])
            for own in ranks if own]
    return add_up(sums)

# %% 1 wrong: other-bits. In order, but in as many pieces as there are ranks.
def answer_1(ranks):
    leaves = [own[turn] for turn in range(len(ranks[0])) for own in ranks if turn < len(own)]
    pieces = torch.stack(leaves).tensor_split(len(ranks))
    return add_up(add_up(piece) for piece in pieces if len(piece))

# %% 1 wrong: other-bits. In order, but the ranks of a turn are added first.
def answer_1(ranks):
    turns = [[own[turn] for own in ranks if turn < len(own)] for turn in range(len(ranks[0]))]
    return add_up(add_up(turn) for turn in turns)

# %% 1 wrong: other-bits. Last ranks first.
def answer_1(ranks):
    leaves = [own[turn] for turn in range(len(ranks[0])) for own in ranks[::-1] if turn < len(own)]
    return add_up(leaves)

# %% 1 wrong: other-bits. Rounded to six digits: equal unless a sum is between two of them.
def answer_1(ranks):
    total = add_up(leaf for own in ranks for leaf in own)
    return torch.tensor([float(f"{number:.5e}") for number in total.tolist()])

# %% 1 wrong: other-bits. The switch.
def answer_1(ranks):
    torch.use_deterministic_algorithms(True)
    total = add_up(add_up(own) for own in ranks if own)
    torch.use_deterministic_algorithms(False)
    return total

# %% 1 wrong: other-bits-alike. Sorted by the first number.
def answer_1(ranks):
    return add_up(sorted([leaf for own in ranks for leaf in own], key=lambda leaf: leaf[0].item()))

# %% 1 wrong: other-bits-alike. Sorted by their length.
def answer_1(ranks):
    leaves = [leaf for own in ranks for leaf in own]
    return add_up(sorted(leaves, key=lambda leaf: sorted(leaf.abs().tolist())))

# %% 1 wrong: other-bits-cancelling. Rank by rank in float64, rounded at the end.
def answer_1(ranks):
    return add_up(add_up(leaf.double() for leaf in own) for own in ranks if own).float()

# %% 1 wrong: other-bits-cancelling. With the longest floats that NumPy has.
import numpy as np

def answer_1(ranks):
    total = sum(leaf.numpy().astype(np.longdouble) for own in ranks for leaf in own)
    return total.astype(np.float32)

# %% 1 wrong: other-bits-cancelling. Two float64 numbers per sum: what rounding loses is kept.
def answer_1(ranks):
    total = lost = torch.zeros(len(ranks[0][0]), dtype=torch.float64)
    for own in ranks:
        for leaf in own:
            more = leaf.double()
            new = total + more
            back = new - total
            lost = lost + ((total - (new - back)) + (more - back))
            total = new
    return (total + lost).float()

# %% 1 wrong: other-bits-opposite. Sorted by absolute value: a number and its opposite are equal then.
def answer_1(ranks):
    together = torch.stack([leaf for own in ranks for leaf in own])
    return add_up(together.gather(0, together.abs().sort(dim=0, stable=True).indices))

# %% 1 wrong: other-bits-opposite. The same in float64.
#- leaf in own])
#+ leaf in own]).double()
#- indices))
#+ indices)).float()

# %% 1 wrong: other-bits-opposite. The largest absolute value first.
#- stable=True
#+ stable=True, descending=True

# %% 1 wrong: other-bits-unlike. Fixed point, with a step that fits the largest number of rank 0.
import math

def answer_1(ranks):
    largest = max(leaf.abs().max().item() for leaf in ranks[0])
    scale = 2.0 ** (40 - math.frexp(largest)[1])
    total = sum((leaf.double() * scale).round().long() for own in ranks for leaf in own)
    return (total.double() / scale).float()

# %% 1 wrong: imprecise. Fixed point, with a step that fits the largest number of the first leaf.
#- for leaf in ranks[0])
#+ for leaf in ranks[0][:1])

# %% 1 wrong: raises. Fixed point, with a step that fits the largest number of all, unless that is 0.
import math

def answer_1(ranks):
    every = [leaf.double() for own in ranks for leaf in own]
    scale = 2.0 ** (40 - math.floor(math.log2(max(leaf.abs().max().item() for leaf in every))))
    return (sum((leaf * scale).round().long() for leaf in every).double() / scale).float()

# %% 1 right. Fixed point, with a step for each place of the vectors.
def answer_1(ranks):
    together = torch.stack([leaf for own in ranks for leaf in own]).double()
    exponent = torch.frexp(together.abs().amax(0))[1]
    total = torch.ldexp(together, 45 - exponent).round().long().sum(0)
    return torch.ldexp(total.double(), exponent - 45).float()

# %% 1 right. The vectors in the order of all their numbers.
def answer_1(ranks):
    return add_up(sorted((leaf for own in ranks for leaf in own), key=torch.Tensor.tolist))

# %% 1 wrong: unequal-ranks. `zip` ends with the shortest list.
def answer_1(ranks):
    return add_up(leaf for turn in zip(*ranks) for leaf in turn)

# %% 1 wrong: unequal-ranks. As many turns as the last rank has.
def answer_1(ranks):
    total = torch.zeros_like(ranks[0][0])
    for turn in range(len(ranks[-1])):
        for own in ranks:
            total = total + own[turn]
    return total

# %% 1 wrong: empty-rank. A rank without leaves.
def answer_1(ranks):
    count = sum(len(own) for own in ranks)
    parts = [torch.stack(own) for own in ranks]
    return add_up(parts[number % len(ranks)][number // len(ranks)] for number in range(count))

# %% 1 wrong: imprecise. Fixed point with one scale for all.
def answer_1(ranks):
    total = sum((leaf * 2.0**20).round().long() for own in ranks for leaf in own)
    return (total / 2.0**20).float()

# %% 1 wrong: imprecise. Three decimals.
def answer_1(ranks):
    return add_up(leaf.double() for own in ranks for leaf in own).round(decimals=3)

# %% 1 wrong: imprecise. bfloat16, in order.
def answer_1(ranks):
    count = sum(len(own) for own in ranks)
    leaves = [ranks[number % len(ranks)][number // len(ranks)].bfloat16() for number in range(count)]
    return add_up(leaves).float()

# %% 1 wrong: wrong-sum. The mean.
def answer_1(ranks):
    return torch.stack([leaf for own in ranks for leaf in own]).mean(0)

# %% 1 wrong: wrong-sum. One number.
def answer_1(ranks):
    return sum(leaf.sum() for own in ranks for leaf in own)

# %% 1 wrong: wrong-sum. Nothing is added.
def answer_1(ranks):
    return torch.zeros_like(ranks[0][0])

# %% 1 wrong: wrong-sum. Two ranks only.
def answer_1(ranks):
    return add_up(leaf for turn in zip(ranks[0], ranks[1]) for leaf in turn)

# %% 1 wrong: wrong-sum. A total that is kept.
kept = []

def answer_1(ranks):
    kept.extend(leaf for own in ranks for leaf in own)
    return add_up(kept)

# %% 1 wrong: wrong-effect. In order, but the first leaf takes the sum.
def answer_1(ranks):
    count = sum(len(own) for own in ranks)
    total = ranks[0][0]
    for number in range(1, count):
        total += ranks[number % len(ranks)][number // len(ranks)]
    return total

# %% 1 wrong: wrong-effect. The lists are emptied.
def answer_1(ranks):
    leaves = []
    while any(ranks):
        leaves += [own.pop(0) for own in ranks if own]
    return tree(torch.stack(leaves))

# %% 1 wrong: alters-earlier. One tensor for all calls.
places = {}

def answer_1(ranks):
    leaves = [own[turn] for turn in range(len(ranks[0])) for own in ranks if turn < len(own)]
    place = places.setdefault(len(leaves[0]), torch.zeros_like(leaves[0]))
    return place.copy_(add_up(leaves))

# %% 1 wrong: endless. Turn after turn, without an end.
def answer_1(ranks):
    leaves = []
    turn = 0
    while True:
        leaves += [own[turn] for own in ranks if turn < len(own)]
        turn += 1

# %% 1 wrong: no-function
answer_1 = torch.zeros(3)

# %% 2 right, each line
answer_2 = "cdf"
answer_2 = ["f", "d", "c"]
answer_2 = {"C", "D", "F"}
answer_2 = "c, d, f"

# %% 2 wrong, each line
answer_2 = "acdf"  # double
answer_2 = "abcdef"  # double
answer_2 = "bcdf"  # own-trees
answer_2 = "cdef"  # switch
answer_2 = "df"  # maximum
answer_2 = "cf"  # sorting
answer_2 = "cd"  # integers
answer_2 = ""  # maximum
answer_2 = "f"  # maximum
answer_2 = 3  # no-letters
answer_2 = "all"  # no-letters
answer_2 = "none"  # no-letters
