"""A line of grades.csv: what one student submitted of one lesson, and what became of it."""
from ..translations import ENGLISH
from .remarks import remark_of, say, to_instructor


def short(number):
    """Return points as a spreadsheet shows them: whole ones without a fraction, others with two digits."""
    return int(number) if number == int(number) else round(number, 2)


def ungraded(points, said="", why=None):
    """Return a result without a run."""
    return {"points": points, "cells": [], "said": said, "why": why}


class LessonGrade:
    """A student's work on one lesson: the notebook that counts, the results so far, and what there is to remark."""

    def __init__(self, submission, lesson, remarks, answers=None):
        self.submission = submission
        self.lesson = lesson
        self.remarks = remarks
        self.results = {}
        self.answers = answers

    @property
    def title(self):
        """Return the lesson's name, or "" if there is none."""
        return self.lesson.name if self.lesson else ""

    @property
    def exercises(self):
        """Return the numbers of the exercises to grade, the levels of a capstone from the highest down."""
        if not self.lesson:
            return []
        numbers = sorted(self.lesson.exercises)
        levels = self.lesson.exercises[numbers[0]].is_level
        return numbers[::-1] if levels else numbers

    def try_to_grade(self, grader, translation=ENGLISH):
        """Grade all exercises; a fault of ours costs no other student a grade, and the remark names it."""
        try:
            self.grade(grader, translation)
        except OSError:  # a full disk, or an interruption
            raise
        except Exception as error:
            fault = say("not graded, because of a fault in the grader: {error}", error=repr(error))
            self.remarks.append(to_instructor(fault))

    def grade(self, grader, translation=ENGLISH):
        """Grade all exercises; the checks speak the language of the translation."""
        whose = f"{self.submission.student} {self.submission.number}"
        reached = False
        for number in self.exercises:
            if reached:
                result = ungraded(1, said=say("reached by the answer to a higher level"))
            elif number in self.lesson.broken:
                result = ungraded(None, why=self.lesson.broken[number])
            elif not self.answers.own[number]:
                result = ungraded(0, said=say("no answer"))
            else:
                result = grader.graded(self.lesson, number, self.answers, whose)
                is_right = str(result["said"]).splitlines()[-1:] == [translation.say("right")]
                reached = is_right and self.lesson.exercises[number].is_level
            self.results[number] = result

    @property
    def points(self):
        """Return the sum of the points, or None if nothing could be graded."""
        given = [result["points"] for result in self.results.values() if result["points"] is not None]
        return short(sum(given)) if given else None

    def about(self, number):
        """Return the remarks on an exercise: why its check gave no points, and what is odd about the answer."""
        notes = [self.results[number]["why"], *self.answers.notes.get(number, [])]
        return [remark_of(note) for note in notes if note]

    def remark(self, translation=ENGLISH):
        """Return all remarks in one line, in the language of the translation."""
        remarks = list(self.remarks)
        for number in sorted(self.results):
            remarks += [say("exercise {number}: {remark}", number=number, remark=each) for each in self.about(number)]
        return translation.say("; ").join(remark.shown(translation) for remark in remarks)
