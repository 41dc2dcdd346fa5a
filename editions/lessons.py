"""The lessons as they are stored: which there are, one read, one without outputs, and what lies beside them."""
import shutil
import sys
from pathlib import Path

import nbformat
from nbconvert.preprocessors import ClearOutputPreprocessor

from .translations import ENGLISH

FOLDER = Path(__file__).parents[1] / "notebooks"


def paths(solved=True):
    """Return the lessons in order, as paths relative to their folder; `solved=False` leaves out solutions."""
    found = [*FOLDER.glob("*.ipynb"), *FOLDER.glob("[!.]*/*.ipynb")]
    return sorted(lesson.relative_to(FOLDER) for lesson in found
                  if not lesson.name.startswith(".") and (solved or not lesson.stem.endswith("-solved")))


def read(lesson, translation=ENGLISH):
    """Return a lesson; if the file is not a notebook, end the program with a message that names it."""
    try:
        notebook = nbformat.read(FOLDER / lesson, as_version=4)
    except Exception as error:  # of nbformat, JSON or the text's encoding
        sys.exit(f"{FOLDER / lesson} is not a notebook: {error}")
    return translation.lesson(lesson, notebook)


def has_tag(cell, *tags):
    """Return whether a cell has any of the tags."""
    return not set(tags).isdisjoint(cell.metadata.get("tags", []))


def without_outputs(lesson, *tags, translation=ENGLISH):
    """Return a lesson without its outputs, and without the cells that have one of these tags."""
    notebook = read(lesson, translation)
    notebook.cells = [cell for cell in notebook.cells if not has_tag(cell, *tags)]
    notebook, _ = ClearOutputPreprocessor().preprocess(notebook, {})
    return notebook


def copy_what_they_use(folder, translation=ENGLISH):
    """Copy what the lessons link to and import, so that their links work in `folder`."""
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("*.ipynb", "__pycache__", ".*"))
    translation.write_beside(folder)
