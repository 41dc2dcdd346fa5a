"""A line of grades.csv: what one student submitted of one lesson, and what became of it."""
from .answers import answers_in


def short(number):
    """Return points as a spreadsheet shows them: whole ones without a fraction, others with two digits."""
    return int(number) if number == int(number) else round(number, 2)


class LessonGrade:
    """A student's work on one lesson: the notebook that counts, the results so far, and what there is to remark."""

    def __init__(self, submission, lesson, remarks):
        self.submission = submission
        self.lesson = lesson
        self.remarks = remarks
        self.results = {}
        self.answers = answers_in(submission.notebook, lesson) if lesson else None

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

    def try_to_grade(self, grader):
        """Grade all exercises; a fault of ours costs no other student a grade, and the remark names it."""
        try:
            self.grade(grader)
        except OSError:  # a full disk, or an interruption
            raise
        except Exception as error:
            self.remarks.append(f"not graded, because of a fault in the grader: {error!r}")

    def grade(self, grader):
        """Grade all exercises."""
        whose = f"{self.submission.student} {self.submission.number}"
        reached = False
        for number in self.exercises:
            if reached:
                result = {"points": 1, "cells": [], "said": "reached by the answer to a higher level", "why": ""}
            elif number in self.lesson.broken:
                result = {"points": None, "cells": [], "said": "", "why": self.lesson.broken[number]}
            elif not self.answers.own[number]:
                result = {"points": 0, "cells": [], "said": "no answer", "why": ""}
            else:
                result = grader.graded(self.lesson, number, self.answers, whose)
            reached |= self.lesson.exercises[number].is_level and result["said"].splitlines()[-1:] == ["right"]
            self.results[number] = result

    @property
    def points(self):
        """Return the sum of the points, or None if nothing could be graded."""
        given = [result["points"] for result in self.results.values() if result["points"] is not None]
        return short(sum(given)) if given else None

    @property
    def remark(self):
        """Return all remarks in one line."""
        notes = list(self.remarks)
        for number in sorted(self.results):
            about = [self.results[number]["why"], *self.answers.notes.get(number, [])]
            notes += [f"exercise {number}: {note}" for note in about if note]
        return "; ".join(notes)
