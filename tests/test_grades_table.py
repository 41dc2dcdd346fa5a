"""What `make grade` tells: grades.csv, the students' pages, the instructor's page, and the lines on the screen."""
import contextlib
import csv
import itertools
import re
import subprocess
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook, new_output
from small_lesson import lesson_cells

from editions import __main__
from editions.grading import feedback, grade, runs, sandbox
from editions.grading.answers import Answers
from editions.grading.exercise_program import Lesson
from editions.grading.feedback import line_of, write_feedback, write_look_first
from editions.grading.lesson_grade import LessonGrade
from editions.grading.remarks import Remark, remark_of, say, to_instructor
from editions.grading.submissions import Submission
from editions.grading.table import harmless, write_grades
from editions.translations import ENGLISH, Translation

ROOT = Path(__file__).parents[1]
HAN = re.compile("[\u3400-\u9fff]")
LATE = say("it was still running after {seconds:g} seconds", seconds=300)
FORGED = to_instructor(say("it changes {names}, which the check uses: look at it", names="given"))
MOVED = to_instructor(say("its answer cell was renamed or moved"))


def small_lesson(name="01-small"):
    """Return a small lesson with two exercises, the first of which has markup in its heading."""
    cells = lesson_cells()
    cells[3] = new_markdown_cell("### Exercise 1 · `twice` *k*", id="exercise-1")
    return Lesson(name, new_notebook(cells=cells), "1")


def submission(student="ann", number="", lesson="", **fields):
    """Return a Submission of a notebook."""
    notebook = new_notebook(metadata={"lesson": {"name": lesson, "version": "1"}})
    given = {"file": f"{student}.ipynb", "time": 0.0, "notebook": notebook, "problem": None, "late": False}
    return Submission(student=student, number=number, **(given | fields))


def result(points, said="", why=None, cells=()):
    """Return the result of an exercise."""
    return {"points": points, "said": said, "why": why, "cells": list(cells)}


def graded(first, second=None, notes=None, remarks=(), **fields):
    """Return the row of a student whose exercises have results."""
    row = LessonGrade(submission(**fields), small_lesson(), list(remarks))
    row.answers = Answers({1: ["answer_1 = 1"], 2: ["answer_2 = 2"]}, {}, {}, notes or {})
    row.results = {1: first, 2: second or result(0, say("no answer"))}
    return row


def page_of(row, folder, translation=ENGLISH):
    """Return the page of a student."""
    write_feedback([row], folder / "feedback", translation)
    [path] = (folder / "feedback").iterdir()
    return path.read_text(encoding="utf-8")


def looked_at(rows, folder, translation=ENGLISH):
    """Return the instructor's page."""
    write_look_first(rows, folder / "look.html", translation)
    return (folder / "look.html").read_text(encoding="utf-8")


