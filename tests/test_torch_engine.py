"""The serving engine: whatever the policy and the pages, each user gets the tokens that it gets alone."""
import numpy as np
import pytest
import torch

from d2lhelpers.torch.engine import AT_ONCE, Engine, Pages, Request
from d2lhelpers.torch.engine_plot import plot_passes
from d2lhelpers.torch.gpt import GPT, Cache


@pytest.fixture(scope="module")
def net():
    """Return a small network in float64, in which each token depends much on those before it."""
    torch.manual_seed(0)
    net = GPT(200, width=16, heads=2, layers=2, context=64).double()
    with torch.no_grad():
        for block in net.blocks:
            block.attention.out.weight *= 20
    return net


@torch.no_grad()
def alone(net, request):
    """Return the tokens of a request whose prompt has just been read by nobody else."""
    caches = [Cache() for _ in net.blocks]
    tokens = list(request.tokens)
    fresh = tokens
    for _ in range(request.count):
        fresh = [net(torch.tensor([fresh]), caches)[0, -1].argmax().item()]
        tokens = tokens + fresh
    return tokens


def draw(random):
    """Return requests that arrive at random times, some with the same beginning."""
    begin = random.integers(200, size=30).tolist()
    requests = []
    for _ in range(6):
        prompt = begin[:random.integers(0, 20)] + random.integers(200, size=random.integers(1, 20)).tolist()
        requests.append(Request(prompt, int(random.integers(1, 12)), int(random.integers(0, 12))))
    return requests


def whole(users):
    """Let everybody compute all that is pending."""
    return [(user, user.pending) for user in users]


def chunks(users):
    """Let everybody compute at most three tokens."""
    return [(user, min(user.pending, 3)) for user in users]


@pytest.mark.parametrize("policy", [whole, chunks])
@pytest.mark.parametrize("sharing", [False, True])
@pytest.mark.parametrize(("number", "size"), [(60, 4), (13, 4), (50, 1), (2, 64)])
def test_everybody_gets_their_own_tokens(net, policy, sharing, number, size):
    """With pages for all or for few, shared or not, prompts whole or in parts: the tokens are those of each alone."""
    random = np.random.default_rng([number, size, sharing])
    requests = draw(random)
    wanted = [alone(net, request) for request in requests]
    pages = Pages(net, number, size, sharing)
    engine = Engine(net, pages, policy)
    engine.serve(requests)
    assert [request.tokens for request in requests] == wanted
    assert sorted(pages.free) == list(range(number))
    assert not any(pages.users)


def test_the_plot_has_a_row_for_each_user(net):
    """Users wait, their prompts are read and their answers grow, each user in a row, and the legend names all."""
    from matplotlib import pyplot as plt
    requests = [Request([1, 2, 3], 2), Request([4], 2, arrival=1), Request([5, 6], 2, arrival=1)]
    engine = Engine(net, Pages(net, 8, 4), whole)
    engine.serve(requests)
    plot_passes(engine, requests)
    ax = plt.gca()
    spans = [[tuple(path.get_extents().intervalx) for path in bars.get_paths()] for bars in ax.collections]
    rows = [[tuple(path.get_extents().intervaly) for path in bars.get_paths()] for bars in ax.collections]
    ends = [each.end for each in engine.passes]
    late = [(1, ends[2])], [(ends[0], ends[1])], [(ends[1], ends[2])]
    assert spans == [[(0, ends[1])], late[0], late[0], [(0, ends[0])], late[1], late[1], late[1], late[2], late[2]]
    assert rows == [[pytest.approx((row - 0.4, row + 0.4))] for row in (0, 1, 2)] * 3
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["waiting", "prompt", "answer"]
    plt.close()


def test_a_page_is_shared_and_freed_once(net):
    """Two users of one prompt hold the same full pages; the first that ends frees none of them."""
    pages = Pages(net, 8, 4, sharing=True)
    prompt = list(range(10))
    first, second = Request(prompt, 1), Request(prompt, 3, arrival=1)
    held = []

    def policy(users):
        held.append([list(user.pages) for user in users])
        return whole(users)

    first.count = 4
    engine = Engine(net, pages, policy)
    engine.serve([first, second])
    assert held[1] == [[0, 1, 2], []]
    assert held[2][1][:2] == [0, 1]
    assert held[2][1][2] not in (0, 1, 2)
    assert engine.passes[1].work[1][1] == 2  # two of its ten tokens are in no full page
    assert sorted(pages.free) == list(range(8))


def test_what_a_page_held_is_forgotten_when_it_is_taken(net):
    """A page that was given to somebody else is no longer found by its earlier beginning."""
    pages = Pages(net, 3, 4, sharing=True)
    one, other, again = [Request(range(start, start + 9), 1, arrival) for start, arrival in ((0, 0), (50, 2), (0, 4))]
    wanted = alone(net, again)
    Engine(net, pages, whole).serve([one, other, again])
    assert again.tokens == wanted


def test_the_newest_goes_back_and_the_oldest_goes_on(net):
    """With pages for little more than one user, the later ones are sent back, never the first, and all get ready."""
    requests = [Request([number] * 6, 10, number) for number in range(3)]
    engine = Engine(net, Pages(net, 5, 4), whole)
    engine.serve(requests)
    assert engine.sent_back
    assert requests[0] not in engine.sent_back
    assert np.diff(requests[0].times).max() == 1
    assert all(request.finished for request in requests)


def test_a_user_that_never_fits_ends_the_run(net):
    """Where a prompt needs more pages than there are, the engine stops instead of waiting for ever."""
    request = Request([1] * 9, 1)
    engine = Engine(net, Pages(net, 2, 4), whole)
    engine.serve([request])
    assert not request.finished
    assert engine.passes == []


def test_a_long_pass_takes_longer(net):
    """A pass takes one unit of time up to `AT_ONCE` tokens, and in proportion beyond; idle time is skipped."""
    requests = [Request([1] * AT_ONCE, 1), Request([1] * (3 * AT_ONCE // 2), 2, arrival=10)]
    engine = Engine(net, Pages(net, 60, 1), whole)
    engine.serve(requests)
    assert requests[0].times == [1]
    assert requests[1].times == [11.5, 12.5]
    assert [each.filled for each in engine.passes] == [AT_ONCE, 3 * AT_ONCE // 2, 3 * AT_ONCE // 2 + 1]
    assert [each.reserved for each in engine.passes] == [each.filled for each in engine.passes]
