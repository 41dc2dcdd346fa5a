"""What a lesson asks of its reader: a prediction before a measurement, an answer that can be checked, a model to try.

D2LHELPERS_WIDGETS=0 leaves widgets out, so that what is stored and compared is text that is the same on every run.
"""
import os
import sys


class Prediction:
    """A question with a few answers, of which the reader clicks one; made by `predict`."""

    def __init__(self, question, options):
        self.question, self.options, self.choice = question, options, None

    def __repr__(self):
        return "\n".join([self.question, *(f"( ) {option}" for option in self.options)])

    def _repr_mimebundle_(self, **_):
        """Give buttons where widgets run, and the question as text, which is what is stored, elsewhere."""
        if not _widgets():
            return {"text/plain": repr(self)}
        import ipywidgets

        buttons = ipywidgets.ToggleButtons(options=self.options, value=None, style={"button_width": "auto"})
        buttons.observe(lambda change: setattr(self, "choice", change["new"]), names="value")
        whole = ipywidgets.VBox([ipywidgets.HTML(self.question), buttons])
        return {**whole._repr_mimebundle_(), "text/plain": repr(self)}

    def beside(self, outcome):
        """Print the reader's choice beside what came out, one of the options; ValueError if it is none of them."""
        if outcome not in self.options:
            raise ValueError(f"the outcome {outcome!r} is none of the answers: {', '.join(map(str, self.options))}")
        nothing = "(nothing yet: click an answer above, then run this again)"
        print(f"you predicted: {nothing if self.choice is None else self.choice}\nit came out:   {outcome}")


def predict(question, *options):
    """Ask the reader for a prediction: show `question` with a button for each of `options`, and return it.

    Where widgets do not run the question and its answers stand there as text. `.choice` is the option that was
    clicked, None before; `.beside(outcome)` prints it beside what came out. ValueError for fewer than two options,
    or two alike.

    Lesson: 00-start-here.

    >>> faster = predict("Which is faster?", "the first", "the second", "neither")
    Which is faster?
    ( ) the first
    ( ) the second
    ( ) neither
    >>> faster.choice = "neither"
    >>> faster.beside("the first")
    you predicted: neither
    it came out:   the first
    """
    from IPython.display import display

    if len(options) < 2 or len(set(options)) < len(options):
        raise ValueError(f"predict: {len(options)} answers, {len(set(options))} of them different; give two or more")
    prediction = Prediction(question, options)
    display(prediction)
    return prediction


def play(function, **sliders):
    """Show a slider for each argument of `function`, which is called, and shown anew, whenever one is moved.

    `sliders` are what `ipywidgets.interact` takes: (lowest, highest, step), a list of choices, or a widget. Where
    widgets are left out a line stands in their place, so a lesson shows a static picture beside it.

    Lesson: 03-asynchronous-computation.

    >>> play(lambda rows: print(rows), rows=(1, 9))
    (sliders stand here when the lesson runs)
    """
    if not _widgets():
        print("(sliders stand here when the lesson runs)")
        return
    import ipywidgets

    ipywidgets.interact(function, **sliders)


def progress(rounds):
    """Return `rounds` behind a progress bar, which appears after two seconds and is gone at the end.

    Only a notebook shows it, and not where widgets are left out: what is stored and compared has no trace of it.
    `measure` counts its rounds so.

    Lesson: 01-imperative-and-symbolic.

    >>> [number for number in progress(range(3))]
    [0, 1, 2]
    """
    from tqdm import tqdm

    ipython = sys.modules.get("IPython")  # a notebook has it loaded
    shown = _widgets() and ipython and hasattr(ipython.get_ipython(), "kernel")
    # On standard output what comes next is written over it; on standard error a red block would stay.
    return tqdm(rounds, delay=2, leave=False, file=sys.stdout, disable=not shown)


def _widgets():
    return os.environ.get("D2LHELPERS_WIDGETS") != "0"


def check(answer, *rules):
    """Say whether the reader's `answer` keeps all rules, and if not, give the hint of the first that it breaks.

    Each rule is a pair: a function that takes the answer and says whether it holds, and a hint. An answer that is
    still `...` is none yet. A rule that raises is broken, and the error's first line is shown. Returns whether all
    rules hold.

    Lesson: 00-start-here.

    >>> rules = (lambda x: x > 0, "it is a count"), (lambda x: x % 2 == 0, "each one has a partner")
    >>> check(4, *rules)
    right
    True
    >>> check(3, *rules)
    not yet. Hint: each one has a partner
    False
    >>> check(..., *rules)
    no answer yet: put yours in place of the three dots, then run this cell again
    False
    """
    if answer is ...:
        print("no answer yet: put yours in place of the three dots, then run this cell again")
        return False
    for rule, hint in rules:
        try:
            holds, why = bool(rule(answer)), ""
        except Exception as error:  # the reader's own code may fail in any way
            message = str(error).partition("\n")[0]
            holds, why = False, f" It raised {type(error).__name__}: {message}."
        if not holds:
            print(f"not yet.{why} Hint: {hint}")
            return False
    print("right")
    return True
