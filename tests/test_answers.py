"""The checks of the exercises, shown right and wrong answers: a right one is called right, a wrong one gets its hint.

The answers to a lesson are in `answers/`, in a file named like the lesson. Each begins with a line that says what the
check must answer:

    # %% 1 right
    # %% 1 wrong: a part of the hint that this answer must get

What follows is run in the lesson's own kernel after the cell that the exercise gives to its reader.
"""
import asyncio
import re
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from conftest import framework_of
from d2lhelpers.exercises import CHECK_SECONDS

ROOT = Path(__file__).parent.parent
ANSWERS = ROOT / "tests" / "answers"
NOTEBOOKS = ROOT / "notebooks"
LESSONS = sorted(path for path in [*NOTEBOOKS.glob("*.ipynb"), *NOTEBOOKS.glob("[!.]*/*.ipynb")]
                 if '"exercise"' in path.read_text(encoding="utf-8"))
HEADING = re.compile(r"^# %% (\d) (right|wrong)(?:: (.+))?$", re.MULTILINE)
LIMIT = 900  # seconds for all answers to a lesson
ENDLESS = "still running"  # the hint for an answer that never ends
SHORT = 4  # seconds that such an answer gets here


class Answer(NamedTuple):
    """An answer to one exercise, and what its check must print."""

    exercise: int
    wanted: str
    source: str


def name(lesson):
    """Return a lesson's name: its path below notebooks/, without the suffix."""
    return lesson.relative_to(NOTEBOOKS).with_suffix("").as_posix()


def answers_to(lesson):
    """Return the answers that the table of a lesson holds."""
    text = (ANSWERS / f"{name(lesson)}.py").read_text(encoding="utf-8")
    parts = HEADING.split(text)[1:]  # number, kind, hint, source; number, kind, ...
    found = []
    for number, kind, hint, source in zip(*[iter(parts)] * 4, strict=True):
        found.append(Answer(int(number), "right" if kind == "right" else hint, source.strip()))
    return found


def code_cells(lesson):
    """Return the code cells of a lesson up to its exercises, and each exercise's cells to answer and to check."""
    core, exercises = [], {}
    given = None
    for cell in nbformat.read(lesson, as_version=4).cells:
        heading = re.search(r"^#+ Exercise (\d)", cell.source, re.MULTILINE)
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "markdown" and heading:
            number = int(heading[1])
        elif "exercise" in tags:
            given = cell
        elif "check" in tags:
            exercises[number] = (given, cell)
        elif cell.cell_type == "code" and not exercises and given is None:
            core.append(cell)
    return core, exercises


def run(cells, lesson):
    """Run cells in a fresh kernel beside the lesson, on after errors; their outputs are stored in them."""
    notebook = new_notebook(cells=cells, metadata=nbformat.read(lesson, as_version=4).metadata)
    client = NotebookClient(notebook, timeout=None, iopub_timeout=60, allow_errors=True,
                            resources={"metadata": {"path": lesson.parent}})
    try:
        asyncio.run(asyncio.wait_for(client.async_execute(), LIMIT))
    except asyncio.TimeoutError:
        pytest.fail(f"the answers to {lesson.stem} took more than {LIMIT} seconds", pytrace=False)


def printed(cell):
    """Return what a cell printed, or the error in which it ended."""
    texts = []
    for output in cell.outputs:
        if output.output_type == "error":
            texts.append(f"{output.ename}: {output.evalue}")
        else:
            texts.append(output.get("text", ""))
    return "".join(texts).strip()


def new_cell(source):
    """Return a cell that is run, not stored."""
    return new_code_cell(source, metadata={"tags": []})


def faults(lesson, answers):
    """Return a line for each answer that did not get from its check what the table says."""
    core, exercises = code_cells(lesson)
    cells = [new_cell(cell.source) for cell in core]
    checks = []
    for answer in answers:
        given, check = exercises[answer.exercise]
        patience = SHORT if answer.wanted == ENDLESS else 10 * CHECK_SECONDS  # on a busy machine
        cells += [new_cell(given.source), new_cell(answer.source),
                  new_cell(f"from d2lhelpers import exercises\nexercises.CHECK_SECONDS = {patience}"),
                  new_cell(check.source)]
        checks.append(cells[-1])
    run(cells, lesson)
    # On a busy machine a claim about time may fail. Whether claims hold, other tests say.
    failed = [printed(cell) for cell in cells[:len(core)]
              if any(out.output_type == "error" and out.ename != "AssertionError" for out in cell.outputs)]
    if failed:
        pytest.fail(f"{lesson.stem} itself fails: {failed[0]}", pytrace=False)
    for answer, check in zip(answers, checks, strict=True):
        said = printed(check)
        as_wanted = said == "right" if answer.wanted == "right" else "Hint:" in said and answer.wanted in said
        if not as_wanted:
            yield f"exercise {answer.exercise}, wanted {answer.wanted!r}, got {said!r}:\n{answer.source}\n"


