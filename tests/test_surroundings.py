"""The lessons as they may be met elsewhere: in odd folders, other languages, with other numbers of cores, run again."""
import os
import shutil

import nbformat
import pytest
from nbconvert.preprocessors import ExecutePreprocessor
from test_lab import LESSONS
from test_lessons import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """Copy the project into a folder with spaces and Chinese characters, where nothing may be written."""
    place = tmp_path_factory.mktemp("lessons") / "深度 学习 folder"
    for name in ("notebooks", "d2lhelpers"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"))
    folders = [place, *(path for path in place.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    yield place
    for folder in folders:
        folder.chmod(0o755)


def run(path, environment, monkeypatch, times=1):
    """Run all cells of a lesson `times` times in one kernel, which starts in the lesson's folder."""
    for name in [name for name in os.environ if name.startswith(("OMP_", "MXNET_"))]:
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    lesson = nbformat.read(path, as_version=4)
    processor = ExecutePreprocessor(timeout=300)
    processor.nb, processor.resources = lesson, {"metadata": {"path": str(path.parent)}}
    with processor.setup_kernel():
        for _ in range(times):
            for index, cell in enumerate(lesson.cells):
                processor.execute_cell(cell, index)


def files_in(place):
    """Return every file and folder with the time of its last change."""
    return {path: path.stat().st_mtime_ns for path in place.rglob("*")}


@pytest.mark.parametrize("lesson", LESSONS)
def test_elsewhere_and_again(lesson, elsewhere, monkeypatch):
    """In an odd folder, set for 8 cores, a lesson runs twice in one kernel without an error and leaves no file."""
    before = files_in(elsewhere)
    run(elsewhere / lesson, {"OMP_NUM_THREADS": "8", "PYTHONPATH": str(elsewhere), "PYTHONDONTWRITEBYTECODE": "1"},
        monkeypatch, times=2)
    assert files_in(elsewhere) == before


@pytest.mark.parametrize("lesson", LESSONS)
def test_without_utf8(lesson, monkeypatch):
    """In a locale that has no UTF-8, set for one core, a lesson runs without an error."""
    insist = {"PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}  # else Python takes UTF-8 where the locale is C
    compiles = "compilers" in lesson  # with PyTorch, which reads its own files as the locale says
    run(ROOT / lesson, {"LC_ALL": "C", "OMP_NUM_THREADS": "1"} | ({} if compiles else insist), monkeypatch)
