"""Check the answers to the exercises of lesson 10, Find the bottleneck."""
import functools
import threading
import time
from collections.abc import Mapping
from unittest.mock import patch

import torch

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import Broken, check
from d2lhelpers.machine import MachineLimits
from d2lhelpers.messages import say
from d2lhelpers.torch.bottleneck import find_bottleneck, training_flops
from d2lhelpers.torch.work import count_work

from .programs_10 import NEEDED, PROGRAMS

WORDS = "waiting", "feeding", "overhead", "memory", "arithmetic", "repeated"
CASES = [(2, 64, 50, 128, 4, 0.5, 1e10), (1, 32, 200, 64, 3, 2.0, 1e9), (3, 96, 20, 16, 1, 0.1, 5e10)]
ANY_MACHINE = MachineLimits("any", peak=1.0, bandwidth=1.0, dispatch=1.0)  # only counts and the clock are used
MANY_CALLS = 1000  # of operators, in one run
FEW_CALLS = 250  # of operators: a hundredth of those of program a
ROUNDING = {"a": 3e-6, "e": 1e-4}  # in e, a ReLU near zero may turn out otherwise in other orders of sums
LITTLE = 100_000  # bytes per operator: it fits into a cache


def check_1(answer):
    """Check a function that returns the MFU of a training step, by the formula."""
    def like(formula):
        """Return whether the answer follows a wrong formula in all cases."""
        return all(_close(answer(*case), formula(*case)) for case in CASES)

    def scaled(factor):
        return lambda *case: factor * _mfu(*case)

    def variant(weights=_weights, per_weight=6, attention=lambda layers, length: 12 * layers):
        """Return a formula with other weights, or FLOPs for each of them, or another part of attention."""
        def share(layers, width, vocabulary, length, rows, seconds, peak):
            per_token = per_weight * weights(layers, width, vocabulary) + attention(layers, length) * width * length
            return per_token * rows * length / seconds / peak
        return share

    def with_attention(factor):
        return variant(attention=lambda layers, length: factor * layers)

    weights_only = with_attention(0)
    no_scores = variant(lambda layers, width, vocabulary: _weights(layers, width, 0))
    with_tables = variant(lambda layers, width, vocabulary: _weights(layers, width, 2 * vocabulary))
    one_layer = variant(attention=lambda layers, length: 12)
    squared = variant(attention=lambda layers, length: 12 * layers * length)
    all_again = variant(per_weight=8, attention=lambda layers, length: 16 * layers)

    def cases(random):
        """Yield steps in which attention is a large part, and biases and norms a small one."""
        for length, rows in (1, 1), (512, 3), (2048, int(random.integers(1, 9))):
            layers, width = int(random.integers(1, 9)), 64 * int(random.integers(3, 7))
            vocabulary = int(random.integers(50, 5000))
            step = layers, width, vocabulary, length, rows, 10 ** random.uniform(-2, 1) * length**2  # seconds
            yield *step, _mfu(*step, 1) / random.uniform(0.6, 0.9)

    return check(
        answer,
        ("no-function", callable, "give a function, not its result"),
        ("no-number", lambda _: all(float(answer(*case)) is not None for case in CASES),
         "it has to return a number for seven arguments: layers, width, vocabulary, length, rows, seconds, peak"),
        ("inverse", lambda _: not like(lambda *case: 1 / _mfu(*case)),
         "a device that is used to the full has an MFU of 1, a slower step less"),
        ("percentage", lambda _: not like(scaled(100)), "a share, not a percentage"),
        ("forward-alone", lambda _: not like(scaled(1 / 3)), "that is the forward pass alone"),
        ("one-backward-product", lambda _: not like(scaled(2 / 3)),
         "a backward pass has two products for each one of the forward pass"),
        ("tokens-ignored", lambda _: not like(lambda *case: _mfu(*case) / case[3]),
         "a weight multiplies every token, and a row has more than one"),
        ("no-attention", lambda _: not like(weights_only), "some products of a GPT have no weights at all"),
        ("table-counted", lambda _: not like(with_tables), "a table in which tokens are looked up multiplies nothing"),
        ("no-scores", lambda _: not like(no_scores), "there is one more matrix after the last layer"),
        ("mask-saves-work", lambda _: not like(with_attention(6)),
         "by convention a mask saves nothing: each token looks at every other"),
        ("attention-forward-alone", lambda _: not like(with_attention(4)), "attention has a backward pass, too"),
        ("one-attention", lambda _: not like(one_layer), "each layer has an attention of its own"),
        ("length-squared", lambda _: not like(squared), "a token looks at `length` others: once, not squared"),
        ("recomputed-all", lambda _: not like(all_again), "that is with the whole forward pass computed again"),
        ("recomputed-scores", lambda _: not like(with_attention(14)),
         "that is what the processor does: attention computes its scores again. MFU goes by the formula"),
        *Exam(_mfu, cases, tolerance=0.01).rules(),
        ("rounded", lambda _: all(_close(100 * float(answer(*sizes, 100 * peak)), float(answer(*sizes, peak)))
                                  for *sizes, peak in CASES),
         "on a device that is a hundred times as fast, the MFU is not a hundredth: do you round it?"),
    )


