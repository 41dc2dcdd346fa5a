"""The lessons in other environments: other processors, folders and locales, and settings of their readers."""
import os
import re
import shutil
import struct
import subprocess
import sys
from base64 import b64decode
from types import SimpleNamespace

import nbformat
import pytest
from lessons import INSTALLED, ROOT, Lesson, each_kind, printed, tags
from nbformat.v4 import new_code_cell, new_notebook

import conftest
from d2lhelpers import environment
from editions import copies

# What a reader's machine may have, of which a lesson must not depend: variables, and files in the reader's home. All
# conditions of a machine come together; variables of processors make libraries compute as on another one.
DESKTOP = {
    "an old processor": ({"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41", "DNNL_MAX_CPU_ISA": "SSE41",
                          "MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "OPENBLAS_CORETYPE": "Nehalem"}, {}),
    "eight threads": ({"OMP_NUM_THREADS": "8", "MKL_DYNAMIC": "FALSE", "NUMEXPR_NUM_THREADS": "3"}, {}),
    "plot settings": ({"MPLBACKEND": "TkAgg", "MPLCONFIGDIR": "matplotlib"}, {
        "matplotlib/matplotlibrc": "figure.dpi: 300\nfont.family: No Such Font\ntext.usetex: True\naxes.grid: True\n"
                                   "figure.figsize: 30, 30\nsavefig.format: pdf\nbackend: pdf\n"}),
    "startup files": ({"IPYTHONDIR": "ipython", "PYTHONSTARTUP": "start.py"}, {
        "ipython/profile_default/ipython_kernel_config.py":
            "c.InteractiveShellApp.exec_lines = ['np, torch, plt = 1, 2, 3']\n"
            "c.InteractiveShell.ast_node_interactivity = 'all'\n",
        "ipython/profile_default/startup/00.py": "import matplotlib\nmatplotlib.use('svg')\nmeasure = display = None\n",
        "start.py": "print('a startup file')\n"}),
}
CLUSTER = {
    "MKL's compatible mode": ({"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "DNNL_MAX_CPU_ISA": "AVX2",
                               "MKL_ENABLE_INSTRUCTIONS": "AVX2", "MKL_CBWR": "COMPATIBLE",
                               "OPENBLAS_CORETYPE": "Sandybridge"}, {}),
    "one thread": ({"MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
                    "OMP_WAIT_POLICY": "passive"}, {}),
    "no compiler": ({"CXX": "no-such-compiler"}, {}),
    # Without the last two variables Python switches to UTF-8 by itself.
    "no UTF-8": ({"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, {}),
}
MACHINES = {"desktop": DESKTOP, "cluster": CLUSTER}
SLOW = re.compile("pytorch/0[124-7]|^0[367]-|settings")  # run once: half a minute, most of it in other processes
STARTS = [lesson for lesson in INSTALLED if lesson.name.endswith("00-start-here")]


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """Make a reader's own copies in a folder whose name has spaces and Chinese characters."""
    place = tmp_path_factory.mktemp("lessons") / "深度 学习 folder"
    shutil.copytree(ROOT / "d2lhelpers", place / "d2lhelpers", ignore=shutil.ignore_patterns("__pycache__"))
    copies.write_readers_copies(place / "my-lessons")
    return place


def variables_under(conditions, home):
    """Return a kernel's variables under some conditions, whose files are written to the folder `home`."""
    of_tests = "OMP_", "MXNET_", "TORCHINDUCTOR_"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(of_tests)}
    for variables, files in conditions:
        for name, text in files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text)
        for name, value in variables.items():
            kept[name] = str(home / value) if (home / value).exists() else value
    return kept


def files(place):
    """Return every file and folder with the time of its last change."""
    return {path: path.lstat().st_mtime_ns for path in place.rglob("*")}


def pictures(cells):
    """Return the width of each picture, by the cell that shows it."""
    widths = {}
    for cell in cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                header = b64decode(output.data["image/png"])[16:20]
                [widths[cell.id]] = struct.unpack(">I", header)
    return widths


def output_types(cells):
    """Return the types of output of each code cell, but not of set-up and of cells that need a compiler."""
    types = []
    for cell in cells:
        if cell.cell_type == "code" and not {"setup", "needs:compiler"} & tags(cell):
            types.append((cell.id, {output.output_type for output in cell.outputs} - {"error"}))
    return types


def run_under(conditions, lesson, elsewhere, home):
    """Assert that a copy of a lesson runs, twice if it is quick, shows what is stored, and changes no file."""
    copy = Lesson(elsewhere / lesson.file.replace("notebooks", "my-lessons", 1))
    before = files(elsewhere)
    env = variables_under(conditions, home) | {"PYTHONPATH": str(elsewhere), "PYTHONDONTWRITEBYTECODE": "1"}
    times = 1 if SLOW.search(lesson.name) else 2
    found = copy.run(copy.notebook.cells, times, env, allow_errors=False)
    assert files(elsewhere) == before
    assert output_types(found) == output_types(lesson.notebook.cells)
    widths, wanted = pictures(found), pictures(lesson.notebook.cells)
    assert widths.keys() == wanted.keys()
    assert all(abs(widths[cell] / wanted[cell] - 1) < 0.2 for cell in wanted), (widths, wanted)


def run_on(machine, lesson, elsewhere, home):
    """Run a lesson under all conditions of a machine; if it fails, say under which of them it fails alone."""
    conditions = dict(MACHINES[machine])
    if any("needs:compiler" in tags(cell) for cell in lesson.code):  # compiling needs a compiler, and UTF-8
        conditions = {name: each for name, each in conditions.items() if name not in ("no compiler", "no UTF-8")}
    try:
        run_under(conditions.values(), lesson, elsewhere, home / "together")
    except Exception as error:
        failed = []
        for name, condition in conditions.items():
            try:
                run_under([condition], lesson, elsewhere, home / name)
            except Exception:
                failed.append(name)
        pytest.fail(f"{lesson} fails {' and '.join(failed) or 'only under all of them together'}: {error}",
                    pytrace=False)


@pytest.mark.slow
@pytest.mark.parametrize("lesson", each_kind())
def test_on_a_desktop(lesson, elsewhere, tmp_path):
    """A reader's copy in an odd folder shows what is stored, whatever its reader has set for other programs."""
    run_on("desktop", lesson, elsewhere, tmp_path)


ON_CLUSTER = [pytest.param(lesson, id=lesson.name, marks=[] if lesson in STARTS else pytest.mark.weekly)
              for lesson in INSTALLED]


@pytest.mark.slow
@pytest.mark.parametrize("lesson", ON_CLUSTER)
def test_on_a_cluster(lesson, elsewhere, tmp_path):
    """A copy shows what is stored with one thread, without a compiler, without UTF-8, and in MKL's compatible mode."""
    run_on("cluster", lesson, elsewhere, tmp_path)


@pytest.mark.slow
def test_the_condition_that_matters_is_named(elsewhere, tmp_path, monkeypatch):
    """If a lesson fails under all conditions together, the message names the one under which it fails alone."""
    harmless, broken = ({"SOME": "1"}, {}), ({"MPLBACKEND": "none"}, {})
    monkeypatch.setitem(MACHINES, "some", {"harmless": harmless, "without plots": broken})
    small = new_notebook(cells=[new_code_cell("import matplotlib.pyplot")])
    nbformat.write(small, elsewhere / "small.ipynb")
    with pytest.raises(pytest.fail.Exception, match="small fails without plots: "):
        run_on("some", Lesson(elsewhere / "small.ipynb"), elsewhere, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("lesson", "setting"), [
    (lesson, setting) for lesson in STARTS for setting in ["PYTHONOPTIMIZE=1", *{
        "mxnet": ["MXNET_ENGINE_TYPE=NaiveEngine"],
        "torch": ["TORCH_COMPILE_DISABLE=1", "PYTORCH_JIT=0", "OMP_PROC_BIND=close"]}[lesson.framework]]], ids=str)
def test_disturbing_settings_are_named_first(lesson, setting):
    """The set-up of a lesson and the report name a setting that disables the lesson's subject or its assertions."""
    [report] = [index for index, cell in enumerate(lesson.code) if "report()" in cell.source]
    name, value = setting.split("=")
    said = [printed(cell) for cell in lesson.run(lesson.code[:report + 1], env={**os.environ, name: value})]
    assert f"Take note: {name}" in "".join(said[:-1])
    assert re.search(rf"settings: +{name}", said[-1])


VALUES = []  # each setting with another value and with its harmless ones
for kind in environment.SETTINGS.values():
    for name, harmless, _ in kind:
        VALUES += [(name, value) for value in ["other", *harmless]]


@pytest.fixture
def shell(monkeypatch):
    """Return an IPython shell that stands for the one of a notebook's kernel."""
    from IPython.core.formatters import DisplayFormatter
    shell = SimpleNamespace(kernel="a kernel", run_line_magic=lambda *_: None, display_formatter=DisplayFormatter())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    return shell


def test_only_a_kernel_prints_conflicting_settings(shell, monkeypatch, capsys):
    """In a notebook's kernel each conflicting setting is named; a shell without a kernel prints nothing."""
    monkeypatch.setenv("PYTORCH_JIT", "0")
    environment.print_conflicting_settings("torch")
    environment.print_conflicting_settings("mxnet")
    assert re.fullmatch("Take note: PYTORCH_JIT=0: .*\n", capsys.readouterr().out)
    del shell.kernel
    environment.print_conflicting_settings("torch")
    monkeypatch.delitem(sys.modules, "IPython")
    environment.print_conflicting_settings("torch")
    assert capsys.readouterr().out == ""


def test_a_cell_shows_only_its_last_value(shell, monkeypatch, capsys):
    """A kernel is set to show the value of a cell's last line, and is told if Python skips assertions."""
    monkeypatch.setattr(environment, "sys", SimpleNamespace(modules=sys.modules, flags=SimpleNamespace(optimize=1)))
    environment.prepare_notebook()
    assert shell.ast_node_interactivity == "last_expr"
    assert "skips every assertion" in capsys.readouterr().out


@pytest.mark.parametrize(("drawn", "about"), [(b"png", {}), ((b"png", {"width": 9}), {"width": 9}), (None, None)])
def test_a_plot_has_a_text_alternative(shell, drawn, about):
    """In a kernel a plot's picture comes with what it shows in words, beside what else is known; no plot, no words."""
    from matplotlib.figure import Figure
    formatter = shell.display_formatter.formatters["image/png"]
    formatter.for_type(Figure, lambda figure: drawn)
    environment.prepare_notebook()
    figure = Figure()
    figure.subplots().bar(["a"], [2])
    assert formatter(figure) == (drawn and (b"png", {**about, "alt": "a 2"}))


def test_pictures_that_a_reader_has_chosen_stay(shell):
    """With settings under which no PNG is drawn, a kernel draws none."""
    from matplotlib.figure import Figure
    environment.prepare_notebook()
    assert shell.display_formatter.formatters["image/png"](Figure()) is None


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="here a process may use every core")
def test_cores_are_those_of_this_process():
    """A process that is bound to one core has one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        assert environment.usable_cores() == 1
    finally:
        os.sched_setaffinity(0, cores)


@pytest.mark.parametrize(("error", "fault"), [
    (RuntimeError("g++ main.cpp\nmain.cpp:1:10: fatal error: no Python.h\nmore"), "no Python.h"),
    (OSError("cannot load it\nmore"), "cannot load it"), (ValueError(), "ValueError()")], ids=str)
def test_a_fault_of_the_compiler_is_one_line(error, fault, monkeypatch):
    """Of a compiler's messages the error is told, without it the first line, and at least the error's type."""
    torch = pytest.importorskip("torch")

    def compiled(function):
        raise error

    monkeypatch.setattr(torch, "compile", compiled)
    assert environment.compiler_fault() == fault


@pytest.mark.parametrize(("name", "value"), VALUES)
def test_a_harmless_value_is_not_named(name, value, monkeypatch):
    """A harmless value of a setting, even in capitals, is not named; any other value is."""
    monkeypatch.setenv(name, value.upper())
    assert bool(environment.conflicting_settings(*environment.SETTINGS)) is (value == "other")


def test_skipped_assertions_are_refused():
    """If Python skips assertions, pytest runs nothing, fails, and says why."""
    done = subprocess.run([sys.executable, "-m", "pytest", "-n0", "tests/test_exercises.py"], cwd=ROOT, text=True,
                          capture_output=True, env=os.environ | {"PYTHONOPTIMIZE": "1"}, timeout=600)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "unset PYTHONOPTIMIZE" in done.stderr


def test_the_probe_of_mxnet_says_what_is_missing(monkeypatch, tmp_path):
    """The probe of MXNet says that it is not installed, or which library cannot be opened."""
    monkeypatch.setattr(environment, "find_spec", lambda name: None)
    assert environment.mxnet_fault() == "it is not installed"
    spec = type("Spec", (), {"origin": str(tmp_path / "__init__.py")})
    monkeypatch.setattr(environment, "find_spec", lambda name: spec)
    assert "libmxnet.so: cannot open shared object file" in environment.mxnet_fault()


COMPILERS = {
    "none": None,
    "without Python's headers": "grep -qs Python.h \"$@\" && { echo 'no Python.h' >&2; exit 1; }\ng++ \"$@\"",
    "whose work cannot be loaded":
        "g++ \"$@\" || exit\nwhile [ $# -gt 1 ]; do [ \"$1\" = -o ] && : >\"$2\"; shift; done",
}


@pytest.mark.slow
@pytest.mark.skipif("torch" not in {lesson.framework for lesson in INSTALLED}, reason="there is no PyTorch here")
@pytest.mark.skipif(not shutil.which("g++"), reason="there is no g++ here")
@pytest.mark.parametrize("compiler", COMPILERS)
def test_only_a_compiler_that_works_is_found(compiler, tmp_path, monkeypatch):
    """The probe that lessons and tests share accepts a compiler only if it builds something that Python can load."""
    stub = tmp_path / "c++"
    if COMPILERS[compiler]:
        stub.write_text(f"#!/bin/sh\n{COMPILERS[compiler]}\n")
        stub.chmod(0o755)
    monkeypatch.setenv("CXX", str(stub))
    assert conftest.compiler_fault.__wrapped__()
