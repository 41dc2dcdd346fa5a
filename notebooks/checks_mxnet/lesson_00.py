"""Check the answer to the exercise of lesson 00, Start here."""
from d2lhelpers.exercises import check, match_number


def check_1(answer, timeline):
    """Check how many times as long as Python's part the whole `timeline` took."""
    python, whole = timeline.returned, timeline.end
    ratio = whole / python
    difference = "that is a difference, a time. How many times does the one fit into the other?"
    alone = "that is the time of the whole: compare it with Python's"
    mistakes = {
        "counts-python-twice": (
            ratio + 1, "the whole begins with Python's part: count that once"),
        "leaves-out-python": (
            ratio - 1, "that is how often Python's part fits into the time after it. The whole begins with Python"),
        "upside-down": (1 / ratio, "that is less than 1, but the whole took longer than Python's part"),
        "in-percent": (100 * ratio, "that is in percent: twice as long is 2, not 200"),
        "difference": (whole - python, difference),
        "difference-in-ms": (1e3 * (whole - python), difference),
        "whole-time": (whole, alone),
        "whole-time-in-ms": (1e3 * whole, alone),
    }

    def found(answer):
        return match_number(answer, ratio, [mistake for mistake, _ in mistakes.values()])

    return check(
        answer,
        ("no-number", lambda a: float(a) is not None, "give a number, or an expression that yields one"),
        *((name, lambda a, mistake=mistake: found(a) != mistake, hint) for name, (mistake, hint) in mistakes.items()),
        ("other-ratio", lambda a: found(a) == ratio, "Python's time multiplied by that is not the time of the whole"),
    )
