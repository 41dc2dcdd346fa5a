"""Somebody's training of a small GPT, which lesson 10, Find the bottleneck, measures and repairs."""
import queue
import threading
import time

import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

from d2lhelpers.torch.gpt import TEXT

LENGTH = 32  # tokens in a piece
LONGEST = 0.1  # a row of a gradient is made no longer than this


class Pieces(Dataset):
    """Pieces of the text, and for each token the one after it."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        text = TEXT.read_text(encoding="utf-8")
        letters = sorted(set(text))
        ids = torch.tensor([letters.index(letter) for letter in text])
        start = LENGTH * index
        return ids[start:start + LENGTH], ids[start + 1:start + LENGTH + 1]


class Log:
    """Sends each loss to another machine, which takes half a second to answer."""

    def __init__(self):
        self.lines = queue.Queue()
        threading.Thread(target=self.send, daemon=True).start()

    def send(self):
        """Send what is in the queue."""
        while True:
            self.lines.get()
            time.sleep(0.5)
            self.lines.task_done()

    def note(self, loss):
        """Send a loss."""
        self.lines.put(loss.detach())
        self.lines.join()


def clip(parameters):
    """Shorten each row of a gradient that is too long."""
    for parameter in parameters:
        if parameter.dim() == 2:
            for row in parameter.grad:
                row.mul_((LONGEST / row.norm()).clamp(max=1))


def train(net, pieces, note, clip, rows=2, fused=False):
    """Take one step for each batch of `rows` pieces."""
    optimizer = torch.optim.AdamW(net.parameters(), fused=fused)
    for x, y in DataLoader(pieces, batch_size=rows):
        loss = F.cross_entropy(net(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        clip(net.parameters())
        optimizer.step()
        note(loss)
