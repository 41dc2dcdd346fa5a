"""Check the answers to the exercises of lesson 05, Data parallelism from scratch."""
from functools import partial
from itertools import product

import numpy
from mxnet import autograd, np

import d2lhelpers
from d2lhelpers import Timeline
from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check
from d2lhelpers.plots import is_communication

from .cases_05 import attached, passes_of, right_bucket, right_step, single, some_parameters, some_steps
from .spoiled import raises, spoiled

FUNCTION = "give a function: its name alone, without parentheses"


def works_on(device, record):
    """Return whether a device took part in the backward pass of a recorded step."""
    return any(each.device == str(device) and "backward" in each.name for each in record.operators)


def whole_batch(record, gradient, alone):
    """Return whether each of two devices computed all rows: it sums them twice, or receives images and labels only."""
    exchanged = [each for each in record.operators if is_communication(each.name) and each.name != "add_n"]
    return abs(gradient).max() > 1.5 * abs(alone).max() or len(exchanged) <= 2


def check_1(answer, after, rate=0.001, rows=32):
    """Check the factor for the rate of a batch `k` times as large; `after` takes steps and returns the parameters."""
    def better(k, change):
        """Say whether a large step with the answer ends nearer to k small ones than with the answer times `change`."""
        small = after(*[(slice(n * rows, (n + 1) * rows), rate) for n in range(k)])
        factor = float(answer(k))
        here, there = (after((slice(0, k * rows), each * rate)) for each in (factor, factor * change))
        return numpy.linalg.norm(here - small) < numpy.linalg.norm(there - small)

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("no-positive-number", lambda factor: float(factor(2)) > 0, "the function returns a number above zero"),
        ("changes-equal-batch", lambda factor: float(factor(1)) == 1,
         "with k = 1 the batch is the same, and so is the rate"),
        ("falls-short", lambda _: better(2, 1.2), "one large step with your factor falls short of two small ones"),
        ("goes-beyond", lambda _: better(2, 1 / 1.2), "one large step with your factor goes beyond two small ones"),
        ("right-for-two-only", lambda _: better(4, 1.2) and better(4, 1 / 1.2),
         "right for twice the batch, but not for four times the batch"),
        *Exam(lambda k: k, lambda random: [(1,), (3,), (int(random.integers(5, 9)),)], tolerance=0.005).rules(),
        seconds=20,
    )


def check_2(answer, start, devices):
    """Check a function that copies parameters to a device and keeps all their gradients in one array."""
    size = sum(param.size for param in start)

    def on_their_device(get, which):
        """Return whether all arrays are on the device that the function was given, be it the first or the second."""
        found = [(each, device) for device in devices for each in which(get(start, device))]
        return all(each.ctx == device for each, device in found)

    def own_memory(get):
        """Return whether the parameters stay as they are when their copies change."""
        before = [param.copy() for param in start]
        for device in devices:
            for copy in get(before, device)[0]:
                copy[:] = copy + 1
        return all((param == kept).all() for param, kept in zip(start, before, strict=True))

    def written(get):
        copies, whole = get(start, devices[0])
        whole[:] = 3
        return all((copy.grad == 3).all() for copy in copies)

    def holds_gradients(get, passes):
        """Return whether the array holds, in any order, the gradients of the last of several backward passes."""
        copies, whole = get(start, devices[0])
        for _ in range(passes):
            with autograd.record():
                total = sum((copy * copy).sum() for copy in copies)
            total.backward()
        wanted = numpy.concatenate([2 * param.asnumpy().ravel() for param in start])
        return numpy.array_equal(numpy.sort(wanted), numpy.sort(whole.asnumpy()))

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("no-pair", lambda get: len(get(start, devices[0])) == 2, "it returns two things, the copies and the array"),
        ("other-order", lambda get: not isinstance(get(start, devices[0])[0], np.ndarray),
         "what it returns comes in the other order: first the copies, then the array"),
        ("wrong-array-shape", lambda get: get(start, devices[0])[1].shape == (size,),
         "the array has one axis, and room for the numbers of all gradients, no more"),
        ("not-copied", own_memory,
         "on the device where they are already, you return the parameters themselves, not copies"),
        ("copies-elsewhere", lambda get: on_their_device(get, lambda both: both[0]),
         "a copy is not on the device that the function was given"),
        ("array-elsewhere", lambda get: on_their_device(get, lambda both: both[1:]),
         "the array is not on the device that the function was given: allreduce would refuse it"),
        ("no-gradient", lambda get: all(copy.grad is not None for copy in get(start, devices[0])[0]),
         "a parameter has no gradient yet: who told autograd where to keep it?"),
        ("wrong-gradient-shape", lambda get: all(copy.grad.shape == copy.shape for copy in get(start, devices[0])[0]),
         "a gradient has the shape of its parameter: yours is a part of the array that has one axis"),
        ("gradients-elsewhere", written,
         "writing into the array does not change the gradients: they are kept elsewhere"),
        ("misses-gradients", lambda get: holds_gradients(get, 1),
         "after a backward pass the array does not hold all gradients"),
        ("accumulates", lambda get: holds_gradients(get, 2),
         "after a second backward pass the array does not hold the gradients of that pass alone"),
        *Exam(right_bucket, some_parameters, passes_of).rules(),
    )


