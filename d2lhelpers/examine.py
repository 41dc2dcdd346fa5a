"""Examine a reader's function: compare it with the right one on cases drawn anew, and look at what it leaves behind."""
import os
import pickle
import random
import secrets
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from inspect import signature
from typing import NamedTuple

import numpy as np

from .attempts import Attempt
from .exercises import Broken
from .messages import say
from .plain import FEW, difference, plain

seed: int | None = None  # set it to the number that a hint has shown, and checks draw those cases again
SHOWN = 70  # letters of a value in a hint


def call(function: Callable[..., object], *arguments: object) -> object:
    """Return what a function returns: what `Exam` does with an answer unless it is told otherwise."""
    return function(*arguments)


class Exam:
    """What a reader's function must do: the same as `reference`, twice in each of `cases`, and nothing else.

    `cases(random)` yields tuples of arguments, the smallest first; `random` is a NumPy generator. It is run twice with
    one seed, for the reference and for the answer. `use(function, *arguments)` returns what to compare, for an answer
    that is not simply called. Results, and what has become of the arguments, may differ by `tolerance` (see
    `difference`). What is named in `free` need not agree: parts of networks such as "gradients", or "seeds" of random
    numbers. If the reference returns None, an answer may return anything. Lesson: 00-start-here.

    >>> from d2lhelpers.exercises import check
    >>> exam = Exam(lambda numbers: max(numbers), lambda random: [([-1],), (list(random.integers(-9, 9, size=5)),)])
    >>> check(lambda numbers: max(0, *numbers), *exam.rules())  # doctest: +ELLIPSIS
    not yet. Hint: called with numbers = [-1], it gives 0 where -1 is right (seed ...)
    False
    """

    def __init__(self, reference: Callable, cases: Callable[[np.random.Generator], Iterable[tuple]],
                 use: Callable = call, tolerance: float = 1e-5, free: Collection[str] = ()):
        self.reference = reference
        self.cases = cases
        self.use = use
        self.tolerance = tolerance
        self.free = free
        self.case = ""  # what the answer was called with, while it runs

    def rules(self) -> tuple:
        """Return the rules for `check`, which say themselves what is wrong: see `faults`."""
        return (("examined", self.examine, ""),)

    def examine(self, answer: Callable) -> bool:
        """Return True if nothing is wrong with an answer.

        Raises:
            Broken: The first of its `faults`, or "raises" if the answer raises an error.
        """
        try:
            fault = next(self.faults(answer, draw_seed()), None)
        except Exception as error:
            if not self.case:
                raise
            raise Broken("raises", say("called with {case}, it fails", case=self.case),
                         say("It raised {error}.", error=repr(error))) from error
        if fault:
            raise fault
        return True

    def rules_on_ranks(self, answer: Callable, *sizes: int, patience: int | None = None) -> tuple:
        """Return rules that examine `answer` on all ranks of process groups of these sizes."""
        def all_faults(*arguments):  # after a fault the calls go on: other ranks would wait for this one in vain
            return list(self.faults(*arguments))

        def agreed(attempt):
            def rule(_):
                found = [fault for faults in attempt.results for fault in faults]
                if found:  # "again" only if no rank was wrong the first time
                    raise min(found, key=lambda fault: fault.rule == "wrong-again")
                return True
            return rule

        rules = []
        for size in sizes:
            attempt = Attempt(size, patience)
            rules += [*attempt.rules(all_faults, answer, draw_seed()), ("examined", agreed(attempt), "")]
        return tuple(rules)

    def faults(self, answer: Callable, seed: int) -> Iterator[Broken]:
        """Compare an answer with the reference in all cases that are drawn from a seed, and yield what is wrong.

        The rules: the answer gives something else than the reference ("wrong-result"), perhaps only the second time
        ("wrong-again"); a second call alters what the first one returned ("changes-result"); an argument ends up
        different ("wrong-effect"), or a seed, a mode, a number of threads … does ("changes-surroundings").
        """
        for mine, right in zip(*[self.cases(np.random.default_rng(seed)) for _ in range(2)], strict=True):
            names = self._names(len(mine))
            wanted = [self._use(self.reference, right) for _ in range(2)]
            for found in self._compare(answer, mine, wanted, names):
                yield Broken(found.rule, found.hint + say(" (seed {seed})", seed=seed))

    def _compare(self, answer, mine, wanted, names):
        """Yield what is wrong with an answer if it is called twice with the arguments `mine`."""
        case = ", ".join(f"{name} = {shown(each)}" for name, each in zip(names, mine, strict=True))
        told = say("called with {case}", case=case)
        earlier = None
        for right in wanted:
            self.case = case
            given = self._use(answer, mine)
            self.case = ""
            found = difference(given.result, right.result, self.tolerance)
            if found and right.result is not None:
                yield Broken("wrong-again" if earlier else "wrong-result",
                             say("{told}, it gives {given} where {right} is right", told=told,
                                 given=shown(found[1]) + place_of(found), right=shown(found[2])))
            for name, one, other in zip(names, given.arguments, right.arguments, strict=True):
                found = difference(one, other, self.tolerance)
                if found:
                    words = say("{told}, it leaves {name} as {given} where {right} is right", told=told,
                                name=name, given=shown(found[1]) + place_of(found), right=shown(found[2]))
                    yield Broken("wrong-effect", words)
            for what in sorted(given.touched - right.touched - set(self.free)):
                yield Broken("changes-surroundings", say("it changes {what}, and leaves it so", what=in_words(what)))
            if earlier and earlier.is_altered() and not wanted[0].is_altered():
                yield Broken("changes-result", say("when it is called again, it changes what it returned before"))
            earlier = given
            told = say("called again with {case}", case=case)

    def _names(self, count):
        """Return what `count` arguments are called, for hints: by `use`, or by the reference if that names them."""
        for function, first in (self.use, 1), (self.reference, 0):
            parameters = list(signature(function).parameters.values())[first:]
            names = [each.name for each in parameters if each.kind is not each.VAR_POSITIONAL]
            if len(names) >= count:
                return names[:count]
        return [say("argument {number}", number=number) for number in range(1, count + 1)]

    def _use(self, function, arguments):
        """Use a function, and return what can be known afterwards."""
        draw_once()  # otherwise a function that has set a seed before would find it as it leaves it
        before = surroundings()
        result = self.use(function, *arguments)
        if isinstance(result, Iterator):
            result = list(result)
        after = surroundings()
        touched = {name for name in before if before[name] != after.get(name, before[name])}
        return Use(result, plain(result), [self._part(each) for each in arguments], touched)

    def _part(self, argument):
        """Return a plain value of an argument without what is free."""
        value = plain(argument)
        return {key: each for key, each in value.items() if key not in self.free} if isinstance(value, dict) else value


