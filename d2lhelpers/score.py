"""A score of counted targets in three levels, for the lessons in which readers make a script fast."""
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .exercises import check

LEVELS = "bronze", "silver", "gold"
Rule = tuple[Callable[[Any], object], str]  # as for `check`


class Target(NamedTuple):
    """One line of a score: a level, the lesson to read again, what is counted, the limit, and a hint if it is missed.

    `limit` is in words, `met` says whether a count keeps it, and `count` looks a count up among all of an answer.

    >>> waits = Target("bronze", "03", "waits", *at_most(8), counted("waits"), "Python waits too often")
    >>> waits.limit, waits.met(waits.count({"waits": 9}))
    ('at most 8', False)
    """

    level: str
    lesson: str
    what: str
    limit: str
    met: Callable[[Any], bool]
    count: Callable[[Mapping], Any]
    hint: str

    def shown(self, found: Mapping) -> str:
        """Return the count as text: a difference if it is no whole number."""
        count = self.count(found)
        return f"difference {count:.1g}" if isinstance(count, float) else str(count)


def at_most(number: float) -> tuple[str, Callable]:
    """Return a limit in words, and as a function of a count."""
    return f"at most {number}", lambda count: count <= number


def at_least(number: float) -> tuple[str, Callable]:
    """Return a limit in words, and as a function of a count."""
    return f"at least {number}", lambda count: count >= number


def counted(name: str) -> Callable[[Mapping], Any]:
    """Return a function that looks up a count."""
    return lambda found: found[name]


def targets_missed(targets: Sequence[Target], found: Mapping) -> list[str]:
    """Return what each target counts that `found`, all counts of an answer, does not meet."""
    return [target.what for target in targets if not target.met(target.count(found))]


def print_score(targets: Sequence[Target], found: Mapping) -> None:
    """Print a table of all targets: the level, what is counted, the limit, the count, and the lesson to read again.

    Lessons: 08-make-it-fast, pytorch/11-make-it-fast.

    >>> waits = Target("bronze", "03", "waits", *at_most(8), counted("waits"), "Python waits too often")
    >>> print_score([waits], {"waits": 9})
    level   counted                        target         yours             read again
    bronze  waits                          at most 8      9                 lesson 03
    """
    print(f"level   {'counted':31}{'target':15}{'yours':18}read again")
    for target in targets:
        again = "met" if target.met(target.count(found)) else f"lesson {target.lesson}"
        print(f"{target.level:8}{target.what:31}{target.limit:15}{target.shown(found):18}{again}")


def check_level(level: str, targets: Sequence[Target], contract: Sequence[Rule], found: Mapping) -> bool:
    """Check that an answer keeps the contract, then meets the targets of a level and of those below it.

    `found` are all counts of the answer. It prints *right*, or the hint of the first rule that is broken.
    """
    below = LEVELS[:LEVELS.index(level) + 1]
    rules = [(lambda found, target=target: target.met(target.count(found)), target.hint)
             for target in targets if target.level in below]
    return check(found, *contract, *rules)
