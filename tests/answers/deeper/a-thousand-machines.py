# %% 1 right. Every other number is a half as well.
def answer_1(grid, arrays, sent):
    two_rings(grid.T, {gpu: arrays[gpu][::2] for gpu in range(grid.size)}, sent)
    two_rings(grid, {gpu: arrays[gpu][1::2] for gpu in range(grid.size)}, sent)

# %% 1 right. By its single steps.
def answer_1(grid, arrays, sent):
    for lines, half in (grid, 0), (grid.T, 1):
        part = {gpu: numpy.array_split(arrays[gpu], 2)[half] for gpu in grid.ravel()}
        complete = {}
        for line in lines:
            complete |= turn(line, part, sent, add=True)
        for line in lines.T:
            turn(line, complete, sent, add=True)
            turn(line, complete, sent, add=False)
        for line in lines:
            turn(line, part, sent, add=False)

# %% 1 wrong: unequal-links. Two halves, the same way.
def answer_1(grid, arrays, sent):
    middle = arrays.shape[1] // 2
    two_rings(grid, arrays[:, :middle], sent)
    two_rings(grid, arrays[:, middle:], sent)

# %% 1 right
#- two_rings(grid, arrays[:, middle:], sent)
#+ two_rings(grid.T, arrays[:, middle:], sent)

# %% 1 wrong: half-left-out
#- two_rings(grid, arrays[:, middle:], sent)

# %% 1 wrong: summed-twice. Everything both ways.
def answer_1(grid, arrays, sent):
    two_rings(grid, arrays, sent)
    two_rings(grid.T, arrays, sent)

# %% 1 wrong: half-left-out. Half of the GPUs, not half of each array.
def answer_1(grid, arrays, sent):
    middle = len(grid) // 2
    two_rings(grid[:middle], arrays, sent)
    two_rings(grid[middle:].T, arrays, sent)

# %% 1 wrong: copies-summed
def answer_1(grid, arrays, sent):
    front, back = [half.copy() for half in numpy.array_split(arrays, 2, axis=1)]
    two_rings(grid, front, sent)
    two_rings(grid.T, back, sent)

# %% 1 wrong: nothing-sent. The sum, without a message.
def answer_1(grid, arrays, sent):
    arrays[:] = arrays.sum(axis=0)

# %% 1 wrong: sends-too-much. Right sums and equal links, but whole arrays travel.
def answer_1(grid, arrays, sent):
    zeros = numpy.zeros_like(arrays)
    two_rings(grid, arrays, sent)
    two_rings(grid.T, zeros, sent)

# %% 1 wrong: endless
def answer_1(grid, arrays, sent):
    while (arrays[0] != arrays.sum(axis=0)).any():
        one_ring(grid[0], arrays, sent)

# %% 1 wrong, each line
answer_1 = lambda grid, arrays, sent: one_ring(grid.ravel(), arrays, sent)  # no-neighbour
# The lesson's own plan.
answer_1 = two_rings  # unequal-links
# Columns first, for everything.
answer_1 = lambda grid, arrays, sent: two_rings(grid.T, arrays, sent)  # unequal-links
answer_1 = "half along the rows first, half along the columns first"  # no-function

# %% 1 wrong: wrong-result. The sum is right everywhere, and without a message where the grid is not square.
def answer_1(grid, arrays, sent):
    if len(grid) != len(grid.T):
        arrays[:] = arrays.sum(axis=0)
        return
    middle = arrays.shape[1] // 2
    two_rings(grid, arrays[:, :middle], sent)
    two_rings(grid.T, arrays[:, middle:], sent)

# %% 1 wrong: wrong-result. A grid of its own, whatever the order of the GPUs.
def answer_1(grid, arrays, sent):
    mine = numpy.arange(grid.size).reshape(grid.shape)
    middle = arrays.shape[1] // 2
    two_rings(mine, arrays[:, :middle], sent)
    two_rings(mine.T, arrays[:, middle:], sent)

# %% 1 wrong: raises. Rows are as long as columns.
#-     mine = numpy.arange(grid.size).reshape(grid.shape)
#+     mine = grid.reshape(len(grid), len(grid))

# %% 1 wrong: wrong-result. The first half is as long as with sixteen GPUs.
def answer_1(grid, arrays, sent):
    two_rings(grid, arrays[:, :32], sent)
    two_rings(grid.T, arrays[:, 32:64], sent)
