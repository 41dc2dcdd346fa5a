"""The rules of the checks in lesson 06, data parallelism, concisely."""
import itertools

import numpy

from d2lhelpers import Timeline, evaluate_accuracy
from d2lhelpers.exercises import check

FUNCTION = "give a function: its name alone, without parentheses"


def check_1(answer):
    """Check a function of the rows and the busy seconds of each device that returns the weights for the next step."""
    def imbalance(new_weights):
        weights = [1, 1]
        for _ in range(8):
            rows = [240 * weight / sum(weights) for weight in weights]
            seconds = [rows[0] / 300, rows[1] / 100 + 0.2]
            weights = new_weights(rows, seconds)
        return max(seconds) / min(seconds)

    return check(
        answer,
        (callable, FUNCTION),
        (lambda new: len(new([8, 8], [1, 2])) == 2, "it returns one weight per device"),
        (lambda new: min(new([8, 8], [1, 2])) > 0, "weights are numbers above zero"),
        (lambda new: new([8, 8], [1, 2])[0] > new([8, 8], [1, 2])[1],
         "as many rows kept the second device busy for longer, so it should get fewer now"),
        (lambda new: numpy.isclose(numpy.divide(*new([80, 20], [1, 1])), 4),
         "80 and 20 rows kept both busy for the same time, so nothing should change: what do busy seconds say "
         "without the number of rows?"),
        (lambda new: imbalance(new) < 1.1, "after eight steps one of two simulated devices still waits for the other"))


def check_2(answer, network, batches, devices):
    """Check a function of batches and devices that returns the share of rows that `network` gets right."""
    some = list(itertools.islice(batches, 2))
    statistics = [param for param in network.collect_params().values() if param.grad_req == "null"]

    def same_statistics(_):
        return all(numpy.array_equal(*[copy.asnumpy() for copy in param.list_data()]) for param in statistics)

    def overlap(timeline):
        return timeline.overlap(*devices)

    return check(
        answer,
        (callable, FUNCTION),
        (lambda share: 0 <= share(some, devices[:1]) <= 1, "return a share of the rows, not a count"),
        (lambda share: numpy.isclose(share(some, devices[:1]), evaluate_accuracy(some, network, devices[:1])),
         "the share is wrong already on one device: count the right answers of all rows"),
        (same_statistics, "each device normalizes with statistics of its own: whose should both use?"),
        (lambda share: numpy.isclose(share(some, devices), share(some, devices[:1])),
         "both devices together give another share than one: is a row lost?"),
        (lambda share: overlap(Timeline.best(lambda: share(some, devices), overlap, enough=0.1, of=5)) > 0.1,
         "the devices took turns, or one did it all: where do you read the first number?"))