def _weights(layers, width, vocabulary):
    return 12 * layers * width**2 + vocabulary * width


def _mfu(layers, width, vocabulary, length, rows, seconds, peak):
    weights = _weights(layers, width, vocabulary)
    return training_flops(weights, layers, width, length, rows) / seconds / peak


def _close(one, two):
    return abs(float(one) - two) < 0.005 * abs(two)


@functools.cache
def _needs(name):
    """Return what a program needs; again if it was idle, which may be the machine's fault, and the less idle run."""
    found = find_bottleneck(PROGRAMS[name], ANY_MACHINE)
    if found.waiting > 0.1 * found.processor:
        again = find_bottleneck(PROGRAMS[name], ANY_MACHINE)
        found = min(found, again, key=lambda each: each.waiting)
    return found


def _objection(name, word):
    """Return what speaks against a word for a program, measured and counted, or nothing."""
    found = _needs(name)
    counts = found.counts
    per_call = counts.bytes / counts.calls
    intensity = counts.flops / counts.bytes
    busy = found.processor
    gflops = counts.flops / 1e9
    needed = NEEDED[name] / 1e9
    if word == "waiting" and found.waiting < 3 * busy:
        return say("its thread waits for {waiting:.2f} seconds and uses the processor for {busy:.2f}",
                   waiting=found.waiting, busy=busy)
    if word == "feeding" and found.feeding < 0.6 * (busy + found.waiting):
        return say("it is inside of a DataLoader for {feeding:.2f} of {seconds:.2f} seconds",
                   feeding=found.feeding, seconds=found.seconds)
    if word == "overhead" and counts.calls < MANY_CALLS:
        return say("it calls {calls} operators in all: 20 µs for each are {milliseconds:.0f} ms",
                   calls=counts.calls, milliseconds=0.02 * counts.calls)
    if word == "memory" and (per_call < LITTLE or counts.calls > MANY_CALLS):
        return say("an operator of it moves {kilobytes:.0f} kB on average, which any cache holds",
                   kilobytes=per_call / 1e3)
    if word == "memory" and intensity > 5:
        return say("for each byte that it moves it does {intensity:.0f} FLOPs", intensity=intensity)
    if word in ("arithmetic", "repeated") and gflops < 1:
        return say("it does {gflops:.2f} GFLOPs in all, which a processor does in a few milliseconds", gflops=gflops)
    if word == "arithmetic" and gflops > 1.5 * needed:
        return say("its task needs {needed:.1f} GFLOPs, and {gflops:.1f} were counted", needed=needed, gflops=gflops)
    if word == "repeated" and gflops < 1.5 * needed:
        return say("its task needs {needed:.1f} GFLOPs, and no more were counted", needed=needed)
    if word == "memory" and found.feeding > 0.6 * (busy + found.waiting):
        return say("most of its time passes before a batch is there")
    return ""


def _as_words(answer):
    """Return a dictionary of a reader's words, by one letter in small type; a sequence is taken in order."""
    if not isinstance(answer, Mapping):
        answer = dict(zip(PROGRAMS, answer, strict=True))
    words = {str(getattr(name, "__name__", name)).lower().removeprefix("program_"): str(word).strip().lower()
             for name, word in answer.items()}
    return {name: word.removesuffix("-bound") for name, word in words.items()}


