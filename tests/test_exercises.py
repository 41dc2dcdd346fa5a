import signal
import time
from importlib.util import find_spec

import ipywidgets
import pytest

from d2lhelpers import exercises
from d2lhelpers.attempts import Attempt
from d2lhelpers.exercises import check, predict, show_source, sliders


@pytest.fixture
def widgets(monkeypatch):
    """Turn widgets on, and return the list of those that are made."""
    made = []
    monkeypatch.setattr(exercises, "WIDGETS", True)
    ipywidgets.Widget.on_widget_constructed(made.append)
    yield made
    ipywidgets.Widget.on_widget_constructed(None)


def test_a_click_is_kept(capsys, widgets):
    """The option that a reader clicks, even 0, is printed beside the outcome, which must be one of the options."""
    prediction = predict("How many?", 1, 0)
    bundle = prediction._repr_mimebundle_()
    assert bundle["text/plain"] == "How many?\n( ) 1\n( ) 0"
    [box] = [widget for widget in widgets if isinstance(widget, ipywidgets.VBox)]
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == box.model_id
    capsys.readouterr()
    prediction.reveal(1)
    assert capsys.readouterr().out == ""
    box.children[1].value = 0
    prediction.reveal(1)
    assert capsys.readouterr().out == "you predicted: 0\nthe outcome:   1\n"
    with pytest.raises(ValueError, match="outcome 2 is not one of the answers"):
        prediction.reveal(2)


def test_buttons_with_an_earlier_version(widgets, monkeypatch):
    """With ipywidgets 7, whose widgets have no `_repr_mimebundle_`, a prediction has the buttons that it has with 8."""
    box = ipywidgets.VBox()
    view = {name: value for name, value in box._repr_mimebundle_().items() if "widget-view" in name}
    monkeypatch.delattr(ipywidgets.Widget, "_repr_mimebundle_")
    bundle = predict("How many?", 1, 0)._repr_mimebundle_()
    [name] = view
    assert {**bundle[name], "model_id": None} == {**view[name], "model_id": None}


def test_a_slider_calls_the_function(widgets):
    """The function is called at once, and again with the new value when a slider is moved."""
    seen = []
    sliders(lambda x: seen.append(x), x=(1, 9))
    [slider] = [widget for widget in widgets if isinstance(widget, ipywidgets.IntSlider)]
    slider.value = 7
    assert seen == [5, 7]


def test_without_widgets_there_is_text(capsys):
    """Where D2LHELPERS_WIDGETS is 0, as in all tests, a prediction is its text, and a line stands for the sliders."""
    assert exercises.Prediction("How many?", (1, 0))._repr_mimebundle_() == {"text/plain": "How many?\n( ) 1\n( ) 0"}
    sliders(pytest.fail, x=(1, 9))
    assert capsys.readouterr().out == "(sliders stand here when the lesson runs)\n"


def not_four(answer):
    """Return True, but for the answer 4 raise an exception without a message."""
    if answer == 4:
        raise AssertionError
    return True


@pytest.mark.parametrize(("answer", "right", "words"), [
    (2, True, "right\n"),
    (3, False, "not yet. Hint: an even number\n"),
    (..., False, "no answer yet: put yours in place of the three dots, then run this cell again\n"),
    (None, False, "not yet. It raised TypeError(\"'>' not supported between instances of 'NoneType' and "
                  "'int'\"). Hint: larger\n"),
    (4, False, "not yet. It raised AssertionError(). Hint: not four\n"),
])
def test_check(capsys, answer, right, words):
    """A right answer is called right; a wrong one gets the hint of the first rule it breaks, even if a rule raises."""
    rules = [(lambda x: x > 1, "larger"), (lambda x: x % 2 == 0, "an even number"), (not_four, "not four")]
    assert check(answer, *rules) is right
    assert capsys.readouterr().out == words