@pytest.mark.parametrize("lesson", LESSONS, ids=name)
def test_every_exercise_has_a_table(lesson):
    """Every exercise has at least two right answers and four wrong ones, whose hints differ for three of them."""
    _, exercises = code_cells(lesson)
    answers = answers_to(lesson)
    for number in exercises:
        wanted = [answer.wanted for answer in answers if answer.exercise == number]
        hints = [hint for hint in wanted if hint != "right"]
        assert wanted.count("right") >= 2, f"exercise {number}"
        assert len(hints) >= 4, f"exercise {number}"
        assert len(set(hints)) >= 3, f"exercise {number}"
    assert {answer.exercise for answer in answers} <= set(exercises)


# Once a week: where an answer runs for long in several processes, and deeper notebooks.
WEEKLY = re.compile("make-it|many-machines|deeper/")
RUN = [pytest.param(lesson, marks=[pytest.mark.weekly] if WEEKLY.search(name(lesson)) else []) for lesson in LESSONS]


@pytest.mark.slow
@pytest.mark.parametrize("lesson", RUN, ids=name)
def test_each_answer_gets_what_it_deserves(lesson):
    """Each right answer in a lesson's table is called right; each wrong one gets the hint that it must get."""
    framework = framework_of(lesson)
    if framework and find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    found = list(faults(lesson, answers_to(lesson)))
    if found:
        pytest.fail("\n".join(found), pytrace=False)


def judge(check, lesson, given, capsys):
    """Assert that `check`, a function of an answer, judges all answers in a lesson's table as they deserve."""
    for answer in answers_to(lesson):
        names = dict(given)
        exec(answer.source, names)
        check(names["answer_1"])
        assert answer.wanted in capsys.readouterr().out, answer.source


@pytest.mark.parametrize("ratio", [1.1, 3.3, 41.04, 307.45, 2000.7])
def test_lesson_00_judges_any_times(ratio, monkeypatch, capsys):
    """Lesson 00's check takes the right answer, exact or rounded, and no wrong one, however fast Python's part was."""
    timeline = SimpleNamespace(returned=0.0047, end=0.0047 * ratio, utilization={"a": 0.9, "b": 0.8})
    given = {"np": np, "returned": timeline.returned, "end": timeline.end, "timeline": timeline}
    monkeypatch.syspath_prepend(NOTEBOOKS)
    from checks_mxnet.lesson_00 import check_1

    judge(lambda answer: check_1(answer, timeline), NOTEBOOKS / "00-start-here.ipynb", given, capsys)


@pytest.mark.parametrize("share", [1e-3, 0.1, 0.9])
@pytest.mark.parametrize("ratio", [1.314, 5.074, 20.44, 102.4])
def test_pytorch_lesson_00_judges_any_times(ratio, share, monkeypatch, capsys):
    """Its check takes the right answer, exact or rounded, and no wrong one, however long or short the operators were.

    `share` is the part of the time that an addition runs; the rest is the gap after it.
    """
    plain = 53e-6
    one = plain * ratio / (39 + share)  # from the start of an addition to the start of the next one
    starts = [one * (7 + number) for number in range(40)]
    operators = [SimpleNamespace(start=start, end=start + one * share) for start in starts]
    gaps = SimpleNamespace(operators=operators, end=one * 52, returned=one * 50, busy=lambda _: 40 * one * share)
    given = {"torch": SimpleNamespace(tensor=np.float32), "plain": plain, "gaps": gaps}
    track = NOTEBOOKS / "pytorch"
    monkeypatch.syspath_prepend(track)
    from checks_pytorch.lesson_00 import check_1

    judge(lambda answer: check_1(answer, gaps, plain), track / "00-start-here.ipynb", given, capsys)


def test_a_check_that_takes_everything_is_noticed(tmp_path):
    """If a check calls a wrong answer right, or refuses a right one, the test of the tables says which."""
    cells = [nbformat.v4.new_markdown_cell("### Exercise 1"),
             new_code_cell("answer_1 = ...", metadata={"tags": ["exercise"]}),
             new_code_cell("print('right' if answer_1 else 'not yet. Hint: more')", metadata={"tags": ["check"]})]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    lesson = tmp_path / "lesson.ipynb"
    nbformat.write(new_notebook(cells=cells, metadata=kernel), lesson)
    answers = [Answer(1, "right", "answer_1 = 1"), Answer(1, "right", "answer_1 = 0"),
               Answer(1, "less", "answer_1 = 1"), Answer(1, "less", "answer_1 = 0"), Answer(1, "more", "answer_1 = 0")]
    assert [fault.split("answer_1")[0] for fault in faults(lesson, answers)] == [
        "exercise 1, wanted 'right', got 'not yet. Hint: more':\n", "exercise 1, wanted 'less', got 'right':\n",
        "exercise 1, wanted 'less', got 'not yet. Hint: more':\n"]
