"""What `count_work` counts, against what can be worked out by hand."""
import torch
from torch import nn
from torch.nn import functional as F

from d2lhelpers.torch.work import count_work


def test_a_product_is_counted():
    """A product of (2, 3) and (3, 4): 24 multiplications and sums; its three matrices are moved."""
    one, other = torch.ones(2, 3), torch.ones(3, 4)
    assert count_work(lambda: one @ other)[:2] == (48, 4 * (6 + 12 + 8))


def test_attention_is_counted_with_and_without_a_mask():
    """Two products per head, whatever the mask leaves out, and whichever code computes them."""
    query, key = torch.ones(1, 2, 5, 8), torch.ones(1, 2, 7, 8)
    wanted = 2 * (2 * 2 * 5 * 7 * 8)
    assert count_work(lambda: F.scaled_dot_product_attention(query, key, key))[0] == wanted
    same = 2 * (2 * 2 * 5 * 5 * 8)
    assert count_work(lambda: F.scaled_dot_product_attention(query, query, query, is_causal=True))[0] == same


def test_views_move_nothing_and_an_embedding_only_its_rows():
    """A view of a large tensor moves no byte; one row of a large table is all that an embedding reads."""
    large = torch.ones(1000, 1000)
    assert count_work(lambda: large.t()[:10].reshape(10, 1000)[0])[:2] == (0, 0)
    table = nn.Embedding(1000, 4)
    with torch.no_grad():
        assert count_work(lambda: table(torch.tensor([3])))[:2] == (0, 2 * 4 * 4)


def test_what_is_written_in_place_counts_once():
    """A copy into a part of a tensor moves what it reads and what it writes, and not the rest of the tensor."""
    large, row = torch.zeros(1000, 10), torch.ones(10)
    assert count_work(lambda: large[3].copy_(row))[:2] == (0, 2 * 40)
    place = torch.tensor([3])
    assert count_work(lambda: large.index_copy_(0, place, row[None]))[:2] == (0, 2 * (40 + 8))
