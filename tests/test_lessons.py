"""The lessons' own rules, and that nbval notices a lesson that breaks its promise."""
import io
import itertools
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

ROOT = Path(__file__).parent.parent
LESSONS = [path for pattern in ("*.ipynb", "[!.]*/*.ipynb") for path in sorted((ROOT / "notebooks").glob(pattern))
           if not path.name.startswith(".")]
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
LOCAL_PATH = re.compile(r"(?<![\w.:/])/(?:home|root|Users|tmp|opt|usr|var|work|mnt|private)/[\w./-]+|site-packages")
MAX_BYTES = 300 * 1024
MAX_WIDTH = 92  # characters of code that fit beside the file browser on a screen of 1280 pixels
SLIDE_TYPES = {"slide", "subslide", "fragment", "skip", "notes", "-"}

# An hour: what a lesson may hold before its exercises, or a deeper notebook in all. Code is counted in tokens, so that
# squeezing it gains nothing. Readers took a minute for 100 words, and for 60 tokens.
HOUR = {"words": 2000, "code cells": 40, "tokens": 2200, "longest cell": 140, "set-up": 160, "slides": 32,
        "predictions": 6, "minutes": 55}
DEEPER = {"words": 1600, "code cells": 32, "tokens": 1600, "longest cell": 140, "set-up": 160}
CHECK_LINES = 4
COUNTED = tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING


def name(path):
    """Return a lesson's name: its path below notebooks/, without the suffix."""
    return path.relative_to(ROOT / "notebooks").with_suffix("").as_posix()


def tags(cell):
    """Return the tags of a cell."""
    return set(cell.metadata.get("tags", []))


def text_of(output):
    """Return all the text in one output of a cell."""
    data = output.get("data", {})
    return output.get("text", "") + "".join(data.get(kind, "") for kind in ("text/plain", "text/html")) + \
        "\n".join(output.get("traceback", []))


def cell_faults(cell, number, folder):
    """Return what breaks a rule in one cell."""
    if cell.metadata.get("slideshow", {}).get("slide_type") not in SLIDE_TYPES:
        yield "no slide type"
    if LOCAL_PATH.search(cell.source):
        yield f"a local path: {LOCAL_PATH.search(cell.source).group()}"
    if cell.cell_type == "markdown":
        for image, text, target in LINK.findall(cell.source):
            if not re.match(r"https?://|#", target) and not (folder / target.partition("#")[0]).exists():
                yield f"a link to {target}, which does not exist"
            if image and len(text) < 20:
                yield f"{target} has no text alternative"
        return
    if max(map(len, cell.source.splitlines()), default=0) > MAX_WIDTH:
        yield f"a line of code longer than {MAX_WIDTH} characters"
    if cell.execution_count != number:
        yield f"execution count {cell.execution_count}, not {number}: not executed in order from a fresh kernel"
    if re.search(r"^\s*#\s*(NBVAL_|nbval-)\w+[^\w\n]", cell.source + "\n", re.MULTILINE):
        yield "an nbval mark with more on its line, which nbval does not read: use a tag"
    for output in cell.outputs:
        if output.output_type == "error" and "raises-exception" not in tags(cell):
            yield f"an error: {output.ename}"
        if output.get("name") == "stderr":
            yield "output on stderr"
        if LOCAL_PATH.search(text_of(output)):
            yield f"a local path in its output: {LOCAL_PATH.search(text_of(output)).group()}"
        if re.search(r" at 0x[0-9a-f]+", text_of(output)):
            yield "an object's address in its output"
        if "image/svg+xml" in output.get("data", {}):
            yield "a plot stored as SVG, which nbval would compare: leave plots PNG"


def exercise_faults(cells):
    """Return what breaks a rule in the exercises: heading, cell to try in, check, and a solution that passes it."""
    numbers = [number for number, cell in enumerate(cells) if cell.cell_type == "markdown"
               and re.search(r"^#+ (Exercise \d|Fine print)", cell.source, re.MULTILINE)]
    for start, end in zip(numbers, [*numbers[1:], len(cells)], strict=True):
        heading = re.search(r"^#+ (Exercise \d|Fine print).*", cells[start].source, re.MULTILINE)
        if heading[1] == "Fine print":
            continue
        inside = [cell for cell in cells[start:end] if cell.cell_type == "code"]
        kinds = [tags(cell) & {"exercise", "check", "solution"} for cell in inside]
        if not kinds or kinds[0] != {"exercise"}:
            yield f"{heading[0]}: no cell tagged `exercise` to try in"
        checks = [cell for cell, kind in zip(inside, kinds, strict=True) if kind == {"check"}]
        if not checks or not all("no answer yet" in "".join(map(text_of, cell.outputs)) for cell in checks):
            yield f"{heading[0]}: no cell tagged `check` that finds no answer yet"
        if any(len(cell.source.splitlines()) > CHECK_LINES for cell in checks):
            yield f"{heading[0]}: a check of more than {CHECK_LINES} lines: its rules live in checks/"
        solutions = [cell for cell, kind in zip(inside, kinds, strict=True) if kind == {"solution"}]
        if not any("assert" in cell.source for cell in solutions):
            yield f"{heading[0]}: no solution that asserts anything"
        elif not any(re.search("^right$", text_of(output), re.MULTILINE) for c in solutions for output in c.outputs):
            yield f"{heading[0]}: its solution does not pass its check"
        if any(not cell.metadata.get("jupyter", {}).get("source_hidden") for cell in solutions + checks):
            yield f"{heading[0]}: a solution or a check that is not collapsed"


