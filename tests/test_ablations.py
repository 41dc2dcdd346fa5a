"""Every lesson runs under every ablation that its cells name, which shows that its claims can fail.

A lesson runs in a fresh kernel under the ablation and goes on after errors. Then
- every cell tagged `claim:<ablation>` must have failed with an AssertionError;
- no other cell may have failed with one: its assertion is a claim, too, and needs the tag;
- no cell that is tagged for other ablations only may have failed at all;
- untagged cells may have failed with other errors, because the ablation or a failed cell took away what they need.
The exercises are left out if none of their cells names the ablation.
"""
import asyncio
import itertools
import os
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from ablations import ABLATIONS, claims
from nbclient import NotebookClient

from conftest import framework_of

ROOT = Path(__file__).parent.parent
LIMIT = 600  # seconds for one lesson


def code_cells(notebook):
    """Return the code cells of a notebook."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


LONG = {"kept-memory"}  # takes minutes
CELLS = {}
CASES = []
for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
    if ".ipynb_checkpoints" not in path.parts:
        CELLS[path] = code_cells(nbformat.read(path, as_version=4))
        lesson = path.relative_to(ROOT / "notebooks").with_suffix("")
        named = set().union(*map(claims, CELLS[path]))
        for number, name in enumerate(sorted(named & set(ABLATIONS), key=lambda name: (name in LONG, name))):
            # After every change lessons 00 to 02 run under one ablation each; all others once a week.
            weekly = number > 0 or lesson.name[:2] not in ("00", "01", "02")
            marks = [pytest.mark.weekly] if weekly else []
            CASES.append(pytest.param(path, name, id=f"{lesson}-{name}", marks=marks))


def run_under(name, path, folder):
    """Return the code cells of a lesson after it ran under the ablation `name`; `folder` must be empty."""
    program = f"import ablations\nablations.apply(ablations.ABLATIONS[{name!r}])\n"
    (folder / "sitecustomize.py").write_text(program)  # Python runs it
    search = [str(folder), str(ROOT / "tests")]
    if os.environ.get("PYTHONPATH"):
        search.append(os.environ["PYTHONPATH"])
    variables = os.environ | ABLATIONS[name].env | {"PYTHONPATH": os.pathsep.join(search)}
    notebook = nbformat.read(path, as_version=4)
    before = list(itertools.takewhile(lambda cell: not cell.source.startswith("## Exercises"), notebook.cells))
    if not any(name in claims(cell) for cell in notebook.cells[len(before):]):
        notebook.cells = before
    client = NotebookClient(notebook, timeout=None, iopub_timeout=60, allow_errors=True,
                            resources={"metadata": {"path": path.parent}})
    try:
        asyncio.run(asyncio.wait_for(client.async_execute(env=variables), LIMIT))
    except asyncio.TimeoutError:
        pytest.fail(f"{path.name} under {name} took more than {LIMIT} seconds", pytrace=False)
    return code_cells(notebook)


def faults(cells, name):
    """Yield a line for each cell that, under the ablation `name`, does not do what its tags say."""
    for cell in cells:
        if "raises-exception" in cell.metadata.get("tags", []):
            continue
        failed = False
        asserted = False
        how = ""
        for output in cell.outputs:
            if output.output_type == "error":
                failed = True
                asserted = output.ename == "AssertionError"
                how = f"fails with {output.ename}: {output.evalue.strip().splitlines()[:1]}"
        lines = "; ".join(line.strip() for line in cell.source.splitlines() if line.strip().startswith("assert"))
        if name in claims(cell) and not failed:
            yield f"{cell.id} passes without the effect, so it proves nothing: {lines}"
        elif name in claims(cell) and not asserted:
            yield f"{cell.id} {how}, not by its own assertion: {lines}"
        elif name not in claims(cell) and asserted:
            yield f"{cell.id} fails as well; tag it claim:{name}, or assert what holds without the effect: {lines}"
        elif name not in claims(cell) and failed and claims(cell):
            yield f"{cell.id} is about {', '.join(sorted(claims(cell)))}, but {how}"


@pytest.mark.slow
@pytest.mark.parametrize(("path", "name"), CASES)
def test_claims_fail_under_their_ablation(path, name, tmp_path):
    """Under an ablation, the cells that name it fail by their own assertions, and no other cell does."""
    framework = framework_of(path)
    if framework and find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    found = list(faults(run_under(name, path, tmp_path), name))
    if found:
        pytest.fail("\n".join([f"{path.name} under {name}:", *found]), pytrace=False)


def test_every_tag_names_an_ablation():
    """Every tag that begins with `claim` names an ablation, and every ablation is named by some cell."""
    tags = {tag for cells in CELLS.values() for cell in cells for tag in cell.metadata.get("tags", [])}
    assert {tag for tag in tags if tag.startswith("claim")} == {f"claim:{name}" for name in ABLATIONS}
