"""Check the answers to the exercises of lesson 08, Memory and precision."""
import torch

from d2lhelpers.exercises import check
from d2lhelpers.torch.gpt import GPT
from d2lhelpers.torch.memory import LiveBytes

FUNCTION = "give a function: its name alone, without parentheses"


def check_1(answer, rows):
    """Check a function that predicts the bytes at the peak of a step, and the rows that fit on a GPU in two ways."""
    SIZES = (10**6, 64, 8, 256, 10**5), (10**8, 512, 24, 1000, 4096), (844288, 128, 4, 71, 512)

    def kept(P, w, L, V, tokens, recompute):
        """Return the bytes that the forward pass keeps."""
        return 4 * tokens * ((L if recompute else 16 * L) * w + 2 * w + V)

    def one_block(P, w, L, V, tokens, recompute):
        return 4 * tokens * 16 * w if recompute else 0

    def right(*sizes):
        return max(12 * sizes[0] + kept(*sizes), 16 * sizes[0]) + one_block(*sizes)

    def near(wanted, recompute, sizes=SIZES):
        return lambda f: all(abs(float(f(*each, recompute)) / wanted(*each, recompute) - 1) < 0.05 for each in sizes)

    def unlike(wanted, recompute=False):
        return lambda f: not near(wanted, recompute)(f)

    def numbers(*sizes):
        return right(*sizes) / 4

    def all_at_once(*sizes):
        return 16 * sizes[0] + kept(*sizes)

    def inputs_alone(*sizes):
        return max(12 * sizes[0] + kept(*sizes), 16 * sizes[0])

    def first_tooth(*sizes):
        return max(12 * sizes[0] + kept(*sizes) + one_block(*sizes), 16 * sizes[0])

    def bare(P, w, L, V, tokens, recompute):
        """Return the bytes without what the last norm, the scores and the loss keep."""
        return max(12 * P + 4 * tokens * L * w, 16 * P) + one_block(P, w, L, V, tokens, recompute)

    few = (10**9, 1024, 24, 256, 16),

    def fitting(recompute):
        """Return how many rows fit by the answer's own function."""
        count = 0
        while answer(1.5e9, 1600, 48, 512, 1024 * (count + 1), recompute) <= 80e9:
            count += 1
        return count

    def each_number(rule):
        """Try a rule on each number of rows, and on the lowest and the highest one that are right within 5 %."""
        bounds = [sorted((fitting(False), 12)), sorted((fitting(True), 142))]
        return all(rule(float(found), *both) for found, both in zip(rows, bounds, strict=True))

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("no-number", lambda f: float(f(*SIZES[0], False)) > 0, "it returns one number of bytes"),
        ("numbers-not-bytes", unlike(numbers), "that counts numbers, not bytes"),
        ("all-at-once", unlike(all_at_once),
         "that has all gradients and all activations at one moment: look at the curve of a step again"),
        ("forward-end-wrong", near(right, False, SIZES[:2]),
         "without checkpoints: what is alive where the forward pass ends?"),
        ("few-tokens-wrong", near(right, False, few), "with very few tokens: which moment has the peak then?"),
        ("some-sizes-wrong", near(right, False), "without checkpoints: right for some sizes, not for all"),
        ("lacks-recomputed-block", unlike(inputs_alone, True),
         "with checkpoints: one block is whole while it is computed again"),
        ("ignores-recompute", lambda f: f(*SIZES[0], True) != f(*SIZES[0], False), "it ignores `recompute`"),
        ("lacks-last-block", unlike(first_tooth, True),
         "with checkpoints: what is alive while the last block is computed again?"),
        ("lacks-last-layers", unlike(bare, True), "with checkpoints: what do the layers after the last block keep?"),
        ("checkpoints-wrong", near(right, True),
         "with checkpoints: how much is kept of each block, and how much of one?"),
        ("no-rows", lambda _: rows is not ..., "the function is right. Now the two numbers of rows"),
        ("no-two-numbers", lambda _: len(rows) == 2,
         "the function is right, but there are two numbers of rows: without and with"),
        ("rows-not-whole", lambda _: each_number(lambda found, *_: found == int(found)), "a number of rows is whole"),
        ("too-many-rows", lambda _: each_number(lambda found, low, high: found <= high),
         "with one of these the GPU is too small"),
        ("too-few-rows", lambda _: each_number(lambda found, low, high: found >= low),
         "for one of the two, more rows fit"),
    )


