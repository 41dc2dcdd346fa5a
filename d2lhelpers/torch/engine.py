"""A serving engine for the small GPT: requests, a cache in pages, one pass for many users, and the loop around them.

Lesson: pytorch/12-a-serving-engine. Sources: Yu et al., Orca, 2022; Kwon et al., PagedAttention, 2023; Agrawal et al.,
Sarathi, 2023.
"""
from collections import namedtuple
from collections.abc import Callable, Sequence

import torch
from torch.nn import functional as F

from .gpt import GPT, causal

AT_ONCE = 16  # tokens that a processor computes while it reads all weights once


class Request:
    """What a user wants: `count` tokens after a prompt, asked for at the time `arrival`.

    >>> request = Request([5, 3, 8], count=2)
    >>> request.pending  # the first pass is to compute the whole prompt
    3
    """

    def __init__(self, prompt: Sequence[int], count: int, arrival: float = 0):
        self.tokens = list(prompt)  # the answer's tokens are appended
        self.count = count
        self.arrival = arrival
        self.computed = 0  # tokens whose keys and values are in its pages
        self.pages = []
        self.times = []  # when each token of the answer was there

    @property
    def pending(self) -> int:
        """How many of its tokens have no keys and values yet: first all, then the newest."""
        return len(self.tokens) - self.computed

    @property
    def finished(self) -> bool:
        """Whether it has all tokens that it wanted."""
        return len(self.times) == self.count


