"""A small lesson with two exercises, whose students' notebooks the tests of `make grade` change."""
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from editions import lessons as stored
from editions import student
from editions.grading import grade


def tagged(source, tag, name):
    """Return a code cell with a tag and an id."""
    return new_code_cell(source, id=name, metadata={"tags": [tag] if tag else []})


def lesson_cells():
    """Return the cells of a small lesson with two exercises."""
    return [
        tagged("import math", "setup", "setup"), tagged("slow = 1", "", "slow"), tagged("size = 3", "", "size"),
        new_markdown_cell("### Exercise 1 · Twice", id="exercise-1"),
        tagged("def given():\n    return size\n\nanswer_1 = ...", "exercise", "try-1"),
        new_markdown_cell("Run the next cell.", id="run-1"),
        tagged("from checks_mxnet.rules import check_1\nright = check_1(answer_1, given)", "check", "check-1"),
        new_markdown_cell("A solution", id="solution-1-text", metadata={"tags": ["solution"]}),
        tagged("double = 2 * size\nassert slow\nassert check_1(double, given)", "solution", "solution-1"),
        new_markdown_cell("### Exercise 2 · Thrice", id="exercise-2"),
        tagged("# your turn: two answers\nanswer_2 = ...\nname_2 = ...", "exercise", "try-2"),
        new_markdown_cell("Run the next cell.", id="run-2"),
        tagged("from checks_mxnet.rules import check_2\nright = check_2(answer_2, name_2)", "check", "check-2"),
        tagged("assert check_2(9, 'a')", "solution", "solution-2")]


def written(folder, monkeypatch):
    """Return the small lesson, whose file is written into a folder."""
    monkeypatch.setattr(stored, "FOLDER", folder / "notebooks")
    (folder / "notebooks" / "checks_mxnet").mkdir(parents=True)
    (folder / "notebooks" / "checks_mxnet" / "rules.py").write_text("")
    nbformat.write(new_notebook(cells=lesson_cells()), folder / "notebooks" / "01-small.ipynb")
    return grade.all_lessons()["01-small"]


def submitted(change=None):
    """Return the small lesson's student edition, after `change` was applied to its cells."""
    notebook = stored.without_outputs(Path("01-small.ipynb"), "solution", "instructor")
    student.as_assignment(notebook, Path("01-small.ipynb"))
    if change:
        change(notebook.cells)
    return notebook


def cell_of(cells, name):
    """Return the cell with an id."""
    [found] = [cell for cell in cells if cell.id == name]
    return found


def rename(cells):
    """Give the first answer's cell another name."""
    cell = cell_of(cells, "try-1")
    cell.id = "other"
    cell.metadata["nbgrader"]["grade_id"] = "other"
    cell.source = "answer_1 = 6"
