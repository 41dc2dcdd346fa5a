"""Grade what students submitted: `make grade SUBMISSIONS=folder` writes grades.csv and a page for each student.

nbgrader does three things here. Its metadata, which the student edition has, says which cell is an answer and which a
check. Its `Execute` runs the cells. Its `determine_grade` reads the points from what the check's cell returned. The
rest is ours, for three reasons. nbgrader runs a whole notebook, where an exercise needs a few cells. It has no limits
but a time per cell. And it gives full points to a check without an error, even if the check was never run: here, points
count only if the check's cell printed a word that is made for this one run and that stands in no other cell.

Code that runs in the process of its own check can forge what the check says: read an answer that looks odd.
"""
import csv
import hashlib
import json
import secrets
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from nbformat import from_dict

from .. import lessons as stored
from .. import student
from ..translations import ENGLISH
from . import feedback, runs
from .answers import Answers, key_of
from .exercise_program import Lesson, cut
from .lesson_grade import LessonGrade, short
from .submissions import submissions

PROJECT = stored.FOLDER.parent
AT_ONCE = 2  # runs at the same time
SLOWER = 2  # a capstone takes this many times as long as the limit of other exercises
NO_CHECK = "the check did not come to its end"
LAST_LINES = """\
points = {points}
__import__('builtins').print('{word}', points + 0.0)
points"""  # of a check's cell: it prints the word of its run and the points, and returns the points


def all_lessons():
    """Return all lessons that have exercises, by name."""
    found = {}
    for path in stored.paths(solved=False):
        notebook = stored.read(path)
        version = student.version_of(notebook)
        if version:
            name = path.with_suffix("").as_posix()
            found[name] = Lesson(name, notebook, version)
    return found


def lesson_of(notebook, lessons):
    """Return the lesson of which a notebook was made, and in words what is odd about it, or ""."""
    made_of = notebook.metadata.get("lesson")
    if isinstance(made_of, dict) and str(made_of.get("name")) in lessons:
        lesson = lessons[made_of["name"]]
        same = made_of.get("version") == lesson.version
        return lesson, "" if same else "made from another version of the lesson: compare the exercises"
    keys = {key_of(cell) for cell in notebook.cells}
    shared = {lesson: len(keys & set(lesson.section)) / len(lesson.section) for lesson in lessons.values()}
    best = max(shared, key=shared.get)
    if shared[best] < 0.5:
        return None, "has no cells of any lesson"
    return best, "does not say of which version of the lesson it was made: compare the exercises"


class Grader:
    """Runs exercises in a place made for it, and keeps every result in a folder, so that none is run twice."""

    def __init__(self, place, folder, limits, language=None):
        self.place = place
        self.folder = folder
        self.limits = limits
        self.language = language
        imported = [*sorted(place.lessons.rglob("*.py")), *sorted((PROJECT / "d2lhelpers").rglob("*.py"))]
        self.imported = hashlib.sha256(b"".join(path.read_bytes() for path in imported)).hexdigest()

    def graded(self, lesson, number, answers, whose):
        """Return the points of an answer, what its cells printed, and in words what went wrong, or ""."""
        cells = cut(lesson, number, answers)
        exercise = lesson.exercises[number]
        parts = [whose, lesson.name, number, cells, exercise.check.source, self.imported, self.limits, self.language]
        kept = self.folder / f"{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}.json"
        if kept.exists():
            return json.loads(kept.read_text(encoding="utf-8"))
        limits = self.limits
        if exercise.is_level:
            limits = limits._replace(seconds=SLOWER * limits.seconds)
        word = secrets.token_hex()
        check = checked(exercise.check.source, lesson, word)
        where = Path(lesson.name).parent
        outputs, ended = runs.run([*(cell.source for cell in cells), check], where, self.place, limits)
        points, why = points_of(outputs[-1], word)
        shown = [[cell.source, feedback.text_of(output)] for cell, output in zip(cells, outputs, strict=False)
                 if cell.owner == "student" and cell.exercise == number]
        said = feedback.text_of(outputs[-1], but=word)
        result = {"points": points, "cells": shown, "said": said, "why": ended or why}
        unfinished = kept.with_suffix(".part")
        unfinished.write_text(json.dumps(result), encoding="utf-8")
        unfinished.rename(kept)
        return result

    def prepare(self, lesson, number):
        """Grade the lesson's own solution: if a cut is not enough, run the whole lesson, or give the exercise up."""
        solution = lesson.solved(number)
        if solution is None:  # those of the capstones are notebooks of their own
            return
        answers = Answers({other: [] for other in lesson.exercises} | {number: solution}, {}, {}, {})
        for whole in (False, True):
            if whole:
                lesson.whole.add(number)
            result = self.graded(lesson, number, answers, "the lesson's own solution")
            if result["points"] == 1:
                return
        why = result["why"] or result["said"]
        lesson.broken[number] = f"cannot be graded here, where the lesson's own solution fails: {why}"


