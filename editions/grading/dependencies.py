"""Which cells of a notebook a cell depends on: a slice backwards over the names that cells bind, use and change."""
import ast
import contextlib
import symtable
from functools import cache
from typing import NamedTuple

from IPython.core.inputtransformer2 import TransformerManager

SHOWS = {"print", "display", "bars", "curves", "show", "plot", "sliders"}  # calls that change nothing they are given
NO_NAMES = {"matplotlib", "timeit", "prun", "pip", "conda"}  # magics that bind no name
HIDDEN = {"globals", "locals", "builtins", "__builtins__", "__main__"}  # through these, names are bound unseen
SHELL = {"system", "getoutput"}  # the calls that lines with `!` become


class Names(NamedTuple):
    """The global names that a cell binds, uses, and changes in place, and whether it may bind others, which hide."""

    binds: frozenset
    uses: frozenset
    changes: frozenset
    hides: bool = False


NO_NAME = Names(frozenset(), frozenset(), frozenset())


@cache
def python_of(source):
    """Return the Python that IPython makes of a cell: magics and lines with `!` become calls."""
    try:
        return TransformerManager().transform_cell(source)
    except Exception:  # of any kind: it gives up after 500 lines
        return source


def magic_in(node):
    """Return the arguments of the call that a magic has become: its name, its line, the rest of the cell; else []."""
    called = getattr(node, "func", None)
    if isinstance(called, ast.Attribute) and called.attr in ("run_line_magic", "run_cell_magic"):
        return [getattr(argument, "value", None) for argument in node.args]
    return []


@cache
def names_of(source):
    """Return the names of a cell; a cell that cannot be parsed has none."""
    try:
        source = python_of(source)
        tree = ast.parse(source)
        if len(tree.body) == 1 and len(magic := magic_in(getattr(tree.body[0], "value", None))) == 3:
            return names_of(magic[2])._replace(hides=True)
        symbols = _global_symbols(symtable.symtable(source, "cell", "exec"))
        binds = {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()}
        changes = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                changes |= _changed_by(node.value)
            elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
                changes |= _root(node)
        uses = {symbol.get_name() for symbol in symbols if symbol.is_referenced()}
        return Names(frozenset(binds), frozenset(uses), frozenset(changes), any(map(_hides, ast.walk(tree))))
    except Exception:  # of any kind: the source is a stranger's
        return NO_NAME


def _hides(node):
    """Return whether a part of a cell may bind names that its symbol table does not show."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return bool({"*", *HIDDEN} & {alias.name for alias in node.names})
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "exec":
        return len(node.args) == 1  # else it binds them elsewhere
    if isinstance(node, ast.Attribute) and getattr(getattr(node.value, "func", None), "id", "") == "get_ipython":
        return not node.attr.startswith("run_line") and node.attr not in SHELL
    magic = magic_in(node)
    return bool(magic and magic[0] not in NO_NAMES) or getattr(node, "id", "") in HIDDEN


def _global_symbols(table):
    """Return the global symbols of a symbol table and of all tables within it."""
    symbols = [symbol for symbol in table.get_symbols() if symbol.is_global()]
    for inner in table.get_children():
        symbols += _global_symbols(inner)
    return symbols


def _changed_by(call):
    """Return the names of what a call whose result nobody takes may change: its object and its arguments."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in SHOWS:
        return set()
    changed = _root(function) if isinstance(function, ast.Attribute) else set()
    for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
        changed |= _root(argument)
    return changed


def _root(node):
    """Return the name at the root of an expression such as `name.attribute[0]`, as a set."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def depends_on(cells, needed, always=()):
    """Return the indices of the cells on which a cell after them depends that uses the names `needed`.

    `cells` are their Names. Found are the cells with an index in `always`, those that may bind names which hide, and,
    from the last to the first, those that bind or change a name that is needed so far. What they bind is no longer
    needed from cells before them; what they use is.
    """
    needed = set(needed)
    found = set()
    for index in reversed(range(len(cells))):
        cell = cells[index]
        if index in always or cell.hides or needed & (cell.binds | cell.changes):
            found.add(index)
            needed = (needed - cell.binds) | cell.uses
    return sorted(found)


@cache
def definitions(source):
    """Return the top-level statements of a cell by the names that they bind, in a form that ignores the layout."""
    found = {}
    with contextlib.suppress(Exception):
        for statement in ast.parse(python_of(source)).body:
            for name in names_of(ast.unparse(statement)).binds:
                found[name] = ast.dump(statement)
    return found


def left_open(source):
    """Return the names that a cell binds to `...`, in order: those that wait for an answer."""
    found = []
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.value) == "...":
            found += [target.id for target in statement.targets if isinstance(target, ast.Name)]
    return found


def arguments_of(source, function):
    """Return the arguments of the last call of a function in a cell, as source text, or None if there is no call."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)
             and isinstance(node.func, ast.Name) and node.func.id == function]
    return [ast.unparse(argument) for argument in calls[-1].args] if calls else None


def statements_of(source):
    """Return the source of each top-level statement of a cell."""
    return [ast.get_source_segment(source, statement) if not getattr(statement, "decorator_list", None)
            else ast.unparse(statement) for statement in ast.parse(source).body]
