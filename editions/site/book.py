"""What the site has beside the lessons: chapters, models, a glossary with links, lines for a script, a PDF."""
import html
import json
import re
from pathlib import Path
from posixpath import normpath, relpath

import nbformat

from ..translatable import PARTS_OF_A_MODEL
from ..translations import ENGLISH

LINK_TO_A_CELL = re.compile(r"(\]\(([^)#\s]+\.ipynb)#cell-id=([\w-]+)\))")
MODELS = Path(__file__).parent / "source" / "models" / "models.json"
MODEL = """<div class="model" role="group" data-model="{model}" data-start="{start}">
<link rel="stylesheet" href="{static}/models.css" />
<p>{question}</p>
<ul>{choices}</ul>
<p role="status"></p>
<p class="model-result" role="status">{result}</p>
<p hidden="hidden">{introduction}</p>
<p class="model-end">{end}</p>
{words}<script defer="defer" src="{static}/models.js"></script>
<script defer="defer" src="{static}/{model}.js"></script>
</div>"""


def write_words_of_models(folder, translation):
    """Write the script from which the models' scripts take what they say in another language."""
    said = {text: said for (name, _, text), said in translation.said.items() if name == "models"}
    script = f'"use strict";\nwindow.modelWords = {json.dumps(said, ensure_ascii=False, indent=4)};\n'
    (folder / "words.js").write_text(script, encoding="utf-8")
    one, many = ("Search finished, found one page matching the search query.",
                 translation.say("Search finished, found ${resultCount} pages matching the search query."))
    script = f"Documentation.TRANSLATIONS[{json.dumps(one)}] = [{json.dumps(many)}];\n"  # which Sphinx lacks
    (folder / "search.js").write_text(script, encoding="utf-8")


def add_model(notebook, lesson, translation=ENGLISH):
    """Add the model that `models.json` names for a lesson, if it names one.

    Without its script, a reader sees the question, its choices and what the model says to it, but no sliders.
    """
    models = json.loads(MODELS.read_text(encoding="utf-8"))
    model = models.get(lesson.as_posix())
    if model:
        texts = {name: html.escape(translation("models", "model", model[name])) for name in PARTS_OF_A_MODEL}
        choices = "".join(f"<li>{html.escape(translation('models', 'model', choice))}</li>"
                          for choice in model["choices"])
        static = "../" * (len(lesson.parts) - 1) + "_static"
        words = f'<script defer="defer" src="{static}/words.js"></script>\n' if translation.language else ""
        source = MODEL.format(**texts, choices=choices, model=model["model"], static=static, words=words,
                              start=html.escape(json.dumps(model["start"])))
        place = [cell.id for cell in notebook.cells].index(model["after"]) + 1
        notebook.cells.insert(place, nbformat.v4.new_markdown_cell(source, id="model-to-play-with"))


def shape_chapter(notebook, lesson):
    """Put a lesson's number before its title, and what is on a sub-slide one level below its section."""
    if lesson.stem[:2].isdigit():
        notebook.cells[0].source = notebook.cells[0].source.replace("# ", f"# {lesson.stem[:2]} · ", 1)
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.metadata.get("slideshow", {}).get("slide_type") == "subslide":
            cell.source = re.sub("^## ", "### ", cell.source, flags=re.MULTILINE)


def name_of(lesson, notebook):
    """Return what a link to a lesson says: "05", "PyTorch 05", or the title of a deeper notebook."""
    if lesson.parts[0] == "deeper":
        return title_of(notebook)
    return f"{'PyTorch ' if lesson.parts[0] == 'pytorch' else ''}{lesson.stem[:2]}"


def title_of(notebook):
    """Return a lesson's title."""
    return heading_of(notebook.cells[0])


def heading_of(cell):
    """Return the heading of a cell of text, or None if it has none that a link can lead to."""
    found = re.search("^#{1,3} (.+)", cell.source, re.MULTILINE) if cell.cell_type == "markdown" else None
    return found and found[1]


def link_to(lesson, heading):
    """Return the link that leads to a heading of a lesson."""
    from myst_parser.mdit_to_docutils.base import default_slugify

    return f"{lesson.as_posix()}#{default_slugify(heading)}"


def lead_to_sections(notebooks):
    """Make a link to a cell, as JupyterLab follows it, one to the heading above that cell, as the site has it."""
    places, heading = {}, None
    for lesson, notebook in notebooks.items():
        for cell in notebook.cells:
            heading = heading_of(cell) or heading
            if heading:
                places[lesson.as_posix(), cell.id] = link_to(lesson, heading)
    for lesson, notebook in notebooks.items():
        folder = lesson.parent.as_posix()
        for cell in notebook.cells:
            for link, name, target in LINK_TO_A_CELL.findall(cell.source) if cell.cell_type == "markdown" else ():
                place = relpath(places[normpath(f"{folder}/{name}"), target], folder)
                cell.source = cell.source.replace(link, f"]({place})")


