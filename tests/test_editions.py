import ast
import builtins
import contextlib
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import symtable
import sys
import textwrap
import time
import xml.dom.minidom
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import colab_and_kaggle
import nbformat
import pypdf
import pytest
from axe_playwright_python.sync_playwright import Axe
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NumberObject

from editions import __main__, copies, folders, lessons, student, translations
from editions import browser as browsers
from editions.grading import grade
from editions.grading.remarks import say
from editions.site import book, pages
from editions.site.colab_and_kaggle import OPENS
from editions.slides import deck
from editions.translations import Translation

ROOT = Path(__file__).parents[1]

# What a person would find wrong with the current slide; lengths are those of a slide of 1280 x 720.
FAULTS = """() => {
    const slide = Reveal.getCurrentSlide();
    const scale = Reveal.getScale();
    const at = each => each.getBoundingClientRect();
    const all = selector => [...slide.querySelectorAll(selector)];
    const wide = all("pre, table, img, svg").filter(each => each.checkVisibility());
    const low = Math.max(0, ...all(".jp-Cell").map(cell => at(cell).bottom - at(slide).top)) / scale;
    return [
        (low > 720 || at(slide).top + low * scale > innerHeight + 1) && "too high",
        low < 20 && "empty",
        ...wide.map(each => (at(each).right - at(slide).left) / scale > 1280 && `too wide: ${each.innerText}`),
        ...wide.map(each => each.clientWidth && each.scrollWidth > each.clientWidth + 2 && `cut: ${each.innerText}`),
        ...all("img").map(image => (!image.complete || !image.naturalWidth) && `no picture: ${image.alt}`),
        ...all("img").map(image => /^$|^No description/.test(image.alt) && `not described: ${image.src.slice(0, 60)}`),
        ...all("[data-mime-type$='error'], [data-mime-type$='stderr']").map(each => `an error: ${each.innerText}`),
    ].filter(Boolean); }"""


def cells(path, *without):
    """Return the cells of a notebook that have none of these tags."""
    return [cell for cell in nbformat.read(path, 4).cells if not set(without) & set(cell.metadata.get("tags", []))]


def test_the_student_edition(tmp_path):
    """The student edition lacks solutions, remarks and outputs; checks return points; other cells are unchanged."""
    folders.replace(student.write_student_edition, tmp_path)
    for lesson in lessons.paths():
        if lesson.stem.endswith("-solved"):
            assert not (tmp_path / lesson).exists()
            continue
        kept = cells(lessons.FOLDER / lesson, "solution", "instructor")
        found = cells(tmp_path / lesson)
        assert [cell.id for cell in found] == [cell.id for cell in kept]
        for cell, stored in zip(found, kept, strict=True):
            assert cell.source.startswith(stored.source)
            assert (cell.source == stored.source) is not ("check" in cell.metadata.get("tags", []))
        assert not any("For instructors" in cell.source for cell in found)
        assert not any(cell.get("outputs") for cell in found)


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Write a small folder of lessons, and let the editions be made from it."""
    monkeypatch.setattr(lessons, "FOLDER", tmp_path / "notebooks")
    book = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_markdown_cell(text, metadata={"tags": [tag], "slideshow": {"slide_type": "slide"}})
        for text, tag in (("A title", "setup"), ("Only for the speaker", "instructor"), ("42", "solution"))])
    for name in ("01-a.ipynb", "pytorch/01-b.ipynb", "img/a.svg", "pytorch/checks_pytorch/rules.py",
                 ".ipynb_checkpoints/a.py"):
        path = tmp_path / "notebooks" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(book, path)
    return tmp_path


def test_an_edition_has_no_old_files(small):
    """An edition has the lessons' figures and checks, and no lesson under the name that it had before."""
    build = small / "build" / "student"
    for lesson in ("01-a.ipynb", "02-a.ipynb"):
        folders.replace(student.write_student_edition, build)
        found = {path.relative_to(build).as_posix() for path in small.glob("build/**/*") if path.is_file()}
        assert found == {lesson, "pytorch/01-b.ipynb", "img/a.svg", "pytorch/checks_pytorch/rules.py", "AGENTS.md",
                         folders.MARK}
        (small / "notebooks" / lesson).rename(small / "notebooks" / "02-a.ipynb")


@pytest.mark.parametrize("place", ["notebooks", "notebooks/img/a.svg", "."])
def test_nothing_else_is_replaced(small, place):
    """A folder or file that this command did not make stays as it is."""
    before = sorted(small.rglob("*"))
    with pytest.raises(SystemExit, match="was not made by this command"):
        folders.replace(student.write_student_edition, (small / place).resolve())
    assert sorted(small.rglob("*")) == before


def test_a_broken_lesson_is_named(small):
    """If a lesson is not a notebook, the command ends with the lesson's name and leaves nothing half written."""
    (small / "notebooks" / "pytorch" / "01-b.ipynb").write_text("{ cut o")
    for write in (student.write_student_edition, deck.write_slides):
        with pytest.raises(SystemExit, match=r"01-b\.ipynb is not a notebook"):
            folders.replace(write, small / "build" / "edition")
    assert [*(small / "build").iterdir()] == []


@pytest.mark.parametrize(("arguments", "error", "words"), [
    (["site", "--repository", "foo"], None, "'foo' is not of the form owner/name"),
    (["student"], OSError(28, "No space left on device"), r"out: No space left on device\. Nothing that you wrote"),
    (["student"], shutil.Error([("a", "b", "a reason"), ("c", "d", "another")]), r"out: a reason\. Nothing that you"),
    (["grade"], zipfile.BadZipFile(say("{a} file", a="no zip")), "out: no zip file$"),
    (["grade"], KeyboardInterrupt(), "^interrupted: the same command goes on from here$"),
])
def test_an_error_is_one_sentence(small, monkeypatch, capsys, arguments, error, words):
    """A wrong argument, a full disk, a bad zip file or Ctrl-C ends the command with a sentence that says why."""
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(sys, "argv", ["editions", *arguments, str(small / "out")])
    monkeypatch.setattr(shutil, "copytree", fail)
    monkeypatch.setattr(grade, "grade", fail)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    assert re.search(words, f"{ended.value} {capsys.readouterr().err}".strip())


