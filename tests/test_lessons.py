"""The rules that every lesson keeps, and a check that nbval notices outputs that differ."""
import functools
import io
import itertools
import re
import subprocess
import sys
import tokenize

import nbformat
import pytest
from lessons import LESSONS, ROOT, SLOW, tags
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from d2lhelpers.environment import mxnet_fault

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
LOCAL_PATH = re.compile(r"(?<![\w.:/])/(?:home|root|Users|tmp|opt|usr|var|work|mnt|private)/[\w./-]+|site-packages")
MAX_BYTES = 300 * 1024
MAX_WIDTH = 92  # characters of code that fit beside the file browser on a screen of 1280 pixels
SLIDE_TYPES = {"slide", "subslide", "fragment", "skip", "notes", "-"}

# Limits for a lesson before its exercises, so that it takes an hour, and for a whole deeper notebook. Code is counted
# in tokens, so squeezing it gains nothing. Readers took a minute per 100 words and per 60 tokens.
HOUR = {"words": 2000, "code cells": 40, "tokens": 2200, "longest cell": 140, "set-up": 160, "slides": 32,
        "predictions": 6, "minutes": 55}
DEEPER = {"words": 1600, "code cells": 32, "tokens": 1600, "longest cell": 140, "set-up": 160}
CHECK_LINES = 4


def text_of(output):
    """Return all the text in one output of a cell."""
    data = output.get("data", {})
    return output.get("text", "") + "".join(data.get(kind, "") for kind in ("text/plain", "text/html")) + \
        "\n".join(output.get("traceback", []))


def printed(cell):
    """Return all the text in the outputs of a code cell."""
    return "\n".join(map(text_of, cell.outputs))


@functools.cache
def anchors(path):
    """Return the anchors of the cells of a lesson to which others may link: those that no edition leaves out."""
    return {f"cell-id={cell.id}" for cell in nbformat.read(path, as_version=4).cells
            if {"solution", "instructor"}.isdisjoint(tags(cell))}


def cell_faults(cell, number, folder):
    """Yield what breaks a rule in one cell."""
    if cell.metadata.get("slideshow", {}).get("slide_type") not in SLIDE_TYPES:
        yield "no slide type"
    if LOCAL_PATH.search(cell.source):
        yield f"a local path: {LOCAL_PATH.search(cell.source).group()}"
    if cell.cell_type == "markdown":
        if re.search(r"\$[^$]+\$", re.sub(r"```.*?```|`[^`\n]*`", "", cell.source, flags=re.DOTALL)):
            yield "a formula in TeX, which decks show as it is: write *w* / 2"
        for image, text, target in LINK.findall(cell.source):
            name, _, anchor = target.partition("#")
            place = (folder / name).resolve()
            if re.match(r"https?://|#", target):
                pass
            elif not place.exists():
                yield f"a link to {target}, which does not exist"
            elif ROOT / "notebooks" not in place.parents:
                yield f"a link to {target}, which neither the site nor a reader's copy has"
            elif anchor and anchor not in anchors(place):
                yield f"a link to {target}: no such cell to read (the form is lesson.ipynb#cell-id=..., for JupyterLab)"
            if image and len(text) < 20:
                yield f"{target} has no text alternative"
        return
    if max(map(len, cell.source.splitlines()), default=0) > MAX_WIDTH:
        yield f"a line of code longer than {MAX_WIDTH} characters"
    if cell.execution_count != number:
        yield f"execution count {cell.execution_count}, not {number}: not executed in order from a fresh kernel"
    if re.search(r"^\s*#\s*(NBVAL_|nbval-)\w+[^\w\n]", cell.source + "\n", re.MULTILINE):
        yield "an nbval mark with other text on its line, which nbval does not read: use a tag"
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
            yield "a plot stored as SVG, which nbval would compare: store plots as PNG"
        alternative = output.get("metadata", {}).get("image/png", {}).get("alt", "")
        if "image/png" in output.get("data", {}) and not re.search(r"\d", alternative):
            yield "a plot whose text alternative has no figure"