def bold(cell):
    """Return the texts that stand in bold in a cell of text."""
    return re.findall(r"\*\*(.+?)\*\*", cell.source) if cell.cell_type == "markdown" else []


def cells_to_read(notebook):
    """Return a lesson's cells without solutions and without remarks for instructors."""
    return [cell for cell in notebook.cells if {"solution", "instructor"}.isdisjoint(cell.metadata.get("tags", []))]


def places_of_bold(english, notebooks):
    """Return for each English text in bold, in lower case, the lessons that have it, each with its first such section.

    `english` maps the lessons' paths to their notebooks; `notebooks`, here as below, to those of the edition.
    """
    places = {}
    for lesson in sorted(notebooks, key=lambda lesson: (lesson.parts[0] == "deeper", lesson)):
        heading = ""
        for cell, shown in zip(cells_to_read(english[lesson]), cells_to_read(notebooks[lesson]), strict=True):
            heading = heading_of(shown) or heading
            for text in bold(cell):
                places.setdefault(text.lower(), {}).setdefault(lesson, link_to(lesson, heading))
    return places


def with_places(translation, english, notebooks):
    """Return the glossary with links to the lessons below each entry."""
    places = places_of_bold(english, notebooks)
    lines, terms = [], []
    for line in translation.page("glossary").splitlines():
        lines.append(line)
        if line.startswith("  "):
            found = places_of_terms(terms, places)
            links = translation.say(", ").join(
                f"[{name_of(lesson, notebooks[lesson])}]({link})" for lesson, link in found.items())
            lines += ["", f"  {translation.say('Explained in {links}.', links=links)}"]
            terms = []
        else:
            terms.append(line)
    return "\n".join(lines)


def places_of_terms(terms, places):
    """Return the lessons in which one of the terms, or its plural, stands in bold, each with the link to its place."""
    found = {}
    for term in terms:
        for form in (term.lower(), f"{term.lower()}s"):
            found = places.get(form, {}) | found
    return found


def with_anchors(translation, english, notebooks):
    """Return the page of formulas, its links leading to the headings that the lessons have in this edition."""
    page = translation.page("formulas")
    for lesson in notebooks:
        for cell, shown in zip(english[lesson].cells, notebooks[lesson].cells, strict=True):
            heading = heading_of(cell)
            if heading:
                page = page.replace(f"]({link_to(lesson, heading)})", f"]({link_to(lesson, heading_of(shown))})")
    return page


def your_script(translation, english, notebooks):
    """Return a page with what each lesson says below *Take it to your own script*: text, code and output."""
    title = translation.say("Your script: six lines per lesson")
    parts = [f"# {title}", translation.say("The end of every lesson, in one place. The lines stand on what the lesson "
                                           "defines: open it for the rest.")]
    for lesson in sorted(notebooks, key=lambda lesson: (len(lesson.parts), lesson)):
        title = f"{name_of(lesson, notebooks[lesson])} · {title_of(notebooks[lesson])}"
        taking = False
        for original, cell in zip(cells_to_read(english[lesson]), cells_to_read(notebooks[lesson]), strict=True):
            heading = heading_of(cell)
            if heading:
                taking = "Take it to your own script" in heading_of(original)
                if taking:
                    parts.append(f"## [{title}]({link_to(lesson, heading)})")
            if taking:
                parts += parts_of_page(cell, lesson)
    return "\n\n".join(parts)


def parts_of_page(cell, lesson):
    """Return a lesson's cell as parts of another page: its text without a heading, or its code and what it printed."""
    if cell.cell_type == "markdown":
        text = re.sub("^#.*", "", cell.source)
        return [re.sub(r"(\]\()(?!http)", rf"\g<1>{lesson.parent.as_posix()}/", text).strip()]
    printed = [f"```text\n{output.text}```" for output in cell.outputs if output.output_type == "stream"]
    return [f"```python\n{cell.source}\n```", *printed]


def print_book(page, pdf, tab):
    """Print the page with all lessons in a browser's tab: twice, the second time with page numbers in the contents."""
    tab.goto(page.as_uri())
    footer = '<p style="width: 100%; text-align: center; font: 9px sans-serif"><span class="pageNumber"></span></p>'
    for _ in range(2):
        tab.pdf(path=pdf, format="A4", outline=True, tagged=True, print_background=True, display_header_footer=True,
                header_template="<p></p>", footer_template=footer,
                margin={"top": "16mm", "bottom": "18mm", "left": "16mm", "right": "16mm"})
        tab.evaluate("""pages => document.querySelectorAll("#jb-print-toc a").forEach(
            link => link.dataset.page = pages[decodeURIComponent(link.hash.slice(1))] ?? "")""", page_numbers(pdf))


def page_numbers(pdf):
    """Return the first page of each document in a PDF that Chromium printed, by the name to which links lead."""
    from pypdf import PdfReader

    reader = PdfReader(pdf)
    places = {name.removeprefix("/"): place for name, place in reader.named_destinations.items()}
    return {name: reader.get_destination_page_number(place) + 1 for name, place in places.items()
            if name.startswith("document-")}
