"""Make from the lessons what is handed out: `make slides` and `make student`."""
import re
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import nbformat
from nbconvert import NotebookExporter, SlidesExporter
from traitlets.config import Config

HERE = Path(__file__).parent
LESSONS = HERE.parent / "notebooks"
MARK = ".made-by-make"


def lessons():
    """Return the lessons in order, as paths below their folder."""
    found = [*LESSONS.glob("*.ipynb"), *LESSONS.glob("[!.]*/*.ipynb")]
    return sorted(lesson.relative_to(LESSONS) for lesson in found if not lesson.name.startswith("."))


def without(*tags):
    """Return nbconvert's setting that leaves out the cells with these tags."""
    return {"TagRemovePreprocessor": {"enabled": True, "remove_cell_tags": tags}}


def slides(folder):
    """Write a deck of every lesson, each a page that opens from the folder with no network."""
    reveal = Path(find_spec("sphinx_revealjs").origin).parent / "_static" / "revealjs"
    for part in ("dist", "plugin/notes"):
        shutil.copytree(reveal / part, folder / "reveal.js" / part, ignore=shutil.ignore_patterns("*.map", "*.esm.js"))
    shutil.copy(HERE / "slides" / "deck.css", folder / "reveal.js")
    exporter = SlidesExporter(extra_template_basedirs=[str(HERE)], template_name="slides", reveal_theme="white",
                              exclude_input_prompt=True, exclude_output_prompt=True, config=Config(without("solution")))
    for lesson in lessons():
        notebook = nbformat.read(LESSONS / lesson, as_version=4)
        for cell in notebook.cells:
            if "instructor" in cell.metadata.get("tags", []):  # for the speaker's view, whatever the cell itself says
                cell.metadata["slideshow"] = {"slide_type": "notes"}
        exporter.reveal_url_prefix = "../" * (len(lesson.parts) - 1) + "reveal.js"
        where = {"metadata": {"path": str((LESSONS / lesson).parent), "name": lesson.stem}}
        page, _ = exporter.from_notebook_node(notebook, where)
        page = re.sub(r'(href="[^":]+)\.ipynb"', r'\1.html"', page)  # links lead from deck to deck
        (folder / lesson.with_suffix(".html")).write_text(page, encoding="utf-8")


def student(folder):
    """Write the lessons without solutions, remarks for instructors and outputs, to predict and to do."""
    exporter = NotebookExporter(config=Config(
        without("solution", "instructor") | {"ClearOutputPreprocessor": {"enabled": True}}))
    for lesson in lessons():
        notebook, _ = exporter.from_filename(str(LESSONS / lesson))
        (folder / lesson).write_text(notebook, encoding="utf-8")


def make(edition, folder):
    """Make an edition beside `folder`, and put it in the place of the one that an earlier run made there."""
    if folder.exists() and not (folder / MARK).exists() and (not folder.is_dir() or any(folder.iterdir())):
        sys.exit(f"{folder} was not made by this command, which would replace it: remove it, or name another folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".", dir=folder.parent) as beside:
        made = Path(beside) / folder.name
        # What the lessons link to and import travels with them, so that the same links lead there.
        shutil.copytree(LESSONS, made, ignore=shutil.ignore_patterns("*.ipynb", "__pycache__", ".*"))
        edition(made)
        (made / MARK).write_text("The next run of the same command replaces this folder and all that is in it.\n")
        if folder.exists():
            shutil.rmtree(folder)
        made.rename(folder)
    print(f"{folder}: {len(lessons())} lessons")


if __name__ == "__main__":
    make({"slides": slides, "student": student}[sys.argv[1]], Path(sys.argv[2]).resolve())
