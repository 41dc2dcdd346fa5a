"""Run one exercise of a submission with its check, and tell the points: no result is computed twice."""
import hashlib
import json
import re
import secrets
from pathlib import Path

from .. import lessons as stored
from .. import student
from ..translations import ENGLISH
from . import feedback, limited, runs
from .answers import Answers
from .exercise_program import cut, whole
from .remarks import Limit, remark_of, say, to_instructor

PROJECT = stored.FOLDER.parent
SLOWER = 2  # a capstone takes this many times as long as the limit of other exercises
NO_CHECK = say("the check did not come to its end")


class Grader:
    """Runs exercises in a place made for it, and keeps every result in a folder, so that none is run twice."""

    def __init__(self, place, folder, limits, translation=ENGLISH):
        self.place = place
        self.folder = folder
        self.limits = limits
        self.translation = translation
        notebooks = place.folder / "notebooks"
        imported = [*sorted(notebooks.rglob("*.py")), *sorted((PROJECT / "d2lhelpers").rglob("*.py"))]
        self.imported = hashlib.sha256(b"".join(path.read_bytes() for path in imported)).hexdigest()

    def graded(self, lesson, number, answers, whose):
        """Return the points of an answer, what its cells printed, and in words what went wrong, or None.

        If the cells on which the answer depends get no point, all of the student's cells above the check are run.
        """
        try:
            program, everything = limited.call(programs, lesson, number, answers)
        except limited.Refused as refused:
            return {"points": 0, "cells": [], "said": "", "why": refused.remark}
        result = self.of_program(lesson, number, program, whose)
        if result["points"] or not everything:
            return result
        second = self.of_program(lesson, number, everything, whose)
        if not second["points"]:
            return result
        return second | {"why": to_instructor(say("right only after all cells above its check: look at it"))}

    def of_program(self, lesson, number, cells, whose):
        """Return the result of a program, which is run unless there is one from before."""
        exercise = lesson.exercises[number]
        parts = [whose, lesson.name, number, cells, exercise.check.source, self.imported, self.limits,
                 self.translation.language]
        kept = self.folder / f"{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}.json"
        if kept.exists():
            result = json.loads(kept.read_text(encoding="utf-8"))
            return result | {"why": result["why"] and remark_of(result["why"])}
        limits = self.limits
        if exercise.is_level:
            limits = limits._replace(seconds=SLOWER * limits.seconds)
        word = secrets.token_hex()
        first, last = checked(exercise.check.source, lesson, word)
        place = after_setup(cells, lesson)
        sources = [cell.source for cell in cells]
        where = Path(lesson.name).parent
        outputs, ended = runs.run([*sources[:place], first, *sources[place:], last], where, self.place, limits)
        points, why = points_of(outputs[-1], word)
        shown = [[cell.source, feedback.text_of(output, translation=self.translation)]
                 for cell, output in zip(cells, outputs[:place] + outputs[place + 1:], strict=False)
                 if cell.owner == "student" and cell.exercise == number]
        said = feedback.text_of(outputs[-1], but=word)
        result = {"points": points, "cells": shown, "said": said, "why": ended or why}
        if not isinstance(ended, Limit):
            unfinished = kept.with_suffix(".part")
            unfinished.write_text(json.dumps(result), encoding="utf-8")
            unfinished.rename(kept)
        return result

    def prepare(self, lesson, number):
        """Grade the lesson's own solution: if a cut is not enough, run the whole lesson, or give the exercise up.

        Return whether it may be worth another try, because a limit has ended the run.
        """
        solution = lesson.solved(number)
        if solution is None:  # those of the capstones are notebooks of their own
            return False
        answers = Answers({other: [] for other in lesson.exercises} | {number: solution}, {}, {}, {})
        for all_cells in (False, True):
            if all_cells:
                lesson.whole.add(number)
            result = self.of_program(lesson, number, cut(lesson, number, answers), "the lesson's own solution")
            if result["points"] == 1:
                lesson.broken.pop(number, None)
                return False
        lesson.broken[number] = say("cannot be graded here, where the lesson's own solution fails: {why}",
                                    why=result["why"] or result["said"])
        lesson.whole.discard(number)
        return isinstance(result["why"], Limit)


def programs(lesson, number, answers):
    """Return the cells that an answer needs, and all above its check, or None if they add nothing of the student's."""
    needed = cut(lesson, number, answers)
    everything = whole(lesson, number, answers)
    left_out = {cell.source for cell in everything if cell.owner == "student" and not cell.exercise}
    more = left_out - {cell.source for cell in needed}
    return needed, everything if more else None


def after_setup(cells, lesson):
    """Return the index of the first cell after the lesson's set-up."""
    setup = {cell.source for cell in lesson.cells if "setup" in cell.metadata.get("tags", [])}
    return max((index + 1 for index, cell in enumerate(cells) if cell.source in setup), default=1)


def checked(source, lesson, word):
    """Return two cells of a check: one imports it under a secret name, the other calls it by that name.

    The first runs before the answer, so nothing that an answer does to the module changes what is called. The second
    prints `word` and the points.
    """
    *imports, points = student.points(source, Path(lesson.name)).splitlines()
    imports += re.findall("^from .+$", source, re.MULTILINE)
    names = ", ".join(name for line in imports for name in line.partition(" import ")[2].split(", "))
    secret = f"_{secrets.token_hex()}"
    call = re.sub("^from .+$", "", source, flags=re.MULTILINE).strip()
    return ("\n".join([*imports, f"{secret} = __import__('builtins').print, {names}"]),
            f"{secret}, {names} = {secret}\n{call}\n{secret}('{word}', {points} + 0.0)")


def points_of(outputs, word):
    """Return the points that the cell of a check gave, and a remark that says why it gave none, or None."""
    printed = "".join(output["text"] for output in outputs if output.get("name") == "stdout")
    said = [line.split() for line in printed.splitlines() if line.startswith(word)]
    failed = any(output["output_type"] == "error" for output in outputs)
    try:
        [[_, points]] = said
        points = float(points)
    except ValueError:
        return 0, NO_CHECK
    return (0, NO_CHECK) if failed or not 0 <= points <= 1 else (points, None)
