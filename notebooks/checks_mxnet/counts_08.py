"""What lesson 08 counts about a Training: the functions that run in the fresh processes of a score."""
import functools
import time
from itertools import pairwise

import numpy
from mxnet import np, npx
from mxnet.gluon import HybridBlock
from scripts.slow_training import Training

from d2lhelpers import Timeline, devices
from d2lhelpers.datasets import load_arrays

STEPS = 12
ROWS = 32  # in a batch


@functools.cache
def batches():
    """Return the batches that an answer trains on."""
    (images, labels), _ = load_arrays("digits")
    images = images.repeat(2, axis=2).repeat(2, axis=3)
    return [(images[start:start + ROWS], labels[start:start + ROWS]) for start in range(0, STEPS * ROWS, ROWS)]


class Watched(list):
    """A list that notes when each of its items is taken."""

    def __init__(self, items):
        super().__init__(items)
        self.taken = []

    def __getitem__(self, index):
        self.taken.append(time.perf_counter())
        return super().__getitem__(index)

    def __iter__(self):
        for item in super().__iter__():
            self.taken.append(time.perf_counter())
            yield item


def vector(training):
    """Return all parameters on the last device, end to end."""
    npx.waitall()
    params = training.net.collect_params().values()
    return numpy.concatenate([param.list_data()[-1].asnumpy().ravel() for param in params])


def distance(start, one, other):
    """Return how far apart two trainings end, as a share of how far the first one went from the start."""
    if one.shape != other.shape:
        return numpy.inf
    return float(numpy.linalg.norm(one - other) / numpy.linalg.norm(one - start))


def most_between(taken, waits):
    """Return how many batches were taken, at most, between two waits."""
    edges = [-numpy.inf, *waits, numpy.inf]
    return max(sum(begin < moment < end for moment in taken) for begin, end in pairwise(edges))


def side_by_side(record):
    """Return how many convolutions of cpu(0) ran while cpu(1) ran one, too."""
    first, second = ([each for each in record.operators if "Convolution" in each.name and each.device == device]
                     for device in ("cpu(0)", "cpu(1)"))
    return sum(any(one.start < other.end and other.start < one.end for other in second) for one in first)


def early_copies(record):
    """Return how many copies began when all devices were in their backward passes, or one still was."""
    backward = [each for each in record.operators if "backward" in each.name]
    begun = {each.device: each.start for each in reversed(backward)}
    if len(begun) < 2:
        return 0
    end = max(each.end for each in backward)
    return sum(each.name.startswith("Copy") and max(begun.values()) < each.start < end for each in record.operators)


def of_script():
    """Return what the script itself computes on one device: parameters before and after, and losses."""
    training = Training(devices(1, "cpu"))
    before = vector(training)
    losses = training.run(batches())
    return before, vector(training), losses


def of_runs(answer, before, after, losses):
    """Return the counts of two runs through all batches, on one device and on two."""
    found = {}
    alone = answer(devices(1, "cpu"))
    with Timeline() as record:
        history = list(alone.run(batches()))
    if any(isinstance(loss, np.ndarray) for loss in history):
        raise TypeError("run should return numbers, not arrays")
    found["steps"] = len(history)
    found["first loss"] = float(abs(history[0] - losses[0])) if history else numpy.inf
    found["losses"] = float(max(abs(numpy.subtract(history, losses)))) if len(history) == STEPS else numpy.inf
    found["parameters"] = distance(before, after, vector(alone))
    found["calls"] = round(record.calls / STEPS)

    traced = []
    build = HybridBlock._build_cache

    def build_and_note(block, *inputs):
        traced.append(time.perf_counter())
        return build(block, *inputs)

    HybridBlock._build_cache = build_and_note
    both = answer(devices(2, "cpu"))
    data = Watched(batches())
    with Timeline() as record:
        start = time.perf_counter()
        both.run(data)
        npx.waitall()
        found["seconds"] = time.perf_counter() - start
    waits = [begin + start for begin, _ in record.waits[:-1]]  # the last is this function's own
    found["batches"] = len(data.taken)
    found["waits"] = len(waits)
    found["ahead"] = most_between(data.taken, waits)
    found["graphs"] = sum(moment > data.taken[2] for moment in traced) if len(data.taken) > 2 else 0
    found["side by side"] = side_by_side(record)
    found["two"] = distance(before, vector(alone), vector(both))
    return found


def one_step(answer, number, shares, batch):
    """Train on one batch with `number` devices; return the parameters before and after, and each device's rows."""
    rows = dict.fromkeys(devices(number, "cpu"), 0)

    def count(_, inputs):
        rows[inputs[0].ctx] += len(inputs[0])

    training = answer(list(rows), shares)
    before = vector(training)
    training.net.register_forward_pre_hook(count)
    training.run([batch])
    return before, vector(training), list(rows.values())


def of_steps(answer):
    """Return the counts of single steps, with workspaces for all."""
    images, labels = batches()[0]
    large = [(numpy.tile(images, (4, 1, 1, 1)), numpy.tile(labels, 4))]  # so that Python is done early
    both = answer(devices(2, "cpu"))
    both.run(large)
    record = Timeline.best(lambda: both.run(large), early_copies, enough=5, of=6)
    found = {"early": early_copies(record)}
    alike = numpy.tile(images[:4], (ROWS // 4, 1, 1, 1))  # so that all parts have the same mean and spread
    for name, rows, shares in [("spread", images, [1, 1]), ("unequal", alike, [3, 1])]:
        before, alone, _ = one_step(answer, 1, None, (rows, labels))
        _, shared, found[f"rows {name}"] = one_step(answer, 2, shares, (rows, labels))
        found[name] = distance(before, alone, shared)
    return found
