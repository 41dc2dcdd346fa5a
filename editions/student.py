"""The edition for students: the lessons without solutions and outputs, each an assignment for nbgrader."""
import hashlib
import json
import re

import nbformat

from . import lessons
from .translations import ENGLISH


def write_student_edition(folder, translation=ENGLISH):
    """Write the lessons for students to work through, without solutions, instructors' notes and outputs.

    With its metadata each is an assignment for nbgrader. A page asks an assistant to tutor and to write no answers.
    """
    lessons.copy_what_they_use(folder, translation)
    (folder / "AGENTS.md").write_text(translation.page("tutor"), encoding="utf-8")
    for lesson in lessons.paths(solved=False):
        notebook = lessons.without_outputs(lesson, "solution", "instructor", translation=translation)
        as_assignment(notebook, lesson)
        nbformat.write(notebook, folder / lesson)


def as_assignment(notebook, lesson):
    """Add nbgrader's metadata: students write in the answers' cells; the checks' are locked and return points."""
    version = version_of(lessons.read(lesson))  # in any language
    for cell in notebook.cells:
        answer, check = lessons.has_tag(cell, "exercise"), lessons.has_tag(cell, "check")
        if answer or check:
            cell.metadata["nbgrader"] = {"grade_id": cell.id, "schema_version": 3, "cell_type": "code", "task": False,
                                         "solution": answer, "grade": check, "locked": check}
        if check:
            cell.source += f"\n{points(cell.source, lesson)}"
            cell.metadata["nbgrader"]["points"] = 1
    if version:
        notebook.metadata["lesson"] = {"name": lesson.with_suffix("").as_posix(), "version": version}


def version_of(notebook):
    """Return a hash of a lesson's exercises and checks as they are stored, or "" if it has none."""
    graded = [cell.source for cell in notebook.cells if lessons.has_tag(cell, "exercise", "check")]
    return hashlib.sha256(json.dumps(graded).encode()).hexdigest()[:12] if graded else ""


def points(check, lesson):
    """Return an expression for the points that a check gives: a part where its module counts one, else 0 or 1.

    It calls no function for that, because a student may have given the name of one to something else.
    """
    call = re.search(r"from (checks_\w+)\.(\w+) import[^#]*?= check_(\d+)\((.*)\)", check, re.DOTALL)
    package, module, number, arguments = call.groups()
    rules = (lessons.FOLDER / lesson.parent / package / f"{module}.py").read_text(encoding="utf-8")
    if f"points_{number} =" in rules:
        return f"from {package}.{module} import points_{number}\npoints_{number}({arguments})"
    [name] = re.findall(r"^(\w+) = check_", check, re.MULTILINE)
    return f"+{name}"
