"""`make grade`: whose submissions are whose, what is run, what counts as a point, and what no submission can do."""
import contextlib
import csv
import importlib.util
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import nbformat
import psutil
import pytest
from answer_tables import of_lesson
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from d2lhelpers.environment import mxnet_fault
from editions import __main__, student
from editions import lessons as stored
from editions.grading import feedback, grade, runs, sandbox, submissions
from editions.grading.answers import Answers, answers_in
from editions.grading.dependencies import SHOWS, depends_on, names_of, statements_of
from editions.grading.exercise_program import Lesson, cut
from editions.grading.lesson_grade import short

ROOT = Path(__file__).parents[1]

needs_nbgrader = pytest.mark.skipif(not importlib.util.find_spec("nbgrader"),
                                    reason="nbgrader is not installed: `make grade` does that")


def tagged(source, tag, name):
    """Return a code cell with a tag and an id."""
    return new_code_cell(source, id=name, metadata={"tags": [tag] if tag else []})


def lesson_cells():
    """Return the cells of a small lesson with two exercises."""
    return [
        tagged("import math", "setup", "setup"), tagged("slow = 1", "", "slow"), tagged("size = 3", "", "size"),
        new_markdown_cell("### Exercise 1 · Twice", id="exercise-1"),
        tagged("def given():\n    return size\n\nanswer_1 = ...", "exercise", "try-1"),
        tagged("from checks_mxnet.rules import check_1\nright = check_1(answer_1, given)", "check", "check-1"),
        new_markdown_cell("A solution", id="solution-1-text", metadata={"tags": ["solution"]}),
        tagged("double = 2 * size\nassert slow\nassert check_1(double, given)", "solution", "solution-1"),
        new_markdown_cell("### Exercise 2 · Thrice", id="exercise-2"),
        tagged("answer_2 = ...\nname_2 = ...", "exercise", "try-2"),
        tagged("from checks_mxnet.rules import check_2\nright = check_2(answer_2, name_2)", "check", "check-2"),
        tagged("assert check_2(9, 'a')", "solution", "solution-2")]


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    """Return the small lesson, whose file stands in a folder of its own."""
    monkeypatch.setattr(stored, "FOLDER", tmp_path / "notebooks")
    (tmp_path / "notebooks" / "checks_mxnet").mkdir(parents=True)
    (tmp_path / "notebooks" / "checks_mxnet" / "rules.py").write_text("")
    nbformat.write(new_notebook(cells=lesson_cells()), tmp_path / "notebooks" / "01-small.ipynb")
    return grade.all_lessons()["01-small"]


def submitted(change=None):
    """Return the small lesson's student edition, after `change` was applied to its cells."""
    notebook = stored.without_outputs(Path("01-small.ipynb"), "solution", "instructor")
    student.as_assignment(notebook, Path("01-small.ipynb"))
    if change:
        change(notebook.cells)
    return notebook


def cell_of(cells, name):
    """Return the cell with an id."""
    [found] = [cell for cell in cells if cell.id == name]
    return found


# What a cell depends on


@pytest.mark.parametrize(("cells", "needed", "found"), [
    (["a = 1", "b = 2", "c = a"], {"c"}, [0, 2]),
    (["a = []", "a.append(1)", "print(a)", "b = a"], {"b"}, [0, 1, 3]),
    (["net = f()", "net = g()"], {"net"}, [1]),
    (["x = 1", "def f():\n    return x", "y = 3"], {"f"}, [0, 1]),
    (["a = {}", "a['k'] = 1", "a.b = 2", "train(a)", "h(other)"], {"a"}, [0, 1, 2, 3]),
    (["import numpy as np", "%matplotlib inline", "a = (", "for i in range(3):\n    total = np.ones(i)"], {"total"},
     [0, 3]),
])
def test_what_a_cell_depends_on(cells, needed, found):
    """A slice has the cells that bind or change what is needed, and no others; what is no Python is left out."""
    assert depends_on([names_of(source) for source in cells], needed) == found


@pytest.mark.parametrize("name", sorted(SHOWS - {"display"}))  # which is for students
def test_what_only_shows_is_called_in_lessons(name):
    """Each name of a call that changes nothing is one that lessons call, so that a renamed helper is noticed."""
    calls = re.compile(rf"\b{name}\(")
    assert any(calls.search(cell.source) for path in stored.paths() for cell in stored.read(path).cells
               if cell.cell_type == "code")