def check_3(answer, slow, small, devices):
    """Check a step of a network of two dense layers, and the letter that says where its time goes."""
    random = numpy.random.RandomState(1)
    X, y = single(random.normal(size=(64, 64))), np.array(random.randint(0, 10, 64))

    def taken(k, rate=0.1, step=answer):
        """Return each device's parameters after a step, and its record."""
        devs = d2lhelpers.devices(3)[:k]
        copies = attached(small, devs)
        with Timeline() as record:
            step(X, y, copies, devs, rate)
        record.gradient = copies[0][0].grad.asnumpy() if copies[0][0].grad is not None else None
        return [[param.asnumpy() for param in params] for params in copies], record

    def near(found, others):
        return all(numpy.allclose(a, b, rtol=0, atol=1e-5) for a, b in zip(found, others, strict=True))

    def right(k, rate=0.1):
        wanted = taken(1, rate=rate, step=right_step)[0][0]
        return all(near(params, wanted) for params in taken(k, rate=rate)[0])

    def nothing_split(_):
        record = taken(2)[1]
        return whole_batch(record, record.gradient, taken(1)[1].gradient)

    def waits_inside(_):
        """Return whether Python waits, if only inside an operator, for what depends on the images."""
        def step():
            answer(spoiled(X.shape), y, attached(small, devices), devices, 0.1)
        return taken(2)[1].waits or raises(step)

    letter = str(slow).strip().strip("()").lower()
    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("fails", lambda _: taken(1), "called with five arguments, and a network of four parameters, it fails"),
        ("no-update", lambda _: not near(taken(1)[0][0], [param.asnumpy() for param in small]),
         "after your step the parameters are what they were before"),
        ("wrong-on-one", lambda _: right(1),
         "on one device, they do not move by the rate times the mean gradient. Is it the network of the text? Is the "
         "gradient divided once, by the rows?"),
        ("ignores-rate", lambda _: right(1, rate=0.02), "right for one rate only: the last argument is ignored"),
        ("replicas-differ", lambda _: near(*taken(2)[0]), "after a step on two devices the two replicas differ"),
        ("wrong-on-two", lambda _: right(2), "on two devices the replicas agree, but it is not the step of one device"),
        *Exam(right_step, some_steps, tolerance=1e-4).rules(),
        ("one-device-works", lambda _: all(works_on(device, taken(k)[1]) for k in (2, 3)
                                           for device in d2lhelpers.devices(3)[:k]),
         "asked for a step on several devices, one of them does no work"),
        ("nothing-split", lambda step: not nothing_split(step),
         "each device computes the whole batch: nothing was split"),
        ("waits-inside", lambda step: not waits_inside(step), "Python waits for results inside the step"),
        ("no-letter", lambda _: slow is not ..., "that is right. Now the letter, in place of the second three dots"),
        ("not-a-letter", lambda _: letter in ("a", "b", "c"), "answer with one of the letters a, b, c"),
        ("blames-passes", lambda _: letter != "a",
         "add up the blocks of a device in the Timeline. Is that most of the time?"),
        ("blames-sums", lambda _: letter != "b", "look at the step's Timeline: how much of it is green?"),
    )


