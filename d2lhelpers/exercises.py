"""What readers do in a lesson: predict, have an answer checked, move the sliders of a model, read a function."""
import contextlib
import inspect
import os
import signal
import sys
import textwrap
import threading
import traceback
import warnings
from collections.abc import Callable, Collection
from typing import Any

from . import moved
from .messages import say

WIDGETS = os.environ.get("D2LHELPERS_WIDGETS") != "0"  # without widgets cells print text, the same in every run
CHECK_SECONDS = 40  # seconds after which `check` ends an answer: far longer than any right one takes
broken = ""  # the id of the rule that the answer checked last has broken, or "" if it is right


class Endless(BaseException):
    """The reader's code did not end in time. It is not an Exception: code that catches those must end, too."""


@contextlib.contextmanager
def time_limit(seconds: float):
    """Raise `Endless` in the code of the `with` block once it has run for `seconds`, and again until it ends."""
    def end(*_):
        raise Endless

    if threading.current_thread() is not threading.main_thread():  # no other thread can be interrupted
        yield
        return
    before = signal.signal(signal.SIGALRM, end)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, 1)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Broken(Exception):
    """A rule that an answer has broken, with a hint, and what was raised, in words. A check's rule may raise it."""

    def __init__(self, rule: str, hint: str, raised: str = ""):
        super().__init__(rule, hint, raised)
        self.rule = rule
        self.hint = hint
        self.raised = raised


class Prediction:
    """A question and its possible answers, of which the reader clicks one; made by `predict`."""

    def __init__(self, question: str, options: tuple):
        self.question = question
        self.options = options
        self.choice: Any = None

    def __repr__(self):
        labels = [f"( ) {self._label(option)}" for option in self.options]
        return "\n".join([say(self.question, about="question"), *labels])

    def _label(self, option):
        """Return an option as the reader sees it."""
        return say(str(option), about=self.question)

    def _repr_mimebundle_(self, **_):
        """Return buttons for a notebook that shows widgets, and text for all others and for storing."""
        if not WIDGETS:
            return {"text/plain": repr(self)}
        import ipywidgets
        labelled = [(self._label(option), option) for option in self.options]
        buttons = ipywidgets.ToggleButtons(options=labelled, value=None, style={"button_width": "auto"})
        buttons.observe(self._choose, names="value")
        both = ipywidgets.VBox([ipywidgets.HTML(say(self.question, about="question")), buttons])
        view = {"version_major": 2, "version_minor": 0, "model_id": both.model_id}  # ipywidgets 7, which Colab has, too
        return {"application/vnd.jupyter.widget-view+json": view, "text/plain": repr(self)}

    def _choose(self, change):
        self.choice = change["new"]

    def reveal(self, outcome: object) -> None:
        """Print the reader's choice and `outcome`, which is one of the options; print nothing if there was no click.

        Raises:
            ValueError: `outcome` is not one of the options.
        """
        if outcome not in self.options:
            raise ValueError(f"the outcome {outcome!r} is not one of the answers: {self.options}")
        if self.choice is not None:
            print(say("you predicted: {choice}\nthe outcome:   {outcome}", choice=self._label(self.choice),
                      outcome=self._label(outcome)))

    def beside(self, outcome):
        """Do what `reveal` does, for copies of lessons made with an earlier version."""
        warnings.warn("Prediction.beside is now reveal; the old name goes with the next release", FutureWarning,
                      stacklevel=2)
        self.reveal(outcome)


def predict(question: str, *options: object) -> Prediction:
    """Ask the reader for a prediction: show `question` with a button for each option, and return the Prediction.

    Its `.choice` is the option that was clicked last, or None if there was no click. Lesson: 00-start-here.

    >>> faster = predict("Which is faster?", "the first", "the second")
    Which is faster?
    ( ) the first
    ( ) the second
    """
    from IPython.display import display
    prediction = Prediction(question, options)
    display(prediction)
    return prediction


def sliders(function: Callable[..., object], **ranges: object) -> None:
    """Show a slider for each argument of `function`, and call the function whenever one is moved.

    `ranges` are given as x=(lowest, highest, step) for an argument x. Lesson: 03-asynchronous-computation.
    """
    if WIDGETS:
        import ipywidgets
        ipywidgets.interact(function, **ranges)
    else:
        print(say("(sliders stand here when the lesson runs)"))


