"""Check the answers to the exercises of lesson 10, Find the bottleneck."""
import functools
from collections.abc import Mapping

import torch
from torch.nn import functional as F

from d2lhelpers.exercises import check
from d2lhelpers.machine import MachineLimits
from d2lhelpers.messages import say
from d2lhelpers.torch.bottleneck import find_bottleneck, training_flops
from d2lhelpers.torch.gpt import GPT
from d2lhelpers.torch.work import count_work

from .programs_10 import NEEDED, PROGRAMS

WORDS = "waiting", "feeding", "overhead", "memory", "arithmetic", "repeated"
CASES = [(2, 64, 50, 128, 4, 0.5, 1e10), (1, 32, 200, 64, 3, 2.0, 1e9), (3, 96, 20, 16, 1, 0.1, 5e10)]
ANY_MACHINE = MachineLimits("any", peak=1.0, bandwidth=1.0, dispatch=1.0)  # only counts and the clock are used
MANY_CALLS = 1000  # of operators, in one run
LITTLE = 100_000  # bytes per operator: it fits into a cache


def check_1(answer):
    """Check a function that returns the MFU of a training step, against steps that are counted."""
    def like(formula):
        """Return whether the answer follows a wrong formula in all cases."""
        return all(_close(answer(*case), formula(*case)) for case in CASES)

    def scaled(factor):
        return lambda *case: factor * _mfu(*case)

    def weights_only(layers, width, vocabulary, length, rows, seconds, peak):
        return training_flops(_weights(layers, width, vocabulary), 0, width, length, rows) / seconds / peak

    def no_scores(layers, width, vocabulary, length, rows, seconds, peak):
        return training_flops(12 * layers * width**2, layers, width, length, rows) / seconds / peak

    def with_tables(layers, width, vocabulary, length, rows, seconds, peak):
        weights = _weights(layers, width, vocabulary) + vocabulary * width
        return training_flops(weights, layers, width, length, rows) / seconds / peak

    def rows_only(layers, width, vocabulary, length, rows, seconds, peak):
        return _mfu(layers, width, vocabulary, length, rows, seconds, peak) / length

    def one_layer(layers, width, vocabulary, length, rows, seconds, peak):
        weights = _weights(layers, width, vocabulary)
        return training_flops(weights, 1, width, length, rows) / seconds / peak

    def with_attention(factor):
        def share(layers, width, vocabulary, length, rows, seconds, peak):
            per_token = 6 * _weights(layers, width, vocabulary) + factor * layers * width * length
            return per_token * rows * length / seconds / peak
        return share

    def as_counted(*case):
        layers, width, vocabulary, length, rows, seconds, peak = case
        flops = _count_step(layers, width, vocabulary, length, rows)
        again = 2 * layers * width * length * rows * length  # at most: the scores, computed again in attention
        return 0.99 * (flops - again) < float(answer(*case)) * seconds * peak < 1.03 * flops  # biases

    def is_number(_):
        return all(float(answer(*case)) is not None for case in CASES)

    return check(
        answer,
        ("no-function", callable, "give a function, not its result"),
        ("no-number", is_number,
         "it has to return a number for seven arguments: layers, width, vocabulary, length, rows, seconds, peak"),
        ("inverse", lambda _: not like(lambda *case: 1 / _mfu(*case)),
         "a device that is used to the full has an MFU of 1, a slower step less"),
        ("percentage", lambda _: not like(scaled(100)), "a share, not a percentage"),
        ("forward-alone", lambda _: not like(scaled(1 / 3)), "that is the forward pass alone"),
        ("one-backward-product", lambda _: not like(scaled(2 / 3)),
         "a backward pass has two products for each one of the forward pass"),
        ("tokens-ignored", lambda _: not like(rows_only),
         "a weight multiplies every token, and a row has more than one"),
        ("no-attention", lambda _: not like(weights_only), "some products of a GPT have no weights at all"),
        ("table-counted", lambda _: not like(with_tables), "a table in which tokens are looked up multiplies nothing"),
        ("no-scores", lambda _: not like(no_scores), "there is one more matrix after the last layer"),
        ("mask-saves-work", lambda _: not like(with_attention(6)),
         "by convention a mask saves nothing: each token looks at every other"),
        ("attention-forward-alone", lambda _: not like(with_attention(4)), "attention has a backward pass, too"),
        ("one-attention", lambda _: not like(one_layer), "each layer has an attention of its own"),
        ("not-as-counted", lambda _: all(as_counted(*case) for case in CASES), _far_off(answer)),
    )


