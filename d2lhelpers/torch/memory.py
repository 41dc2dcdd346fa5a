"""How many bytes of tensors are alive at each moment of a PyTorch program, counted on any device."""
import weakref

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

from ..plots import DEVICES, FONT, axes


class LiveBytes(TorchDispatchMode):
    """Count the bytes of all tensors that are made in a `with` block, until they are freed.

    After each operator, PyTorch hands its result to this object, which notes the storage (the memory behind a tensor)
    if it is new, and asks Python to call back when the storage is freed. Tensors that were there before are not
    counted, nor is memory that an operator uses inside itself. Lesson: pytorch/08-memory-and-precision.

    >>> with LiveBytes() as memory:
    ...     ones = torch.ones(250)
    ...     doubled = 2 * ones
    ...     part = doubled[:100]  # a view: no new storage
    ...     del ones
    >>> memory.live, memory.peak
    (1000, 2000)

    `mark` begins a phase. `made` holds the live bytes by the phase in which they were made, and `peaks` the most bytes
    that were alive at once in each phase:

    >>> with LiveBytes() as memory:
    ...     memory.mark("network")
    ...     net = torch.nn.Linear(100, 10)
    ...     memory.mark("forward")
    ...     loss = net(torch.ones(5, 100)).sum()
    >>> memory.made
    {'network': 4040, 'forward': 2004}
    >>> memory.peaks
    {'network': 4040, 'forward': 6244}
    """

    def __init__(self):
        super().__init__()
        self.made = {}  # phase: bytes that were made in it and are alive
        self.peaks = {}
        self.peak_at = 0  # how many operators had run when the most bytes were alive
        self.curve = []  # a copy of `made` after each operator
        self.marks = []  # pairs: how many operators ran before a phase, and its name
        self._alive = {}  # address of a storage: the phase that made it, and its bytes
        self.mark("")

    @property
    def live(self) -> int:
        """The bytes that are alive now."""
        return sum(self.made.values())

    @property
    def peak(self) -> int:
        """The most bytes that were alive at once."""
        return max(self.peaks.values(), default=0)

    def mark(self, phase: str) -> None:
        """Begin a phase, or one of that name again."""
        self.marks = [mark for mark in self.marks if mark[0] < len(self.curve)]  # not those that made nothing
        self.marks.append((len(self.curve), phase))

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        given = None
        for storage in _storages(result):
            if storage._cdata not in self._alive:
                given = given or {each._cdata for each in _storages((args, kwargs))}
                if storage._cdata not in given:  # or it is a view of something older
                    self._begin(storage)
        self.curve.append(dict(self.made))
        return result

    def _begin(self, storage):
        phase = self.marks[-1][1]
        size = storage.nbytes()
        self._alive[storage._cdata] = phase, size
        self.made[phase] = self.made.get(phase, 0) + size
        if self.live > max(self.peaks.values(), default=0):
            self.peak_at = len(self.curve)
        self.peaks[phase] = max(self.peaks.get(phase, 0), self.live)
        weakref.finalize(storage, self._end, storage._cdata).atexit = False

    def _end(self, address):
        phase, size = self._alive.pop(address)
        self.made[phase] -= size

    def plot(self, ax=None) -> None:
        """Draw the live bytes after each operator, in colours that say in which phase they were made."""
        phases = [phase for phase, most in self.peaks.items() if most]
        heights = [[made.get(phase, 0) / 1e6 for made in self.curve] for phase in phases]
        most = [f"{phase or 'before'} {self.peaks[phase] / 1e6:.3g}" for phase in phases]
        with axes(ax, (8, 3.6), "operators", "MB alive") as ax:
            ax.set_label(f"at most {self.peak / 1e6:.3g} MB alive, when {self.peak_at} of {len(self.curve)} operators "
                         f"had run; at most in {', in '.join(most)}")
            colours = [DEVICES[number % len(DEVICES)] for number in range(len(phases))]
            ax.stackplot(range(len(self.curve)), heights, labels=phases, colors=colours)
            for start, phase in self.marks:
                ax.axvline(start, color="black", linewidth=1, linestyle=":")
                ax.text(start, 1.02, phase, transform=ax.get_xaxis_transform(), fontsize=FONT,
                        rotation="vertical", ha="center")
            ax.legend(title="made in", loc="upper left", fontsize=FONT, title_fontsize=FONT, frameon=False,
                      bbox_to_anchor=(1, 1))


def _storages(tree):
    """Yield the storage of each tensor in a tree of lists, tuples and dicts."""
    for each in tree_iter(tree):
        if isinstance(each, torch.Tensor):
            yield each.untyped_storage()
