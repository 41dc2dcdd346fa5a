# %% 1 right
answer_1 = (7 / 31, 63, 8)

# %% 1 right
answer_1 = [0.226, 63.0, 8]

# %% 1 right
answer_1 = (0.23, 63, 8)

# %% 1 right
import numpy
answer_1 = numpy.array([1 - 24 / 31, 63, 8])

# %% 1 wrong: relative to the useful time
answer_1 = (7 / 24, 63, 8)

# %% 1 wrong: the share of work
answer_1 = (24 / 31, 63, 8)

# %% 1 wrong: how many passes long is the step
# p for p - 1.
answer_1 = (8 / 32, 63, 8)

# %% 1 wrong: how many passes long is the step
answer_1 = (7 / 32, 63, 8)

# %% 1 wrong: between 0 and 1
answer_1 = (22.6, 63, 8)

# %% 1 wrong: more than a tenth
answer_1 = (7 / 31, 62, 8)

# %% 1 wrong: fewer micro-batches are enough
# A tenth of the useful time.
answer_1 = (7 / 31, 70, 8)

# %% 1 wrong: fewer micro-batches are enough
answer_1 = (7 / 31, 64, 8)

# %% 1 wrong: a whole number
answer_1 = (7 / 31, 62.9, 8)

# %% 1 wrong: under GPipe, not under 1F1B
answer_1 = (7 / 31, 63, 63)

# %% 1 wrong: on another rank
answer_1 = (7 / 31, 63, 1)

# %% 1 wrong: after how many forward passes
answer_1 = (7 / 31, 63, 7)

# %% 1 wrong: three numbers
answer_1 = (7 / 31, 63)

