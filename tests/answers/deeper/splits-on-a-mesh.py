# %% 1 right
def answer_1(rank, shape):
    mesh = torch.arange(torch.tensor(shape).prod().item()).view(shape)
    place = (mesh == rank).nonzero()[0].tolist()
    found = []
    for axis in range(len(shape)):
        index = [slice(None) if other == axis else place[other] for other in range(len(shape))]
        found.append(mesh[tuple(index)].tolist())
    return found

# %% 1 right
# Ranges, in a tuple.
def answer_1(rank, shape):
    found = ()
    inner = 1
    for size in shape[::-1]:
        outer = inner * size
        start = rank // outer * outer + rank % inner
        found = (range(start, start + outer, inner), *found)
        inner = outer
    return found

# %% 1 right
import numpy
def answer_1(rank, shape):
    place = numpy.unravel_index(rank, shape)
    found = []
    for axis, size in enumerate(shape):
        places = [list(place) for _ in range(size)]
        for step in range(size):
            places[step][axis] = step
        found.append(numpy.array([numpy.ravel_multi_index(each, shape) for each in places]))
    return found

# %% 1 wrong: in the other order
def answer_1(rank, shape):
    rows, columns = shape
    column, row = rank % columns, rank // columns
    return [[row * columns + step for step in range(columns)],
            [column + step * columns for step in range(rows)]]

# %% 1 wrong: the first dimension counts fastest
def answer_1(rank, shape):
    rows, columns = shape
    row, column = rank % rows, rank // rows
    return [[step + column * rows for step in range(rows)],
            [row + step * rows for step in range(columns)]]

# %% 1 wrong: not for one or three
def answer_1(rank, shape):
    rows, columns = shape
    row, column = divmod(rank, columns)
    return [[step * columns + column for step in range(rows)],
            [row * columns + step for step in range(columns)]]

# %% 1 wrong: draw the mesh of shape (2, 3)
# Neighbours to the right, round the end.
def answer_1(rank, shape):
    rows, columns = shape
    return [[(rank + step * columns) % (rows * columns) for step in range(rows)],
            [(rank + step) % (rows * columns) for step in range(columns)]]

# %% 1 wrong: is in each of its groups itself
# The strides of a mesh of two by two.
def answer_1(rank, shape):
    return [[rank % 2 + 2 * step for step in range(shape[0])],
            [rank // 2 * 2 + step for step in range(shape[1])]]

# %% 1 wrong: is in each of its groups itself
# The rank is ignored.
def answer_1(rank, shape):
    return [list(range(size)) for size in shape]

# %% 1 wrong: as many ranks as the dimension is long
# The others only.
def answer_1(rank, shape):
    rows, columns = shape
    row, column = divmod(rank, columns)
    return [[step * columns + column for step in range(rows) if step != row],
            [row * columns + step for step in range(columns) if step != column]]

# %% 1 wrong: as many ranks as the dimension is long
# The answer of the example.
def answer_1(rank, shape):
    return [[1, 3], [0, 1]]

# %% 1 wrong: two groups per rank
def answer_1(rank, shape):
    return [list(range(4))]

# %% 1 wrong: two groups per rank
def answer_1(rank, shape):
    divmod(rank, shape[-1])

# %% 1 wrong: give a function
answer_1 = [[1, 3], [0, 1]]

# %% 1 wrong: still running
def answer_1(rank, shape):
    first = rank
    while first >= 0:
        first += shape[-1]
    return first