def test_an_edition_must_be_named(monkeypatch, capsys):
    """Without the name of an edition the command ends, and says that it needs one."""
    monkeypatch.setattr(sys, "argv", ["editions"])
    with pytest.raises(SystemExit):
        __main__.main()
    assert "required: EDITION" in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "written"), [
    (["copies"], ["copies"]), (["student"], ["student"]), (["slides"], ["slides"]),
    (["slides", "--pdf"], ["slides", "printed by a browser"]),
    (["site", "--repository", "owner/name"], ["site for owner/name, PDF: False, EPUB: False"]),
    (["student", "--language", "zh"], ["student in zh"]),
    (["site", "--repository="], ["site for , PDF: False, EPUB: False"]),
    (["site", "--pdf"], ["site for None, PDF: True, EPUB: False"]),
    (["site", "--epub"], ["site for None, PDF: False, EPUB: True"]),
], ids=str)
def test_each_command_writes_its_edition(monkeypatch, arguments, written):
    """Each of the words that `make` gives writes one edition; PDFs are printed only if they are asked for."""
    done = []
    for name, module, writes in (("copies", copies, "write_readers_copies"), ("slides", deck, "write_slides"),
                                 ("student", student, "write_student_edition")):
        monkeypatch.setattr(module, writes, lambda folder, translation, name=name: done.append(
            f"{name} in {translation.language}" if translation.language else name))
    monkeypatch.setattr(pages, "write_site", lambda folder, repository, pdf, epub, translation: done.append(
        f"site for {repository}, PDF: {pdf}, EPUB: {epub}"))
    monkeypatch.setattr(deck, "print_slides", lambda folder, browser: done.append(f"printed by {browser}"))
    monkeypatch.setattr(browsers, "chromium", lambda: contextlib.nullcontext("a browser"))
    monkeypatch.setattr(folders, "replace", lambda write, folder: write(folder))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["editions", *arguments, "build/edition"])
    __main__.main()
    assert done == written


def test_stored_lessons_in_another_language(small, monkeypatch):
    """Each lesson is written as it is stored, beside what it uses, to be presented in another language."""
    folder = small / "stored"
    monkeypatch.setattr(sys, "argv", ["editions", "stored", "--language", "zh", str(folder)])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    __main__.main()
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == {
        "01-a.ipynb", "pytorch/01-b.ipynb", "img/a.svg", "pytorch/checks_pytorch/rules.py",
        "pytorch/checks_pytorch/messages.mo", folders.MARK}
    assert [cell.source for cell in cells(folder / "01-a.ipynb")] == ["A title", "Only for the speaker", "42"]


@pytest.mark.parametrize(("words", "passed_on"), [
    ([], []), (["--"], []), (["--", "--no-browser", "--ServerApp.port=1", "--", "x"], ["--no-browser",
                                                                                     "--ServerApp.port=1", "--", "x"]),
], ids=str)
def test_jupyter_gets_its_own_arguments(tmp_path, monkeypatch, words, passed_on):
    """The lab opens a folder at an address, in a language, and passes what follows `--` on to JupyterLab as it is."""
    launched = []
    launch = SimpleNamespace(launch=lambda *arguments: launched.append(arguments))
    monkeypatch.setitem(sys.modules, "editions.lab.launch", launch)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    for options, expected in (([], ("127.0.0.1", "")), (["--ip", "0.0.0.0", "--language", "zh"], ("0.0.0.0", "zh"))):
        monkeypatch.setattr(sys, "argv", ["editions", "lab", str(tmp_path), *options, *words])
        __main__.main()
        assert launched.pop() == (tmp_path, *expected, passed_on)


def test_translators_see_an_error_in_a_sentence(monkeypatch):
    """If the translations cannot be written, the command says why in a sentence, though it is given no folder."""
    def fail():
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(translations, "update_all", fail)
    monkeypatch.setattr(sys, "argv", ["editions", "translations"])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit, match=r"editions: No space left on device\. Nothing"):
        __main__.main()


@pytest.mark.parametrize(("name", "node", "words"), [
    ("firefox", None, "apt-get install chromium"), ("chromium", "/bin/false", "Playwright does not start here"),
    *((name, None, f"/{name} does not start here") for name in ("chromium", "chromium-browser", "google-chrome"))])
def test_a_chromium_that_is_not_there_is_told(tmp_path, monkeypatch, name, node, words):
    """Where Chromium is missing or is only a stub, or Playwright does not start, the error says so in a line."""
    if node:
        monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", node)
    (tmp_path / name).write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os.path, "exists", lambda path: path == str(tmp_path / name))
    with ThreadPoolExecutor() as elsewhere:  # Playwright may run in this thread already, for other tests
        told = elsewhere.submit(browsers.chromium().__enter__).exception()
    assert re.search(words, str(told))
    assert "\n" not in str(told)


