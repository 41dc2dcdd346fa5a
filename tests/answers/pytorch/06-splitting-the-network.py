# %% 1 right
import numpy
answer_1 = numpy.array([1 - 24 / 31, 63, 8])

# %% 1 right, each line
answer_1 = (7 / 31, 63, 8)
answer_1 = [0.226, 63.0, 8]
answer_1 = (0.23, 63, 8)

# %% 1 wrong, each line
answer_1 = (7 / 24, 63, 8)  # relative-to-work
answer_1 = (24 / 31, 63, 8)  # share-of-work
# p for p - 1.
answer_1 = (8 / 32, 63, 8)  # wrong-share
answer_1 = (7 / 32, 63, 8)  # wrong-share
answer_1 = (22.6, 63, 8)  # no-share
answer_1 = (7 / 31, 62, 8)  # too-few-parts
# A tenth of the useful time.
answer_1 = (7 / 31, 70, 8)  # too-many-parts
answer_1 = (7 / 31, 64, 8)  # too-many-parts
answer_1 = (7 / 31, 62.9, 8)  # not-a-count
answer_1 = (7 / 31, 63, 63)  # gpipe-alive
answer_1 = (7 / 31, 63, 1)  # other-rank-alive
answer_1 = (7 / 31, 63, 7)  # wrong-alive
answer_1 = (7 / 31, 63)  # not-three-numbers

# %% 2 right. Head by head, and every rank takes every ranks-th of them.
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    size = Q.shape[1] // heads
    part = 0
    for head in range(rank, heads, ranks):
        own = slice(head * size, (head + 1) * size)
        q, k, v = x @ Q[:, own], x @ K[:, own], x @ V[:, own]
        weights = torch.softmax(q @ k.T / size ** 0.5, dim=1)
        part = part + weights @ v @ P[own]
    return part

