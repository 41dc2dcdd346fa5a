"""What `make mutants` says is about the present code, and each module has tests that it runs."""
import re
from pathlib import Path

import mutants
import mutants_page as pages
import pytest

ROOT = Path(__file__).parents[1]
MODULE = "d2lhelpers/partition.py"
LINE = "sizes[index] += 1"


def test_the_page_is_about_the_present_code():
    """Every module and every line that tests/mutants.md lists exists in the code now."""
    figures, survivors = pages.read_page()
    headings = re.findall(r"^## (\S+)", pages.PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(survivors) == headings
    assert set(figures) | set(survivors) <= set(pages.modules())
    gone = [module for module in survivors if not {old for old, _ in survivors[module]} <= pages.lines_of(module)]
    assert not gone, f"they have changed: make mutants SAMPLE=4 MODULES='{' '.join(gone)}'"


def test_what_is_gone_leaves_the_page(tmp_path, monkeypatch):
    """A page is read as it was written; a line that is gone takes its reason and its module's figures along."""
    monkeypatch.setattr(pages, "PAGE", tmp_path / "page.md")
    kept, gone = (LINE, "sizes[index] -= 1"), ("a line that is gone: `x`", "(nothing)")
    figures = {MODULE: (9, 4, 3, 1, 1), "d2lhelpers/score.py": (3, 3, 3, 0, 0), "d2lhelpers/gone.py": (1, 1, 1, 0, 0)}
    survivors = {MODULE: {kept: "it may: `y`", gone: "?"}}
    pages.write_page(figures, survivors)
    assert "tried 8 changes" in pages.PAGE.read_text("utf-8")
    assert pages.read_page() == (figures, survivors)
    figures, survivors = pages.still_there(figures, survivors)
    assert figures == {"d2lhelpers/score.py": (3, 3, 3, 0, 0)}
    assert survivors == {MODULE: {kept: "it may: `y`"}}
    pages.write_page(figures, survivors)
    assert f"`{MODULE}`" in re.search("Not tried since they were changed: (.+)", pages.PAGE.read_text("utf-8"))[1]


@pytest.mark.parametrize("module", pages.modules())
def test_every_module_has_tests(module):
    """For each module of the package and of the editions there are tests to run, in files that exist."""
    runs = mutants.tests_of(module)
    files = re.findall(r"\S+\.py", " ".join(runs))
    assert any(name.startswith("tests/") or ">>> " in (ROOT / name).read_text(encoding="utf-8") for name in files)
    assert [name for name in files if not (ROOT / name).exists()] == []


def test_every_exception_is_of_something():
    """Every module and folder that has tests by exception, or is left out, exists."""
    assert [place for place in [*mutants.MORE_TESTS, *pages.LEFT_OUT] if not (ROOT / place).exists()] == []


def test_the_tests_of_a_module_have_its_name():
    """Doctests come first, with the file that has the module's name; a folder's file only where nothing else is."""
    assert mutants.tests_of("d2lhelpers/score.py") == ["d2lhelpers/score.py tests/test_score.py"]
    assert mutants.tests_of("d2lhelpers/torch/memory.py") == ["d2lhelpers/torch/memory.py tests/test_torch_memory.py"]
    assert mutants.tests_of("editions/folders.py") == ["tests/test_editions.py"]
    assert mutants.tests_of("editions/grading/grade.py") == ["tests/test_grade.py"]
