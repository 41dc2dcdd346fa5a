"""`make grade`: what is run, what counts as a point, and what no submission can do."""
import contextlib
import csv
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from answer_tables import of_lesson
from nbformat.v4 import new_code_cell, new_output
from small_lesson import cell_of, rename, submitted, written
from test_sandbox import left_behind

from d2lhelpers.environment import mxnet_fault
from editions import __main__, student
from editions import lessons as stored
from editions.grading import grade, remarks, runs, sandbox, submissions, table
from editions.grading import grader as grading
from editions.grading.answers import Answers, answers_in
from editions.grading.exercise_program import Lesson, cut
from editions.grading.lesson_grade import short
from editions.grading.remarks import Limit, say

ROOT = Path(__file__).parents[1]

needs_nbgrader = pytest.mark.skipif(not importlib.util.find_spec("nbgrader"), reason="nbgrader is not installed")


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    """Return the small lesson, whose file stands in a folder of its own."""
    return written(tmp_path, monkeypatch)


# Which of a student's files counts


def test_odd_metadata_and_texts(lesson, tmp_path):
    """Metadata of any form, code that no parser reads and names that no file can hold cost nobody else a grade."""
    def change(cells):
        cell_of(cells, "try-1").source = "(" * 9000
        cell_of(cells, "size").metadata["nbgrader"] = {"grade_id": ["size"]}
        cells.append(new_code_cell("x" + ".x" * 20_000 + " = 1"))

    notebook = submitted(change)
    notebook.metadata["lesson"]["name"] = ["01-small"]
    data = nbformat.writes(notebook).replace("slow = 1", "slow = '\\ud800'").encode()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / os.fsdecode(b"\xff.ipynb")).write_bytes(data)
    [row] = grade.rows_of(submissions.read(tmp_path / "in", []).submissions, {lesson.name: lesson})
    assert row.lesson is lesson
    assert row.submission.student == "?"
    assert len(cut(lesson, 1, row.answers)) >= 2
    table.write_grades([row], tmp_path)
    row.try_to_grade(None)
    assert "fault in the grader" in row.remark()


def submission(student="ann", at=0.0, file="ann.ipynb", notebook=None, problem=None):
    """Return a Submission."""
    return submissions.Submission(student, "", file, at, notebook, problem)


def test_the_newest_of_several_counts(lesson):
    """Of several submissions of a lesson the newest counts, and the remark names it; a file that is none is named."""
    found = [submission(at=2.0, file="a-new.ipynb", notebook=submitted(rename)),
             submission(at=1.0, notebook=submitted()),
             submission("bo", problem=remarks.say("is empty"), file="bo.ipynb")]
    ann, bo = grade.rows_of(found, {lesson.name: lesson})
    assert ann.answers.own[1] == ["answer_1 = 6"]
    assert ann.remark() == "2 submissions: the newest counts, a-new.ipynb"
    assert (bo.remark(), bo.points, bo.exercises) == ("bo.ipynb is empty", None, [])


def test_a_lesson_that_was_not_set_is_named(lesson):
    """Who submitted only other lessons than the one that is graded has a row that names them, without points."""
    found = [submission(notebook=submitted()), submission(file="own.ipynb", notebook=nbformat.v4.new_notebook()),
             submission("bo", file="own.ipynb", notebook=nbformat.v4.new_notebook())]
    ann, bo = grade.rows_of(found, {lesson.name: lesson}, wanted=lesson)
    assert (ann.title, ann.remark()) == (lesson.name, "")
    assert (bo.remark(), bo.points) == ("not the lesson that was set: own.ipynb", None)


# Points


def outputs(*texts, error=None, stderr=None):
    """Return the outputs of a check's cell."""
    found = [{"output_type": "stream", "name": "stdout", "text": text} for text in texts]
    if stderr:
        found.insert(0, {"output_type": "stream", "name": "stderr", "text": stderr})
    if error:
        found.append({"output_type": "error", "ename": error, "evalue": "", "line": None})
    return found


