"""Capstones: which targets are missed, what their table says, which hint a level gives, and answers that fail."""
import os

import pytest

from d2lhelpers.process import in_fresh_process
from d2lhelpers.score import Capstone, Target, at_least, at_most, counted


class Script:
    """What an answer inherits from; its counts keep the contract and meet every target, just so."""

    found = {"steps": 3, "calls": 5, "copies": 2, "gap": 0.1}  # noqa: RUF012


def answer(**changes):
    """Return an answer with these counts in place of the script's."""
    return type("Answer", (Script,), {"found": Script.found | changes})


TARGETS = [Target("bronze", "01", "calls", *at_most(5), counted("calls"), "too many calls"),
           Target("silver", "02", "copies", *at_least(2), counted("copies"), "too few copies"),
           Target("gold", "03", "gap", *at_most(0.1), counted("gap"), "another result")]
CAPSTONE = Capstone(Script, lambda kind: kind.found, TARGETS, [(lambda found: found["steps"] == 3, "three steps")],
                    "not scored: {calls} calls")


FIRST = "counting takes up to a minute on a slow machine\n"  # what a score says at once


def test_a_limit_itself_is_met(capsys):
    """Counts at their limits are met; beyond them they are missed, and the table names the lesson to read again."""
    assert CAPSTONE.missed_targets(Script) == []
    assert CAPSTONE.missed_targets(answer(calls=6, copies=1, gap=0.25)) == ["calls", "copies", "gap"]
    CAPSTONE.score(answer(calls=6, gap=0.25))
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == FIRST.strip()
    assert [line.split("  ")[0] for line in lines] == ["level", "bronze", "silver", "gold", "not scored: 6 calls"]
    assert [line.split()[-1] for line in lines[1:4]] == ["01", "met", "03"]
    assert "difference 0.2" in lines[3]


@pytest.mark.parametrize(("level", "changes", "said"), [
    ("bronze", {}, "right"), ("gold", {}, "right"),
    ("bronze", {"steps": 2, "calls": 6}, "not yet. Hint: three steps"),
    ("bronze", {"calls": 6}, "not yet. Hint: too many calls"),
    ("bronze", {"copies": 0, "gap": 1.0}, "right"),
    ("silver", {"calls": 6, "copies": 0}, "not yet. Hint: too many calls"),
    ("silver", {"copies": 0, "gap": 1.0}, "not yet. Hint: too few copies"),
    ("gold", {"gap": 1.0}, "not yet. Hint: another result")])
def test_a_level_includes_those_below(level, changes, said, capsys):
    """The contract comes first, then the targets of the level and of those below it; others do not count."""
    assert CAPSTONE.check(answer(**changes), level) is (said == "right")
    assert capsys.readouterr().out == said + "\n"


def test_an_answer_without_counts_gets_no_score(capsys):
    """No answer, one that is no class, breaks the contract, raises an error or never ends: each is told so."""
    def never_ends(kind):
        raise TimeoutError("rank 0 took more than 12 seconds and had to be stopped")

    def fails(kind):
        in_fresh_process(lambda: 1 / 0)

    for given, said in (..., "no answer yet"), ([1], "no score: give a class"), (answer(steps=2), "no score: three"):
        CAPSTONE.score(given)
        assert capsys.readouterr().out.removeprefix(FIRST).startswith(said)
    for count, said in (never_ends, "still running after 12 seconds"), (fails, "error: ZeroDivisionError: division"):
        capstone = Capstone(Script, count, TARGETS, [])
        assert not capstone.check(Script, "bronze")
        assert said in capsys.readouterr().out
        with pytest.raises(RuntimeError, match=said):
            capstone.missed_targets(Script)


READERS = "".join(f'  File "/tmp/ipykernel_1/2.py", line 3, in {name}\n' for name in ("train", "step", "sums"))


@pytest.mark.parametrize(("printed", "said"), [
    (f'{READERS}  File "torch.py", line 2, in add\nValueError: shapes', "ValueError: shapes (in sums)"),
    ("KeyError: 1\n\nDuring this:\n\ntorch.AnError: two\n\nDuring that:\n\nOSError: 3", "OSError: 3"),
    ("RuntimeError: Connection closed by peer", "one process sends more messages than the other, and waits in vain"),
    ("terminate called\n  what():  4 vs 8. Is there a distributed collective mismatch in your code?",
     "one process sends more messages than the other, and waits in vain"),
    ("no error\nlast words\n", "last words"), ("", "rank 1 failed"),
    ("\n--- rank 0 printed:\nanother's words", "rank 1 failed")])
def test_the_last_error_is_told(printed, said):
    """Of what a process printed, the last error is told, with the reader's method that raised it, or the last line."""
    def fails(kind):
        raise RuntimeError(f"rank 1 failed\n--- rank 1 printed:\n{printed}")

    assert Capstone(Script, fails, TARGETS, []).counts(Script) == ({}, f"it raised an error: {said}")


@pytest.mark.parametrize("message", [
    "the run ended its process without a result",
    "rank 1 failed with exit status 1\n--- rank 1 printed:\nThe function ended its process without a result."])
def test_an_answer_that_ends_its_process_is_told_so(message, capsys):
    """An answer that ends its own process gets a hint that says so, and no points."""
    def ends(kind):
        raise RuntimeError(message)

    capstone = Capstone(Script, ends, TARGETS, [])
    assert not capstone.check(Script, "bronze")
    hint = "it ended its process before there was a result: which line calls exit?"
    assert capsys.readouterr().out == f"not yet. Hint: {hint}\n"
    assert capstone.points(Script, "bronze") == 0


def test_an_answer_that_really_ends_its_process_is_told_so():
    """`os._exit` in an answer, in a fresh process, is such an end."""
    capstone = Capstone(Script, lambda kind: in_fresh_process(os._exit, 0), TARGETS, [])
    assert "ended its process" in capstone.counts(Script)[1]


def test_an_answer_is_counted_once():
    """Scores, checks and points of one answer count it once, also if it cannot be counted."""
    counted_answers = []

    def count(kind):
        counted_answers.append(kind)
        if kind is not Script:
            raise RuntimeError("it failed")
        return kind.found

    capstone = Capstone(Script, count, TARGETS, [])
    other = answer()
    for kind in Script, other, Script, other:
        capstone.check(kind, "bronze")
    assert counted_answers == [Script, other]


@pytest.mark.parametrize(("level", "changes", "points"), [
    ("bronze", {"calls": 6}, 0.5), ("bronze", {"calls": 6, "reads": 9}, 0), ("bronze", {}, 1),
    ("bronze", {"steps": 2}, 0), ("silver", {}, 1), ("silver", {"copies": 0}, 0)])
def test_points_are_what_the_script_misses(level, changes, points):
    """A level's points are the share of its targets that an answer meets, of those that the script itself misses."""
    class Slow(Script):
        found = Script.found | {"calls": 9, "reads": 9, "copies": 0}

    kind = type("Answer", (Slow,), {"found": Slow.found | {"calls": 5, "reads": 2, "copies": 2} | changes})
    targets = [*TARGETS, Target("bronze", "03", "reads", *at_most(3), counted("reads"), "reads"),
               Target("bronze", "03", "steps", *at_most(3), counted("steps"), "steps")]
    capstone = Capstone(Slow, lambda kind: kind.found, targets, CAPSTONE.contract)
    assert capstone.points(kind, level) == points
    assert capstone.points(..., level) == 0