def test_a_cell_is_parsed_once():
    """The names of a cell, which each exercise asks for, are found once."""
    assert names_of("a = 1") is names_of("a = 1")


def test_the_statements_of_a_cell():
    """Each top-level statement keeps its source, and a function its decorators."""
    assert statements_of("@cache\ndef one():\n    return 1\n\nx = (2)  # two") == [
        "@cache\ndef one():\n    return 1", "x = (2)"]


def test_a_cut_has_only_what_an_exercise_needs(lesson):
    """Set-up, needed cells, what the exercise gives and the answer are run, and none of the other exercises."""
    answers = Answers({1: ["answer_1 = math.pi"], 2: ["answer_2 = 9"]}, {}, {}, {})
    assert [cell.source for cell in cut(lesson, 1, answers)] == [
        "import math", "size = 3", cell_of(lesson.cells, "try-1").source, "answer_1 = math.pi"]
    assert [cell.source for cell in cut(lesson, 2, answers)] == [
        "import math", cell_of(lesson.cells, "try-2").source, "answer_2 = 9"]
    answers = Answers({1: ["print(1)", "answer_1 = 2"], 2: ["answer_2 = double"]}, {}, {}, {})
    assert [cell.source for cell in cut(lesson, 1, answers)][-2:] == ["print(1)", "answer_1 = 2"]
    assert cut(lesson, 2, answers)[-1].source == "answer_2 = double"
    assert not [cell for cell in cut(lesson, 2, answers) if "double =" in cell.source]  # the solution of the first
    lesson.whole.add(2)
    assert "slow = 1" in [cell.source for cell in cut(lesson, 2, answers)]


def test_an_answer_may_use_an_earlier_one(lesson):
    """What an answer needs of a student's other cells is run, wherever they are; the lesson's names stay its own."""
    def change(cells):
        cells.insert(cells.index(cell_of(cells, "size")) + 1, new_code_cell("size = 7"))
        cells.insert(1, new_code_cell("helper = 5\nsize = 1000"))
        cells.insert(cells.index(cell_of(cells, "slow")) + 1, new_code_cell("other = slow"))
        cell_of(cells, "slow").source = "slow = 1\ntool = helper"
        cell_of(cells, "try-1").source = "first = tool\nanswer_1 = first"
        cell_of(cells, "try-2").source = "answer_2 = first + other\nname_2 = size"

    answers = answers_in(submitted(change), lesson)
    sources = [cell.source for cell in cut(lesson, 2, answers)]
    assert [source for source in sources if "=" in source] == [
        "helper = 5\nsize = 1000", "slow = 1\ntool = helper", "slow = 1", "other = slow", "size = 3",
        "first = tool\nanswer_1 = first", cell_of(lesson.cells, "try-2").source,
        "answer_2 = first + other\nname_2 = size"]
    assert "size = 7" not in [cell.source for cell in cut(lesson, 1, answers)]


def test_the_solution_is_cut_too(lesson):
    """The lesson's own solution is what its last call of the check needs, put in place of the open names."""
    assert lesson.exercises[1].title == "Twice"
    assert lesson.solved(1) == ["double = 2 * size", "answer_1 = double"]
    assert lesson.solved(2) == ["answer_2 = 9\nname_2 = 'a'"]


def rename(cells):
    """Give the first answer's cell another name."""
    cell = cell_of(cells, "try-1")
    cell.id = "other"
    cell.metadata["nbgrader"]["grade_id"] = "other"
    cell.source = "answer_1 = 6"


def copy_template(cells):
    """Answer, and leave a copy of the unanswered cell below."""
    cell = cell_of(cells, "try-1")
    copied = new_code_cell(cell.source, metadata=cell.metadata)
    cell.source = "answer_1 = 6"
    cells.insert(cells.index(cell) + 1, copied)


def answer_twice(cells):
    """Answer, and answer again in a copy of the cell."""
    copy_template(cells)
    first, second = [cell for cell in cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "try-1"]
    first.source, second.source = "answer_1 = 5", "answer_1 = 6"


def move(cells):
    """Answer in a new cell at the end, and delete the answer's cell."""
    cells.remove(cell_of(cells, "try-1"))
    cells.append(new_code_cell("answer_1 = 6"))


def answer_below(cells):
    """Answer in a cell of one's own, between the exercise's cell and its check."""
    cells.insert(cells.index(cell_of(cells, "check-1")), new_code_cell("answer_1 = 6"))


