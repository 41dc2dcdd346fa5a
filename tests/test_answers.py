"""The tables of answers, and what shows them to the checks: `one_run.py`, after a lesson's cells."""
import ast
import re
from types import SimpleNamespace

import depends
import nbformat
import numpy as np
import pytest
from answer_tables import Answer, of_lesson, read
from jupyter_client.manager import start_new_kernel
from lessons import LESSONS, NOTEBOOKS
from one_run import faults

from d2lhelpers import exercises

WITH_EXERCISES = [lesson for lesson in LESSONS if lesson.exercises]
ID = re.compile("[a-z0-9]+(-[a-z0-9]+)*")
CHECKS = sorted(NOTEBOOKS.glob("**/checks_*/*.py"))


@pytest.mark.parametrize("lesson", WITH_EXERCISES, ids=str)
def test_every_exercise_has_a_table(lesson):
    """Every exercise has at least two right answers and four wrong ones, which break three rules or more."""
    answers = of_lesson(lesson.name)
    for number in lesson.exercises:
        wanted = [answer.wanted for answer in answers if answer.exercise == number]
        broken = [rule for rule in wanted if rule != "right"]
        assert wanted.count("right") >= 2, f"exercise {number}"
        assert len(broken) >= 4, f"exercise {number}"
        assert len(set(broken)) >= 3, f"exercise {number}"
    assert {answer.exercise for answer in answers} <= set(lesson.exercises)


@pytest.mark.parametrize("path", CHECKS, ids=lambda path: "/".join(path.parts[-2:]))
def test_every_rule_has_an_id_of_its_own(path):
    """Each rule of a check begins with an id, which no other rule of the check has."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "check":
            rules = [rule for rule in node.args[1:] if isinstance(rule, ast.Tuple)]
            ids = [getattr(rule.elts[0], "value", "") for rule in rules if len(rule.elts) == 3]
            assert len(ids) == len(rules), ast.unparse(node)[:200]
            assert len(set(ids)) == len(ids), ids
            assert all(ID.fullmatch(each) for each in ids), ids


def rules_of(path):
    """Return the ids of the rules in a module of checks, and of the errors that stand for one."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Tuple(elts=[ast.Constant(value=str(rule)), ast.Lambda() | ast.Name() | ast.Call(), hint]):
                if ID.fullmatch(rule) and ast.unparse(hint) != "''":  # an exam has no hint, and ids of its own
                    found.add(rule)
            case ast.Call(func=ast.Name(id="Broken"), args=[ast.Constant(value=rule), *_]):
                found.add(rule)
    return found


@pytest.mark.parametrize("path", CHECKS, ids=lambda path: "/".join(path.parts[-2:]))
def test_every_rule_is_broken_by_an_answer(path):
    """Each rule of a check is there for a wrong answer, which is in the table of a lesson with this check."""
    lessons = [lesson for lesson in WITH_EXERCISES if path in depends.files(lesson.path)]
    assert rules_of(path) - {answer.wanted for lesson in lessons for answer in of_lesson(lesson.name)} == set()


TABLE = """# Before the answers a table may say something.

# %% 1 given
from math import pi

# %% 1 right. A function.
def answer_1(r):
    area = pi * r ** 2
    return area

# %% 1 wrong: circumference. Another formula.
# Longer than one line.
#- area = pi * r ** 2
#+ area = 2 * pi
#+     area *= r

# %% 1 wrong, each line
answer_1 = 3  # number
# Pi, not a function.
answer_1 = "# 4"  # text

# %% 2 right, each line
answer_2 = 1
answer_2 = 2
"""


def test_a_table_says_once_what_answers_share():
    """What is given stands before each answer to its exercise; lines and changes are answers like full ones."""
    given = "from math import pi\n"
    full = "def answer_1(r):\n    area = pi * r ** 2\n    return area"
    changed = full.replace("pi * r ** 2", "2 * pi\n    area *= r")
    assert read(TABLE) == [
        Answer(1, "right", f"{given}{full}"),
        Answer(1, "circumference", f"{given}# Longer than one line.\n{changed}"),
        Answer(1, "number", f"{given}answer_1 = 3"),
        Answer(1, "text", f'{given}# Pi, not a function.\nanswer_1 = "# 4"'),
        Answer(2, "right", "answer_2 = 1"), Answer(2, "right", "answer_2 = 2")]


