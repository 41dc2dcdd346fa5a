"""What code names that no honest answer to an exercise needs: the parts of Python with which a check can be forged."""
import ast
import re

from .dependencies import NO_NAMES, SHELL, magic_in, python_of

MODULES = re.compile(
    r"checks(_\w+)?(\.\w+)+|d2lhelpers\.exercises\b|sys\.modules\b|os\.(?!cpu_count|environ|getenv|getpid|sched_)\w+|"
    r"(builtins|__builtins__|__main__|inspect|gc|ctypes|importlib|pathlib|shutil|subprocess|runpy|io\.open|io\.FileIO)\b")
NAMES = {"open", "exec", "eval", "compile", "globals", "__import__", "Path", "get_ipython", "!"}
ATTRIBUTES = {"_getframe", "_current_frames", "settrace", "setprofile", "f_back", "f_locals", "f_globals", "tb_frame",
              "gi_frame", "__code__", "__globals__", "__closure__", "__subclasses__", "__builtins__", "open",
              "read_text", "read_bytes", "write_text", "write_bytes"}
BOUND = re.compile(r"__(eq|ne|lt|le|gt|ge|bool|instancecheck|class)__|(check|points)_\d+")  # what is not to be replaced
HARMLESS = NO_NAMES | {"time", "capture"}  # magics


def reaches_for(source):
    """Return what a cell names that no honest answer needs, sorted; [] if it cannot be parsed.

    >>> reaches_for("import inspect as i; answer_1 = lambda: i.stack() or i.sys._getframe(1)")
    ['_getframe', 'inspect']
    """
    try:
        tree = ast.parse(python_of(source))
        found = {what for node in list(ast.walk(tree)) for what in _reached_by_magic(node)}
        modules = {alias.asname or alias.name: dotted for node in ast.walk(tree) for alias, dotted in _imports(node)}
        local = {node.arg if isinstance(node, ast.arg) else node.id for node in ast.walk(tree)
                 if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))}
        return sorted(found.union(*(_reached_by(node, modules, local) for node in ast.walk(tree))))
    except Exception:  # of any kind: the source is a stranger's
        return []


def _reached_by_magic(node):
    """Return what a magic names; the call that it has become is given its name, such as %run, or ! for a shell."""
    if magic := magic_in(node):
        node.func = ast.Name(f"%{magic[0]}", ast.Load())
        return [what for code in magic[1:] for what in reaches_for(code)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SHELL:
        node.func = ast.Name("!", ast.Load())
    return []


def _imports(node):
    """Return what an import imports: each name as it stands there, and in full."""
    module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
    return [(alias, module + alias.name) for alias in getattr(node, "names", []) if isinstance(alias, ast.alias)]


def _reached_by(node, modules, local):
    """Return what one part of a cell names; `modules` are imported names, `local` are those of variables."""
    imported = [dotted for _, dotted in _imports(node)]
    found = {match[0] for name in [*imported, _dotted(node, modules)] if (match := MODULES.match(name))}
    name = getattr(node, "id", "") or getattr(node, "attr", "") or getattr(node, "name", None) or ""
    if isinstance(node, ast.Constant) and str(node.value).startswith("__"):
        name = node.value  # as getattr and type take it
    binds = isinstance(getattr(node, "ctx", ast.Store()), ast.Store)
    is_name = isinstance(node, ast.Name) and (name in NAMES or (name[0] == "%" and name[1:] not in HARMLESS))
    if is_name or name in ATTRIBUTES or (binds and BOUND.fullmatch(name)):
        found.add(name)
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("setattr", "delattr"):
        changed = _dotted(node.args[0], {}).split(".")[0] if node.args else ""
        found |= {node.func.id} - ({node.func.id} if changed in local else set())
    return found


def _dotted(node, modules):
    """Return an expression such as `module.name` with its module's full name, or "" if it is another."""
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value, modules)
        return before and f"{before}.{node.attr}"
    return modules.get(node.id, node.id) if isinstance(node, ast.Name) else ""
