"""The lessons as they may be met elsewhere: in odd folders, without UTF-8, with other numbers of cores, run again."""
import os
import re
import shutil

import nbformat
import pytest
from nbclient import NotebookClient
from test_editions import make
from test_lab import LESSONS, ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """Make a reader's own copies in a folder whose name has spaces and Chinese characters."""
    place = tmp_path_factory.mktemp("lessons") / "深度 学习 folder"
    shutil.copytree(ROOT / "d2lhelpers", place / "d2lhelpers", ignore=shutil.ignore_patterns("__pycache__"))
    make.mine(place / "my-lessons")
    return place


SLOW = re.compile("pytorch/0[14-7]|/0[67]-|settings")  # half a minute and more, most of it in other processes: once
LONG = re.compile("pytorch/0[1-3]|/0[4-7]-|settings|stale")  # not for a locale that hardly anyone has


def run(path, times, monkeypatch, **variables):
    """Run all cells of a lesson `times` times in one kernel, which starts in the lesson's folder."""
    for name in [name for name in os.environ if name.startswith(("OMP_", "MXNET_"))]:
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    lesson = nbformat.read(path, as_version=4)
    client = NotebookClient(lesson, timeout=300, resources={"metadata": {"path": str(path.parent)}})
    with client.setup_kernel():
        for _ in range(times):
            for index, cell in enumerate(lesson.cells):
                client.execute_cell(cell, index)


def files(place):
    """Return every file and folder with the time of its last change."""
    return {path: path.stat().st_mtime_ns for path in place.rglob("*")}


@pytest.mark.parametrize("lesson", LESSONS)
def test_elsewhere_and_again(lesson, elsewhere, monkeypatch):
    """A reader's copy, in an odd folder, set for 8 cores, runs, if quick twice, without an error or a new file."""
    before = files(elsewhere)
    run(elsewhere / lesson.replace("notebooks", "my-lessons"), 1 if SLOW.search(lesson) else 2, monkeypatch,
        OMP_NUM_THREADS="8", PYTHONPATH=str(elsewhere), PYTHONDONTWRITEBYTECODE="1")
    assert files(elsewhere) == before


@pytest.mark.parametrize("lesson", [each for each in LESSONS if not LONG.search(each)])
def test_without_utf8(lesson, monkeypatch):
    """In a locale that has no UTF-8, set for one core, a lesson runs: not those that compile, which need it."""
    # Without these two Python switches to UTF-8 by itself. The lessons that take long are left out for the time.
    run(ROOT / lesson, 1, monkeypatch, LC_ALL="C", OMP_NUM_THREADS="1", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
