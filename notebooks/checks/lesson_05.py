"""The rules of the checks in lesson 05, data parallelism from scratch."""
import numpy
from mxnet import autograd

from d2lhelpers import Timeline
from d2lhelpers.exercises import check

FUNCTION = "give a function: its name alone, without parentheses"


def check_1(answer, after, rate=0.001, rows=32):
    """Check the factor for the rate of a batch `k` times as large; `after` takes steps and returns the parameters."""
    def better(k, change):
        """Say whether a large step with the answer ends nearer to k small ones than with the answer times `change`."""
        small = after(*[(slice(n * rows, (n + 1) * rows), rate) for n in range(k)])
        distances = [numpy.linalg.norm(after((slice(0, k * rows), factor * rate)) - small)
                     for factor in (answer(k), answer(k) * change)]
        return distances[0] < distances[1]

    return check(
        answer,
        (callable, FUNCTION),
        (lambda factor: factor(2) > 0, "the function returns a number above zero"),
        (lambda factor: factor(1) == 1, "with k = 1 the batch is the same, and so is the rate"),
        (lambda _: better(2, 1.2), "one large step with your factor falls short of two small ones"),
        (lambda _: better(2, 1 / 1.2), "one large step with your factor goes beyond two small ones"),
        (lambda _: better(4, 1.2) and better(4, 1 / 1.2),
         "right for twice the batch, but not for four times the batch"))


def check_2(answer, start, devices):
    """Check a function that copies parameters to a device and keeps all their gradients in one array."""
    size = sum(param.size for param in start)

    def same_values(get):
        copies, _ = get(start, devices[1])
        return all(copy.ctx == devices[1] and (copy.as_in_ctx(param.ctx) == param).all()
                   for copy, param in zip(copies, start, strict=True))

    def has_gradients(get):
        return all(copy.grad is not None for copy in get(start, devices[0])[0])

    def written(get):
        copies, whole = get(start, devices[0])
        whole[:] = 3
        return all((copy.grad == 3).all() for copy in copies)

    def gathered(get):
        copies, whole = get(start, devices[0])
        with autograd.record():
            total = sum((copy * copy).sum() for copy in copies)
        total.backward()
        gradients = numpy.concatenate([copy.grad.asnumpy().ravel() for copy in copies])
        return gradients.any() and numpy.array_equal(numpy.sort(gradients), numpy.sort(whole.asnumpy()))

    return check(
        answer,
        (callable, FUNCTION),
        (lambda get: len(get(start, devices[0])) == 2, "it returns two things, the copies and the array"),
        (same_values, "the copies are not the parameters, or not on the device"),
        (lambda get: get(start, devices[0])[1].shape == (size,),
         "the array has one axis, and room for the numbers of all gradients"),
        (has_gradients, "a parameter has no gradient yet: who told autograd where to keep it?"),
        (written, "writing into the array does not change the gradients: what was copied?"),
        (gathered, "after a backward pass the array does not hold the gradients"))


def check_3(answer, devices):
    """Check a function of a list of devices that returns one step of a network that is too small to split."""
    def recorded(step_on, devs):
        run = step_on(devs)
        run()  # warm-up
        with Timeline() as timeline:
            run()
        return timeline

    def mostly_dispatch(step_on):
        timeline = recorded(step_on, devices)
        return timeline.busy(devices[0]) < timeline.returned / 4

    return check(
        answer,
        (callable, FUNCTION),
        (lambda step_on: callable(step_on(devices)), "it returns a function, which takes the step"),
        (lambda step_on: recorded(step_on, devices[:1]).devices == [str(devices[0])],
         "asked for a step on the first device, it worked on others, or on none"),
        (lambda step_on: set(map(str, devices)) <= set(recorded(step_on, devices).devices),
         "asked for a step on both devices, it left one of them without work"),
        (lambda step_on: len(recorded(step_on, devices).operators)
         > 1.5 * len(recorded(step_on, devices[:1]).operators),
         "two devices need more operators than one: does each of them run the whole step?"),
        (lambda step_on: any(mostly_dispatch(step_on) for _ in range(5)),
         "a device is busy for a good part of the time: the network is not too small yet"))


def check_4(answer, step_on, gap):
    """Check a repaired training step; `step_on` takes it from the start and returns the copies of all devices."""
    def same(k, rows):
        """Return whether each of `k` devices takes the step that one device takes."""
        alone = step_on(1, rows=rows)[0]
        return all(gap(params, alone) < 1e-4 for params in step_on(k, answer, rows))

    return check(
        answer,
        (callable, FUNCTION),
        (lambda _: same(1, 64), "on one device it is not the lesson's step: where does it divide by the rows?"),
        (lambda _: same(2, 64), "on two devices it goes elsewhere: what does the all-reduce add up?"),
        (lambda _: same(3, 63), "right on two devices, not on three"),
        (lambda _: same(2, 63), "right for equal parts only: does every row count the same?"))
