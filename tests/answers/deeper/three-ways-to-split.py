# %% 1 right
def answer_1(Xs, columns, rows, bias):
    hidden = [npx.relu(np.dot(X, W)) for X, W in zip(Xs, columns)]
    outputs = [np.dot(H, W) for H, W in zip(hidden, rows)]
    outputs[0] = outputs[0] + bias
    allreduce(outputs)
    return outputs

# %% 1 right
# After the sum, on each device.
def answer_1(Xs, columns, rows, bias):
    outputs = [np.dot(npx.relu(np.dot(X, W1)), W2) for X, W1, W2 in zip(Xs, columns, rows)]
    allreduce(outputs)
    return tuple(output + bias.as_in_ctx(output.ctx) for output in outputs)

# %% 1 right
# A half of it on each.
def answer_1(Xs, columns, rows, bias):
    outputs = []
    for X, W1, W2 in zip(Xs, columns, rows):
        share = (bias / 2).as_in_ctx(X.ctx)
        outputs.append(np.dot(npx.relu(np.dot(X, W1)), W2) + share)
    allreduce(outputs)
    return outputs

# %% 1 wrong: the bias is in the sum twice
# As if each device had the whole layer.
def answer_1(Xs, columns, rows, bias):
    outputs = []
    for X, W1, W2 in zip(Xs, columns, rows):
        outputs.append(np.dot(npx.relu(np.dot(X, W1)), W2) + bias.as_in_ctx(X.ctx))
    allreduce(outputs)
    return outputs

# %% 1 wrong: without the bias
def answer_1(Xs, columns, rows, bias):
    outputs = [np.dot(npx.relu(np.dot(X, W1)), W2) for X, W1, W2 in zip(Xs, columns, rows)]
    allreduce(outputs)
    return outputs

# %% 1 wrong: no ReLU between the layers
def answer_1(Xs, columns, rows, bias):
    outputs = [np.dot(np.dot(X, W1), W2) for X, W1, W2 in zip(Xs, columns, rows)]
    outputs[1] = outputs[1] + bias.as_in_ctx(Xs[1].ctx)
    allreduce(outputs)
    return outputs

# %% 1 wrong: not the second
def answer_1(Xs, columns, rows, bias):
    outputs = [np.dot(npx.relu(np.dot(X, W1)), W2) for X, W1, W2 in zip(Xs, columns, rows)]
    allreduce(outputs)
    return [npx.relu(output + bias.as_in_ctx(output.ctx)) for output in outputs]

# %% 1 wrong: only its own half of the sum
# No all-reduce.
def answer_1(Xs, columns, rows, bias):
    return [np.dot(npx.relu(np.dot(X, W1)), W2) + bias.as_in_ctx(X.ctx)
            for X, W1, W2 in zip(Xs, columns, rows)]

# %% 1 wrong: another output on device 1
# After the sum, but on one device only.
def answer_1(Xs, columns, rows, bias):
    outputs = [np.dot(npx.relu(np.dot(X, W1)), W2) for X, W1, W2 in zip(Xs, columns, rows)]
    allreduce(outputs)
    outputs[0] = outputs[0] + bias
    return outputs

# %% 1 wrong: belongs on the first device
# All on one device.
def answer_1(Xs, columns, rows, bias):
    W1 = np.concatenate([part.as_in_ctx(first) for part in columns], axis=1)
    W2 = np.concatenate([part.as_in_ctx(first) for part in rows], axis=0)
    output = np.dot(npx.relu(np.dot(Xs[0], W1)), W2) + bias
    return [output, output]

# %% 1 wrong: one for each device
def answer_1(Xs, columns, rows, bias):
    outputs = [np.dot(npx.relu(np.dot(X, W1)), W2) for X, W1, W2 in zip(Xs, columns, rows)]
    outputs[0] = outputs[0] + bias
    allreduce(outputs)
    return outputs[:1]

# %% 1 wrong: not those of the whole layers
# The all-reduce too early: halves of the hidden outputs are not terms of a sum.
def answer_1(Xs, columns, rows, bias):
    hidden = [npx.relu(np.dot(X, W)) for X, W in zip(Xs, columns)]
    allreduce(hidden)
    return [np.dot(H, W) + bias.as_in_ctx(H.ctx) for H, W in zip(hidden, rows)]

# %% 1 wrong: changes an array
def answer_1(Xs, columns, rows, bias):
    for X, W in zip(Xs, columns):
        X[:] = npx.relu(np.dot(X, np.concatenate([W, W], axis=1)))
    outputs = [np.dot(X[:, :len(W)], W) for X, W in zip(Xs, rows)]
    outputs[0] = outputs[0] + bias
    allreduce(outputs)
    return outputs

# %% 1 wrong: give a function
answer_1 = 3

# %% 1 wrong: still running
def answer_1(Xs, columns, rows, bias):
    while True:
        pass
