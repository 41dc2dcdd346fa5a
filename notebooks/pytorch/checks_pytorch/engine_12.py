"""What the answers to exercises 2 and 3 of lesson 12 are compared with, and the cases in which they are."""
import torch

from d2lhelpers.examine import Exam
from d2lhelpers.torch.engine import Engine, Pages, Request
from d2lhelpers.torch.gpt import GPT


def bounded(users, budget):
    """Give a token to each user whose answer has begun, and the rest of the budget to prompts, in order."""
    work = [(user, 1) for user in users if user.times]
    left = budget - len(work)
    for user in users:
        count = min(user.pending, left)
        if count > 0 and not user.times:
            work.append((user, count))
            left -= count
    return work


class InTimePages(Pages):
    """Pages that others may share from the pass on that fills them."""

    def make_room(self, request, tokens):
        """Give a request the pages that it needs for its next `tokens`, and let others find those that get full."""
        fits = super().make_room(request, tokens)
        if fits:
            for number in range((request.computed + tokens) // self.size):
                self.known.setdefault(tuple(request.tokens[:(number + 1) * self.size]), request.pages[number])
        return fits


def run_policy(policy, users, budget):
    """Run passes without a network; return for each who decoded, and whose prompt was read, with how many tokens.

    `users` are (arrival, tokens of the prompt, of the answer), in order of importance. It ends when all are done, or
    after so many passes that a policy which wastes none would have ended long before.
    """
    requests = [Request([0] * prompt, count, arrival) for arrival, prompt, count in users]
    found = []
    for now in range(max(arrival for arrival, _, _ in users) + sum(prompt + count for _, prompt, count in users)):
        here = [request for request in requests if request.arrival <= now and not request.finished]
        if all(request.finished for request in requests):
            break
        given = list(here)
        work = [(user, int(count)) for user, count in policy(given, budget)] if here else []
        prompts = [(requests.index(user), count) for user, count in work if not user.times]
        found.append({"decode": sorted((requests.index(user), count) for user, count in work if user.times),
                      "prompts": sorted(prompts), "unchanged": given == here})
        for user, count in work:
            user.computed += count
            if user.pending <= 0:
                user.tokens.append(0)
                user.times.append(now)
    return found


def policy_exam():
    """Return the exam of a policy: the same users must be in each pass, with as many tokens, as in `bounded`."""
    def cases(random):
        yield [(0, 3, 3), (0, 9, 2)], 4
        yield [(2, 12, 2), (0, 2, 6)], 4  # the second one has begun its answer when the first one comes
        yield [(0, 1, 4), (0, 1, 3), (0, 1, 2), (1, 1, 1)], 2
        for _ in range(3):
            count = int(random.integers(4, 12))
            users = []
            for _ in range(count):
                users.append(tuple(int(each) for each in random.integers((0, 1, 1), (15, 40, 12))))
            yield users, int(random.integers(3, 17))

    return Exam(bounded, cases, run_policy)


@torch.no_grad()
def network(seed):
    """Return a new small network in float64 in which each token depends much on those before it."""
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        net = GPT(400, width=16, heads=2, layers=2, context=96).double()
    for block in net.blocks:
        block.attention.out.weight *= 20
    return net


def serve(make, seed, number_size_most, users):
    """Serve users; return the tokens of each, and how many tokens the passes have computed.

    The setting is the number of pages, their size, and how many tokens a user gets in a pass; users are (arrival,
    prompt, tokens of the answer). With few pages what is computed depends on which of two equal pages is known; so it
    is not counted.
    """
    number, size, most = number_size_most
    requests = [Request(prompt, count, arrival) for arrival, prompt, count in users]
    net = network(seed)
    engine = Engine(net, make(net, number, size, sharing=True),
                    lambda here: [(user, min(user.pending, most)) for user in here])
    engine.serve(requests)
    computed = sum(count for each in engine.passes for _, count in each.work)
    return {"tokens": [request.tokens for request in requests], "computed": computed if number >= 32 else None}


def pages_exam():
    """Return the exam of pages that are shared in the pass which fills them."""
    def cases(random):
        alike = random.integers(400, size=44).tolist()
        yield 0, (32, 16, 8), [(0, alike, 6), (0, alike, 6)]
        yield 1, (32, 4, 100), [(0, alike[:9], 3), (0, alike[:13], 3), (0, alike[:8], 3)]
        other = random.integers(400, size=60).tolist()
        same = [(0, alike[:8], 1), (0, alike[:12], 12), (2, other[:20], 4), (3, other[20:40], 4)]  # one ends early
        yield 2, (16, 4, 8), same
        yield 3, (32, 4, 4), [(0, alike[:4] + other[:6], 3), (0, alike[4:8] + other[:7], 3)]  # other beginnings
        for most in (7, 8):  # a pass ends a token before the end of a page, or there
            for later in (0, 1):
                yield 4, (32, 4, most), [(0, alike[:20], 3), (later, alike[:20], 3)]
        yield 5, (8, 4, 99), [(0, alike[:9], 2), (4, other[:28], 2), (15, alike[:9], 2)]  # pages that were lost
        # The third has 25 tokens in 2 pages, where the first one's were, and no room for more; then the last one comes.
        some, more = [each * each % 397 for each in range(44)], [each * 17 % 389 for each in range(60)]
        users = [(0, more + some[:30], 1), (6, more[:50], 9), (9, some + more[:9], 3), (10, some[:32] + more[:2], 2)]
        for seed in (6, 18):  # of the networks, some say the same in spite of wrong keys
            yield seed, (7, 16, 25), users
        for seed in (7, 8):
            size = int(random.choice([3, 4, 8]))
            users = []
            for _ in range(4):
                begin = alike[:int(random.integers(1, 30))]
                own = random.integers(400, size=int(random.integers(1, 9))).tolist()
                users.append((int(random.integers(0, 6)), begin + own, int(random.integers(1, 7))))
            least = -(-60 // size)  # pages for one user; with few more, some are sent back
            yield seed, (least + int(random.integers(0, 9)), size, int(random.integers(2, 12))), users

    return Exam(InTimePages, cases, serve)
