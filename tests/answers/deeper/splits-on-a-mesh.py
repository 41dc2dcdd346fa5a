# %% 1 right
def answer_1(rank, shape):
    mesh = torch.arange(torch.tensor(shape).prod().item()).view(shape)
    place = (mesh == rank).nonzero()[0].tolist()
    found = []
    for axis in range(len(shape)):
        index = [slice(None) if other == axis else place[other] for other in range(len(shape))]
        found.append(mesh[tuple(index)].tolist())
    return found

# %% 1 right. Ranges, in a tuple.
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

# %% 1 wrong: other-order
def answer_1(rank, shape):
    rows, columns = shape
    column, row = rank % columns, rank // columns
    return [[row * columns + step for step in range(columns)],
            [column + step * columns for step in range(rows)]]

# %% 1 wrong: columns-first
def answer_1(rank, shape):
    rows, columns = shape
    row, column = rank % rows, rank // rows
    return [[step + column * rows for step in range(rows)],
            [row + step * rows for step in range(columns)]]

# %% 1 wrong: group-wrong. Neighbours to the right, round the end.
def answer_1(rank, shape):
    rows, columns = shape
    return [[(rank + step * columns) % (rows * columns) for step in range(rows)],
            [(rank + step) % (rows * columns) for step in range(columns)]]

# %% 1 wrong: lacks-itself. The strides of a mesh of two by two.
def answer_1(rank, shape):
    return [[rank % 2 + 2 * step for step in range(shape[0])],
            [rank // 2 * 2 + step for step in range(shape[1])]]

# %% 1 wrong: other-length. The others only.
def answer_1(rank, shape):
    rows, columns = shape
    row, column = divmod(rank, columns)
    return [[step * columns + column for step in range(rows) if step != row],
            [row * columns + step for step in range(columns) if step != column]]

# %% 1 wrong: two-dimensions-alone
#-     return [[step * columns + column for step in range(rows) if step != row],
#-             [row * columns + step for step in range(columns) if step != column]]
#+     return [[step * columns + column for step in range(rows)],
#+             [row * columns + step for step in range(columns)]]

# %% 1 wrong: no-two-groups
def answer_1(rank, shape):
    divmod(rank, shape[-1])

# %% 1 wrong: endless
def answer_1(rank, shape):
    first = rank
    while first >= 0:
        first += shape[-1]
    return first

# %% 1 wrong, each line
# The rank is ignored.
answer_1 = lambda rank, shape: [list(range(size)) for size in shape]  # lacks-itself
# The answer of the example.
answer_1 = lambda rank, shape: [[1, 3], [0, 1]]  # other-length
answer_1 = lambda rank, shape: [list(range(4))]  # no-two-groups
answer_1 = [[1, 3], [0, 1]]  # no-function

# %% 1 right
def answer_1(rank, shape):
    found, stride = [], 1
    for size in reversed(shape):
        place = rank // stride % size
        found.insert(0, [rank + (step - place) * stride for step in range(size)])
        stride *= size
    return found

# %% 1 wrong: not-ascending. It begins with itself.
#- return found
#+ return [[rank, *(each for each in group if each != rank)] for group in found]

# %% 1 wrong: not-ascending
#- return found
#+ return [group[::-1] for group in found]

# %% 1 wrong: wrong-result. A dimension of length 1 is left out.
#- return found
#+ return [group for group in found if len(group) > 1]

# %% 1 wrong: wrong-result. No more than three dimensions.
#- return found
#+ return found[-3:]

# %% 1 wrong: group-wrong
#- rank // stride % size
#+ rank // stride % shape[-1]

# %% 1 wrong: two-dimensions-alone. The stride is that of the neighbour alone.
#- stride *= size
#+ stride = size

# %% 1 wrong: wrong-result. No more than four dimensions.
#- return found
#+ return found[-4:]

# %% 1 wrong: wrong-result. A rank has a byte.
#- return found
#+ return [[each % 256 for each in group] for group in found]