@pytest.mark.parametrize(("found", "points"), [
    (outputs("right\nWORD 1.0\n"), 1), (outputs("WORD 0.5\n"), 0.5), (outputs("WORD 0.0\n"), 0),
    (outputs("right\n", "WORD 1.0\n", stderr="a warning"), 1), (outputs("not yet\nWORD 0.0\n"), 0),
    (outputs(), None), (outputs("right\n"), None), (outputs(stderr="WORD 1.0"), None),
    (outputs("WORD 1.0\nWORD 1.0\n"), None), (outputs("WORD 1.0\n", error="Late"), None),
    (outputs("WORD 1.5\n"), None), (outputs("WORD -1\n"), None), (outputs("WORD nan\n"), None),
    (outputs("WORD x\n"), None), (outputs("OTHER 1.0\n"), None), (outputs("right\n", error="NameError"), None),
], ids=range(16))
def test_what_counts_as_a_point(found, points):
    """Points count only if the check's cell ended without an error and printed this run's word once, with points."""
    assert grading.points_of(found, "WORD") == ((0, grading.NO_CHECK) if points is None else (points, None))


def test_a_check_is_imported_before_the_answer(lesson):
    """What an answer does to the check's module, to its name or to `print` changes nothing: all were taken before."""
    rules = stored.FOLDER / "checks_mxnet" / "rules.py"
    rules.write_text("def check_1(answer, given):\n    return answer == 1\n")
    first, last = grading.checked(lesson.exercises[1].check.source, lesson, "WORD")
    forged = ("import checks_mxnet.rules\ngiven = None\n"
              "checks_mxnet.rules.check_1 = check_1 = print = lambda *_: True\nanswer_1 = ")
    for number, points in ("1", "1.0"), ("2", "0.0"):
        program = "\n".join([first, forged + number, last])
        assert subprocess.run([sys.executable, "-c", program], cwd=stored.FOLDER, capture_output=True, text=True,
                              check=True).stdout == f"WORD {points}\n"


def test_where_a_check_is_imported(lesson):
    """A check is imported right after the last set-up cell, or after the first cell if none of the set-up is left."""
    setup, slow, size = (cell_of(lesson.cells, name) for name in ("setup", "slow", "size"))
    for cells, index in ([setup, slow], 1), ([slow, setup, size], 2), ([slow, size], 1):
        assert grading.after_setup(cells, lesson) == index


@pytest.fixture
def grader(tmp_path, monkeypatch, lesson):
    """Return a Grader that runs nothing: cells print themselves, a check `grader.shows`; `grader.ended` ends it."""
    def run(sources, where, place, limits):
        grader.ran.append(sources)
        grader.seconds = limits.seconds
        word = sources[-1].split("'")[1]
        return [*map(outputs, sources[:-1]), outputs(grader.shows.replace("WORD", word))], grader.ended

    monkeypatch.setattr(runs, "run", run)
    (tmp_path / "results").mkdir()
    place = runs.Place(tmp_path, False)
    grader = grading.Grader(place, tmp_path / "results", runs.RunLimits())
    grader.ran = []
    grader.ended = None
    grader.shows = "right\nWORD 1.0"
    return grader


def row_of(notebook, lesson, student="ann"):
    """Return the row of a student who submitted a notebook."""
    return grade.LessonGrade(submission(student, notebook=notebook), lesson, [], answers_in(notebook, lesson))


def test_a_limit_on_a_busy_machine_is_tried_again(grader, lesson):
    """If a limit ended the lesson's own solution, the exercise is worth another try, which may bring it back."""
    grader.ended = Limit("it was still running after {seconds:g} seconds", {"seconds": 1})
    grader.shows = "WORD 0.0"
    assert grader.prepare(lesson, 1)
    assert 1 in lesson.broken
    grader.ended = None
    grader.shows = "WORD 1.0"
    assert not grader.prepare(lesson, 1)
    assert lesson.broken == {}


