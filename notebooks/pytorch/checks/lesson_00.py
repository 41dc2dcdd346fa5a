"""Check the answer to the exercise of lesson 00, Start here."""
from d2lhelpers.exercises import check


def check_1(answer, timeline):
    """Check the share of the `timeline` in which the CPU ran no operator."""
    busy, end = timeline.busy("cpu"), timeline.end

    def near(number, other):
        return abs(number - other) <= 0.05 * abs(other)

    return check(
        answer,
        (lambda a: isinstance(a, (int, float)), "give a number, or an expression that yields one"),
        (lambda a: near(a, 1 - busy / end) or not near(a, end - busy),
         "that is a number of seconds. What share of the whole are they?"),
        (lambda a: near(a, 1 - busy / end) or not near(a, busy / end), "that is the share that did go into operators"),
        (lambda a: 0 < a < 1, "a share lies between 0 and 1"),
        (lambda a: near(a, 1 - busy / end), "this share and the operators' share of the time do not add up to 1"),
    )