# %% 2 right. The last heads first.
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    width = Q.shape[1] // ranks
    start = Q.shape[1] - (rank + 1) * width
    own = range(start, start + width)
    return attention(x, Q[:, own], K[:, own], V[:, own], P[own, :], heads // ranks)

# %% 2 wrong: computes-too-much. All heads are computed, then those of the others left out.
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    q, k, v = ((x @ W).unflatten(1, (heads, -1)).transpose(0, 1) for W in (Q, K, V))
    own = slice(rank * heads // ranks, (rank + 1) * heads // ranks)
    seen = nn.functional.scaled_dot_product_attention(q, k, v)[own]
    return seen.transpose(0, 1).flatten(1) @ P.chunk(ranks)[rank]

# %% 2 wrong: other-shape. Both by columns.
#-     own = slice(rank * heads // ranks, (rank + 1) * heads // ranks)
#-     seen = nn.functional.scaled_dot_product_attention(q, k, v)[own]
#-     return seen.transpose(0, 1).flatten(1) @ P.chunk(ranks)[rank]
#+     seen = nn.functional.scaled_dot_product_attention(q, k, v)
#+     return seen.transpose(0, 1).flatten(1) @ P.chunk(ranks, dim=1)[rank]

# %% 2 wrong: computes-too-much
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    mine = torch.zeros_like(P)
    size = len(P) // ranks
    mine[rank * size:(rank + 1) * size] = P[rank * size:(rank + 1) * size]
    return attention(x, Q, K, V, mine, heads)

# %% 2 wrong: wrong-sum. The rows of P that belong to another rank.
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    Q, K, V = (W.chunk(ranks, dim=1)[rank] for W in (Q, K, V))
    return attention(x, Q, K, V, P.chunk(ranks, dim=0)[rank - 1], heads // ranks)

# %% 2 right
#- [rank - 1]
#+ [rank]

# %% 2 wrong: wrong-sum. As many heads as before, each narrower.
#- [rank - 1], heads // ranks)
#+ [rank], heads)

# %% 2 wrong: no-result. The sum is not this function's task; no group exists where it is called.
#-     return attention(x, Q, K, V, P.chunk(ranks, dim=0)[rank - 1], heads // ranks)
#+     y = attention(x, Q, K, V, P.chunk(ranks, dim=0)[rank], heads // ranks)
#+     dist.all_reduce(y)
#+     return y

# %% 2 wrong: two-ranks-only
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    if ranks == 1:
        return attention(x, Q, K, V, P, heads)
    Q, K, V = (W.chunk(2, dim=1)[rank % 2] for W in (Q, K, V))
    return attention(x, Q, K, V, P.chunk(2, dim=0)[rank % 2], heads // 2)

# %% 2 wrong: needs-too-much. The first rank does all the work.
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    whole = attention(x, Q, K, V, P, heads)
    return whole if rank == 0 else 0 * whole

# %% 2 wrong: no-result
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    Q, K, V = (W.chunk(ranks, dim=0)[rank] for W in (Q, K, V))
    attention(x, Q, K, V, P.chunk(ranks, dim=0)[rank], heads // ranks)

# %% 2 wrong: endless
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    while rank < ranks:
        part = attention(x, Q, K, V, P, heads // ranks)
    return part

# %% 2 wrong, each line
# Every rank computes everything.
answer_2 = lambda x, Q, K, V, P, heads, rank, ranks: attention(x, Q, K, V, P, heads)  # same-on-all
# Adds up, by luck.
answer_2 = lambda x, Q, K, V, P, heads, rank, ranks: attention(x, Q, K, V, P, heads) / ranks  # same-on-all
answer_2 = lambda x, Q, K, V, P, heads, rank, ranks: x  # one-rank-wrong
answer_2 = attention(*[torch.ones(8, 8)] * 5, 8)  # no-function

# %% 2 wrong: no-gradients
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    Q, K, V = (W.chunk(ranks, dim=1)[rank] for W in (Q, K, V))
    return attention(x, Q, K.detach(), V, P.chunk(ranks, dim=0)[rank], heads // ranks)

# %% 2 wrong: no-gradients
#- return attention(x, Q, K.detach(),
#+ return attention(x.detach(), Q, K,

# %% 2 wrong: no-gradients
#-     return attention(x, Q, K.detach(), V, P.chunk(ranks, dim=0)[rank], heads // ranks)
#+     with torch.no_grad():
#+         return attention(x, Q, K, V, P.chunk(ranks, dim=0)[rank], heads // ranks)

# %% 2 wrong: raises. The width of the output for that of the heads.
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    width = P.shape[1] // ranks
    own = slice(rank * width, (rank + 1) * width)
    return attention(x, Q[:, own], K[:, own], V[:, own], P[own], heads // ranks)

# %% 2 right
#- P.shape[1]
#+ P.shape[0]

# %% 2 right. Head by head, in PyTorch's functions.
def answer_2(x, Q, K, V, P, heads, rank, ranks):
    size = Q.size(1) // heads
    out = torch.zeros(len(x), P.size(1))
    for head in range(heads):
        if head // (heads // ranks) == rank:
            q, k, v = (x @ W.split(size, 1)[head] for W in (Q, K, V))
            out += torch.softmax(q @ k.T * size ** -0.5, -1) @ v @ P.split(size)[head]
    return out

# %% 2 wrong: one-rank-wrong. Scaled by the width, not by the size of a head.
#- size ** -0.5
#+ Q.size(1) ** -0.5

# %% 2 wrong: needs-too-much
#- head // (heads // ranks) == rank
#+ head // 3 == rank or ranks == 1

# %% 3 wrong: rank-raises. That schedule wants at least as many micro-batches as stages.
def answer_3(stage, parts, labels):
    def counted_labels(these):
        return sum(label >= 0 for label in these.tolist())
    def share(outputs, part):
        loss = nn.functional.cross_entropy(outputs, part)
        return loss * counted_labels(part) / counted_labels(labels)
    return Schedule1F1B(stage, parts, loss_fn=share, scale_grads=False)

# %% 3 right
# The mean over the labels of the part, weighted by how many they are; under the other schedule where it can.
#- return Schedule1F1B(
#+ Schedule = Schedule1F1B if parts > 1 else ScheduleGPipe
#+     return Schedule(

# %% 3 right. The division by the number of micro-batches undone on the way from the loss to the gradients.
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

# %% 3 wrong: rank-raises
def answer_3(stage, parts, labels):
    ScheduleGPipe(stage, parts, loss_fn=nn.functional.cross_entropy)

# %% 3 wrong: rank-endless
def answer_3(stage, parts, labels):
    while True:
        pass

# %% 3 wrong, each line
answer_3 = colleague  # own-means
# The whole batch in one piece.
answer_3 = lambda stage, parts, labels: colleague(stage, 1, labels)  # other-part-count
answer_3 = 4  # no-function

# %% 3 given
def summed(outputs, labels):
    return nn.functional.cross_entropy(outputs, labels, reduction="sum")

def unscaled(stage, parts, loss_fn):
    return ScheduleGPipe(stage, parts, loss_fn=loss_fn, scale_grads=False)

# %% 3 wrong: own-means. The labels counted are those of the micro-batch.
def answer_3(stage, parts, labels):
    def share(outputs, labels):
        real = (labels != -100).sum()
        return summed(outputs, labels) / real / parts
    return unscaled(stage, parts, share)

# %% 3 wrong: counts-padding
def answer_3(stage, parts, labels):
    return unscaled(stage, parts, lambda outputs, part: summed(outputs, part) / len(labels))

# %% 3 wrong: half-the-loss. As if each rank had rows of its own.
def answer_3(stage, parts, labels):
    real = (labels != -100).sum()
    dist.all_reduce(real)
    return unscaled(stage, parts, lambda outputs, labels: summed(outputs, labels) / real)

# %% 3 right
#-     dist.all_reduce(real)

# %% 3 wrong: other-loss. The gradients are right, the losses four times too large.
def answer_3(stage, parts, labels):
    real = (labels != -100).sum()
    def share(outputs, labels):
        return summed(outputs, labels) / real * parts
    return ScheduleGPipe(stage, parts, loss_fn=share)

# %% 3 wrong: gradients-too-small
#- / real * parts
#+ / real

# %% 3 wrong: wrong-result
#- / real * parts
#+ / real
#-     return ScheduleGPipe(stage, parts, loss_fn=share)
#+     def scaled(outputs, labels):
#+         loss = share(outputs, labels)
#+         loss.register_hook(lambda grad: 4 * grad)
#+         return loss
#+     return ScheduleGPipe(stage, parts, loss_fn=scaled)

# %% 3 wrong: wrong-result. It looks at the notebook's labels, not at its argument.
batch = labels
def answer_3(stage, parts, labels):
    real = (batch != -100).sum()
    return unscaled(stage, parts, lambda outputs, labels: summed(outputs, labels) / real)

# %% 3 wrong, each line
# Without the division alone.
answer_3 = lambda stage, parts, labels: unscaled(stage, parts, nn.functional.cross_entropy)  # own-means
answer_3 = lambda stage, parts, labels: unscaled(stage, parts, summed)  # sum-not-mean
# No more than four micro-batches.
answer_3 = lambda stage, parts, labels: unscaled(stage, min(parts, 4), lambda o, part: summed(o, part) / (labels != -100).sum())  # wrong-result
answer_3 = lambda stage, parts, labels: unscaled(stage, parts if parts in (2, 4) else 1, lambda o, part: summed(o, part) / (labels != -100).sum())  # wrong-result
# The first sixteen labels.
answer_3 = lambda stage, parts, labels: unscaled(stage, parts, lambda o, part: summed(o, part) / (labels[:16] != -100).sum())  # wrong-result
# A label of 0 does not count.
answer_3 = lambda stage, parts, labels: unscaled(stage, parts, lambda o, part: summed(o, part) / (labels > 0).sum())  # wrong-result

# %% 3 right. The gradients scaled back by hooks on the loss.
def answer_3(stage, parts, labels):
    real = labels.ne(-100).sum().item()
    def share(outputs, part):
        loss = nn.functional.nll_loss(outputs.log_softmax(1), part, reduction="sum") / real
        loss.register_hook(lambda grad: parts * grad)
        return loss
    return ScheduleGPipe(stage, n_microbatches=parts, loss_fn=share)

# %% 3 wrong: other-gradients. Scaled back by the number of stages.
#- loss.register_hook(lambda grad: parts * grad)
#+ loss.register_hook(lambda grad: 2 * grad)
