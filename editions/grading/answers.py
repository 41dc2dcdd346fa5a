"""What a student's notebook says about a lesson's exercises: the answers, wherever they stand, and what is odd."""
from typing import NamedTuple

from .dependencies import definitions, left_open, names_of


class Answers(NamedTuple):
    """What a student's notebook holds beside the lesson's own cells."""

    own: dict  # the number of an exercise: the sources of its cells, in order
    added: dict  # the id of a lesson's cell: the sources of cells that the student has added after it
    edited: dict  # the id of a lesson's cell: the source that the student has made of it
    notes: dict  # the number of an exercise: what the instructor should know


def key_of(cell):
    """Return the name by which a cell is known: nbgrader's, which copies of the cell share, or else its id."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id") or cell.get("id", ""))


def answers_in(notebook, lesson):
    """Return a student's Answers to a lesson."""
    cells = StudentCells(lesson)
    for cell in notebook.cells:
        cells.sort_in(cell)
    own, notes = {}, {}
    for number in lesson.exercises:
        own[number] = cells.answer_to(number)
        remarks = cells.remarks_on(number, own[number])
        if remarks:
            notes[number] = remarks
    return Answers(own, cells.added, cells.edited, notes)


class StudentCells:
    """The cells of a student's notebook, sorted: to which exercise they belong, or where they stand in the lesson."""

    def __init__(self, lesson):
        self.lesson = lesson
        self.own = {number: [] for number in lesson.exercises}  # as in Answers, with what is no answer yet
        self.added = {}
        self.edited = {}
        self.has_cell = set()  # exercises whose answer cell is where it was, or has copies
        self._number_of = {exercise.given.id: number for number, exercise in lesson.exercises.items()}
        self._last = ""  # the lesson's cell that was sorted last

    def sort_in(self, cell):
        """Take the next cell of the notebook."""
        key = key_of(cell)
        if key in self.lesson.section:
            self._last = key
        if cell.cell_type != "code" or not cell.source.strip():
            return
        if key in self._number_of:
            number = self._number_of[key]
            self.own[number].append(cell.source)
            self.has_cell.add(number)
        elif key in self.lesson.section:
            if self.lesson.section[key] == 0 and cell.source.strip() != self.lesson.sources[key]:
                self.edited[key] = cell.source
        else:
            self._sort_in_new(cell.source)

    def _sort_in_new(self, source):
        """Take a cell that is not the lesson's: an answer if it stands between an exercise and its check."""
        number = self.lesson.section.get(self._last)
        if number:
            self.own[number].append(source)
        else:
            self.added.setdefault(self._last, []).append(source)

    def answer_to(self, number):
        """Return the sources of the cells that answer an exercise; if its own cell is gone, look everywhere."""
        written = self._written(number)
        if number in self.has_cell or self._answering(number, written):
            return written
        anywhere = []
        for sources in (*self.own.values(), *self.added.values()):
            anywhere += self._answering(number, sources)
        return written + anywhere

    def remarks_on(self, number, answer):
        """Return what the instructor should know about an answer."""
        remarks = []
        if number not in self.has_cell:
            remarks.append("its answer cell was renamed or moved" if answer else "its answer cell is missing")
        elif len(self._answering(number, answer)) > 1:
            remarks.append("it is answered in more than one cell: they were run in their order")
        changed = changes_given(self.lesson.exercises[number], answer)
        if changed:
            remarks.append(f"it changes {', '.join(changed)}, which the check uses: look at it")
        return remarks

    def _written(self, number):
        """Return the sources that stand at an exercise, without copies of what it gives."""
        given = self.lesson.exercises[number].given.source.strip()
        return [source for source in self.own[number] if source.strip() != given]

    def _answering(self, number, sources):
        """Return those sources that bind a name that the exercise leaves open."""
        open_names = set(left_open(self.lesson.exercises[number].given.source))
        return [source for source in sources if names_of(source).binds & open_names]


def changes_given(exercise, sources):
    """Return the names that a check takes as they are given, but that a student's cells bind to something else."""
    given = definitions(exercise.given.source)
    fixed = names_of(exercise.check.source).uses - set(left_open(exercise.given.source))
    last = {}
    for source in sources:
        last |= definitions(source)
    return sorted(name for name in fixed & set(last) if last[name] != given.get(name))
