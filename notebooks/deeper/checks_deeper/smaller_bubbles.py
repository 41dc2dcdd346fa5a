"""Check the answers to the exercises of the notebook Schedules with smaller bubbles."""
import re
from collections import Counter

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check
from d2lhelpers.torch.pipeline import Pass, replay

FUNCTION = "give a function: its name alone, without parentheses"
SLOTS = {"F": 1, "I": 1, "W": 1}


def zb_h2(rank, ranks, micro_batches):
    """Return the names of a rank's passes: the right answer to exercise 1."""
    ahead, behind = 2 * (ranks - rank) - 1, 2 * rank
    names = [f"F{part}" for part in range(ahead)]
    for part in range(micro_batches):
        names += [f"I{part}"]
        names += [f"W{part - behind}"] * (part >= behind)
        names += [f"F{part + ahead}"] * (part + ahead < micro_batches)
    return names + [f"W{part}" for part in range(micro_batches - behind, micro_batches)]


def names_of(answer, *case):
    """Return what an answer gives as a list of names; a text is a list, too."""
    given = answer(*case)
    return given.split() if isinstance(given, str) else [str(each) for each in given]


def order_of(answer, ranks, micro_batches):
    """Return the order of all ranks."""
    order = []
    for rank in range(ranks):
        names = names_of(answer, rank, ranks, micro_batches)
        order.append([Pass(each[0], int(each[1:]), 0, 0, rank) for each in names])
    return order


def is_complete(answer, ranks, micro_batches):
    """Return whether each rank does every pass once, F before I before W."""
    wanted = Counter(f"{kind}{part}" for kind in "FIW" for part in range(micro_batches))
    for rank in range(ranks):
        names = names_of(answer, rank, ranks, micro_batches)
        if Counter(names) != wanted or any(not names.index(f"F{part}") < names.index(f"I{part}")
                                           < names.index(f"W{part}") for part in range(micro_batches)):
            return False
    return True


def most_alive(passes):
    """Return how many micro-batches a rank keeps at most."""
    now = most = 0
    for each in passes:
        now += {"F": 1, "I": 0, "W": -1}[each.kind]
        most = max(most, now)
    return most


def idle(record):
    """Return the idle slots of each rank between its first and last pass."""
    return [passes[-1].end - passes[0].start - len(passes) for passes in record]


def pipelines(random):
    """Yield a pipeline's ranks and micro-batches: as few of these as allowed, then more."""
    for ranks in 1, 2, 3, int(random.integers(5, 8)), int(random.integers(8, 12)):
        yield ranks, 2 * ranks - 1
        yield ranks, 2 * ranks - 1 + int(random.integers(1, 9))


def judge(function, ranks, micro_batches):
    """Return what is to be said of an order of all ranks: whether it is complete and never idle, and fits."""
    if not is_complete(function, ranks, micro_batches):
        return "not every pass once, in turn"
    order = order_of(function, ranks, micro_batches)
    if max(map(most_alive, order)) > 2 * ranks - 1:
        return "too many alive"
    return f"{max(idle(replay(order, SLOTS)))} idle slots"


