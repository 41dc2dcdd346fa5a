"""Check the answers to the exercises of lesson 08, Memory and precision."""
import tracemalloc

import numpy as np
import torch

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check
from d2lhelpers.plain import plain
from d2lhelpers.torch.memory import LiveBytes

from .training_08 import Fits, ScaledSteps

FUNCTION = "give a function: its name alone, without parentheses"


def check_1(answer, rows):
    """Check a function that predicts the bytes at the peak of a step, and the rows that fit on a GPU in two ways."""
    def sizes(width, layers, vocabulary, tokens):
        """Return what the answer gets of a GPT: the number of its parameters first."""
        block = 12 * width**2 + 13 * width
        return layers * block + (2 * vocabulary + 258) * width, width, layers, vocabulary, tokens

    SIZES = sizes(64, 8, 16, 10240), sizes(512, 24, 256, 4096), sizes(128, 12, 71, 1024)
    many_letters = sizes(64, 8, 1000, 10240),
    few_tokens = sizes(1024, 24, 256, 16),

    def moments(P, w, L, V, tokens, recompute):
        """Return bytes where the backward pass begins, in its first block, in its last one, and where it ends."""
        begins = 12 * P + 4 * tokens * ((L if recompute else 16 * L) * w + 2 * w + 3 * V)
        if recompute:  # a block's own gradients take 4 w beside its 16 w, and the gradient of its input w
            return begins, 12 * P + 4 * tokens * (L + 20) * w, 16 * P + 4 * tokens * 21 * w, 16 * P
        return begins, 12 * P + 4 * tokens * (16 * L + 5) * w, 16 * P, 16 * P

    def right(parameters, width, layers, vocabulary, tokens, recompute):
        return max(moments(parameters, width, layers, vocabulary, tokens, recompute))

    def near(wanted, recompute, tried=SIZES):
        return lambda f: all(abs(float(f(*each, recompute)) / wanted(*each, recompute) - 1) < 0.05 for each in tried)

    def unlike(wanted, recompute=False, tried=SIZES):
        return lambda f: not near(wanted, recompute, tried)(f)

    def numbers(*case):
        return right(*case) / 4

    def all_at_once(P, *others):
        return 4 * P + moments(P, *others)[0]

    def forward_alone(P, w, L, V, tokens, recompute):
        return max(12 * P + 4 * tokens * ((L if recompute else 16 * L) * w + 2 * w + V), 16 * P)

    def whole_block(P, w, L, V, tokens, recompute):
        """Return the bytes without those that the backward pass makes itself."""
        return max(12 * P + 4 * tokens * (L + 16) * w, 16 * P + 64 * tokens * w)

    def begins_alone(*case):
        return max(moments(*case)[0], 16 * case[0])

    def first_tooth(*case):
        return max(*moments(*case)[:2], 16 * case[0])

    def cases(random):
        for tokens in int(random.integers(9, 40)), int(random.integers(2000, 9000)), 10**5:
            for recompute in False, True:
                width, layers = 64 * int(random.integers(1, 9)), int(random.integers(8, 33))
                vocabulary = 10 * width if tokens == 10**5 else int(random.integers(16, 1000))
                yield *sizes(width, layers, vocabulary, tokens), recompute
        per_token = 4 * (16 * layers * width + 3 * vocabulary)
        step = sizes(width, layers, vocabulary, 0)
        yield *step[:4], int(4.6 * step[0] / per_token), False  # little more is alive than where the pass ends

    def fitting(recompute):
        """Return how many rows fit by the answer's own function."""
        count = 0
        while answer(1.5e9, 1600, 48, 512, 1024 * (count + 1), recompute) <= 80e9:
            count += 1
        return count

    def each_number(rule):
        """Try a rule on each number of rows, and on the lowest and the highest one that are right within 5 %."""
        bounds = [sorted((fitting(False), 12)), sorted((fitting(True), 139))]
        return all(rule(float(found), *both) for found, both in zip(rows, bounds, strict=True))

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("no-number", lambda f: float(f(*SIZES[0], False)) > 0, "it returns one number of bytes"),
        ("numbers-not-bytes", unlike(numbers), "that counts numbers, not bytes"),
        ("all-at-once", unlike(all_at_once),
         "that has all gradients and all activations at one moment: look at the curve of a step again"),
        ("forward-end-wrong", near(right, False),
         "without checkpoints: what is alive where the backward pass begins?"),
        ("few-tokens-wrong", near(right, False, few_tokens), "with very few tokens: which moment has the peak then?"),
        ("ignores-recompute", lambda f: f(*SIZES[0], True) != f(*SIZES[0], False), "it ignores `recompute`"),
        ("lacks-recomputed-block", lambda f: unlike(begins_alone, True)(f) and unlike(forward_alone, True)(f),
         "with checkpoints: one block is whole while it is computed again"),
        ("backward-begins", unlike(forward_alone, tried=many_letters),
         "without checkpoints, 1,000 letters: what stands beside the log-softmax where the backward pass begins?"),
        ("lacks-own-gradients", unlike(whole_block, True),
         "with checkpoints: a block is whole, but its own gradients are alive, too: see the text below the budget"),
        ("lacks-last-block", unlike(first_tooth, True, [sizes(256, 8, 16, 2048)]),
         "with checkpoints: what is alive while the last block is computed again?"),
        ("checkpoints-wrong", near(right, True),
         "with checkpoints: how much is kept of each block, and how much of one?"),
        *Exam(right, cases, tolerance=0.05).rules(),
        ("no-rows", lambda _: rows is not ..., "the function is right. Now the two numbers of rows"),
        ("no-two-numbers", lambda _: len(rows) == 2,
         "the function is right, but there are two numbers of rows: without and with"),
        ("rows-with-names", lambda _: not hasattr(rows, "keys"), "the two numbers alone, in square brackets"),
        ("rows-not-whole", lambda _: each_number(lambda found, *_: found == int(found)), "a number of rows is whole"),
        ("too-many-rows", lambda _: each_number(lambda found, low, high: found <= high),
         "with one of these the GPU is too small"),
        ("too-few-rows", lambda _: each_number(lambda found, low, high: found >= low),
         "for one of the two, more rows fit"),
    )



