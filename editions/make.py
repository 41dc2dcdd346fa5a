"""Make from the lessons what is handed out: `make slides` and `make student`."""
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import nbformat
from nbconvert import NotebookExporter, SlidesExporter
from traitlets.config import Config

HERE = Path(__file__).parent
LESSONS = HERE.parent / "notebooks"


def lessons():
    """Return the lessons in order, as paths below their folder."""
    found = [*LESSONS.glob("*.ipynb"), *LESSONS.glob("[!.]*/*.ipynb")]
    return sorted(lesson.relative_to(LESSONS) for lesson in found if not lesson.name.startswith("."))


def write(path, text):
    """Write a file, with the folders that lead to it, and say so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(path)


def beside(folder, *parts):
    """Copy what the lessons link to, so that the same links lead there."""
    for part in parts:
        shutil.copytree(LESSONS / part, folder / part, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(LESSONS / "for-instructors.md", folder)


def slides(folder):
    """Write a deck of every lesson, each a page that opens from the folder with no network."""
    reveal = Path(find_spec("sphinx_revealjs").origin).parent / "_static" / "revealjs"
    for part in ("dist", "plugin/notes"):
        shutil.copytree(reveal / part, folder / "reveal.js" / part, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("*.map", "*.esm.js"))
    shutil.copy(HERE / "slides" / "deck.css", folder / "reveal.js")
    beside(folder, "img")
    exporter = SlidesExporter(extra_template_basedirs=[str(HERE)], template_name="slides", reveal_theme="white",
                              exclude_input_prompt=True, exclude_output_prompt=True)
    for lesson in lessons():
        exporter.reveal_url_prefix = "../" * (len(lesson.parts) - 1) + "reveal.js"
        where = {"metadata": {"path": str((LESSONS / lesson).parent), "name": lesson.stem}}
        page, _ = exporter.from_filename(str(LESSONS / lesson), where)
        page = re.sub(r'(href="[^":]+)\.ipynb"', r'\1.html"', page)  # links lead from deck to deck
        write(folder / lesson.with_suffix(".html"), page)


def student(folder):
    """Write the lessons without their solutions and without outputs, so that there is something to predict and do."""
    exporter = NotebookExporter(config=Config({
        "TagRemovePreprocessor": {"enabled": True, "remove_cell_tags": ["solution"]},
        "ClearOutputPreprocessor": {"enabled": True},
    }))
    for lesson in lessons():
        notebook, _ = exporter.from_notebook_node(nbformat.read(LESSONS / lesson, as_version=4))
        write(folder / lesson, notebook)
    beside(folder, "img", "scripts")
    for style in LESSONS.rglob("rise.css"):
        shutil.copy(style, folder / style.relative_to(LESSONS))


if __name__ == "__main__":
    {"slides": slides, "student": student}[sys.argv[1]](Path(sys.argv[2]))
