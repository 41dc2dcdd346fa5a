"""What a lesson asks of its reader: a prediction before a measurement, an answer that can be checked, a model."""
import contextlib
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

WIDGETS = os.environ.get("D2LHELPERS_WIDGETS") != "0"  # text instead of widgets is the same on every run
PATIENCE = 40  # seconds after which `check` ends an answer: far longer than any right one takes


class Endless(BaseException):
    """The reader's code did not come back. It is no Exception: code that catches those must end, too."""


@contextlib.contextmanager
def time_limit(seconds: float):
    """Raise `Endless` in the code of the `with` block once it has run for `seconds`, and again until it ends."""
    def end(*_):
        raise Endless

    if threading.current_thread() is not threading.main_thread():  # only the main thread can be interrupted
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
    """A question with a few answers, of which the reader clicks one; made by `predict`."""

    def __init__(self, question: str, options: tuple):
        self.question, self.options = question, options
        self.choice: Any = None

    def __repr__(self):
        return "\n".join([self.question, *(f"( ) {option}" for option in self.options)])

    def _repr_mimebundle_(self, **_):
        """Give buttons where widgets run, and text, which is what is stored, elsewhere."""
        if not WIDGETS:
            return {"text/plain": repr(self)}
        import ipywidgets
        buttons = ipywidgets.ToggleButtons(options=self.options, value=None, style={"button_width": "auto"})
        buttons.observe(lambda change: setattr(self, "choice", change["new"]), names="value")
        both = ipywidgets.VBox([ipywidgets.HTML(self.question), buttons])
        return {**both._repr_mimebundle_(), "text/plain": repr(self)}

    def beside(self, outcome: object) -> None:
        """Print the reader's choice beside the outcome, one of the options, or nothing if there was no click."""
        if outcome not in self.options:
            raise ValueError(f"the outcome {outcome!r} is not one of the answers: {self.options}")
        if self.choice is not None:
            print(f"you predicted: {self.choice}\nthe outcome:   {outcome}")


def predict(question: str, *options: object) -> Prediction:
    """Ask the reader for a prediction: show `question` with a button for each of `options`, and return it.

    `.choice` is the option that was clicked, None before. Lesson: 00-start-here.

    >>> faster = predict("Which is faster?", "the first", "the second")
    Which is faster?
    ( ) the first
    ( ) the second
    """
    from IPython.display import display
    display(prediction := Prediction(question, options))
    return prediction


def play(function: Callable[..., object], **sliders: object) -> None:
    """Show a slider, such as x=(lowest, highest, step), for each argument of `function`; call it when one is moved."""
    if WIDGETS:
        import ipywidgets
        ipywidgets.interact(function, **sliders)
    else:
        print("(sliders stand here when the lesson runs)")


def check(answer: object, *rules: tuple[Callable[[Any], object], str]) -> bool:
    """Return whether the reader's `answer` keeps all rules; print *right*, or the hint of the first one broken.

    Each rule is a pair: a function that takes the answer and says whether it holds, and a hint. A rule that raises an
    exception is broken, and the exception is shown. An answer that is still running after `PATIENCE` seconds is ended.
    Lesson: 00-start-here.

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
                why = broken(rule, answer)
                if why is not None:
                    print(f"not yet. {why}Hint: {hint}")
                    return False
    except Endless:
        print(f"not yet. It was still running after {PATIENCE} seconds. Hint: which "
              "loop never ends, or what does it wait for?")
        return False
    print("right")
    return True


def broken(rule: Callable[[Any], object], answer: object) -> str | None:
    """Return None if the `answer` keeps the `rule`; if not, what it raised, or "" where it raised nothing."""
    try:
        return None if rule(answer) else ""
    except Exception as error:  # the reader's own code may fail in any way
        return f"It raised {error!r}. "