def lines_of(folder):
    """Return the lines of grades.csv."""
    with (folder / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        return [*csv.reader(file)]


# The table


@pytest.mark.parametrize(("text", "cell"), [
    ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@sum", "'@sum"), ("\t=1", "'=1"), ("\r=1", "'=1"),
    ("＝1+1", "'＝1+1"), ("＋1", "'＋1"), ("－1", "'－1"), ("＠a", "'＠a"),
    ("x;=1+1", "x;'=1+1"), ("x,＝1", "x,'＝1"), ("x\n=1", "x '=1"), ("  =1", "'=1"), ("x; \t@a", "x; '@a"),
    ('x;"=1', "x;\"'=1"), ("\u200b=1", "'=1"), ("\x00=1", "'=1"),
    ("Ann-Lee O'Neill_1 a=b", "Ann-Lee O'Neill_1 a=b"), ("", ""), (-1, -1), (None, None),
])
def test_no_cell_is_computed(text, cell):
    """A spreadsheet computes no text, wherever it splits it; other texts and all numbers stay as they are."""
    assert harmless(text) == cell


def test_the_table(tmp_path):
    """A row has the student, the lesson, whether it is late, all points and all remarks, under fixed names."""
    rows = [graded(result(1), result(1 / 3, why=LATE), {1: [FORGED]}, [say("a remark")], student="=ann", late=True),
            LessonGrade(submission("bo", "7", notebook=None), None, [say("{file} is empty", file="bo.ipynb")])]
    write_grades(rows, tmp_path)
    assert lines_of(tmp_path) == [
        ["student", "id", "lesson", "late", "points", "out of", "exercise 1", "exercise 2", "remark"],
        ["'=ann", "", "01-small", "yes", "1.33", "2", "1", "0.33", "a remark; exercise 1: it changes given, which the "
         "check uses: look at it; exercise 2: it was still running after 300 seconds"],
        ["bo", "7", "", "", "", "", "", "", "bo.ipynb is empty"]]
    write_grades([], tmp_path)
    assert lines_of(tmp_path) == [["student", "id", "lesson", "late", "points", "out of", "remark"]]


def test_hidden_characters_are_shown_nowhere(tmp_path):
    """Characters that move a cursor or turn a text are in no line of the screen, no cell and no page."""
    odd = "ann\x1b[2K\r[1/9] \u202egpj.exe\u2028\U000e0041\x00"
    row = graded(result(1, "right\u202e", cells=[("a = '\u2066'\n\tb", "\x07pri\x9bnt")]), student=odd, file=odd,
                 notes={1: [say("{name}", name=odd)]})
    write_grades([row], tmp_path)
    pages = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.html")]
    assert len(pages) == 2
    for text in (line_of(row), *lines_of(tmp_path)[1], *pages):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u202e\u2066\U000e0041]", text)
        assert "\n" not in text or "</html>" in text
    assert line_of(row).startswith("ann[2K [1/9] gpj.exe · 01-small · points: 1 of 2")
    assert feedback.plain("می\u200cخواهم 👩\u200d🎓\ta\n") == "می\u200cخواهم 👩\u200d🎓\ta\n"


# The students' pages


def test_a_students_page(tmp_path):
    """A page shows each answer as text, what it printed and the check said; a remark once, an instructor's never."""
    row = graded(result(1, "right", cells=[("answer_1 = '<script>'", "five")]), result(0, why=LATE),
                 {1: [FORGED, say("a note")]}, [say("of the file"), MOVED])
    page = page_of(row, tmp_path)
    for said in ("<h2>01-small</h2>\n<p>points: 1 of 2</p>\n<p>of the file</p>", "<h3>Exercise 1 · twice k</h3>",
                 "<pre>answer_1 = &#x27;&lt;script&gt;&#x27;</pre>\n<p>It printed:</p><pre>five</pre>",
                 "<p>The check:</p><pre>right</pre>", "<p>it was still running after 300 seconds</p>",
                 "<p>a note</p>", "<pre>answer_2 = 2</pre>"):
        assert page.count(said) == 1, said
    assert page.count("The check:") == 1
    assert not any(text in page for text in ("look at it", "renamed", "<script>", "`"))


def test_a_page_without_a_run(tmp_path):
    """Where no check was run the page says why, and shows none; a fault of the grader's is told the instructor only."""
    row = graded(result(None, why="the lesson's own solution fails"), remarks=[say("{file} is late", file="a&b")])
    row.try_to_grade(None)
    page = page_of(row, tmp_path)
    assert page.count("<p>not graded</p>\n<p>the lesson&#x27;s own solution fails</p>") == 1
    assert page.count("<p>points: 0 of 1</p>\n<p>no answer</p>") == 1
    assert "The check:" not in page
    assert "a&amp;b is late" in page
    assert "fault in the grader" in row.remark()
    assert "fault in the grader" not in page


def test_every_student_has_a_page_of_their_own(tmp_path):
    """Students whose names and numbers read the same together, or are no name for a file, have different pages."""
    names = [feedback.file_name(*who) for who in (("a", "b c"), ("a b", "c"), ("../a", "b c"), ("", ""))]
    assert len(set(names)) == 4
    assert not any(re.search(r"[./ ]", name) for name in names)
    assert len(feedback.file_name(99 * "a", "1")) == 67  # 60 letters of the name, and what makes it unique
    twice = [graded(result(1)), graded(result(0))]
    write_feedback(twice, tmp_path, ENGLISH)
    [path] = tmp_path.iterdir()
    assert path.read_text().count("<h2>01-small</h2>") == 2