def test_the_better_of_two_counts(grader, lesson):
    """If the cells that an answer needs get no point, all cells above the check are run, if that adds any of hers."""
    def change(cells):
        cell_of(cells, "try-1").source = "answer_1 = 6"
        cells.insert(1, new_code_cell("unrelated = 1"))

    answers = answers_in(submitted(change), lesson)
    grader.shows = "WORD 0.0"
    assert grader.graded(lesson, 1, answers, "ann")["points"] == 0
    assert ["unrelated = 1" in sources for sources in grader.ran] == [False, True]
    grader.ran.clear()
    assert grader.graded(lesson, 1, answers_in(submitted(rename), lesson), "bo")["points"] == 0
    assert len(grader.ran) == 1


def test_no_run_is_made_twice(grader, lesson):
    """A result is kept for the same answer of the same student: an interrupted grading goes on where it was."""
    answers = Answers({1: ["answer_1 = 6"], 2: []}, {}, {}, {})
    first = grader.graded(lesson, 1, answers, "ann")
    grader.shows = "WORD 0.0"
    assert grader.graded(lesson, 1, answers, "ann") == first
    assert grader.graded(lesson, 1, answers, "bo")["points"] == 0
    assert grader.graded(lesson, 1, answers._replace(own={1: ["answer_1 = 7"], 2: []}), "ann")["points"] == 0
    assert len(grader.ran) == 3
    assert len({sources[-1] for sources in grader.ran}) == 3  # the word is another one each time
    assert "the check" not in first["said"]
    assert first["said"] == "right"
    assert first["cells"] == [["answer_1 = 6", "answer_1 = 6"]]  # beside it what it printed
    grader.ended = Limit("it was still running after {seconds:g} seconds", {"seconds": 1})
    assert grader.graded(lesson, 1, answers, "cy")["why"] == grader.ended
    grader.ended = say("its process was ended")
    assert grader.graded(lesson, 1, answers, "cy")["why"] == grader.ended  # a limit's verdict is not kept
    grader.ended = None
    assert grader.graded(lesson, 1, answers, "cy")["why"].text == "its process was ended"


def test_a_result_belongs_to_the_code_that_graded_it(grader, tmp_path, monkeypatch):
    """When a file of the helpers changes, in whatever folder of theirs it is, all answers are graded anew."""
    monkeypatch.setattr(grading, "PROJECT", tmp_path)
    helper = tmp_path / "d2lhelpers" / "torch" / "jobs.py"
    helper.parent.mkdir(parents=True)
    found = set()
    for text in ("one = 1", "one = 1.0"):
        helper.write_text(text)
        found.add(grading.Grader(grader.place, tmp_path, runs.RunLimits()).imported)
    assert len(found) == 2


def test_an_exercise_that_fails_here_is_given_up(grader, lesson):
    """If the lesson's own solution fails, cut and whole, the exercise is not graded, and the remark says why."""
    grader.prepare(lesson, 1)
    assert lesson.whole == lesson.broken.keys() == set()
    grader.shows = "not yet\nWORD 0.0"
    assert not grader.prepare(lesson, 2)
    assert lesson.whole == set()
    row = row_of(submitted(rename), lesson)
    grader.shows = "right\nWORD 1.0"
    row.grade(grader)
    assert [row.results[number]["points"] for number in (1, 2)] == [1, None]
    assert row.points == 1
    assert "exercise 2: cannot be graded here" in row.remark()


def test_a_level_counts_for_those_below(grader, lesson):
    """In a capstone, who has reached a level has reached those below it, and their answers are not run."""
    lesson.exercises = {number: each._replace(title=title) for (number, each), title
                        in zip(lesson.exercises.items(), ("Bronze", "Silver"), strict=True)}
    notebook = submitted(lambda cells: cell_of(cells, "try-2").update(source="answer_2 = 1"))
    row = row_of(notebook, lesson)
    grader.shows = "all counts\nso far\nright\nWORD 1.0"
    row.grade(grader)
    assert row.points == 2
    assert len(grader.ran) == 1
    assert grader.seconds == 2 * runs.RunLimits().seconds
    grader.shows = "not yet\nWORD 0.5"
    other = row_of(notebook, lesson, "bo")
    other.grade(grader)
    assert other.points == 0.5
    del lesson.exercises[2]
    assert other.exercises == [1]
    assert [short(points) for points in (2.0, 1 / 3)] == [2, 0.33]


