"""Write the editions of the lessons: a reader's own copies, slide decks, a site, an edition without solutions."""
import argparse
import ast
import contextlib
import copy
import hashlib
import json
import os
import re
import shutil
import signal
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import nbformat
from nbconvert import SlidesExporter
from nbconvert.preprocessors import ClearOutputPreprocessor

HERE = Path(__file__).parent
sys.path += [str(HERE), str(HERE.parent)]  # at the end, so that nothing there stands in for a standard module
import book  # noqa: E402
from translations import ENGLISH, TAGS, Translation  # noqa: E402

LESSONS = HERE.parent / "notebooks"
MARK = ".made-by-make"
COLAB = """```{{note}}
{sentence}

    %pip install -q git+https://github.com/{repository}
    !git clone -q https://github.com/{repository}
    %cd {name}/notebooks/pytorch
```"""


def lessons(solved=True):
    """Return the lessons in order, as paths relative to their folder; `solved=False` leaves out solutions."""
    found = [*LESSONS.glob("*.ipynb"), *LESSONS.glob("[!.]*/*.ipynb")]
    return sorted(lesson.relative_to(LESSONS) for lesson in found
                  if not lesson.name.startswith(".") and (solved or not lesson.stem.endswith("-solved")))


def read(lesson, translation=ENGLISH):
    """Return a lesson; if the file is not a notebook, end the program with a message that names it."""
    try:
        notebook = nbformat.read(LESSONS / lesson, as_version=4)
    except Exception as error:  # of nbformat, JSON or the text's encoding
        sys.exit(f"{LESSONS / lesson} is not a notebook: {error}")
    return translation.lesson(lesson, notebook)


def has_tag(cell, *tags):
    """Return whether a cell has any of the tags."""
    return not set(tags).isdisjoint(cell.metadata.get("tags", []))


def copy_what_lessons_use(folder, translation=ENGLISH):
    """Copy what the lessons link to and import, so that their links work in `folder`."""
    shutil.copytree(LESSONS, folder, ignore=shutil.ignore_patterns("*.ipynb", "__pycache__", ".*"))
    translation.write_beside(folder)


