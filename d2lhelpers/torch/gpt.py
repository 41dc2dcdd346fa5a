"""A small GPT and the text that it learns from: what the lessons on a transformer (08 to 11) measure.

The text is the Constitution of the United States, which is in the public domain. A token is one character of it. The
network is that of A. Radford and others, "Language models are unsupervised multitask learners", 2019, but smaller.

>>> net = GPT(vocabulary=72)
>>> net(torch.zeros(2, 10, dtype=torch.long)).shape  # a score for each token, at each of ten places
torch.Size([2, 10, 72])
"""
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

TEXT = Path(__file__).with_name("constitution.txt")


def causal(queries: torch.Tensor, keys: torch.Tensor) -> dict[str, Any]:
    """Return the options of attention that let a token look at itself and at all before it.

    The new tokens, which have queries, are the last of those that have keys. Both tensors are
    batch, heads, length, numbers. Lesson: pytorch/08-memory-and-precision.

    >>> queries, keys = torch.ones(1, 4, 2, 8), torch.ones(1, 4, 5, 8)  # 2 new after 3 others
    >>> causal(queries, keys)["attn_mask"].int()
    tensor([[1, 1, 1, 1, 0],
            [1, 1, 1, 1, 1]], dtype=torch.int32)
    """
    new, seen = queries.shape[2], keys.shape[2]
    if new == seen:
        return {"is_causal": True}
    if new == 1:
        return {}
    mask = torch.ones(new, seen, dtype=torch.bool, device=keys.device)
    return {"attn_mask": mask.tril(seen - new)}


class Attention(nn.Module):
    """Causal self-attention: each token looks at itself and at all before it."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)  # queries, keys and values in one product
        self.out = nn.Linear(width, width)

    def forward(self, x, cache=None):
        """Return what tokens take from those before them, those in a `cache` included."""
        batch, length, width = x.shape
        split = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = split.permute(2, 0, 3, 1, 4)  # each: batch, heads, length, numbers
        if cache is not None:
            k, v = cache.append(k, v)
        mixed = F.scaled_dot_product_attention(q, k, v, **causal(q, k))
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    """Attention, then two dense layers for each token, both added to their input."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        wide = nn.Linear(width, 4 * width)
        self.dense = nn.Sequential(wide, nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, cache=None):
        """Return the tokens' new numbers, of the same shape."""
        x = x + self.attention(self.norm1(x), cache)
        return x + self.dense(self.norm2(x))


class GPT(nn.Module):
    """Tokens in, a score for each possible next token out, at every place."""

    def __init__(self, vocabulary, width=128, heads=4, layers=4, context=256):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(context, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.scores = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids, caches=None):
        """Return scores: batch, length, vocabulary. `caches` are one per block."""
        first = caches[0].length if caches else 0
        places = torch.arange(first, first + ids.shape[1], device=ids.device)
        x = self.tokens(ids) + self.places(places)
        for number, block in enumerate(self.blocks):
            x = block(x, caches[number]) if caches else block(x)
        return self.scores(self.norm(x))


class Cache:
    """The keys and values that one block has computed so far. Lesson: pytorch/09-serving-a-transformer.

    >>> cache = Cache()
    >>> cache.length, cache.nbytes
    (0, 0)
    >>> for _ in range(3):  # keys and values: batch, heads, length, numbers of a head
    ...     keys, values = cache.append(torch.ones(1, 4, 2, 32), torch.ones(1, 4, 2, 32))
    >>> cache.length, cache.nbytes
    (6, 6144)
    >>> cache.keep(4)  # forget the last two tokens
    >>> cache.length, cache.nbytes
    (4, 4096)
    """

    def __init__(self):
        self.keys = self.values = None

    @property
    def length(self):
        """How many tokens it holds."""
        return 0 if self.keys is None else self.keys.shape[2]

    @property
    def nbytes(self):
        """How many bytes its keys and values have."""
        return 0 if self.keys is None else self.keys.nbytes + self.values.nbytes

    def append(self, keys, values):
        """Add those of new tokens, and return all."""
        if self.keys is not None:
            keys = torch.cat([self.keys, keys], dim=2)
            values = torch.cat([self.values, values], dim=2)
        self.keys, self.values = keys, values
        return keys, values

    def keep(self, tokens):
        """Forget all but the first `tokens`. Lesson: deeper/speculative-decoding."""
        if self.keys is not None:
            self.keys = self.keys[:, :, :tokens]
            self.values = self.values[:, :, :tokens]


def load_text() -> tuple[torch.Tensor, list[str]]:
    """Return the text as a tensor of tokens, and the characters in the order of their numbers.

    Lesson: pytorch/08-memory-and-precision.

    >>> ids, letters = load_text()
    >>> "".join(letters[number] for number in ids[:16])
    'The Constitution'
    """
    text = TEXT.read_text(encoding="utf-8")
    letters = sorted(set(text))
    number = {letter: index for index, letter in enumerate(letters)}
    return torch.tensor([number[letter] for letter in text]), letters


def batch(ids: torch.Tensor, rows: int, length: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return `rows` pieces of the text from random places, and for each token the one after it.

    Both have the shape (rows, length). The same seed gives the same pieces. Lesson: pytorch/08-memory-and-precision.

    >>> x, y = batch(torch.arange(100), rows=2, length=5, seed=1)
    >>> torch.equal(y, x + 1)
    True
    """
    starts = torch.randint(len(ids) - length, (rows, 1), generator=torch.Generator().manual_seed(seed))
    places = starts + torch.arange(length)
    return ids[places], ids[places + 1]


def learn(net: nn.Module, row: torch.Tensor, steps: int, rate: float = 2e-3) -> None:
    """Train a network in so many steps on one row of tokens, of shape (1, length), until it knows them by heart.

    Lesson: deeper/speculative-decoding.

    >>> net = GPT(vocabulary=5, width=16, layers=1)
    >>> row = torch.tensor([[0, 1, 2, 3, 4, 0, 1, 2, 3, 4]])
    >>> learn(net, row, steps=60, rate=0.01)
    >>> net(row[:, :5]).argmax(-1)  # the token after each of the first five
    tensor([[1, 2, 3, 4, 0]])
    """
    optimizer = torch.optim.AdamW(net.parameters(), rate)
    with torch.enable_grad():
        for _ in range(steps):
            loss = F.cross_entropy(net(row[:, :-1])[0], row[0, 1:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
