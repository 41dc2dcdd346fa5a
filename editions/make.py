"""Make from the lessons what people get: their own copies, decks, a site, an edition without solutions."""
import contextlib
import hashlib
import json
import os
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
COLAB = """```{{note}}
Colab opens this notebook alone. First run these lines there, in a cell of their own:

    %pip install -q git+https://github.com/{repository}
    !git clone -q https://github.com/{repository}
    %cd {name}/notebooks/pytorch
```"""


def lessons():
    """Return the lessons in order, as paths below their folder."""
    found = [*LESSONS.glob("*.ipynb"), *LESSONS.glob("[!.]*/*.ipynb")]
    return sorted(lesson.relative_to(LESSONS) for lesson in found if not lesson.name.startswith("."))


def without(*tags):
    """Return nbconvert's setting that leaves out the cells with these tags."""
    return {"TagRemovePreprocessor": {"enabled": True, "remove_cell_tags": tags}}


def rest(folder):
    """Copy what the lessons link to and import, so that the same links lead there."""
    shutil.copytree(LESSONS, folder, ignore=shutil.ignore_patterns("*.ipynb", "__pycache__", ".*"))


def slides(folder):
    """Write a deck of every lesson, each a page that opens from the folder with no network."""
    rest(folder)
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


def pdfs(folder, browser):
    """Print each deck into a PDF beside it, a page per slide."""
    for lesson in lessons():
        deck, page = folder / lesson.with_suffix(".html"), browser.new_page()
        page.goto(f"{deck.as_uri()}?print-pdf")
        page.wait_for_selector(".pdf-page")
        page.pdf(path=deck.with_suffix(".pdf"), prefer_css_page_size=True, print_background=True)
        page.close()


@contextlib.contextmanager
def chromium():
    """Start the system's Chromium without a window and without requests of its own; RuntimeError if it does not."""
    from playwright.sync_api import Error, sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") \
        or shutil.which("Google Chrome", path="/Applications/Google Chrome.app/Contents/MacOS")
    if not path:
        raise RuntimeError("there is no Chromium here: apt-get install chromium")
    quiet = ["--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--no-first-run"]
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=quiet)
        except Error as error:  # such as a stub that only says how to install it
            raise RuntimeError(f"{path} does not start here: {error.message.splitlines()[0]}") from error
        yield browser
        browser.close()


def cleared(lesson, *tags):
    """Return the text of a lesson without its outputs and without the cells with these tags."""
    settings = Config(without(*tags) | {"ClearOutputPreprocessor": {"enabled": True}})
    return NotebookExporter(config=settings).from_filename(str(LESSONS / lesson))[0]


def student(folder):
    """Write the lessons without solutions, instructors' notes and outputs, to work through."""
    rest(folder)
    for lesson in lessons():
        (folder / lesson).write_text(cleared(lesson, "solution", "instructor"), encoding="utf-8")


def site(folder):
    """Write a site of all lessons with their results, and of the helpers' docstrings; it opens from disk, too."""
    from sphinx.cmd.build import build_main

    repository = os.environ.get("REPOSITORY")
    with tempfile.TemporaryDirectory() as place:
        rest(source := Path(place, "site"))
        shutil.copytree(HERE / "site", source, dirs_exist_ok=True)
        readme = (HERE.parent / "README.md").read_text(encoding="utf-8").split("## For students")[0]
        contents = (source / "contents.md").read_text(encoding="utf-8")
        (source / "index.md").write_text(readme.replace("](notebooks/", "](") + contents, encoding="utf-8")
        for lesson in lessons():
            notebook = nbformat.read(LESSONS / lesson, as_version=4)
            notebook.cells = [cell for cell in notebook.cells if "instructor" not in cell.metadata.get("tags", [])]
            if repository and lesson.parts[0] == "pytorch":
                note = COLAB.format(repository=repository, name=repository.split("/")[1])
                notebook.cells.insert(1, nbformat.v4.new_markdown_cell(note, id="colab"))
            for cell in notebook.cells:
                tags = cell.metadata.get("tags", [])
                tags += [hide for tag, hide in (("setup", "hide-input"), ("solution", "hide-cell")) if tag in tags]
            nbformat.write(notebook, source / lesson)
        if build_main(["-q", "-W", "--keep-going", "-b", "html", "-d", f"{place}/cache", str(source), str(folder)]):
            sys.exit("the site was not built: see above")