def exercise_faults(cells):
    """Yield what breaks a rule in the exercises: each has a cell to try in, a check, and a solution that passes it.

    The solutions may be in a notebook of their own, to which a cell tagged `solution` links.
    """
    elsewhere = any("solution" in tags(cell) and "-solved.ipynb)" in cell.source for cell in cells)
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
        if not checks or not all("no answer yet" in printed(cell) for cell in checks):
            yield f"{heading[0]}: no cell tagged `check` whose output says that there is no answer yet"
        if any(len(cell.source.splitlines()) > CHECK_LINES for cell in checks):
            yield f"{heading[0]}: a check of more than {CHECK_LINES} lines: put its rules into a module"
        solutions = [cell for cell, kind in zip(inside, kinds, strict=True) if kind == {"solution"}]
        if elsewhere:
            pass
        elif not any("assert" in cell.source for cell in solutions):
            yield f"{heading[0]}: no solution that asserts anything"
        elif not any(re.search("^right$", printed(cell), re.MULTILINE) for cell in solutions):
            yield f"{heading[0]}: its solution does not pass its check"
        if any(not cell.metadata.get("jupyter", {}).get("source_hidden") for cell in solutions + checks):
            yield f"{heading[0]}: a solution or a check that is not collapsed"


def faults(notebook, folder=ROOT / "notebooks"):
    """Return what breaks a rule in a lesson, each with the id of its cell."""
    cells = notebook.cells
    found = []
    number = 0
    for cell in cells:
        if cell.cell_type == "code":
            number += 1
        found += [f"cell {cell.get('id')}: {fault}" for fault in cell_faults(cell, number, folder)]
    found += exercise_faults(cells)
    ids = [cell.get("id") for cell in cells]
    if None in ids or len(set(ids)) < len(ids):
        found.append("cells without an id, or two cells with the same id")
    if "widgets" in notebook.metadata:
        found.append("stored widget state")
    code = [cell for cell in cells if cell.cell_type == "code"]
    ignored = sum("nbval-ignore-output" in tags(cell) for cell in code)
    if ignored > max(1, len(code) // 20):
        found.append(f"{ignored} of {len(code)} code cells have outputs that are not compared: one in twenty at most")
    if not any("assert " in cell.source for cell in code):
        found.append("nothing is asserted")
    start = "\n".join(cell.source for cell in cells[:3])
    if not (start.startswith("# ") and "**You will**" in start and "**You need**" in start):
        found.append("it does not start with a title, **You will** and **You need**")
    return found


def tokens(cell):
    """Return how many names, numbers, strings and operators a code cell has, leaving out what IPython alone reads."""
    source = re.sub(r"^\s*[%!].*$", "", cell.source, flags=re.MULTILINE)
    count = inside = 0  # from Python 3.12 on, an f-string is many tokens; here it is one string, as before
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = tokenize.tok_name[token.type]
        if inside == 0 and kind in ("NAME", "OP", "NUMBER", "STRING", "FSTRING_START"):
            count += 1
        inside += (kind == "FSTRING_START") - (kind == "FSTRING_END")
    return count


def words_in(text):
    """Return how many words a text has, without code, formulas, links' targets and tables."""
    text = re.sub(r"```.*?```|\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|<[^>]+>|\]\([^)]*\)", " ", text, flags=re.DOTALL)
    text = re.sub(r"^\s*\|.*$", " ", text, flags=re.MULTILINE)
    return len(re.findall(r"[A-Za-z0-9]+(?:['’-][A-Za-z]+)?", text))


def size(lesson):
    """Return the figures of `HOUR` for the cells before the exercises, without set-up and remarks for instructors."""
    core = [cell for cell in lesson.before if cell.source.strip() and not tags(cell) & {"setup", "instructor"}]
    words = sum(words_in(cell.source) for cell in core if cell.cell_type == "markdown")
    code = [cell for cell in core if cell.cell_type == "code"]
    lengths = [tokens(cell) for cell in code]
    return {"words": words, "code cells": len(code), "tokens": sum(lengths), "longest cell": max(lengths, default=0),
            "set-up": sum(tokens(cell) for cell in lesson.code if "setup" in tags(cell)),
            "slides": sum(cell.metadata.slideshow.slide_type in ("slide", "subslide") for cell in core),
            "predictions": sum("predict(" in cell.source for cell in code),
            "minutes": round(words / 100 + sum(lengths) / 60)}


@pytest.mark.parametrize("lesson", LESSONS, ids=str)
def test_lesson_keeps_the_rules(lesson):
    """Every lesson keeps every rule, and its file is small."""
    nbformat.validate(lesson.notebook)
    assert faults(lesson.notebook, lesson.path.parent) == []
    assert lesson.path.stat().st_size < MAX_BYTES


@pytest.mark.parametrize("lesson", LESSONS, ids=str)
def test_lesson_takes_an_hour(lesson):
    """A lesson can be read in an hour, and in the minutes that it promises; deeper notebooks are shorter."""
    figures = size(lesson)
    limits = DEEPER if "deeper" in lesson.name else HOUR
    over = {what: figures[what] for what, most in limits.items() if figures[what] > most}
    promised = re.search(r"\*\*Minutes\*\* (\d+)", lesson.notebook.cells[0].source)
    if abs(int(promised[1]) - figures["minutes"]) > 5:
        over["minutes promised"] = promised[1]
    assert not over


def test_every_lesson_is_in_the_table():
    """README.md and a lesson 00 link to every lesson, except to solutions, which not every edition has."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    links = set()
    starts = [lesson for lesson in LESSONS if lesson.name.endswith("00-start-here")]
    for start in starts:
        links |= linked_files(start)
    for lesson in LESSONS:
        if not lesson.name.endswith("-solved"):
            assert f"({lesson.file})" in readme
            assert lesson.path in links or lesson in starts, lesson.name


def test_readme_counts_the_notebooks():
    """README.md says how many notebooks there are, and how many of them `make test` runs."""
    counts = re.findall(r"(\d+) of the (\d+) notebooks", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert counts == [(str(sum(not SLOW.search(lesson.name) for lesson in LESSONS)), str(len(LESSONS)))]


def test_readme_prints_what_it_says():
    """The program in README.md prints what stands below it, but for the figures."""
    if fault := mxnet_fault():
        pytest.skip(fault)
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    [program], [printed] = (re.findall(f"```{kind}\n(.+?)```", page, re.DOTALL) for kind in ("python", "text"))
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    measured = r"[\d.]+(?= ms|%)| \(on 1 core.*\)"
    assert re.sub(measured, "", run.stdout) == re.sub(measured, "", printed)


@pytest.mark.parametrize("page", ["README.md", "INSTALL.md", "CONTRIBUTING.md", "AGENTS.md", "editions/tutor.md"])
def test_prose_is_wrapped(page):
    """No line of a page has more than 120 characters, so that a diff shows what has changed; rows cannot be wrapped."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 120 and not line.startswith(("|", "!["))] == []


@pytest.mark.parametrize("page", ["README.md", "INSTALL.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE-text.md",
                                  "AGENTS.md", "README.zh.md", "INSTALL.zh.md", "notebooks/for-instructors.md"])
def test_links_of_a_page_lead_somewhere(page):
    """Every link of a page leads to an existing file, to the web, or to the issues on the page's own host."""
    for _, _, target in LINK.findall((ROOT / page).read_text(encoding="utf-8")):
        issues = re.fullmatch(r"\.\./\.\./issues(?:/new\?template=(.+))?", target)
        place = (ROOT / page).parent / target
        if issues:
            place = ROOT / ".github" / "ISSUE_TEMPLATE" / (issues[1] or "")
        assert re.match(r"https?://|#", target) or place.exists(), target


def test_every_tag_is_explained():
    """Among the tags in CONTRIBUTING.md there is a row for every tag that a lesson uses, and for no other."""
    used = set()
    for lesson in LESSONS:
        for cell in lesson.notebook.cells:
            used |= {re.sub("^claim:.+", "claim:<ablation>", tag) for tag in tags(cell)}
    _, _, table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Tags\n")
    rows = re.findall(r"^\| `(.+?)` \|", table.partition("\n## ")[0], re.MULTILINE)
    assert sorted(rows) == sorted(used)


def linked_files(lesson):
    """Return the files that the text of a lesson links to."""
    files = set()
    for cell in lesson.notebook.cells:
        if cell.cell_type == "markdown":
            targets = [target.partition("#")[0] for _, _, target in LINK.findall(cell.source)]
            files |= {(lesson.path.parent / target).resolve() for target in targets}
    return files


def test_each_lesson_leads_to_the_next():
    """Every lesson links to the next one, the previous one and the first; a deeper notebook back to its lesson."""
    links = {lesson.path: linked_files(lesson) for lesson in LESSONS}
    deeper = [path for path in links if path.parent.name == "deeper"]
    lessons = [path for path in links if path not in deeper]
    for before, after in itertools.pairwise(lessons):
        if before.parent == after.parent:
            assert after in links[before], f"{before.name} does not lead to {after.name}"
            assert before in links[after], f"{after.name} does not lead back to {before.name}"
    for path in lessons:
        start = path.parent / "00-start-here.ipynb"
        assert start in links[path] or path == start, f"{path.name} does not lead to {start.name}"
    for path in deeper:
        starts = {path.parent.parent / track / "00-start-here.ipynb" for track in ("", "pytorch")}
        assert starts & links[path], f"{path.name} does not lead to a 00-start-here.ipynb"
        origins = links[path] & set(links) - starts
        assert any(path in links[origin] for origin in origins), f"{path.name} and its lesson do not link to each other"


@pytest.mark.parametrize(("source", "number", "words"), [
    ("# NBVAL_IGNORE_OUTPUT: no two are alike\nprint(1)", 7, "which nbval does not read"),
    ("open('/home/me/x')", 7, "a local path"), ("x" * 93, 7, "longer than 92"),
    ("print(1)", 6, "not executed in order")])
def test_a_broken_rule_is_reported(source, number, words):
    """A cell that breaks a rule is reported in words that name the rule; an nbval mark on its own line breaks none."""
    def found(source, number):
        cell = new_code_cell(source, execution_count=7, metadata={"slideshow": {"slide_type": "-"}})
        return list(cell_faults(cell, number, ROOT))

    assert any(words in fault for fault in found(source, number))
    assert found("# NBVAL_IGNORE_OUTPUT\n1", 7) == []


def test_what_only_some_readers_see_is_reported():
    """A link to a file beside the lessons is fine; one to a helper, which copies lack, and TeX are reported."""
    def found(target):
        cell = new_markdown_cell(f"[it]({target})", metadata={"slideshow": {"slide_type": "-"}})
        return list(cell_faults(cell, 1, ROOT / "notebooks" / "pytorch"))

    assert found("../00-start-here.ipynb#cell-id=title") == []
    assert "no such cell" in found("../00-start-here.ipynb#x")[0]
    assert "which does not exist" in found("../00-begin.ipynb")[0]
    assert "a formula in TeX" in found("#x) or $2w$ (")[0]
    assert "neither the site nor a reader's copy" in found("../../d2lhelpers/partition.py")[0]


@pytest.mark.slow
def test_nbval_compares_outputs(tmp_path):
    """Cells pass nbval if only their times differ; those that print something else, or raise, fail."""
    def stored(source, text):
        return new_code_cell(source, execution_count=1, outputs=[new_output("stream", name="stdout", text=text)])

    cells = [stored("print(f'{0.1:.4f} sec')", "9 sec\n"), stored("print(3)", "4\n"),
             stored("print(f'{0.1:.4f} sec')", "9 rows\n"), stored("raise KeyError", "")]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel), tmp_path / "lesson.ipynb")
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-o", "addopts=", "--nbval", "-rA",
                           "--nbval-sanitize-with", str(ROOT / "tests" / "sanitize.cfg"), "--rootdir", str(tmp_path),
                           "lesson.ipynb"], capture_output=True, text=True, timeout=100, cwd=tmp_path)
    assert re.findall(r"^(PASSED|FAILED) .*Cell (\d)", done.stdout, re.MULTILINE) == [
        ("PASSED", "0"), ("FAILED", "1"), ("FAILED", "2"), ("FAILED", "3")], done.stdout