def _weights(layers, width, vocabulary):
    return 12 * layers * width**2 + vocabulary * width


def _mfu(layers, width, vocabulary, length, rows, seconds, peak):
    weights = _weights(layers, width, vocabulary)
    return training_flops(weights, layers, width, length, rows) / seconds / peak


def _close(one, two):
    return abs(float(one) - two) < 0.005 * abs(two)


@functools.cache
def _count_step(layers, width, vocabulary, length, rows):
    """Return the FLOPs of one training step of a GPT, counted."""
    net = GPT(vocabulary, width=width, layers=layers)
    ids = torch.zeros(rows, length, dtype=torch.long)
    return count_work(lambda: F.cross_entropy(net(ids).flatten(0, 1), ids.flatten()).backward()).flops


def _far_off(answer):
    """Return the hint with what a step was counted to take."""
    if answer is ...:
        return ""
    layers, width, vocabulary, length, rows, seconds, _ = CASES[1]
    flops = _count_step(layers, width, vocabulary, length, rows)
    return say("for the arguments {case}, {flops:.0f} million FLOPs were counted in {seconds:.0f} seconds, on a device "
               "that could do a billion per second", case=CASES[1], flops=flops / 1e6, seconds=seconds)


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
            return not _objection(name, _as_words(answer)[name])
        return agrees

    rules = [
        ("words-missing", complete, "give a dictionary with a word for each of the letters a to f"),
        ("unknown-word", known, say("the words are {words}", words=", ".join(WORDS))),
        ("all-alike", lambda answer: len(set(_as_words(answer).values())) > 1, "no two programs have the same fault"),
    ]
    ready = answer is not ... and not isinstance(answer, str)
    try:
        words = _as_words(answer) if ready else {}
    except (TypeError, ValueError):
        words = {}
    if set(words) == set(PROGRAMS) and len(set(words.values())) > 1 and set(words.values()) <= set(WORDS):
        rules += [(f"{name}-not-{word}", of_one(name),
                   say("program {name} and {word}: {objection}", name=name, word=repr(word),
                       objection=_objection(name, word)))
                  for name, word in sorted(words.items())]
        rules.append(("some-alike", lambda answer: len(set(_as_words(answer).values())) == 6,
                      "no two programs have the same fault"))
    return check(answer, *rules)


def check_3(answer):
    """Check new functions in place of the programs with too many operators and with repeated work."""
    def same(name):
        def holds(new):
            return all(abs(float(new[name](seed)) / PROGRAMS[name](seed) - 1) < 1e-4 for seed in (1, 2, 5))
        return holds

    def for_given(name, rule):
        return lambda new: name not in new or rule(new)

    def runs(new):
        for function in new.values():
            float(function(1))
        return True

    def chosen(new):
        return isinstance(new, Mapping) and set(new) == {"a", "e"}

    def known(new):
        return isinstance(new, Mapping) and set(new) <= set(PROGRAMS) and all(map(callable, new.values())) and new

    return check(
        answer,
        ("no-dictionary", known, "give a dictionary from letters to functions"),
        ("no-number", runs, "each function takes a seed, and returns a number"),
        ("a-differs", for_given("a", same("a")),
         "program a's task is done differently: the result is another one, for some seed"),
        ("e-differs", for_given("e", same("e")),
         "program e's task is done differently: the result is another one, for some seed"),
        ("a-row-by-row", for_given("a", lambda new: count_work(lambda: new["a"](3)).calls < 1250),
         "program a still calls more than a thousand operators, most of them once per row"),
        ("e-repeats", for_given("e", lambda new: count_work(lambda: new["e"](3)).flops < 1.1 * NEEDED["e"]),
         "program e still does more FLOPs than its task needs"),
        ("other-programs", chosen, "the two whose faults are overhead and repeated work, and no other"),
    )
