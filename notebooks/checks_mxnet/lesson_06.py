"""Check the answers to the exercises of lesson 06, Data parallelism, concisely."""
from collections import Counter
from functools import cache

import numpy
from mxnet import autograd, gluon, np, npx

import d2lhelpers
from d2lhelpers import Timeline, split_and_load
from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check

FUNCTION = "give a function: its name alone, without parentheses"


def check_1(answer):
    """Check how many of 240 rows device 0 should get: 195, so that both devices end after 0.65 seconds."""
    mistakes = {
        "equal-parts": (120, "with equal parts device 0 ends after 0.4 seconds, device 1 after 1.4"),
        "ignores-neighbour": (180, "that would be right without the neighbour: now device 1 ends 0.2 seconds later"),
        "rows-of-device-1": (45, "those are the rows of device 1"),
        "smaller-batch": (
            165, "then device 0 ends after 0.55 seconds, device 1 after 0.95: our batch still has 240 rows, not 220"),
        "gives-away-all": (
            200, "then device 1 ends after 0.6 seconds, earlier than device 0: you gave away all that the neighbour "
                 "takes"),
        "one-round": (186.67, "that is the lesson's rule after one round: it is not balanced yet"),
        "a-share": (0.8125, "that is a share of the batch: give a number of rows"),
        "in-percent": (81.25, "that is in per cent: give a number of rows"),
        "a-time": (0.65, "that is the time after which both end, in seconds: give the number of rows of device 0"),
    }
    return check(
        answer,
        ("no-number", lambda rows: float(rows) is not None, "give one number: the rows of device 0"),
        *((name, lambda rows, wrong=wrong: abs(float(rows) - wrong) > min(0.4, wrong / 100), hint)
          for name, (wrong, hint) in mistakes.items()),
        ("outside-the-batch", lambda rows: 0 < float(rows) < 240,
         "one device would get no row, or more than there are"),
        ("too-few-rows", lambda rows: float(rows) > 194.4, "with so few rows, device 0 ends before device 1"),
        ("too-many-rows", lambda rows: float(rows) < 195.6, "with so many rows, device 0 ends after device 1"),
    )


class _Reached(BaseException):
    """Ends an answer when the network is about to run on a certain device."""


def check_2(answer, network, images, devices):
    """Check a function of images and devices that returns the class which `network` finds for each image."""
    scores = network(images.as_in_ctx(devices[0])).asnumpy()
    best = numpy.sort(scores, axis=1)
    count, three = len(images), d2lhelpers.devices(3)
    sure = best[:, -1] - best[:, -2] > 1e-4  # of these, rounding changes no class

    def asked(images, devs):
        return answer(images.copy(), devs)

    def classes(number):
        found = asked(images, devices[:number])
        return numpy.asarray(found.asnumpy() if isinstance(found, np.ndarray) else found)

    def same(number):
        return numpy.array_equal(classes(number)[sure], scores.argmax(axis=1)[sure])

    def rows_on(devices, rows=count):
        """Return how many of the first rows the network gets on each device; its first layer sees them all."""
        got = Counter()
        hook = network[0].register_forward_pre_hook(lambda _, inputs: got.update({inputs[0].ctx: len(inputs[0])}))
        try:
            asked(images[:rows], devices)
        finally:
            hook.detach()
        return got

    def waits_before(device):
        """Return how often Python waits until the network gets its first rows on a device."""
        def stop(_, inputs):
            if inputs[0].ctx == device:
                raise _Reached

        hook = network[0].register_forward_pre_hook(stop)
        with Timeline() as record:
            try:
                asked(images, devices)
            except _Reached:
                pass
            finally:
                hook.detach()
        return len(record.waits) + sum("mask" in each.name for each in record.operators)  # a mask waits, unseen

    def on(devs, work):
        """Return what `work()` returns while the network is on three devices, if there are three."""
        if len(devs) == 3:
            network.collect_params().reset_ctx(three)
        try:
            return work()
        finally:
            if len(devs) == 3:
                network.collect_params().reset_ctx(devices)

    @cache
    def on_three(rows):
        got = on(three, lambda: rows_on(three, rows))
        return [got[device] for device in three]

    def right_classes(images, devs):
        return network(images.as_in_ctx(devices[0])).asnumpy().argmax(axis=1)

    def cases(random):
        certain = numpy.flatnonzero(sure)
        for number, rows in (1, 1), (2, 3), (3, int(random.integers(3, 20))):
            chosen = random.permutation(certain)[:rows]
            yield images[np.array(chosen)], three[:number]

    def classes_on(function, images, devs):
        return on(devs, lambda: function(images, devs))

    def shares(rows=count):
        got = rows_on(devices, rows)
        return [got[device] for device in devices]

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("fails", lambda _: classes(1) is not None, "called with images and a list of one device, it fails"),
        ("scores-not-classes", lambda _: classes(1).shape != scores.shape,
         "those are ten scores per image. Which class does it belong to?"),
        ("not-one-array", lambda _: classes(1).shape == (count,),
         "asked for one device, it should return one array, with one class per image"),
        ("wrong-on-one", lambda _: same(1),
         "on one device already it finds other classes than `trained` does in prediction"),
        ("uses-another-device", lambda _: len(rows_on(devices[:1])) == 1,
         "asked for one device, it uses another one as well"),
        ("not-one-per-image", lambda _: classes(2).shape == (count,),
         "on two devices it does not return one class for each image"),
        ("wrong-on-two", lambda _: same(2),
         "two devices find other classes than one, or the same ones in another order"),
        ("one-device-works", lambda _: min(shares()) > 0, "asked for two devices, it gives one of them no image"),
        ("nothing-split", lambda _: sum(shares()) == count,
         "together, the devices compute more images than there are: a second device saves nothing"),
        ("unequal-parts", lambda _: max(shares()) - min(shares()) <= 1,
         "one device gets many more images than the other"),
        ("devices-take-turns", lambda _: waits_before(devices[0]) == waits_before(devices[1]),
         "one device has nothing to do until Python has waited for the other: they take turns"),
        ("unequal-parts-of-40", lambda _: max(shares(40)) - min(shares(40)) <= 1,
         "divided well for 63 images, but of 40 images one device gets many more than the other"),
        ("idle-on-three", lambda _: min(on_three(40)) > 0, "asked for three devices, it gives one of them no image"),
        ("unequal-on-three", lambda _: all(max(on_three(rows)) - min(on_three(rows)) <= 1 for rows in (40, 62)),
         "divided well between two devices, but on three the parts differ by more than one image"),
        *Exam(right_classes, cases, classes_on).rules(),
        seconds=20,
    )


