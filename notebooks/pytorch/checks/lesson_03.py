"""The rules of the checks in lesson 03, Automatic parallelism."""
from concurrent.futures import ThreadPoolExecutor

import torch

from d2lhelpers.exercises import check
from d2lhelpers.torch import Timeline


def check_1(answer, device):
    """Check a function that multiplies each matrix of a stack by itself, in one operator for all."""
    def stack(how_many):
        return torch.rand(how_many, 8, 8, device=device)

    def right_products(function):
        given = stack(5)
        return all(torch.allclose(one @ one, product, rtol=1e-3)
                   for one, product in zip(given, function(given), strict=True))

    def operators(function, how_many):
        given = stack(how_many)
        function(given)                  # once to warm up
        with Timeline() as timeline:
            function(given)
        return len(timeline.operators)

    return check(
        answer,
        (callable, "a function: its name alone, without parentheses"),
        (lambda function: isinstance(function(stack(5)), torch.Tensor), "it returns one tensor"),
        (lambda function: function(stack(5)).shape == (5, 8, 8),
         "as many products as matrices, each as large as they are"),
        (right_products, "these are not the products of matrices: rows times columns"),
        (lambda function: operators(function, 40) <= operators(function, 10),
         "the more matrices, the more operators: each is called by Python, and Python is what takes the time here"))


def check_2(answer, exchange):
    """Check a pair of workers whose copies start before all products are computed; `exchange` uses the pair."""
    seen = {}

    def by_name(timeline):
        return {name: [o for o in timeline.operators if o.name == name] for name in ("mm", "copy_")}

    def ahead(timeline):                 # seconds left to compute when the first copy began
        mm, copies = by_name(timeline).values()
        return max(o.end for o in mm) - min(o.start for o in copies) if copies else 0

    def record(carriers):
        exchange(carriers, times=2)      # once to warm up
        seen.update(by_name(Timeline.best(lambda: exchange(carriers), ahead, enough=0, of=5)))
        return seen["copy_"]

    def behind():                        # rows in which copies wait behind products
        return {o.device for o in seen["copy_"]} & {o.device for o in seen["mm"]}

    return check(
        answer,
        (lambda pair: len(pair) == 2, "a pair of workers: (…, …)"),
        (lambda pair: all(isinstance(worker, ThreadPoolExecutor) for worker in pair),
         "one of them is no worker: `new_worker` needs its parentheses to make one"),
        (record, "no copy was made"),
        (lambda _: len(behind()) < 2,
         "both sides' copies are queued for a worker that has products to compute first"),
        (lambda _: not behind(),
         "the copies of one side are queued behind products, the other side's are not: look for who does both"),
        (lambda _: min(o.start for o in seen["copy_"]) < max(o.end for o in seen["mm"]),
         "all the computing was over before the first copy began"))


class _Promise:
    """What a queued call will give: it is computed when its result is asked for, which `asked` notes."""

    def __init__(self, work, note):
        self.work, self.note, self.value = work, note, None

    def result(self, timeout=None):
        self.note()
        if self.value is None:
            self.value = self.work()
        return self.value


def check_3(answer, divisor):
    """Check a function that queues two tangled chains; each `step` divides its product by `divisor`.

    The matrices are single numbers, 2 and 3: the results show which of them were multiplied, and how often.
    """
    sides, asked, values = [], [], {}

    def submit(side, function, *arguments):
        sides.append(side)
        return _Promise(lambda: function(*arguments), lambda: asked.append(len(sides)))

    def runs(function):
        for steps in (1, 2, 3):
            sides.clear()
            asked.clear()
            values[steps] = function(torch.full((1, 1), 2.0), torch.full((1, 1), 3.0), submit, steps)
        return all(len(pair) == 2 for pair in values.values())

    def are(steps, twos, threes):        # how often 2 and 3 are factors of the left result
        wanted = [2.0 ** a * 3.0 ** b / divisor ** (twos + threes - 1) for a, b in ((twos, threes), (threes, twos))]
        return all(abs(float(x) / y - 1) < 1e-3 for x, y in zip(values[steps], wanted, strict=True))

    return check(
        answer,
        (callable, "a function: its name alone, without parentheses"),
        (runs, "it returns a pair"),
        (lambda _: not any(isinstance(x, _Promise) for x in values[3]),
         "a pair of promises: somebody has to ask them for their results"),
        (lambda _: are(1, 1, 1), "one step: each side multiplies its own matrix by the other's"),
        (lambda _: are(2, 1, 2), "one step is right, two are not. What is the other chain's last but one, "
         "and has that chain grown already when the second side looks?"),
        (lambda _: are(3, 2, 3), "two steps are right, three are not"),
        (lambda _: min(asked) == len(sides),
         "Python asks for results before it has queued everything: the promises themselves go to `step`"),
        (lambda _: sides.count(0) == sides.count(1), "one worker has more to do than the other"))
