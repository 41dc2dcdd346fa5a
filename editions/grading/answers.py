"""What a student's notebook says about a lesson's exercises: the answers, wherever they stand, and what is odd."""
from typing import NamedTuple

from ..translatable import with_comments
from .dependencies import definitions, left_open, names_of
from .exercise_program import cut, end_of
from .reaches import reaches_for
from .remarks import say, to_instructor


class Answers(NamedTuple):
    """What a student's notebook holds beside the lesson's own cells."""

    own: dict  # the number of an exercise: the sources of its cells, in order
    added: dict  # the id of a lesson's cell: the sources of cells that the student has added after it
    edited: dict  # the id of a lesson's cell: the source that the student has made of it
    notes: dict  # the number of an exercise: remarks
    cells: tuple = ()  # of each code cell, in order: the id of the lesson's cell that it is, or "", and its source
    to_read: dict | None = None  # the number of an exercise: how many things there are at which to look


class Placed(NamedTuple):
    """A student's code cell: the ids of the lesson's cell that it is, or "", and of the last one above it, or ""."""

    source: str
    key: str
    after: str


def key_of(cell):
    """Return the name by which a cell is known: nbgrader's, which copies of the cell share, or else its id."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id") or cell.get("id", ""))


def words(source):
    """Return a source as words with single spaces between them."""
    return " ".join(source.split())


def words_of_code(source):
    """Return code as words, without its comments, which differ between languages."""
    return words(with_comments(source, lambda comment: ""))


def words_of(cell):
    """Return a cell as words."""
    return words_of_code(cell.source) if cell.cell_type == "code" else words(cell.source)


def placed(notebook, lesson):
    """Return the code cells of a student's notebook; a cell that lost its id is known by its words, if none share them.

    A copy of a lesson's cell is where it stands, not where the cell stands in the lesson.
    """
    keys = [key_of(cell) for cell in notebook.cells]
    texts = [words_of(cell) for cell in lesson.cells]
    lost = {text: cell.id for cell, text in zip(lesson.cells, texts, strict=True)
            if cell.id not in keys and text and texts.count(text) == 1}
    checks = {words_of(exercise.check): exercise.check.id for exercise in lesson.exercises.values()}
    found, last, seen = [], "", set()
    for cell, key in zip(notebook.cells, keys, strict=True):
        text = words_of(cell)
        if key not in lesson.section:  # students' editions have a line more in a check
            key = next((each for start, each in checks.items() if text.startswith(start)), "") or lost.get(text, "")
        if key and key not in seen:
            seen.add(key)
            lost.pop(text, None)
            last = key
        if cell.cell_type == "code" and cell.source.strip():
            found.append(Placed(cell.source, key, last))
    return found


def lesson_of(notebook, lessons):
    """Return the lesson of which a notebook was made, or None, and a remark on what is odd about it, or None."""
    made_of = notebook.metadata.get("lesson")
    if isinstance(made_of, dict) and str(made_of.get("name")) in lessons:
        lesson = lessons[made_of["name"]]
        same = made_of.get("version") == lesson.version
        return lesson, None if same else to_instructor(
            say("made from another version of the lesson: compare the exercises"))
    shared = {}
    for lesson in lessons.values():
        code = {cell.id for cell in lesson.cells
                if cell.cell_type == "code" and "solution" not in cell.metadata.get("tags", [])}
        shared[lesson] = len({cell.key for cell in placed(notebook, lesson)} & code) / len(code)
    best = max(shared, key=shared.get)
    if shared[best] < 0.5:
        return None, say("has no cells of any lesson")
    return best, to_instructor(say("does not say of which version of the lesson it was made: compare the exercises"))


def answers_in(notebook, lesson):
    """Return a student's Answers to a lesson."""
    cells = StudentCells(placed(notebook, lesson), lesson)
    own = {number: [cells.all[index].source for index in cells.of(number)] for number in lesson.exercises}
    everything = tuple((cell.key, cell.source) for cell in cells.all)
    answers = Answers(own, *cells.beside(), {}, everything, {})
    for number in lesson.exercises:
        changed = changes_given(lesson.exercises[number], own[number])
        reached = reached_by(lesson, number, cut(lesson, number, answers)) if own[number] else []
        remarks = cells.remarks_on(number)
        if changed:
            remarks.append(to_instructor(say("it changes {names}, which the check uses: look at it",
                                             names=", ".join(changed))))
        if reached:
            remarks.append(to_instructor(say("it reaches for {what}: look at it", what=", ".join(reached))))
        if remarks:
            answers.notes[number] = remarks
        answers.to_read[number] = len(changed) + len(reached)
    return answers