@pytest.mark.slow
def test_a_terminated_command_leaves_nothing(tmp_path):
    """A command that gets SIGTERM while it writes removes what it has written so far."""
    command = [sys.executable, "-m", "editions", "slides", tmp_path / "build" / "slides"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as writing:
        while not [*tmp_path.glob("build/.*/slides/*.html")]:
            assert writing.poll() is None
            time.sleep(0.05)
        writing.terminate()
    assert writing.returncode != 0
    assert [*(tmp_path / "build").iterdir()] == []


def update(lesson, text):
    """Change the first cell of a lesson, and write the readers' copies."""
    book = nbformat.read(lessons.FOLDER / lesson, as_version=4)
    book.cells[0].source = text
    nbformat.write(book, lessons.FOLDER / lesson)
    copies.write_readers_copies(lessons.FOLDER.parent / "mine")


def test_the_readers_own_copy(small, capsys):
    """A reader's copy has the solutions and follows the lesson; once the reader changes it, updates go beside it."""
    folder = small / "mine"
    copies.write_readers_copies(folder)
    own = folder / "01-a.ipynb"
    beside = folder / "01-a (update 1).ipynb"
    other = folder / "pytorch" / "01-b.ipynb"
    assert (other.parent / "checks_pytorch" / "rules.py").exists()
    update("01-a.ipynb", "A newer title")
    assert [cell.source for cell in cells(own)] == ["A newer title", "42"]
    written = own.read_text().replace("42", "my answer")
    own.write_text(written)
    other.write_text("{ cut o")
    for text in ("New", "Newer", "Newer"):
        update("01-a.ipynb", text)
        update("pytorch/01-b.ipynb", text)
        assert own.read_text() == written
        assert other.read_text() == "{ cut o"
        assert cells(beside)[0].source == text
    assert f"01-a has a new version: {beside}; yours stays as it is" in capsys.readouterr().out
    assert len([*small.glob("mine/**/*.ipynb")]) == 4


@pytest.mark.parametrize(("language", "words"), [(None, "Never write an answer"), ("zh", "绝不写出习题的答案")])
def test_an_assistant_is_asked_to_tutor(small, monkeypatch, language, words):
    """Copies and student edition have their pages in their language; in copies a reader may change AGENTS.md."""
    translation = translations.Translation(language)
    (lessons.FOLDER / "for-instructors.md").write_text("A page")
    student.write_student_edition(small / "student", translation)
    assert words in (small / "student" / "AGENTS.md").read_text(encoding="utf-8")
    own = small / "mine" / "AGENTS.md"
    copies.write_readers_copies(small / "mine", translation)
    assert words in own.read_text(encoding="utf-8")
    monkeypatch.setattr(translation, "page", lambda name: f"A newer {name}\n")
    for changed, kept in (("", "A newer tutor\n"), ("Mine. ", "Mine. A newer tutor\n")):
        own.write_text(changed + own.read_text(encoding="utf-8"), encoding="utf-8")
        copies.write_readers_copies(small / "mine", translation)
        assert own.read_text(encoding="utf-8").startswith(kept)
    page = (small / "mine" / "for-instructors.md").read_text(encoding="utf-8")
    assert page == ("A newer for-instructors\n" if language else "A page")
    assert [path.name for path in own.parent.iterdir() if path.name.startswith(".")] == []


def test_a_copy_is_complete_or_absent(small, monkeypatch):
    """If writing fails half-way, no copy is cut short and none of the reader's files changes."""
    def write_a_part(notebook, path):
        path.write_text(nbformat.writes(notebook)[:100])
        raise OSError("full")

    def contents():
        return {path: path.read_bytes() for path in small.glob("mine/**/*.*") if path.is_file()}

    copies.write_readers_copies(small / "mine")
    (small / "mine" / "01-a.ipynb").write_text("mine")
    copies.write_new(nbformat.v4.new_notebook(), small / "mine" / "01-a.ipynb")  # as a second command would do
    before = contents()
    monkeypatch.setattr(nbformat, "write", write_a_part)
    (lessons.FOLDER / "02-c.ipynb").write_text(nbformat.writes(nbformat.v4.new_notebook()))
    with pytest.raises(OSError, match="full"):
        copies.write_readers_copies(small / "mine")
    assert contents() == before
    assert before[small / "mine" / "01-a.ipynb"] == b"mine"


def test_links_of_earlier_copies_are_renewed(small):
    """In the place of a dead link `checks`, as earlier versions made, there is a package; present checks are linked."""
    own = small / "mine" / "pytorch"
    own.mkdir(parents=True)
    (own / "checks").symlink_to("../../notebooks/pytorch/checks")
    (own / "01-b.ipynb").write_text("mine")
    copies.write_readers_copies(small / "mine")
    assert (own / "checks" / "__init__.py").read_text() == "import d2lhelpers\n"
    assert (own / "checks_pytorch").is_symlink()
    assert (own / "checks_pytorch" / "rules.py").exists()
    assert (own / "01-b.ipynb").read_text() == "mine"


def test_a_deck_opens_from_its_folder(small):
    """Remarks are notes, solutions and prompts are gone; reveal.js and other decks are where a deck looks for them."""
    links = nbformat.v4.new_markdown_cell("[on](pytorch/01-b.ipynb) [cell](01-a.ipynb#cell-id=x) [away](https://example.org/a.ipynb)")
    two = nbformat.v4.new_output("execute_result", {"text/plain": "2"}, execution_count=7)
    code = nbformat.v4.new_code_cell("1 + 1", execution_count=7, outputs=[two])
    nbformat.write(nbformat.v4.new_notebook(cells=[links, code]), lessons.FOLDER / "02-c.ipynb")
    folders.replace(deck.write_slides, small / "decks")
    pages = {str(deck.relative_to(small / "decks")): deck.read_text() for deck in small.glob("decks/**/0*.html")}
    assert pages.keys() == {"01-a.html", "02-c.html", "pytorch/01-b.html"}
    for name, page in pages.items():
        [script] = re.findall(r'src="([^":]*reveal\.js)"', page)
        assert (small / "decks" / name).parent.joinpath(script).exists()
        assert ("Only for the speaker" in page.partition('<aside class="notes">')[2]) is (name != "02-c.html")
        assert "<p>42</p>" not in page
        assert "[7]:" not in page
    assert 'href="pytorch/01-b.html"' in pages["02-c.html"]
    assert 'href="01-a.html"' in pages["02-c.html"]  # a deck has no place for each cell
    assert 'href="https://example.org/a.ipynb"' in pages["02-c.html"]
    assert not [*small.glob("decks/**/*.map"), *small.glob("decks/**/*.esm.js")]


@pytest.mark.parametrize("write", [student.write_student_edition, deck.write_slides])
def test_a_solution_of_its_own_is_left_out(small, write):
    """A notebook whose name ends in -solved is neither in the student edition nor among the decks."""
    (lessons.FOLDER / "01-a.ipynb").rename(lessons.FOLDER / "01-a-solved.ipynb")
    folders.replace(write, small / "made")
    assert [*small.glob("made/pytorch/01-b.*")]
    assert not [*small.glob("made/**/*solved*")]


def test_a_vote_has_a_slide_of_its_own(small):
    """In a deck, a question to the room is on a slide without the code that stands before it in its cell."""
    printed = nbformat.v4.new_output("stream", text="given")
    asked = nbformat.v4.new_output("display_data", {"text/plain": "Which?\n( ) 1\n( ) 2"})
    cell = nbformat.v4.new_code_cell("x = 1\nprint('given')\nvote = predict('Which?', 1, 2)", outputs=[printed, asked])
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), lessons.FOLDER / "02-c.ipynb")
    folders.replace(deck.write_slides, small / "decks")
    before, vote = (small / "decks" / "02-c.html").read_text().split("</section><section>")[-2:]
    assert "given" in before.partition("<section>")[2]
    assert "Which?" not in before.partition("<section>")[2]
    assert "( ) 1" in vote


def test_answers_stay_with_their_vote(small):
    """In a deck, a cell that names the possible answers and asks is one slide, whose code is folded."""
    asked = nbformat.v4.new_output("display_data", {"text/plain": "Which?\n( ) 1"})
    cell = nbformat.v4.new_code_cell("answers = {'1': 1}\nvote = predict('Which?', *answers)", outputs=[asked])
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), lessons.FOLDER / "02-c.ipynb")
    folders.replace(deck.write_slides, small / "decks")
    page = (small / "decks" / "02-c.html").read_text()
    folded, shown = page.split("<details class=\"measure\">")[1].split("</details>")
    assert "answers" in folded
    assert "( ) 1" in shown