TRACEBACK = ["\x1b[0;31mZeroDivisionError\x1b[0m   Traceback (most recent call last)",
             "Cell \x1b[0;32mIn[2], line 5\x1b[0m\n\x1b[1;32m      2\x1b[0m def f(x):\n\x1b[0;32m----> 5\x1b[0m f(0)",
             "Cell \x1b[0;32mIn[2], line 3\x1b[0m, in \x1b[0;36mf\x1b[0;34m(x)\x1b[0m\n", "File /lib/a.py:7, in g(x)\n",
             "Cell \x1b[0;32mIn[1], line 9\x1b[0m, in \x1b[0;36mg\x1b[0;34m(x)\x1b[0m\n", "ZeroDivisionError: by zero"]


@pytest.mark.parametrize(("traceback", "line"), [
    (TRACEBACK, 3), (["  Cell \x1b[0;32mIn[3], line 12\x1b[0;36m\x1b[0m\n    b = ("], 12), ([], None), (None, None),
    (["File a.py, line 4"], None), (["Cell In[1], line " + 9999 * "9"], 999_999),
])
def test_the_line_of_an_error(traceback, line):
    """The line is that of the last frame in the cell that was run, not in a lesson's cell or a library."""
    assert feedback.line_of_error(traceback) == line


def test_an_error_says_where():
    """A run keeps the line of an error, and a page shows it once; a check's line is none of the student's."""
    error = new_output("error", ename="SyntaxError", evalue="invalid (287.py, line 5)", traceback=TRACEBACK)
    assert feedback.text_of([runs.clipped(error)]) == "SyntaxError: invalid (line 3)"
    assert feedback.text_of([runs.clipped(error)], but="WORD") == "SyntaxError: invalid"
    chinese = feedback.text_of([runs.clipped(error)], translation=Translation("zh"))
    assert chinese == "SyntaxError: invalid（第 3 行）"
    error.traceback = []
    assert feedback.text_of([runs.clipped(error)]) == "SyntaxError: invalid"
    assert feedback.text_of([{"output_type": "stream", "text": "\x1b[1mprinted\n"},
                             {"output_type": "execute_result", "data": {"text/plain": "7"}}]) == "printed\n7"


# The instructor's page


def test_what_to_look_at_first(tmp_path):
    """First answers that reach for their check, those with points before others; then odd ones; no plain ones."""
    rows = [graded(result(1, why=LATE), student="ended"), graded(result(1), notes={1: [MOVED]}, student="moved"),
            graded(result(0), notes={1: [FORGED]}, student="tried"), graded(result(1), student="plain"),
            graded(result(1, "right", cells=[("answer <1>", "shown")]), notes={1: [FORGED]}, student="forged"),
            graded(result(None, why="fails"), student="broken"),
            graded(result(1), notes={1: [say("please look at it")]}, student="said"),
            graded(result(1), notes={1: [say("a note")]}, student="reads")]
    rows[-1].answers = rows[-1].answers._replace(to_read={1: 1})
    page = looked_at(rows, tmp_path)
    assert re.findall("<h2>(.*?) · 01-small · Exercise 1 · twice k</h2>", page) == [
        "forged", "tried", "moved", "reads", "ended", "said"]
    assert "look at it</p>\n<pre>answer &lt;1&gt;</pre>\n<p>It printed:</p><pre>shown</pre>\n<p>The check:" in page
    assert page.count("points: 1 of 1") == 5
    assert "Nothing can be proof against code that runs beside its own check" in page
    assert "Nothing odd was found" in looked_at([graded(result(1))], tmp_path)


# The lesson that was set

LESSONS = {name: small_lesson(name) for name in ("01-small", "03-late", "pytorch/03-wait", "pytorch/03-waits")}


@pytest.mark.parametrize(("name", "lesson"), [("01", "01-small"), ("01-small", "01-small"), ("03", "03-late"),
                                              ("pytorch/03-wait", "pytorch/03-wait")])
def test_a_lesson_is_named_by_its_beginning(name, lesson):
    """A lesson is found by its name, also where another one begins so, or by the beginning that no other has."""
    assert grade.lesson_named(name, LESSONS, ENGLISH).name == lesson


