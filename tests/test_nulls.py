"""Claims that can fail: every lesson under every null that its cells name.

A lesson runs in a fresh kernel under the null and goes on after errors. Then
- every cell tagged `claim:<null>` must have failed, by an AssertionError;
- no other cell may have failed by one: what fails there is a claim, too, and needs the tag;
- no cell that is tagged for other nulls only may have failed at all;
- untagged cells may have failed by other errors: they lack what the null, or a failed cell, took from them.
The exercises are left out where none of their cells names the null.
"""
import asyncio
import os
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nulls import NULLS, claims

ROOT = Path(__file__).parent.parent
LIMIT = 600  # seconds for one lesson
CELLS = {path: [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
         for path in sorted((ROOT / "notebooks").rglob("*.ipynb")) if ".ipynb_checkpoints" not in path.parts}
CASES = [pytest.param(path, name, id=f"{path.relative_to(ROOT / 'notebooks').with_suffix('')}-{name}")
         for path, cells in CELLS.items() for name in sorted(set().union(*map(claims, cells)) & set(NULLS))]


def run_under(name, path, folder):
    """Return the code cells of a lesson, executed under the null `name`; `folder` is an empty one."""
    (folder / "sitecustomize.py").write_text(f"import nulls\nnulls.apply(nulls.NULLS[{name!r}])\n")  # Python runs it
    search = [str(folder), str(ROOT / "tests"), *filter(None, [os.environ.get("PYTHONPATH")])]
    variables = os.environ | NULLS[name].env | {"PYTHONPATH": os.pathsep.join(search)}
    notebook = nbformat.read(path, as_version=4)
    exercises = next((at for at, cell in enumerate(notebook.cells) if cell.source.startswith("## Exercises")), None)
    if not any(name in claims(cell) for cell in notebook.cells[exercises:]):
        del notebook.cells[exercises:]
    client = NotebookClient(notebook, timeout=None, allow_errors=True, resources={"metadata": {"path": path.parent}})
    try:
        asyncio.run(asyncio.wait_for(client.async_execute(env=variables), LIMIT))
    except asyncio.TimeoutError:
        pytest.fail(f"{path.name} under {name} took more than {LIMIT} seconds", pytrace=False)
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def faults(cells, name):
    """Return one line for each cell that did not do under the null `name` what its tags say."""
    for cell in cells:
        error = next((output for output in cell.outputs if output.output_type == "error"), None)
        failed = error and f"fails by {error.ename}: {error.evalue.strip().splitlines()[:1]}"
        asserted = error is not None and error.ename == "AssertionError"
        lines = "; ".join(line.strip() for line in cell.source.splitlines() if line.strip().startswith("assert"))
        if "raises-exception" in cell.metadata.get("tags", []):
            continue
        if name in claims(cell) and not error:
            yield f"{cell.id} passes without the effect, so it proves nothing: {lines}"
        elif name in claims(cell) and not asserted:
            yield f"{cell.id} {failed}, not by its own assertion: {lines}"
        elif name not in claims(cell) and asserted:
            yield f"{cell.id} fails as well; tag it claim:{name}, or assert what holds without the effect: {lines}"
        elif name not in claims(cell) and error and claims(cell):
            yield f"{cell.id} is about {', '.join(sorted(claims(cell)))}, but {failed}"


@pytest.mark.slow
@pytest.mark.parametrize(("path", "name"), CASES)
def test_claims_fail_under_their_null(path, name, tmp_path):
    """Under a null, exactly the assertions of those cells fail that name it."""
    framework = "torch" if "pytorch" in path.parts else "mxnet"
    if find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    if found := list(faults(run_under(name, path, tmp_path), name)):
        pytest.fail("\n".join([f"{path.name} under {name}:", *found]), pytrace=False)


def test_every_tag_names_a_null():
    """Every tag that begins with `claim` names a null, and every null is named by some cell."""
    tags = {tag for cells in CELLS.values() for cell in cells for tag in cell.metadata.get("tags", [])}
    assert {tag for tag in tags if tag.startswith("claim")} == {f"claim:{name}" for name in NULLS}
