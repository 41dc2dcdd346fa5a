"""Decks of slides: a page for each lesson, which opens without a network, and a PDF of it."""
import ast
import copy
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

from nbconvert import SlidesExporter

from .. import lessons
from ..browser import new_page
from ..translations import ENGLISH

TEMPLATE = Path(__file__).parent


def write_slides(folder, translation=ENGLISH):
    """Write a deck of slides for every lesson: a page that opens from the folder without a network."""
    lessons.copy_what_they_use(folder, translation)
    reveal = Path(find_spec("sphinx_revealjs").origin).parent / "_static" / "revealjs"
    for part in ("dist", "plugin/notes"):
        shutil.copytree(reveal / part, folder / "reveal.js" / part, ignore=shutil.ignore_patterns("*.map", "*.esm.js"))
    shutil.copy(TEMPLATE / "deck.css", folder / "reveal.js")
    exporter = SlidesExporter(extra_template_basedirs=[str(TEMPLATE.parent)], template_name=TEMPLATE.name,
                              reveal_theme="white", exclude_input_prompt=True, exclude_output_prompt=True)
    for lesson in lessons.paths(solved=False):
        notebook = lessons.read(lesson, translation)
        notebook.cells = with_votes_apart(cell for cell in notebook.cells if not lessons.has_tag(cell, "solution"))
        for cell in notebook.cells:
            if lessons.has_tag(cell, "instructor"):  # for the speaker's view, whatever slide type the cell has
                cell.metadata["slideshow"] = {"slide_type": "notes"}
        exporter.reveal_url_prefix = "../" * (len(lesson.parts) - 1) + "reveal.js"
        where = {"metadata": {"path": str((lessons.FOLDER / lesson).parent), "name": lesson.stem},
                 "code": translation.say("code")}
        page, _ = exporter.from_notebook_node(notebook, where)
        page = re.sub(r'(href="[^":]+)\.ipynb"', r'\1.html"', page)  # links lead from deck to deck
        page = page.replace('<html lang="en">', f'<html lang="{translation.tag}">', 1)
        (folder / lesson.with_suffix(".html")).write_text(page, encoding="utf-8")


def with_votes_apart(cells):
    """Return the cells with each question to the room on a slide of its own, without the code before it in its cell.

    A cell that only names the answers and asks stays whole. What asks is folded, as cells that measure are.
    """
    apart = []
    for cell in cells:
        apart.append(cell)
        statements = ast.parse(cell.source).body if " = predict(" in cell.source else []
        if not statements or not ast.unparse(statements[-1]).partition(" = ")[2].startswith("predict("):
            continue
        vote = cell
        if any(isinstance(node, ast.Call) for each in statements[:-1] for node in ast.walk(each)):
            code, vote = cell.source.splitlines(), copy.deepcopy(cell)
            cell.source = "\n".join(code[:statements[-1].lineno - 1]).rstrip()
            vote.source = "\n".join(code[statements[-1].lineno - 1:])
            vote.id += "-vote"
            vote.metadata["slideshow"] = {"slide_type": "subslide"}
            *cell.outputs, shown = cell.outputs
            vote.outputs = [shown]
            apart.append(vote)
        vote.metadata["tags"] = [*vote.metadata.get("tags", []), "measure"]
    return apart


def print_slides(folder, browser):
    """Print each deck to a PDF beside it, one page per slide."""
    for lesson in lessons.paths(solved=False):
        deck = folder / lesson.with_suffix(".html")
        page = new_page(browser)
        page.goto(f"{deck.as_uri()}?print-pdf")
        page.wait_for_selector(".pdf-page")
        page.pdf(path=deck.with_suffix(".pdf"), prefer_css_page_size=True, print_background=True)
        page.close()
