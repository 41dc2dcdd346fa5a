"""The notebooks, as the tests see them: each is read in one place. And how a few of their cells are run."""
import asyncio
import copy
import functools
import itertools
import re
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_notebook

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "notebooks"
LIMIT = 600  # seconds for some cells of one lesson
# A notebook's lines begin with a quote.
IMPORTS = re.compile(r'^(?: *")?(?:import|from) (jax|mxnet|torch)\b', re.MULTILINE)


def framework_of(path):
    """Return the framework that a notebook or a script needs: "jax", "mxnet", "torch", or "" if it needs none."""
    text = path.read_text(encoding="utf-8")
    found = IMPORTS.search(text)
    if found:
        return found[1]
    return "mxnet" if "kvstore_worker" in text else ""


def tags(cell):
    """Return the tags of a cell."""
    return set(cell.metadata.get("tags", []))


def printed(cell):
    """Return what a cell printed, or the error in which it ended."""
    texts = []
    for output in cell.outputs:
        if output.output_type == "error":
            texts.append(f"{output.ename}: {output.evalue}")
        else:
            texts.append(output.get("text", ""))
    return "".join(texts).strip()


class Lesson:
    """A notebook; its cells are read when they are first needed, and belong to all tests: copy what you run."""

    def __init__(self, path):
        self.path = path
        self.file = path.relative_to(ROOT).as_posix() if ROOT in path.parents else path.name
        self.name = self.file.removeprefix("notebooks/").removesuffix(".ipynb")
        self.framework = framework_of(path)

    def __repr__(self):
        return self.name

    @functools.cached_property
    def notebook(self):
        """The notebook."""
        return nbformat.read(self.path, as_version=4)

    @functools.cached_property
    def code(self):
        """All code cells."""
        return [cell for cell in self.notebook.cells if cell.cell_type == "code"]

    @functools.cached_property
    def before(self):
        """The cells before the exercises."""
        cells = self.notebook.cells
        return list(itertools.takewhile(lambda cell: not re.match(r"#+ Exercises?\b", cell.source), cells))

    @functools.cached_property
    def core(self):
        """The code cells before the exercises."""
        return [cell for cell in self.before if cell.cell_type == "code"]

    @functools.cached_property
    def exercises(self):
        """For the number of each exercise, the cell that it gives to its reader, and the cell of its check."""
        found = {}
        for cell in self.notebook.cells:
            heading = re.search(r"^#+ Exercise (\d)", cell.source, re.MULTILINE)
            if cell.cell_type == "markdown" and heading:
                number = int(heading[1])
            elif "exercise" in tags(cell):
                given = cell
            elif "check" in tags(cell):
                found[number] = given, cell
        return found

    def skip_without_framework(self):
        """Skip the test if the lesson's framework is not installed."""
        if self.framework and find_spec(self.framework) is None:
            pytest.skip(f"{self.framework} is not installed")

    def run(self, cells, times=1, env=None, allow_errors=True):
        """Run copies of some cells in a fresh kernel, and return the copies, with what they printed the last time.

        The test fails if this takes more than `LIMIT` seconds. `env` are all variables of the kernel.
        """
        notebook = new_notebook(cells=copy.deepcopy(cells), metadata=self.notebook.metadata)
        client = NotebookClient(notebook, timeout=None, iopub_timeout=60, allow_errors=allow_errors,
                                resources={"metadata": {"path": self.path.parent}})

        async def execute():
            async with client.async_setup_kernel(**({"env": env} if env else {})):
                for _ in range(times):
                    for index, cell in enumerate(notebook.cells):
                        await client.async_execute_cell(cell, index)

        try:
            asyncio.run(asyncio.wait_for(execute(), LIMIT))
        except asyncio.TimeoutError:
            pytest.fail(f"{self.name} took more than {LIMIT} seconds", pytrace=False)
        return notebook.cells


def source_of(lesson, cell_id):
    """Return the text of a cell of a lesson, which is named like its file below notebooks/."""
    [text] = [cell.source for cell in Lesson(NOTEBOOKS / lesson).notebook.cells if cell.id == cell_id]
    return text


LESSONS = [Lesson(path) for pattern in ("[!.]*.ipynb", "[!.]*/[!.]*.ipynb") for path in sorted(NOTEBOOKS.glob(pattern))]
INSTALLED = [lesson for lesson in LESSONS if not lesson.framework or find_spec(lesson.framework)]
# Notebooks that are slow: the deeper ones, and those that start processes, train or compile again and again.
SLOW = re.compile("deeper/|multi-gpu-concise|01-compilers|many-machines|make-it-fast")
# Those whose answers start processes or train again and again, and are tried once a week.
SLOW_ANSWERS = re.compile("deeper/|many-machines|make-it-fast")
# After every change a lesson of each kind runs in other environments: the first ones, and quick ones with sliders, with
# a compiler, and with ranks. All others do so once a week.
KINDS = ["00-start-here", "pytorch/00-start-here", "deeper/a-thousand-machines", "pytorch/02-where-graphs-break",
         "deeper/tokens-and-experts"]


def each_kind():
    """Return lessons as parameters of a test that runs after every change with `KINDS` alone."""
    return [pytest.param(lesson, id=lesson.name, marks=[] if lesson.name in KINDS else pytest.mark.weekly)
            for lesson in INSTALLED]
