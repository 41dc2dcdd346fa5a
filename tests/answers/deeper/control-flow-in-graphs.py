# %% 1 right, each line
answer_1 = lambda F, x: x[-1:].sum(axis=0)
answer_1 = lambda F, x: F.np.flip(x, axis=0)[0]
answer_1 = lambda F, x: F.np.squeeze(x[-1:], axis=0)

# %% 1 wrong: rows-are-constant. The number of rows from Python, as it was at the last imperative call.
rows = [0]
def answer_1(F, x):
    if F is mx.nd:
        rows[0] = len(x)
    else:
        rows[0] = 3
    return x[rows[0] - 1]

# %% 1 wrong: compiling-fails. The step does not use its state, which MXNet refuses.
def answer_1(F, x):
    x = x.as_nd_ndarray()
    rows, last = F.contrib.foreach(lambda row, state: (row, row), x, F.zeros_like(x.sum(axis=0)))
    return last.as_np_ndarray()

# %% 1 right
#-     rows, last = F.contrib.foreach(lambda row, state: (row, row), x, F.zeros_like(x.sum(axis=0)))
#+     def step(row, state):
#+         return row, row + 0 * state
#+     rows, last = F.contrib.foreach(step, x, F.zeros_like(x.sum(axis=0)))

# %% 1 wrong: endless
def answer_1(F, x):
    while x is not None:
        row = x[-1:]
    return row

# %% 1 wrong, each line
answer_1 = lambda F, x: x[-1]  # compiling-fails
answer_1 = lambda F, x: x[len(x) - 1]  # compiling-fails
answer_1 = lambda F, x: x[x.shape[0] - 1]  # compiling-fails
# The older symbol has a single output.
answer_1 = lambda F, x: x.as_nd_ndarray()[-1].as_np_ndarray()  # compiling-fails
# Neither interface takes the other's arrays.
answer_1 = lambda F, x: F.contrib.foreach(lambda row, state: (row, row), x, F.np.zeros_like(x[0]))[1]  # matrix-of-one-row
answer_1 = lambda F, x: x[2]  # three-rows-alone
# Two ways, of which the second one is only as long as a row.
answer_1 = lambda F, x: x[-1] if F is mx.nd else x.mean(axis=0)  # compiled-other-row
# The last of all but the first.
answer_1 = lambda F, x: x[1:][-1:].sum(axis=0)  # one-row-wrong
answer_1 = lambda F, x: x[-1:]  # matrix-of-one-row
answer_1 = lambda F, x: x[0]  # other-row
# Right by luck where rows grow.
answer_1 = lambda F, x: x.max(axis=0)  # other-row
answer_1 = lambda F, x: x  # other-shape
# Imperatively right; compiled, an older symbol reversed and indexed is the whole matrix.
answer_1 = lambda F, x: F.reverse(x.as_nd_ndarray(), axis=0)[0].as_np_ndarray()  # compiled-other-shape
answer_1 = [3, 4]  # no-function

# %% 1 right, each line
answer_1 = lambda F, x: F.npx.reshape(F.np.flip(x, axis=0)[:1], (-1,))
answer_1 = lambda F, x: F.np.flip(x, axis=0)[0] * 1
answer_1 = lambda F, x: x[-1:].max(axis=0)
answer_1 = lambda F, x: F.np.split(F.np.flip(x, axis=0), [1])[0].reshape((-1,))

# %% 1 wrong, each line
# Where the first number is smallest.
answer_1 = lambda F, x: F.np.take(x, F.np.argmin(x[:, 0]), axis=0)  # wrong-result
# Four columns, always.
answer_1 = lambda F, x: F.npx.reshape(F.np.flip(x, axis=0), (-1,))[:4]  # wrong-result
answer_1 = lambda F, x: F.npx.reshape(x[-1:], (4,))  # raises
# As many numbers as there are columns in a matrix of four; fewer, if there are fewer.
answer_1 = lambda F, x: x[-1:].sum(axis=0)[:4]  # wrong-result
answer_1 = lambda F, x: abs(x[-1:]).sum(axis=0)  # other-row
answer_1 = lambda F, x: F.np.maximum(x[-1:].sum(axis=0), -1)  # wrong-result
answer_1 = lambda F, x: F.np.clip(x[-1:].sum(axis=0), -2, 2)  # wrong-result
answer_1 = lambda F, x: x[-2:].sum(axis=0)  # other-row
