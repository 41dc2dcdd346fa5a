"""Check the answer to the exercise of the notebook Attention in tiles."""
import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check
from d2lhelpers.plain import plain
from d2lhelpers.torch.memory import LiveBytes
from d2lhelpers.torch.work import count_work


class Widest(TorchDispatchMode):
    """Note the numbers of the largest tensor that an operator returns in a `with` block."""

    def __init__(self):
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for each in tree_leaves(result):
            if isinstance(each, torch.Tensor):
                self.numbers = max(self.numbers, each.untyped_storage().nbytes() // each.element_size())
        return result


def with_all_scores(x, weight, targets, size):
    """Return the loss and its gradients: the right values, from all scores at once."""
    scores = x @ weight.T
    rows = torch.arange(len(x))
    loss = (scores.logsumexp(1) - scores[rows, targets]).mean()
    of_scores = scores.softmax(1)
    of_scores[rows, targets] -= 1
    of_scores /= len(x)
    return loss, of_scores @ weight, of_scores.T @ x


def drawn(random, tokens, words, width, size, factor=1.0):
    """Return the arguments of an answer."""
    x = torch.from_numpy(random.normal(size=(tokens, width))) * factor
    weight = torch.from_numpy(random.normal(size=(words, width)))
    return x, weight, torch.from_numpy(random.integers(words, size=tokens)), size


def cases(random):
    """Yield arguments: one word, one token, sizes that do not divide, one piece, large scores, many words."""
    for shape in (1, 1, 1, 1), (1, 5, 2, 2), (3, 4, 2, 4), (6, 7, 3, 3), (4, 9, 3, 20), (5, 8, 3, 1):
        yield drawn(random, *shape)
    yield drawn(random, 6, 10, 3, 4, factor=1000)
    x, weight, targets, size = drawn(random, 6, 10, 3, 4)
    yield x.abs(), -1000 * weight.abs(), targets, size  # all scores are far below 0
    tokens, words, width, size = (int(each) for each in random.integers([20, 40, 3, 5], [40, 90, 9, 17]))
    yield drawn(random, tokens, words, width, size)


def check_1(answer):
    """Check a function (x, weight, targets, size) that returns a loss and two gradients, by pieces of the words."""
    generator = torch.Generator().manual_seed(1)
    x, weight = (torch.randn(rows, 3, generator=generator, dtype=torch.float64) for rows in (6, 8))
    weight = weight[(x @ weight.T).amax(0).argsort()]  # the largest scores come last
    targets = torch.tensor([0, 7, 3, 3, 6, 1])

    def given(size, words=8, factor=1.0):
        """Return the answer's loss and gradients, as plain numbers, and the right ones."""
        arguments = factor * x, weight[:words].clone(), targets.clamp(max=words - 1), size
        right = with_all_scores(*arguments)
        return [torch.as_tensor(each, dtype=torch.float64) for each in plain(list(answer(*arguments)))], right

    def near(one, other):
        return one.shape == other.shape and bool((one - other).abs().max() < 1e-8 * max(1, other.abs().max()))

    def is_right(which, *case, factor=1.0, **options):
        """Return whether a loss (0) or a gradient is `factor` times the right one."""
        mine, right = given(*case, **options)
        return near(mine[which], factor * right[which])

    def three(_):
        mine, right = given(8)
        return len(mine) == 3 and all(one.numel() == other.numel() for one, other in zip(mine, right, strict=True))

    def is_undivided(which):
        return is_right(which, 8, factor=len(x))

    def lacks_the_targets():
        """Return whether a gradient is that of the logarithm alone, divided by the tokens or not."""
        mine, _ = given(8)
        share = (x @ weight.T).softmax(1) @ weight
        return any(near(mine[1], share / number) for number in (1, len(x)))

    def forgets_repeated():
        """Return whether a word that is the target of two tokens counts once."""
        mine, right = given(8)
        wanted = right[2].clone()
        wanted[3] += x[2] / len(x)
        other = right[2].clone()
        other[3] += x[3] / len(x)
        return near(mine[2], wanted) or near(mine[2], other)

    def many(tokens, words, size):
        return drawn(np.random.default_rng(2), tokens, words, 4, size)

    def few_alive(arguments):
        """Return whether no more is alive than eight pieces, and the inputs and gradients a few times."""
        x, weight, _, size = arguments
        with LiveBytes() as memory:
            answer(*arguments)
        return memory.peak < 8 * len(x) * size * x.element_size() + 6 * (x.nbytes + weight.nbytes)

    def narrow(arguments):
        x, weight, _, size = arguments
        with Widest() as widest:
            answer(*arguments)
        return widest.numbers <= max(len(x) * size, x.numel(), weight.numel())

    def in_sight(_):
        """Return whether PyTorch computes products for the loss and for the gradients."""
        arguments = many(256, 1024, 32)
        return count_work(lambda: answer(*arguments)).flops >= 2 * 2 * 256 * 1024 * 4

    def everywhere(rule):
        return lambda _: rule(many(256, 1024, 32)) and rule(many(512, 600, 26))

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        ("not-three", three, "return three tensors: the loss, and two gradients that are shaped like x and weight"),
        ("summed-loss", lambda _: not is_undivided(0), "the loss is the sum over the tokens, not their mean"),
        ("wrong-loss", lambda _: is_right(0, 8), "with all words in one piece the loss is wrong"),
        ("undivided-gradient", lambda _: not (is_undivided(1) or is_undivided(2)),
         "a gradient is that of the sum over the tokens, but the loss is their mean"),
        ("no-targets", lambda _: not lacks_the_targets(),
         "the gradient for x is that of the logarithm; the score of the right word is a part of the loss, too"),
        ("repeated-words", lambda _: not forgets_repeated(),
         "the gradient for weight is wrong for a word that two tokens have as their target"),
        ("wrong-gradient-of-x", lambda _: is_right(1, 8), "with all words in one piece the gradient for x is wrong"),
        ("wrong-gradient-of-weight", lambda _: is_right(2, 8),
         "with all words in one piece the gradient for weight is wrong"),
        ("pieces-wrong", lambda _: is_right(0, 2) and is_right(0, 1),
         "with one piece the loss is right, with several it is not: what does a sum of earlier pieces belong to?"),
        ("pieces-gradient-wrong", lambda _: is_right(1, 2) and is_right(2, 2),
         "with one piece the gradients are right, with several they are not"),
        ("last-piece-wrong", lambda _: all(is_right(each, 3) for each in range(3)),
         "right where `size` divides the number of words, and wrong where it does not"),
        ("overflows", lambda _: all(each.isfinite().all() for each in given(3, factor=1000.0)[0]),
         "with scores in the thousands something is infinite, or not a number"),
        ("out-of-sight", in_sight, "leave the products to PyTorch: what others keep alive cannot be counted"),
        ("all-scores", everywhere(few_alive),
         "far more bytes are alive at once than a few pieces of tokens × size take"),
        ("too-wide", everywhere(narrow), "a tensor has more numbers than tokens × size"),
        *Exam(with_all_scores, cases, tolerance=1e-8).rules(),
        seconds=10)
