"""The lessons' own rules, and the proof that the rules and nbval's comparison can fail."""
import copy
import itertools
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

ROOT = Path(__file__).parent.parent
LESSONS = [path for pattern in ("*.ipynb", "[!.]*/*.ipynb") for path in sorted((ROOT / "notebooks").glob(pattern))
           if not path.name.startswith(".")]
SLIDE_TYPES = {"slide", "subslide", "fragment", "skip", "notes", "-"}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
LOCAL_PATH = re.compile(r"(?<![\w.:/])/(?:home|root|Users|tmp|opt|usr|var|work|mnt|private)/[\w./-]+|site-packages")
MAX_BYTES = 300 * 1024
MAX_WIDTH = 92  # characters of code that fit beside the file browser on a screen of 1280 pixels


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
    expected = "raises-exception" in cell.metadata.get("tags", [])
    for output in cell.outputs:
        if output.output_type == "error" and not expected:
            yield f"an error: {output.ename}"
        if output.get("name") == "stderr":
            yield "output on stderr"
        if LOCAL_PATH.search(text_of(output)):
            yield f"a local path in its output: {LOCAL_PATH.search(text_of(output)).group()}"
        if re.search(r" at 0x[0-9a-f]+", text_of(output)):
            yield "an object's address in its output"
        if "image/svg+xml" in output.get("data", {}):
            yield "a plot stored as SVG, which nbval would compare: leave plots PNG"
    ignored = re.search(r"# *NBVAL_(IGNORE_OUTPUT|SKIP)(.*)", cell.source)
    if ignored and len(ignored[2].strip(" :-")) < 10:
        yield "an ignore-mark without its reason"