def check_1(answer):
    """Check a function (rank, ranks, micro_batches) that returns the order of a rank's passes."""
    def everywhere(rule):
        return lambda _: all(rule(ranks, parts) for ranks, parts in ((1, 1), (2, 3), (2, 5), (4, 7), (4, 9)))

    def all_names(ranks, parts):
        return [names_of(answer, rank, ranks, parts) for rank in range(ranks)]

    def are_names(ranks, parts):
        return all(re.fullmatch(r"[FIWB]\d+", each) for names in all_names(ranks, parts) for each in names)

    def in_turn(first, second):
        def rule(ranks, parts):
            return all(names.index(f"{first}{part}") < names.index(f"{second}{part}")
                       for names in all_names(ranks, parts) for part in range(parts))
        return everywhere(rule)

    def each_once(ranks, parts):
        wanted = Counter(f"{kind}{part}" for kind in "FIW" for part in range(parts))
        return all(Counter(names) == wanted for names in all_names(ranks, parts))

    def goes_on(ranks, parts):
        try:
            replay(order_of(answer, ranks, parts), SLOTS)
        except ValueError:
            return False
        return True

    def fits(ranks, parts):
        return max(map(most_alive, order_of(answer, ranks, parts))) <= 2 * ranks - 1

    def waits(ranks, parts):
        return idle(replay(order_of(answer, ranks, parts), SLOTS))

    def at_once(_):
        """Return whether each W follows its I although a rank waits."""
        return all(names[names.index(f"I{part}") + 1] == f"W{part}" for names in all_names(4, 9) for part in range(9))

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("no-names", everywhere(are_names),
         "return names such as F0, I0 and W0: a kind and the number of a micro-batch"),
        ("whole-backward", everywhere(lambda *case: "B" not in str(all_names(*case))),
         "B is a whole backward pass: split it into I and W"),
        ("not-once", everywhere(each_once), "each rank does F, I and W of every micro-batch once"),
        ("input-before-forward", in_turn("F", "I"), "on some rank an I comes before its F"),
        ("weights-before-input", in_turn("I", "W"), "on some rank a W comes before its I"),
        ("deadlock", everywhere(goes_on), "in this order the ranks wait for one another for ever"),
        ("too-many-alive", everywhere(fits), "a rank keeps more than 2 · ranks − 1 micro-batches alive"),
        ("weights-at-once", lambda _: not (at_once(_) and max(waits(4, 9))),
         "some rank is idle, although each W could be done later than right after its I"),
        ("like-zb-h1", lambda _: max(waits(4, 9)) != 3 or max(map(most_alive, order_of(answer, 4, 9))) > 4,
         "as many idle slots as ZB-H1, with its memory: there is room for more micro-batches"),
        ("first-rank-idle", lambda _: not waits(4, 9)[0], "rank 0 has idle slots: follow its first gradient back"),
        ("idle", everywhere(lambda *case: not max(waits(*case))),
         "a rank has idle slots between its first and last pass"),
        *Exam(zb_h2, pipelines, judge).rules(),
    )


def check_2(answer):
    """Check the name of a schedule, a share of idle slots, and a number of micro-batches for 1F1B."""
    def name(_):
        return re.sub("[^a-z0-9]", "", str(answer[0]).lower())

    def near(share):
        return abs(float(answer[1]) - share) < 0.002

    return check(
        answer,
        ("not-three", lambda a: len(a) == 3 and not isinstance(a, str),
         "give three things: (name, share, micro-batches)"),
        ("no-schedule", lambda _: name(_).startswith(("gpipe", "1f1b", "interleaved", "zbh1", "zbh2", "zbv")),
         "first the name of a schedule, as in the table"),
        ("too-much-memory", lambda _: not name(_).startswith(("gpipe", "zbh2")),
         "this schedule keeps more than 10 micro-batches alive"),
        ("too-many-messages", lambda _: not name(_).startswith(("interleaved", "zbv")),
         "this schedule sends more messages than 1F1B"),
        ("more-idle", lambda _: name(_) == "zbh1", "another schedule that fits has fewer idle slots"),
        ("no-share", lambda a: 0 < float(a[1]) < 1, "the name is right. A share lies between 0 and 1"),
        ("relative-to-work", lambda _: not near(7 / 48),
         "the name is right. That is idle slots relative to those of work; relative to all?"),
        ("share-of-work", lambda _: not near(48 / 55), "the name is right. That is the share of work"),
        ("share-of-1f1b", lambda _: not near(21 / 69), "the name is right. That is the share under 1F1B"),
        ("wrong-share", lambda _: near(7 / 55),
         "the name is right. How many slots of work has a rank, and how many is it idle?"),
        ("same-batch", lambda a: a[2] != 16, "with 16 micro-batches 1F1B has a larger share"),
        ("wrong-number", lambda a: a[2] == 48,
         "name and share are right. 1F1B has three times the idle slots: how much work makes the share the same?"),
    )