@pytest.mark.parametrize(("answer", "words"), [
    (lambda: None, "Hint: the check cannot use what your answer gives"), (lambda: 1 / 0, "Hint: larger")])
def test_a_hint_says_whose_code_raised(capsys, answer, words):
    """If a function gives something that a rule cannot use, the hint says so; if it raises itself, it is the rule's."""
    namespace = {"__name__": "rules_of_a_check"}  # a rule is code of another module than the answer
    exec("def larger(answer): return answer() > 1", namespace)
    assert not check(answer, (namespace["larger"], "larger"))
    assert words in capsys.readouterr().out


def test_a_check_that_takes_long_says_so_first(capsys):
    """The first line tells a reader how long to wait, but not if there is no answer yet."""
    assert check(1, ("one", lambda x: x == 1, "one"), seconds=20)
    assert capsys.readouterr().out == "this check takes up to 20 seconds\nright\n"
    check(..., seconds=20)
    assert "seconds" not in capsys.readouterr().out


@pytest.mark.parametrize("endless", [
    "while True: pass", "while True:\n    try: time.sleep(9)\n    except Exception: pass"])
def test_check_ends_an_answer_that_never_ends(capsys, monkeypatch, endless):
    """An answer that never comes back is ended, even if it catches every Exception, and the next one is checked."""
    monkeypatch.setattr(exercises, "CHECK_SECONDS", 0.2)
    assert not check(lambda: exec(endless, {"time": time}), (lambda run: run() or True, "run it"))
    assert "still running after 0.2 seconds" in capsys.readouterr().out
    monkeypatch.undo()
    assert check(3, (lambda x: x == 3, "three"))
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0  # nothing will end what runs next


needs_torch = pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed")


def wait_in_vain():
    """Call on rank 0 what rank 1 does not call."""
    import torch.distributed as dist
    if dist.get_rank() == 0:
        dist.barrier()
        dist.barrier()


def never_end():
    """Run for ever."""
    while True:
        pass


def work_for_a_while():
    """Compute for two seconds, which a right answer may."""
    import time
    while time.process_time() < 2:
        pass
    time.sleep(1.5)
    return 7


@pytest.fixture(scope="module")
def ranks():
    """Start the process that starts all ranks, as lessons have done before their exercises: it takes some seconds."""
    from d2lhelpers.process import in_group
    in_group(int, size=1)


@needs_torch
@pytest.mark.usefixtures("ranks")
@pytest.mark.parametrize(("function", "fault", "said"), [
    (lambda: 1 / 0, "ZeroDivisionError: division by zero", "It raised ZeroDivisionError: division by zero. Hint: it f"),
    (wait_in_vain, "waits", "not yet. Hint: a rank waits for the others in vain"),
    (never_end, "runs", "not yet. Hint: a rank was still running"),
    (work_for_a_while, "", "right\n"), (lambda: 7, "", "right\n")])
def test_an_attempt_on_ranks_says_what_went_wrong(function, fault, said, capsys, monkeypatch):
    """A rank that raises, waits for the others in vain or never ends is ended, and named in one readable line."""
    monkeypatch.setattr(exercises, "CHECK_SECONDS", 600)  # on a busy machine a rank gets little processor time
    attempt = Attempt(patience=3)
    check(function, *attempt.rules(function))
    assert attempt.fault == fault
    assert attempt.results == ([] if fault else [7, 7])
    assert said in capsys.readouterr().out


def test_source_is_shown_as_code(monkeypatch):
    """The source of functions and methods becomes one block of Python in a notebook."""
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    show_source(never_end, exercises.Prediction.__init__)
    first, second, third = shown[0].data.split("def ")
    assert first == "```python\n"
    assert second == 'never_end():\n    """Run for ever."""\n    while True:\n        pass\n\n'
    assert third.startswith("__init__(self, question: str, options: tuple):\n    self.question = question\n")
    assert third.endswith("None\n```")