def test_grade_resumes(grader, tmp_path, monkeypatch, capsys):
    """Called again it goes on in the folder that it has begun; what it cannot use it names in a line."""
    def called(*arguments):
        monkeypatch.setattr(sys, "argv", ["editions", "grade", *map(str, arguments)])
        try:
            __main__.main()
        except SystemExit as end:
            return end.code
        return capsys.readouterr().out

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(runs, "STOPPED", threading.Event())
    monkeypatch.setattr(runs, "prepared", lambda *_: contextlib.nullcontext(grader.place))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    work = tmp_path / "work"
    work.mkdir()
    nbformat.write(submitted(rename), work / "ann.ipynb")
    monkeypatch.setattr(sandbox, "fault", lambda: say("install it"))
    assert "nothing was graded. install it. ARGS=--without-isolation" in called(work)
    for _ in range(2):
        said = called(work, "--without-isolation")
        assert "1 submissions; NOT ISOLATED" in said
        assert "are run: about 1 min" in said
        assert "[1/1] ann · 01-small · points: 1 of 2" in said
    monkeypatch.setattr(sandbox, "fault", lambda: None)
    assert len(grader.ran) == 3  # both solutions and one answer, once
    assert (tmp_path / "work-graded" / "grades.csv").exists()
    assert f"1 lines in {tmp_path / 'other'}" in called(work, "--folder", tmp_path / "other").splitlines()[-1]
    grader.shows = "not yet\nWORD 0.0"
    assert "01-small, exercise 1: cannot be graded here, where the lesson's own solution fails: not yet\n" in called(
        work, "--folder", tmp_path / "third")
    assert "which lesson is 02? One of these: 01-small" in called(work, "--lesson", "02")
    assert "1 lines" in called(work, "--lesson", "01")
    assert (tmp_path / "work-graded" / "01-small" / "grades.csv").exists()
    monkeypatch.setattr(grade.LessonGrade, "try_to_grade", interrupt)
    assert "goes on from here" in called(work)
    assert runs.STOPPED.is_set()
    (tmp_path / "work.zip").write_text("no archive")
    for name in ("work.zip", "absent"):
        assert called(tmp_path / name).startswith(f"{tmp_path / name}: ")
    in_chinese = called(tmp_path / "work.zip", "--language", "zh").splitlines()[-1]
    assert re.search("[\u4e00-\u9fff]", in_chinese.replace(str(tmp_path), ""))


# The student edition is an assignment


@pytest.mark.parametrize("path", list(stored.paths(solved=False)), ids=str)
def test_every_lesson_is_an_assignment(path):
    """Cells of answers and checks have nbgrader's metadata, checks return points, all others stay as they are."""
    notebook = stored.without_outputs(path, "solution", "instructor")
    before = {cell.id: cell.source for cell in notebook.cells}
    student.as_assignment(notebook, path)
    for cell in notebook.cells:
        answer, check = stored.has_tag(cell, "exercise"), stored.has_tag(cell, "check")
        assert ("nbgrader" in cell.metadata) is (answer or check)
        if check:
            returned = cell.source.removeprefix(before[cell.id]).splitlines()[-1]
            assert re.fullmatch(r"\+right\w*|points_\d\(answer_\d\)", returned)
            assert (cell.metadata.nbgrader.points, cell.metadata.nbgrader.locked) == (1, True)
        else:
            assert cell.source == before[cell.id]
    if importlib.util.find_spec("nbgrader"):
        from nbgrader.nbgraderformat import MetadataValidator
        MetadataValidator().validate_nb(notebook)


