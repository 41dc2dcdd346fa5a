# %% 1 right. As in the solution, but each sum with its own logarithm.
def answer_1(x, weight, targets, size):
    logarithm = torch.full((len(x),), -inf, dtype=x.dtype)
    for start in range(0, len(weight), size):
        piece = (x @ weight[start:start + size].T).logsumexp(1)
        logarithm = torch.logaddexp(logarithm, piece)
    loss = (logarithm - (x * weight[targets]).sum(1)).mean()
    of_x = torch.zeros_like(x)
    of_weight = torch.zeros_like(weight)
    for start in range(0, len(weight), size):
        words = weight[start:start + size]
        share = (x @ words.T - logarithm[:, None]).exp()
        inside = (targets >= start) & (targets < start + size)
        share[inside, targets[inside] - start] -= 1
        share /= len(x)
        of_x += share @ words
        of_weight[start:start + size] = share.T @ x
    return loss, of_x, of_weight

# %% 1 right. The running maximum and sum of the notebook.
def answer_1(x, weight, targets, size):
    count = len(x)
    most = torch.full((len(x), 1), -inf, dtype=x.dtype)
    total = torch.zeros_like(most)
    for words in weight.split(size):
        scores = x @ words.T
        new = torch.maximum(most, scores.amax(1, keepdim=True))
        total = (most - new).exp() * total + (scores - new).exp().sum(1, keepdim=True)
        most = new
    logarithm = most + total.log()
    loss = (logarithm[:, 0] - (x * weight[targets]).sum(1)).mean()
    of_x = -weight[targets]
    of_weight = torch.zeros_like(weight)
    of_weight.index_add_(0, targets, -x)
    for start in range(0, len(weight), size):
        words = weight[start:start + size]
        share = (x @ words.T - logarithm).exp()
        of_x = of_x + share @ words
        of_weight[start:start + size] += share.T @ x
    return loss, of_x / count, of_weight / count

# %% 1 wrong: pieces-wrong. No rescaling by the new maximum.
#- (most - new).exp() * total
#+ total

# %% 1 wrong: pieces-wrong. The wrong way round.
#- (most - new).exp() * total
#+ (new - most).exp().clamp(max=1) * total

# %% 1 wrong: pieces-wrong. Each piece has its own maximum.
#- new = torch.maximum(most, scores.amax(1, keepdim=True))
#+ new = scores.amax(1, keepdim=True)
#-         total = (most - new).exp() * total + (scores - new).exp().sum(1, keepdim=True)
#+         total = total + (scores - new).exp().sum(1, keepdim=True)

# %% 1 wrong: overflows. No maximum.
#- new = torch.maximum(most, scores.amax(1, keepdim=True))
#+ new = torch.zeros_like(total)

# %% 1 wrong: summed-loss
#- .sum(1)).mean()
#+ .sum(1)).sum()

# %% 1 wrong: wrong-loss. The score of the right word is forgotten.
#- loss = (logarithm[:, 0] - (x * weight[targets]).sum(1)).mean()
#+ loss = logarithm.mean()

# %% 1 wrong: wrong-loss. The sign.
#- loss = (logarithm[:, 0] - (x * weight[targets]).sum(1)).mean()
#+ loss = ((x * weight[targets]).sum(1) - logarithm[:, 0]).mean()

# %% 1 wrong: wrong-loss. A column less a row: a table of tokens × tokens.
#- logarithm[:, 0] - (x
#+ logarithm.log() - (x

# %% 1 wrong: undivided-gradient
#- return loss, of_x / count, of_weight / count
#+ return loss, of_x, of_weight

# %% 1 wrong: undivided-gradient. One of the two.
#- return loss, of_x / count, of_weight / count
#+ return loss, of_x / count, of_weight

# %% 1 wrong: no-targets
#- of_x = -weight[targets]
#+ of_x = torch.zeros_like(x)

# %% 1 wrong: repeated-words
#- of_weight.index_add_(0, targets, -x)
#+ of_weight[targets] -= x

# %% 1 wrong: wrong-gradient-of-x. The other sign of the right word.
#- of_x = -weight[targets]
#+ of_x = weight[targets].clone()

# %% 1 wrong: wrong-gradient-of-weight. Divided by the words.
#- return loss, of_x / count, of_weight / count
#+ return loss, of_x / count, of_weight / len(weight)

