"""Score and check the answers to lesson 08, Make it fast."""
import functools
import re
from collections.abc import Callable
from typing import NamedTuple

from scripts.slow_training import Training

from d2lhelpers import exercises
from d2lhelpers.exercises import check
from d2lhelpers.process import in_fresh_process, in_fresh_processes

from .counts_08 import ROWS, STEPS, of_runs, of_script, of_steps

LEVELS = "bronze", "silver", "gold"


@functools.cache
def script():
    """Return `of_script` from a fresh process."""
    return in_fresh_process(of_script, **Training.settings)


def last_words(text):
    """Return what ended the first process in a message of `in_fresh_processes`: the exception, and in which method."""
    first = text.split("\n--- ")[1]
    raised = re.findall(r"^[\w.]*(?:Error|Exception|Exit|Interrupt|StopIteration)\b.*", first, re.MULTILINE)
    methods = re.findall(r'File "[^"]*(?:ipykernel|slow_training)[^"]*", line \d+, in (\w+)', first)
    words = (raised or text.strip().splitlines())[-1]
    words = words.removeprefix("mxnet.base.").removeprefix("MXNetError: ")
    return f"{words} (in {methods[-1]})" if methods else words


@functools.cache
def counts(answer):
    """Return all counts of an answer, which two fresh processes make, and a fault in words, or ""."""
    if not (isinstance(answer, type) and issubclass(answer, Training)):
        return {}, "give a class that inherits from Training: its name alone, without parentheses"
    limit = 2 * exercises.PATIENCE
    try:
        found = in_fresh_processes({
            "the run": (of_runs, (answer, *script()), answer.settings),
            "single steps": (of_steps, (answer,), {**answer.settings, "MXNET_CPU_TEMP_COPY": 64})}, timeout=limit)
    except TimeoutError:
        return {}, f"it was still running after {limit} seconds: which loop never ends, or what does it wait for?"
    except RuntimeError as error:
        return {}, f"it raised an error: {last_words(str(error))}"
    return found["the run"] | found["single steps"], ""


class Target(NamedTuple):
    """One line of the table: a level, the lesson to read again, what is counted, and the limit that it must keep."""

    level: str
    lesson: str
    what: str
    limit: str
    met: Callable  # called with the count
    count: Callable  # called with all counts, returns the one that counts here
    hint: str


def at_most(number):
    """Return a limit in words, and as a function."""
    return f"at most {number}", lambda count: count <= number


def at_least(number):
    """Return a limit in words, and as a function."""
    return f"at least {number}", lambda count: count >= number


def counted(name):
    """Return a function that looks up a count."""
    return lambda found: found[name]


def unlike_script(found):
    """Return by how much losses and parameters of one device differ from the script's."""
    return max(found["losses"], found["parameters"])


TARGETS = [
    Target("bronze", "01", "calls per step, one device", *at_most(36), counted("calls"),
           "Python still calls into the engine too often in a step. For what: the network, the loss, the update?"),
    Target("bronze", "02", "unlike the script, one device", *at_most(0.01), unlike_script,
           "the first loss is the script's, later ones are not. What changes from step to step, in its network?"),
    Target("bronze", "03", f"waits in {STEPS} steps", *at_most(8), counted("waits"),
           "Python still waits too often. Which lines wait, and which of these waits does anybody need?"),
    Target("silver", "02", "graphs made after step 2", *at_most(0), counted("graphs"),
           "graphs are made again and again, long after the first step: what throws them away?"),
    Target("silver", "03", "batches between two waits", *at_most(6), counted("ahead"),
           "Python runs so far ahead that most batches can be in memory at once"),
    Target("silver", "04", "convolutions side by side", *at_least(4), counted("side by side"),
           "no convolution of one device ever runs beside one of the other. What do the devices share?"),
    Target("gold", "05", "early copies of gradients", *at_least(4), counted("early"),
           "while a device is in its backward pass, no gradients travel: for what does their sum have to wait?"),
    Target("gold", "06", "two devices, parts 3:1", *at_most(0.001), counted("unequal"),
           "where one part of a batch is larger, a step of two devices is not that of one"),
    Target("gold", "06", "two devices, equal parts", *at_most(0.001), counted("spread"),
           "even with parts of equal size, a step of two devices is not that of one: the parts hold other images"),
]


def in_words(target, found):
    """Return what a target counts, as text."""
    count = target.count(found)
    return f"difference {count:.1g}" if isinstance(count, float) else str(count)


def unmet(answer):
    """Return what each target that the answer does not meet counts."""
    found, fault = counts(answer)
    assert not fault, fault
    return [target.what for target in TARGETS if not target.met(target.count(found))]


def score(answer):
    """Print a table of all targets, with what the answer does about each."""
    if answer is ...:
        print("no answer yet: put yours in place of the three dots, then run this cell again")
        return
    found, fault = counts(answer)
    broken = fault or next((hint for kept, hint in contract(found) if not kept(found)), "")
    if broken:
        print(f"no score: {broken}")
        return
    print(f"level   {'counted':31}{'target':15}{'yours':18}read again")
    for target in TARGETS:
        again = "met" if target.met(target.count(found)) else f"lesson {target.lesson}"
        print(f"{target.level:8}{target.what:31}{target.limit:15}{in_words(target, found):18}{again}")
    print(f"not scored: {STEPS} steps on two devices took {found['seconds']:.3f} sec")


def contract(found):
    """Return rules for what every answer has to keep, as for `check`."""
    equal, unequal = found.get("rows spread"), found.get("rows unequal")
    return [
        (lambda _: found["steps"] == STEPS, f"run should return {STEPS} losses, one for each batch"),
        (lambda _: found["first loss"] < 0.01, "the first loss is not the script's: another network, start or loss"),
        (lambda _: found["parameters"] < 0.99, "after your training the parameters are what they were before"),
        (lambda _: found["parameters"] > 0.01 or found["losses"] < 0.01,
         "the parameters are the script's, but the losses that run returns are not"),
        (lambda _: found["batches"] == STEPS, f"on two devices, it does not take each of the {STEPS} batches once"),
        (lambda _: min(equal) > 0, "on two devices, one of them gets no rows"),
        (lambda _: sum(equal) == ROWS, "each device computes rows of the other, too: the batch was not split"),
        (lambda _: max(unequal) == ROWS * 3 // 4, "with shares of 3 to 1, one device should get 24 of 32 rows"),
        (lambda _: found["two"] < 0.5, "on two devices, training ends far from where it ends on one"),
    ]


def check_level(answer, level):
    """Check that an answer keeps the contract, and meets the targets of a level and of those below it."""
    if answer is ...:
        return check(answer)
    found, fault = counts(answer)  # it has a time limit of its own
    levels = LEVELS[:LEVELS.index(level) + 1]
    targets = [target for target in TARGETS if target.level in levels]
    return check(answer, (lambda _: not fault, fault), *contract(found),
                 *((lambda _, target=target: target.met(target.count(found)), target.hint) for target in targets))


def check_1(answer):
    """Check a Training for bronze."""
    return check_level(answer, "bronze")


def check_2(answer):
    """Check a Training for silver."""
    return check_level(answer, "silver")


def check_3(answer):
    """Check a Training for gold."""
    return check_level(answer, "gold")