@needs_nbgrader
@pytest.mark.slow
@pytest.mark.weekly
def test_nbgrader_itself_takes_the_student_edition(tmp_path):
    """With nbgrader alone a student edition is an assignment, in which a right answer gets 1 and a wrong one 0."""
    from nbgrader.api import Gradebook

    name = "deeper/where-bytes-live"
    source = tmp_path / "source" / "bytes"
    shutil.copytree(stored.FOLDER / "deeper" / "checks_deeper", source / "checks_deeper")
    nbformat.write(student_notebook(name, {}), source / "lesson.ipynb")
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # nbgrader calls alembic
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "PATH": programs}
    call = [sys.executable, "-m", "nbgrader"]
    subprocess.run([*call, "generate_assignment", "bytes", "--create", "--ClearSolutions.enabled=False"], cwd=tmp_path,
                   env=settings, check=True)  # an answer's cell holds what is given, not a solution
    table = of_lesson(name)
    picked = {wanted: next(each for each in table if (each.wanted == "right") is (wanted == 1)) for wanted in (0, 1)}
    for wanted, answer in picked.items():
        folder = tmp_path / "submitted" / f"student{wanted}" / "bytes"
        shutil.copytree(tmp_path / "release" / "bytes", folder)
        book = nbformat.read(folder / "lesson.ipynb", as_version=4)
        next(cell for cell in book.cells if stored.has_tag(cell, "exercise")).source += "\n\n" + answer.source
        nbformat.write(book, folder / "lesson.ipynb")
    subprocess.run([*call, "autograde", "bytes", "--ExecutePreprocessor.timeout=300"], cwd=tmp_path, env=settings,
                   check=True)
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db") as gradebook:
        scores = [gradebook.find_submission("bytes", f"student{wanted}").score for wanted in (0, 1)]
    assert scores == [0, 1]


# Sixty submissions


class Case(NamedTuple):
    """A submission that is no plain one: what is done to a right one, its points, and a part of the remark."""

    change: object
    points: float | None
    remark: str = ""


ODD = "pytorch/03-waiting-threads-and-copies"


def adding(source):
    """Return a change that puts a source below the right answer."""
    return lambda book: own(book).update(source=own(book).source + "\n" + source)


def instead(source):
    """Return a change that puts a source in place of the answer."""
    return lambda book: own(book).update(source=source)


def own(book):
    """Return the cell with the answer to exercise 2."""
    return cell_of(book.cells, "try-2")


def checks_cell(book):
    """Return the cell that checks exercise 2."""
    return cell_of(book.cells, "check-2")


def other_name(book):
    """Give the answer's cell another name, as an editor does that knows neither names nor metadata."""
    own(book).metadata["nbgrader"]["grade_id"] = "mine"
    own(book).id = "mine"


def twice(book):
    """Leave a copy of the unanswered cell below the answer."""
    template = cell_of(stored.read(Path(f"{ODD}.ipynb")).cells, "try-2")
    copied = new_code_cell(template.source, metadata=own(book).metadata)
    book.cells.insert(book.cells.index(own(book)) + 1, copied)


def without_names(book):
    """Take away all that nbgrader and we have stored: an old format of notebooks keeps no ids, either."""
    del book.metadata["lesson"]


def forged(book):
    """Type *right* where the check would print it, and turn the check's cell into one that prints it."""
    own(book).source = "answer_2 = None"
    checks_cell(book).source = "print('right')\n1"
    checks_cell(book).outputs = [new_output("stream", text="right\n"),
                                 new_output("execute_result", {"text/plain": "1"}, execution_count=1)]


def disordered(book):
    """Number the cells as if they had been run from the last to the first."""
    for number, cell in enumerate(reversed(book.cells)):
        if cell.cell_type == "code":
            cell.execution_count = number + 1


def helper_above(book):
    """Define a helper in a cell of one's own at the top, on which the answer depends."""
    book.cells.insert(1, new_code_cell("def mine(*arguments):\n    return fewest(*arguments)\n\n" + own(book).source
                                       .replace("answer_2 = fewest", "")))
    own(book).source = "answer_2 = mine"


def other_lesson(book):
    """Submit something else."""
    book.cells = [new_code_cell("1")]
    book.metadata = {}


def above(source, answer="answer_2 = fewest"):
    """Return a change that puts a cell above the exercise's heading, and changes the answer's end."""
    def change(book):
        heading = next(index for index, cell in enumerate(book.cells) if cell.source.startswith("### Exercise 2"))
        book.cells.insert(heading, new_code_cell(source))
        own(book).source = own(book).source.replace("answer_2 = fewest", answer)

    return change