@pytest.mark.parametrize(("old", "new", "words"), [
    ("# Before", "Before", "stands before the first one"), ("#- area = pi", "#- area = e", "stands 0 times"),
    ("#- area = pi * r ** 2", "#- area", "stands 2 times"), ("# number", "  number", "not enough values")])
def test_a_table_with_a_mistake_is_refused(old, new, words):
    """Text that is no answer, a change that fits nowhere or twice, and a line without a rule are errors."""
    with pytest.raises(ValueError, match=words):
        read(TABLE.replace(old, new))


def judge(check, lesson, given):
    """Assert that `check`, a function of an answer, judges all answers in a lesson's table as they deserve."""
    for answer in of_lesson(lesson):
        names = dict(given)
        exec(answer.source, names)
        assert check(names["answer_1"]) == (answer.wanted == "right"), answer.source
        assert exercises.broken == answer.wanted.removeprefix("right"), answer.source


@pytest.mark.parametrize("ratio", [1.1, 3.3, 41.04, 307.45, 2000.7])
def test_lesson_00_judges_any_times(ratio, monkeypatch):
    """Lesson 00's check takes the right answer, exact or rounded, and no wrong one, however fast Python's part was."""
    timeline = SimpleNamespace(returned=0.0047, end=0.0047 * ratio, utilization={"a": 0.9, "b": 0.8})
    given = {"np": np, "returned": timeline.returned, "end": timeline.end, "timeline": timeline}
    monkeypatch.syspath_prepend(NOTEBOOKS)
    from checks_mxnet.lesson_00 import check_1

    judge(lambda answer: check_1(answer, timeline), "00-start-here", given)


@pytest.mark.parametrize("share", [1e-3, 0.1, 0.9])
@pytest.mark.parametrize("ratio", [1.314, 5.074, 20.44, 102.4])
def test_pytorch_lesson_00_judges_any_times(ratio, share, monkeypatch):
    """Its check takes the right answer, exact or rounded, and no wrong one, however long or short the operators were.

    `share` is the part of the time that an addition runs; the rest is the gap after it.
    """
    plain = 53e-6
    one = plain * ratio / (39 + share)  # from the start of an addition to the start of the next one
    starts = [one * (7 + number) for number in range(40)]
    operators = [SimpleNamespace(start=start, end=start + one * share) for start in starts]
    gaps = SimpleNamespace(operators=operators, end=one * 52, returned=one * 50, busy=lambda _: 40 * one * share)
    given = {"torch": SimpleNamespace(tensor=np.float32), "plain": plain, "gaps": gaps}
    monkeypatch.syspath_prepend(NOTEBOOKS / "pytorch")
    from checks_pytorch.lesson_00 import check_1

    judge(lambda answer: check_1(answer, gaps, plain), "pytorch/00-start-here", given)


CHECK = """from d2lhelpers.exercises import check
check(answer_1, ("less", lambda x: x > 0, "add one"), ("more", lambda x: x < 5, "less"));"""


def test_a_check_that_takes_everything_is_noticed():
    """If a check calls a wrong answer right, refuses a right one, or breaks another rule, one sees which."""
    answers = [Answer(1, wanted, f"answer_1 = {number}") for wanted, number in [
        ("right", 1), ("right", 0), ("less", 1), ("less", 0), ("more", 0), ("no-answer", "..."), ("less", "nothing")]]
    given, check = nbformat.v4.new_code_cell("answer_1 = ..."), nbformat.v4.new_code_cell(CHECK)
    manager, kernel = start_new_kernel()
    try:
        found = [fault.partition(":")[0] for fault in faults(kernel, given, check, answers)]
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)
    assert found == ["exercise 1, wanted 'right', got 'less'", "exercise 1, wanted 'less', got 'right'",
                     "exercise 1, wanted 'more', got 'less'", "exercise 1, wanted 'no-answer', got 'no-answer'",
                     "exercise 1, wanted 'less', got 'no-answer'"]