def change_given(cells):
    """Answer, and change what the check takes as given."""
    cell_of(cells, "try-1").source = "def given():\n    return 3\n\nanswer_1 = 6"


@pytest.mark.parametrize(("change", "sources", "note"), [
    (None, [], ""),
    (rename, ["answer_1 = 6"], "its answer cell was renamed or moved"),
    (copy_template, ["answer_1 = 6"], ""),
    (answer_twice, ["answer_1 = 5", "answer_1 = 6"], "in more than one cell"),
    (move, ["answer_1 = 6"], "renamed or moved"),
    (answer_below, ["answer_1 = 6"], ""),
    (change_given, ["def given():\n    return 3\n\nanswer_1 = 6"], "changes given, which the check uses"),
    (lambda cells: cells.remove(cell_of(cells, "try-1")), [], "its answer cell is missing"),
    (lambda cells: cells.remove(cell_of(cells, "check-1")), [], ""),
])
def test_finds_moved_answer_cells(lesson, change, sources, note):
    """An answer is found whatever became of its cell, and what is odd about it is noted."""
    answers = answers_in(submitted(change), lesson)
    assert answers.own[1] == sources
    assert note in "; ".join(answers.notes.get(1, [])) if note else 1 not in answers.notes


def test_of_which_lesson(lesson):
    """The metadata says of which lesson and version a notebook was made, or else the names of its cells."""
    lessons = {lesson.name: lesson}
    notebook = submitted()
    assert grade.lesson_of(notebook, lessons) == (lesson, "")
    notebook.metadata["lesson"]["version"] = "older"
    assert "another version" in grade.lesson_of(notebook, lessons)[1]
    del notebook.metadata["lesson"]
    assert grade.lesson_of(notebook, lessons)[0] is lesson
    assert grade.lesson_of(new_notebook(cells=[new_code_cell("1")]), lessons)[0] is None


# Files and names


@pytest.mark.parametrize(("path", "student"), [
    ("Ann O'Neill_123_assignsubmission_file_/a b.ipynb", ("Ann O'Neill", "123")),
    ("Ann Lee_77_assignsubmission_file_01-small.ipynb", ("Ann Lee", "77")),
    ("leeann_123_4567_01-small-1.ipynb", ("leeann", "123")),
    ("leeann_LATE_123_4567_01-small.ipynb", ("leeann", "123")),
    ("Task 1_ann7_attempt_2026-11-26-10-00-00_01-small.ipynb", ("ann7", "")),
    ("Ännchen Müller/deep/er.ipynb", ("Ännchen Müller", "")), ("ann (2)/01-small.ipynb", ("ann (2)", "")),
    ("ann.ipynb", ("ann", "")), ("01-small-ann (2).ipynb", ("ann", "")), ("01-small.ipynb", ("01-small", "")),
    ("ann.ipynb.txt", ("ann", "")),
])
def test_names_of_students(path, student):
    """Names and numbers are those that Moodle, Canvas, Blackboard or a person put into the file's or folder's name."""
    assert submissions.student_of(PurePosixPath(path), ["01-small"]) == student


NOTEBOOK = json.dumps({"cells": [{"cell_type": "code", "source": ["a = 1\r\n", "b = 2"], "metadata": {}, "id": "x",
                                  "outputs": [], "execution_count": None}],
                       "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.mark.parametrize(("data", "problem"), [
    (NOTEBOOK.encode(), ""), (NOTEBOOK.replace("\n", "\r\n").encode("utf-8-sig"), ""), (NOTEBOOK.encode("utf-16"), ""),
    (b"", "is empty"), (b" \r\n", "is empty"), (None, "is larger than 20 MB"), (b"PK\x03\x04", "is not a notebook"),
    (NOTEBOOK[:50].encode(), "is not a notebook"), (b"[" * 100_000, "is not a notebook"), (b"{}", "is not a notebook"),
    (b'{"cells": [1], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}', "is not a notebook"),
    (NOTEBOOK.replace("b = 2", "b = " + 199_990 * "2").encode(), ""),
    (NOTEBOOK.replace("b = 2", "b = " + 199_991 * "2").encode(), "has a cell of more than 200000 characters"),
], ids=range(13))
def test_notebooks_of_any_kind(data, problem):
    """A notebook is read in any encoding and with Windows' line ends; what is none gets a line that says so."""
    notebook, said = submissions.notebook_in(data)
    assert said == problem
    assert problem or notebook.cells[0].source.startswith("a = 1\nb = 2")


