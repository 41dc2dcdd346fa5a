"""The site: the lessons with their results, shaped into chapters, and the pages beside them."""
import os
import re
import shutil
import sys
import tempfile
import textwrap
from pathlib import Path

import nbformat

from .. import lessons
from ..browser import chromium, new_page
from ..translations import ENGLISH
from . import book
from .colab_and_kaggle import lines_for

SOURCE = Path(__file__).with_name("source")
FRAME = "## The lessons", "## Where things are"  # the headings of the README before and after the lessons' tables


def write_site(folder, repository=None, pdf=False, epub=False, translation=ENGLISH):
    """Write a site with all lessons, their results, and the helpers' docstrings; it also opens from disk.

    `repository`, "owner/name" on GitHub, adds buttons that open a lesson on Binder, Colab or Kaggle. `pdf` and `epub`
    add lessons.pdf and lessons.epub.
    """
    os.environ["REPOSITORY"] = repository or ""  # conf.py reads both
    os.environ["IN"] = translation.language or ""
    with tempfile.TemporaryDirectory() as place:
        source, whole = Path(place, "site"), Path(place, "book")
        write_pages(source, repository, translation)
        build(source, "html", folder)
        if epub:
            build(source, "epub", Path(place, "epub"))
            shutil.copy(Path(place, "epub", "lessons.epub"), folder)
        if pdf:
            contents = (source / "index.md").read_text(encoding="utf-8")
            (source / "index.md").write_text(contents.replace("\ngenindex", ""), encoding="utf-8")  # which has no text
            build(source, "singlehtml", whole)
            with chromium() as browser:
                book.print_book(whole / "index.html", folder / "lessons.pdf", new_page(browser))


def build(source, builder, folder):
    """Let Sphinx build pages from a folder; a warning ends the program."""
    from sphinx.cmd.build import build_main

    if build_main(["-q", "-W", "--keep-going", "-b", builder, "-d", f"{source}-cache", str(source), str(folder)]):
        sys.exit("the site was not built: see above")


def first_page(translation):
    """Return the README to the end of the lessons' tables, with the list of all pages before these."""
    begin, end = (f"\n{translation('README', None, heading)}\n" for heading in FRAME)
    shown, found, _ = translation.page("README").partition(end)
    introduction, begun, tables = shown.partition(begin)
    if not (found and begun):
        sys.exit(f"README.md lacks {' or '.join(FRAME)}, between which the site's first page has the lessons")
    return with_links_of_the_site(f"{introduction}{translation.contents()}{begin}{tables}")


def with_links_of_the_site(page):
    """Return a page of the first folder with links as they are on the site, and none to another language."""
    page = re.sub(r" · \[.*\]\([A-Z]+(\.\w+)?\.md\)", "", page, count=1)
    return re.sub(r"\]\(INSTALL(\.\w+)?\.md\)", "](install.md)", page).replace("](notebooks/", "](")


def write_pages(source, repository, translation):
    """Write what Sphinx makes the site of: the lessons, shaped into chapters, and the pages beside them."""
    lessons.copy_what_they_use(source, translation)
    shutil.copytree(SOURCE, source, dirs_exist_ok=True)
    english = {lesson: lessons.read(lesson) for lesson in lessons.paths()}
    notebooks = {lesson: lessons.read(lesson, translation) for lesson in lessons.paths()}
    texts = {
        "index.md": first_page(translation),
        "install.md": with_links_of_the_site(translation.page("INSTALL")),
        "formulas.md": book.with_anchors(translation, english, notebooks),
        "glossary.md": book.with_places(translation, english, notebooks),
        "your-script.md": book.your_script(translation, english, notebooks),
        "helpers.rst": translation.page("helpers"),
        "where-next.md": translation.page("where-next"),
    }
    for name, text in texts.items():
        (source / name).write_text(text, encoding="utf-8")
    if translation.language:
        book.write_words_of_models(source / "models", translation)
    book.lead_to_sections(notebooks)
    for lesson, notebook in notebooks.items():
        make_chapter(notebook, lesson, repository, translation)
        nbformat.write(notebook, source / lesson)


def make_chapter(notebook, lesson, repository, translation):
    """Make a chapter of a lesson: no remarks for instructors, solutions and measuring folded, its model added."""
    notebook.cells = [cell for cell in notebook.cells if not lessons.has_tag(cell, "instructor")]
    book.shape_chapter(notebook, lesson)
    if repository and lesson.parts[0] == "pytorch":
        note = what_to_run_first(repository, translation)
        notebook.cells.insert(1, nbformat.v4.new_markdown_cell(note, id="run-first"))
    book.add_model(notebook, lesson, translation)
    for cell in notebook.cells:
        if lessons.has_tag(cell, "setup", "measure"):
            cell.metadata["tags"].append("hide-input")
        if lessons.has_tag(cell, "solution"):
            cell.metadata["tags"].append("hide-cell")


def what_to_run_first(repository, translation):
    """Return the note that says what to run first on Colab and on Kaggle."""
    note = translation.say("Colab and Kaggle open this notebook alone. On Kaggle, first switch *Internet* on in the "
                           "notebook's settings, which it offers once your phone number is verified. Then run these "
                           "lines in a cell of their own, which takes a few minutes:")
    lines = textwrap.indent(lines_for(repository), "    ")
    return f"```{{note}}\n{note}\n\n{lines}\n```"
