"""A score of counted targets in three levels, for the lessons in which readers make a script fast."""
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .exercises import check
from .messages import say

LEVELS = "bronze", "silver", "gold"
# what gloo says where the other process is gone, or sends another message
IN_VAIN = "closed by peer", "reset by peer", "Connection", "collective mismatch"


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


class Capstone:
    """A script that readers make fast: it counts what their answers do, prints scores, and checks levels.

    `script` is the class from which an answer inherits. `count(answer)` returns all counts of an answer by name; it
    works in other processes, and may raise what `in_fresh_processes` raises. The `contract` are rules for the counts,
    as for `check`, which every answer keeps; `footnote` is printed below a score, with counts in braces. Lessons:
    08-make-it-fast, pytorch/11-make-it-fast.
    """

    def __init__(self, script: type, count: Callable[[type], Mapping], targets: Sequence[Target],
                 contract: Sequence[tuple], footnote: str = ""):
        self.script = script
        self.count = count
        self.targets = targets
        self.contract = contract
        self.footnote = footnote
        self._counted: dict[type, tuple[Mapping, str]] = {}  # what `counts` returned, by answer
        self._endless: set[type] = set()  # the answers that did not end

    def counts(self, answer: object) -> tuple[Mapping, str]:
        """Return all counts of an answer, and a fault in words, or ""."""
        if not (isinstance(answer, type) and issubclass(answer, self.script)):
            return {}, say("give a class that inherits from {script}: its name alone, without parentheses",
                           script=self.script.__name__)
        if answer not in self._counted:
            self._counted[answer] = self._try(answer)
        return self._counted[answer]

    def _try(self, answer):
        """Count what a class does; return all counts, and a fault in words, or ""."""
        try:
            return self.count(answer), ""
        except TimeoutError as error:
            self._endless.add(answer)
            [limit] = re.findall(r"more than (\d+) seconds", str(error))
            return {}, say("it was still running after {seconds} seconds: which loop never ends, or what does it wait "
                           "for?", seconds=limit)
        except RuntimeError as error:
            return {}, self._what_ended_it(str(error))

    def _what_ended_it(self, text):
        """Return what ended the first process in a message of `in_fresh_processes`: the error, and in which method."""
        outcome, *printed = text.split("\n--- ")
        first = printed[0].partition("\n")[2] if printed else ""  # what follows "rank 0 printed:"
        raised = re.findall(r"^[\w.]*(?:Error|Exception|Exit|Interrupt|StopIteration)\b.*", first, re.MULTILINE)
        words = (raised or first.strip().splitlines() or [outcome])[-1]
        if "ended its process without a result" in words:
            return say("it ended its process before there was a result: which line calls exit?")
        if any(phrase in words for phrase in IN_VAIN):
            words = say("one process sends more messages than the other, and waits in vain")
        file = self.script.__module__.split(".")[-1]
        methods = re.findall(rf'File "[^"]*(?:ipykernel|{file})[^"]*", line \d+, in (\w+)', first)
        if methods:
            words = say("{error} (in {method})", error=words, method=methods[-1])
        return say("it raised an error: {error}", error=words)

    def missed_targets(self, answer: type) -> list[str]:
        """Return what each target counts that an answer does not meet.

        Raises:
            RuntimeError: The answer could not be counted.
        """
        found, fault = self.counts(answer)
        if fault:
            raise RuntimeError(fault)
        return [target.what for target in self.targets if not target.met(target.count(found))]

    def score(self, answer: object) -> None:
        """Print all targets: the level, what is counted, the limit, the count, and the lesson to read again."""
        if answer is ...:
            check(answer)
            return
        if isinstance(answer, type) and answer not in self._counted:
            print(say("counting takes up to a minute on a slow machine"), flush=True)
        found, fault = self.counts(answer)
        broken = fault or next((hint for *_, kept, hint in self.contract if not kept(found)), "")
        if broken:
            print(say("no score: {broken}", broken=say(broken)))
            return
        print(f"level   {'counted':31}{'target':15}{'yours':18}read again")
        for target in self.targets:
            again = "met" if target.met(target.count(found)) else f"lesson {target.lesson}"
            print(f"{target.level:8}{target.what:31}{target.limit:15}{target.shown(found):18}{again}")
        if self.footnote:
            print(say(self.footnote, **found))

    def check(self, answer: object, level: str) -> bool:
        """Check that an answer keeps the contract, and meets the targets of a level and of those below it."""
        if answer is ...:
            return check(answer)
        found, fault = self.counts(answer)  # it has a time limit of its own
        if fault:
            late = isinstance(answer, type) and answer in self._endless
            return check(found, ("endless" if late else "not-counted", lambda _: False, fault))
        below = LEVELS[:LEVELS.index(level) + 1]
        rules = [(target.what, lambda found, target=target: target.met(target.count(found)), target.hint)
                 for target in self.targets if target.level in below]
        return check(found, *self.contract, *rules)

    def points(self, answer: object, level: str) -> float:
        """Return how far an answer gets from the script to all targets of a level: from 0 to 1.

        An answer that cannot be counted or breaks the contract gets 0.
        """
        found, fault = self.counts(answer)
        if fault or not all(kept(found) for *_, kept, _ in self.contract):
            return 0.0
        targets = [target for target in self.targets if target.level == level]
        met = sum(bool(target.met(target.count(found))) for target in targets)
        if met == len(targets):
            return 1.0
        at_first, _ = self.counts(self.script)
        given = sum(bool(target.met(target.count(at_first))) for target in targets)
        return max(0.0, (met - given) / max(1, len(targets) - given))
