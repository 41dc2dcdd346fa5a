"""A lesson as it is graded: the instructor's cells, cut down to what one exercise needs, with a student's answer."""
import re
from typing import NamedTuple

from d2lhelpers.score import LEVELS

from .dependencies import arguments_of, depends_on, left_open, names_of, statements_of

HEADING = re.compile(r"^#+ Exercise (\d+)(?: · (.+))?$", re.MULTILINE)


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
        self._find_exercises()
        self.sources = {cell.id: cell.source.strip() for cell in self.cells}

    def _find_exercises(self):
        """Go through the cells from the top, and find to which exercise each belongs."""
        section = number = 0
        title, text, given = "", None, None
        for cell in self.cells:
            tags = cell.metadata.get("tags", [])
            heading = HEADING.search(cell.source) if cell.cell_type == "markdown" else None
            if heading:
                section = number = int(heading[1])
                title, text = heading[2] or "", cell
            elif "exercise" in tags:
                given = cell
            self.section[cell.id] = section
            if "check" in tags:
                self.exercises[number] = Exercise(title, text, given, cell, [])
                section = None
            elif "solution" in tags and cell.cell_type == "code" and number in self.exercises:
                self.exercises[number].solution.append(cell.source)

    def solved(self, number):
        """Return the lesson's own solution as the cells of a student, or None if it has none for this exercise.

        Of the solution, only those statements are taken on which its answer depends, not what it measures besides.
        """
        exercise = self.exercises[number]
        function = f"check_{number}"
        asked = arguments_of(exercise.check.source, function)
        statements = [each for source in exercise.solution for each in statements_of(source)]
        open_names = left_open(exercise.given.source)
        for place, statement in enumerate(statements):
            found = arguments_of(statement, function)
            if found:
                pairs = zip(asked, found, strict=False)
                answer = "\n".join(f"{name} = {value}" for name, value in pairs if name in open_names)
                before = statements[:place]
                needed = depends_on([names_of(each) for each in before], names_of(answer).uses)
                return [*(before[index] for index in needed), answer]
        return None


def cut(lesson, number, answers):
    """Return the cells to run before an exercise's check: the set-up, what the answer depends on, and the answer.

    The lesson's cells are the instructor's own. Of the other cells of a student, those are run that bind or change a
    name which is needed and which the check does not need as it is in the lesson.
    """
    cells = cells_before_check(lesson, number, answers)
    fixed = fixed_names(lesson, number)
    names = [names_that_count(cell, number, fixed) for cell in cells]
    always = {index for index, cell in enumerate(cells) if cell.always}
    needed = names_of(lesson.exercises[number].check.source).uses
    return [cells[index] for index in depends_on(names, needed, always)]


def whole(lesson, number, answers):
    """Return the cells to run before an exercise's check if a cut is not enough: all, as in the student's notebook.

    They are in the student's order, without checks and solutions; the set-up is the instructor's, too.
    """
    exercise = lesson.exercises[number]
    checks = {each.check.id for each in lesson.exercises.values()}
    as_it_is = {key for key, source in answers.cells if source.strip() == lesson.sources.get(key)}
    cells = [Cell(cell.source, "lesson", 0, True) for cell in lesson.cells
             if "setup" in cell.metadata.get("tags", []) and cell.id not in as_it_is]
    below = end_of(lesson, exercise.check, [key for key, _ in answers.cells], last=True)
    for key, source in answers.cells[:below]:
        section = lesson.section.get(key, 0)
        if key in checks or (section is None and key in as_it_is):
            continue
        is_answer = source in answers.own[number]
        owner = "lesson" if key in as_it_is and not is_answer else "student"
        cells.append(Cell(source, owner, number if is_answer else section or 0, is_answer))
    return cells


def end_of(lesson, check, keys, last=False):
    """Return how many of a student's cells, of which `keys` says which cells of the lesson they are, precede a check.

    Of copies of the check the first one counts, or the last. Where there is none, what would stand below it is the end.
    """
    ids = [cell.id for cell in lesson.cells]
    ends = [index for index, key in enumerate(keys) if key == check.id]
    ends = ends or [index for index, key in enumerate(keys) if key in ids[ids.index(check.id):]][:1] or [len(keys)]
    return ends[-1 if last else 0]


def fixed_names(lesson, number):
    """Return the names of the lesson that an exercise's check needs, itself or through the lesson's cells."""
    exercise = lesson.exercises[number]
    before = lesson.cells[:[cell.id for cell in lesson.cells].index(exercise.check.id)]
    names = [names_of(cell.source) for cell in before if cell.cell_type == "code"
             and (lesson.section[cell.id] == 0 or cell.id == exercise.given.id)]
    needed = names_of(exercise.check.source).uses - set(left_open(exercise.given.source))
    return needed.union(*(names[index].uses for index in depends_on(names, needed)))


def cells_before_check(lesson, number, answers):
    """Return all cells, the lesson's and the student's, that stand before an exercise's check, and the answer."""
    cells = [Cell(source, "student") for source in answers.added.get("", [])]
    for cell in lesson.cells:
        if cell.id == lesson.exercises[number].check.id:
            break
        cells += cells_at(cell, lesson, number, answers)
    return cells + [Cell(source, "student", number, True) for source in answers.own[number]]


def cells_at(cell, lesson, number, answers):
    """Return what is run for one cell of the lesson: an answer for a check; a cell as it was changed and as it is.

    Cells follow that the student has added after it.
    """
    section = lesson.section[cell.id]
    tags = cell.metadata.get("tags", [])
    cells = []
    if "check" in tags:
        cells += [Cell(source, "student", section) for source in answers.own[section]]
    if cell.cell_type == "code" and (section == 0 or "exercise" in tags):
        if cell.id in answers.edited:
            cells.append(Cell(answers.edited[cell.id], "student"))
        always = "setup" in tags or section == number or number in lesson.whole
        cells.append(Cell(cell.source, "lesson", section, always))
    return cells + [Cell(source, "student") for source in answers.added.get(cell.id, [])]


def names_that_count(cell, number, fixed):
    """Return the names of a cell; a student's cell counts outside the answer only for names that are not `fixed`."""
    names = names_of(cell.source)
    if cell.owner == "lesson" or cell.exercise == number:
        return names
    return names._replace(binds=names.binds - fixed, changes=names.changes - fixed)
