"""The small GPT: what it computes with a cache, and that it can learn."""
import pytest
import torch
from torch.nn import functional as F

from d2lhelpers.torch.gpt import GPT, Cache, batch, load_text


@pytest.mark.parametrize("pieces", [[5, 1, 1, 1, 1, 1, 1, 1], [1, 11], [4, 3, 1, 4]])
def test_a_cache_changes_no_score(pieces):
    """Piece by piece from a cache, or all tokens at once: the scores are equal, up to the rounding of float64."""
    torch.manual_seed(0)
    net = GPT(vocabulary=20).double()
    ids = torch.randint(20, (2, 12))
    with torch.no_grad():
        caches = [Cache() for _ in net.blocks]
        scores = [net(piece, caches) for piece in ids.split(pieces, dim=1)]
        assert (torch.cat(scores, dim=1) - net(ids)).abs().max() < 1e-12
    assert [cache.length for cache in caches] == [12] * len(net.blocks)


@pytest.mark.parametrize("length", [2, 8])
def test_no_token_looks_ahead(length):
    """A later token changes no earlier score, and does change its own."""
    torch.manual_seed(0)
    net = GPT(vocabulary=20)
    ids = torch.arange(length)[None]
    other = torch.cat([ids[:, :-1], ids[:, :1]], dim=1)
    assert torch.equal(net(ids)[:, :-1], net(other)[:, :-1])
    assert not torch.equal(net(ids)[:, -1], net(other)[:, -1])


def test_pieces_are_in_the_order_of_the_text():
    """Tokens come in the text's order, each with the one after it; a text of one token more has just one piece."""
    x, y = batch(torch.arange(6), rows=2, length=5, seed=0)
    assert x.tolist() == [[0, 1, 2, 3, 4]] * 2
    assert y.tolist() == [[1, 2, 3, 4, 5]] * 2


def test_it_learns():
    """In thirty steps on the text, the loss falls well below that of guessing."""
    torch.manual_seed(0)
    ids, letters = load_text()
    net = GPT(len(letters), width=64, layers=2)
    optimizer = torch.optim.AdamW(net.parameters(), 3e-3)
    losses = []
    for step in range(30):
        x, y = batch(ids, rows=8, length=32, seed=step)
        loss = F.cross_entropy(net(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 1
