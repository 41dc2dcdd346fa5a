"""Score and check the answers to lesson 08, Make it fast."""
import functools
import re

from scripts.slow_training import Training

from d2lhelpers import exercises
from d2lhelpers.exercises import check
from d2lhelpers.process import in_fresh_process, in_fresh_processes
from d2lhelpers.score import Target, at_least, at_most, check_level, counted, print_score, targets_missed

from .counts_08 import ROWS, STEPS, of_runs, of_script, of_steps


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
    limit = 3 * exercises.PATIENCE
    try:
        found = in_fresh_processes({
            "the run": (of_runs, (answer, *script()), answer.settings),
            "single steps": (of_steps, (answer,), {**answer.settings, "MXNET_CPU_TEMP_COPY": 64})}, timeout=limit)
    except TimeoutError:
        return {}, f"it was still running after {limit} seconds: which loop never ends, or what does it wait for?"
    except RuntimeError as error:
        return {}, f"it raised an error: {last_words(str(error))}"
    return found["the run"] | found["single steps"], ""


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


def unmet(answer):
    """Return what each target that the answer does not meet counts."""
    found, fault = counts(answer)
    if fault:
        raise RuntimeError(fault)
    return targets_missed(TARGETS, found)


def score(answer):
    """Print a table of all targets, with what the answer does about each."""
    if answer is ...:
        print("no answer yet: put yours in place of the three dots, then run this cell again")
        return
    found, fault = counts(answer)
    broken = fault or next((hint for kept, hint in CONTRACT if not kept(found)), "")
    if broken:
        print(f"no score: {broken}")
        return
    print_score(TARGETS, found)
    print(f"not scored: {STEPS} steps on two devices took {found['seconds']:.3f} sec")


CONTRACT = [  # what every answer has to keep: rules for all of its counts, as for `check`
    (lambda found: found["steps"] == STEPS, f"run should return {STEPS} losses, one for each batch"),
    (lambda found: found["first loss"] < 0.01, "the first loss is not the script's: another network, start or loss"),
    (lambda found: found["parameters"] < 0.99, "after your training the parameters are what they were before"),
    (lambda found: found["parameters"] > 0.01 or found["losses"] < 0.01,
     "the parameters are the script's, but the losses that run returns are not"),
    (lambda found: found["batches"] == STEPS, f"on two devices, it does not take each of the {STEPS} batches once"),
    (lambda found: min(found["rows spread"]) > 0, "on two devices, one of them gets no rows"),
    (lambda found: sum(found["rows spread"]) == ROWS,
     "each device computes rows of the other, too: the batch was not split"),
    (lambda found: max(found["rows unequal"]) == ROWS * 3 // 4,
     "with shares of 3 to 1, one device should get 24 of 32 rows"),
    (lambda found: found["two"] < 0.5, "on two devices, training ends far from where it ends on one"),
]


def check_answer(answer, level):
    """Check that an answer keeps the contract, and meets the targets of a level and of those below it."""
    if answer is ...:
        return check(answer)
    found, fault = counts(answer)  # it has a time limit of its own
    if fault:
        return check(answer, (lambda _: False, fault))
    return check_level(level, TARGETS, CONTRACT, found)


def check_1(answer):
    """Check a Training for bronze."""
    return check_answer(answer, "bronze")


def check_2(answer):
    """Check a Training for silver."""
    return check_answer(answer, "silver")


def check_3(answer):
    """Check a Training for gold."""
    return check_answer(answer, "gold")