def star(book):
    """Import all names of a module in a cell above, instead of the module in the answer."""
    above("from math import *")(book)
    own(book).source = own(book).source.replace("import math\n", "").replace("math.ceil", "ceil")


def below_check(book):
    """Try a wrong answer below the check, to see its hint."""
    book.cells.insert(book.cells.index(checks_cell(book)) + 1, new_code_cell("answer_2 = lambda *case: None"))


def above_heading(book):
    """Answer in a cell above the heading, and delete the dots in the answer's cell."""
    above(own(book).source)(book)
    own(book).source = "# see above"


def exchanged(book):
    """Answer in the cell of exercise 3."""
    other = cell_of(book.cells, "try-3")
    own(book).source, other.source = other.source, own(book).source


def bare(book):
    """Take away all names and metadata, as an editor of notebooks of an older format does."""
    book.nbformat_minor = 4
    book.metadata = {}
    for cell in book.cells:
        del cell["id"]
        cell.metadata = {}


def large(book):
    """Paste a picture into a cell of text, and leave large outputs."""
    book.cells[0].source += f"\n![](data:image/png;base64,{'A' * 330_000})"
    checks_cell(book).outputs = [new_output("stream", text="x" * 30_000_000)]


SHADOWED = """def step(wait, train):
    import math
    return math.ceil(wait / train)
"""
WITH_STEP = """
def fewest(wait, compute, train, cores):
    return None if compute > train * (cores - 1) else step(wait + compute, train)
answer_2 = fewest"""
WORKERS = """
import torch
from torch.utils.data import DataLoader
print(len(list(DataLoader([torch.ones(9999)] * 4, num_workers=1))))"""
SOLVED = """
import json
from pathlib import Path
import d2lhelpers
file = Path(d2lhelpers.__file__).parents[1] / "notebooks/pytorch/03-waiting-threads-and-copies.ipynb"
for cell in json.loads(file.read_text())["cells"]:
    if cell["id"] == "solution-2":
        exec("".join(cell["source"]).split("slow =")[0])
answer_2 = fewest"""