@pytest.mark.parametrize(("cell", "asks"), [
    (nbformat.v4.new_code_cell("x = 1\nvote = predict('Which?', 1, 2)"), "vote = predict('Which?', 1, 2)"),
    (nbformat.v4.new_code_cell("vote = predict(\n    'Which?', *answers)"), "vote = predict('Which?', *answers)"),
    (nbformat.v4.new_code_cell("vote = predict('Which?', 1)\nprint(vote)"), None),
    (nbformat.v4.new_code_cell("code = \"vote = predict('Which?', 1)\""), None),
    (nbformat.v4.new_code_cell("vote = model.predict(data)"), None),
    (nbformat.v4.new_code_cell("vote = predicted(data)"), None),
    (nbformat.v4.new_code_cell("%%time\nvote = predict('Which?', 1)"), None),
    (nbformat.v4.new_code_cell("# vote = predict('Which?', 1)"), None),
    (nbformat.v4.new_markdown_cell("vote = predict('Which?', 1)"), None),
], ids=range(9))
def test_what_is_a_vote(cell, asks):
    """A vote is the last statement of a cell of code, and assigns what `predict` returns."""
    found = deck.vote_in(cell)
    assert (found and ast.unparse(found)) == asks


def test_cells_that_measure_are_folded(small, monkeypatch):
    """In a deck and on the site, the code of a cell tagged `measure` is folded, in a deck also what asks the room."""
    def build(arguments):
        shutil.copytree(arguments[-2], arguments[-1])

    shown = nbformat.v4.new_output("stream", text="0.5 sec")
    cell = nbformat.v4.new_code_cell("stopwatch()", outputs=[shown], metadata={"tags": ["measure"]})
    vote = nbformat.v4.new_code_cell("vote = predict('Which?', 1, 2)")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell, vote]), lessons.FOLDER / "02-c.ipynb")
    folders.replace(deck.write_slides, small / "decks")
    page = (small / "decks" / "02-c.html").read_text()
    _, stopwatch, output, asks, _ = re.split("<details class=.measure.>(.+?)</details>", page, flags=re.DOTALL)
    assert "stopwatch" in stopwatch
    assert "0.5 sec" in output
    assert "Which?" in asks
    monkeypatch.setattr("sphinx.cmd.build.build_main", build)
    monkeypatch.setenv("REPOSITORY", "")
    pages.write_site(small / "site")
    assert cells(small / "site" / "02-c.ipynb")[0].metadata.tags == ["measure", "hide-input"]


@pytest.mark.parametrize("repository", [None, "owner/name"])
def test_what_the_site_is_made_of(small, monkeypatch, repository):
    """Sphinx gets the README and all lessons: set-up and solutions folded, no remarks, and what to run first online."""
    def build(arguments):
        shutil.copytree(arguments[-2], arguments[-1])
        return len(failed)

    monkeypatch.setattr("sphinx.cmd.build.build_main", build)
    monkeypatch.setenv("REPOSITORY", "")
    failed = []
    pages.write_site(small / "site", repository)
    heading, _, _ = (ROOT / "README.md").read_text().partition(" · ")
    assert (small / "site" / "index.md").read_text().startswith(f"{heading}\n")
    assert "](01-" in (small / "site" / "index.md").read_text()
    assert (small / "site" / "install.md").read_text().startswith("# Install\n")
    assert os.environ["REPOSITORY"] == (repository or "")
    for lesson in lessons.paths():
        found = cells(small / "site" / lesson)
        tags = [cell.metadata.tags for cell in found if cell.id != "run-first"]
        assert tags == [["setup", "hide-input"], ["solution", "hide-cell"]]
        first = [(number, cell.source) for number, cell in enumerate(found) if cell.id == "run-first"]
        assert len(first) == (repository is not None and lesson.parts[0] == "pytorch")
        assert all(number == 1 and "cd name/notebooks" in text for number, text in first)
    failed.append("a page")
    with pytest.raises(SystemExit, match="was not built"):
        pages.write_site(small / "other", repository)


def test_colab_and_kaggle_run_what_the_site_shows(small, monkeypatch):
    """The weekly program runs the lines that the site shows, with the pinned PyTorch, and then the lesson."""
    ran = []

    def client(lesson, **_):
        ran.append(lesson.cells)
        return SimpleNamespace(execute=lambda: None)

    monkeypatch.setattr(colab_and_kaggle, "NotebookClient", client)
    monkeypatch.setattr(colab_and_kaggle, "ROOT", small)
    colab_and_kaggle.main("owner/name")
    note = pages.what_to_run_first("owner/name", translations.ENGLISH)
    assert "switch *Internet* on" in note
    shown = [line for line in note.splitlines() if line.startswith("    ")]
    [[first, *others]] = ran
    assert first.source == textwrap.dedent("\n".join(shown))
    assert first.source.splitlines()[-1] == "%cd name/notebooks/pytorch"
    assert not re.search("[{}]", first.source)
    pinned = [line.split()[0] for line in (ROOT / "requirements-pytorch.txt").read_text().splitlines()]
    assert set(first.source.split()) & set(pinned) == {next(each for each in pinned if each.startswith("torch=="))}
    assert others == cells(small / "notebooks" / "pytorch" / "01-b.ipynb")


def test_colab_and_kaggle_need_nothing_of_the_editions():
    """The weekly program starts with the packages that both services have: it imports none that only editions need."""
    paths = [str(ROOT), str(ROOT / "tests")]
    absent = ["polib", "sphinx", "sphinx_revealjs", "myst_nb", "myst_parser", "playwright", "pypdf", "nbval"]
    code = (f"import sys; sys.modules.update(dict.fromkeys({absent})); sys.path[:0] = {paths}; "
            "import colab_and_kaggle; print(colab_and_kaggle.lines_for('owner/name'))")
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert done.stderr == ""
    assert "%pip install" in done.stdout


@pytest.mark.parametrize("language", [None, *translations.TAGS])
def test_the_first_page_of_the_site(monkeypatch, language):
    """The first page ends with the lessons' tables and leads to pages of the site; without a heading it is an error."""
    page = pages.first_page(Translation(language))
    assert "](install.md)" in page
    assert page.rstrip().endswith("|")
    assert re.findall(r"\]\((?!http|install\.md|for-instructors\.md|img/|(?:[a-z]+/)?[\w-]+\.ipynb)[^)]*\)", page) == []
    monkeypatch.setattr(pages, "FRAME", ("## The lessons", "## No such heading"))
    with pytest.raises(SystemExit, match="No such heading"):
        pages.first_page(Translation(language))


