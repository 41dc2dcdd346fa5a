"""What is not run again, and what is: every change reruns the lessons that depend on it, and no others."""
import os
import re
import shutil
import subprocess
import sys

import depends
import nbformat
import pytest
from lessons import LESSONS, ROOT
from nbformat.v4 import new_code_cell, new_notebook, new_output


def lessons_with(file):
    """Return the names of the lessons that depend on a file."""
    return {lesson.name for lesson in LESSONS if ROOT / file in depends.files(lesson.path)}


@pytest.mark.parametrize(("file", "lessons"), [
    ("notebooks/05-multi-gpu-from-scratch.ipynb", {"05-multi-gpu-from-scratch"}),  # a cell
    ("tests/answers/pytorch/05-sharding.py", {"pytorch/05-sharding"}),
    ("notebooks/checks_mxnet/lesson_08.py", {"08-make-it-fast", "deeper/make-it-fast-solved"}),  # a check
    ("notebooks/pytorch/checks_pytorch/slow_step.py", {"pytorch/03-waiting-threads-and-copies"}),
    ("notebooks/scripts/slow_epoch.py", {"03-asynchronous-computation"}),  # a script
    ("notebooks/scripts/kvstore_worker.py", {"07-many-machines", "deeper/compressed-and-stale"}),
    ("notebooks/scripts/gpt_train.py", {"pytorch/10-find-the-bottleneck"}),
    ("d2lhelpers/torch/pipeline.py", {"pytorch/06-splitting-the-network",
                                      "deeper/schedules-with-smaller-bubbles"}),  # a helper
    ("d2lhelpers/torch/memory.py", {"pytorch/08-memory-and-precision", "pytorch/11-make-it-fast",
                                    "deeper/attention-in-tiles", "deeper/gpt-made-fast-solved"}),
    ("d2lhelpers/mxnet/waits.py", {"03-asynchronous-computation"}),
    ("d2lhelpers/environment.py", {lesson.name for lesson in LESSONS}),
    ("requirements.txt", {lesson.name for lesson in LESSONS}),  # a lock
    ("README.md", set()), ("editions/student.py", set()), ("d2lhelpers/process/none.py", set())])
def test_a_change_reruns_exactly_the_lessons_that_depend_on_it(file, lessons):
    """A cell, a check, a script, a helper, a lock: each belongs to the keys of certain lessons."""
    assert lessons_with(file) == lessons


def test_a_change_of_one_byte_changes_the_key(tmp_path, monkeypatch):
    """A key is another one when a file, or what is installed, is not the same."""
    lesson = LESSONS[0].path
    before = depends.key(lesson)
    assert depends.key(lesson) == before
    line_of = depends.line_of
    monkeypatch.setattr(depends, "line_of", lambda path: line_of(path) + "another" * (path.name == "timeline.py"))
    changed = depends.key(lesson)
    monkeypatch.setattr(depends, "machine", lambda: "another")
    assert len({before, changed, depends.key(lesson)}) == 3


@pytest.mark.parametrize(("file", "all_lessons"), [
    ("test_lessons.py", True), ("test_translations.py", True), ("test_score.py", False), ("test_timeline.py", False),
    ("test_torch_jobs.py", False)])
def test_tests_that_read_lessons_depend_on_all(file, all_lessons):
    """Tests that read notebooks depend on every one of them, other tests on none, and all on the helpers."""
    found = depends.files(ROOT / "tests" / file)
    assert ({lesson.path for lesson in LESSONS} <= found) is all_lessons
    assert (LESSONS[0].path in found) is all_lessons
    assert {path for path in depends.project() if path.is_relative_to(ROOT / "d2lhelpers")} <= found