def check_2(answer):
    """Check a step with a loss scale: in float16 gradients that would vanish, and some that become infinite."""
    class Watched(torch.optim.SGD):
        """SGD with momentum that counts its steps and notes the gradients that it gets."""

        def __init__(self, parameters):
            super().__init__(parameters, lr=1.0, momentum=0.9)
            self.steps = 0
            self.seen = []

        def step(self, closure=None):
            self.steps += 1
            self.seen = [each.grad.clone() for each in self.param_groups[0]["params"] if each.grad is not None]
            return super().step(closure)

    def try_out(factors, scale=2.0**16, start=1.0):
        """Return a parameter, the optimizer and the scales after a step for each of the factors."""
        weight = torch.full((3,), start, requires_grad=True)
        first, unused, last = (torch.ones(2, requires_grad=True) for _ in range(3))
        optimizer = Watched([first, weight, unused, last])
        scales = []
        weights = []
        for factor in factors:
            parts = torch.tensor([factor, factor / 10, factor / 10])  # only the first gradient is too large
            loss = (weight.half().float() * parts).sum()  # its gradient passes through float16
            loss = loss + (0.001 * first).sum() + (0.001 * last).sum()
            scale = answer(loss, optimizer, scale)
            scales.append(scale)
            weights.append(weight.detach().clone())
        return weights, weight, optimizer, scales

    def after_small():
        return try_out([1e-8])

    def after_large():
        return try_out([0.5, 8.0])

    def after_nan():
        return try_out([0.5, float("nan")])

    def skipped(attempt):
        weights, _, optimizer, _ = attempt()
        return torch.equal(weights[0], weights[1]) and optimizer.steps == 1

    def right_momentum():
        weights, _, _optimizer, _ = try_out([0.5, 0.25])
        return abs(weights[1][0].item() - (1 - 0.5 - (0.45 + 0.25))) < 1e-3

    def seen_after_small():
        return after_small()[2].seen[1:]  # from the parameter in float16 on

    def no_gradient_left(attempt):
        return all(each.grad is None or not each.grad.any() for each in attempt()[2].param_groups[0]["params"])

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("returns-nothing", lambda _: after_small()[3][0] is not None,
         "it returns nothing: the next step needs a scale"),
        ("no-step", lambda _: len(seen_after_small()) > 0, "all gradients were finite, but the optimizer made no step"),
        ("gradient-vanishes", lambda _: seen_after_small()[0].any(),
         "a gradient of 1e-8 has become zero: it passes through float16 in the backward pass"),
        ("still-scaled", lambda _: seen_after_small()[0].max() < 1e-6,
         "the optimizer got the gradients of the scaled loss"),
        ("other-gradients", lambda _: abs(seen_after_small()[0].max() / 1e-8 - 1) < 0.01,
         "the gradients are not those of the loss"),
        ("scale-changes", lambda _: float(after_small()[3][0]) == 2.0**16,
         "the step was good: the scale stays as it is"),
        ("infinite-parameters", lambda _: after_large()[0][1].isfinite().all(),
         "gradients were infinite, and now the parameters are"),
        ("steps-though-infinite", lambda _: skipped(after_large),
         "gradients were infinite, but the parameters or the optimizer's state have changed"),
        ("nan-parameters", lambda _: after_nan()[0][1].isfinite().all(),
         "a gradient was not a number, and now the parameters are not"),
        ("steps-though-nan", lambda _: skipped(after_nan),
         "a gradient was not a number, but parameters or state have changed"),
        ("scale-not-halved", lambda _: float(after_large()[3][1]) == 2.0**15,
         "a step was skipped: half of the scale comes next"),
        ("nan-scale-not-halved", lambda _: float(after_nan()[3][1]) == 2.0**15,
         "a gradient was not a number: half of the scale comes next"),
        ("gradient-left", lambda _: no_gradient_left(after_small),
         "after a good step a gradient is left, and the next one is added"),
        ("skipped-gradient-left", lambda _: no_gradient_left(after_large),
         "after a skipped step a gradient is left, and the next one is added"),
        ("other-momentum", lambda _: right_momentum(),
         "two good steps in a row do not end where they would without a scale"),
    )


def check_3(answer, fit, vocabulary):
    """Check a function that trains as `fit` does, in memory that stays level."""
    def results(function, steps, before=0):
        """Return what a function returns, and live and most bytes, for a network that was trained some steps before."""
        torch.manual_seed(0)
        net = GPT(vocabulary)
        if before:
            fit(net, before)
        with LiveBytes() as memory:
            losses, tests, best = function(net, steps)
            values = [[float(torch.as_tensor(each).detach()) for each in some] for some in (losses, tests)]
        return (*values, best.detach().clone()), memory.live, memory.peak

    wanted, _, _ = results(fit, 3)
    found = {}

    def run(function):
        for steps in 3, 5:
            found[steps] = results(function, steps)
        return True

    def same(which):
        mine, right = torch.tensor(found[3][0][which]), torch.tensor(wanted[which])
        return mine.shape == right.shape and torch.allclose(mine, right, rtol=1e-4, atol=1e-4)

    def best_after_more(function):
        mine, right = (results(each, 3, before=10)[0][2] for each in (function, fit))
        return torch.allclose(mine, right, atol=1e-4)

    def per_step(which):
        return (found[5][which] - found[3][which]) / 2

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("no-three-things", lambda f: len(f(GPT(vocabulary), 1)) == 3,
         "it returns three things: losses, tests, and the best parameters"),
        ("no-vector", lambda f: torch.is_tensor(f(GPT(vocabulary), 1)[2]),
         "the third thing is one vector: the best parameters"),
        ("fails-later", run, "it fails in a later step"),
        ("losses-missing", lambda _: len(found[5][0][0]) == 5, "there is one loss for each step"),
        ("tests-missing", lambda _: len(found[5][0][1]) == 5, "there is one test for each step"),
        ("other-losses", lambda _: same(0), "the losses are not those of `fit`: it trains differently"),
        ("other-tests", lambda _: same(1), "the tests are not those of `fit`"),
        ("other-best", lambda _: torch.allclose(found[3][0][2], wanted[2], atol=1e-4),
         "the best parameters are not those of `fit`"),
        ("last-as-best", best_after_more,
         "as training goes on, the tests rise again: the best parameters are not always the last"),
        ("memory-grows", lambda _: per_step(1) < 10_000,
         "it trains as `fit` does, but with each step more bytes stay alive"),
        ("peak-grows", lambda _: per_step(2) < 10_000,
         "nothing is left in the end, but while it trains, more bytes are alive with each step"),
    )