def test_a_zip_file_stays_inside(tmp_path):
    """Paths in a zip file that lead out of it, a zip file within, junk and a broken archive do no harm."""
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("work.ipynb", NOTEBOOK)
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("an-empty-folder/", "")
        for name in ("../../etc/ann.ipynb", "/bo/x.ipynb", "__MACOSX/._ann.ipynb", "c\\d.ipynb"):
            archive.writestr(name, NOTEBOOK)
        archive.writestr("eve/all.zip", inner.getvalue())
        archive.writestr("fay.zip", b"PK")
        archive.writestr("gus.docx", b"words")
    before = sorted(tmp_path.rglob("*"))
    found = submissions.submissions(tmp_path / "all.zip", [])
    assert sorted((each.student, each.problem) for each in found) == [
        ("bo", ""), ("c", ""), ("etc", ""), ("eve", ""), ("fay.zip", "is not a notebook"),
        ("gus.docx", "is not a notebook")]
    assert sorted(tmp_path.rglob("*")) == before
    with pytest.raises(zipfile.BadZipFile):
        submissions.submissions(Path(__file__), [])
    assert submissions.time_of(zipfile.ZipInfo("odd", (1980, 0, 0, 0, 0, 0))) == 0  # no such month


def test_a_file_may_be_as_large_as_the_limit(tmp_path, monkeypatch):
    """A file of exactly as many bytes as are allowed is read, in a folder or in a zip file, and a larger one is not."""
    monkeypatch.setattr(submissions, "MAX_FILE_BYTES", len(NOTEBOOK))
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for name, text in ("ann.ipynb", NOTEBOOK), ("bo.ipynb", NOTEBOOK + " "):
            archive.writestr(name, text)
            (tmp_path / "all").mkdir(exist_ok=True)
            (tmp_path / "all" / name).write_text(text)
    for place in (tmp_path / "all.zip", tmp_path / "all"):
        assert [each.problem for each in submissions.submissions(place, [])] == ["", "is larger than 0 MB"]