@pytest.mark.parametrize(("name", "choices"), [("pytorch/03", "pytorch/03-wait, pytorch/03-waits"),
                                               ("small", ", ".join(LESSONS))])
def test_an_unknown_lesson_lists_the_choices(name, choices):
    """A name that fits no lesson or several ends the program with the names that it could be."""
    with pytest.raises(SystemExit, match=rf"{name}\? One of these: {choices}$"):
        grade.lesson_named(name, LESSONS, ENGLISH)


def test_only_the_lesson_that_was_set():
    """Only the set lesson has rows; who submitted none of it has one row that names what it was instead."""
    found = [submission("ann", lesson="01-small"), submission("ann", lesson="03-late"),
             submission("bo", lesson="03-late"), submission("bo", lesson="pytorch/03-wait", time=1.0),
             submission("cy", file="cy.ipynb"), submission("dee", notebook=None, problem=say("is empty"))]
    rows = grade.rows_of(found, LESSONS, LESSONS["01-small"])
    assert [(row.submission.student, row.title, row.remark()) for row in rows] == [
        ("ann", "01-small", ""), ("bo", "", "not the lesson that was set: 03-late, pytorch/03-wait"),
        ("cy", "", "not the lesson that was set: cy.ipynb"), ("dee", "", "dee.ipynb is empty")]
    assert len(grade.rows_of(found, LESSONS)) == 6


# Folders and names


def test_each_submission_has_results_of_its_own(tmp_path):
    """No two folders or zip files that lie beside one another share the folder of results."""
    for name in ("day1.1", "day1.2", "it's", "week1", "week3.zip"):
        (tmp_path / name).mkdir()
    for name in ("week1.zip", "week2.zip"):
        (tmp_path / name).touch()
    names = [__main__.results_of(path).name for path in sorted(tmp_path.iterdir())]
    assert names == ["day1.1-graded", "day1.2-graded", "it's-graded", "week1-graded", "week1.zip-graded",
                     "week2-graded", "week3.zip-graded"]


@pytest.mark.parametrize("variable", ["SUBMISSIONS", "HANDED_IN"])
@pytest.mark.parametrize("name", ["it's", 'a "b" $c', "$(shell echo d)"])
def test_make_takes_any_name(variable, name, tmp_path):
    """`make grade` hands a name with quotes, spaces and dollars on as it is, and a lesson's name beside it."""
    (tmp_path / "Makefile").write_bytes((ROOT / "Makefile").read_bytes())
    (tmp_path / "setup.sh").write_text("")
    call = ["make", "--silent", "grade", f"{variable}={name}", "EDITIONS=printf '%s\\n'", "ARGS="]
    for more, words in ([], []), (["LESSON=it's"], ["--lesson", "it's"]):
        said = subprocess.run([*call, *more], cwd=tmp_path, capture_output=True, text=True)
        assert said.stdout.splitlines() == ["grade", name, *words], said.stderr


# The screen


class Quick:
    """A Grader that runs nothing: all answers are right, but the second exercise cannot be graded."""

    def __init__(self, *_, said="right"):
        """Take what a Grader takes, and what a check says."""
        self.said = said

    def prepare(self, lesson, number):
        """Give up the second exercise."""
        if number == 2:
            lesson.broken[2] = say("not graded")

    def graded(self, *_):
        """Return a result."""
        return result(1, f"so far\n{self.said}")


@pytest.fixture
def screen(tmp_path, monkeypatch, capsys):
    """Return a function that grades two students in a language, and returns the lines on the screen."""
    def said(translation):
        rows = [graded(None, student="ann"), graded(None, student="bo")]
        rows[1].lesson = rows[0].lesson
        monkeypatch.setattr(grade, "read", lambda *_: ([], []))
        monkeypatch.setattr(grade, "rows_of", lambda *_: rows)
        grade.grade(tmp_path / "in", tmp_path / "out", runs.RunLimits(), translation)
        return capsys.readouterr().out.splitlines()

    monkeypatch.setattr(runs, "prepared", lambda *_: contextlib.nullcontext(runs.Place(tmp_path, True)))
    monkeypatch.setattr(sandbox, "fault", lambda: None)
    monkeypatch.setattr(grade, "Grader", Quick)
    return said