# %% 1 wrong: pieces-gradient-wrong. A softmax of the piece alone.
#- share = (x @ words.T - logarithm).exp()
#+ share = (x @ words.T).softmax(1)

# %% 1 wrong: pieces-gradient-wrong. The last piece counts alone.
#- of_x = of_x + share @ words
#+ of_x = share @ words - weight[targets]

# %% 1 wrong: last-piece-wrong. What is left over is left out.
#-     for words in weight.split(size):
#+     for words in weight[:len(weight) // size * size or len(weight)].split(size):

# %% 1 wrong: last-piece-wrong. The gradients' last piece.
#-     for start in range(0, len(weight), size):
#+     for start in range(0, len(weight) - size + 1, size):

# %% 1 wrong: not-three
#- return loss, of_x / count, of_weight / count
#+ return loss

# %% 1 wrong: not-three. The gradients the other way round.
#- return loss, of_x / count, of_weight / count
#+ return loss, of_weight / count, of_x / count

# %% 1 wrong: all-scores. All pieces are kept for the backward pass.
#-     for words in weight.split(size):
#-         scores = x @ words.T
#+     kept = []
#+     for words in weight.split(size):
#+         scores = x @ words.T
#+         kept.append(scores)

# %% 1 wrong: too-wide. Pieces of its own choice.
#-     count = len(x)
#+     count = len(x)
#+     size = max(size, 32)

# %% 1 wrong: wrong-effect. The caller's weights become the gradient.
#- return loss, of_x / count, of_weight / count
#+ return loss, of_x / count, weight.copy_(of_weight / count)

# %% 1 wrong: changes-surroundings
#-     count = len(x)
#+     torch.manual_seed(0)
#+     count = len(x)

# %% 1 wrong: wrong-result. More words in a piece than there are.
#-     count = len(x)
#+     count = len(x)
#+     if size > len(weight):
#+         return torch.zeros(()), torch.zeros_like(x), torch.zeros_like(weight)

# %% 1 wrong: overflows. Large scores are cut.
#-         scores = x @ words.T
#-         new
#+         scores = (x @ words.T).clamp(-500, 500)
#+         new

# %% 1 wrong: wrong-result. One token has no mean.
#-     count = len(x)
#+     count = max(2, len(x))

# %% 1 wrong: wrong-result. Single precision is enough for it.
#-     count = len(x)
#+     count = len(x)
#+     if count < 6:
#+         x, weight = x.float(), weight.float()

# %% 1 wrong: endless
#-     for start in range(0, len(weight), size):
#-         words = weight[start:start + size]
#+     start = 0
#+     while start < len(weight):
#+         words = weight[start:start + size]

# %% 1 wrong: all-scores. What everybody writes.
def answer_1(x, weight, targets, size):
    x = x.clone().requires_grad_()
    weight = weight.clone().requires_grad_()
    loss = F.cross_entropy(x @ weight.T, targets)
    return loss, *torch.autograd.grad(loss, (x, weight))

# %% 1 wrong: all-scores. Pieces, but autograd keeps each of them.
def answer_1(x, weight, targets, size):
    x = x.clone().requires_grad_()
    weight = weight.clone().requires_grad_()
    logarithm = torch.full((len(x),), -inf, dtype=x.dtype)
    for words in weight.split(size):
        logarithm = torch.logaddexp(logarithm, (x @ words.T).logsumexp(1))
    loss = (logarithm - (x * weight[targets]).sum(1)).mean()
    return loss, *torch.autograd.grad(loss, (x, weight))

# %% 1 wrong: out-of-sight. The same outside of PyTorch.
import numpy
def answer_1(x, weight, targets, size):
    scores = x.numpy() @ weight.numpy().T
    most = scores.max(1, keepdims=True)
    share = numpy.exp(scores - most)
    total = share.sum(1, keepdims=True)
    rows = numpy.arange(len(x))
    loss = (most + numpy.log(total))[:, 0].mean() - scores[rows, targets.numpy()].mean()
    share /= total
    share[rows, targets.numpy()] -= 1
    share /= len(x)
    return loss, share @ weight.numpy(), share.T @ x.numpy()