def test_a_chapter_has_sections():
    """On the site a lesson's number stands before its title, and what is on a sub-slide is below its section."""
    texts = [("slide", "# A title"), ("slide", "## A section"), ("subslide", "## Below it"), ("subslide", "### Below")]
    lesson = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_markdown_cell(text, metadata={"slideshow": {"slide_type": kind}}) for kind, text in texts])
    book.shape_chapter(lesson, Path("deeper", "a.ipynb"))
    assert [cell.source for cell in lesson.cells] == ["# A title", "## A section", "### Below it", "### Below"]
    book.shape_chapter(lesson, Path("pytorch", "03-a.ipynb"))
    assert lesson.cells[0].source == "# 03 · A title"


# Bold words in lessons' notes that are no terms: names, letters of a formula, words that only stress something.
NO_TERMS = {"mxnet", "pytorch", "jax", "t1", "t2", "t3", "elsewhere", "elsewhere.", "training", "inference", "define",
            "run", "running", "finished", "releases the lock", "waiting and feeding", "memory and arithmetic",
            "unit of time"}


def test_a_model_is_well_formed():
    """A model is in its place and finds its scripts; it is XML as well as HTML, or EPUB readers would show an error."""
    for name, model in json.loads(book.MODELS.read_text(encoding="utf-8")).items():
        lesson = Path(name)
        notebook = lessons.read(lesson)
        book.add_model(notebook, lesson, Translation("zh"))
        place = [cell.id for cell in notebook.cells].index("model-to-play-with")
        assert notebook.cells[place - 1].id == model["after"]
        source = notebook.cells[place].source
        xml.dom.minidom.parseString(source)
        scripts = [os.path.normpath(lesson.parent / script) for script in re.findall('src="(.+?)"', source)]
        assert scripts == [f"_static/{script}.js" for script in ("words", "models", model["model"])]
        english = lessons.read(lesson)
        book.add_model(english, lesson)
        assert "words.js" not in english.cells[place].source


def two_languages(*names):
    """Return small lessons with a term in bold, by path, once with English headings and once with others."""
    def lesson(*texts):
        return nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_markdown_cell, texts)])

    return [{Path(name): lesson(f"# {word} {name[0]}", f"## Why {word}?\n\nA **shard**. Two **shards**.")
             for name in names} for word in ("one", "two")]


def test_a_link_leads_to_its_section():
    """Links of the glossary and of the formulas lead to where this edition explains it; deeper notebooks are last."""
    english, shown = two_languages("deeper/a.ipynb", "01-b.ipynb", "pytorch/02-c.ipynb")
    pages = {"glossary": "shard\n  A part.", "formulas": "[01](01-b.ipynb#why-one) [x](deeper/a.ipynb#one-d)"}
    translation = SimpleNamespace(page=pages.get, say=str.format)
    assert book.with_places(translation, english, shown) == (
        "shard\n  A part.\n\n  Explained in [01](01-b.ipynb#why-two), [PyTorch 02](pytorch/02-c.ipynb#why-two), "
        "[two d](deeper/a.ipynb#why-two).")
    assert book.with_anchors(translation, english, shown) == "[01](01-b.ipynb#why-two) [x](deeper/a.ipynb#two-d)"


def test_a_link_to_a_cell_leads_to_its_section():
    """On the site, which knows no cells, a link to a cell leads to the heading above it, in this edition's words."""
    _, shown = two_languages("pytorch/02-c.ipynb", "deeper/a.ipynb")
    lesson, deeper = shown.values()
    place = nbformat.v4.new_code_cell("1", id="count")
    lesson.cells.append(place)
    deeper.cells.append(nbformat.v4.new_markdown_cell("[c](../pytorch/02-c.ipynb#cell-id=count), [x](b.md#cell-id=y)"))
    book.lead_to_sections(shown)
    assert deeper.cells[-1].source == "[c](../pytorch/02-c.ipynb#why-two), [x](b.md#cell-id=y)"


def test_the_glossary_has_every_term():
    """Texts of up to four words in bold in lessons' notes are in the glossary; each entry is in bold in a lesson."""
    _, _, glossary = (pages.SOURCE / "glossary.md").read_text(encoding="utf-8").partition("```{glossary}")
    terms = {term.lower() for term in re.findall(r"^\w.*", glossary, re.MULTILINE)}
    lacking = set()
    notebooks = {lesson: lessons.read(lesson) for lesson in lessons.paths()}
    for notebook in notebooks.values():
        for cell in book.cells_to_read(notebook):
            if cell.metadata.get("slideshow", {}).get("slide_type") == "notes":
                found = {text.lower() for text in book.bold(cell) if len(text.split()) <= 4}
                lacking |= {text for text in found if not {text, text.removesuffix("s")} & terms}
    assert lacking - NO_TERMS == set()
    in_bold = set(book.places_of_bold(notebooks, notebooks))
    assert [term for term in sorted(terms) if not {term, f"{term}s"} & in_bold] == []


def test_your_script_has_every_lessons_lines():
    """The page with lines for the reader's own script has those of each lesson from 01 on, as they are stored."""
    notebooks = {lesson: lessons.read(lesson) for lesson in lessons.paths()}
    page = book.your_script(translations.ENGLISH, notebooks, notebooks)
    for lesson in lessons.paths():
        if lesson.parts[0] != "deeper" and not lesson.stem.startswith("00"):
            [section] = [part for part in page.split("\n## ") if f"({lesson}#" in part.splitlines()[0]]
            taken = [cell for cell in cells(lessons.FOLDER / lesson) if cell.id.startswith(("take", "script-group"))]
            code = [cell.source for cell in taken if cell.cell_type == "code"]
            assert re.findall("```python\n(.*?)\n```", section, re.DOTALL) == code
            assert code or "| your question |" in section


def global_symbols(table):
    """Return the global symbols of a symbol table and of all tables within it."""
    symbols = [symbol for symbol in table.get_symbols() if symbol.is_global()]
    for inner in table.get_children():
        symbols += global_symbols(inner)
    return symbols


@pytest.mark.parametrize("lesson", lessons.paths(), ids=str)
def test_nothing_needs_a_solution(lesson):
    """No cell uses a name that only a solution defines, so the student edition runs to its end."""
    defined = set(dir(builtins))
    used = {}
    for cell in cells(lessons.FOLDER / lesson, "solution"):
        if cell.cell_type == "code":
            source = "\n".join(line for line in cell.source.splitlines() if not line.startswith(("%", "!")))
            symbols = global_symbols(symtable.symtable(source, cell.id, "exec"))
            defined |= {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()}
            used[cell.id] = {symbol.get_name() for symbol in symbols}
    for cell_id, names in used.items():
        assert names - defined == set(), cell_id


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    """Make the decks as `make slides` does, and return their folder."""
    folder = tmp_path_factory.mktemp("decks")
    folders.replace(deck.write_slides, folder)
    return folder


