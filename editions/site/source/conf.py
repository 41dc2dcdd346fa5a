"""Sphinx's settings for the site: the lessons as they are stored, and the helpers' docstrings."""
import hashlib
import os
import re
from binascii import a2b_base64
from importlib.util import find_spec
from pathlib import Path

import nbformat
import sphinx.search
from docutils import nodes
from sphinx.addnodes import pending_xref

import d2lhelpers
from editions.site.colab_and_kaggle import OPENS
from editions.site.search import SearchPairs
from editions.translations import Translation

translation = Translation(os.environ.get("IN"))
say = translation.say
language = translation.tag.replace("-", "_")
sphinx.search.languages["zh"] = SearchPairs
project = say("How deep-learning frameworks get their speed")
version = d2lhelpers.__version__  # which an EPUB must have
copyright = say("its authors; text and figures are under CC BY 4.0, the code is under the MIT licence")
author = "The d2lhelpers authors"  # as in LICENSE
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]  # napoleon reads "Raises:"
exclude_patterns = ["checks_*", "*/checks_*", "contents.md"]
nb_execution_mode = "off"
nb_code_prompt_show = say("Show code cell {type}")
nb_code_prompt_hide = say("Hide code cell {type}")
suppress_warnings = ["mystnb.unknown_mime_type", "misc.highlighting_failure"]  # such as cells that begin with %%
myst_heading_anchors = 3
autodoc_mock_imports = [name for name in ("mxnet", "torch") if not find_spec(name)]
autodoc_member_order = "bysource"
default_role = "code"

html_theme = "sphinx_book_theme"
html_title = project
html_show_search_summary = False  # the summary would be fetched, which a page that is opened from disk cannot do
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system; without it the console shows an error
epub_basename = "lessons"
epub_exclude_files = ["_static/models.json"]  # whose kind EPUB does not know
html_static_path = ["site.css", "models"]
html_css_files = ["site.css"]
html_js_files = ["search.js"] if translation.language else []
html_theme_options = {"use_fullscreen_button": False, "navbar_persistent": [], "show_toc_level": 1,
                      "home_page_in_toc": True, "footer_content_items": "copyright.html"}
if repository := os.environ.get("REPOSITORY"):
    html_theme_options |= {
        "repository_url": f"https://github.com/{repository}", "use_repository_button": True,
        "path_to_docs": "notebooks", "repository_branch": "main",
        "launch_buttons": {"notebook_interface": "jupyterlab", "binderhub_url": "https://mybinder.org",
                           "colab_url": OPENS["Colab"].removesuffix("/github/")}}

GLOSSARY = Path(__file__).with_name("glossary.md").read_text(encoding="utf-8").split("```{glossary}")[1]
TERMS = {term.lower() for term in re.findall(r"^\w.*", GLOSSARY, re.MULTILINE)}
FIRST_OF_A_PART = ("pytorch/00-start-here", "install")  # no page before them belongs to the same part


def link_terms(app, doctree):
    """Make a bold text that is a term of the glossary, or the plural of one, a link to it."""
    for strong in doctree.findall(nodes.strong):
        text = strong.astext().lower()
        for term in {text, text.removesuffix("s")} & TERMS:
            link = pending_xref("", refdomain="std", reftype="term", reftarget=term, refdoc=app.env.docname)
            strong.replace_self(link)
            link += strong


def describe_plots(app, doctree):
    """Give each plot the text alternative that is stored with it, by the hash that MyST-NB names its file after."""
    source = Path(app.srcdir, f"{app.env.docname}.ipynb")
    cells = nbformat.read(source, as_version=4).cells if source.exists() else []
    alternatives = {}
    for output in (output for cell in cells for output in cell.get("outputs", [])):
        about = output.get("metadata", {}).get("image/png", {})
        if "alt" in about:
            alternatives[hashlib.sha256(a2b_base64(output.data["image/png"])).hexdigest()] = about["alt"]
    for image in doctree.findall(nodes.image):
        image["alt"] = alternatives.get(Path(image["uri"]).stem, image.get("alt", ""))


def end_each_part(app, page, template, context, doctree):
    """Let "previous" and "next" lead through one track, not from its last page into the other one."""
    if page in FIRST_OF_A_PART:
        context["prev"] = None
    if context.get("next") and context["next"]["link"].endswith(tuple(f"{first}.html" for first in FIRST_OF_A_PART)):
        context["next"] = None


def show_colab_and_kaggle(app, page, template, context, doctree):
    """Show Kaggle's button after Colab's on the pages of the PyTorch track; elsewhere neither: they have no MXNet."""
    for group in context.get("header_buttons", []):
        if "launch" in str(group.get("label")):
            *others, colab = group["buttons"]
            kaggle = {name: text.replace("Colab", "Kaggle") for name, text in colab.items()}
            kaggle |= {"icon": "fa-brands fa-kaggle", "url": colab["url"].replace(OPENS["Colab"], OPENS["Kaggle"])}
            group["buttons"] = [*others, colab, kaggle] if page.startswith("pytorch/") else others


def setup(app):
    """Connect the functions above to Sphinx's events."""
    app.connect("doctree-read", link_terms)
    app.connect("doctree-read", describe_plots)
    app.connect("html-page-context", end_each_part)
    app.connect("html-page-context", show_colab_and_kaggle, priority=900)