def write_slides(folder, translation=ENGLISH):
    """Write a deck of slides for every lesson: a page that opens from the folder without a network."""
    copy_what_lessons_use(folder, translation)
    reveal = Path(find_spec("sphinx_revealjs").origin).parent / "_static" / "revealjs"
    for part in ("dist", "plugin/notes"):
        shutil.copytree(reveal / part, folder / "reveal.js" / part, ignore=shutil.ignore_patterns("*.map", "*.esm.js"))
    shutil.copy(HERE / "slides" / "deck.css", folder / "reveal.js")
    exporter = SlidesExporter(extra_template_basedirs=[str(HERE)], template_name="slides", reveal_theme="white",
                              exclude_input_prompt=True, exclude_output_prompt=True)
    for lesson in lessons(solved=False):
        notebook = read(lesson, translation)
        notebook.cells = with_votes_apart(cell for cell in notebook.cells if not has_tag(cell, "solution"))
        for cell in notebook.cells:
            if has_tag(cell, "instructor"):  # for the speaker's view, whatever slide type the cell has
                cell.metadata["slideshow"] = {"slide_type": "notes"}
        exporter.reveal_url_prefix = "../" * (len(lesson.parts) - 1) + "reveal.js"
        where = {"metadata": {"path": str((LESSONS / lesson).parent), "name": lesson.stem},
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


def new_page(browser, **options):
    """Return a new page of a browser, in which everything may take five minutes, as it does on a busy machine."""
    page = browser.new_page(**options)
    page.context.set_default_timeout(300_000)
    return page


def print_slides(folder, browser):
    """Print each deck to a PDF beside it, one page per slide."""
    for lesson in lessons(solved=False):
        deck = folder / lesson.with_suffix(".html")
        page = new_page(browser)
        page.goto(f"{deck.as_uri()}?print-pdf")
        page.wait_for_selector(".pdf-page")
        page.pdf(path=deck.with_suffix(".pdf"), prefer_css_page_size=True, print_background=True)
        page.close()


@contextlib.contextmanager
def chromium():
    """Start the system's Chromium, without a window and without requests of its own.

    Raises:
        RuntimeError: There is no Chromium, or it or Playwright does not start.
    """
    from playwright.sync_api import Error, sync_playwright

    path = (shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
            or shutil.which("Google Chrome", path="/Applications/Google Chrome.app/Contents/MacOS"))
    if not path:
        raise RuntimeError("there is no Chromium here: apt-get install chromium")
    quiet = ["--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--no-first-run"]
    with contextlib.ExitStack() as stack:
        try:
            playwright = stack.enter_context(sync_playwright())
        except Exception as error:  # Playwright's own program lacks a library, for example
            raise RuntimeError(f"Playwright does not start here: {error}") from error
        try:
            browser = playwright.chromium.launch(executable_path=path, args=quiet, timeout=300_000)
        except Error as error:  # such as a stub that only says how to install it
            raise RuntimeError(f"{path} does not start here: {error.message.splitlines()[0]}") from error
        yield browser
        browser.close()


def cleared(lesson, *tags, translation=ENGLISH):
    """Return a lesson without its outputs, and without the cells that have one of these tags."""
    notebook = read(lesson, translation)
    notebook.cells = [cell for cell in notebook.cells if not has_tag(cell, *tags)]
    notebook, _ = ClearOutputPreprocessor().preprocess(notebook, {})
    return notebook


def write_stored(folder, translation):
    """Write the lessons with their results, to present them in another language."""
    copy_what_lessons_use(folder, translation)
    for lesson in lessons():
        nbformat.write(read(lesson, translation), folder / lesson)


def write_student_edition(folder, translation=ENGLISH):
    """Write the lessons for students to work through, without solutions, instructors' notes and outputs.

    With its metadata each is an assignment for nbgrader.
    """
    copy_what_lessons_use(folder, translation)
    for lesson in lessons(solved=False):
        notebook = cleared(lesson, "solution", "instructor", translation=translation)
        as_assignment(notebook, lesson)
        nbformat.write(notebook, folder / lesson)


def as_assignment(notebook, lesson):
    """Add nbgrader's metadata: students write in the answers' cells; the checks' are locked and return points."""
    version = version_of(notebook)
    for cell in notebook.cells:
        answer, check = has_tag(cell, "exercise"), has_tag(cell, "check")
        if answer or check:
            cell.metadata["nbgrader"] = {"grade_id": cell.id, "schema_version": 3, "cell_type": "code", "task": False,
                                         "solution": answer, "grade": check, "locked": check}
        if check:
            cell.source += f"\n{points(cell.source, lesson)}"
            cell.metadata["nbgrader"]["points"] = 1
    if version:
        notebook.metadata["lesson"] = {"name": lesson.with_suffix("").as_posix(), "version": version}


def version_of(notebook):
    """Return a hash of a lesson's exercises and checks as they are stored, or "" if it has none."""
    graded = [cell.source for cell in notebook.cells if has_tag(cell, "exercise", "check")]
    return hashlib.sha256(json.dumps(graded).encode()).hexdigest()[:12] if graded else ""


def points(check, lesson):
    """Return an expression for the points that a check gives: a part where its module counts one, else 0 or 1.

    It calls no function for that, because a student may have given the name of one to something else.
    """
    call = re.search(r"from checks\.(\w+) import[^#]*?= check_(\d+)\((.*)\)", check, re.DOTALL)
    module, number, arguments = call.groups()
    rules = (LESSONS / lesson.parent / "checks" / f"{module}.py").read_text(encoding="utf-8")
    if f"points_{number} =" in rules:
        return f"from checks.{module} import points_{number}\npoints_{number}({arguments})"
    [name] = re.findall(r"^(\w+) = check_", check, re.MULTILINE)
    return f"+{name}"


def write_site(folder, repository=None, pdf=False, epub=False, translation=ENGLISH):
    """Write a site with all lessons, their results, and the helpers' docstrings; it also opens from disk.

    `repository`, "owner/name" on GitHub, adds buttons that open a lesson on Binder or Colab. `pdf` and `epub` add
    lessons.pdf and lessons.epub.
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


def write_pages(source, repository, translation):
    """Write what Sphinx makes the site of: the lessons, shaped into chapters, and the pages beside them."""
    copy_what_lessons_use(source, translation)
    shutil.copytree(HERE / "site", source, dirs_exist_ok=True)
    lessons_begin = translation("README", None, "## The lessons")
    readme = translation.page("README").split(translation("README", None, "## For students"))[0]
    contents = translation.contents()
    readme = re.sub(r" · \[.*\]\(README.*\)", "", readme, count=1)  # the link to the README in another language
    index = readme.replace("](notebooks/", "](").replace(f"\n{lessons_begin}", f"{contents}\n{lessons_begin}")
    (source / "index.md").write_text(index, encoding="utf-8")
    notebooks = {lesson: read(lesson, translation) for lesson in lessons()}
    both = {lesson: read(lesson) for lesson in lessons()}, notebooks
    for name, page in [("formulas", book.with_anchors), ("glossary", book.with_places),
                       ("your-script", book.your_script)]:
        (source / f"{name}.md").write_text(page(translation, *both), encoding="utf-8")
    (source / "helpers.rst").write_text(translation.page("helpers"), encoding="utf-8")
    if translation.language:
        book.write_words_of_models(source / "models", translation)
    for lesson, notebook in notebooks.items():
        notebook.cells = [cell for cell in notebook.cells if not has_tag(cell, "instructor")]
        book.shape_chapter(notebook, lesson)
        if repository and lesson.parts[0] == "pytorch":
            sentence = translation.say("Colab opens this notebook alone. First run these lines there, in a cell of "
                                       "their own:")
            note = COLAB.format(sentence=sentence, repository=repository, name=repository.split("/")[1])
            notebook.cells.insert(1, nbformat.v4.new_markdown_cell(note, id="colab"))
        book.add_model(notebook, lesson, translation)
        for cell in notebook.cells:
            if has_tag(cell, "setup", "measure"):
                cell.metadata["tags"].append("hide-input")
            if has_tag(cell, "solution"):
                cell.metadata["tags"].append("hide-cell")
        nbformat.write(notebook, source / lesson)


def write_readers_copies(folder, translation=ENGLISH):
    """Give the reader a copy of each lesson to write in, without outputs; never change what the reader has written.

    A new version of a lesson replaces a copy that the reader has not changed. If all copies have been changed, it is
    written beside them. Other files that belong to the lessons, such as figures, are linked, or, in other languages,
    written anew.
    """
    for lesson in lessons():
        own = folder / lesson
        own.parent.mkdir(parents=True, exist_ok=True)
        new = cleared(lesson, "instructor", translation=translation)
        new.metadata["made_of"] = checksum(new)
        updates = own.parent.glob(f"{own.stem} (update *).ipynb")
        copies = {path: checksums(path) for path in [own, *sorted(updates)]}
        if not own.exists():
            write_new(new, own)
        elif new.metadata["made_of"] not in [made_of for made_of, _ in copies.values()]:
            untouched = [path for path, (made_of, now) in copies.items() if made_of == now]
            if untouched:
                path = untouched[0]
                write_over(new, path)
            else:
                path = unused(own)
                write_new(new, path)
            kept = "" if path == own else "; yours stays as it is"
            print(f"{own.stem} has a new version: {path}{kept}")
    if translation.language:
        write_beside_copies(folder, translation)
    for place in {lesson.parent for lesson in lessons()}:
        for each in (LESSONS / place).iterdir():
            if each.suffix != ".ipynb" and not each.name.startswith((".", "__")):
                with contextlib.suppress(FileExistsError):
                    (folder / place / each.name).symlink_to(os.path.relpath(each, folder / place))


def write_beside_copies(folder, translation):
    """Write what a translation changes among the files beside the readers' copies: figures, checks, a page."""
    with tempfile.TemporaryDirectory(prefix=".", dir=folder) as beside:
        made = Path(beside, "made")
        copy_what_lessons_use(made, translation)
        for each in [made / "for-instructors.md", made / "img", *made.glob("**/checks")]:
            old = folder / each.relative_to(made)
            if old.is_dir():
                shutil.rmtree(old)
            os.replace(each, old)


def checksum(notebook):
    """Return a hash that two notebooks share only if their cells are equal."""
    return hashlib.sha256(json.dumps(notebook.cells, sort_keys=True).encode()).hexdigest()


def checksums(path):
    """Return the checksum of what a copy was made of, and that of the copy; an unreadable copy counts as changed."""
    try:
        notebook = nbformat.read(path, as_version=4)
        return notebook.metadata["made_of"], checksum(notebook)
    except Exception:  # the reader may have changed anything in it
        return None, "changed"


def unused(path):
    """Return the first path of the form "name (update 1).ipynb" that is not in use."""
    number = 1
    while path.with_stem(f"{path.stem} (update {number})").exists():
        number += 1
    return path.with_stem(f"{path.stem} (update {number})")


def write_new(notebook, path):
    """Write a notebook, whole or not at all; a file that already exists is kept."""
    with tempfile.TemporaryDirectory(prefix=".", dir=path.parent) as beside:
        made = Path(beside, path.name)
        nbformat.write(notebook, made)
        with contextlib.suppress(FileExistsError):
            os.link(made, path)


def write_over(notebook, path):
    """Replace a notebook with another one, whole or not at all."""
    with tempfile.TemporaryDirectory(prefix=".", dir=path.parent) as beside:
        made = Path(beside, path.name)
        nbformat.write(notebook, made)
        os.replace(made, path)


def replace_edition(write, folder):
    """Let `write` make an edition beside `folder`, then replace the folder, which an earlier run must have made."""
    in_use = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    if in_use and not (folder / MARK).exists():
        sys.exit(f"{folder} was not made by this command, which would replace it: remove it, or name another folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".", dir=folder.parent) as beside:
        made = Path(beside, folder.name)
        write(made)
        (made / MARK).write_text("The next run of the same command replaces this folder and all that is in it.\n")
        if folder.exists():
            shutil.rmtree(folder)
        made.rename(folder)
    print(f"{folder}: {len(lessons())} lessons")


def repository_name(text):
    """Return the text if it has the form of a repository's name, or "" if it is empty."""
    if text and not re.fullmatch(r"[\w.-]+/[\w.-]+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form owner/name")
    return text


def reason(error):
    """Return the system's reason in words; if many files could not be copied, the reason for the first."""
    if isinstance(error, shutil.Error):
        _, _, why = error.args[0][0]
        return why
    return error.strerror or str(error)


def main():
    """Write the edition that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("edition", choices=["copies", "stored", "slides", "site", "student"])
    parser.add_argument("folder", type=lambda path: Path(path).resolve())
    parser.add_argument("--pdf", action="store_true", help="print the slides, or the site, into PDFs, too")
    parser.add_argument("--epub", action="store_true", help="also make an e-book of the site")
    parser.add_argument("--language", choices=sorted(TAGS), help="the language, instead of English")
    parser.add_argument("--repository", type=repository_name, help="owner/name, for buttons for Binder and Colab")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # which also removes what is half written
    translation = Translation(asked.language)
    try:
        if asked.edition == "copies":
            write_readers_copies(asked.folder, translation)
        elif asked.edition == "stored":
            replace_edition(lambda folder: write_stored(folder, translation), asked.folder)
        elif asked.edition == "student":
            replace_edition(lambda folder: write_student_edition(folder, translation), asked.folder)
        elif asked.edition == "site":
            replace_edition(lambda folder: write_site(folder, asked.repository, asked.pdf, asked.epub, translation),
                            asked.folder)
        else:
            replace_edition(lambda folder: write_slides(folder, translation), asked.folder)
            if asked.pdf:
                with chromium() as browser:
                    print_slides(asked.folder, browser)
    except OSError as error:
        sys.exit(f"{asked.folder}: {reason(error)}. Nothing that you wrote was changed")


if __name__ == "__main__":
    main()
