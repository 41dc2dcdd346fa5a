"""Names of earlier versions: each leads to the present one and says so, and a copy of a lesson made before runs."""
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from d2lhelpers import moved
from editions import copies

ROOT = Path(__file__).parents[1]
EARLIER = {  # what modules had that have another name now, or that had the name now and the function elsewhere
    "exercises": "Attempt RankError meant play",
    "machine": "Limits count_bytes count_calls count_new_pages",
    "mxnet_timeline": "Timeline lines_that_wait",
    "parts": "part_sizes",
    "plots": "in_words",
    "surroundings": "begin_notebook compiler_fault describe_pictures mxnet_fault name_obstacles notebook obstacles "
                    "usable_cores",
    "torch_collectives": "count_collectives",
    "torch_compiled": "empty_cache programs steps",
    "torch_gpt": "Attention Block Cache GPT TEXT batch load_text",
    "torch_jobs": "torchrun",
    "torch_memory": "LiveBytes",
    "torch_messages": "Messages",
    "torch_needs": "Needs needs plot_parts training_flops",
    "torch_pipeline": "Pass RecordedStage Step idle plot_passes replay",
    "torch_sharding": "holds kept megabytes reduce_scatter resident watch whole",
    "torch_timeline": "Timeline lines_that_wait synchronize",
    "torch_work": "Counts count_work",
    "words": "say",
}


@pytest.mark.parametrize("module", EARLIER)
def test_an_earlier_name_leads_to_the_present_one(module):
    """Each name that an earlier module had can be imported from there, and a warning says what to write instead."""
    if module.startswith("torch") and not find_spec("torch"):
        pytest.skip("torch is not installed")
    for name in EARLIER[module].split():
        with pytest.warns(FutureWarning, match=rf"d2lhelpers\.{module}\.{name} is now (\S+);") as said:
            found = getattr(import_module(f"d2lhelpers.{module}"), name)
        assert said[0].filename == __file__  # so that the line shown is the reader's
        home, _, present = str(said[0].message).split()[3].rstrip(";").rpartition(".")
        assert found is getattr(import_module(home), present)


def test_every_earlier_module_is_tried():
    """The table above has each module that the package lists as an earlier one."""
    assert EARLIER.keys() == moved.MODULES.keys()


@pytest.mark.parametrize("module", ["d2lhelpers.torch_gpt2", "d2lhelpers.exercises", "checks.lesson_99", "check"])
def test_a_name_that_never_was_is_an_error(module):
    """What no earlier version had is missing as usual, and without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((ImportError, AttributeError)):
            _ = import_module(module).never


def test_checks_are_found_in_the_folder_of_a_lesson(tmp_path, monkeypatch):
    """`checks` leads to the folder on Python's path that has the module, with or without the package's own name."""
    for folder, module in (("checks_one", "first"), ("checks_two", "second")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").touch()
        (tmp_path / folder / f"{module}.py").write_text(f"NAME = '{module}'")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "checks"]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.warns(FutureWarning, match=r"checks\.second\.NAME is now checks_two\.second\.NAME"):
        from checks.second import NAME
    assert NAME == "second"
    with pytest.raises(ModuleNotFoundError):
        import_module("checks.third")


def test_earlier_methods_say_their_present_names(capsys):
    """`beside` of a prediction does what `reveal` does, and says so."""
    from d2lhelpers.exercises import Prediction

    prediction = Prediction("?", (1, 2))
    prediction.choice = 1
    with pytest.warns(FutureWarning, match=r"is now reveal"):
        prediction.beside(2)
    assert "predicted: 1" in capsys.readouterr().out


def test_a_copy_made_before_runs(tmp_path):
    """A reader's copy of a lesson, made with version 2 and written into since, runs beside the present lessons."""
    own = tmp_path / "deeper" / "a-thousand-machines.ipynb"
    own.parent.mkdir()
    (own.parent / "checks").symlink_to("../../gone")  # to checks that are elsewhere now
    own.write_text((ROOT / "tests" / "copy_of_version_2.json").read_text(encoding="utf-8"), encoding="utf-8")
    copies.write_readers_copies(tmp_path)
    notebook = nbformat.read(own, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("from checks.thousand import check_1"))  # before the helpers
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": own.parent}}).execute()
    printed = "".join(output.text for cell in notebook.cells for output in cell.get("outputs", [])
                      if output.output_type == "stream")
    for said in ("d2lhelpers.exercises.play is now d2lhelpers.exercises.sliders", "beside is now reveal",
                 "checks.thousand.check_1 is now checks_deeper.thousand.check_1", "right"):
        assert said in printed
