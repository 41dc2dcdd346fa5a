"""What the answers to exercises 2 and 3 of lesson 09 are compared with, and the cases in which they are."""
import torch

from d2lhelpers.examine import Exam
from d2lhelpers.torch.gpt import GPT


class Room:
    """A cache that has memory for a number of tokens."""

    def __init__(self, room):
        self.room = room
        self.length = 0

    def append(self, keys, values):
        """Add those of new tokens, and return all."""
        if not self.length:
            self.both = [each.new_empty(*each.shape[:2], self.room, each.shape[3]) for each in (keys, values)]
        end = self.length + keys.shape[2]
        if end > self.room:
            raise ValueError
        for place, fresh in zip(self.both, (keys, values), strict=True):
            place[:, :, self.length:end] = fresh
        self.length = end
        return [each[:, :, :end] for each in self.both]


def use_cache(make, room, pieces):
    """Append pieces to a cache; return what each gives, or that it is refused, and the length afterwards."""
    cache = make(room)
    found = []
    for keys, values in pieces:
        try:
            fresh = keys.clone(), values.clone()
            given = [each.clone() for each in cache.append(*fresh)]
            if not all(map(torch.equal, fresh, (keys, values))):
                given = "changed arguments"
        except Exception:
            given = "an error"
        found.append((given, int(cache.length)))
    return found


def cache_exam():
    """Return the exam of a cache with room for a number of tokens."""
    def cases(random):
        for room, kind in (1, torch.float64), (int(random.integers(9, 17)), torch.float32), (7, torch.bfloat16):
            rows, heads, size = (int(each) for each in random.integers(1, 5, 3))
            pieces = []
            for tokens in (1, 1, 1) if room == 1 else (int(random.integers(1, room - 3)), 1, 2, room, 1, 9, 1):
                pieces.append(torch.as_tensor(random.normal(size=(2, rows, heads, tokens, size))).to(kind))
            yield room, pieces

    return Exam(Room, cases, use_cache)


@torch.no_grad()
def network(seed):
    """Return a new small network in float64."""
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        net = GPT(50, width=32, heads=2, layers=2).double()
    for block in net.blocks:
        block.attention.out.weight *= 20       # what a token says depends on those before it
    return net


def drawn(random, *lengths):
    """Return rows of tokens, of these lengths."""
    return [torch.as_tensor(random.integers(50, size=(1, length))) for length in lengths]


def truth(net, system, requests, count):
    """Return the new tokens of each request, all computed anew."""
    found = []
    for request in requests:
        ids = torch.cat([system, request], dim=1)
        for _ in range(count):
            ids = torch.cat([ids, net(ids)[:, -1:].argmax(-1)], dim=1)
        found.append(ids[:, -count:])
    return found


def serving_exam():
    """Return the exam of a server whose requests share a system prompt."""
    def use(function, *arguments):
        return [torch.as_tensor(each).flatten() for each in function(*arguments)]

    def cases(random):
        for number in 1, 2, 4:
            net = network(int(random.integers(10**6)))
            lengths = random.integers(1, 9, 1 + number).tolist()
            for _ in range(2):  # the second time with another system prompt, as long as the first
                system, *asked = drawn(random, *lengths)
                yield net, system, asked, int(random.integers(1, 6))

    return Exam(truth, cases, use)
