"""The lessons in other environments: other processors, folders and locales, and settings of their readers."""
import itertools
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
from nbclient import NotebookClient
from test_lab import KINDS, LESSONS, ROOT, each

import conftest
from d2lhelpers import environment
from editions import copies

# Variables that make PyTorch, MXNet and their libraries compute as on another processor.
PROCESSORS = {
    "without AVX": {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41", "DNNL_MAX_CPU_ISA": "SSE41",
                    "MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "OPENBLAS_CORETYPE": "Nehalem"},
    "with AVX2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "DNNL_MAX_CPU_ISA": "AVX2",
                  "MKL_ENABLE_INSTRUCTIONS": "AVX2", "OPENBLAS_CORETYPE": "Haswell"},
    "compatible": {"MKL_CBWR": "COMPATIBLE", "OPENBLAS_CORETYPE": "Sandybridge"},
}
SLOW = re.compile("pytorch/0[14-7]|/0[367]-|settings")  # run once: half a minute or more, most of it in other processes
LONG = re.compile("pytorch/0[1-3]|/0[4-7]-|settings|stale")  # not run in a locale that hardly anyone has
EQUAL = re.compile(r"assert .*\b(gaps?|apart|difference|allclose|equal)\b")


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """Make a reader's own copies in a folder whose name has spaces and Chinese characters."""
    place = tmp_path_factory.mktemp("lessons") / "深度 学习 folder"
    shutil.copytree(ROOT / "d2lhelpers", place / "d2lhelpers", ignore=shutil.ignore_patterns("__pycache__"))
    copies.write_readers_copies(place / "my-lessons")
    return place


def run(path, times, monkeypatch, **variables):
    """Run all cells of a lesson `times` times in one kernel, which starts in the lesson's folder; return the cells."""
    for name in [name for name in os.environ if name.startswith(("OMP_", "MXNET_"))]:
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    lesson = nbformat.read(path, as_version=4)
    client = NotebookClient(lesson, timeout=300, iopub_timeout=60, resources={"metadata": {"path": str(path.parent)}})
    with client.setup_kernel():
        for _ in range(times):
            for index, cell in enumerate(lesson.cells):
                client.execute_cell(cell, index)
    return lesson.cells


def files(place):
    """Return every file and folder with the time of its last change."""
    return {path: path.lstat().st_mtime_ns for path in place.rglob("*")}


@pytest.mark.slow
@pytest.mark.parametrize("lesson", each(LESSONS))
def test_elsewhere_and_again(lesson, elsewhere, monkeypatch):
    """A copy runs in an odd folder with 8 threads and as on an old processor, twice if it is quick; no file changes."""
    before = files(elsewhere)
    path = elsewhere / lesson.replace("notebooks", "my-lessons")
    times = 1 if SLOW.search(lesson) else 2
    run(path, times, monkeypatch, **PROCESSORS["without AVX"], OMP_NUM_THREADS="8", PYTHONPATH=str(elsewhere),
        PYTHONDONTWRITEBYTECODE="1")
    assert files(elsewhere) == before


@pytest.mark.slow
@pytest.mark.parametrize("lesson", each(name for name in LESSONS if EQUAL.search((ROOT / name).read_text("utf-8"))))
def test_equal_means_equal_on_another_processor(lesson, monkeypatch):
    """Results that a lesson claims to be equal are equal on processors with AVX2 and in MKL's compatible mode."""
    run(ROOT / lesson, 1, monkeypatch, **PROCESSORS["compatible"] | PROCESSORS["with AVX2"])


