"""A lesson as it is graded: the instructor's cells, cut down to what one exercise needs, with a student's answer."""
import re
from itertools import chain
from typing import NamedTuple

from d2lhelpers.score import LEVELS

from .dependencies import Names, arguments_of, definitions, depends_on, left_open, names_of, statements_of


class Exercise(NamedTuple):
    """An exercise of a lesson: its title, the cells of its text, answer and check, and the code of its solution."""

    title: str
    text: object
    given: object
    check: object
    solution: list

    @property
    def is_level(self):
        """Return whether it is a level of a capstone: whoever reaches one has reached those below it."""
        return self.title.lower() in LEVELS


class Cell(NamedTuple):
    """A cell to be run: its source, whose it is ("lesson" or "student"), and to which exercise it belongs, or 0."""

    source: str
    owner: str
    exercise: int = 0
    always: bool = False


class Lesson:
    """A lesson of the instructor's, and what is known about its exercises on this machine."""

    def __init__(self, name, notebook, version):
        self.name = name
        self.version = version
        self.cells = notebook.cells
        self.exercises = {}  # by number
        self.section = {}  # by cell id: the exercise number, 0 before the first, None after a check
        self.whole = set()  # exercises that need every cell before them
        self.broken = {}  # why an exercise cannot be graded here
        number, title, text, given = 0, "", None, None
        place = 0
        for cell in self.cells:
            tags = cell.metadata.get("tags", [])
            heading = re.search(r"^#+ Exercise (\d+)(?: · (.+))?$", cell.source, re.MULTILINE)
            if cell.cell_type == "markdown" and heading:
                number, title, text = int(heading[1]), heading[2] or "", cell
                place = number
            elif "exercise" in tags:
                given = cell
            self.section[cell.id] = place
            if "check" in tags:
                self.exercises[number] = Exercise(title, text, given, cell, [])
                place = None
            elif "solution" in tags and cell.cell_type == "code" and number in self.exercises:
                self.exercises[number].solution.append(cell.source)
        core = [cell for cell in self.cells if cell.cell_type == "code" and self.section[cell.id] == 0]
        self.core_names = frozenset().union(*(names_of(cell.source).binds for cell in core))
        self.sources = {cell.id: cell.source.strip() for cell in self.cells}

    def solved(self, number):
        """Return the lesson's own solution as the cells of a student, or None if it has none for this exercise.

        Of the solution, only those statements are taken on which its answer depends, not what it measures besides.
        """
        exercise = self.exercises[number]
        function = f"check_{number}"
        asked = arguments_of(exercise.check.source, function)
        statements = [each for source in exercise.solution for each in statements_of(source)]
        for place, statement in enumerate(statements):
            found = arguments_of(statement, function)
            if found:
                pairs = zip(asked, found, strict=False)
                lines = [f"{name} = {value}" for name, value in pairs if name in left_open(exercise.given.source)]
                answer = "\n".join(lines)
                before = statements[:place]
                needed = depends_on([names_of(each) for each in before], names_of(answer).uses)
                return [*(before[index] for index in needed), answer]
        return None


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
    own = {number: [] for number in lesson.exercises}
    added, edited, found = {}, {}, set()
    number_of = {exercise.given.id: number for number, exercise in lesson.exercises.items()}
    at = ""
    for cell in notebook.cells:
        key = key_of(cell)
        if key in lesson.section:
            at = key
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        if key in number_of:
            own[number_of[key]].append(cell.source)
            found.add(number_of[key])
        elif key in lesson.section:
            if lesson.section[key] == 0 and cell.source.strip() != lesson.sources[key]:
                edited[key] = cell.source
        elif lesson.section.get(at):
            own[lesson.section[at]].append(cell.source)
        else:
            added.setdefault(at, []).append(cell.source)
    elsewhere = [*chain(*own.values(), *added.values())]
    notes = {}
    for number, exercise in lesson.exercises.items():
        open_names = set(left_open(exercise.given.source))
        written = [source for source in own[number] if source.strip() != exercise.given.source.strip()]
        answering = [source for source in written if names_of(source).binds & open_names]
        if number not in found:
            if not answering:
                written += [source for source in elsewhere if names_of(source).binds & open_names]
            notes[number] = ["its answer cell was renamed or moved" if written else "its answer cell is missing"]
        elif len(answering) > 1:
            notes[number] = ["it is answered in more than one cell: they were run in their order"]
        changed = changes_given(exercise, written)
        if changed:
            notes.setdefault(number, []).append(f"it changes {', '.join(changed)}, which the check uses: look at it")
        own[number] = written
    return Answers(own, added, edited, notes)


def changes_given(exercise, sources):
    """Return the names that a check takes as they are given, but that a student's cells bind to something else."""
    given = definitions(exercise.given.source)
    fixed = names_of(exercise.check.source).uses - set(left_open(exercise.given.source))
    last = {}
    for source in sources:
        last |= definitions(source)
    return sorted(name for name in fixed & set(last) if last[name] != given.get(name))


def cut(lesson, number, answers):
    """Return the cells to run before an exercise's check: the set-up, what the answer depends on, and the answer.

    The lesson's cells are the instructor's own. Of the other cells of a student, those are run that bind a name which
    is needed and which no cell of the lesson binds.
    """
    cells = []
    exercise = lesson.exercises[number]
    for cell in lesson.cells:
        section = lesson.section[cell.id]
        tags = cell.metadata.get("tags", [])
        given = "exercise" in tags
        if cell.id == exercise.check.id:
            cells += [Cell(source, "student", number, True) for source in answers.own[number]]
            break
        if "check" in tags:
            cells += [Cell(source, "student", section) for source in answers.own[section]]
        if cell.cell_type == "code" and (section == 0 or given):
            always = "setup" in tags or section == number or number in lesson.whole
            if cell.id in answers.edited:
                cells.append(Cell(answers.edited[cell.id], "student"))
            cells.append(Cell(cell.source, "lesson", section, always))
        cells += [Cell(source, "student") for source in answers.added.get(cell.id, [])]
    cells = [Cell(source, "student") for source in answers.added.get("", [])] + cells
    names = [names_of(each.source) for each in cells]
    for index, each in enumerate(cells):
        if each.owner == "student" and each.exercise != number:
            names[index] = Names(names[index].binds - lesson.core_names, names[index].uses, frozenset())
    always = {index for index, each in enumerate(cells) if each.always}
    needed = names_of(exercise.check.source).uses
    return [cells[index] for index in depends_on(names, needed, always)]