def checked(source, lesson, word):
    """Return the source of a check's cell that prints `word` and the points, and returns the points."""
    *imports, points = student.points(source, Path(lesson.name)).splitlines()
    return "\n".join([source, *imports, LAST_LINES.format(points=points, word=word)])


def points_of(outputs, word):
    """Return the points that the cell of a check got, and in words why it got none, or "".

    What is written to stderr does not count as an error, as it would for nbgrader: frameworks write warnings there.
    """
    from nbgrader.utils import determine_grade

    kept = [output for output in outputs if output.get("name") != "stderr"]
    printed = "".join(output["text"] for output in kept if output["output_type"] == "stream")
    said = [line.split() for line in printed.splitlines() if line.startswith(word)]
    if len(said) != 1 or len(said[0]) != 2:
        return 0, NO_CHECK
    cell = {"cell_type": "code", "outputs": kept,
            "metadata": {"nbgrader": {"grade": True, "solution": False, "points": 1}}}
    try:
        points, _ = determine_grade(from_dict(cell))
        agreed = points == float(said[0][1])
    except (ValueError, KeyError):
        agreed = False
    return (points, "") if agreed else (0, NO_CHECK)


def rows_of(found, lessons):
    """Return a LessonGrade for each student and lesson: of several submissions, the newest counts."""
    newest = {}
    for submission in sorted(found, key=lambda each: (each.time, each.file)):
        if submission.notebook:
            lesson, odd = lesson_of(submission.notebook, lessons)
        else:
            lesson, odd = None, submission.problem
        place = (submission.student, submission.number, lesson.name if lesson else "")
        newest.setdefault(place, []).append((submission, lesson, odd))
    rows = []
    for several in newest.values():
        submission, lesson, odd = several[-1]
        remarks = [f"{submission.file} {odd}" if not lesson else odd] if odd else []
        if len(several) > 1:
            remarks.append(f"{len(several)} submissions: the newest counts, {submission.file}")
        rows.append(LessonGrade(submission, lesson, remarks))
    return sorted(rows, key=lambda row: (row.submission.student.lower(), row.submission.number, row.title))


def write_grades(rows, folder, translation=ENGLISH):
    """Write grades.csv and a page for each student."""
    most = max((len(row.results) for row in rows), default=0)
    with (folder / "grades.csv").open("w", encoding="utf-8-sig", errors="replace", newline="") as file:
        table = csv.writer(file)
        table.writerow(["student", "id", "lesson", "points", "out of",
                        *(f"exercise {number}" for number in range(1, most + 1)), "remark"])
        for row in rows:
            points = [row.results.get(number, {}).get("points") for number in range(1, most + 1)]
            each = ["" if each is None else short(each) for each in points]
            out_of = len(row.lesson.exercises) if row.lesson else ""
            cells = [row.submission.student, row.submission.number, row.title, row.points, out_of, *each, row.remark]
            table.writerow([feedback.harmless(cell) for cell in cells])
    feedback.write_feedback(rows, folder / "feedback", translation)


def grade(submitted, folder, limits, translation=ENGLISH):
    """Grade all submissions, and write the results into a folder, which an interrupted run has begun to fill.

    Hints and pages for students are in the language of `translation`.
    """
    lessons = all_lessons()
    stems = [Path(name).name for name in lessons]
    rows = rows_of(submissions(submitted, stems), lessons)
    kept = folder / "results"
    kept.mkdir(parents=True, exist_ok=True)
    with runs.prepared(stored.FOLDER, PROJECT, [submitted, folder], translation.write_beside) as place:
        print(f"{len(rows)} submissions; {feedback.ISOLATED if place.isolated else feedback.NOT_ISOLATED}", flush=True)
        grader = Grader(place, kept, limits, translation.language)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            try:
                prepare_all({row.lesson for row in rows if row.lesson}, grader, pool)
                grade_all(rows, grader, pool)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                runs.stop()
                raise
    write_grades(rows, folder, translation)
    print(f"{folder / 'grades.csv'}: {len(rows)} lines; pages for students in {folder / 'feedback'}")


def prepare_all(lessons, grader, pool):
    """Grade the lessons' own solutions, and print which exercises cannot be graded here."""
    waiting = [pool.submit(grader.prepare, lesson, number) for lesson in lessons for number in lesson.exercises]
    for done in waiting:
        done.result()
    for lesson in lessons:
        for number, why in sorted(lesson.broken.items()):
            print(f"{lesson.name}, exercise {number} {why}", flush=True)


def grade_all(rows, grader, pool):
    """Grade each row, and print a line about it as soon as that is done."""
    waiting = {pool.submit(row.try_to_grade, grader): row for row in rows}
    for count, done in enumerate(as_completed(waiting), 1):
        done.result()
        print(f"[{count}/{len(rows)}] {feedback.line_of(waiting[done])}", flush=True)
