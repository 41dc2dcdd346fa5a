"""What the machine has, and how fast it is: `report`, `limits` with a roofline, and `count_calls`."""
import functools
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from .benchmark import measure
from .plots import BLUE, COMMUNICATION, FONT, PYTHON, axes


def report():
    """Print what the machine has: system, cores, memory, Python, the frameworks that are loaded, and GPUs.

    Lesson: 00-start-here.

    >>> report()   # doctest: +ELLIPSIS
    system:     ...
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    loaded = [f"{name} {sys.modules[name.lower()].__version__}" for name in ("MXNet", "Torch", "NumPy")
              if name.lower() in sys.modules]
    print(f"system:     {platform.system()} {platform.machine()}\n"
          f"cores:      {usable} of {os.cpu_count()}\n"
          f"memory:     {memory / 2**30:.0f} GiB\n"
          f"Python:     {platform.python_version()}\n"
          f"frameworks: {', '.join(loaded) or 'none loaded'}\n"
          f"GPUs:       {_gpus()}")


def _gpus():
    """Return what nvidia-smi says of each GPU: name, memory, driver."""
    torch = sys.modules.get("torch")
    if torch and torch.backends.mps.is_available():
        return "Apple's, which PyTorch calls mps"
    if not shutil.which("nvidia-smi"):
        return "none (there is no nvidia-smi)"
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        lines = subprocess.run(query, capture_output=True, text=True, timeout=30, check=True).stdout.splitlines()
    except (OSError, subprocess.SubprocessError) as error:
        return f"none (nvidia-smi failed: {error})"
    return "; ".join(lines) or "none"


class Limits(NamedTuple):
    """How fast one device is: operations per second, bytes per second, and seconds per dispatch; made by `limits`."""

    device: str
    peak: float
    bandwidth: float
    dispatch: float

    def _numbers(self):
        return (f"memory {self.bandwidth / 1e9:.1f} GB/s", f"arithmetic {self.peak / 1e9:.1f} Gflop/s",
                f"one dispatch {self.dispatch * 1e6:.1f} µs")

    def __repr__(self):
        return "\n".join([f"{self.device}:", *self._numbers()])

    def regime(self, operations, bytes):
        """Return what bounds an operator, and the seconds that it takes at least.

        `operations` are its additions and multiplications, `bytes` those that it reads and writes.

        >>> Limits("example", peak=1e12, bandwidth=1e10, dispatch=1e-5).regime(operations=1e6, bytes=12e6)
        ('memory-bound', 0.0012)
        """
        bounds = {"overhead-bound": self.dispatch, "memory-bound": bytes / self.bandwidth,
                  "compute-bound": operations / self.peak}
        return max(bounds.items(), key=lambda bound: bound[1])

    def roofline(self, work, ax=None):
        """Draw how fast each piece of work ran, below the two roofs that memory and arithmetic set.

        `work` maps labels to (operations, bytes, seconds) of one operator. A point has the colour of what bounds it.
        Under the roofs a grey bar is the limit for an overhead-bound operator: it takes at least one dispatch.

        Source: Williams, Waterman, Patterson, Roofline: an insightful visual performance model, 2009.
        """
        colours = {"overhead-bound": PYTHON, "memory-bound": COMMUNICATION, "compute-bound": BLUE}
        ridge = self.peak / self.bandwidth
        intensities = [operations / size for operations, size, _ in work.values()]
        left, right = min([ridge / 30, *intensities]) / 4, max([ridge * 30, *intensities]) * 4
        with axes(ax, (8, 5), "operations per byte", "operations per second") as ax:
            ax.loglog([left, ridge], [left * self.bandwidth, self.peak], color=COMMUNICATION, linewidth=3)
            ax.loglog([ridge, right], [self.peak, self.peak], color=BLUE, linewidth=3)
            ax.plot([], [], "_", color=PYTHON, markersize=24, markeredgewidth=4)
            for (label, (operations, size, seconds)), x in zip(work.items(), intensities, strict=True):
                colour, y = colours[self.regime(operations, size)[0]], operations / seconds
                ax.plot(x, y, "o", color=colour, markersize=11)
                ax.annotate(label, (x, y), (0, -22), textcoords="offset points", ha="center", fontsize=FONT)
                if colour == PYTHON:
                    ax.plot(x, operations / self.dispatch, "_", color=PYTHON, markersize=24, markeredgewidth=4)
            ax.margins(y=0.12)
            ax.legend(ax.lines[:3], self._numbers(), fontsize=FONT, frameon=False, ncols=3, columnspacing=1,
                      handlelength=1.3, loc="lower center", bbox_to_anchor=(0.5, 1))


@functools.cache
def limits():
    """Measure once, in one or two seconds, how fast a device is with the framework that is loaded; return its `Limits`.

    It takes the first GPU, or else the CPU with the threads that the set-up gave it. A product of two square float32
    matrices takes at least 5 ms; a copy's two arrays are each four times as large as the last-level cache, but below
    1 GB together; a dispatch is the time in which Python asks for the sum of two tiny arrays, without waiting for it.
    Each is the best of several runs, because other programs can only slow it down.

    Lesson: 00-start-here.
    """
    device, ones, product, copy, wait = _mxnet() if "mxnet" in sys.modules else _torch()
    size, seconds = 256, 0
    while seconds < 0.005 and size < 8192:
        size *= 2
        work = functools.partial(product, ones(size, size), ones(size, size))
        seconds = min(measure(work, repeat=10, sync=wait).times)
    count = min(max(4 * _cache(), 128 * 10**6), 480 * 10**6) // 4
    source, target = ones(count), ones(count)
    copied = min(measure(lambda: copy(source, target), repeat=6, sync=wait).times)
    tiny = ones(2, 2)

    def dispatch():
        start = time.perf_counter()
        for _ in range(10):
            tiny + tiny
        return (time.perf_counter() - start) / 10

    dispatched = min(measure(dispatch, repeat=200, sync=wait, reported=True).times)
    return Limits(device, peak=2 * size**3 / seconds, bandwidth=2 * 4 * count / copied, dispatch=dispatched)


def _cache():
    """Return the bytes of the last-level cache, or 32 MiB where the system does not tell."""
    sizes = [path.read_text().strip() for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")]
    return max([int(size[:-1]) * {"K": 2**10, "M": 2**20}[size[-1]] for size in sizes], default=2**25)


def _mxnet():
    """Return the device and the framework's functions: ones, matrix product, copy, wait for all; as `_torch` does."""
    import mxnet as mx

    device = mx.gpu(0) if mx.context.num_gpus() else mx.cpu(0)
    return (f"{device} with MXNet", lambda *shape: mx.np.ones(shape, ctx=device), mx.np.dot,
            lambda source, target: source.copyto(target), mx.nd.waitall)


def _torch():
    import torch

    device, wait = ("cuda:0", torch.cuda.synchronize) if torch.cuda.is_available() else ("cpu", lambda: None)
    return (f"{device} with PyTorch", lambda *shape: torch.ones(shape, device=device), torch.mm,
            lambda source, target: target.copy_(source), wait)


def count_calls(fn):
    """Return how often Python handed work to the framework while `fn()` ran: an operator, or a whole compiled graph.

    Lesson: 01-imperative-and-symbolic.
    """
    if "mxnet" in sys.modules:
        from .timeline import Timeline
    else:
        from .torch_timeline import Timeline
    with Timeline() as timeline:
        fn()
    return timeline.calls