def test_a_folder_of_folders(tmp_path):
    """A folder around all students' folders is no student; links are not followed; who submitted nothing is told."""
    for name in ("course/ann/a.ipynb", "course/bo/b.ipynb", "course/bo/notes.txt", "course/cy/essay.docx"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(NOTEBOOK if name.endswith("ipynb") else "words")
        if name == "course/bo/b.ipynb":
            assert [each.student for each in submissions.submissions(tmp_path, [])] == ["ann", "bo"]
    (tmp_path / "course" / "bo" / "secret.ipynb").symlink_to(tmp_path / "course" / "ann" / "a.ipynb")
    assert sorted((each.student, each.file, each.problem) for each in submissions.submissions(tmp_path, [])) == [
        ("ann", "ann/a.ipynb", ""), ("bo", "bo/b.ipynb", ""), ("cy", "cy/essay.docx", "is not a notebook")]
    (tmp_path / "course" / "dee").mkdir()
    found = {each.student: each.problem for each in submissions.submissions(tmp_path / "course", [])}
    assert found["dee"] == "is an empty folder"


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
    [row] = grade.rows_of(submissions.submissions(tmp_path / "in", []), {lesson.name: lesson})
    assert row.lesson is lesson
    assert row.submission.student == "?"
    assert len(cut(lesson, 1, row.answers)) >= 2
    grade.write_grades([row], tmp_path)
    row.try_to_grade(None)
    assert "fault in the grader" in row.remark


def submission(student="ann", at=0.0, file="ann.ipynb", notebook=None, problem=""):
    """Return a Submission."""
    return submissions.Submission(student, "", file, at, notebook, problem)


def test_the_newest_of_several_counts(lesson):
    """Of several submissions of a lesson the newest counts, and the remark names it; a file that is none is named."""
    found = [submission(at=2.0, file="a-new.ipynb", notebook=submitted(rename)),
             submission(at=1.0, notebook=submitted()), submission("bo", problem="is empty", file="bo.ipynb")]
    ann, bo = grade.rows_of(found, {lesson.name: lesson})
    assert ann.answers.own[1] == ["answer_1 = 6"]
    assert ann.remarks == ["2 submissions: the newest counts, a-new.ipynb"]
    assert (bo.remark, bo.points, bo.exercises) == ("bo.ipynb is empty", None, [])


# Points


def outputs(*texts, returned=None, error=None, stderr=None):
    """Return the outputs of a check's cell."""
    found = [{"output_type": "stream", "name": "stdout", "text": text} for text in texts]
    if stderr:
        found.insert(0, {"output_type": "stream", "name": "stderr", "text": stderr})
    if returned:
        found.append({"output_type": "execute_result", "data": {"text/plain": returned}, "metadata": {}})
    if error:
        found.append({"output_type": "error", "ename": error, "evalue": "", "traceback": []})
    return found


@needs_nbgrader
@pytest.mark.parametrize(("found", "points"), [
    (outputs("right\nWORD 1.0\n", returned="1"), 1), (outputs("WORD 0.5\n", returned="0.5"), 0.5),
    (outputs("right\n", "WORD 1.0\n", returned="1", stderr="a warning"), 1),
    (outputs("not yet\nWORD 0.0\n", returned="0"), 0),
    (outputs(), None), (outputs("right\n"), None), (outputs("right\n", returned="1"), None),
    (outputs("WORD 1.0\n"), 1), (outputs("WORD 0.0\n"), None), (outputs("WORD 1.0\n", returned="0"), None),
    (outputs("WORD 1.0\nWORD 1.0\n", returned="1"), None), (outputs("WORD 1.0\n", error="Late"), None),
    (outputs("WORD 7.0\n", returned="7"), None), (outputs("WORD x\n", returned="1"), None),
    (outputs("OTHER 1.0\n", returned="1"), None), (outputs("right\n", error="NameError"), None),
], ids=range(16))
def test_what_counts_as_a_point(found, points):
    """Points count only if the check printed this run's word and the same points as nbgrader reads from its output."""
    assert grade.points_of(found, "WORD") == ((0, grade.NO_CHECK) if points is None else (points, ""))


@pytest.fixture
def grader(tmp_path, monkeypatch, lesson):
    """Return a Grader whose runs are not run: `grader.shows` is what a check prints, `grader.ended` what ends it."""
    def run(sources, where, place, limits):
        grader.ran.append(sources)
        grader.seconds = limits.seconds
        word = sources[-1].split("'")[3]
        return [[]] * (len(sources) - 1) + [outputs(grader.shows.replace("WORD", word))], grader.ended

    monkeypatch.setattr(runs, "run", run)
    monkeypatch.setattr(grade, "points_of", lambda found, word: (float(found[0]["text"].split()[-1]), ""))
    (tmp_path / "results").mkdir()
    place = runs.Sandbox(stored.FOLDER, tmp_path, False, ())
    grader = grade.Grader(place, tmp_path / "results", runs.RunLimits())
    grader.ran = []
    grader.ended = ""
    grader.shows = "right\nWORD 1.0"
    return grader


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
    assert first["cells"] == [["answer_1 = 6", ""]]
    grader.ended = "it hung"
    assert grader.graded(lesson, 1, answers, "cy")["why"] == "it hung"


def test_a_result_belongs_to_the_code_that_graded_it(grader, tmp_path, monkeypatch):
    """When a file of the helpers changes, in whatever folder of theirs it is, all answers are graded anew."""
    monkeypatch.setattr(grade, "PROJECT", tmp_path)
    helper = tmp_path / "d2lhelpers" / "torch" / "jobs.py"
    helper.parent.mkdir(parents=True)
    found = set()
    for text in ("one = 1", "one = 1.0"):
        helper.write_text(text)
        found.add(grade.Grader(grader.place, tmp_path, runs.RunLimits()).imported)
    assert len(found) == 2


def test_an_exercise_that_fails_here_is_given_up(grader, lesson):
    """If the lesson's own solution fails, cut and whole, the exercise is not graded, and the remark says why."""
    grader.prepare(lesson, 1)
    assert lesson.whole == lesson.broken.keys() == set()
    grader.shows = "not yet\nWORD 0.0"
    grader.prepare(lesson, 2)
    assert lesson.whole == {2}
    row = grade.LessonGrade(submission(notebook=submitted(rename)), lesson, [])
    grader.shows = "right\nWORD 1.0"
    row.grade(grader)
    assert [row.results[number]["points"] for number in (1, 2)] == [1, None]
    assert row.points == 1
    assert "exercise 2: cannot be graded here" in row.remark


def test_a_level_counts_for_those_below(grader, lesson):
    """In a capstone, who has reached a level has reached those below it, and their answers are not run."""
    lesson.exercises = {number: each._replace(title=title) for (number, each), title
                        in zip(lesson.exercises.items(), ("Bronze", "Silver"), strict=True)}
    notebook = submitted(lambda cells: cell_of(cells, "try-2").update(source="answer_2 = 1"))
    row = grade.LessonGrade(submission(notebook=notebook), lesson, [])
    grader.shows = "all counts\nso far\nright\nWORD 1.0"
    row.grade(grader)
    assert row.points == 2
    assert len(grader.ran) == 1
    assert grader.seconds == 2 * runs.RunLimits().seconds
    grader.shows = "not yet\nWORD 0.5"
    other = grade.LessonGrade(row.submission._replace(student="bo"), lesson, [])
    other.grade(grader)
    assert other.points == 0.5
    del lesson.exercises[2]
    assert other.exercises == [1]
    assert [short(points) for points in (2.0, 1 / 3)] == [2, 0.33]


def test_grades_csv_and_feedback(grader, lesson, tmp_path):
    """grades.csv has a line for each student and harmless cells, pages show what was submitted as text, not as HTML."""
    def change(cells):
        cell_of(cells, "try-1").source = "answer_1 = '<script>'"

    assert feedback.text_of([*outputs("printed\n", returned="7")]) == "printed\n7"
    rows = [grade.LessonGrade(submission("=ann", notebook=submitted(change)), lesson, ["a remark"]),
            grade.LessonGrade(submission("../bo", problem="is empty"), None, ["bo.ipynb is empty"])]
    for row in rows:
        row.grade(grader)
    rows[0].results[1]["cells"].append(("print(5)", "five"))
    assert [*map(feedback.line_of, rows)] == ["=ann · 01-small: 1 of 2 (a remark)", "../bo (bo.ipynb is empty)"]
    grade.write_grades(rows, tmp_path)
    with (tmp_path / "grades.csv").open(encoding="utf-8-sig") as file:
        first, second = csv.DictReader(file)
    assert first == {"student": "'=ann", "id": "", "lesson": "01-small", "points": "1", "out of": "2",
                     "exercise 1": "1", "exercise 2": "0", "remark": "a remark"}
    assert (second["student"], second["points"], second["remark"]) == ("../bo", "", "bo.ipynb is empty")
    page, other = sorted(path.read_text() for path in (tmp_path / "feedback").iterdir())
    assert not [*tmp_path.glob("*.html"), *tmp_path.parent.glob("*.html")]
    grade.write_grades([], tmp_path)
    assert (tmp_path / "grades.csv").read_text(encoding="utf-8-sig").strip() == "student,id,lesson,points,out of,remark"
    assert len(feedback.file_name(99 * "a", "1")) == 67  # 60 letters of the name, and what makes it unique
    assert "&lt;script&gt;" in page + other
    assert "<script>" not in page + other
    assert all(said in page + other for said in ("points: 1 of 2", "points: 0 of 1", "a remark", "<h3>Exercise 1",
                                                    "<p>It printed:</p><pre>five</pre>", "<pre>right</pre>"))


def test_grade_resumes(grader, tmp_path, monkeypatch, capsys):
    """Called again it goes on in the folder that it has begun; what it cannot use it names in a line."""
    def called(*arguments, nbgrader=True):
        monkeypatch.setattr(__main__, "find_spec", lambda name: nbgrader or None)
        monkeypatch.setattr(sys, "argv", ["editions", "grade", *map(str, arguments)])
        try:
            __main__.main()
        except SystemExit as end:
            return end.code
        return capsys.readouterr().out

    def interrupt(row, grader):
        raise KeyboardInterrupt

    monkeypatch.setattr(runs, "STOPPED", threading.Event())
    monkeypatch.setattr(runs, "prepared", lambda *_: contextlib.nullcontext(grader.place))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    work = tmp_path / "work"
    work.mkdir()
    nbformat.write(submitted(rename), work / "ann.ipynb")
    assert "installs it" in called(work, nbgrader=False)
    for _ in range(2):
        said = called(work)
        assert said.startswith(f"1 submissions; {feedback.NOT_ISOLATED}")
        assert "[1/1] ann · 01-small: 1 of 2" in said
    assert len(grader.ran) == 3  # both solutions and one answer, once
    assert (tmp_path / "work-graded" / "grades.csv").exists()
    assert called(work, "--folder", tmp_path / "other").splitlines()[-1].startswith(str(tmp_path / "other"))
    grader.shows = "not yet\nWORD 0.0"
    assert "01-small, exercise 1 cannot be graded here, where the lesson's own solution fails: not yet\n" in called(
        work, "--folder", tmp_path / "third")
    monkeypatch.setattr(grade.LessonGrade, "try_to_grade", interrupt)
    assert "goes on from here" in called(work)
    assert runs.STOPPED.is_set()
    (tmp_path / "work.zip").write_text("no archive")
    for name in ("work.zip", "absent"):
        assert called(tmp_path / name).startswith(f"{tmp_path / name}: ")


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


# What a submission cannot do


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a place for runs, as isolated as this system allows; a file in it must not be seen by a run."""
    lessons = tmp_path_factory.mktemp("lessons")
    hidden = tmp_path_factory.mktemp("hidden")
    (hidden / "secret").write_text("secret")
    with runs.prepared(lessons, ROOT, [hidden]) as place:
        yield place


LIMITS = runs.RunLimits(seconds=25, memory=0.6)
CHECK = "print('WORD', 1.0)\n1.0"


class Attack(NamedTuple):
    """A cell, and how its run ends: the reason in words, or "" if the cell after it is run."""

    source: str
    ends: str


ATTACKS = {
    "hangs": Attack("while True: pass", "still running after 25 seconds"),
    "eats memory": Attack("a = []\nfor _ in range(10): a.append(bytearray(10**8))\nimport time; time.sleep(5)",
                          "more than 0.6 GB"),
    "starts processes": Attack("import subprocess, time\nfor _ in range(60): subprocess.Popen(['sleep', '60'])\n"
                               "time.sleep(5)", "more than 40 processes"),
    "leaves at once": Attack("import os; os._exit(0)", "its process was ended"),
    "floods": Attack("for _ in range(200): print('x' * 50_000)", ""),
    "deletes its files": Attack("import os, shutil; shutil.rmtree(os.path.expanduser('~'))", ""),
    "exits": Attack("exit()\nraise SystemExit", ""),
    "closes its output": Attack("import os\nos.close(1); os.close(2)", ""),
}


AT_EACH_PUSH = "starts processes", "leaves at once", "deletes its files"  # the others once a week


@needs_nbgrader
@pytest.mark.slow
@pytest.mark.one_job
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[] if name in AT_EACH_PUSH else pytest.mark.weekly) for name in ATTACKS])
def test_a_submission_that_misbehaves(name, place):
    """A run that hangs, grows, multiplies, floods or dies ends with a clear reason, and leaves no process behind."""
    source, ends = ATTACKS[name]
    found, why = runs.run([source, CHECK], ".", place, LIMITS)
    assert ends in why
    assert bool(why) is bool(ends)
    assert bool(found[-1]) is not bool(ends)
    assert not found[0] or len(str(found[0])) < 9 * runs.MAX_TEXT_CHARS
    assert not left_behind()


def left_behind():
    """Return all processes that have the home of a run, except those that have ended."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if "/grade-" in process.environ().get("HOME", "") and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


@needs_nbgrader
@pytest.mark.slow
@pytest.mark.one_job
def test_a_submission_is_isolated(place, tmp_path):
    """Where the system allows it, a run writes nothing outside its folder, sees no process, file or server of ours."""
    if not place.isolated:
        if shutil.which("unshare") and shutil.which("setpriv"):
            command = sandbox.command(tmp_path)
            unshare = command[:command.index(sys.executable)]
            assert subprocess.run([*unshare, "true"], capture_output=True).returncode != 0
        pytest.skip("this system allows no isolation")
    server = socket.create_server(("127.0.0.1", 0))
    hidden = place.hidden[0]
    tmp_path.chmod(0o777)  # open to the run's account, too
    told = {
        "parent": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)",
        "all": f"import os, signal\ntry: os.kill({os.getpid()}, signal.SIGTERM)\nexcept OSError as e: print(type(e))",
        "write": f"open({str(tmp_path / 'new')!r}, 'w')", "project": f"open({str(ROOT / 'README.md')!r}, 'a')",
        "secret": f"import os; print(os.listdir({str(hidden)!r}))",
        "net": f"import socket; socket.create_connection({server.getsockname()!r}, 2)",
        "threads": "import resource; print(resource.getrlimit(resource.RLIMIT_NPROC)[1] < 1_000_000, os.getuid() > 0)",
        "check": CHECK}
    found, why = runs.run([*told.values()], ".", place, LIMITS)
    shown = dict(zip(told, map(feedback.text_of, found), strict=True))
    assert why == ""
    assert shown["parent"] == ""
    assert "ProcessLookupError" in shown["all"]
    assert "Read-only" in shown["write"]
    assert "Read-only" in shown["project"] or "Permission" in shown["project"]
    assert not (tmp_path / "new").exists()
    assert shown["secret"] == "[]"
    assert "ConnectionRefusedError" in shown["net"]
    assert shown["threads"].startswith("True")
    assert shown["check"].startswith("WORD")


