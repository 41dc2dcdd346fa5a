# %% 1 right
def answer_1(rank, ranks, n):
    size = n // (2 * ranks)
    end = n - rank * size
    return list(range(rank * size, (rank + 1) * size)) + list(range(end - size, end))

# %% 1 right
# Striped attention.
def answer_1(rank, ranks, n):
    return range(rank, n, ranks)

# %% 1 right
# In pairs, as a NumPy array.
import numpy
def answer_1(rank, ranks, n):
    front = numpy.arange(rank, n // 2, ranks)
    return numpy.concatenate([front, n - 1 - front])

# %% 1 right
def answer_1(rank, ranks, n):
    return torch.arange(n).view(-1, ranks)[:, rank]

# %% 1 wrong: far more pairs
# As in the lesson.
def answer_1(rank, ranks, n):
    return torch.arange(n).chunk(ranks)[rank]

# %% 1 wrong: far more pairs
# The other way round.
def answer_1(rank, ranks, n):
    return torch.arange(n).chunk(ranks)[ranks - 1 - rank]

# %% 1 wrong: more or fewer tokens than its share
# Equal pairs by unequal numbers of tokens.
def answer_1(rank, ranks, n):
    cuts = [round(n * (k / ranks) ** 0.5) for k in range(ranks + 1)]
    return range(cuts[rank], cuts[rank + 1])

# %% 1 wrong: for two ranks
# Two pieces each, but neighbours stay neighbours.
def answer_1(rank, ranks, n):
    pieces = torch.arange(n).chunk(2 * ranks)
    return torch.cat([pieces[rank], pieces[ranks + rank]])

# %% 1 wrong: right for some numbers of ranks
# Made for two ranks and four.
def answer_1(rank, ranks, n):
    pieces = torch.arange(n).chunk(2 * ranks)
    if ranks > 4:
        return torch.cat([pieces[rank], pieces[ranks + rank]])
    return torch.cat([pieces[rank], pieces[2 * ranks - 1 - rank]])

# %% 1 wrong: the same tokens
# The rank is ignored.
def answer_1(rank, ranks, n):
    return range(0, n, ranks)

# %% 1 wrong: more or fewer tokens than its share
def answer_1(rank, ranks, n):
    return range(n)

# %% 1 wrong: given twice
def answer_1(rank, ranks, n):
    size = n // (2 * ranks)
    start = rank * size
    end = n - start
    return [*range(start, start + size), *range(end - size - 1, end - 1)]

# %% 1 wrong: beyond the last token
# Counted from one.
def answer_1(rank, ranks, n):
    return range(rank + 1, n + 1, ranks)

# %% 1 wrong: no positions
def answer_1(rank, ranks, n):
    torch.arange(n)[rank::ranks]

# %% 1 wrong: give a function
answer_1 = list(range(64))

# %% 1 wrong: still running
def answer_1(rank, ranks, n):
    positions = []
    while len(positions) < n / ranks:
        rank += ranks
    return positions
