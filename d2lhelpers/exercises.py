"""What readers do in a lesson: predict, have an answer checked, move the sliders of a model, read a function."""
import contextlib
import inspect
import os
import signal
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Collection
from typing import Any

from .words import say

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
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, 1)
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
        return "\n".join([say(self.question), *(f"( ) {self._label(option)}" for option in self.options)])

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
        both = ipywidgets.VBox([ipywidgets.HTML(say(self.question)), buttons])
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
            print(say(f"you predicted: {self._label(self.choice)}\nthe outcome:   {self._label(outcome)}"))


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
        print(say("(sliders stand here when the lesson runs)"))


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
        print(say("no answer yet: put yours in place of the three dots, then run this cell again"))
        return False
    try:
        with time_limit(PATIENCE):
            for rule, hint in rules:
                obeyed, raised = _try_rule(rule, answer)
                if not obeyed:
                    print(say(f"not yet.{raised} Hint: {hint}"))
                    return False
    except Endless:
        print(say(f"not yet. It was still running after {PATIENCE} seconds. Hint: which loop never ends, or what does "
                  "it wait for?"))
        return False
    print(say("right"))
    return True


def meant(answer: Any, right: float, mistakes: Collection[float]) -> float | None:
    """Return which of the `right` number and the `mistakes` an answer is, or else is nearest to; None if none is near.

    An answer with three digits of the right number is right, but if it is exactly a mistake, it is that mistake.
    Lesson: 00-start-here.

    >>> meant(2.51, 2.512, [2.5]), meant(2.5, 2.512, [2.5]), meant("4", 2.512, [2.5])
    (2.512, 2.5, None)
    """
    def distance(number):
        return abs(float(answer) / number - 1)

    nearest = min(mistakes, key=distance)
    if distance(right) <= (0.005 if distance(nearest) > 1e-6 else 1e-9):  # three digits, or all
        return right
    nearest = min([right, nearest], key=distance)
    return nearest if distance(nearest) <= 0.05 else None


def _try_rule(rule, answer):
    """Return whether the answer obeys the rule, and what it raised, in words."""
    try:
        return bool(rule(answer)), ""
    except Exception as error:  # the reader's own code may fail in any way
        return False, say(f" It raised {error!r}.")


class RankError(Exception):
    """What a reader's function raised in another process: the last line of its traceback."""

    def __repr__(self):
        return str(self)


class Attempt:
    """A try to run a reader's function on `size` ranks of a process group, for the rules of a check.

    Afterwards `results` holds what the ranks returned, or `fault` what went wrong: "waits" if a rank waited in vain for
    the others, "runs" if it computed for too long, or else the last line of a traceback.
    """

    def __init__(self, size: int = 2, patience: int = 8):
        self.size = size
        self.patience = patience  # seconds of work, or of idleness
        self.results: list = []
        self.fault = ""

    def run(self, function: Callable[..., object], *arguments: object) -> bool:
        """Call `function(*arguments)` on all ranks, and return True, whatever happens."""
        from .process import in_group
        patience = self.patience

        def end_in_time():
            over = threading.Event()
            threading.Thread(target=_end_if_stuck, args=[over, patience], daemon=True).start()
            result = function(*arguments)
            over.set()
            return result

        self.results = []
        self.fault = ""
        try:
            self.results = in_group(end_in_time, size=self.size)
        except (RuntimeError, TimeoutError) as error:
            first = str(error).partition("\n--- ")[2].partition("\n--- ")[0]  # by the rank that failed first
            self.fault = (first.splitlines() or [str(error)])[-1]
            if "closed by peer" in self.fault or "reset by peer" in self.fault:  # the other rank has ended
                self.fault = "waits"
        return True

    def rules(self, function: Callable[..., object], *arguments: object) -> tuple:
        """Return the rules that run `function(*arguments)` and say what went wrong, if anything did."""
        def raised(_):
            if self.fault:
                raise RankError(self.fault)
            return True

        return (
            (lambda _: self.run(function, *arguments) and self.fault != "waits",
             say("a rank waits for the others in vain: every rank must call the same collectives, in the same order")),
            (lambda _: self.fault != "runs", say("a rank was still running: which loop never ends?")),
            (raised, say(f"it failed on one of {self.size} ranks")),
        )


def _end_if_stuck(over, patience):
    """End this process when it has computed for `patience` seconds, or for as long has done nothing; say which.

    Both are seconds of the processor, or of this thread, so that on a loaded machine a process has more time.
    """
    used = [time.process_time()]
    while not over.wait(1):
        used.append(time.process_time())
        idle = len(used) > patience and used[-1] - used[-patience] < 0.02 * patience
        if idle or used[-1] - used[0] > patience:
            print("waits" if idle else "runs", file=sys.stderr, flush=True)
            os._exit(1)


def show_source(*shown: Any) -> None:
    """Show the source of functions and classes in colours.

    Lesson: 07-many-machines.
    """
    from IPython.display import Markdown, display
    code = "\n".join(textwrap.dedent(inspect.getsource(each)) for each in shown)
    display(Markdown(f"```python\n{code.rstrip()}\n```"))