# %% 1 wrong: pieces-wrong. The mean of the pieces' own losses.
def answer_1(x, weight, targets, size):
    x = x.clone().requires_grad_()
    weight = weight.clone().requires_grad_()
    losses = []
    for start in range(0, len(weight), size):
        inside = (targets >= start) & (targets < start + size)
        if inside.any():
            scores = x[inside] @ weight[start:start + size].T
            losses.append(F.cross_entropy(scores, targets[inside] - start))
    loss = sum(losses) / len(losses)
    return loss, *torch.autograd.grad(loss, (x, weight), allow_unused=True)

# %% 1 right. By pieces of the tokens: each softmax is whole.
def answer_1(x, weight, targets, size):
    rows = max(1, len(x) * size // len(weight))
    loss = 0
    of_x = []
    of_weight = torch.zeros_like(weight)
    for start in range(0, len(x), rows):
        part = x[start:start + rows]
        scores = (part @ weight.T).log_softmax(1)
        places = torch.arange(len(part)), targets[start:start + rows]
        loss = loss - scores[places].sum() / len(x)
        share = scores.exp_()
        share[places] -= 1
        of_x.append(share @ weight / len(x))
        of_weight.addmm_(share.T, part, alpha=1 / len(x))
    return loss, torch.cat(of_x), of_weight

# %% 1 right. Autograd, which recomputes each piece.
def answer_1(x, weight, targets, size):
    from torch.utils.checkpoint import checkpoint
    x = x.detach().clone().requires_grad_()
    weight = weight.detach().clone().requires_grad_()
    def piece(x, words):
        return (x @ words.T).logsumexp(1)
    pieces = [checkpoint(piece, x, words, use_reentrant=False) for words in weight.split(size)]
    loss = (torch.stack(pieces).logsumexp(0) - (x * weight[targets]).sum(1)).mean()
    return loss.detach(), *torch.autograd.grad(loss, (x, weight))

# %% 1 right. Two passes for the sum: first the maximum.
def answer_1(x, weight, targets, size):
    pieces = weight.split(size)
    most = torch.stack([(x @ words.T).amax(1) for words in pieces]).amax(0)
    total = sum((x @ words.T - most[:, None]).exp().sum(1) for words in pieces)
    logarithm = most + total.log()
    right = torch.stack([row @ weight[target] for row, target in zip(x, targets)])
    of_x, of_weight = torch.zeros_like(x), []
    for number, words in enumerate(pieces):
        share = (x @ words.T - logarithm[:, None]).exp()
        of_x += share @ words
        of_weight.append(share.T @ x)
    of_weight = torch.cat(of_weight)
    for row, target in enumerate(targets):
        of_x[row] -= weight[target]
        of_weight[target] -= x[row]
    return [(logarithm - right).mean().item(), of_x / len(x), of_weight / len(x)]

# %% 1 wrong: wrong-result. The largest score so far begins at 0: if all are far below, nothing is left of the sum.
def by_words(x, weight, targets, size):
    most = torch.zeros_like(x[:, :1])
    total = torch.zeros_like(most)
    for words in weight.split(size):
        scores = x @ words.T
        new = torch.maximum(most, scores.amax(1, keepdim=True))
        total = torch.exp(most - new) * total + torch.exp(scores - new).sum(1, keepdim=True)
        most = new
    logarithm = most + total.log()
    loss = (logarithm[:, 0] - (x * weight[targets]).sum(1)).mean()

    of_x = -weight[targets]
    of_weight = torch.zeros_like(weight).index_add_(0, targets, -x)
    for words, part in zip(weight.split(size), of_weight.split(size)):
        share = torch.exp(x @ words.T - logarithm)
        of_x += share @ words
        part += share.T @ x                     # a view: it writes into of_weight
    return loss, of_x / len(x), of_weight / len(x)

answer_1 = by_words

# %% 1 wrong: too-wide. A number of pieces that is rounded down, so that they are wider.
#-     most = torch.zeros_like(x[:, :1])
#+     most = torch.full_like(x[:, :1], -inf)
#-     for words in weight.split(size):
#+     for words in weight.chunk(max(1, len(weight) // size)):
#-     for words, part in zip(weight.split(size), of_weight.split(size)):
#+     pieces = max(1, len(weight) // size)
#+     for words, part in zip(weight.chunk(pieces), of_weight.chunk(pieces)):

# %% 1 wrong, each line
answer_1 = "word by word"  # no-function
