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
        notebook.cells = cells_to_show(notebook.cells)
        exporter.reveal_url_prefix = "../" * (len(lesson.parts) - 1) + "reveal.js"
        where = {"metadata": {"path": str((lessons.FOLDER / lesson).parent), "name": lesson.stem},
                 "code": translation.say("code")}
        page, _ = exporter.from_notebook_node(notebook, where)
        page = re.sub(r'(href="[^":]+)\.ipynb(#[^"]*)?"', r'\1.html"', page)  # links lead from deck to deck
        page = page.replace('<html lang="en">', f'<html lang="{translation.tag}">', 1)
        (folder / lesson.with_suffix(".html")).write_text(page, encoding="utf-8")


def cells_to_show(cells):
    """Return the cells of a deck: no solutions, remarks for instructors as notes, each vote on a slide of its own."""
    shown = []
    for cell in cells:
        if lessons.has_tag(cell, "solution"):
            continue
        if lessons.has_tag(cell, "instructor"):  # for the speaker's view, whatever slide type the cell has
            cell.metadata["slideshow"] = {"slide_type": "notes"}
        vote = vote_in(cell)
        shown += [cell] if vote is None else with_vote_apart(cell, vote)
    return shown


def vote_in(cell):
    """Return the statement that asks the room, `vote = predict(…)`, if a cell of code ends with one, or None."""
    if cell.cell_type != "code":
        return None
    try:
        statements = ast.parse(cell.source).body
    except SyntaxError:  # a cell with magics
        return None
    if not statements or not isinstance(statements[-1], ast.Assign):
        return None
    call = statements[-1].value
    asks = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "predict"
    return statements[-1] if asks else None


def with_vote_apart(cell, vote):
    """Return what becomes of a cell that ends with a vote: the code before it, and a slide that asks.

    A cell that only names the answers and asks stays whole. What asks is folded, as cells that measure are.
    """
    lines = cell.source.splitlines()
    before = "\n".join(lines[:vote.lineno - 1]).rstrip()
    shown = [cell]
    if any(isinstance(node, ast.Call) for node in ast.walk(ast.parse(before))):
        asking = copy.deepcopy(cell)
        asking.id += "-vote"
        asking.source = "\n".join(lines[vote.lineno - 1:])
        asking.outputs = cell.outputs[-1:]
        asking.metadata["slideshow"] = {"slide_type": "subslide"}
        cell.source = before
        cell.outputs = cell.outputs[:-1]
        shown.append(asking)
    shown[-1].metadata["tags"] = [*cell.metadata.get("tags", []), "measure"]
    return shown


def print_slides(folder, browser):
    """Print each deck to a PDF beside it, one page per slide."""
    for lesson in lessons.paths(solved=False):
        deck = folder / lesson.with_suffix(".html")
        page = new_page(browser)
        page.goto(f"{deck.as_uri()}?print-pdf")
        page.wait_for_selector(".pdf-page")
        page.pdf(path=deck.with_suffix(".pdf"), prefer_css_page_size=True, print_background=True)
        page.close()
