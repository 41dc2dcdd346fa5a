"""Score and check the answers to lesson 08, Make it fast."""
import functools

from scripts.slow_training import Training

from d2lhelpers import exercises
from d2lhelpers.messages import say
from d2lhelpers.process import in_fresh_process, in_fresh_processes
from d2lhelpers.score import Capstone, Target, at_least, at_most, counted

from .counts_08 import CONVOLUTIONS, ROWS, STEPS, compared, of_one_device, of_script, of_steps, of_two_devices


@functools.cache
def script():
    """Return `of_script` from a fresh process."""
    return in_fresh_process(of_script, **Training.settings)


def count(answer):
    """Return all counts of an answer, which three fresh processes make: none can know what another has computed."""
    roomy = {**answer.settings, "MXNET_CPU_TEMP_COPY": 64}
    found = in_fresh_processes({
        "one device": (of_one_device, (answer,), answer.settings),
        "two devices": (of_two_devices, (answer,), answer.settings),
        "single steps": (of_steps, (answer,), roomy)}, timeout=3 * exercises.CHECK_SECONDS)
    return compared(script(), found["one device"], found["two devices"], found["single steps"])


def as_one_device(found):
    """Return by how much two devices differ from one, in one step and after all of them."""
    return max(found["spread"], found["two"])


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
    Target("gold", "06", "two devices, equal parts", *at_most(0.001), as_one_device,
           "even with parts of equal size, a step of two devices is not that of one: the parts hold other images"),
]

CONTRACT = [  # what every answer has to keep: rules for all of its counts, as for `check`
    ("wrong-number-of-losses", lambda found: found["steps"] == STEPS,
     say("run should return {steps} losses, one for each batch", steps=STEPS)),
    ("other-first-loss", lambda found: found["first loss"] < 0.01,
     "the first loss is not the script's: another network, start or loss"),
    ("no-update", lambda found: found["parameters"] < 0.99,
     "after your training the parameters are what they were before"),
    ("other-losses", lambda found: found["parameters"] > 0.01 or found["losses"] < 0.01,
     "the parameters are the script's, but the losses that run returns are not"),
    ("not-every-batch", lambda found: found["batches"] == STEPS,
     say("on two devices, it does not take each of the {steps} batches once", steps=STEPS)),
    ("one-device-works", lambda found: min(found["rows spread"]) > 0, "on two devices, one of them gets no rows"),
    ("nothing-split", lambda found: sum(found["rows spread"]) == ROWS,
     "each device computes rows of the other, too: the batch was not split"),
    ("ignores-shares", lambda found: max(found["rows unequal"]) == ROWS * 3 // 4,
     "with shares of 3 to 1, one device should get 24 of 32 rows"),
    ("wrong-on-two", lambda found: found["two"] < 0.5, "on two devices, training ends far from where it ends on one"),
    ("work-elsewhere", lambda found: found["convolutions"] >= CONVOLUTIONS,
     "the devices compute fewer convolutions than the steps need: where is the rest computed, or what is left out?"),
    ("not-every-row", lambda found: found["rows"] == STEPS * ROWS,
     "on two devices, the network does not get every row of every batch once"),
    ("other-losses-on-two",  # those of one device, if it is the training of one device
     lambda found: found["steps of two"] == STEPS and found["losses of two"] < (0.2 if found["two"] > 0.001 else 0.01),
     "on two devices, the losses that run returns are not those of this training"),
    ("compiled-on-one-alone", lambda found: found["compiled"] >= 0,
     "compiled graphs run less often on two devices than on one"),
]

CAPSTONE = Capstone(Training, count, TARGETS, CONTRACT,
                    "not scored: {steps} steps on two devices took {seconds:.3f} sec")
counts, score, missed = CAPSTONE.counts, CAPSTONE.score, CAPSTONE.missed_targets
check_1 = functools.partial(CAPSTONE.check, level="bronze")
check_2 = functools.partial(CAPSTONE.check, level="silver")
check_3 = functools.partial(CAPSTONE.check, level="gold")
points_1 = functools.partial(CAPSTONE.points, level="bronze")
points_2 = functools.partial(CAPSTONE.points, level="silver")
points_3 = functools.partial(CAPSTONE.points, level="gold")
