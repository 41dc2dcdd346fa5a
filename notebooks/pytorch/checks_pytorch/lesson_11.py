"""Score and check the answers to lesson 11, Make it fast."""
import functools

from slow_gpt import Training

from d2lhelpers import exercises
from d2lhelpers.examine import draw_seed
from d2lhelpers.messages import say
from d2lhelpers.process import in_group
from d2lhelpers.score import Capstone, Target, at_most, counted

from .counts_11 import STEPS, of_one, of_script, of_two


def count(answer):
    """Return all counts of an answer, which three processes make, on batches drawn anew."""
    limit = 3 * exercises.CHECK_SECONDS
    [(seed, *script)] = in_group(of_script, draw_seed(), size=1)
    [found] = in_group(of_one, answer, seed, *script, size=1, timeout=limit)
    first, second = in_group(of_two, answer, seed, timeout=limit)
    found["gap"] = (first["end"] - second["end"]).abs().max().item()
    found["work"] = first["work"] / max(first["work"] + second["work"], 1)
    for name in "messages", "sent", "unequal":
        found[name] = max(first[name], second[name])
    found["narrow"] = max(found["narrow"], first["narrow"], second["narrow"])
    return found


def unlike_script(found):
    """Return by how much losses, accuracies and parameters of one process differ from the script's."""
    return max(found["history"], found["parameters"])


TARGETS = [
    Target("bronze", "08", "Mflop per step", *at_most(260), counted("flops"),
           "it still computes more than a forward and a backward pass. What does it compute twice?"),
    Target("bronze", "08", "unlike the script, one process", *at_most(0.0001), unlike_script,
           "the first loss is the script's, but it is not the same training. What does the script do in each step?"),
    Target("bronze", "03", f"values read in {STEPS} steps", *at_most(2 * STEPS), counted("reads"),
           "Python still reads too many values of tensors. Which of them does anybody need, and when?"),
    Target("silver", "02", f"graphs made in {STEPS} steps", *at_most(2), counted("graphs"),
           "graphs are made again and again. What is different from step to step, or breaks a graph? `torch_log` of "
           "lesson 02 names the line"),
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
    ("other-length", lambda found: found["steps"] == STEPS,
     say("run should return {steps} pairs, one for each batch", steps=STEPS)),
    ("other-network", lambda found: found["parameters"] < float("inf"),
     "the network has other parameters than the script's"),
    ("first-loss-differs", lambda found: found["first"] < 0.01,
     "the first loss or accuracy is not the script's: another network, start, loss or metric"),
    ("not-trained", lambda found: found["parameters"] < 0.99,
     "after your training the parameters are what they were before"),
    ("history-differs", lambda found: found["parameters"] > 0.0001 or found["history"] < 0.0001,
     "the parameters are the script's, but the losses or accuracies that run returns are not"),
    ("replicas-differ", lambda found: found["gap"] < 1e-5, "after training, two processes hold different parameters"),
    ("not-float32", lambda found: not found["narrow"],
     "some of what is multiplied or sent has fewer bits: the contract says float32"),
    ("other-thread", lambda found: not found["threads"],
     "it starts a thread: let the work be done here, where it can be counted"),
    ("too-little-work", lambda found: found["flops"] >= 200,
     "that is less arithmetic than the forward and backward passes of these batches need"),
    ("grows", lambda found: found["growth"] < 0.05,
     "at the peak of the third step more is alive than at that of the first: what is kept from step to step?"),
    ("batch-not-split", lambda found: 0.7 < found["work"] < 0.8,
     "with shares of 3 to 1, one process should compute 9 of 12 rows"),
    ("sent-elsewhere", lambda found: found["sent"] > 100,
     "the collectives get less than the gradients: what is sent in another way cannot be counted"),
]

CAPSTONE = Capstone(Training, count, TARGETS, CONTRACT)
counts, score, missed = CAPSTONE.counts, CAPSTONE.score, CAPSTONE.missed_targets
check_1 = functools.partial(CAPSTONE.check, level="bronze")
check_2 = functools.partial(CAPSTONE.check, level="silver")
check_3 = functools.partial(CAPSTONE.check, level="gold")
points_1 = functools.partial(CAPSTONE.points, level="bronze")
points_2 = functools.partial(CAPSTONE.points, level="silver")
points_3 = functools.partial(CAPSTONE.points, level="gold")