def test_the_screen_tells_from_the_beginning(screen, tmp_path):
    """The screen says what is done from the first moment on, and after each run how many are done and the time left."""
    lines = screen(ENGLISH)
    assert lines[:3] == [f"reading {tmp_path / 'in'}", f"2 submissions; {feedback.ISOLATED.text}",
                         "first the lessons' own solutions are run: about 1 min"]
    assert sorted(re.sub(r"^\[\d", "[1", line).removesuffix(" · 1 min left") for line in lines[3:5]) == [
        "[1/2] 01-small, exercise 1: its own solution", "[1/2] 01-small, exercise 2: its own solution"]
    assert lines[5] == "01-small, exercise 2: not graded"
    assert [line[:5] for line in lines[3:5] + lines[6:8]] == ["[1/2]", "[2/2]"] * 2
    assert [line.endswith(" · 1 min left") for line in lines[3:5] + lines[6:8]] == [True, False] * 2
    assert "· 01-small · points: 1 of 2 · exercise 2: not graded · 1 min left" in lines[6]
    assert lines[8:] == [f"2 lines in {tmp_path / 'out'}: grades.csv, look-first.html, and feedback/ for the students"]


def test_the_time_left(monkeypatch, capsys):
    """If each answer takes ten minutes, thirty are left after the first of four; after the last, no time is shown."""
    monkeypatch.setattr(feedback, "time", SimpleNamespace(monotonic=itertools.count(0, 600).__next__))
    waiting = {Future(): "a row" for _ in range(4)}
    for each in waiting:
        each.set_result(None)
    feedback.show_progress(waiting, str, ENGLISH)
    assert capsys.readouterr().out.splitlines() == [
        "[1/4] a row · 30 min left", "[2/4] a row · 20 min left", "[3/4] a row · 10 min left", "[4/4] a row"]


# Other languages


def test_a_remark_survives_json():
    """A remark that JSON has kept as a list is shown as before, with the remark in it; a text is shown as it is."""
    outer = say("fails: {why}", why=LATE)
    assert remark_of([outer.text, {"why": [LATE.text, LATE.values]}]) == outer
    assert remark_of([*to_instructor(outer)]) == to_instructor(outer)
    assert remark_of("a {b}").shown() == "a {b}"
    assert remark_of(outer) is outer


def test_everything_is_in_the_students_language(screen, tmp_path):
    """In Chinese no remark, page or line of the screen has an English sentence; names and code stay as they are."""
    chinese = Translation("zh")
    lines = screen(chinese)
    assert all(HAN.search(line) for line in lines)
    row = graded(result(1, "right", cells=[("answer_1 = 1", "5")]), notes={1: [say("not graded")]}, remarks=[
        say("{count} submissions: the newest counts, {file}", count=2, file="a")], student="李")
    folder = tmp_path / "pages"
    write_grades([row], folder, chinese)
    texts = [lines_of(folder)[1][-1], *(path.read_text(encoding="utf-8") for path in folder.rglob("*.html"))]
    assert len(texts) == 3
    for text in [*lines, *texts]:
        bare = re.sub(rf"<style>.*?</style>|<pre>.*?</pre>|{tmp_path}\S*", "", text, flags=re.DOTALL)
        assert not re.search("[a-z]{3,} [a-z]{2,}", re.sub("<[^>]*>", "", bare)), text
    assert all('lang="zh-CN"' in text for text in texts[1:])


def test_a_level_is_reached_in_any_language(monkeypatch):
    """In a capstone the level below one that the check calls right is reached, also where the check speaks Chinese."""
    lesson = small_lesson()
    lesson.exercises = {number: each._replace(title=title) for (number, each), title
                        in zip(lesson.exercises.items(), ("Bronze", "Silver"), strict=True)}
    for translation in (ENGLISH, Translation("zh")):
        row = LessonGrade(submission(), lesson, [])
        row.answers = Answers({1: [], 2: ["answer_2 = 2"]}, {}, {}, {})
        row.grade(Quick(said=translation.say("right")), translation)
        assert row.points == 2
        assert isinstance(row.results[1]["said"], Remark)
