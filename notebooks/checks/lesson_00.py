"""Check the answer to the exercise of lesson 00, Start here."""
from d2lhelpers.exercises import check


def check_1(answer, timeline):
    """Check how many times as long as Python's part the whole `timeline` took."""
    python, whole = timeline.returned, timeline.end

    def near(number, other):
        return abs(number - other) <= 0.05 * abs(other)

    return check(
        answer,
        (lambda a: isinstance(a, (int, float)), "give a number, or an expression that yields one"),
        (lambda a: near(a, whole / python) or not near(a, whole - python),
         "that is a difference in seconds. How many times does the one fit into the other?"),
        (lambda a: a > 1, "Python was done first, so the whole took longer: the answer is more than 1"),
        (lambda a: near(a, whole / python), "Python's time multiplied by that is not the time of the whole"),
    )