class StudentCells:
    """A student's cells, each with its place in the list: to which exercise they belong."""

    def __init__(self, cells, lesson):
        self.all = cells
        self.lesson = lesson
        self._open = {number: set(left_open(each.given.source)) for number, each in lesson.exercises.items()}
        self._given = {each.given.id: number for number, each in lesson.exercises.items()}
        self._checks = {each.check.id for each in lesson.exercises.values()}
        self._ends = {number: end_of(lesson, each.check, [cell.key for cell in cells])
                      for number, each in lesson.exercises.items()}
        self._answers = [self._answered(cell) for cell in cells]
        self._places = [self._stands_at(index) for index in range(len(cells))]

    def of(self, number):
        """Return which cells answer an exercise: those that stand there; for names that they lack, those elsewhere.

        Elsewhere is above the exercise's check, or, where no cell above it binds the name, below.
        """
        here = {index for index in range(len(self.all)) if self._belongs_to(index) == number}
        for name in self._open[number].difference(*(self._answers[index] for index in here)):
            elsewhere = [index for index, names in enumerate(self._answers) if name in names]
            here.update([index for index in elsewhere if index < self._ends[number]] or elsewhere)
        return sorted(here)

    def beside(self):
        """Return the cells that stand at no exercise: those added, and the lesson's own as they were edited."""
        added, edited = {}, {}
        for index, (source, key, after) in enumerate(self.all):
            if self._belongs_to(index) or not self._is_own(source, key):
                continue
            if self.lesson.section.get(key) == 0 and key not in edited:
                edited[key] = source
            else:
                added.setdefault(after, []).append(source)
        return added, edited

    def remarks_on(self, number):
        """Return remarks on where an exercise's answer stands, and on its check."""
        exercise = self.lesson.exercises[number]
        all_answering = {index for index, names in enumerate(self._answers) if names & self._open[number]}
        answering = all_answering.intersection(self.of(number))
        below = {index for index in all_answering if index >= self._ends[number]}
        others = {self._places[index] for index in answering} - {None, number}
        remarks = []
        if not any(cell.key == exercise.given.id for cell in self.all):
            remarks.append(say("its answer cell was renamed or moved") if self.of(number)
                           else say("its answer cell is missing"))
        elif others:
            remarks.append(say("its answer stands at exercise {number}", number=min(others)))
        elif any(self._places[index] != number for index in answering):
            remarks.append(say("its answer stands in a cell elsewhere"))
        if len(answering) > 1:
            remarks.append(say("it is answered in more than one cell: they were run in their order"))
        if below & answering:
            remarks.append(say("its answer stands below its check: it was run before the check"))
        elif below:
            remarks.append(say("what answers it below its check was not run"))
        if any(cell.key == exercise.check.id and not words(cell.source).startswith(words(exercise.check.source))
               for cell in self.all):
            remarks.append(say("its check cell was changed: the lesson's own was run"))
        return remarks

    def _belongs_to(self, index):
        """Return the exercise at which a cell stands, or None if there is none, or if it answers others only."""
        number, names = self._places[index], self._answers[index]
        return number if number and (not names or names & self._open[number]) else None

    def _is_own(self, source, key):
        """Return whether a cell is the student's own: no check, and not one of the lesson's as it was."""
        return key not in self._checks and words_of_code(source) != words_of_code(self.lesson.sources.get(key, ""))

    def _answered(self, cell):
        """Return the names that a cell binds and that exercises leave open."""
        if not self._is_own(cell.source, cell.key):
            return set()
        last = definitions(cell.source)
        bound = names_of(cell.source).binds & set().union(*self._open.values())
        return {name for name in bound if last.get(name) != definitions(f"{name} = ...")[name]}

    def _stands_at(self, index):
        """Return the exercise at which a student's own cell stands, above its check, or None."""
        source, key, after = self.all[index]
        number = self._given.get(key) or (self.lesson.section.get(after) if key not in self.lesson.section else None)
        if number and index < self._ends[number] and self._is_own(source, key):
            return number
        return None


def reached_by(lesson, number, cells):
    """Return what a student's cells name that no honest answer needs, except what the exercise itself names."""
    exercise = lesson.exercises[number]
    given = tuple(f"{what}." for source in (exercise.given.source, *exercise.solution) for what in reaches_for(source))
    found = {what for cell in cells if cell.owner == "student" for what in reaches_for(cell.source)}
    return sorted(what for what in found if not f"{what}.".startswith(given))


def changes_given(exercise, sources):
    """Return the names that a check takes as they are given, but that a student's cells bind to something else."""
    given = definitions(exercise.given.source)
    fixed = names_of(exercise.check.source).uses - set(left_open(exercise.given.source))
    last = {}
    for source in sources:
        last |= definitions(source)
    return sorted(name for name in fixed & set(last) if last[name] != given.get(name))
