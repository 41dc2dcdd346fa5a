"""The rules of the checks in lesson 06, data parallelism, concisely."""
import numpy

from d2lhelpers import Timeline
from d2lhelpers.exercises import check


def check_1(answer):
    """Check how many of 240 rows device 0 should get."""
    return check(
        answer,
        (lambda rows: 0 < rows < 240, "give a number of rows below 240"),
        (lambda rows: rows != 120, "with equal parts device 0 ends after 0.4 seconds, device 1 after 1.4"),
        (lambda rows: rows != 180, "180 rows would be right without the neighbour's 0.2 seconds"),
        (lambda rows: abs(rows - 195) < 0.5, "write down both devices' seconds for r rows: when are they equal?"))


def check_2(answer, network, images, devices):
    """Check a function of images and devices that returns the class which `network` finds for each image."""
    wanted = network(images).asnumpy().argmax(axis=1)

    def overlap(timeline):
        return timeline.overlap(*devices)

    return check(
        answer,
        (callable, "give a function: its name alone, without parentheses"),
        (lambda classify: numpy.shape(classify(images, devices[:1])) == wanted.shape,
         "return one class per image: the index of the largest of its ten scores"),
        (lambda classify: numpy.array_equal(classify(images, devices[:1]), wanted),
         "the classes are wrong already on one device: which index has the largest score?"),
        (lambda classify: numpy.shape(classify(images, devices)) == wanted.shape, "on two devices, an image is lost"),
        (lambda classify: numpy.array_equal(classify(images, devices), wanted),
         "two devices find other classes than one: are the parts in order?"),
        (lambda classify: overlap(Timeline.best(lambda: classify(images, devices), overlap, enough=0.1, of=5)) > 0.1,
         "the devices take turns, or one does everything: where do you read the first result?"))


def check_3(answer, batches):
    """Check which batch of an epoch is split unequally over two devices."""
    rows = [len(labels) for _, labels in batches]
    return check(
        answer,
        (lambda number: 0 <= number < len(rows), f"the epoch's batches are numbered from 0 to {len(rows) - 1}"),
        (lambda number: rows[number] % 2 == 1, "this batch splits into equal parts: a mean of means is right"))