class Use(NamedTuple):
    """What a function returned, that as a plain value, its arguments afterwards, and what it has changed around it."""

    object: object
    result: object
    arguments: list
    touched: set

    def is_altered(self) -> bool:
        """Return whether what was returned is no longer what it was."""
        return difference(plain(self.object), self.result) is not None


def draw_seed() -> int:
    """Return a new seed, or the one that was set."""
    return secrets.randbelow(10**6) if seed is None else seed


def shown(value: object) -> str:
    """Return a value as short text: of a large array its shape, of an object its class.

    >>> shown(np.zeros((3, 40))), shown([1, 2.5]), shown(shown)
    ('an array of 3 × 40', '[1, 2.5]', 'shown')
    """
    if any(hasattr(value, each) for each in ("named_parameters", "collect_params", "step")):
        return type(value).__name__  # a network, an optimizer or a trainer
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    value = plain(value)
    text = repr(value.tolist() if isinstance(value, np.ndarray) and value.size <= FEW else value)
    if isinstance(value, np.ndarray) and value.size > FEW:
        return say("an array of {sizes}", sizes=" × ".join(map(str, value.shape)))
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else text[:SHOWN] + " …"


def draw_once() -> None:
    """Draw a number from each generator of random numbers."""
    random.random()
    np.random.random()
    if "torch" in sys.modules:
        sys.modules["torch"].rand(1)


def place_of(found: tuple) -> str:
    """Return where in a value a difference was found, in words; nothing if it is the whole value."""
    place = "".join(f"[{each!r}]" for each in found[0])
    return say(" (at {place})", place=place) if place else ""


def surroundings() -> dict[str, object]:
    """Return by name what a function should leave as it is; `in_words` says what the names mean."""
    found = {"seeds": [random.getstate(), pickle.dumps(np.random.get_state())], "folder": os.getcwd(),
             "variables": dict(os.environ)}
    torch, mxnet = sys.modules.get("torch"), sys.modules.get("mxnet")
    if torch:
        found["seeds"] += torch.get_rng_state().tolist()
        found |= {"threads": torch.get_num_threads(), "gradients on": torch.is_grad_enabled(),
                  "type": torch.get_default_dtype()}
    if mxnet:
        found |= {"records": mxnet.autograd.is_recording(), "mode": mxnet.autograd.is_training()}
    return found


def in_words(name: str) -> str:
    """Return what a name of `surroundings` means, in the reader's language."""
    return {"seeds": say("the seed of random numbers"), "folder": say("the working folder"),
            "variables": say("an environment variable"), "threads": say("PyTorch's number of threads"),
            "gradients on": say("whether PyTorch keeps gradients"), "type": say("PyTorch's default type"),
            "records": say("whether MXNet records"), "mode": say("MXNet's mode")}[name]