NOTEBOOK = "from d2lhelpers.{helper} import value\nprint(value)"
SMALL = {  # a project with two helpers, each with a lesson of its own
    "d2lhelpers/__init__.py": "", "d2lhelpers/environment.py": "def usable_cores():\n    return 2\n",
    "d2lhelpers/one.py": "value = 1\n", "d2lhelpers/two.py": "value = 2\n",
    "conftest.py": 'pytest_plugins = ["unchanged"]\n', "requirements.txt": "", "requirements-pytorch.txt": "",
    "tests/sanitize.cfg": "", "tests/one_run.py": "", "tests/lessons.py": "", "tests/answer_tables.py": "",
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = [".", "tests"]\ntestpaths = ["notebooks"]\n'
                      'addopts = "--nbval"\n',
}


@pytest.fixture
def small(tmp_path):
    """Make the small project, and return a function that runs its tests; it returns what passed, and which lessons
    were not run.
    """
    for name, text in SMALL.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in ("unchanged.py", "depends.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path / "tests")
    (tmp_path / "notebooks").mkdir()
    for number, helper in enumerate(["one", "two"], 1):
        cell = new_code_cell(NOTEBOOK.format(helper=helper), execution_count=1, id="only",
                             outputs=[new_output("stream", name="stdout", text=f"{number}\n")])
        nbformat.write(new_notebook(cells=[cell]), tmp_path / "notebooks" / f"{helper}.ipynb")

    def run(*options, CI=""):
        env = {**os.environ, "CI": CI, "PYTHONPATH": str(tmp_path)}
        command = [sys.executable, "-m", "pytest", "-rA", "-n0", *options]
        done = subprocess.run(command, cwd=tmp_path, env=env, text=True, capture_output=True, timeout=100)
        ran = re.findall(r"^(PASSED|FAILED) (?:notebooks|tests)/(\w+)", done.stdout, re.MULTILINE)
        unchanged = re.findall(r"^unchanged since it passed: notebooks/(\w+)", done.stdout, re.MULTILINE)
        assert done.returncode == int(any(result == "FAILED" for result, _ in ran)), done.stdout + done.stderr
        return [name for result, name in ran if result == "PASSED"], unchanged

    run.folder = tmp_path
    return run


@pytest.mark.slow
def test_a_file_of_which_a_part_is_skipped_is_kept(small):
    """What is skipped does not make the rest of a file run again: what it lacks is part of the key."""
    settings = small.folder / "pyproject.toml"
    settings.write_text(settings.read_text().replace('["notebooks"]', '["notebooks", "tests"]'))
    tests = small.folder / "tests" / "test_three.py"
    tests.write_text("import pytest\ndef test_one():\n    pass\ndef test_two():\n    pytest.skip('no GPU')\n")
    assert small() == (["one", "two", "test_three"], [])
    assert small() == ([], ["one", "two"])
    tests.write_text(tests.read_text().replace("pass", "assert 0"))
    assert small() == ([], ["one", "two"])  # it fails
    assert small() == ([], ["one", "two"])


@pytest.mark.slow
def test_what_has_not_changed_is_not_run_again(small):
    """A lesson that passed is run again if it or its helper changes, with --all, and in CI; one that failed, always."""
    assert small() == (["one", "two"], [])
    assert small() == ([], ["one", "two"])
    assert small("-k", "one") == (["one"], [])  # whoever names something gets it
    assert small("notebooks/two.ipynb") == (["two"], [])
    assert small("--all") == (["one", "two"], [])
    assert small(CI="true") == (["one", "two"], [])
    (small.folder / "d2lhelpers/one.py").write_text("value = 1  # one\n")
    assert small() == (["one"], ["two"])
    (small.folder / "d2lhelpers/two.py").write_text("value = 3\n")
    assert small() == ([], ["one"])  # two fails
    assert small() == ([], ["one"])
    (small.folder / "d2lhelpers/two.py").write_text("value = 2\n")
    (small.folder / "requirements.txt").write_text("torch\n")
    assert small("-x") == (["one", "two"], [])
    assert small() == (["one", "two"], [])  # with -x a file may have been left before its end
    assert small() == ([], ["one", "two"])