# %% 2 right
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    Q, K, V = (W.chunk(ranks, dim=1)[rank] for W in (Q, K, V))
    return attention(x, Q, K, V, P.chunk(ranks, dim=0)[rank], heads // ranks)

# %% 2 right
# Head by head, and every rank takes every ranks-th of them.
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    size = Q.shape[1] // heads
    part = 0
    for head in range(rank, heads, ranks):
        own = slice(head * size, (head + 1) * size)
        q, k, v = x @ Q[:, own], x @ K[:, own], x @ V[:, own]
        weights = torch.softmax(q @ k.T / size ** 0.5, dim=1)
        part = part + weights @ v @ P[own]
    return part

# %% 2 right
# The last heads first.
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    width = Q.shape[1] // ranks
    start = Q.shape[1] - (rank + 1) * width
    own = range(start, start + width)
    return attention(x, Q[:, own], K[:, own], V[:, own], P[own, :], heads // ranks)

# %% 2 wrong: computes more than its share
# All heads are computed, then those of the others left out.
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    q, k, v = ((x @ W).unflatten(1, (heads, -1)).transpose(0, 1) for W in (Q, K, V))
    own = slice(rank * heads // ranks, (rank + 1) * heads // ranks)
    seen = nn.functional.scaled_dot_product_attention(q, k, v)[own]
    return seen.transpose(0, 1).flatten(1) @ P.chunk(ranks)[rank]

# %% 2 wrong: computes more than its share
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    mine = torch.zeros_like(P)
    size = len(P) // ranks
    mine[rank * size:(rank + 1) * size] = P[rank * size:(rank + 1) * size]
    return attention(x, Q, K, V, mine, heads)

# %% 2 wrong: both ranks return the same
# Every rank computes everything.
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    return attention(x, Q, K, V, P, heads)

# %% 2 wrong: both ranks return the same
# Adds up, by luck.
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    return attention(x, Q, K, V, P, heads) / ranks

# %% 2 wrong: the parts of two ranks do not add up
# As many heads as before, each narrower.
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    Q, K, V = (W.chunk(ranks, dim=1)[rank] for W in (Q, K, V))
    return attention(x, Q, K, V, P.chunk(ranks, dim=0)[rank], heads)

# %% 2 wrong: each part is as large as the output
# Both by columns.
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    q, k, v = ((x @ W).unflatten(1, (heads, -1)).transpose(0, 1) for W in (Q, K, V))
    seen = nn.functional.scaled_dot_product_attention(q, k, v)
    return seen.transpose(0, 1).flatten(1) @ P.chunk(ranks, dim=1)[rank]

# %% 2 wrong: the parts of two ranks do not add up
# The rows of P that belong to another rank.
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    Q, K, V = (W.chunk(ranks, dim=1)[rank] for W in (Q, K, V))
    return attention(x, Q, K, V, P.chunk(ranks, dim=0)[rank - 1], heads // ranks)

# %% 2 wrong: right for two ranks
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    if ranks == 1:
        return attention(x, Q, K, V, P, heads)
    Q, K, V = (W.chunk(2, dim=1)[rank % 2] for W in (Q, K, V))
    return attention(x, Q, K, V, P.chunk(2, dim=0)[rank % 2], heads // 2)

# %% 2 wrong: needs more than its share
# The first rank does all the work.
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    whole = attention(x, Q, K, V, P, heads)
    return whole if rank == 0 else 0 * whole

# %% 2 wrong: gives no result
# The sum is not this function's task; no group exists where it is called.
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    Q, K, V = (W.chunk(ranks, dim=1)[rank] for W in (Q, K, V))
    y = attention(x, Q, K, V, P.chunk(ranks, dim=0)[rank], heads // ranks)
    dist.all_reduce(y)
    return y

# %% 2 wrong: gives no result
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    Q, K, V = (W.chunk(ranks, dim=0)[rank] for W in (Q, K, V))
    attention(x, Q, K, V, P.chunk(ranks, dim=0)[rank], heads // ranks)

# %% 2 wrong: a single rank must give the whole output
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    return x

# %% 2 wrong: give a function
answer_2 = attention(*[torch.ones(8, 8)] * 5, 8)

# %% 2 wrong: still running
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    while rank < ranks:
        part = attention(x, Q, K, V, P, heads // ranks)
    return part

# %% 3 right
def answer_3(stage, parts, labels):
    real = (labels != -100).sum()
    def share(outputs, labels):
        return nn.functional.cross_entropy(outputs, labels, reduction="sum") / real
    return ScheduleGPipe(stage, parts, loss_fn=share, scale_grads=False)

# %% 3 right
# The mean over the labels of the part, weighted by how many they are; under the other schedule.
def answer_3(stage, parts, labels):
    def counted_labels(these):
        return sum(label >= 0 for label in these.tolist())
    def share(outputs, part):
        loss = nn.functional.cross_entropy(outputs, part)
        return loss * counted_labels(part) / counted_labels(labels)
    return Schedule1F1B(stage, parts, loss_fn=share, scale_grads=False)

# %% 3 right
# The division by the number of micro-batches undone on the way from the loss to the gradients.
def answer_3(stage, parts, labels):
    class Times(torch.autograd.Function):
        @staticmethod
        def forward(ctx, loss):
            return loss.clone()
        @staticmethod
        def backward(ctx, grad):
            return grad * parts
    def share(outputs, part):
        total = nn.functional.cross_entropy(outputs, part, reduction="sum")
        return Times.apply(total / int((labels != -100).sum()))
    return ScheduleGPipe(stage, parts, loss_fn=share)

# %% 3 wrong: a mean over its own labels
answer_3 = colleague

# %% 3 wrong: a mean over its own labels
# Without the division alone.
def answer_3(stage, parts, labels):
    return ScheduleGPipe(stage, parts, loss_fn=nn.functional.cross_entropy, scale_grads=False)

# %% 3 wrong: a mean over its own labels
# The labels counted are those of the micro-batch.
def answer_3(stage, parts, labels):
    def share(outputs, labels):
        real = (labels != -100).sum()
        return nn.functional.cross_entropy(outputs, labels, reduction="sum") / real / parts
    return ScheduleGPipe(stage, parts, loss_fn=share, scale_grads=False)

# %% 3 wrong: as many micro-batches as it is asked for
# The whole batch in one piece.
def answer_3(stage, parts, labels):
    return ScheduleGPipe(stage, 1, loss_fn=nn.functional.cross_entropy)

# %% 3 wrong: four times too small
def answer_3(stage, parts, labels):
    real = (labels != -100).sum()
    def share(outputs, labels):
        return nn.functional.cross_entropy(outputs, labels, reduction="sum") / real
    return ScheduleGPipe(stage, parts, loss_fn=share)

# %% 3 wrong: to the sum over all labels
def answer_3(stage, parts, labels):
    def summed(outputs, labels):
        return nn.functional.cross_entropy(outputs, labels, reduction="sum")
    return ScheduleGPipe(stage, parts, loss_fn=summed, scale_grads=False)

# %% 3 wrong: padding was counted
def answer_3(stage, parts, labels):
    def share(outputs, part):
        return nn.functional.cross_entropy(outputs, part, reduction="sum") / len(labels)
    return ScheduleGPipe(stage, parts, loss_fn=share, scale_grads=False)

# %% 3 wrong: labels of its own
# As if each rank had rows of its own.
def answer_3(stage, parts, labels):
    real = (labels != -100).sum()
    dist.all_reduce(real)
    def share(outputs, labels):
        return nn.functional.cross_entropy(outputs, labels, reduction="sum") / real
    return ScheduleGPipe(stage, parts, loss_fn=share, scale_grads=False)

# %% 3 wrong: do not add up to the loss
# The gradients are right, the losses four times too large.
def answer_3(stage, parts, labels):
    real = (labels != -100).sum()
    def share(outputs, labels):
        return nn.functional.cross_entropy(outputs, labels, reduction="sum") / real * parts
    return ScheduleGPipe(stage, parts, loss_fn=share)

# %% 3 wrong: not for two
def answer_3(stage, parts, labels):
    real = (labels != -100).sum()
    def share(outputs, labels):
        return nn.functional.cross_entropy(outputs, labels, reduction="sum") / real
    def scaled(outputs, labels):
        loss = share(outputs, labels)
        loss.register_hook(lambda grad: 4 * grad)
        return loss
    return ScheduleGPipe(stage, parts, loss_fn=scaled)

# %% 3 wrong: not for others
# It looks at the notebook's labels, not at its argument.
batch = labels
def answer_3(stage, parts, labels):
    real = (batch != -100).sum()
    def share(outputs, labels):
        return nn.functional.cross_entropy(outputs, labels, reduction="sum") / real
    return ScheduleGPipe(stage, parts, loss_fn=share, scale_grads=False)

# %% 3 wrong: it failed in one of two ranks
def answer_3(stage, parts, labels):
    ScheduleGPipe(stage, parts, loss_fn=nn.functional.cross_entropy)

# %% 3 wrong: give a function
answer_3 = 4

# %% 3 wrong: still running
def answer_3(stage, parts, labels):
    while True:
        pass