def test_how_many_threads_a_run_may_have(monkeypatch):
    """The limit grows with the cores, from what the account has now."""
    now = psutil.Process().num_threads()
    monkeypatch.setattr(psutil, "process_iter", lambda: [psutil.Process()])
    found = []
    for cores in (1, 4):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        found.append(sandbox.threads() - now)
    assert found[0] >= 100
    assert found[1] - found[0] == 300


@pytest.mark.parametrize(("account", "own_user"), [(0, False), (1000, True)])
def test_who_needs_a_namespace_of_users(account, own_user, monkeypatch, tmp_path):
    """Only root can do without: the command of any other account asks for a namespace of users first."""
    monkeypatch.setattr(os, "geteuid", lambda: account)
    assert ("--user" in sandbox.command(tmp_path)) is own_user


def test_a_flood_is_shortened():
    """Of many outputs and of a long text the beginning and the end are kept."""
    assert runs.few([*range(40)]) == [*range(40)]
    assert runs.few([*range(41)]) == [*range(20), *range(21, 41)]
    fits = runs.MAX_TEXT_CHARS * "ab"
    assert runs.shortened(fits) == fits
    longer = runs.shortened(f"1{fits}2")
    assert (longer[0], longer[-1], len(longer)) == ("1", "2", len(fits) + len("\n[...]\n"))