CASES = {
    "hangs": Case(instead("while True: pass"), 0, "exercise 2: it was still running after"),
    "memory": Case(instead("a = []\nfor _ in range(12): a.append(bytearray(10**8))\nimport time; time.sleep(9)"), 0,
                   "GB of memory"),
    "floods": Case(adding("for _ in range(100): print('x' * 100_000)"), 1),
    "deletes": Case(adding("import os, shutil; shutil.rmtree(os.getcwd())"), 1, "it reaches for os.getcwd, shutil"),
    "forks": Case(instead("import subprocess, time\nfor _ in range(60): subprocess.Popen(['sleep', '60'])\n"
                          "time.sleep(9)"), 0, "more than 40 processes"),
    "network": Case(instead("import urllib.request\nanswer_2 = urllib.request.urlopen('http://127.0.0.1:9').read"), 0),
    "own end": Case(adding("print('right')\nimport os; os._exit(0)"), 0, "its process was ended"),
    "exit": Case(adding("exit()"), 1),
    "lacks": Case(lambda book: book.cells.remove(own(book)), 0, "its answer cell is missing"),
    "lacks check": Case(lambda book: book.cells.remove(checks_cell(book)), 1),
    "lacks all": Case(lambda book: book.update(cells=book.cells[:20]), 0, "answer cell is missing"),
    "renamed": Case(other_name, 1, "renamed or moved"),
    "twice": Case(twice, 1),
    "disordered": Case(disordered, 1),
    "other version": Case(lambda book: book.metadata["lesson"].update(version="x"), 1, "another version"),
    "no metadata": Case(without_names, 1, "does not say"),
    "forged": Case(forged, 0),
    "own check": Case(instead("answer_2 = None\ncheck_2 = lambda *a: True\nright = True"), 0),
    "no print": Case(adding("print = None\nint = None"), 1),
    "syntax": Case(instead("def answer_2(:"), 0),
    "magic": Case(adding("%timeit -n 1 -r 1 1 + 1\n!echo hello"), 1),
    "helper": Case(helper_above, 1),
    "unanswered": Case(instead("# your turn: I have no idea"), 0),
    "other lesson": Case(other_lesson, None, "no cells of any"),
    # right in the student's own notebook
    "star": Case(star, 1),
    "shadowed": Case(above(SHADOWED, WITH_STEP), 1),
    "below check": Case(below_check, 1, "below its check was not run"),
    "above heading": Case(above_heading, 1, "elsewhere"),
    "exchanged": Case(exchanged, 1, "stands at exercise 3"),
    "goes elsewhere": Case(adding("import os, tempfile; os.chdir(tempfile.mkdtemp())"), 1),
    "writes beside": Case(adding("open('notes.txt', 'w').write('1')"), 1, "it reaches for open: look at it"),
    "workers": Case(adding(WORKERS), 1),
    "bare": Case(bare, 1, "does not say"),
    "large": Case(large, 1),
    # points that are not earned
    "check's name": Case(instead("import checks_pytorch.lesson_03\nanswer_2 = lambda *a: 1\ncheck = lambda *a: True\n"
                                 "checks_pytorch.lesson_03.check_2 = check"), 0, "look at it"),
    "exercises": Case(instead("import d2lhelpers.exercises\nanswer_2 = lambda *a: 1\n"
                              "d2lhelpers.exercises.check = lambda *a: True"), 0, "look at it"),
    "check's file": Case(instead("open('checks_pytorch/lesson_03.py', 'a').write('check_2 = lambda a: True')\n"
                                 "answer_2 = lambda *a: 1"), 0, "look at it"),
    "solution's file": Case(instead(SOLVED), 0, "look at it"),
    # seen, although nothing can be proof against it
    "transformer": Case(instead("answer_2 = lambda *a: 1\nhooks = get_ipython().input_transformers_cleanup\n"
                                "hooks.append(lambda lines: [l.replace('check_2(answer_2)', 'True') for l in lines])"),
                        1, "get_ipython"),
    "frame": Case(instead("import sys\nanswer_2 = lambda *case: sys._getframe(1).f_locals.get('wanted', 4)"), None,
                  "_getframe"),
    "equal": Case(instead("class Yes(int):\n    __eq__ = lambda self, other: True\nanswer_2 = lambda *a: Yes(4)"), 0,
                  "__eq__"),
}


def student_notebook(name, answers):
    """Return a lesson's student edition with answers, by exercise."""
    notebook = stored.without_outputs(Path(f"{name}.ipynb"), "solution", "instructor")
    student.as_assignment(notebook, Path(f"{name}.ipynb"))
    given = {exercise.given.id: number for number, exercise in
             Lesson(name, notebook, "").exercises.items()}
    for cell in notebook.cells:
        if given.get(cell.id) in answers:
            cell.source += "\n\n" + answers[given[cell.id]]
    return notebook


def plain_submissions(name, count):
    """Yield `count` notebooks with answers from a lesson's table, and what each exercise of each must get."""
    table = [answer for answer in of_lesson(name) if answer.wanted != "endless"]
    by_exercise = {}
    for answer in table:
        by_exercise.setdefault(answer.exercise, []).append(answer)
    for place in range(count):
        picked = {number: of_it[place * 3 % len(of_it)] for number, of_it in by_exercise.items()}
        points = {number: int(answer.wanted == "right") for number, answer in picked.items()}
        yield student_notebook(name, {number: answer.source for number, answer in picked.items()}), points