def check_4(answer, step_on, gap, suspect):
    """Check a step that limits the gradient; `step_on` takes it from the start and returns all devices' copies."""
    SHORT, LONG = 0.5, 1e6  # limits: one below the length of the first gradient, one far above it

    def taken(k, limit, rows=64):
        return step_on(k, lambda X, y, *rest: answer(X.copy(), y.copy(), *rest, limit=limit), rows)

    def same(k, limit, rows=64):
        """Return whether each of `k` devices takes the step that the colleague's code takes on one."""
        alone = step_on(1, partial(suspect, limit=limit), rows)[0]
        return all(gap(params, alone) < 1e-5 for params in taken(k, limit, rows))

    def nothing_split(_):
        """Return whether each device computed the whole batch, by a step that reaches no limit."""
        records = []

        def step(X, y, *rest):
            X, y = X.copy(), y.copy()
            with Timeline() as record:
                answer(X, y, *rest, limit=LONG)
            records.append(record)

        one, two = (step_on(k, step)[0][-1].grad.asnumpy() for k in (1, 2))
        return whole_batch(records[1], two, one)

    def shared(_):
        with Timeline() as record:
            taken(2, SHORT)
        devices = {each.device for each in record.operators}
        return sum(works_on(device, record) for device in devices) == 2

    def right_limited(X, y, copies, devs, rate, limit):
        """Take the colleague's step on one device, where it is right, and copy the parameters to the others."""
        suspect(X, y, copies[:1], devs[:1], rate, limit)
        for params in copies[1:]:
            for param, first in zip(params, copies[0], strict=True):
                first.copyto(param)

    def cases(random):
        limits = float(random.uniform(0.1, SHORT)), LONG
        for (k, rows), limit in product(((1, 1), (2, 3), (3, 4), (3, 8), (2, 31)), limits):
            given = []
            step_on(k, lambda *arguments, given=given: given.extend(arguments), rows)
            X, y, copies, devs, rate = given
            order = np.array(random.permutation(rows))
            yield X[order], y[order], copies, devs, rate * float(random.uniform(0.1, 1)), limit

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("shortens-otherwise", lambda _: same(1, SHORT),
         "on one device, a long gradient is not shortened as the colleague's step does it"),
        ("changes-short-gradient", lambda _: same(1, LONG),
         "on one device, a gradient below the limit should stay as it is"),
        ("replicas-differ", lambda _: gap(*taken(2, SHORT)) == 0, "on two devices the replicas differ after a step"),
        ("wrong-if-reached", lambda _: same(2, SHORT),
         "on two devices it is not the step of one device, if the limit is reached"),
        ("wrong-if-not-reached", lambda _: same(2, LONG),
         "on two devices it is not the step of one device, if the limit is not reached"),
        ("uneven-parts", lambda _: same(2, SHORT, rows=63) and same(3, LONG, rows=64),
         "right for equal parts, but not for a batch that does not divide evenly"),
        *Exam(right_limited, cases, tolerance=1e-4).rules(),
        ("one-device-works", shared, "asked for a step on two devices, one device alone does the work"),
        ("nothing-split", lambda step: not nothing_split(step),
         "each device computes the whole batch: nothing was split"),
        seconds=20,
    )