# Sixty submissions


class Case(NamedTuple):
    """A submission that is no plain one: what is done to a right one, its points, and a part of the remark."""

    change: object
    points: float | None
    remark: str = ""


ODD = "pytorch/03-waiting-threads-and-copies"


def say(source):
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


CASES = {
    "hangs": Case(instead("while True: pass"), 0, "exercise 2: it was still running after"),
    "memory": Case(instead("a = []\nfor _ in range(12): a.append(bytearray(10**8))\nimport time; time.sleep(9)"), 0,
                   "GB of memory"),
    "floods": Case(say("for _ in range(100): print('x' * 100_000)"), 1),
    "deletes": Case(say("import os, shutil; shutil.rmtree(os.getcwd())"), 0, "did not come to its end"),
    "forks": Case(instead("import subprocess, time\nfor _ in range(60): subprocess.Popen(['sleep', '60'])\n"
                          "time.sleep(9)"), 0, "more than 40 processes"),
    "network": Case(instead("import urllib.request\nanswer_2 = urllib.request.urlopen('http://127.0.0.1:9').read"), 0),
    "own end": Case(say("print('right')\nimport os; os._exit(0)"), 0, "its process was ended"),
    "exit": Case(say("exit()"), 1),
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
    "no print": Case(say("print = None\nint = None"), 1),
    "syntax": Case(instead("def answer_2(:"), 0),
    "magic": Case(say("%timeit -n 1 -r 1 1 + 1\n!echo hello"), 1),
    "helper": Case(helper_above, 1),
    "unanswered": Case(instead("# your turn: I have no idea"), 0),
    "other lesson": Case(other_lesson, None, "no cells of any"),
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
    for student, data, case in [
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
        if got != case.points or case.remark not in row["remark"]:
            yield f"{name}: wanted {case[1:]}, got {row}"


@needs_nbgrader
@pytest.mark.slow
@pytest.mark.weekly
def test_sixty_submissions(tmp_path):
    """Of some sixty submissions, plain, odd and hostile, none is misgraded, after an interruption, too."""
    folder = tmp_path / "submitted"
    folder.mkdir()
    wanted = write_sixty(folder)
    assert len(wanted) >= 45
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    command = [sys.executable, "-m", "editions", "grade", str(folder), "--seconds", "90", "--memory", "1.5"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, start_new_session=True, stdout=subprocess.DEVNULL) as first:
        time.sleep(60)
        first.send_signal(signal.SIGINT)
        first.wait(timeout=60)
    assert first.returncode != 0
    kept = len([*tmp_path.glob("*/results/*.json")])
    assert kept > 0
    assert not left_behind()
    subprocess.run(command, env=environment, check=True)
    assert [*misgraded(tmp_path / "submitted-graded" / "grades.csv", wanted)] == []
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