def mine(folder):
    """Give the reader a copy of each lesson to write in, without outputs; what the reader wrote is never touched.

    A new version of a lesson takes the place of a copy that nobody wrote into; where there is none, it arrives beside
    the reader's own. What belongs to the lessons and is not for writing, such as figures, is linked.
    """
    for lesson in lessons():
        own = folder / lesson
        own.parent.mkdir(parents=True, exist_ok=True)
        new = nbformat.reads(cleared(lesson, "instructor"), as_version=4)
        new.metadata["made_of"] = checksum(new)
        copies = {path: origin(path) for path in [own, *sorted(own.parent.glob(f"{own.stem} (update *).ipynb"))]}
        if not own.exists():
            put(new, own)
        elif new.metadata["made_of"] not in [made_of for made_of, _ in copies.values()]:
            untouched = [path for path, (made_of, now) in copies.items() if made_of == now]
            numbers = (own.with_stem(f"{own.stem} (update {number})") for number in range(1, 1000))
            path = (untouched or [each for each in numbers if not each.exists()])[0]
            put(new, path, replace=bool(untouched))
            print(f"{own.stem} has a new version: {path}" + "; yours stays as it is" * (path != own))
    for place in {lesson.parent for lesson in lessons()}:
        for each in (LESSONS / place).iterdir():
            if each.suffix != ".ipynb" and not each.name.startswith((".", "__")):
                with contextlib.suppress(FileExistsError):
                    (folder / place / each.name).symlink_to(os.path.relpath(each, folder / place))


def checksum(notebook):
    """Return a hash that two notebooks share only if their cells are equal."""
    return hashlib.sha256(json.dumps(notebook.cells, sort_keys=True).encode()).hexdigest()


def origin(path):
    """Return the checksum of what a copy was made from, and its own; an unreadable copy counts as changed."""
    try:
        notebook = nbformat.read(path, as_version=4)
        return notebook.metadata["made_of"], checksum(notebook)
    except Exception:
        return None, "changed"


def put(notebook, path, replace=False):
    """Write a file whole or not at all; an existing one stays, unless it may be replaced."""
    with tempfile.TemporaryDirectory(prefix=".", dir=path.parent) as beside:
        nbformat.write(notebook, made := Path(beside, path.name))
        with contextlib.suppress(FileExistsError):
            (os.replace if replace else os.link)(made, path)


def make(edition, folder):
    """Make an edition beside `folder`, then replace the one that an earlier run made."""
    if folder.exists() and not (folder / MARK).exists() and (not folder.is_dir() or any(folder.iterdir())):
        sys.exit(f"{folder} was not made by this command, which would replace it: remove it, or name another folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".", dir=folder.parent) as beside:
        made = Path(beside) / folder.name
        edition(made)
        (made / MARK).write_text("The next run of the same command replaces this folder and all that is in it.\n")
        if folder.exists():
            shutil.rmtree(folder)
        made.rename(folder)
    print(f"{folder}: {len(lessons())} lessons")


if __name__ == "__main__":
    what, folder = sys.argv[1], Path(sys.argv[2]).resolve()
    if what == "mine":
        try:
            mine(folder)
        except OSError as error:
            sys.exit(f"{folder}: {error.strerror}. Nothing that you wrote was changed")
    else:
        make({"slides": slides, "student": student, "site": site}[what], folder)
        if what == "slides" and os.environ.get("PDF"):
            with chromium() as browser:
                pdfs(folder, browser)