def check_2(answer):
    """Check one word for each of the six programs against what is measured and counted of them now."""
    def complete(answer):
        return not isinstance(answer, str) and set(_as_words(answer)) == set(PROGRAMS)

    def known(answer):
        return set(_as_words(answer).values()) <= set(WORDS)

    def of_one(name):
        def agrees(answer):
            word = _as_words(answer)[name]
            objection = _objection(name, word)
            if objection:
                raise Broken(f"{name}-not-{word}", say("program {name} and {word}: {objection}", name=name,
                                                       word=repr(word), objection=objection))
            return True
        return agrees

    measured = _needs.cache_info().currsize == len(PROGRAMS)
    return check(
        answer,
        ("words-missing", complete, "give a dictionary with a word for each of the letters a to f"),
        ("unknown-word", known, say("the words are {words}", words=", ".join(WORDS))),
        ("all-alike", lambda answer: len(set(_as_words(answer).values())) > 1, "no two programs have the same fault"),
        *((f"{name}-wrong", of_one(name), "") for name in PROGRAMS),
        seconds=0 if measured else 25)


def check_3(answer):
    """Check new functions in place of the programs with too many operators and with repeated work."""
    started, threads = [], torch.get_num_threads()

    def exam(name):
        return Exam(PROGRAMS[name], lambda random: [(int(random.integers(10**6)),)], tolerance=ROUNDING[name])

    def same(name):
        def holds(new):
            seeds = torch.randint(10**6, (2,)).tolist()
            return all(abs(float(new[name](seed)) / PROGRAMS[name](seed) - 1) < ROUNDING[name] for seed in seeds)
        return holds

    def for_given(name, rule):
        return lambda new: name not in new or rule(new)

    start = threading.Thread.start

    def runs(new):
        with patch.object(threading.Thread, "start", lambda thread: started.append(thread) or start(thread)):
            for function in new.values():
                float(function(1))
        return True

    def known(new):
        return isinstance(new, Mapping) and set(new) <= set(PROGRAMS) and all(map(callable, new.values())) and new

    def counted(new, name):
        return count_work(lambda: new[name](torch.randint(10**6, ()).item()))

    def seconds_of(function):
        before = time.process_time()  # of all threads
        function(torch.randint(10**6, ()).item())
        return time.process_time() - before

    def is_fast(new):
        return min(seconds_of(new["a"]) for _ in range(5)) < min(seconds_of(PROGRAMS["a"]) for _ in range(3)) / 5

    return check(
        answer,
        ("no-dictionary", known, "give a dictionary from letters to functions"),
        ("no-number", runs, "each function takes a seed, and returns a number"),
        ("other-thread", lambda _: not started,
         "it starts a thread: let the work be done here, where it can be counted"),
        ("changes-threads", lambda _: torch.get_num_threads() == threads,
         "it changes PyTorch's number of threads, and leaves it so"),
        ("a-differs", for_given("a", same("a")),
         "program a's task is done differently: the result is another one, for some seed"),
        ("e-differs", for_given("e", same("e")),
         "program e's task is done differently: the result is another one, for some seed"),
        ("a-row-by-row", for_given("a", lambda new: counted(new, "a").calls < FEW_CALLS),
         "program a still calls hundreds of operators: one operator can take all rows"),
        ("a-in-python", for_given("a", is_fast),
         "program a calls few operators, but takes much of its old time: what runs once per row?"),
        ("e-repeats", for_given("e", lambda new: counted(new, "e").flops < 1.1 * NEEDED["e"]),
         "program e still does more FLOPs than its task needs"),
        ("e-unseen", for_given("e", lambda new: counted(new, "e").flops > 0.9 * NEEDED["e"]),
         "program e does fewer FLOPs in PyTorch than its task needs: what is computed elsewhere cannot be counted"),
        *((name, for_given(name, lambda new, name=name: exam(name).examine(new[name])), "") for name in ROUNDING),
        ("other-programs", lambda new: set(new) == {"a", "e"},
         "the two whose faults are overhead and repeated work, and no other"),
        seconds=10,
    )