def check_3(answer, network, X, y, devices):
    """Check a training step in which rows with the label -1 do not count; `network(devices)` makes what it trains."""
    loss = gluon.loss.SoftmaxCrossEntropyLoss()

    def right_step(net, trainer, X, y, devices):
        losses = []
        with autograd.record():
            for part, truth in zip(split_and_load(X, devices), split_and_load(y, devices), strict=True):
                losses.append(loss(net(part), truth) * (truth >= 0))
        for each in losses:
            each.backward()
        trainer.step(int((y >= 0).sum()))

    def cases(random):
        for number, rows in (1, 3), (3, 40), (2, 63):
            some = d2lhelpers.devices(3)[:number]
            chosen = np.array(random.permutation(len(X))[:rows])
            images, labels = X[chosen], y[chosen]
            labels[np.array(random.permutation(rows)[:random.integers(rows)])] = -1
            yield *network(some), images, labels, some

    exam = Exam(right_step, cases, tolerance=1e-4, free=["gradients"])

    def vector(net):
        npx.waitall()
        return numpy.concatenate([param.data(devices[0]).asnumpy().ravel() for param in net.collect_params().values()])

    def batch(gaps, rows):
        """Return the first rows, without the labels in the slice `gaps`."""
        labels = y[:rows].copy()
        labels[gaps] = -1
        return X[:rows].copy(), labels

    def wanted(gaps, rows=64):
        """Return by how much a step of one device on the labelled rows alone moves the parameters."""
        images, labels = batch(gaps, rows)
        known = labels >= 0
        net, trainer = network(devices[:1])
        before = vector(net)
        with autograd.record():
            losses = loss(net(images[known].as_in_ctx(devices[0])), labels[known].as_in_ctx(devices[0]))
        losses.backward()
        trainer.step(len(losses))
        return vector(net) - before

    def taken(number, gaps, rows=64):
        """Return by how much the answer's step moves them, and how many rows the network gets on each device."""
        got = Counter()
        net, trainer = network(devices[:number])
        before = vector(net)
        net[0].register_forward_pre_hook(lambda _, inputs: got.update({inputs[0].ctx: len(inputs[0])}))
        answer(net, trainer, *batch(gaps, rows), devices[:number])
        return vector(net) - before, got

    def distance(one, two):
        return numpy.linalg.norm(one - two) / numpy.linalg.norm(one)

    def same(number, gaps, rows=64):
        return distance(wanted(gaps, rows), taken(number, gaps, rows)[0]) < 1e-3

    def same_direction(gaps):
        one = wanted(gaps)
        two = taken(1, gaps)[0]
        return distance(one, two * (one @ two) / (two @ two)) < 1e-3

    none, some, half, last = slice(0, 0), slice(0, 20), slice(0, 32), slice(50, 60)
    single = slice(1, None)
    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("fails", lambda _: taken(1, none), "called with what `labelled_step` takes, and one device, it fails"),
        ("no-update", lambda _: numpy.any(taken(1, none)[0]),
         "after your step the parameters are what they were before"),
        ("not-the-mean", lambda _: same(1, none),
         "with all labels there, it is not the step by the mean loss, on one device already"),
        ("counts-unlabelled", lambda _: same_direction(some),
         "on one device, rows without a label still move the parameters"),
        ("wrong-length", lambda _: same(1, some),
         "on one device, with 20 of 64 labels missing, its direction is right, but not its length"),
        ("wrong-on-two", lambda _: same(2, none),
         "on two devices with all labels there, it is not the step of one device"),
        ("wrong-with-gaps", lambda _: same(2, some),
         "on two devices it is not the step of one device, if the first 20 rows lack their label"),
        ("device-without-labels", lambda _: same(2, half),
         "right on two devices, unless no row of a device has a label"),
        ("uneven-parts", lambda _: same(2, last, rows=63),
         "right for 64 rows, but not for a batch that does not divide evenly"),
        ("single-label", lambda _: same(2, single),
         "right on two devices, but not if a single row of the batch has a label"),
        ("one-device-works", lambda _: len(taken(2, none)[1]) == 2, "asked for two devices, it computes on one alone"),
        ("nothing-split", lambda _: sum(taken(2, none)[1].values()) == 64,
         "each device computes the whole batch: nothing was split"),
        *exam.rules(),
    )
