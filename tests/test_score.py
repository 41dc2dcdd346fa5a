"""Scores: which targets are missed, what their table says, and which hint a level gives."""
import pytest

from d2lhelpers.score import Target, at_least, at_most, check_level, counted, print_score, targets_missed

TARGETS = [Target("bronze", "01", "calls", *at_most(5), counted("calls"), "too many calls"),
           Target("silver", "02", "copies", *at_least(2), counted("copies"), "too few copies"),
           Target("gold", "03", "gap", *at_most(0.1), counted("gap"), "another result")]
CONTRACT = [(lambda found: found["steps"] == 3, "three steps")]
GOOD = {"steps": 3, "calls": 5, "copies": 2, "gap": 0.1}


def test_a_limit_itself_is_met(capsys):
    """Counts at their limits are met; beyond them they are missed, and the table names the lesson to read again."""
    assert targets_missed(TARGETS, GOOD) == []
    assert targets_missed(TARGETS, {"calls": 6, "copies": 1, "gap": 0.25}) == ["calls", "copies", "gap"]
    print_score(TARGETS, {"calls": 6, "copies": 2, "gap": 0.25})
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["level", "bronze", "silver", "gold"]
    assert [line.split()[-1] for line in lines[1:]] == ["01", "met", "03"]
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
    assert check_level(level, TARGETS, CONTRACT, GOOD | changes) is (said == "right")
    assert capsys.readouterr().out == said + "\n"