def faults(notebook, folder=ROOT / "notebooks"):
    """Return what breaks a rule of the lessons, each with the cell where it is."""
    cells, found, number = notebook.cells, [], 0
    for cell in cells:
        number += cell.cell_type == "code"
        found += [f"cell {cell.get('id')}: {fault}" for fault in cell_faults(cell, number, folder)]
    found += exercise_faults(cells)
    ids = [cell.get("id") for cell in cells]
    if None in ids or len(set(ids)) < len(ids):
        found.append("cells without ids of their own")
    if "widgets" in notebook.metadata:
        found.append("stored widget state")
    code = [cell for cell in cells if cell.cell_type == "code"]
    unread = sum("nbval-ignore-output" in tags(cell) for cell in code)
    if unread > max(1, len(code) // 20):
        found.append(f"{unread} of {len(code)} code cells whose output is not compared: one in twenty at most")
    if not any("assert " in cell.source for cell in code):
        found.append("nothing is asserted")
    start = "\n".join(cell.source for cell in cells[:3])
    if not (start.startswith("# ") and "**You will**" in start and "**You need**" in start):
        found.append("it does not start with a title, **You will** and **You need**")
    return found


def tokens(cell):
    """Return how many names, numbers, strings and operators a code cell has, leaving out what IPython alone reads."""
    source = re.sub(r"^\s*[%!].*$", "", cell.source, flags=re.MULTILINE)
    return sum(each.type in COUNTED for each in tokenize.generate_tokens(io.StringIO(source).readline))


def words_in(text):
    """Return how many words a text has, without code, formulas, links' targets and tables."""
    text = re.sub(r"```.*?```|\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|<[^>]+>|\]\([^)]*\)", " ", text, flags=re.DOTALL)
    text = re.sub(r"^\s*\|.*$", " ", text, flags=re.MULTILINE)
    return len(re.findall(r"[A-Za-z0-9]+(?:['’-][A-Za-z]+)?", text))


def size(notebook):
    """Return the figures of `HOUR` for what stands before the exercises, set-up and instructors' remarks left out."""
    end = next((number for number, cell in enumerate(notebook.cells) if re.match("#+ Exercises", cell.source)), None)
    core = [cell for cell in notebook.cells[:end] if cell.source.strip() and not tags(cell) & {"setup", "instructor"}]
    words = sum(words_in(cell.source) for cell in core if cell.cell_type == "markdown")
    code = [cell for cell in core if cell.cell_type == "code"]
    lengths = [tokens(cell) for cell in code]
    return {"words": words, "code cells": len(code), "tokens": sum(lengths), "longest cell": max(lengths, default=0),
            "set-up": sum(tokens(cell) for cell in notebook.cells if "setup" in tags(cell)),
            "slides": sum(cell.metadata.slideshow.slide_type in ("slide", "subslide") for cell in core),
            "predictions": sum("predict(" in cell.source for cell in code),
            "minutes": round(words / 100 + sum(lengths) / 60)}


@pytest.mark.parametrize("path", LESSONS, ids=name)
def test_lesson_keeps_the_rules(path):
    """Every lesson keeps every rule, and is small."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert faults(notebook, path.parent) == []
    assert path.stat().st_size < MAX_BYTES


@pytest.mark.parametrize("path", LESSONS, ids=name)
def test_lesson_takes_an_hour(path):
    """What precedes a lesson's exercises is read in an hour, in the minutes promised; deeper notebooks are shorter."""
    notebook = nbformat.read(path, as_version=4)
    figures = size(notebook)
    limits = DEEPER if "deeper" in path.parts else HOUR
    assert not {what: figures[what] for what, most in limits.items() if figures[what] > most}
    promised = re.search(r"\*\*Minutes\*\* (\d+)", notebook.cells[0].source)
    assert "deeper" in path.parts or abs(int(promised[1]) - figures["minutes"]) <= 5, figures["minutes"]


def test_every_lesson_is_in_the_table():
    """README.md and 00-start-here.ipynb link to every lesson there is."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    start = nbformat.read(ROOT / "notebooks" / "00-start-here.ipynb", as_version=4)
    links = {target for cell in start.cells for _, _, target in LINK.findall(cell.source)}
    for path in LESSONS:
        assert f"({path.relative_to(ROOT).as_posix()})" in readme, path.name
        assert f"{name(path)}.ipynb" in links or name(path) == "00-start-here", path.name


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE-text.md",
                                  "notebooks/for-instructors.md"])
def test_links_of_a_page_lead_somewhere(page):
    """A page links to what exists, or to the issues on the page's own host, with a form that exists."""
    for _, _, target in LINK.findall((ROOT / page).read_text(encoding="utf-8")):
        issues = re.fullmatch(r"\.\./\.\./issues(?:/new\?template=(.+))?", target)
        place = ROOT / ".github" / "ISSUE_TEMPLATE" / (issues[1] or "") if issues else (ROOT / page).parent / target
        assert re.match(r"https?://|#", target) or place.exists(), target


def test_every_tag_is_explained():
    """CONTRIBUTING.md has a row for every tag that a lesson uses, and for no other."""
    used = {tag for path in LESSONS for cell in nbformat.read(path, as_version=4).cells for tag in tags(cell)}
    rows = re.findall(r"^\| `(.+?)` \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted({re.sub("^claim:.+", "claim:<null>", tag) for tag in used})


def test_each_lesson_leads_to_the_next():
    """Every lesson links to the next, the one before and its track's start; a deeper notebook to where it came from."""
    links = {path: {(path.parent / target).resolve() for cell in nbformat.read(path, as_version=4).cells
                    if cell.cell_type == "markdown" for _, _, target in LINK.findall(cell.source)} for path in LESSONS}
    for folder in {path.parent for path in LESSONS}:
        start = (folder.parent if folder.name == "deeper" else folder) / "00-start-here.ipynb"
        track = [path for path in LESSONS if path.parent == folder]
        for before, after in itertools.pairwise(track) if folder.name != "deeper" else ():
            assert after in links[before], f"{before.name} does not lead to {after.name}"
            assert before in links[after], f"{after.name} does not lead back to {before.name}"
        for path in track:
            assert start in links[path] or path == start, f"{path.name} does not lead to {start.name}"
            if folder.name == "deeper":
                assert any(path in links[each] and each != start for each in links[path] & set(LESSONS)), path.name


@pytest.mark.parametrize(("source", "words"), [
    ("# NBVAL_IGNORE_OUTPUT: no two are alike\nprint(1)", "which nbval does not read"),
    ("open('/home/me/x')", "a local path"), ("x" * 93, "longer than 92"), ("print(1)", "not executed in order")])
def test_a_broken_rule_is_reported(source, words):
    """A cell that breaks a rule is reported in words that name it; a mark that nbval reads is none of them."""
    def found(source):
        cell = new_code_cell(source, execution_count=7, metadata={"slideshow": {"slide_type": "-"}})
        return list(cell_faults(cell, 6 if source == "print(1)" else 7, ROOT))

    assert any(words in fault for fault in found(source))
    assert found("# NBVAL_IGNORE_OUTPUT\n1") == []


@pytest.mark.slow
def test_nbval_compares_outputs(tmp_path):
    """Cells pass nbval if only their times differ; those that print something else, or raise, fail."""
    def printed(source, text):
        return new_code_cell(source, execution_count=1, outputs=[new_output("stream", name="stdout", text=text)])

    nbformat.write(new_notebook(cells=[
        printed("print(f'{0.1:.4f} sec')", "9 sec\n"), printed("print(3)", "4\n"),
        printed("print(f'{0.1:.4f} sec')", "9 rows\n"), printed("raise KeyError", "")],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}}), tmp_path / "lesson.ipynb")
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-o", "addopts=", "--nbval", "-rA",
                           "--nbval-sanitize-with", str(ROOT / "tests" / "sanitize.cfg"), "--rootdir", str(tmp_path),
                           "lesson.ipynb"], capture_output=True, text=True, timeout=100, cwd=tmp_path)
    assert re.findall(r"^(PASSED|FAILED) .*Cell (\d)", done.stdout, re.MULTILINE) == [
        ("PASSED", "0"), ("FAILED", "1"), ("FAILED", "2"), ("FAILED", "3")], done.stdout
