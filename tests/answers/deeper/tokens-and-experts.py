# %% 1 right
def answer_1(rank, ranks, n):
    size = n // (2 * ranks)
    end = n - rank * size
    return list(range(rank * size, (rank + 1) * size)) + list(range(end - size, end))

# %% 1 right. In pairs, as a NumPy array.
import numpy
def answer_1(rank, ranks, n):
    front = numpy.arange(rank, n // 2, ranks)
    return numpy.concatenate([front, n - 1 - front])

# %% 1 right, each line
# Striped attention.
answer_1 = lambda rank, ranks, n: range(rank, n, ranks)
answer_1 = lambda rank, ranks, n: torch.arange(n).view(-1, ranks)[:, rank]

# %% 1 wrong: far-from-equal. The other way round.
def answer_1(rank, ranks, n):
    return torch.arange(n).chunk(ranks)[ranks - 1 - rank]

# %% 1 wrong: unequal-shares. Equal pairs by unequal numbers of tokens.
def answer_1(rank, ranks, n):
    cuts = [round(n * (k / ranks) ** 0.5) for k in range(ranks + 1)]
    return range(cuts[rank], cuts[rank + 1])

# %% 1 wrong: two-ranks-unequal. Two pieces each, but neighbours stay neighbours.
def answer_1(rank, ranks, n):
    pieces = torch.arange(n).chunk(2 * ranks)
    return torch.cat([pieces[rank], pieces[ranks + rank]])

# %% 1 wrong: many-ranks-unequal. Made for two ranks and four.
#-     return torch.cat([pieces[rank], pieces[ranks + rank]])
#+     if ranks > 4:
#+         return torch.cat([pieces[rank], pieces[ranks + rank]])
#+     return torch.cat([pieces[rank], pieces[2 * ranks - 1 - rank]])

# %% 1 wrong: given-twice
def answer_1(rank, ranks, n):
    size = n // (2 * ranks)
    start = rank * size
    end = n - start
    return [*range(start, start + size), *range(end - size - 1, end - 1)]

# %% 1 wrong: no-positions
def answer_1(rank, ranks, n):
    torch.arange(n)[rank::ranks]

# %% 1 wrong: endless
def answer_1(rank, ranks, n):
    positions = []
    while len(positions) < n / ranks:
        rank += ranks
    return positions

# %% 1 wrong, each line
# As in the lesson.
answer_1 = lambda rank, ranks, n: torch.arange(n).chunk(ranks)[rank]  # far-from-equal
# The rank is ignored.
answer_1 = lambda rank, ranks, n: range(0, n, ranks)  # same-tokens
answer_1 = lambda rank, ranks, n: range(n)  # unequal-shares
# Counted from one.
answer_1 = lambda rank, ranks, n: range(rank + 1, n + 1, ranks)  # out-of-range
answer_1 = list(range(64))  # no-function
# Not whole.
answer_1 = lambda rank, ranks, n: [position + 0.3 for position in range(rank, n, ranks)]  # wrong-result
# One rank is not foreseen.
answer_1 = lambda rank, ranks, n: range(rank, n, ranks) if ranks > 1 else range(n - 1)  # wrong-result
answer_1 = lambda rank, ranks, n: range(rank, n, max(ranks, 2))  # wrong-result
# Right for even numbers of ranks, and for three.
answer_1 = lambda rank, ranks, n: range(rank, n, ranks) if ranks % 5 else torch.arange(n).chunk(ranks)[rank]  # wrong-result
# Shuffled, with luck.
answer_1 = lambda rank, ranks, n: torch.randperm(n).chunk(ranks)[rank]  # given-twice

# %% 1 right, each line
# A permutation that all ranks know, forwards and backwards.
answer_1 = lambda rank, ranks, n: [*range(rank, n // 2, ranks), *range(n - 1 - rank, n // 2 - 1, -ranks)]
answer_1 = lambda rank, ranks, n: set(range(rank, n, ranks))
answer_1 = lambda rank, ranks, n: [place for place in range(n) if min(place % (2 * ranks), 2 * ranks - 1 - place % (2 * ranks)) == rank]
