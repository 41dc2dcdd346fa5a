"""Which files of the project a notebook or a file of tests depends on, and one hash for all that they hold.

A file depends on what it imports, and on the Python files that it names in a string, and so does each of these.
Nothing is run to find that out: the packages of the helpers list what their modules define, for editors.
"""
import ast
import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import shutil
import sys
from pathlib import Path

from d2lhelpers.environment import usable_cores

ROOT = Path(__file__).parents[1]
PARTS = "d2lhelpers", "editions", "notebooks", "tests", "benchmarks"
# Where an import may find a module of the project: as on the path of the tests and of a lesson's kernel.
PLACES = [ROOT, ROOT / "tests", ROOT / "notebooks", ROOT / "notebooks" / "scripts", ROOT / "notebooks" / "pytorch",
          ROOT / "notebooks" / "deeper"]
ALL_RUNS = [  # what every run of a lesson depends on
    "conftest.py", "pyproject.toml", "requirements.txt", "requirements-pytorch.txt", "tests/sanitize.cfg",
    "tests/one_run.py", "tests/lessons.py", "tests/answer_tables.py"]
PROGRAMS = ["make", "bwrap", "openssl", "chromium", "chromium-browser", "google-chrome"]  # without them, tests skip
LESSONS_MATTER = re.compile(r'notebooks(?!" / "scripts")|ipynb|LESSONS')  # in tests; a script has a name of its own


@functools.cache
def project():
    """Return every file of the project, those of editors, caches and builds left out."""
    found = [path for path in ROOT.iterdir() if path.is_file()]
    for part in [*PARTS, ".ci", ".devcontainer", ".github"]:
        found += [path for path in (ROOT / part).rglob("*") if path.is_file()]
    return [path for path in found if not {"__pycache__", ".ipynb_checkpoints"} & set(path.parts)]


@functools.cache
def by_name():
    """Return the Python files of the project by their file names."""
    return {path.name: path for path in project() if path.suffix == ".py" and path.name != "__init__.py"}


@functools.cache
def tree_of(path):
    """Return the syntax tree of a Python file or of a notebook's code cells."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        lines = "\n".join("".join(cell["source"]) for cell in cells).splitlines()
        text = "\n".join("pass" if line.lstrip()[:1] in ("%", "!") else line for line in lines)
    return ast.parse(text)


def module(name, places):
    """Return the file of a module of the project, or None."""
    for place in places:
        path = place.joinpath(*name.split("."))
        for file in (path / "__init__.py", path.with_suffix(".py")):
            if file.exists():
                return file
    return None


def named(package, name):
    """Return the files that define a name of a package: a module of that name, or where `__init__.py` has it from."""
    inside = module(name, [package.parent])
    if inside:
        return {inside}
    for node in ast.walk(tree_of(package)):
        if isinstance(node, ast.ImportFrom) and name in [each.name for each in node.names]:
            return imported(package, node, only=name)
    return set()


def imported(path, node, only=None):
    """Return the files of the project that one import statement of a file loads."""
    if isinstance(node, ast.Import):
        return {module(each.name, [path.parent, *PLACES]) for each in node.names} - {None}
    places, start = [path.parent, *PLACES], node.module or ""
    if node.level:
        places = [path.parents[node.level - 1]]
    file = module(start, places) if start else places[0] / "__init__.py"
    if file is None or not file.exists():  # a folder, such as scripts/
        return {module(f"{start}.{each.name}", places) for each in node.names} - {None}
    found = {file}
    for each in node.names:
        if file.name == "__init__.py" and only in (None, each.name):
            found |= named(file, each.name)
    return found


@functools.cache
def directly(path):
    """Return the Python files of the project that a file imports or names."""
    nodes = list(ast.walk(tree_of(path)))
    strings = "\n".join(str(node.value) for node in nodes if isinstance(node, ast.Constant))
    for_editors = [node for node in nodes if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    lazy = {each for node in for_editors for each in ast.walk(node)}
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom) and node not in lazy:
            found |= imported(path, node)
    found |= {by_name()[name] for name in re.findall(r"\w+\.py\b", strings) if name in by_name()}
    for file in list(found):  # a package is loaded before its modules
        found |= {parent / "__init__.py" for parent in file.parents if (parent / "__init__.py").exists()}
    return found - {path}


@functools.cache
def python_files(path):
    """Return all Python files of the project that a file depends on."""
    found, waiting = set(), [path]
    while waiting:
        for file in directly(waiting.pop()) - found:
            found.add(file)
            waiting.append(file)
    return found


@functools.cache
def files(path):
    """Return all files that the tests in a file depend on."""
    if path.suffix == ".ipynb":
        always = [ROOT / name for name in ALL_RUNS]
        always += [each for each in project() if each.suffix != ".py" and each.parent.name == "d2lhelpers"]
        table = ROOT / "tests" / "answers" / path.relative_to(ROOT / "notebooks").with_suffix(".py")
        return {path, *python_files(path), *always, *filter(Path.exists, [table])}
    mine = [path, *python_files(path)]
    if any(LESSONS_MATTER.search(each.read_text(encoding="utf-8")) for each in mine if each != ROOT / "conftest.py"):
        return set(project())
    return {each for each in project() if each.suffix != ".ipynb" and "answers" not in each.parts} | {*mine}


@functools.cache
def machine():
    """Return what a result depends on beside the project: Python, what is installed, the cores, and a GPU."""
    installed = sorted(f"{each.name} {each.version}" for each in importlib.metadata.distributions())
    programs = [str(shutil.which(name)) for name in (os.environ.get("CXX", "g++"), *PROGRAMS)]
    hardware = [str(usable_cores()), str(Path("/dev/nvidia0").exists())]
    return "\n".join([sys.version, platform.platform(), *hardware, *programs, *installed])


@functools.cache
def line_of(path):
    """Return the name of a file of the project, and the hash of what it holds."""
    return f"{path.relative_to(ROOT)} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def key(path):
    """Return one hash of everything that the tests in a file depend on."""
    parts = [machine(), *sorted(map(line_of, files(path)))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
