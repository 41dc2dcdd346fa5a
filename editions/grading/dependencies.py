"""Which cells of a notebook a cell depends on: a slice backwards over the names that cells bind, use and change."""
import ast
import contextlib
import symtable
from functools import cache
from tokenize import TokenError
from typing import NamedTuple

from IPython.core.inputtransformer2 import TransformerManager

SHOWS = {"print", "display", "bars", "curves", "show", "plot", "sliders"}  # calls that change nothing they are given

NO_PYTHON = SyntaxError, ValueError, RecursionError, MemoryError, TokenError  # what a cell raises that cannot be parsed


class Names(NamedTuple):
    """The global names that a cell binds, uses, and changes in place."""

    binds: frozenset
    uses: frozenset
    changes: frozenset


@cache
def names_of(source):
    """Return the names of a cell; those of a cell that is not Python are empty sets."""
    try:
        source = TransformerManager().transform_cell(source)  # magics become calls
        tree = ast.parse(source)
        symbols = _global_symbols(symtable.symtable(source, "cell", "exec"))
    except NO_PYTHON:
        return Names(frozenset(), frozenset(), frozenset())
    binds = {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()}
    changes = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            changes |= _changed_by(node.value)
        elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            changes |= _root(node)
    uses = {symbol.get_name() for symbol in symbols if symbol.is_referenced()}
    return Names(frozenset(binds), frozenset(uses), frozenset(changes))


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

    `cells` are their Names. Found are the cells with an index in `always`, and, from the last to the first, those that
    bind or change a name that is needed so far. What they bind is no longer needed from cells before them; what they
    use is.
    """
    needed = set(needed)
    found = set()
    for index in reversed(range(len(cells))):
        cell = cells[index]
        if index in always or needed & (cell.binds | cell.changes):
            found.add(index)
            needed = (needed - cell.binds) | cell.uses
    return sorted(found)


def definitions(source):
    """Return the top-level statements of a cell by the names that they bind, in a form that ignores the layout."""
    found = {}
    with contextlib.suppress(*NO_PYTHON):
        for statement in ast.parse(source).body:
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
