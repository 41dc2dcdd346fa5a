"""What is handed out: decks, walked slide by slide in a real browser, and the student edition."""
import subprocess
import sys

import nbformat
import pytest
from test_lessons import LESSONS as PATHS
from test_lessons import ROOT

LESSONS = [path.relative_to(ROOT / "notebooks").with_suffix("") for path in PATHS]
SIZES = {"720p": (1280, 720), "1080p": (1920, 1080)}
HIGHEST, WIDEST = 720, 1280  # what a slide may hold; the browser scales it to the screen

# Shows the fragments of the slide, and returns what a person would find wrong with it.
FAULTS = """
([highest, widest]) => {
    const slide = Reveal.getCurrentSlide(), scale = Reveal.getScale(), faults = [];
    slide.querySelectorAll(".fragment").forEach(each => each.classList.add("visible"));
    const box = slide.getBoundingClientRect();
    const low = Math.max(0, ...[...slide.querySelectorAll(".jp-Cell")].map(
        cell => cell.getBoundingClientRect().bottom - box.top)) / scale;
    if (low > highest) faults.push(`${Math.round(low)} pixels high`);
    if (low < 20) faults.push("empty");
    for (const each of slide.querySelectorAll("pre, table, img, svg")) {
        if (each.scrollWidth > each.clientWidth + 2 && each.clientWidth > 0) faults.push(`cut off: ${each.innerText}`);
        const right = (each.getBoundingClientRect().right - box.left) / scale;
        if (right > widest) faults.push(`${Math.round(right)} pixels wide`);
    }
    for (const image of slide.querySelectorAll("img"))
        if (!image.complete || image.naturalWidth == 0) faults.push(`no picture: ${image.alt}`);
    if (slide.querySelector("[data-mime-type='application/vnd.jupyter.error'], [data-mime-type$='stderr']"))
        faults.push("an error");
    return faults;
}
"""


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    """Make the decks as `make slides` does, and return their folder."""
    folder = tmp_path_factory.mktemp("decks")
    subprocess.run([sys.executable, "editions/make.py", "slides", folder], cwd=ROOT, check=True, timeout=200)
    return folder


def walk(page):
    """Go through all slides; return what is wrong with each that has a fault, and how many slides there are."""
    page.wait_for_function("window.Reveal && Reveal.isReady()")
    count, found = page.evaluate("Reveal.getTotalSlides()"), {}
    for number in range(1, count + 1):
        faults = page.evaluate(FAULTS, [HIGHEST, WIDEST])
        if faults:
            title = page.evaluate("Reveal.getCurrentSlide().innerText.slice(0, 40)")
            found[f"slide {number}, {title!r}"] = faults
        page.evaluate("Reveal.next()")
    return found, count


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("lesson", LESSONS, ids=str)
def test_every_slide_fits(browser, decks, lesson, size):
    """No slide overflows, is empty, misses a picture or shows an error, and the deck asks the network for nothing."""
    width, height = SIZES[size]
    page = browser.new_page(viewport={"width": width, "height": height})
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((decks / lesson.with_suffix(".html")).as_uri())
    found, count = walk(page)
    page.close()
    assert not found, found
    assert count > 5
    assert not [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]


def test_a_deck_has_notes_and_no_solutions(decks):
    """Speaker notes are in the deck, not on its slides; solutions are not in it; links lead to other decks."""
    for lesson in LESSONS:
        page = (decks / lesson.with_suffix(".html")).read_text()
        notebook = nbformat.read(ROOT / "notebooks" / lesson.with_suffix(".ipynb"), as_version=4)
        for cell in notebook.cells:
            shown = f'id="cell-id={cell.id}"' in page
            assert shown is (cell.metadata.slideshow.slide_type != "skip"), (lesson, cell.id)
            assert not (shown and "solution" in cell.metadata.get("tags", [])), (lesson, cell.id)
        assert page.count('<aside class="notes">') == sum(
            cell.metadata.slideshow.slide_type == "notes" for cell in notebook.cells) > 0
        assert ".ipynb\"" not in page