class Pages:
    """A cache for many requests: `number` pages, each with room for the keys and values of `size` tokens.

    >>> pages = Pages(GPT(vocabulary=20, width=32, layers=2), number=8, size=16)
    >>> request = Request([1] * 20, count=5)
    >>> pages.make_room(request, 20)
    True
    >>> request.pages, len(pages.free)
    ([0, 1], 6)
    """

    def __init__(self, net: GPT, number: int, size: int, sharing: bool = False):
        self.size, self.sharing = size, sharing
        self.free = list(range(number))
        self.users = [0] * number  # of each page
        self.known = {}  # full pages, found by all tokens up to their end
        heads, weight = net.blocks[0].attention.heads, net.blocks[0].attention.out.weight
        shape = 2, number * size, heads, len(weight) // heads  # keys and values
        self.store = [weight.new_zeros(shape) for _ in net.blocks]

    def make_room(self, request: Request, tokens: int) -> bool:
        """Give a request pages for its next `tokens`; return False if too few are free."""
        end = request.computed + tokens
        missing = -(-end // self.size) - len(request.pages)
        if missing > len(self.free):
            return False
        for _ in range(missing):
            page = self.free.pop(0)
            self.known = {start: each for start, each in self.known.items() if each != page}
            self.users[page] = 1
            request.pages.append(page)
        return True

    def give_back(self, request: Request) -> None:
        """Take a request's pages: those that nobody else uses are free, but still known."""
        for page in request.pages:
            self.users[page] -= 1
        self.free += [page for page in request.pages if not self.users[page]]
        request.pages = []
        request.computed = 0

    def remember(self, request: Request) -> None:
        """Note which of a request's pages are full, so that others may share them."""
        for number in range(request.computed // self.size):
            start = tuple(request.tokens[:(number + 1) * self.size])
            self.known.setdefault(start, request.pages[number])

    def share(self, request: Request) -> None:
        """Let a request use the full pages of others with its beginning; a token stays pending."""
        for end in range(request.computed + self.size, len(request.tokens), self.size):
            page = self.known.get(tuple(request.tokens[:end]))
            if page is None or len(request.pages) * self.size != request.computed:
                return
            if not self.users[page]:
                self.free.remove(page)
            self.users[page] += 1
            request.pages.append(page)
            request.computed = end

    def places(self, request: Request, start: int, end: int) -> torch.Tensor:
        """Return where in `store` a request's tokens from `start` to `end` are."""
        place = torch.arange(start, end)
        return torch.tensor(request.pages)[place // self.size] * self.size + place % self.size


Work = list[tuple[Request, int]]  # who is in a pass, with how many of its pending tokens


def row_of(pages: Pages, work: Work) -> tuple:
    """Return all tokens in one row, their positions, where their keys go, and which places each request sees."""
    ids, positions, written, seen = [], [], [], []
    for request, count in work:
        start, end = request.computed, request.computed + count
        ids += request.tokens[start:end]
        positions += range(start, end)
        written.append(pages.places(request, start, end))
        seen.append(pages.places(request, 0, end))
    return torch.tensor(ids), torch.tensor(positions), torch.cat(written), seen


@torch.no_grad()
def run(net: GPT, pages: Pages, work: Work) -> list[int]:
    """Compute the next tokens of several requests in one pass; return the best token of each."""
    ids, positions, written, seen = row_of(pages, work)
    counts = [count for _, count in work]
    x = net.tokens(ids) + net.places(positions)
    for block, (keys, values) in zip(net.blocks, pages.store, strict=True):
        attention = block.attention
        qkv = attention.qkv(block.norm1(x)).view(len(ids), 3, attention.heads, -1)
        queries, keys[written], values[written] = qkv.unbind(1)
        mixed = []
        for own, places in zip(queries.split(counts), seen, strict=True):
            both = own, keys[places], values[places]
            q, k, v = [each.transpose(0, 1)[None] for each in both]
            found = F.scaled_dot_product_attention(q, k, v, **causal(q, k))[0]
            mixed.append(found.transpose(0, 1).flatten(1))
        x = x + attention.out(torch.cat(mixed))
        x = x + block.dense(block.norm2(x))
    last = torch.tensor(counts).cumsum(0) - 1
    return net.scores(net.norm(x[last])).argmax(-1).tolist()


# What one pass did, from `start` to `end`; `filled` of `reserved` places in the cache held a token.
Pass = namedtuple("Pass", ["start", "end", "work", "filled", "reserved"])


class Engine:
    """Serve requests, pass by pass; `policy(users)` says who is in the next pass, with how many tokens.

    `users` are the requests that have arrived and are not finished, in order of arrival. Time is counted in readings of
    all weights: a pass takes one, or longer if it has more than `AT_ONCE` tokens.

    >>> net = GPT(vocabulary=20, width=32, layers=2)
    >>> engine = Engine(net, Pages(net, number=8, size=16), lambda users: [(user, user.pending) for user in users])
    >>> request = Request([1] * 32, count=3)
    >>> engine.serve([request])
    >>> request.times  # the prompt takes two units, each further token one
    [2.0, 3.0, 4.0]
    """

    def __init__(self, net: GPT, pages: Pages, policy: Callable[[list[Request]], Work]):
        self.net, self.pages, self.policy = net, pages, policy
        self.time = 0.0
        self.passes = []
        self.sent_back = []

    def serve(self, requests: Sequence[Request]) -> None:
        """Run passes until all requests are finished, or none that is in a pass finds room."""
        left = sorted(requests, key=lambda request: request.arrival)
        while left:
            self.time = max(self.time, left[0].arrival)
            users = [request for request in left if request.arrival <= self.time]
            work = self.with_room(self.policy(users), users)
            if not work:
                return
            newest = run(self.net, self.pages, work)
            self.note(work, users)
            for (request, count), token in zip(work, newest, strict=True):
                request.computed += count
                self.pages.remember(request)
                if not request.pending:
                    request.tokens.append(token)
                    request.times.append(self.time)
                if request.finished:
                    self.pages.give_back(request)
                    left.remove(request)

    def with_room(self, work: Work, users: list[Request]) -> Work:
        """Give pages to those who are to be in a pass; where none is left, the newest goes back."""
        found = []
        for request, count in work:
            if self.pages.sharing:
                self.pages.share(request)
            count = min(count, request.pending)
            while not self.pages.make_room(request, count):
                if not self.send_back(request, users, found):
                    break
            else:
                found.append((request, count))
        return found

    def send_back(self, request: Request, users: list[Request], found: Work) -> bool:
        """Take the pages of the newest user after `request`, unless it is in the pass already."""
        busy = [each for each, _ in found]
        after = users[users.index(request) + 1:]
        newer = [user for user in after if user.pages and user not in busy]
        if newer:
            self.pages.give_back(newer[-1])
            self.sent_back.append(newer[-1])
        return bool(newer)

    def note(self, work: Work, users: list[Request]) -> None:
        """Let the time go on, and note what a pass did."""
        start = self.time
        self.time += max(1, sum(count for _, count in work) / AT_ONCE)
        filled = sum(user.computed for user in users) + sum(count for _, count in work)
        reserved = sum(len(user.pages) for user in users) * self.pages.size
        self.passes.append(Pass(start, self.time, work, filled, reserved))