def check_2(answer):
    """Check a step with a loss scale: in float16 gradients that would vanish, and some that become infinite."""
    steps = ScaledSteps(answer)
    nan = float("nan")

    def moved(unit):
        """Return how far the first step moves a parameter, in gradients."""
        return 2 * (1 - steps.play(unit)[0]["parameters"][2])

    def stays(*bad):
        one, two = steps.play(1e-3, *bad)
        return one["parameters"] == two["parameters"]

    def finite(*bad):
        return all(abs(number) < float("inf") for number in steps.play(1e-3, *bad)[1]["parameters"])

    def halved(bad):
        return steps.play(1e-3, bad)[1]["next scale"] == 2.0**15

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("returns-nothing", lambda _: steps.play(1e-3)[0]["next scale"] is not None,
         "it returns nothing: the next step needs a scale"),
        ("no-step", lambda _: moved(1e-3) != 0, "all gradients were finite, but the optimizer made no step"),
        ("gradient-vanishes", lambda _: moved(1e-8) != 0,
         "a gradient of 1e-8 has become zero: it passes through float16 in the backward pass"),
        ("still-scaled", lambda _: abs(moved(1e-3) / 2**16 - 1) > 0.01,
         "the optimizer got the gradients of the scaled loss"),
        ("other-gradients", lambda _: abs(moved(1e-3) - 1) < 0.01, "the gradients are not those of the loss"),
        ("scale-changes", lambda _: steps.play(1e-3)[0]["next scale"] == 2.0**16,
         "the step was good: the scale stays as it is"),
        ("infinite-parameters", lambda _: finite(8.0), "gradients were infinite, and now the parameters are"),
        ("steps-though-infinite", lambda _: stays(8.0),
         "gradients were infinite, but the parameters or the optimizer's state have changed"),
        ("nan-parameters", lambda _: finite(nan), "a gradient was not a number; now parameters are not numbers either"),
        ("steps-though-nan", lambda _: stays(nan),
         "a gradient was not a number, but parameters or state have changed"),
        ("scale-not-halved", lambda _: halved(8.0), "a step was skipped: half of the scale comes next"),
        ("nan-scale-not-halved", lambda _: halved(nan), "a gradient was not a number: half of the scale comes next"),
        ("gradient-left", lambda _: not steps.play(1e-3)[0]["a gradient"],
         "after a good step a gradient is left, and the next one is added"),
        ("skipped-gradient-left", lambda _: not steps.play(1e-3, 8.0)[1]["a gradient"],
         "after a skipped step a gradient is left, and the next one is added"),
        ("first-group-alone", lambda _: finite(8.0, 5),
         "an infinite gradient was not seen: an optimizer may have several groups of parameters"),
        ("changes-loss", lambda _: all(each["the caller's loss"] for each in steps.play(1e-3)),
         "it changes the loss that it was given, which the caller will log"),
        ("uses-scaler", lambda _: not steps.scalers, "it uses PyTorch's GradScaler: build your own"),
        *steps.exam().rules(),
    )


