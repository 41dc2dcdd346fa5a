"""Check the answer to the exercise of the notebook Compressed and stale."""
import numpy

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check

GRADIENT = numpy.array([0.5, -3.0, 1.0, 0.25, -0.75])
RESIDUAL = numpy.array([0.0, 0.5, 0.25, 1.75, -0.125])
TOTAL = GRADIENT + RESIDUAL  # 0.5, -2.5, 1.25, 2, -0.875


def right_largest(gradient, residual, k):
    """Return the message of the k numbers farthest from zero, and what is left."""
    total = gradient + residual
    chosen = numpy.argsort(abs(total))[len(total) - k:]
    message = numpy.zeros_like(total)
    message[chosen] = total[chosen]
    return message, total - message


def several_steps(function, gradients, residual, k):
    """Return what a function returns in steps, each of which gets the residual of the one before."""
    found = []
    for gradient in gradients:
        message, residual = function(gradient, residual, k)
        found.append((message, residual))
    return found


def some_gradients(random):
    """Yield gradients of one step or of several, a residual and k, from one number to many."""
    for steps, size, k in (1, 1, 1), (1, 2, 0), (1, 3, 3), (2, 4, 1), (3, 9, 4), (5, 50, int(random.integers(2, 50))):
        yield list(random.normal(size=(steps, size))), random.normal(size=size), k


def check_1(answer):
    """Check a function (gradient, residual, k) that sends the k numbers farthest from zero and keeps the rest."""
    def message(k, gradient=GRADIENT, residual=RESIDUAL):
        return numpy.asarray(answer(gradient.copy(), residual.copy(), k)[0])

    def kept(k):
        return numpy.asarray(answer(GRADIENT.copy(), RESIDUAL.copy(), k)[1])

    def sends(values, k):
        return numpy.allclose(message(k), values)

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        ("no-two-arrays", lambda largest: len(largest(GRADIENT.copy(), RESIDUAL.copy(), 2)) == 2,
         "return two arrays: the message and the new residual"),
        ("other-length", lambda _: message(2).shape == (5,) and kept(2).shape == (5,),
         "message and residual are as long as the gradient: a number that is not sent is a zero in the message"),
        ("gradient-alone", lambda _: not sends([0, -3, 1, 0, 0], 2),
         "you chose from the gradient alone: a number that is small in every step would never be sent"),
        ("residual-not-sent", lambda _: not sends([0, -3, 0, 0.25, 0], 2),
         "the right places, but what was left over before is not sent"),
        ("largest-not-farthest", lambda _: not sends([0, 0, 1.25, 2, 0], 2), "-2.5 is farther from zero than 1.25"),
        ("nearest-to-zero", lambda _: not sends([0.5, 0, 0, 0, -0.875], 2), "those are the numbers nearest to zero"),
        ("signs-sent", lambda _: not sends([0, -1, 0, 1, 0], 2), "that is their sign: the numbers travel as they are"),
        ("not-k-numbers", lambda _: numpy.count_nonzero(message(2)) == 2,
         "with k = 2, two numbers of the message are not zero"),
        ("farthest-missing", lambda _: sends([0, -2.5, 0, 2, 0], 2),
         "the message lacks one of the two numbers that are farthest from zero"),
        ("old-residual", lambda _: not numpy.allclose(kept(2), RESIDUAL),
         "the residual is the old one: what was sent must leave it"),
        ("sum-differs", lambda _: numpy.allclose(message(2) + kept(2), TOTAL),
         "message and new residual do not add up to gradient and old residual: something is lost, or counted twice"),
        ("all-or-none-wrong", lambda _: sends(TOTAL, 5) and sends(numpy.zeros(5), 0),
         "right for k = 2, but not if all are sent, or none"),
        ("ties-sent", lambda _: numpy.count_nonzero(message(1, numpy.full(4, 2.0), numpy.zeros(4))) == 1,
         "where several numbers are equally large, it sends more than k"),
        *Exam(right_largest, some_gradients, several_steps).rules(),
    )
