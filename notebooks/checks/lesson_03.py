"""Check the answers to the exercises of lesson 03, Asynchronous computation."""
from d2lhelpers import Timeline
from d2lhelpers.exercises import check


def check_1(answer, predicted):
    """Check a case (t1, t2, n) that keeps the formula's condition, but for which `predicted` promises too little."""
    def possible(t1, t2, n):  # the last operator cannot start before Python has queued n of them
        return n * t1 + t2

    return check(
        answer,
        (lambda case: len(case) == 3, "give three numbers in brackets: (t1, t2, n)"),
        (lambda case: min(case[:2]) > 0 and isinstance(case[2], int) and case[2] > 1,
         "times are above zero, and n is a whole number of calls, at least two"),
        (lambda case: case[2] * case[1] > (case[2] - 1) * case[0],
         "here the condition does not hold, so the other total applies; try fewer calls"),
        (lambda case: predicted(*case[:2], 0, case[2])[1] < possible(*case) * (1 - 1e-9),
         "here the prediction is possible: which of the two should be slower, by a little?"),
    )


def check_2(answer, two_stages):
    """Check a function that waits for the first of the two results of `two_stages`, and not for the second."""
    finished = []

    def products_done(wait):  # 4 products make the first result, 4 more the second
        with Timeline() as timeline:
            wait(*two_stages())
        return sum(o.name == "dot" and o.end < timeline.returned for o in timeline.operators)

    return check(
        answer,
        (callable, "give a function, not its result: its name, or lambda i, f: …"),
        (lambda wait: finished.append(min(products_done(wait) for _ in range(4))) is None,
         "it takes two arrays, and has to run without an error"),
        (lambda wait: finished[0] > 2, "Python was back before the intermediate values were there: nobody waited"),
        (lambda wait: finished[0] < 8, "Python was back only when the final values were there: what did it wait for?"),
    )


def check_3(answer, batch, spare, peak):
    """Check the largest k that never needs more than `spare` bytes; `batch` is in bytes, `peak(k)` measures in MB."""
    def worst(k):  # everything that Python handed in, except the batch at work
        return (k - 1) * batch

    return check(
        answer,
        (lambda k: isinstance(k, int) and k > 0, "give a whole number of batches, at least one"),
        (lambda k: peak(k) < peak(1) + 1.1 * spare / 1e6,
         "measured just now, the peak was too high: what piles up between waits?"),
        (lambda k: worst(k) <= spare, "it went well this time; what if Python queues all of them before one is done?"),
        (lambda k: worst(k + 1) > spare,
         "safe, but you could wait less often: how many batches does SPARE hold, besides the one at work?"),
    )
