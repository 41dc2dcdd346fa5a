"""Score and check the answers to lesson 11, Make it fast."""
import functools
import re

from slow_gpt import Training

from d2lhelpers import exercises
from d2lhelpers.exercises import check
from d2lhelpers.process import in_group
from d2lhelpers.score import Target, at_most, check_level, counted, print_score, targets_missed

from .counts_11 import STEPS, of_one, of_script, of_two

IN_VAIN = "closed by peer", "reset by peer", "Connection"


def last_words(text):
    """Return what ended the first process in a message of `in_group`: the exception, and in which method."""
    first = text.split("\n--- ")[1]
    raised = re.findall(r"^[\w.]*(?:Error|Exception|Exit|Interrupt|StopIteration)\b.*", first, re.MULTILINE)
    methods = re.findall(r'File "[^"]*(?:ipykernel|slow_gpt)[^"]*", line \d+, in (\w+)', first)
    words = (raised or text.strip().splitlines())[-1]
    if any(part in words for part in IN_VAIN):
        words = "one process sends more messages than the other, and waits in vain"
    return f"{words} (in {methods[-1]})" if methods else words


@functools.cache
def script():
    """Return what the script computes in one process."""
    return in_group(of_script, size=1)[0]


@functools.cache
def counts(answer):
    """Return all counts of an answer, which three processes make, and a fault in words, or ""."""
    if not (isinstance(answer, type) and issubclass(answer, Training)):
        return {}, "give a class that inherits from Training: its name alone, without parentheses"
    limit = 3 * exercises.PATIENCE
    expected = script()
    try:
        [found] = in_group(of_one, answer, *expected, size=1, timeout=limit)
        ranks = in_group(of_two, answer, timeout=limit)
    except TimeoutError:
        return {}, f"it was still running after {limit} seconds: which loop never ends, or what does it wait for?"
    except RuntimeError as error:
        return {}, f"it raised an error: {last_words(str(error))}"
    first, second = ranks
    found["gap"] = (first["end"] - second["end"]).abs().max().item()
    found["work"] = first["work"] / max(first["work"] + second["work"], 1)
    for name in "messages", "sent", "narrow", "unequal":
        found[name] = max(first[name], second[name])
    return found, ""


def unlike_script(found):
    """Return by how much losses, accuracies and parameters of one process differ from the script's."""
    return max(found["history"], found["parameters"])


TARGETS = [
    Target("bronze", "08", "Mflop per step", *at_most(260), counted("flops"),
           "it still computes more than a forward and a backward pass. What does it compute twice?"),
    Target("bronze", "08", "unlike the script, one process", *at_most(0.01), unlike_script,
           "the first loss is the script's, but it is not the same training. What does the script do in each step?"),
    Target("bronze", "03", f"values read in {STEPS} steps", *at_most(2 * STEPS), counted("reads"),
           "Python still reads too many values of tensors. Which of them does anybody need, and when?"),
    Target("silver", "02", f"graphs made in {STEPS} steps", *at_most(2), counted("graphs"),
           "graphs are made again and again. What is different from step to step, or breaks a graph?"),
    Target("silver", "01", "calls per step, one process", *at_most(200), counted("calls"),
           "Python still calls too many operators in a step: those of the network, one by one"),
    Target("silver", "08", "kB alive at the peak", *at_most(2500), counted("peak"),
           "at the peak, too much is alive. Until when are the activations of a micro-batch needed?"),
    Target("gold", "04", "messages per step", *at_most(4), counted("messages"),
           "two processes still send many small messages in each step"),
    Target("gold", "04", "kB sent per step", *at_most(280), counted("sent"),
           "a process sends more bytes in a step than its gradients have in float32, all together, once"),
    Target("gold", "04", "two processes, rows 3:1", *at_most(0.001), counted("unequal"),
           "where one process has more rows, a step of two processes is not that of one"),
]


CONTRACT = [  # what every answer has to keep: rules for all of its counts, as for `check`
    (lambda found: found["steps"] == STEPS, f"run should return {STEPS} pairs, one for each batch"),
    (lambda found: found["first"] < 0.01,
     "the first loss or accuracy is not the script's: another network, start, loss or metric"),
    (lambda found: found["parameters"] < 0.99, "after your training the parameters are what they were before"),
    (lambda found: found["parameters"] > 0.01 or found["history"] < 0.01,
     "the parameters are the script's, but the losses or accuracies that run returns are not"),
    (lambda found: found["gap"] < 1e-5, "after training, two processes hold different parameters"),
    (lambda found: not found["narrow"], "some of what is sent has 16 bits: the contract says float32"),
    (lambda found: 0.7 < found["work"] < 0.8, "with shares of 3 to 1, one process should compute 9 of 12 rows"),
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