def test_the_speaker_view_opens(browser, decks):
    """The key S opens the speaker's window with the notes of the slide, with no network."""
    context = browser.new_context()
    page = context.new_page()
    page.goto((decks / LESSONS[0].with_suffix(".html")).as_uri())
    page.wait_for_function("window.Reveal && Reveal.isReady()")
    notes = page.evaluate("document.querySelector('aside.notes').innerText.trim().slice(0, 40)")
    page.evaluate("Reveal.slide(...Object.values(Reveal.getIndices(document.querySelector('aside.notes').parentElement)))")
    with context.expect_page() as opened:
        page.keyboard.press("s")
    opened.value.wait_for_selector(f"text={notes[:20]}", timeout=20_000)
    context.close()


@pytest.mark.parametrize("fault", ["tall", "wide", "empty", "no picture", "an error"])
def test_a_poor_slide_is_caught(browser, tmp_path, decks, fault):
    """Each fault that the walk looks for is found where it was put in."""
    poor = {
        "tall": "<div class='jp-Cell' style='height: 730px'>x</div>",
        "wide": "<div class='jp-Cell' style='height: 99px'><table style='width: 1500px'><tr><td>x</table></div>",
        "empty": "<div class='jp-Cell'></div>",
        "no picture": "<div class='jp-Cell' style='height: 99px'><img src='none.png' alt='none'></div>",
        "an error": "<div class='jp-Cell' style='height: 99px'>"
                    "<pre data-mime-type='application/vnd.jupyter.error'>x</pre></div>",
    }[fault]
    (decks / "poor.html").write_text(
        "<link rel='stylesheet' href='reveal.js/dist/reveal.css'><div class='reveal'><div class='slides'><section>"
        f"{poor}</section></div></div><script src='reveal.js/dist/reveal.js'></script>"
        "<script>Reveal.initialize({width: 1280, height: 720, center: false})</script>")
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto((decks / "poor.html").as_uri())
    page.wait_for_load_state()
    found, count = walk(page)
    page.close()
    assert count == 1
    [[words]] = found.values()
    assert {"tall": "pixels high", "wide": "pixels wide"}.get(fault, fault) in words


def test_the_student_edition_has_no_solutions(tmp_path):
    """Without solutions and outputs, all else is there: exercises, checks, figures and scripts."""
    subprocess.run([sys.executable, "editions/make.py", "student", tmp_path], cwd=ROOT, check=True, timeout=100)
    for lesson in LESSONS:
        whole = nbformat.read(ROOT / "notebooks" / lesson.with_suffix(".ipynb"), as_version=4).cells
        cells = nbformat.read(tmp_path / lesson.with_suffix(".ipynb"), as_version=4).cells
        assert [c.id for c in cells] == [c.id for c in whole if "solution" not in c.metadata.get("tags", [])]
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
        assert any("exercise" in cell.metadata.get("tags", []) for cell in cells)
    assert {path.name for path in (tmp_path / "img").iterdir()} == {p.name for p in (ROOT / "notebooks/img").iterdir()}
    assert all((tmp_path / folder / "rise.css").is_file() for folder in {lesson.parent for lesson in LESSONS})


@pytest.mark.parametrize("lesson", LESSONS, ids=str)
def test_nothing_needs_a_solution(lesson):
    """No cell outside the solutions uses a name that only a solution gives: the student edition runs to its end."""
    import builtins
    import symtable

    cells = [cell for cell in nbformat.read(ROOT / "notebooks" / lesson.with_suffix(".ipynb"), as_version=4).cells
             if cell.cell_type == "code"]
    given, lacking = set(dir(builtins)), {}
    for cell in cells:
        if "solution" in cell.metadata.get("tags", []):
            continue
        source = "\n".join(line for line in cell.source.splitlines() if not line.startswith(("%", "!")))
        top = symtable.symtable(source, cell.id, "exec")
        tables, names = [top], set()
        while tables:
            table = tables.pop()
            tables += table.get_children()
            names |= {s.get_name() for s in table.get_symbols() if s.is_global() or (table is top)}
        given |= {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace()}
        if names - given:
            lacking[cell.id] = names - given
    later = {name for names in lacking.values() for name in names} - given
    assert not later, lacking
