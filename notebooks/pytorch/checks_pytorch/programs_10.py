"""Six programs for lesson 10, Find the bottleneck. Measure them before you read them.

Each is a function of a seed, and returns a number. `NEEDED` says how many FLOPs of products its task takes at least.
"""
import queue
import threading
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

ROWS, WIDTH, HIDDEN = 1024, 512, 1024


def _numbers(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def _network(seed):
    net = nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(_numbers(seed, *parameter.shape) / WIDTH**0.5)
    return net


def _update(net):
    with torch.no_grad():
        for parameter in net.parameters():
            parameter -= 0.01 * parameter.grad
    return sum(parameter.grad.abs().sum().item() for parameter in net.parameters())


class _Desk:
    """Takes notes."""

    def __init__(self):
        self.notes = []
        self.tray = queue.Queue()
        threading.Thread(target=self._write, daemon=True).start()

    def _write(self):
        while (note := self.tray.get()) is not None:
            time.sleep(0.2)
            self.notes.append(float(note))
            self.tray.task_done()

    def note(self, value):
        self.tray.put(value)
        self.tray.join()


class _Lines(Dataset):
    """Rows of a table in text."""

    def __init__(self, seed):
        values = _numbers(seed, 8, 4096).tolist()
        self.lines = [",".join(f"{value:.6f}" for value in row) for row in values]

    def __len__(self):
        return 8 * len(self.lines)

    def __getitem__(self, index):
        values = [float(cell) for cell in self.lines[index % 8].split(",")]
        return torch.tensor([(value - min(values[:8])) / 2 for value in values])


def program_a(seed=1):
    """Bring 5,000 rows to mean 0 and length 1; return the mean of the largest numbers in a row."""
    rows = _numbers(seed, 5000, 64)
    found = []
    for row in rows:
        row = row - row.mean()
        found.append((row / row.norm()).max())
    return torch.stack(found).mean().item()


def program_b(seed=1):
    """Multiply a matrix by itself four times; return the mean of what was noted."""
    x = _numbers(seed, 128, 128) / 128**0.5
    desk = _Desk()
    for _ in range(4):
        x = x @ x
        desk.note(x.abs().mean())
    desk.tray.put(None)
    return sum(desk.notes) / len(desk.notes)


def program_c(seed=1):
    """Train a network for three steps on 1,024 rows; return the size of the last gradient."""
    net, rows = _network(seed), _numbers(seed + 1, ROWS, WIDTH)
    for _ in range(3):
        net.zero_grad()
        net(rows).square().mean().backward()
        total = _update(net)
    return total


def program_d(seed=1):
    """Multiply 64 rows of a table by a vector; return the mean of the results."""
    weights = _numbers(seed + 1, 4096, 1)
    results = [batch @ weights for batch in DataLoader(_Lines(seed), batch_size=8)]
    return torch.cat(results).mean().item()


def program_e(seed=1):
    """Train a network for one step on 1,024 rows, which arrive in four parts; return the gradient's size."""
    net, rows = _network(seed), _numbers(seed + 1, ROWS, WIDTH)
    for end in range(ROWS // 4, ROWS + 1, ROWS // 4):
        net.zero_grad()
        net(rows[:end]).square().mean().backward()
    return _update(net)


def program_f(seed=1):
    """Apply a formula to eight million numbers; return the mean of the results."""
    x = _numbers(seed, 1 << 16).repeat(128)
    total = torch.zeros_like(x)
    for power in range(1, 5):
        total = total + x / power
        total = total * 0.5 + 1
    return total.mean().item()


PROGRAMS = {"a": program_a, "b": program_b, "c": program_c, "d": program_d, "e": program_e, "f": program_f}
_STEP = 2 * ROWS * (2 * WIDTH * HIDDEN + 3 * HIDDEN)  # forward and backward; nobody needs a gradient of the rows
NEEDED = {"a": 0, "b": 4 * 2 * 128**3, "c": 3 * _STEP, "d": 2 * 64 * 4096, "e": _STEP, "f": 0}
