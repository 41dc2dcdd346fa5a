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
        timeline.end / plain: ("whole-timeline", edges),
        last.end / plain: ("time-before-first", edges),
        (timeline.end - first) / plain: ("time-after-last", edges),
        timeline.busy("cpu") / plain: ("without-gaps", "that leaves out the gaps between the additions"),
        (last.start - first) / plain: ("to-last-start", "that ends when the last addition begins"),
        timeline.operators[-2].end / plain - first / plain: ("without-last", "that leaves out the last addition"),
        ratio - 1: ("times-longer",
                    "that is how many times longer it took, not how many times as long: twice as long is 2"),
        1 / ratio: ("upside-down", "that divides the other way round: which of the two took longer?"),
        100 * ratio: ("in-percent", "that is in percent: twice as long is 2, not 200"),
        1e3 * ratio: ("mixed-units", "one of the two times is in seconds, the other is not"),
        span - plain: ("difference", difference),
        1e3 * (span - plain): ("difference-in-ms", difference),
        1e6 * (span - plain): ("difference-in-us", difference),
        span: ("time-alone", alone),
        1e3 * span: ("time-alone-in-ms", alone),
        1e6 * span: ("time-alone-in-us", alone),
    }

    def found(answer):
        return match_number(answer, ratio, mistakes)

    return check(
        answer,
        ("no-number", lambda a: float(a) is not None, "give a number, or an expression that yields one"),
        *((name, lambda a, mistake=mistake: found(a) != mistake, hint) for mistake, (name, hint) in mistakes.items()),
        ("another-ratio", lambda a: found(a) == ratio,
         "the time without recording, multiplied by that, is not the recorded time"),
    )
