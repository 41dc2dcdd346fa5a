"""What readers do in a lesson: predict a measurement, have an answer checked, and move the sliders of a model."""
import contextlib
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

WIDGETS = os.environ.get("D2LHELPERS_WIDGETS") != "0"  # without widgets cells print text, the same in every run
PATIENCE = 40  # seconds after which `check` ends an answer: far longer than any right one takes


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
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Prediction:
    """A question and its possible answers, of which the reader clicks one; made by `predict`."""

    def __init__(self, question: str, options: tuple):
        self.question = question
        self.options = options
        self.choice: Any = None

    def __repr__(self):
        return "\n".join([self.question, *(f"( ) {option}" for option in self.options)])

    def _repr_mimebundle_(self, **_):
        """Return buttons for a notebook that shows widgets, and text for all others and for storing."""
        if not WIDGETS:
            return {"text/plain": repr(self)}
        import ipywidgets
        buttons = ipywidgets.ToggleButtons(options=self.options, value=None, style={"button_width": "auto"})
        buttons.observe(self._choose, names="value")
        both = ipywidgets.VBox([ipywidgets.HTML(self.question), buttons])
        return {**both._repr_mimebundle_(), "text/plain": repr(self)}

    def _choose(self, change):
        self.choice = change["new"]

    def beside(self, outcome: object) -> None:
        """Print the reader's choice and `outcome`, which is one of the options; print nothing if there was no click.

        Raises:
            ValueError: `outcome` is not one of the options.
        """
        if outcome not in self.options:
            raise ValueError(f"the outcome {outcome!r} is not one of the answers: {self.options}")
        if self.choice is not None:
            print(f"you predicted: {self.choice}\nthe outcome:   {outcome}")


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


def play(function: Callable[..., object], **sliders: object) -> None:
    """Show a slider for each argument of `function`, and call the function whenever one is moved.

    `sliders` are given as x=(lowest, highest, step) for an argument x. Lesson: 03-asynchronous-computation.
    """
    if WIDGETS:
        import ipywidgets
        ipywidgets.interact(function, **sliders)
    else:
        print("(sliders stand here when the lesson runs)")


def check(answer: object, *rules: tuple[Callable[[Any], object], str]) -> bool:
    """Return whether the reader's `answer` obeys all rules; print *right*, or the hint of the first broken rule.

    Each rule is a pair: a function that takes the answer and returns whether the answer obeys the rule, and a hint. If
    the function raises an exception, the rule is broken, and the exception is shown. An answer that is still running
    after `PATIENCE` seconds is ended. Lesson: 00-start-here.

    >>> check(3, (lambda x: x > 0, "it is a count"), (lambda x: x % 2 == 0, "each one has a partner"))
    not yet. Hint: each one has a partner
    False
    """
    if answer is ...:
        print("no answer yet: put yours in place of the three dots, then run this cell again")
        return False
    try:
        with time_limit(PATIENCE):
            for rule, hint in rules:
                obeyed, raised = _try_rule(rule, answer)
                if not obeyed:
                    print(f"not yet.{raised} Hint: {hint}")
                    return False
    except Endless:
        print(f"not yet. It was still running after {PATIENCE} seconds. Hint: which loop never ends, or what does it "
              "wait for?")
        return False
    print("right")
    return True


def _try_rule(rule, answer):
    """Return whether the answer obeys the rule, and what it raised, in words."""
    try:
        return bool(rule(answer)), ""
    except Exception as error:  # the reader's own code may fail in any way
        return False, f" It raised {error!r}."
