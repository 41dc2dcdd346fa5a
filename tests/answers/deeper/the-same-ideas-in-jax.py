# %% 1 right
def answer_1(step, rows):
    size = 2 ** math.ceil(math.log2(len(rows)))
    block = np.pad(rows, ((0, size - len(rows)), (0, 0)))
    return step(block, len(rows))[:len(rows)]
import math

# %% 1 right. A JAX array, its last row repeated: whatever fills a block is ignored.
def answer_1(step, rows):
    size = 1 << (rows.shape[0] - 1).bit_length()
    block = jnp.pad(jnp.asarray(rows), ((0, size - rows.shape[0]), (0, 0)), mode="edge")
    return jnp.asarray(step(block, np.int64(rows.shape[0])))[:rows.shape[0]]

# %% 1 right. A block is kept for each size, type and width; what an earlier request has left in it is ignored.
blocks = {}
def answer_1(step, rows):
    size = 1
    while size < len(rows):
        size += size
    key = size, rows.shape[1], rows.dtype
    if key not in blocks:
        blocks[key] = np.empty((size, rows.shape[1]), rows.dtype)
    blocks[key][:len(rows)] = rows
    return step(blocks[key].copy(), len(rows))[:len(rows)]

# %% 1 right. No copy where nothing is to be padded; a count of JAX.
def answer_1(step, rows):
    size = next(2 ** k for k in range(11) if 2 ** k >= len(rows))
    block = rows if len(rows) == size else np.vstack([rows, np.full((size - len(rows), rows.shape[1]), 7, rows.dtype)])
    return jnp.array(step(block=block, count=jnp.int32(len(rows))))[:len(rows)]

# %% 1 right
def answer_1(step, rows):
    size = 1
    while size < len(rows):
        size *= 2
    block = np.zeros((size, rows.shape[1]), rows.dtype)
    block[:len(rows)] = rows
    result = step(block, len(rows))
    return np.asarray(result)[:len(rows)]

# %% 1 wrong: no-power. Multiples of eight.
#-     size = 1
#-     while size < len(rows):
#-         size *= 2
#+     size = -(-len(rows) // 8) * 8

# %% 1 wrong: too-large. One size for all: one program, and a thousand rows for one.
#-     size = 1
#-     while size < len(rows):
#-         size *= 2
#+     size = 1024

# %% 1 wrong: too-large. A power of two gets twice its rows.
#-     while size < len(rows):
#+     while size <= len(rows):

# %% 1 wrong: too-large
#-     size = 1
#-     while size < len(rows):
#-         size *= 2
#+     size = 2 ** len(rows).bit_length()

# %% 1 wrong: too-large. No block has fewer than two rows.
#-     size = 1
#+     size = 2

# %% 1 wrong: too-small. Rounded down.
#-     size = 1
#-     while size < len(rows):
#-         size *= 2
#+     size = 2 ** (len(rows).bit_length() - 1)
#-     block[:len(rows)] = rows
#+     block[:] = rows[:size]

# %% 1 wrong: no-power. Nothing is padded.
#-     block = np.zeros((size, rows.shape[1]), rows.dtype)
#-     block[:len(rows)] = rows
#+     block = rows

# %% 1 wrong: other-type
#-     block = np.zeros((size, rows.shape[1]), rows.dtype)
#+     block = np.zeros((size, rows.shape[1]))

# %% 1 wrong: wrong-result. Right for float32 alone.
#-     block = np.zeros((size, rows.shape[1]), rows.dtype)
#+     block = np.zeros((size, rows.shape[1]), np.float32)

# %% 1 wrong: wrong-count. Zeros take part.
#-     result = step(block, len(rows))
#+     result = step(block, size)

# %% 1 wrong: other-counts. A number of NumPy where nothing is padded: another type, so two programs for one size.
#-     result = step(block, len(rows))
#+     result = step(block, len(rows) if len(rows) < size else np.int64(size))

# %% 1 wrong: not-cut
#-     return np.asarray(result)[:len(rows)]
#+     return np.asarray(result)

# %% 1 wrong: wrong-result. A row is the sum of its columns.
#-     return np.asarray(result)[:len(rows)]
#+     return np.asarray(result)[:len(rows)].sum(axis=1, keepdims=True)

# %% 1 wrong: wrong-result. The block's first column alone is filled.
#-     block[:len(rows)] = rows
#+     block[:len(rows), 0] = rows[:, 0]

# %% 1 wrong: wrong-result. The rows stand at the end of the block, where they do not count.
#-     block[:len(rows)] = rows
#+     block[size - len(rows):] = rows

# %% 1 wrong: wrong-effect. The request is made ready in place.
#-     block[:len(rows)] = rows
#+     rows -= rows.max(axis=0)
#+     block[:len(rows)] = rows

# %% 1 wrong: wrong-result. No more than 512 rows.
#-     return np.asarray(result)[:len(rows)]
#+     return np.asarray(result)[:min(len(rows), 999)]

# %% 1 wrong: calls. In pieces, each a power of two.
def answer_1(step, rows):
    parts = []
    while len(rows):
        size = 2 ** (len(rows).bit_length() - 1)
        parts.append(step(rows[:size], size))
        rows = rows[size:]
    return np.concatenate(parts)

# %% 1 wrong: calls. The step is not used.
def answer_1(step, rows):
    raised = np.exp(rows - rows.max(axis=0))
    return raised / raised.sum(axis=0)

# %% 1 wrong: calls. It is traced before it is used.
def answer_1(step, rows):
    size = 1 << (len(rows) - 1).bit_length()
    block = np.zeros((size, rows.shape[1]), rows.dtype)
    step(block, len(rows))
    block[:len(rows)] = rows
    return step(block, len(rows))[:len(rows)]

# %% 1 wrong: wrong-again. Results are kept by the number of rows.
kept = {}
def answer_1(step, rows):
    size = 1 << (len(rows) - 1).bit_length()
    block = np.zeros((size, rows.shape[1]), rows.dtype)
    block[:len(rows)] = rows
    result = step(block, len(rows))[:len(rows)]
    first = kept.setdefault(rows.shape, result)
    return result if first is result else first * 2

# %% 1 wrong: endless
def answer_1(step, rows):
    size = 0
    while size < len(rows):
        size *= 2
    return step(rows, size)

# %% 1 wrong, each line
answer_1 = 1024  # no-function
answer_1 = lambda step, rows: rows  # calls
answer_1 = lambda step, rows: step(rows, len(rows))  # no-power
