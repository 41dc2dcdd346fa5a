"""Check the answer to the exercise of the notebook What papers say."""
import math

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check

GPT_3 = 175e9, 96, 12288, 96, 2048  # parameters, layers, channels, heads, tokens
GB = 10**9


def activations(layers, h, a, s, scores):
    """Return the bytes that all layers keep of one sequence."""
    return layers * s * (34 * h + 5 * a * s * bool(scores))


def gpus(parameters, layers, h, a, s, room, scores):
    """Return the smallest number of GPUs that is enough, or None: the right answer."""
    left = room - activations(layers, h, a, s, scores)
    return math.ceil(16 * parameters / left) if left > 0 else None


def networks(random):
    """Yield networks and rooms: what fits on one GPU or on thousands, never, or just, with scores and without."""
    for scores in True, False:
        yield 10**9, 10, 1024, 8, 512, 80 * GB, scores
        yield *GPT_3, 80 * GB, scores
        for most in 50, 50, 50, 5000, 5000, 5000:
            heads = int(random.integers(1, 97))
            layers, h, s = int(random.integers(1, 100)), 64 * heads, int(random.integers(100, 4096))
            parameters = 12 * layers * h * h + int(random.integers(1, 10**6))
            room = activations(layers, h, heads, s, True) + int(random.integers(10**6, 80 * GB))
            yield parameters, layers, h, heads, s, room, scores
            yield parameters, layers, h, heads, s, activations(layers, h, heads, s, scores), scores  # nothing is left
            count = int(random.integers(most // 2, most))  # exactly as many, with no byte to spare
            left = 16 * int(random.integers(10**6, 10**9))
            yield count * left // 16, layers, h, heads, s, activations(layers, h, heads, s, scores) + left, scores


def needed(function, *network):
    """Return what a function says, in a list, so that None is compared, too."""
    return [function(*network)]


def check_1(answer):
    """Check a function that returns on how many GPUs a step of ZeRO-3 fits, given network, room and scores."""
    small, sequence = (10**9, 10, 1024, 8, 512), activations(10, 1024, 8, 512, True)

    def differs(*arguments, like):
        """Return whether an answer is not what a known mistake gives."""
        return answer(*arguments) != like

    room = sequence + 10**8
    shared = math.ceil((16 * 10**9 + sequence) / room)
    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        ("gives-none-back", lambda f: f(*small, room, True) is not None, "with room for it, your function gives None"),
        ("shares-activations", lambda _: differs(*small, room, True, like=shared),
         "each GPU computes a sequence of its own, so activations do not shrink with their number"),
        ("forgets-activations", lambda _: differs(*small, room, True, like=math.ceil(16 * 10**9 / room)),
         "a GPU also holds the activations of its sequence"),
        ("one-layer", lambda _: differs(*small, room, True, like=math.ceil(16 * 10**9 / (room - sequence / 10))),
         "every layer keeps activations"),
        ("rounds-down", lambda _: differs(10**9 + 1, *small[1:], room, True, like=160),
         "a part of a GPU is one GPU more"),
        ("scores-always", lambda f: f(*small, room, False) != f(*small, room, True),
         "without the scores a layer keeps less"),
        ("never-none", lambda f: f(*small, sequence - 1, True) is None,
         "if activations alone do not fit, no number of GPUs is enough: give None"),
        *Exam(gpus, networks, needed).rules(),
    )