def write_sixty(folder):
    """Write some sixty submissions of all kinds; return for each student a Case, whose points may be by exercise."""
    wanted = {}
    mxnet = ["00-start-here", "01-imperative-and-symbolic", "03-asynchronous-computation"] if not mxnet_fault() else []
    for name in ["pytorch/00-start-here", "pytorch/09-serving-a-transformer", ODD, *mxnet]:
        for number, (notebook, points) in enumerate(plain_submissions(name, 6)):
            student = f"{Path(name).name[:2]}{'p' if '/' in name else 'm'} {number}"
            path = folder / f"{student}_{number}_assignsubmission_file_" / "work.ipynb"
            path.parent.mkdir()
            nbformat.write(notebook, path)
            wanted[student] = Case(None, points)
    solution = stored.read(Path(f"{ODD}.ipynb"))
    right = Lesson(ODD, solution, "").solved(2)
    for student, case in CASES.items():
        book = student_notebook(ODD, {2: "\n".join(right)})
        case.change(book)
        nbformat.write(book, folder / f"{student}.ipynb")
        wanted[student] = case
    good = nbformat.writes(student_notebook(ODD, {2: "\n".join(right)}))
    odd = json.loads(good)
    del odd["cells"][5]["cell_type"]
    shell = json.loads(good)
    shell["cells"][5] = new_code_cell("!echo 1\n" * 600, id="x")
    for student, data, case in [
        ("no type", json.dumps(odd).encode(), Case(None, None, "not a notebook")),
        ("shell", json.dumps(shell).encode(), Case(None, None, "")),
        ("empty", b"", Case(None, None, "is empty")), ("cut", good[:999].encode(), Case(None, None, "not a notebook")),
        ("windows", good.replace("\n", "\r\n").encode("utf-8-sig"), Case(None, 1)),
    ]:
        (folder / f"{student}.ipynb").write_bytes(data)
        wanted[student] = case
    (folder / "essay.docx").write_bytes(b"PK\x03\x04")
    wanted["essay.docx"] = Case(None, None, "is not a notebook")
    for name, data, at in ("dup_1_22_a.ipynb", "", 1), ("dup_1_23_a-1.ipynb", good, 2):
        (folder / name).write_text(data or nbformat.writes(student_notebook(ODD, {})))
        os.utime(folder / name, (at, at))
    wanted["dup"] = Case(None, 1, "2 submissions: the newest counts, dup_1_23_a-1.ipynb")
    with zipfile.ZipFile(folder / "damaged.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.ipynb", good)
    data = bytearray((folder / "damaged.zip").read_bytes())
    data[200:300] = bytes(100)
    (folder / "damaged.zip").write_bytes(data)
    wanted["damaged"] = Case(None, None)
    with zipfile.ZipFile(folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(150):
            archive.writestr(f"{number}.ipynb", bytes(19_000_000))
    wanted["bomb"] = Case(None, None)
    (folder / "nobody").mkdir()
    wanted["nobody"] = Case(None, None, "empty folder")
    return wanted


def misgraded(table, wanted):
    """Return what differs between grades.csv and what each student must get."""
    with table.open(encoding="utf-8-sig", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert rows.keys() == wanted.keys()
    for name, case in wanted.items():
        row = rows[name]
        if isinstance(case.points, dict):
            got = {number: float(row[f"exercise {number}"]) for number in case.points}
        else:
            got = float(row["points"]) if row["points"] else None
        seen_only = case.points is None and row["points"]  # what counts is the remark
        if (got != case.points and not seen_only) or case.remark not in row["remark"]:
            yield f"{name}: wanted {case[1:]}, got {row}"


@pytest.mark.slow
@pytest.mark.weekly
@pytest.mark.skipif("sandbox.fault()", reason="this system cannot isolate runs")
def test_sixty_submissions(tmp_path):
    """Of some sixty submissions, plain, odd and hostile, none is misgraded, after an interruption, too."""
    folder = tmp_path / "submitted"
    folder.mkdir()
    wanted = write_sixty(folder)
    assert len(wanted) >= 45
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    command = [sys.executable, "-m", "editions", "grade", str(folder), "--seconds", "90", "--memory", "1.5"]
    with tempfile.TemporaryDirectory(prefix="runs-") as own_folder:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": own_folder}
        with subprocess.Popen(command, env=environment, start_new_session=True, stdout=subprocess.DEVNULL) as first:
            while first.poll() is None and not [*tmp_path.glob("*/results/*.json")]:
                time.sleep(1)
            first.send_signal(signal.SIGINT)
            first.wait(timeout=60)
        assert first.returncode != 0
        assert not left_behind(own_folder)
        subprocess.run(command, env=environment, check=True)
    assert [*misgraded(tmp_path / "submitted-graded" / "grades.csv", wanted)] == []
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