def exercise_faults(cells):
    """Return what breaks a rule in the exercises: heading, cell to try in, check, and a solution that passes it."""
    numbers = [number for number, cell in enumerate(cells) if cell.cell_type == "markdown"
               and re.search(r"^#+ (Exercise \d|Fine print)", cell.source, re.MULTILINE)]
    for start, end in zip(numbers, [*numbers[1:], len(cells)], strict=True):
        heading = re.search(r"^#+ (Exercise \d|Fine print).*", cells[start].source, re.MULTILINE)
        if heading[1] == "Fine print":
            continue
        inside = [cell for cell in cells[start:end] if cell.cell_type == "code"]
        tags = [set(cell.metadata.get("tags", [])) & {"exercise", "check", "solution"} for cell in inside]
        if not tags or tags[0] != {"exercise"}:
            yield f"{heading[0]}: no cell tagged `exercise` to try in"
        checks = [cell for cell, tag in zip(inside, tags, strict=True) if tag == {"check"}]
        if not checks or not all("no answer yet" in "".join(map(text_of, cell.outputs)) for cell in checks):
            yield f"{heading[0]}: no cell tagged `check` that finds no answer yet"
        solutions = [cell for cell, tag in zip(inside, tags, strict=True) if tag == {"solution"}]
        if not solutions:
            yield f"{heading[0]}: no solution"
        elif not any("assert" in cell.source for cell in solutions):
            yield f"{heading[0]}: its solution asserts nothing"
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
    marks = sum("# NBVAL_" in cell.source for cell in code)
    if marks > max(1, len(code) // 20):
        found.append(f"{marks} ignore-marks in {len(code)} code cells: one in twenty at most")
    if not any("assert " in cell.source for cell in code):
        found.append("nothing is asserted")
    start = "\n".join(cell.source for cell in cells[:3])
    if not (start.startswith("# ") and "**You will**" in start and "**You need**" in start):
        found.append("it does not start with a title, **You will** and **You need**")
    return found


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_lesson_keeps_the_rules(path):
    """Every lesson keeps every rule, and is small."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert faults(notebook, path.parent) == []
    assert path.stat().st_size < MAX_BYTES


def test_every_lesson_is_in_the_table():
    """README.md and 00-start-here.ipynb link to every lesson there is, and README.md to no other."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    start = nbformat.read(ROOT / "notebooks" / "00-start-here.ipynb", as_version=4)
    links = {target for cell in start.cells for _, _, target in LINK.findall(cell.source)}
    for path in LESSONS:
        assert f"({path.relative_to(ROOT).as_posix()})" in readme, path.name
        name = path.relative_to(ROOT / "notebooks").as_posix()
        assert name in links or name == "00-start-here.ipynb", name
    for _, _, target in LINK.findall(readme):
        assert re.match(r"https?://|#", target) or (ROOT / target).exists(), target


def test_each_lesson_leads_to_the_next():
    """Every lesson links to the one before it and the one after it in its track, and to where everything is found."""
    links = {path: {(path.parent / target).resolve() for cell in nbformat.read(path, as_version=4).cells
                    if cell.cell_type == "markdown" for _, _, target in LINK.findall(cell.source)} for path in LESSONS}
    start = ROOT / "notebooks" / "00-start-here.ipynb"
    for folder in {path.parent for path in LESSONS}:
        track = [path for path in LESSONS if path.parent == folder]
        for before, after in itertools.pairwise(track):
            assert after in links[before], f"{before.name} does not lead to {after.name}"
            assert before in links[after], f"{after.name} does not lead back to {before.name}"
        for path in track:
            assert start in links[path] or path == start, f"{path.name} does not lead to {start.name}"


CHECK = """
def check(answer):
    print("no answer yet" if answer is ... else "right" if answer == 2 else "not yet")
    return answer == 2
right = check(answer)
"""


def lesson(*, output="3\n"):
    """Return a small lesson that keeps every rule."""
    def code(number, source, output, **metadata):
        return new_code_cell(source, execution_count=number, id=f"code-{number}",
                             outputs=[new_output("stream", name="stdout", text=output)] if output else [],
                             metadata={"slideshow": {"slide_type": "-"}} | metadata)

    def text(name, source):
        return new_markdown_cell(source, id=name, metadata={"slideshow": {"slide_type": "slide"}})

    return new_notebook(cells=[
        text("title", "# A lesson\n\n**You will** see it kept.\n\n**You need** nothing."),
        code(1, "print(1 + 2)\nassert 1 + 2 == 3", output),
        code(2, "import time\nstart = time.perf_counter()\nprint(f'{time.perf_counter() - start:.4f} sec')", "9 sec\n"),
        text("one", "### Exercise 1 · Add up\n\nWhat is one and one?"),
        code(3, "answer = ...", "", tags=["exercise"]),
        code(4, CHECK, "no answer yet\n", tags=["check"], jupyter={"source_hidden": True}),
        code(5, "assert check(2)", "right\n", tags=["solution"], jupyter={"source_hidden": True}),
        text("end", "## Fine print\n\nNone."),
    ], metadata={"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}})


def test_a_good_lesson_has_no_faults():
    """The lesson that the next test breaks keeps every rule."""
    assert faults(lesson()) == []


BREAKS = {
    "no slide type": lambda nb: nb.cells[0].metadata.clear(),
    "a local path: /home": lambda nb: nb.cells[1].update(source="open('/home/me/x'); assert 1"),
    "a local path in its output": lambda nb: nb.cells[1].outputs[0].update(text="/usr/lib/python3/x.py\n"),
    "an object's address": lambda nb: nb.cells[1].outputs[0].update(text="<object object at 0x7f3a>\n"),
    "not executed in order": lambda nb: nb.cells[2].update(execution_count=7),
    "execution count None": lambda nb: nb.cells[2].update(execution_count=None),
    "longer than 92": lambda nb: nb.cells[1].update(source="assert 1  #" + 92 * " "),
    "an error: KeyError": lambda nb: nb.cells[1].outputs.append(
        new_output("error", ename="KeyError", evalue="'x'", traceback=["KeyError: 'x'"])),
    "output on stderr": lambda nb: nb.cells[1].outputs[0].update(name="stderr"),
    "stored as SVG": lambda nb: nb.cells[1].outputs.append(
        new_output("display_data", data={"image/svg+xml": "<svg/>"})),
    "a link to 99-missing.ipynb": lambda nb: nb.cells[0].update(source=nb.cells[0].source + "\n[x](99-missing.ipynb)"),
    "has no text alternative": lambda nb: nb.cells[0].update(source=nb.cells[0].source + "\n![x](img)"),
    "an ignore-mark without its reason": lambda nb: nb.cells[1].update(source="# NBVAL_IGNORE_OUTPUT\nassert 1"),
    "2 ignore-marks": lambda nb: [nb.cells[n].update(
        source="# NBVAL_IGNORE_OUTPUT: the reason stands here\nassert 1") for n in (1, 2)],
    "Exercise 1 · Add up: no solution": lambda nb: nb.cells.pop(6),
    "no cell tagged `exercise`": lambda nb: nb.cells.pop(4),
    "no cell tagged `check`": lambda nb: nb.cells.pop(5),
    "finds no answer yet": lambda nb: nb.cells[5].outputs.clear(),
    "its solution asserts nothing": lambda nb: nb.cells[6].update(source="print(2)"),
    "does not pass its check": lambda nb: nb.cells[6].outputs[0].update(text="not yet\n"),
    "a check that is not collapsed": lambda nb: nb.cells[5].metadata.pop("jupyter"),
    "a solution or": lambda nb: nb.cells[6].metadata.pop("jupyter"),
    "without ids of their own": lambda nb: nb.cells[1].update(id=nb.cells[2].id),
    "stored widget state": lambda nb: nb.metadata.update(widgets={}),
    "nothing is asserted": lambda nb: [cell.update(source=cell.source.replace("assert", "#")) for cell in nb.cells],
    "does not start with a title": lambda nb: nb.cells.pop(0),
}


@pytest.mark.parametrize("words", BREAKS)
def test_a_broken_lesson_is_caught(words):
    """Breaking one rule is reported in words that name it."""
    notebook = lesson()
    BREAKS[words](notebook)
    assert any(words in fault for fault in faults(notebook)), faults(notebook)


def nbval(path):
    """Run nbval on one notebook as the project's own tests do; return pytest's exit status and output."""
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-o", "addopts=", "--nbval",
                           "--nbval-sanitize-with", str(ROOT / "tests" / "sanitize.cfg"), "--rootdir", str(path.parent),
                           str(path)], capture_output=True, text=True, timeout=100, cwd=path.parent)
    return done.returncode, done.stdout


@pytest.mark.parametrize(("change", "passes"), [
    (lambda nb: None, True),
    (lambda nb: nb.cells[1].outputs[0].update(text="4\n"), False),
    (lambda nb: nb.cells[1].update(source="print(3)\nraise KeyError"), False),
    (lambda nb: nb.cells[2].outputs[0].update(text="9 rows\n"), False),
], ids=["as it is", "another output", "an error", "another unit"])
def test_nbval_compares_outputs(tmp_path, change, passes):
    """A lesson whose stored output was changed, or that fails, fails nbval; one whose times differ passes."""
    notebook = copy.deepcopy(lesson())
    change(notebook)
    nbformat.write(notebook, tmp_path / "lesson.ipynb")
    status, output = nbval(tmp_path / "lesson.ipynb")
    assert (status == 0) is passes, output
    assert ("5 passed" if passes else "1 failed") in output