SMALL, LARGE = (1280, 720), (1920, 1080)  # a larger screen shows the same slides enlarged: one deck is tried on both


def walk(page, deck, *screens):
    """Go through the slides of a deck on each screen; return the faults of each slide, and the addresses requested."""
    go = f"""() => {{
        const found = [];
        for (const slide of Reveal.getSlides()) {{
            Reveal.slide(...Object.values(Reveal.getIndices(slide)));
            found.push([Reveal.getCurrentSlide().innerText.slice(0, 40), ({FAULTS})()]);
        }}
        return found;
    }}"""
    slides = {}
    asked = []
    def log(request):
        asked.append(request.url)

    page.on("request", log)
    for width, height in screens:
        page.set_viewport_size({"width": width, "height": height})
        page.goto(deck.as_uri())
        page.wait_for_selector(".reveal.ready")
        for number, (text, faults) in enumerate(page.evaluate(go)):  # in one call: the browser need not draw each slide
            slides[width, number, text] = faults
        page.evaluate("() => new Promise(requestAnimationFrame)")  # draws, and so requests what the last one shows
    page.remove_listener("request", log)
    return slides | {"asked": [url for url in asked if url.startswith("http")]}


@pytest.mark.slow
@pytest.mark.parametrize("lesson", lessons.paths(solved=False), ids=str)
def test_every_slide_fits(tab, decks, lesson):
    """No slide overflows, is empty, lacks a picture or shows an error; the deck requests nothing from the network."""
    screens = [SMALL, LARGE] if lesson.stem.startswith("03") else [SMALL]
    slides = walk(tab, decks / lesson.with_suffix(".html"), *screens)
    assert len(slides) > 5
    assert not {slide: faults for slide, faults in slides.items() if faults}


@pytest.mark.slow
def test_a_poor_slide_is_caught(tab, small):
    """The walk reports that a slide is too high and too wide, lacks a picture, shows an error, and asks the network."""
    html = ("<table style='width: 1500px; height: 800px'><td><img src='none.png' alt='none'>"
            "<img src='http://127.0.0.1:9/' alt='remote'></table>")
    error = nbformat.v4.new_output("error", ename="", evalue="", traceback=["ZeroDivisionError"])
    poor = [nbformat.v4.new_markdown_cell(html), nbformat.v4.new_code_cell("1 / 0", outputs=[error])]
    nbformat.write(nbformat.v4.new_notebook(cells=poor), lessons.FOLDER / "poor.ipynb")
    folders.replace(deck.write_slides, small / "decks")
    for _ in range(2):  # also when the page has shown it before
        found = walk(tab, small / "decks" / "poor.html", SMALL)
        assert all(word in str(found) for word in ("too high", "too wide", "no picture: none", "ZeroDivisionError"))
        assert found["asked"] == ["http://127.0.0.1:9/"]


@pytest.mark.slow
def test_unfolded_code_fits(browser, small):
    """What is printed is larger than it was while the code is folded; where it is unfolded, no line of it is cut."""
    shown = nbformat.v4.new_output("stream", text="0.5 sec")
    cell = nbformat.v4.new_code_cell(f"stopwatch('{'x' * 79}')", outputs=[shown], metadata={"tags": ["measure"]})
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), lessons.FOLDER / "02-c.ipynb")
    folders.replace(deck.write_slides, small / "decks")
    page = browsers.new_page(browser, viewport={"width": 1280, "height": 720})
    page.goto((small / "decks" / "02-c.html").as_uri())
    size = "() => parseFloat(getComputedStyle(document.querySelector('.jp-OutputArea-output pre')).fontSize)"
    page.wait_for_selector(".reveal.ready")
    folded = page.evaluate(size)
    page.click("summary")
    page.wait_for_function(f"({size})() < {folded}")
    assert folded > 30
    assert page.evaluate(FAULTS) == []
    page.close()


@pytest.mark.slow
def test_only_the_speaker_sees_remarks(browser, small):
    """Remarks for instructors are on no slide, only in the window that the key S opens; a deck has no solutions."""
    folders.replace(deck.write_slides, small / "decks")
    page = browsers.new_page(browser)
    page.goto((small / "decks" / "01-a.html").as_uri())
    page.wait_for_selector("text=A title")
    assert page.inner_text(".slides").strip() == "A title"
    with page.context.expect_page() as opened:
        page.keyboard.press("s")
    opened.value.wait_for_selector("text=Only for the speaker")


@pytest.mark.slow
def test_a_prediction_can_be_clicked(browser, small):
    """A prediction's answers are buttons, the last one clicked is marked; the result is hidden until the next step."""
    question = nbformat.v4.new_output("stream", text="How many?\n( ) one\n( ) two")
    result = nbformat.v4.new_output("stream", text="It is two.")
    lesson = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_markdown_cell("## How many?"), nbformat.v4.new_code_cell("f()", outputs=[question]),
        nbformat.v4.new_code_cell("f()", outputs=[result])])
    nbformat.write(lesson, lessons.FOLDER / "asks.ipynb")
    folders.replace(deck.write_slides, small / "decks")
    page = browsers.new_page(browser)
    page.goto((small / "decks" / "asks.html").as_uri())
    for answer in ("one", "two"):
        page.click(f"button:text('{answer}')")
        assert page.locator(".chosen").all_inner_texts() == [answer]
    assert page.locator("pre:text('It is two')").is_hidden()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("pre:text('It is two')")
    page.close()


