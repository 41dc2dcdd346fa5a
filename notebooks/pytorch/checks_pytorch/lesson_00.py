"""Check the answer to the exercise of lesson 00, Start here."""
from d2lhelpers.exercises import check, match_number


def check_1(answer, timeline, plain):
    """Check how many times as long the operators of the `timeline` took as without it, which was `plain` seconds."""
    first = timeline.operators[0].start
    last = timeline.operators[-1]
    span = last.end - first
    ratio = span / plain
    edges = "that counts the time before the first addition and after the last one, too"
    difference = "that is a difference, a time. How many times does the one fit into the other?"
    alone = "that is the recorded time alone: compare it with the other"
    mistakes = {
        timeline.end / plain: edges, last.end / plain: edges, (timeline.end - first) / plain: edges,
        timeline.busy("cpu") / plain: "that leaves out the gaps between the additions",
        (last.start - first) / plain: "that ends when the last addition begins",
        timeline.operators[-2].end / plain - first / plain: "that leaves out the last addition",
        ratio - 1: "that is how many times longer it took, not how many times as long: twice as long is 2",
        1 / ratio: "that divides the other way round: which of the two took longer?",
        100 * ratio: "that is in percent: twice as long is 2, not 200",
        1e3 * ratio: "one of the two times is in seconds, the other is not",
        span - plain: difference, 1e3 * (span - plain): difference, 1e6 * (span - plain): difference,
        span: alone, 1e3 * span: alone, 1e6 * span: alone,
    }

    def found(answer):
        return match_number(answer, ratio, mistakes)

    return check(
        answer,
        (lambda a: float(a) is not None, "give a number, or an expression that yields one"),
        *((lambda a, mistake=mistake: found(a) != mistake, hint) for mistake, hint in mistakes.items()),
        (lambda a: found(a) == ratio, "the time without recording, multiplied by that, is not the recorded time"),
    )
