import math

import ipywidgets
import nbformat
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbclient import NotebookClient

from d2lhelpers.exercises import check, play, predict


@pytest.fixture
def widgets(monkeypatch):
    """Let widgets run, and keep those that are made."""
    made = []
    monkeypatch.delenv("D2LHELPERS_WIDGETS")
    ipywidgets.Widget.on_widget_constructed(made.append)
    yield made
    ipywidgets.Widget.on_widget_constructed(None)


def test_a_click_is_kept(capsys, widgets):
    """A click on a button is the choice, which is then printed beside what came out."""
    prediction = predict("Which?", "a", "b")
    bundle = prediction._repr_mimebundle_()
    assert bundle["text/plain"] == "Which?\n( ) a\n( ) b"
    [box] = [widget for widget in widgets if isinstance(widget, ipywidgets.VBox)]
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == box.model_id
    buttons = box.children[1]
    assert buttons.value is prediction.choice is None
    buttons.value = "b"
    assert prediction.choice == "b"
    capsys.readouterr()
    prediction.beside("a")
    assert capsys.readouterr().out == "you predicted: b\nit came out:   a\n"


def test_without_widgets_there_is_text(capsys):
    """Where widgets are left out the question is text alone, and a line stands for the sliders."""
    assert list(predict("Which?", "a", "b")._repr_mimebundle_()) == ["text/plain"]
    capsys.readouterr()
    play(print, x=(1, 2))
    assert capsys.readouterr().out == "(sliders stand here when the lesson runs)\n"


def test_a_slider_calls_the_function(widgets):
    """The function is called at once, and again with what a slider is moved to."""
    seen = []
    play(lambda x: seen.append(x), x=(1, 9))
    [slider] = [widget for widget in widgets if isinstance(widget, ipywidgets.IntSlider)]
    slider.value = 7
    assert seen == [5, 7]


LONG = """import time
from d2lhelpers import measure
print("before")
measure(lambda: time.sleep(0.4), repeat=8).times
print("after")"""


def overwritten(line):
    """Return what is seen of a line in the end: after a carriage return, what follows is written over it."""
    seen = ""
    for part in line.split("\r"):
        seen = part + seen[len(part):]
    return seen.rstrip()


@pytest.mark.parametrize("shown", [True, False])
def test_a_long_measurement_shows_progress(monkeypatch, shown):
    """After two seconds a notebook draws a bar, which is written over at the end; without widgets there is none."""
    if shown:
        monkeypatch.delenv("D2LHELPERS_WIDGETS")
    lesson = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(LONG)])
    NotebookClient(lesson, timeout=60).execute()
    printed = "".join(output["text"] for output in lesson.cells[0].outputs)
    assert ("%|" in printed) == shown
    assert [overwritten(line) for line in printed.split("\n")] == ["before", "after", ""]


def test_without_a_click_it_says_so(capsys):
    """Without a choice the outcome is shown all the same, and the reader is told what to do."""
    prediction = predict("Which?", "a", "b")
    capsys.readouterr()
    prediction.beside("b")
    assert capsys.readouterr().out.splitlines() == [
        "you predicted: (nothing yet: click an answer above, then run this again)", "it came out:   b"]


@pytest.mark.parametrize("options", [(), ("a",), ("a", "b", "a")])
def test_predict_refuses(options):
    """A question needs two different answers at least."""
    with pytest.raises(ValueError, match=f"predict: {len(options)} answers"):
        predict("Which?", *options)


def test_an_outcome_is_one_of_the_answers():
    """An outcome that no reader could have predicted is refused by name."""
    with pytest.raises(ValueError, match="'c' is none of the answers: a, b"):
        predict("Which?", "a", "b").beside("c")
    with pytest.raises(ValueError, match="7 is none of the answers: 0, 1"):
        predict("How many?", 0, 1).beside(7)


def test_nought_is_an_answer(capsys):
    """A click on 0 is a choice like any other."""
    prediction = predict("How many?", 0, 1)
    prediction.choice = 0
    capsys.readouterr()
    prediction.beside(1)
    assert capsys.readouterr().out == "you predicted: 0\nit came out:   1\n"


def double(x):
    """Fail for what cannot be doubled."""
    return x * 2


RULES = (lambda x: x > 1, "larger"), (lambda f: double(f) == 4, "half of four")


@pytest.mark.parametrize(("answer", "right", "words"), [
    (2, True, "right\n"),
    (1, False, "not yet. Hint: larger\n"),
    (3, False, "not yet. Hint: half of four\n"),
    (..., False, "no answer yet: put yours in place of the three dots, then run this cell again\n"),
    (None, False, "not yet. It raised TypeError: '>' not supported between instances of 'NoneType' and 'int'. "
                  "Hint: larger\n"),
])
def test_check(capsys, answer, right, words):
    """A right answer is called right; a wrong one gets the hint of the first rule it breaks, whatever it raises."""
    assert check(answer, *RULES) is right
    assert capsys.readouterr().out == words


ANSWERS = st.none() | st.booleans() | st.floats() | st.integers() | st.complex_numbers() | st.text() | st.binary() | \
    st.lists(st.floats(), max_size=3) | st.dictionaries(st.text(), st.none()) | st.sampled_from(
        [np.ones(3), np.array(math.nan), np.array([None]), print, int, object(), NotImplemented, ...])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ANSWERS)
def test_check_survives_any_answer(capsys, answer):
    """Whatever a reader writes, and whatever the rules do with it, check says one thing and no error stops the cell."""
    rules = [(lambda x: x > 1, "a"), (lambda x: x == x, "b"), (lambda x: x[0] or len(x), "c"), (lambda x: x(), "d")]
    for count in range(len(rules) + 1):
        right = check(answer, *rules[:count])
        said = capsys.readouterr().out
        assert answer is ... or said.count("Hint") == (not right)
        assert right is said.startswith("right")
        assert said.startswith(("right\n", "not yet.", "no answer yet"))