@pytest.mark.slow
def test_a_pdf_of_each_deck(browser, small):
    """The PDF beside a deck has one page per slide, as wide and high as a slide."""
    folders.replace(deck.write_slides, small / "decks")
    deck.print_slides(small / "decks", browser)
    for lesson in lessons.paths():
        pdf = (small / "decks" / lesson.with_suffix(".pdf")).read_bytes()
        assert len(re.findall(rb"/Type /Page\b", pdf)) == 1
        width, height = re.search(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", pdf).groups()
        assert float(width) / float(height) == pytest.approx(16 / 9, abs=0.01)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Make the site as `make site REPOSITORY=owner/name` does, and return its folder."""
    folder = tmp_path_factory.mktemp("site")
    folders.replace(functools.partial(pages.write_site, repository="owner/name"), folder)
    return folder


# What a person would find wrong with a page of the site.
FAULTS_OF_A_PAGE = """() => {
    document.querySelectorAll("details").forEach(each => each.open = matchMedia("screen").matches);
    const shown = [...document.querySelectorAll("article *")].filter(each => each.getClientRects().length);
    const isPhone = innerWidth <= 600;
    const wide = `pre, .pst-scrollable-table-container, .model-table${isPhone ? ", :has(> img)" : ""}`;
    const scrolls = each => matchMedia("screen").matches && each.closest(wide);
    const beyond = each => each.getBoundingClientRect().right > innerWidth + 1 && !scrolls(each);
    return [
        ...[...document.images].filter(each => !each.naturalWidth).map(each => `no picture: ${each.src}`),
        ...[...document.images].filter(each => /^$|\\.png$/.test(each.alt)).map(each => `not described: ${each.src}`),
        ...shown.filter(beyond).map(each => `cut: ${each.outerHTML.slice(0, 80)}`),
        ...shown.filter(each => each.matches(isPhone ? "pre:not(.cell_input pre)" : "pre"))
            .filter(each => each.scrollWidth > each.clientWidth).map(each => `code cut: ${each.innerText}`),
        document.documentElement.scrollWidth > innerWidth && "too wide"].filter(Boolean); }"""


def go_through(browser, site, width, searches, printed=None):
    """Open each page of a site from disk, and search for pages; return the faults, and the addresses requested.

    `searches` maps words to a page to be found. With `printed`, each page is also laid out for paper of that width.
    """
    page = browsers.new_page(browser, viewport={"width": width, "height": 844})
    faults = []
    asked = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    def log(message):  # Chromium refuses to preload a font from disk, and then loads it as the style sheet says
        if message.type == "error" and "woff2" not in message.text + message.location["url"]:
            faults.append(message.text)

    page.on("console", log)
    page.on("request", lambda request: asked.append(request.url))
    for path in site.rglob("*.html"):
        if "_static" not in path.parts:
            page.goto(path.as_uri())
            faults += [f"{path.name}: {fault}" for fault in page.evaluate(FAULTS_OF_A_PAGE)]
            if printed:
                page.emulate_media(media="print")
                page.set_viewport_size({"width": printed, "height": 844})
                faults += [f"{path.name}, printed: {fault}" for fault in page.evaluate(FAULTS_OF_A_PAGE)]
                page.emulate_media(media="screen")
                page.set_viewport_size({"width": width, "height": 844})
    for query, wanted in searches.items():
        page.goto((site / "search.html").as_uri() + f"?q={query}")
        page.wait_for_selector(f"#search-results li a[href*='{wanted}']")
    page.close()
    return faults, [url for url in asked if url.startswith("http")]


@pytest.mark.slow
@pytest.mark.parametrize(("width", "printed"), [(1280, 672), (768, None), (390, None)])
def test_every_page_of_the_site(browser, site, width, printed):
    """On wide and narrow screens and on A4 each page opens from disk, fits, has its pictures, no error, no request.

    No line of code is cut, but for the cells of lessons on a phone, which scroll.
    """
    assert go_through(browser, site, width, {"all-reduce": "multi-gpu"}, printed) == ([], [])


@pytest.mark.slow
def test_a_poor_page_is_caught(browser, tmp_path):
    """On a page of a site, what is cut, also only on paper, a missing picture, an error and a request are found."""
    (tmp_path / "search.html").write_text("<ul id='search-results'><li><a href='found.html'>found</a></ul>")
    (tmp_path / "poor.html").write_text(
        "<style>@media print { div { width: 900px } }</style><article><div>broad</div>"
        "<pre style='width: 99px; overflow: auto'>a line of code that is longer</pre></article>"
        "<img src='none.png' alt='none'><script src='http://127.0.0.1:9/'></script><script>missing()</script>")
    faults, asked = go_through(browser, tmp_path, 1280, {"words": "found"}, printed=672)
    found = "printed: cut: <div>", "poor.html: code cut: a line", "no picture", "missing is not defined"
    assert all(part in str(faults) for part in found)
    assert "poor.html: cut" not in str(faults)
    assert asked == ["http://127.0.0.1:9/"]


@pytest.mark.slow
def test_folded_code_on_a_page_opens_by_keyboard(browser, site):
    """The code of a cell that measures is folded; from the keyboard, one key opens it and closes it again."""
    page = browsers.new_page(browser)
    page.goto((site / "01-imperative-and-symbolic.html").as_uri())
    folded = page.locator("#what-does-that-save details.hide").first
    for key, shown in (("Enter", True), ("Space", False)):
        for _ in range(300):
            page.keyboard.press("Tab")
            if folded.locator("summary").evaluate("each => each === document.activeElement"):
                break
        page.keyboard.press(key)
        assert folded.locator("pre").first.is_visible() is shown
        page.keyboard.press("Shift+Tab")
    page.close()


BESIDE = ["index", "install", "formulas", "glossary", "your-script", "where-next", "for-instructors", "helpers",
          "genindex", "search"]
KINDS = ["index", "formulas", "genindex", "search", "pytorch/05-sharding"]  # the last one has a model
PAGES = [*BESIDE, *(lesson.with_suffix("").as_posix() for lesson in lessons.paths())]


def broken_rules(browser, address):
    """Return what axe finds on a page that breaks WCAG 2.2 AA, in the light and in the dark, with all unfolded.

    A model is looked at twice: with its question alone, and open.
    """
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]
    broken = []
    for theme in ("light", "dark"):
        tab = browsers.new_page(browser, color_scheme=theme)
        tab.goto(address)
        if "print-pdf" in address:
            tab.wait_for_selector(".pdf-page")
        # Colours as they are in the end.
        tab.add_style_tag(content="* { animation: none !important; transition: none !important }")
        tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        for number in range(1 + tab.locator(".model").count()):
            if number:
                tab.locator(".model button").last.click()
                tab.wait_for_selector(".model-result:not(:empty)")
            found = Axe().run(tab, options={"runOnly": rules, "resultTypes": ["violations"]}).response["violations"]
            broken += [f"{theme}: {each['id']}: {node['html']}" for each in found for node in each["nodes"]]
        tab.close()
    return broken


@pytest.mark.slow
@pytest.mark.parametrize("page", [
    pytest.param(page, marks=[] if page in KINDS else pytest.mark.weekly) for page in PAGES])
def test_a_page_is_accessible(browser, site, page):
    """In the light and in the dark, with everything unfolded, axe finds nothing that breaks WCAG 2.2 AA."""
    assert broken_rules(browser, (site / f"{page}.html").as_uri()) == []


@pytest.mark.slow
@pytest.mark.parametrize("lesson", [
    pytest.param(lesson, marks=[] if lesson.stem.startswith("03") else pytest.mark.weekly, id=str(lesson))
    for lesson in lessons.paths(solved=False)])
def test_a_deck_is_accessible(browser, decks, lesson):
    """With all slides of a deck shown, as for printing, axe finds nothing that breaks WCAG 2.2 AA."""
    assert broken_rules(browser, f"{(decks / lesson.with_suffix('.html')).as_uri()}?print-pdf") == []


def test_page_numbers_are_those_of_the_links(tmp_path):
    """A PDF's page numbers are those to which its links lead, by the documents' names, without all other names."""
    writer = pypdf.PdfWriter()
    pages = [writer.add_blank_page(10, 10) for _ in range(3)]
    places = {"/document-b/c": pages[2], "/document-a": pages[1], "/other": pages[0]}
    writer.root_object[NameObject("/Dests")] = DictionaryObject({
        NameObject(name): ArrayObject([page.indirect_reference, NameObject("/XYZ"), *3 * [NumberObject(0)]])
        for name, page in places.items()})
    writer.write(tmp_path / "book.pdf")
    assert b"/document-b#2Fc" in (tmp_path / "book.pdf").read_bytes()  # as Chromium writes it
    assert book.page_numbers(tmp_path / "book.pdf") == {"document-a": 2, "document-b/c": 3}


@pytest.mark.slow
def test_a_book_is_printed(browser, tmp_path):
    """The PDF has A4 pages with numbers, bookmarks and tags; the contents name the page on which a chapter begins."""
    css = (pages.SOURCE / "site.css").read_text(encoding="utf-8")
    chapters = "".join(f"<span id='document-{name}'></span><section><h2>{name}</h2></section>" for name in ("a", "b/c"))
    links = "<a href='#document-a'>a</a> <a href='#document-b/c'>c</a>"
    page = tmp_path / "book.html"
    page.write_text(f"<title>A</title><style>{css} h2 {{background: #ff0000}}</style>"
                    f"<div id='jb-print-toc'>{links}</div>{chapters}")
    book.print_book(page, tmp_path / "book.pdf", browsers.new_page(browser))
    pdf = (tmp_path / "book.pdf").read_bytes()
    drawn = b"".join(zlib.decompress(stream) for stream in
                     re.findall(rb"/FlateDecode[^>]*>> ?stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL))
    assert b"1 0 0 rg" in drawn  # the background
    assert len(re.findall(rb"T[jJ]\b", drawn)) >= 9  # two links with a number each, two headings, three pages' numbers
    assert book.page_numbers(tmp_path / "book.pdf") == {"document-a": 2, "document-b/c": 3}
    assert len(re.findall(rb"/MediaBox ?\[0 0 59\d\S* 84\d", pdf)) == 3
    assert all(part in pdf for part in (b"/Outlines", b"/StructTreeRoot"))


@pytest.mark.slow
@pytest.mark.weekly
def test_the_site_as_a_book(browser, tmp_path, monkeypatch):
    """`make site PDF=1 EPUB=1` also makes a PDF and an EPUB of all lessons, of a size that can be sent."""
    monkeypatch.setattr(pages, "chromium", lambda: contextlib.nullcontext(browser))
    pages.write_site(tmp_path / "site", pdf=True, epub=True)
    with zipfile.ZipFile(tmp_path / "site" / "lessons.epub") as epub:
        for name in epub.namelist():
            if name.endswith(".xhtml"):
                xml.dom.minidom.parseString(epub.read(name))
    pdf = (tmp_path / "site" / "lessons.pdf").read_bytes()
    numbers = book.page_numbers(tmp_path / "site" / "lessons.pdf")
    chapters = [numbers[f"document-{name}"] for name in ("00-start-here", "pytorch/11-make-it-fast", "helpers")]
    assert 1 < chapters[0] < chapters[1] < chapters[2] < 900
    assert len(pdf) < 60e6


@pytest.mark.slow
def test_every_link_of_the_site(site):
    """Every link within the site leads to a page that exists, and to an anchor on it; terms lead to the glossary."""
    pages = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html") if "_static" not in path.parts}
    anchors = {path: set(re.findall(' id="([^"]+)"', text)) for path, text in pages.items()}
    lost = set()
    for path, text in pages.items():
        for link in re.findall('<a [^>]*href="(?![a-z]+:)([^"]*)"', text):
            name, _, anchor = unquote(link).partition("#")
            to = (path.parent / name).resolve() if name else path
            if not to.exists() or (to in pages and anchor and anchor not in anchors[to]):
                lost.add((path.name, link))
    assert lost == set()
    for name in ("05-sharding", "06-splitting-the-network"):
        assert '="../glossary.html#term-rank"><strong>rank</strong>' in pages[site / "pytorch" / f"{name}.html"]
    for name in ("<strong>all-reduce", "measure()"):
        assert name in pages[site / "genindex.html"]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "before", "after"), [
    ("00-start-here", "index", "01-imperative-and-symbolic"),
    ("08-make-it-fast", "07-many-machines", "deeper/a-compiler-in-forty-lines"),
    ("deeper/make-it-fast-solved", "deeper/a-thousand-machines", None),
    ("pytorch/00-start-here", None, "pytorch/01-compilers-and-interpreters"),
    ("deeper/gpt-made-fast-solved", "deeper/the-same-ideas-in-jax", None),
])
def test_previous_and_next_stay_in_a_track(site, page, before, after):
    """The links to the previous and the next page follow the order of a track, and end where it ends."""
    path = site / f"{page}.html"
    text = path.read_text(encoding="utf-8")
    for kind, to in (("left-prev", before), ("right-next", after)):
        found = re.findall(f'class="{kind}"\\s+href="([^"]+)"', text)
        assert [(path.parent / link).resolve() for link in found] == ([site / f"{to}.html"] if to else [])


@pytest.mark.slow
@pytest.mark.parametrize("lesson", lessons.paths(), ids=str)
def test_a_page_of_the_site(site, lesson):
    """A page offers its notebook, the repository, Binder and, for PyTorch, Colab and Kaggle, but no remarks."""
    page = (site / lesson.with_suffix(".html")).read_text(encoding="utf-8")
    assert "For instructors." not in page
    assert "fullscreen-button" not in page  # every browser has a key for that
    assert "home-link" in page
    assert 'href="https://github.com/owner/name"' in page
    assert f"mybinder.org/v2/gh/owner/name/main?urlpath=lab/tree/notebooks/{lesson}" in page
    file = f"owner/name/blob/main/notebooks/{lesson}"
    opened = [f"{OPENS[name]}{file}" for name in ("Colab", "Kaggle")]
    for words in (*opened, "git clone -q --depth 1 https://github.com/owner/name"):
        assert (words in page) is (lesson.parts[0] == "pytorch")
    assert (site / "_sources" / lesson).exists()