def check_3(answer, fit, vocabulary):
    """Check a function that trains as `fit` does, in memory that stays level, with small networks."""
    fits = Fits(fit, vocabulary)

    def is_vector(f):
        best = f(fits.network(1), 1)[2]
        return torch.is_tensor(best) and best.dim() == 1

    def number(which):
        return lambda f: len(f(fits.network(1), 3)[which]) == 3

    def like_fit(which):
        """Return whether the losses or the tests are those of `fit` in the first steps."""
        mine, right = (plain(f(fits.network(1), 3)[which]) for f in (answer, fits.right))
        return np.allclose(mine, right, rtol=1e-4)

    def is_best(_):
        return all(torch.allclose(answer(mine, steps)[2].detach(), fits.right(right, steps)[2], atol=1e-6)
                   for (mine, steps), (right, _) in zip(*[fits.cases(np.random.default_rng(1)) for _ in range(2)],
                                                        strict=True))

    def of_tensors(steps, at_peak):
        with LiveBytes() as memory:
            results = answer(fits.network(1), steps)
        live = memory.live
        del results
        return memory.peak if at_peak else live

    def elsewhere(steps, _):
        """Return the most bytes that Python and NumPy hold while the answer runs."""
        net = fits.network(1)
        tracemalloc.start()
        try:
            answer(net, steps)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    def level(count, at_peak=True):
        """Return whether a step adds less than a quarter of the network's bytes; what the first call makes may stay."""
        few = sum(each.nbytes for each in fits.network(1).parameters()) / 4
        _, short, long = (count(steps, at_peak) for steps in (1, 3, 7))
        return (long - short) / 4 < few

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("no-three-things", lambda f: len(f(fits.network(1), 1)) == 3,
         "it returns three things: losses, tests, and the best parameters"),
        ("no-vector", is_vector, "the third thing is one vector: the best parameters"),
        ("losses-missing", number(0), "there is one loss for each step"),
        ("tests-missing", number(1), "there is one test for each step"),
        ("other-losses", lambda _: like_fit(0), "the losses are not those of `fit`: it trains differently"),
        ("other-tests", lambda _: like_fit(1), "the tests are not those of `fit`"),
        ("memory-grows", lambda _: level(of_tensors, at_peak=False),
         "it trains as `fit` does, but with each step more bytes stay alive"),
        ("peak-grows", lambda _: level(of_tensors),
         "nothing is left in the end, but while it trains, more bytes are alive with each step"),
        ("memory-elsewhere", lambda _: level(elsewhere),
         "no tensor stays alive, but with each step Python or NumPy keeps more bytes"),
        ("other-best", is_best,
         "tests may fall, rise and fall: the best parameters are those at the lowest test of all, as they were then"),
        *fits.exam().rules(), seconds=15,
    )
