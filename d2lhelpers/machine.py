"""What the machine has, and how fast it is: `report` and `limits`."""
import functools
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from . import moved
from .benchmark import measure
from .environment import conflicting_settings, usable_cores
from .plots import BLUE, COMMUNICATION, FONT, PYTHON, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGE = 1 << 26  # elements of a float32 array that fits in no cache: 256 MB
NVIDIA_SMI_SECONDS = 5  # seconds to wait for nvidia-smi


def report() -> None:
    """Print what the machine has, which frameworks are loaded, and which settings invalidate the lessons' claims.

    Lesson: 00-start-here.

    >>> report()   # doctest: +ELLIPSIS
    system:     ...
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    loaded = [name for name in ("mxnet", "torch", "numpy") if name in sys.modules]
    versions = ", ".join(f"{name} {sys.modules[name].__version__}" for name in loaded)
    frameworks = [name for name in loaded if name != "numpy"]
    conflicts = conflicting_settings("any", *frameworks)
    if usable_cores() == 1:
        conflicts.append("there is 1 core: nothing runs in parallel, so every claim about parallel work fails")
    print(f"system:     {platform.system()} {platform.machine()}\n"
          f"cores:      {usable_cores()} of {os.cpu_count()}\n"
          f"memory:     {memory / 2**30:.0f} GiB\n"
          f"Python:     {platform.python_version()}\n"
          f"frameworks: {versions or 'none loaded'}\n"
          f"GPUs:       {_gpus()}\n"
          f"settings:   {'; '.join(conflicts) or 'none that invalidates a measurement'}")


def _gpus():
    """Return the name, memory and driver of each GPU, as nvidia-smi prints them."""
    if "torch" in sys.modules and sys.modules["torch"].backends.mps.is_available():
        return "Apple's, which PyTorch calls mps"
    if not shutil.which("nvidia-smi"):
        return "none (there is no nvidia-smi)"
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        printed = subprocess.run(query, capture_output=True, text=True, timeout=NVIDIA_SMI_SECONDS).stdout
    except subprocess.TimeoutExpired:
        return f"unknown (nvidia-smi did not answer in {NVIDIA_SMI_SECONDS} seconds)"
    return "; ".join(printed.splitlines()) or "none"


class MachineLimits(NamedTuple):
    """How fast one device is; made by `limits`.

    `peak` is in operations per second, `bandwidth` in bytes per second, `dispatch` in seconds.
    """

    device: str
    peak: float
    bandwidth: float
    dispatch: float

    def __repr__(self):
        return (f"{self.device}:\nmemory {self.bandwidth / 1e9:.1f} GB/s\narithmetic {self.peak / 1e9:.1f} Gflop/s\n"
                f"one dispatch {self.dispatch * 1e6:.1f} µs")

    def regime(self, operations: float, bytes: float) -> tuple[str, float]:
        """Return what limits an operator, and the shortest time that it can take, in seconds.

        `operations` is the number of its additions and multiplications, `bytes` the number that it reads and writes.

        >>> MachineLimits("example", peak=1e12, bandwidth=1e10, dispatch=1e-5).regime(operations=1e6, bytes=12e6)
        ('memory-bound', 0.0012)
        """
        bounds = {"overhead-bound": self.dispatch, "memory-bound": bytes / self.bandwidth,
                  "compute-bound": operations / self.peak}
        return max(bounds.items(), key=lambda bound: bound[1])

    def roofline(self, work: Mapping[Any, tuple[float, float, float]], ax: "Axes | None" = None) -> None:
        """Draw how fast each operator ran, below the two roofs: the limits of memory and of arithmetic.

        `work` maps labels to (operations, bytes, seconds) of one operator. The colour of a point shows what limits it.
        A grey bar marks the limit of an overhead-bound operator, which takes at least one dispatch.
        Source: Williams, Waterman, Patterson, Roofline: an insightful visual performance model, 2009.
        """
        colours = {"overhead-bound": PYTHON, "memory-bound": COMMUNICATION, "compute-bound": BLUE}
        ridge = self.peak / self.bandwidth
        intensities = [operations / size for operations, size, _ in work.values()]
        left = min([ridge / 30, *intensities]) / 4
        right = max([ridge * 30, *intensities]) * 4
        said = repr(self).splitlines()[1:]
        with axes(ax, (8, 5), "operations per byte", "operations per second") as ax:
            ax.loglog([left, ridge], [left * self.bandwidth, self.peak], color=COMMUNICATION, linewidth=3)
            ax.loglog([ridge, right], [self.peak, self.peak], color=BLUE, linewidth=3)
            ax.plot([], [], "_", color=PYTHON, markersize=24, markeredgewidth=4)
            for label, (operations, size, seconds) in work.items():
                regime, _ = self.regime(operations, size)
                colour = colours[regime]
                x = operations / size
                y = operations / seconds
                said.append(f"{label} {x:.3g} operations per byte, {y / 1e9:.3g} Gflop/s, {regime}")
                ax.plot(x, y, "o", color=colour, markersize=11)
                ax.annotate(label, (x, y), (10, -20), textcoords="offset points", fontsize=FONT)
                if regime == "overhead-bound":
                    ax.plot(x, operations / self.dispatch, "_", color=PYTHON, markersize=24, markeredgewidth=4)
            ax.set_label("; ".join(said))
            ax.margins(y=0.2)  # room for the label of the lowest point
            ax.legend(ax.lines[:3], said[:3], fontsize=FONT, frameon=False, ncols=3, columnspacing=1,
                      handlelength=1.3, loc="lower center", bbox_to_anchor=(0.5, 1))


@functools.cache
def limits() -> MachineLimits:
    """Measure a device's `MachineLimits` with the framework that is loaded: once, in one or two seconds.

    The device is the first GPU, or else the CPU with the threads that the set-up allows. `peak` is measured with a
    product of float32 matrices that takes at least 5 ms, `bandwidth` with a copy of an array that fits in no cache, and
    `dispatch` is the time Python takes to ask for a tiny sum without waiting for it. Each is the best of several runs,
    because other programs can only slow it down. Lesson: 00-start-here.
    """
    if "mxnet" in sys.modules:
        import mxnet as mx
        device = mx.gpu(0) if mx.context.num_gpus() else mx.cpu(0)
        ones = functools.partial(mx.np.ones, ctx=device)
        product = mx.np.dot
        copy = mx.np.ndarray.copyto
        wait = mx.nd.waitall
    else:
        import torch
        gpu = torch.cuda.is_available()
        device = "cuda:0" if gpu else "cpu"
        ones = functools.partial(torch.ones, device=device)
        product = torch.mm
        copy = _copy_tensor
        wait = torch.cuda.synchronize if gpu else None
    size = 256
    seconds = 0.0
    while seconds < 0.005 and size < 8192:
        size *= 2
        work = functools.partial(product, ones((size, size)), ones((size, size)))
        seconds = min(measure(work, repeat=10, sync=wait).times)
    source = ones(LARGE)
    target = ones(LARGE)
    copied = min(measure(lambda: copy(source, target), repeat=6, sync=wait).times)
    tiny = ones((2, 2))

    def dispatch():
        start = time.perf_counter()
        for _ in range(10):
            tiny + tiny
        return (time.perf_counter() - start) / 10

    dispatched = min(measure(dispatch, repeat=200, sync=wait, reported=True).times)
    return MachineLimits(str(device), peak=2 * size**3 / seconds, bandwidth=2 * 4 * LARGE / copied, dispatch=dispatched)


def _copy_tensor(source, target):
    target.copy_(source)


def __getattr__(name):
    return moved.look_up(name, __name__)
