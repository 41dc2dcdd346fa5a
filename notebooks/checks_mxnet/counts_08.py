"""What lesson 08 counts about a Training: the functions that run in the fresh processes of a score."""
import contextlib
import functools
import time
from collections import Counter
from itertools import pairwise

import numpy
from mxnet import np, npx
from mxnet.gluon import HybridBlock
from scripts.slow_training import Training

from d2lhelpers import Timeline, devices
from d2lhelpers.datasets import load_arrays

STEPS = 12
ROWS = 32  # in a batch
CONVOLUTIONS = STEPS * 2 * 7  # of a device: seven in a forward pass, and as many backward


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
    """Return at how many stages of the backward passes a copy began: between two of them a backward operator did."""
    backward = [each for each in record.operators if "backward" in each.name]
    begun = {each.device: each.start for each in reversed(backward)}
    if len(begun) < 2:
        return 0
    end = max(each.end for each in backward)
    stages = set()
    for each in record.operators:
        if each.name.startswith("Copy") and max(begun.values()) < each.start < end:
            stages.add(sum(other.start < each.start for other in backward))
    return len(stages)


def real_waits(record):
    """Return when waits began. A wait does not count if nothing has run since the one before: its result was ready.

    The last wait is the counting function's own.
    """
    begins = []
    earlier = 0.0
    for begin, end in record.waits[:-1]:
        if any(each.start < end and each.end > earlier for each in record.operators):
            begins.append(begin)
        earlier = end
    return begins


def convolutions(record):
    """Return how many convolutions each device computed, forward and backward."""
    return Counter(each.device for each in record.operators if "Convolution" in each.name)


@contextlib.contextmanager
def counting_graphs():
    """Note when a graph is made, and count the calls of graphs, in a `with` block."""
    made = []
    calls = []
    build, call = HybridBlock._build_cache, HybridBlock._call_cached_op

    def build_and_note(block, *inputs):
        made.append(time.perf_counter())
        return build(block, *inputs)

    def call_and_note(block, *inputs):
        calls.append(block)
        return call(block, *inputs)

    HybridBlock._build_cache, HybridBlock._call_cached_op = build_and_note, call_and_note
    try:
        yield made, calls
    finally:
        HybridBlock._build_cache, HybridBlock._call_cached_op = build, call


def numbers(history):
    """Return a history as an array of NumPy."""
    if any(isinstance(loss, np.ndarray) for loss in history):
        raise TypeError("run should return numbers, not arrays")
    return numpy.array(history, dtype=float)


def single_batches():
    """Return batches with other means and spreads in each part, and with the same: name, shares of two, batch."""
    images, labels = batches()[0]
    alike = numpy.tile(images[:4], (ROWS // 4, 1, 1, 1))
    return [("spread", [1, 1], (images, labels)), ("unequal", [3, 1], (alike, labels))]


def of_script():
    """Return what the script computes on one device: parameters before and after, losses, and what single steps do."""
    training = Training(devices(1, "cpu"))
    found = {"before": vector(training), "losses": numbers(training.run(batches())), "after": vector(training)}
    for name, _, batch in single_batches():
        training = Training(devices(1, "cpu"))
        training.run([batch])
        found[name] = vector(training)
    return found


def of_one_device(answer):
    """Return what a run through all batches on one device computes and counts."""
    alone = answer(devices(1, "cpu"))
    with counting_graphs() as (_, graphs), Timeline() as record:
        history = list(alone.run(batches()))
    return {"history": numbers(history), "after": vector(alone), "calls": round(record.calls / STEPS),
            "compiled": len(graphs), "convolutions": convolutions(record)["cpu(0)"]}


def of_two_devices(answer):
    """Return what a run through all batches on two devices computes and counts."""
    both = answer(devices(2, "cpu"))
    data = Watched(batches())
    rows = []
    both.net.register_forward_pre_hook(lambda _, inputs: rows.append(len(inputs[0])))
    with counting_graphs() as (made, graphs), Timeline() as record:
        start = time.perf_counter()
        history = list(both.run(data))
        npx.waitall()
        seconds = time.perf_counter() - start
    waits = real_waits(record)
    late = [moment for moment in made if len(data.taken) > 2 and moment > data.taken[2]]
    return {"history": numbers(history), "after": vector(both), "seconds": seconds, "batches": len(data.taken),
            "waits": len(waits), "ahead": most_between(data.taken, [begin + start for begin in waits]),
            "graphs": len(late), "compiled": len(graphs), "rows": sum(rows),
            "side by side": side_by_side(record), "convolutions": min(convolutions(record).values(), default=0)}


def of_steps(answer):
    """Return the counts of single steps on two devices, with workspaces for all."""
    images, labels = batches()[0]
    large = [(numpy.tile(images, (4, 1, 1, 1)), numpy.tile(labels, 4))]  # so that Python is done early
    both = answer(devices(2, "cpu"))
    both.run(large)
    record = Timeline.best(lambda: both.run(large), early_copies, enough=5, of=6)
    found = {"early": early_copies(record)}
    for name, shares, batch in single_batches():
        rows = dict.fromkeys(devices(2, "cpu"), 0)

        def count(_, inputs, rows=rows):
            rows[inputs[0].ctx] += len(inputs[0])

        training = answer(list(rows), shares)
        training.net.register_forward_pre_hook(count)
        training.run([batch])
        found[name] = vector(training)
        found[f"rows {name}"] = list(rows.values())
    return found


def compared(script, one, two, steps):
    """Return all counts of an answer: beside what the script computes, and of two devices beside one."""
    def gap(history, expected):
        return float(abs(history - expected).max()) if len(history) == len(expected) == STEPS else numpy.inf

    def far(vector, key="after"):
        return distance(script["before"], script[key], vector)

    counted = {key: two[key] for key in ("seconds", "batches", "waits", "ahead", "graphs", "rows", "side by side")}
    return counted | {
        "steps": len(one["history"]), "steps of two": len(two["history"]),
        "first loss": float(abs(one["history"] - script["losses"][0])[0]) if len(one["history"]) else numpy.inf,
        "losses": gap(one["history"], script["losses"]), "losses of two": gap(two["history"], one["history"]),
        "parameters": far(one["after"]), "two": distance(script["before"], one["after"], two["after"]),
        "calls": one["calls"], "compiled": two["compiled"] - 2 * one["compiled"],
        "convolutions": min(one["convolutions"], two["convolutions"]), "early": steps["early"],
        **{name: far(steps[name], name) for name, *_ in single_batches()},
        **{key: rows for key, rows in steps.items() if key.startswith("rows")}}
