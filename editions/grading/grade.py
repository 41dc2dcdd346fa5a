"""Grade what students submitted: `make grade SUBMISSIONS=folder` writes grades.csv and a page for each student.

A submission's cells are cut to those that an exercise needs, and nbclient runs them in a sandbox. If they get no
point, all cells above the check are run as the student wrote them, and the better counts. A check gives points only if
its cell printed a word that is made for this one run and that stands in no other cell.

Code that runs in the process of its own check can forge what the check says: read an answer that looks odd.
"""
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .. import lessons as stored
from .. import student
from ..translations import ENGLISH
from . import feedback, limited, runs, sandbox
from .answers import answers_in, lesson_of
from .exercise_program import Lesson
from .grader import Grader
from .lesson_grade import LessonGrade
from .remarks import remark_of, say
from .submissions import in_order, read
from .table import write_grades

AT_ONCE = 2  # runs at the same time
SOLUTION_SECONDS = 20  # that a run of a lesson's own solution takes, about


def all_lessons():
    """Return all lessons that have exercises, by name."""
    found = {}
    for path in stored.paths(solved=False):
        notebook = stored.read(path)
        version = student.version_of(notebook)
        for cell in notebook.cells:
            cell.pop("outputs", None)  # nobody needs them here, and they are large
        if version:
            name = path.with_suffix("").as_posix()
            found[name] = Lesson(name, notebook, version)
    return found


def lesson_named(name, lessons, translation):
    """Return the lesson with this name, or the only one whose name begins so; end the program if there is none."""
    found = [lesson for each, lesson in lessons.items() if each.startswith(name)]
    if name in lessons or len(found) == 1:
        return lessons.get(name, found[0])
    raise SystemExit(translation.say("which lesson is {name}? One of these: {choices}", name=name, choices=", ".join(
        sorted(lesson.name for lesson in found or lessons.values()))))


def understood(notebook, lessons):
    """Return the name of the lesson of which a notebook was made, what is odd about it, and its Answers."""
    lesson, odd = lesson_of(notebook, lessons)
    return (lesson.name, odd, answers_in(notebook, lesson)) if lesson else ("", odd, None)


def rows_of(found, lessons, wanted=None):
    """Return a LessonGrade for each student and lesson: of several submissions, the newest counts.

    If a lesson is wanted, a student's other lessons give one row, and none beside a row of the wanted lesson.
    """
    newest, others = {}, {}
    for submission in in_order(found):
        name, odd, answers = "", submission.problem, None
        if submission.notebook:
            try:
                name, odd, answers = limited.call(understood, submission.notebook, lessons)
            except limited.Refused as refused:
                odd = refused.remark
        who = submission.student, submission.number
        if wanted and submission.notebook and name != wanted.name:
            others.setdefault(who, []).append((submission, name or submission.file))
        else:
            newest.setdefault((*who, name), []).append((submission, odd, answers))
    rows = []
    for (_, _, name), several in newest.items():
        submission, odd, answers = several[-1]
        if odd and not name:
            odd = say("{file} {problem}", file=submission.file, problem=remark_of(odd))
        remarks = [odd] if odd else []
        if len(several) > 1:
            newer = say("{count} submissions: the newest counts, {file}", count=len(several), file=submission.file)
            remarks.append(newer)
        rows.append(LessonGrade(submission, lessons.get(name), remarks, answers))
    for who, several in others.items():
        if (*who, wanted.name) not in newest:
            names = ", ".join(dict.fromkeys(name for _, name in several))
            remark = say("not the lesson that was set: {names}", names=names)
            rows.append(LessonGrade(several[-1][0], None, [remark]))
    return sorted(rows, key=lambda row: (row.submission.student.lower(), row.submission.number, row.title))


def grade(submitted, folder, limits, translation=ENGLISH, name=None):
    """Grade all submissions, or those of the lesson with a name, and write the results into a folder.

    An interrupted run has begun to fill the folder. Remarks and pages are in the language of the translation.

    Raises:
        OSError: Submissions are to be isolated, and this system cannot do that.
    """
    fault = sandbox.fault() if limits.isolated else None
    if fault:
        raise OSError(say("nothing was graded. {fault}. ARGS=--without-isolation grades without: limits hold, but a "
                          "submission could read, change and delete your files and use the network",
                          fault=fault).shown(translation))
    print(translation.say("reading {submitted}", submitted=submitted), flush=True)
    lessons = all_lessons()
    wanted = lesson_named(name, lessons, translation) if name else None
    found, warnings = read(submitted, [Path(each).name for each in lessons])
    for warning in warnings:
        print(warning.shown(translation), flush=True)
    rows = rows_of(found, lessons, wanted)
    kept = folder / "results"
    kept.mkdir(parents=True, exist_ok=True)
    with runs.prepared(stored.FOLDER, limits.isolated, translation.write_beside) as place:
        alone = feedback.ISOLATED if place.isolated else feedback.NOT_ISOLATED
        print(say("{count} submissions; {alone}", count=len(rows), alone=alone).shown(translation), flush=True)
        grader = Grader(place, kept, limits, translation)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            try:
                prepare_all({row.lesson for row in rows if row.lesson}, grader, pool, translation)
                grade_all(rows, grader, pool, translation)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                runs.stop()
                raise
    results = folder / wanted.name if wanted else folder
    write_grades(rows, results, translation)
    print(translation.say("{count} lines in {folder}: grades.csv, look-first.html, and feedback/ for the students",
                          count=len(rows), folder=results))


def prepare_all(lessons, grader, pool, translation=ENGLISH):
    """Grade the lessons' own solutions, and print which exercises cannot be graded here."""
    exercises = [(lesson, number) for lesson in lessons for number in lesson.exercises if lesson.solved(number)]
    minutes = math.ceil(len(exercises) * SOLUTION_SECONDS / AT_ONCE / 60)
    if exercises:
        print(translation.say("first the lessons' own solutions are run: about {minutes} min", minutes=minutes),
              flush=True)
    waiting = {pool.submit(grader.prepare, *exercise): exercise for exercise in exercises}
    feedback.show_progress(waiting, lambda exercise: translation.say(
        "{lesson}, exercise {number}: its own solution", lesson=exercise[0].name, number=exercise[1]), translation)
    for done, exercise in waiting.items():
        if done.result():  # again, alone: a busy machine may have been the reason
            grader.prepare(*exercise)
    for lesson in lessons:
        for number, why in sorted(lesson.broken.items()):
            broken = say("{lesson}, exercise {number}: {why}", lesson=lesson.name, number=number, why=remark_of(why))
            print(feedback.in_a_line(broken.shown(translation)), flush=True)


def grade_all(rows, grader, pool, translation=ENGLISH):
    """Grade each row, and print a line about it as soon as that is done."""
    waiting = {pool.submit(row.try_to_grade, grader, translation): row for row in rows}
    feedback.show_progress(waiting, lambda row: feedback.line_of(row, translation), translation)