def check(answer: object, *rules: tuple, seconds: int = 0) -> bool:
    """Return whether the reader's `answer` obeys all rules; print *right*, or the hint of the first broken rule.

    Each rule is an id, a function that takes the answer and returns whether the answer obeys the rule, and a hint; in
    earlier versions a rule had no id. If the function raises an exception, the rule is broken, and the exception is
    shown; if it raises `Broken`, that says what to print. A rule gets plain values (see `plain`), not objects of the
    reader's own. An answer that is still running after `CHECK_SECONDS` seconds is ended. A check that takes long says
    so first: up to `seconds` on a slow machine. Lesson: 00-start-here.

    >>> check(3, ("sign", lambda x: x > 0, "it is a count"), ("odd", lambda x: x % 2 == 0, "each one has a partner"))
    not yet. Hint: each one has a partner
    False
    """
    global broken
    if answer is ...:
        broken = "no-answer"
        print(say("no answer yet: put yours in place of the three dots, then run this cell again"))
        return False
    if seconds:
        print(say("this check takes up to {seconds} seconds", seconds=seconds), flush=True)
    from .plain import plain  # imports NumPy
    try:
        with time_limit(CHECK_SECONDS):
            if callable(answer):
                _finish_earlier_work()
            else:
                answer = plain(answer)
            faults = (_fault(answer, *rule) for rule in [OF_ANY_ANSWER, *rules])
            fault = next((each for each in faults if each), None)
    except Endless:
        hint = say("which loop never ends, or what does it wait for?")
        fault = Broken("endless", hint, say("It was still running after {seconds} seconds.", seconds=CHECK_SECONDS))
    broken = fault.rule if fault else ""
    if fault:
        raised = say("not yet. {raised} Hint: {hint}", raised=fault.raised, hint=fault.hint)
        print(raised if fault.raised else say("not yet. Hint: {hint}", hint=fault.hint))
    else:
        print(say("right"))
    return not fault


def match_number(answer: Any, right: float, mistakes: Collection[float]) -> float | None:
    """Return the right number or known mistake that an answer matches, or is nearest to; None if it is near none.

    An answer with three digits or two decimal places of the right number is right, but if it is exactly a mistake, it
    is that mistake. Lesson: 00-start-here.

    >>> [match_number(answer, 2.512, [2.5]) for answer in (2.51, 2.5, "4")]
    [2.512, 2.5, None]
    >>> [match_number(answer, 0.6164, [0.6206]) for answer in (0.62, 0.621)]
    [0.6164, 0.6206]
    """
    def distance(number):
        return abs(float(answer) / number - 1)

    mistake = min(mistakes, key=distance)
    is_mistake = distance(mistake) <= 1e-6
    tolerance = 1e-9 if is_mistake else 0.005  # all digits, or three
    if distance(right) <= tolerance or (not is_mistake and float(answer) == round(right, 2)):
        return right
    nearest = min([right, mistake], key=distance)
    return nearest if distance(nearest) <= 0.05 else None


def _finish_earlier_work():
    """Let MXNet finish what was begun before the answer is called: an error in that is not the answer's."""
    if "mxnet" in sys.modules:
        with contextlib.suppress(Exception):
            sys.modules["mxnet"].nd.waitall()


def _has_known_type(answer):
    return callable(answer) or type(answer).__module__ != "__main__"


OF_ANY_ANSWER = ("own-type", _has_known_type, "give a number, a text, a list … or a function: no object of a new class")


def _fault(answer, *rule):
    """Return None if the answer obeys a rule, and otherwise the rule's id, a hint, and what was raised, in words."""
    *rule_id, obeys, hint = rule
    try:
        return None if obeys(answer) else Broken("".join(rule_id), say(hint))
    except Broken as found:
        return found
    except Exception as error:  # the reader's own code may fail in any way
        if callable(answer) and not _raised_by(answer, error):
            hint = say("the check cannot use what your answer gives")
        return Broken("".join(rule_id), say(hint), say("It raised {error}.", error=repr(error)))


def _raised_by(answer, error):
    """Return whether an error comes from code of the reader, and not from the check's own."""
    own = {"__main__", getattr(answer, "__module__", "__main__")}
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return any(frame.f_globals.get("__name__") in own for frame in frames)


def show_source(*shown: Any) -> None:
    """Show the source of functions and classes in colours.

    Lesson: 07-many-machines.
    """
    from IPython.display import Markdown, display
    code = "\n".join(textwrap.dedent(inspect.getsource(each)) for each in shown)
    display(Markdown(f"```python\n{code.rstrip()}\n```"))


def __getattr__(name):
    return moved.look_up(name, __name__)