@pytest.mark.slow
@pytest.mark.parametrize("lesson", each(name for name in LESSONS if not LONG.search(name)))
def test_without_utf8(lesson, monkeypatch):
    """In a locale without UTF-8, set for one thread, every lesson runs that neither compiles nor takes long."""
    # Without the last two variables Python switches to UTF-8 by itself. Compiling needs UTF-8.
    run(ROOT / lesson, 1, monkeypatch, LC_ALL="C", OMP_NUM_THREADS="1", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")


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
        if cell.cell_type == "code" and not {"setup", "needs:compiler"} & set(cell.metadata.get("tags", [])):
            types.append((cell.id, {output.output_type for output in cell.outputs} - {"error"}))
    return types


# Readers with settings of their own: variables, and files in their configuration folders.
READERS = {
    "on a cluster": ({"MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
                      "OMP_WAIT_POLICY": "passive", "CXX": "no-such-compiler"}, {}),
    "with plot settings": ({"MPLBACKEND": "TkAgg"}, {
        "matplotlib/matplotlibrc": "figure.dpi: 300\nfont.family: No Such Font\ntext.usetex: True\naxes.grid: True\n"
                                   "figure.figsize: 30, 30\nsavefig.format: pdf\nbackend: pdf\n"}),
    "with startup files": ({"MKL_DYNAMIC": "FALSE", "NUMEXPR_NUM_THREADS": "3"}, {
        "ipython/profile_default/ipython_kernel_config.py":
            "c.InteractiveShellApp.exec_lines = ['np, torch, plt = 1, 2, 3']\n"
            "c.InteractiveShell.ast_node_interactivity = 'all'\n",
        "ipython/profile_default/startup/00.py": "import matplotlib\nmatplotlib.use('svg')\nmeasure = display = None\n",
        "start.py": "print('a startup file')\n"}),
}
STARTS = ["notebooks/00-start-here.ipynb", "notebooks/pytorch/00-start-here.ipynb"]
MEETINGS = []  # each lesson of `KINDS` with each reader: after every change the first ones, the others once a week
for lesson, reader in itertools.product(KINDS, READERS):
    if lesson in LESSONS:
        MEETINGS.append(pytest.param(lesson, reader, marks=[] if lesson in STARTS else [pytest.mark.weekly]))


@pytest.mark.slow
@pytest.mark.parametrize(("lesson", "reader"), MEETINGS)
def test_a_readers_settings_change_nothing(lesson, reader, tmp_path, monkeypatch):
    """Whatever a reader has set for other programs, a lesson runs and shows what is stored, pictures just as wide."""
    variables, home = READERS[reader]
    for name, text in home.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    folders = {"MPLCONFIGDIR": "matplotlib", "IPYTHONDIR": "ipython"}
    own = {variable: str(tmp_path / folder) for variable, folder in folders.items() if (tmp_path / folder).exists()}
    found = run(ROOT / lesson, 1, monkeypatch, **variables, **own, PYTHONSTARTUP=str(tmp_path / "start.py"))
    stored = nbformat.read(ROOT / lesson, as_version=4).cells
    assert output_types(found) == output_types(stored)
    widths = pictures(found)
    wanted = pictures(stored)
    assert widths.keys() == wanted.keys()
    assert all(abs(widths[cell] / wanted[cell] - 1) < 0.2 for cell in wanted), (widths, wanted)


@pytest.mark.slow
@pytest.mark.parametrize(("lesson", "setting"), [
    (STARTS[0], "PYTHONOPTIMIZE=1"), (STARTS[0], "MXNET_ENGINE_TYPE=NaiveEngine"), (STARTS[1], "PYTHONOPTIMIZE=1"),
    (STARTS[1], "TORCH_COMPILE_DISABLE=1"), (STARTS[1], "PYTORCH_JIT=0"), (STARTS[1], "OMP_PROC_BIND=close")])
def test_disturbing_settings_are_named_first(lesson, setting, monkeypatch):
    """The set-up of a lesson and the report name a setting that disables the lesson's subject or its assertions."""
    if lesson not in LESSONS:
        pytest.skip("this track is not installed")
    notebook = nbformat.read(ROOT / lesson, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    [report] = [index for index, cell in enumerate(code) if "report()" in cell.source]
    name, value = setting.split("=")
    monkeypatch.setenv(name, value)
    notebook.cells = code[:report + 1]
    resources = {"metadata": {"path": (ROOT / lesson).parent}}
    NotebookClient(notebook, timeout=300, iopub_timeout=60, resources=resources).execute()
    printed = []
    for cell in notebook.cells:
        printed.append("".join(output.get("text", "") for output in cell.outputs))
    assert f"Take note: {name}" in "".join(printed[:-1])
    assert re.search(rf"settings: +{name}", printed[-1])


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
@pytest.mark.skipif("notebooks/pytorch/00-start-here.ipynb" not in LESSONS, reason="there is no PyTorch here")
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
