"""The rules for the code of `d2lhelpers` and `editions`, and for what pages say about it."""
import ast
import graphlib
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = {}  # by name: the syntax tree of each module
for path in sorted([*ROOT.glob("d2lhelpers/**/*.py"), *ROOT.glob("editions/**/*.py")]):
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    MODULES[name] = ast.parse(path.read_text(encoding="utf-8"))


def imports(name, tree):
    """Return the project's modules that a module imports, at its top or in a function, except for editors alone."""
    package = name.split(".") if (ROOT / name.replace(".", "/")).is_dir() else name.split(".")[:-1]
    checked = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    for_editors = {each for node in checked for each in ast.walk(node)}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node not in for_editors:
            above = package[:len(package) + 1 - node.level] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            found |= {f"{module}.{each.name}" if f"{module}.{each.name}" in MODULES else module for each in node.names}
        elif isinstance(node, ast.Import) and node not in for_editors:
            found |= {each.name for each in node.names}
    return (found & MODULES.keys()) - {name}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_read_in_minutes(name):
    """A module has at most 250 lines, and a function at most five parameters."""
    tree = MODULES[name]
    assert max([0, *(node.end_lineno for node in tree.body)]) <= 250
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            own = [each.arg for each in every if each.arg not in ("self", "cls")]
            assert len(own) <= 5, f"{getattr(node, 'name', 'lambda')}: {own}"


@pytest.mark.parametrize("name", MODULES)
def test_a_name_is_defined_once(name):
    """No module gives a name at its top a second definition, which would hide the first one."""
    defined = []
    for node in MODULES[name].body:
        overloaded = any("overload" in ast.dump(each) for each in getattr(node, "decorator_list", []))
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not overloaded:
            defined.append(node.name)
        for target in getattr(node, "targets", [getattr(node, "target", None)]):
            defined += [each.id for each in ast.walk(target) if isinstance(each, ast.Name)] if target else []
    assert sorted(defined) == sorted(set(defined))


def test_imports_point_one_way():
    """No modules import one another in a circle, and `d2lhelpers` imports nothing of `editions`."""
    graph = {name: imports(name, tree) for name, tree in MODULES.items()}
    assert graph["d2lhelpers.torch.bottleneck"] >= {"d2lhelpers.machine", "d2lhelpers.torch.work"}
    list(graphlib.TopologicalSorter(graph).static_order())  # raises a CycleError
    for name, imported in graph.items():
        assert name.startswith("editions") or not [each for each in imported if each.startswith("editions")]


@pytest.mark.parametrize("page", ["AGENTS.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md",
                                  "notebooks/for-instructors.md"])
def test_a_page_names_modules_that_exist(page):
    """Each module of the helpers that a page names exists."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for named in re.findall(r"`(?:from )?(d2lhelpers[\w.]*)", text):
        assert named in MODULES or named.rpartition(".")[2].startswith("__") or find_spec(named), f"{page}: {named}"
