"""What the answers to exercises 2 and 3 of lesson 08 are compared with, and the cases in which they are."""
from unittest.mock import patch

import torch
from torch import nn

from d2lhelpers.examine import Exam
from d2lhelpers.torch.gpt import GPT

made_by = torch.amp.GradScaler.__init__


class ScaledSteps:
    """Steps with a loss scale: losses whose gradients pass through float16, and what each step leaves behind."""

    def __init__(self, answer):
        self.answer = answer
        self.scalers = []  # those of PyTorch that were made

    def note(self, scaler, *settings, **more):
        """Make a scaler of PyTorch's, and note it."""
        self.scalers.append(scaler)
        made_by(scaler, *settings, **more)

    def optimizer(self, unit):
        """Return an optimizer for gradients of about `unit`: two groups, and one parameter that has no gradient."""
        one, two, unused, last = (torch.ones(size, requires_grad=True) for size in (2, 3, 2, 1))
        rate = 0.5 / unit
        return torch.optim.SGD([{"params": [one, two]}, {"params": [unused, last], "lr": 2 * rate}], rate, momentum=0.9)

    def use(self, function, gradients, optimizer, scale):
        """Take a step for each of the gradients; return by name what each leaves."""
        one, two, _, last = every = [each for group in optimizer.param_groups for each in group["params"]]
        found = []
        for factors in gradients:
            loss = (torch.cat([one, two, last]).half().float() * factors).sum()
            before = loss.item()
            with patch.object(torch.amp.GradScaler, "__init__", lambda *given, **more: self.note(*given, **more)):
                scale = function(loss, optimizer, scale)
            found.append({
                "next scale": None if scale is None else float(scale),
                "a gradient": any(each.grad is not None and each.grad.any() for each in every),
                "parameters": [round(number, 4) for number in torch.cat([one, two, last]).tolist()],
                "the caller's loss": before == loss.item() or before != before})
        return found

    def play(self, unit, bad=None, place=2, scale=2.0**16):
        """Return what the answer leaves after two steps, in the second of which one gradient may be a bad one."""
        steps = torch.full((2, 6), unit)
        if bad is not None:
            steps[1, place] = bad
        return self.use(self.answer, steps, self.optimizer(unit), scale)

    def exam(self):
        """Return the exam: two of four steps are to be skipped, for an infinity or a NaN anywhere; a scale is small."""
        def cases(random):
            places = random.permutation(6)
            kinds = random.permutation([1, -1, float("nan")] * 2)
            for number, (unit, exponent) in enumerate([(1, 10), (1e-8, 16), (40, random.integers(-2, 2))]):
                scale = 2.0**int(exponent)
                gradients = unit * random.uniform(0.5, 2, (4, 6)) * random.choice([-1, 1], (4, 6))
                for step, each in (random.integers(2), 2 * number), (2, 2 * number + 1):
                    gradients[step, places[each]] = kinds[each] * 16 * 65504 / scale
                yield torch.as_tensor(gradients).float(), self.optimizer(unit), scale

        return Exam(right_step, cases, self.use, tolerance=1e-3)


def right_step(gradients, optimizer, scale):
    """Take a step with a loss scale; `gradients` stands for the loss that has them."""
    (gradients * scale).backward()
    found = [each.grad for group in optimizer.param_groups for each in group["params"] if each.grad is not None]
    finite = all(each.isfinite().all() for each in found)
    if finite:
        for each in found:
            each /= scale
        optimizer.step()
    optimizer.zero_grad()
    return scale if finite else scale / 2


class Jumpy(GPT):
    """A small GPT whose tests fall and rise, because each step of AdamW turns a sine by two radians."""

    def forward(self, ids, caches=None):
        """Return scores that depend wildly on the tokens' numbers."""
        return super().forward(ids, caches) + 5 * torch.sin(2000 * self.tokens.weight).sum(dim=1)


class Fits:
    """Trainings as by `fit` of the lesson, whose text and loss they use, with small networks."""

    def __init__(self, fit, vocabulary):
        self.lesson = fit.__globals__
        self.vocabulary = vocabulary

    def network(self, seed):
        """Return a new small network."""
        with torch.random.fork_rng([]):
            torch.manual_seed(int(seed))
            return Jumpy(self.vocabulary, width=16, heads=1, layers=1).double()

    def right(self, net, steps):
        """Train as `fit` does, in memory that stays level."""
        x, y, loss_of = (self.lesson[name] for name in ("x", "y", "loss_of"))
        optimizer = torch.optim.AdamW(net.parameters())
        losses, tests, best = [], [], None
        for _ in range(steps):
            loss = loss_of(net, x[:2], y[:2])
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
            with torch.no_grad():
                tests.append(loss_of(net, x[2:4], y[2:4]).item())
            if tests[-1] <= min(tests):
                best = nn.utils.parameters_to_vector(net.parameters()).detach()
        return losses, tests, best

    def cases(self, random):
        """Yield a network for one step, and one whose best test is neither the first nor the last fall."""
        yield self.network(random.integers(10**6)), 1
        while True:
            seed = random.integers(10**6)
            _, tests, _ = self.right(self.network(seed), 8)
            least = tests.index(min(tests))
            later = zip(tests[least + 1:], tests[least + 2:], strict=False)
            if least > 0 and any(two < one for one, two in later):
                yield self.network(seed), 8
                return

    def use(self, function, net, steps):
        """Return the three things, losses and tests as lists; in which mode the network is left is free."""
        losses, tests, best = function(net, steps)
        net.train()
        return [list(losses), list(tests), best]

    def exam(self):
        """Return the exam."""
        def right(net, steps):
            return self.right(net, steps)

        return Exam(right, self.cases, self.use, tolerance=1e-4, free=["gradients"])
