"""Check the answers to the exercises of lesson 04, Automatic parallelism."""
import numpy

from d2lhelpers import Timeline
from d2lhelpers.exercises import check


def check_1(answer):
    """Check for how many of 100 products cpu(1) waits with 64 workspaces."""
    return check(
        answer,
        (lambda n: type(n) is int, "a count: a whole number"),
        (lambda n: n != 0, "the workspaces go round: the 65th product gets the same one as the first"),
        (lambda n: n != 36, "products are counted from 0: if number 36 has ended, how many are over?"),
        (lambda n: n != 64, "64 products have a workspace before it is used again. Which of them is the one that "
                            "cpu(1)'s first product gets?"),
        (lambda n: n == 100 - 64 + 1, "counted from 0, cpu(1)'s first product is number 100. Which earlier number has "
                                      "the same workspace?"))


def check_2(answer, theory):
    """Check an order of twenty products in which no device waits; `theory` predicts the end of each."""
    names = ["cpu(0)", "cpu(1)"]
    return check(
        answer,
        (lambda order: isinstance(order, list) and set(order) <= set(names),
         'a list of names, each "cpu(0)" or "cpu(1)"'),
        (lambda order: [order.count(name) for name in names] == [10, 10], "ten products for each device"),
        (lambda order: max(each.end for each in theory(4, order)) < 17,
         "that takes as long as before. Write down the letters A B C D under your list"),
        (lambda order: max(each.end for each in theory(4, order)) == 10,
         "better, but some products still wait: which letter stands under both devices?"))


def check_3(answer, slow, xs):
    """Check a function that returns the numbers of `slow` and keeps both devices busy at once."""
    def same(function):
        found, wanted = ([float(total) for total in each(xs)] for each in (function, slow))
        return numpy.allclose(found, wanted, rtol=1e-3)

    def overlap(timeline):
        return timeline.overlap(*timeline.devices) if len(timeline.devices) == 2 else 0.0

    return check(
        answer,
        (callable, "give a function, not its result: its name"),
        (lambda function: len(function(xs)) == len(slow(xs)), "return one total for each product, in the same order"),
        (same, "the numbers are not those of `slow`"),
        (lambda function: overlap(Timeline.best(lambda: function(xs), overlap, enough=0.8)) > 0.5,
         "the numbers are right, but the devices still take turns. Which array do all products write?"))
