"""Work on several devices with MXNet, which is imported in the functions, after `configure_engine` has run."""
import contextlib
import math
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from .datasets import load_arrays
from .parts import part_sizes
from .surroundings import mxnet_fault, name_obstacles, usable_cores

if TYPE_CHECKING:
    import mxnet as mx
    from mxnet.gluon.data import DataLoader

PART = 1 << 21  # elements of all arrays together; the sum of so large a part is still in the cache when it is copied


def configure_engine(devices: int = 2) -> dict[str, str]:
    """Set the engine for `devices` CPU devices that never wait for one another; call it before MXNet is imported.

    Each device gets one worker. With several devices, an operator runs on one OpenMP thread (MXNet 1.9.1 hangs if two
    devices run matrix products of several threads each); with one device, on one thread per core. With 64 temporary
    workspaces, operators of two devices rarely draw the same one, which would make one of them wait.

    Prints and returns the environment variables; RuntimeError if MXNet has been imported with other settings,
    ImportError if this machine cannot load it, ValueError for fewer than one device.
    Lesson: 04-automatic-parallelism. Source: MXNet's list of environment variables.

    >>> settings = configure_engine(devices=2)  # doctest: +ELLIPSIS
    engine: 2 devices, 1 worker and 1 OpenMP thread per device, 64 workspaces...
    """
    if devices < 1:
        raise ValueError(f"configure_engine: devices={devices}; at least one is needed")
    if fault := mxnet_fault():
        raise ImportError(f"MXNet cannot be loaded here: {fault} (on Debian: apt-get install libgomp1 libquadmath0)")
    name_obstacles("mxnet")
    cores = usable_cores()
    threads = cores if devices == 1 else 1
    settings = {"MXNET_CPU_WORKER_NTHREADS": "1", "OMP_NUM_THREADS": str(threads), "MXNET_CPU_TEMP_COPY": "64"}
    if "mxnet" in sys.modules and not settings.items() <= os.environ.items():
        raise RuntimeError("configure_engine: MXNet is imported already; restart the kernel and call this first")
    os.environ.update(settings)
    print(f"engine: {devices} device{'s' * (devices > 1)}, 1 worker and {threads} OpenMP thread{'s' * (threads > 1)} "
          f"per device, 64 workspaces{' (on 1 core, devices take turns)' if cores == 1 < devices else ''}")
    return settings


def devices(n: int = 2, kind: str | None = None) -> "list[mx.Context]":
    """Return `n` devices: GPUs if the machine has that many, else CPU devices, each with a queue of its own.

    `kind` "gpu" or "cpu" insists on one. ValueError for another, `n` < 1, or too few GPUs. Lesson: 00-start-here.

    >>> devices(2, kind="cpu")
    [cpu(0), cpu(1)]
    """
    import mxnet as mx
    gpus = mx.context.num_gpus()
    if n < 1 or kind not in (None, "cpu", "gpu") or (kind == "gpu" and n > gpus):
        raise ValueError(f"devices: n={n}, kind={kind!r}; give n > 0, kind 'cpu', 'gpu' or None; GPUs here: {gpus}")
    return [mx.cpu(index) if kind == "cpu" or n > gpus else mx.gpu(index) for index in range(n)]


def allreduce(data: "Iterable[mx.nd.NDArray]") -> None:
    """Replace every array in `data` by the sum of them all, in place: an all-reduce.

    `data` is a list of dense MXNet arrays, one per device, equal in shape and type. Like every operator, the sum is
    queued, not waited for. Small arrays are summed on the first device, then copied. Large ones are cut into parts:
    each device sums its own part of all arrays (reduce-scatter), then copies the sum to all (all-gather).
    TypeError or ValueError for anything else, and for two arrays on one device; nothing is modified then.
    Lesson: 05-multi-gpu-from-scratch.
    Source: Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009.

    >>> import mxnet as mx
    >>> data = [mx.nd.array([1, 2], ctx=mx.cpu(0)), mx.nd.array([10, 20], ctx=mx.cpu(1))]
    >>> allreduce(data)
    >>> [array.asnumpy().tolist() for array in data]
    [[11.0, 22.0], [11.0, 22.0]]
    """
    import mxnet as mx
    if not isinstance(data, mx.nd.NDArray):
        data = list(data)
    if isinstance(data, mx.nd.NDArray) or not {type(array) for array in data} <= {mx.np.ndarray, mx.nd.NDArray}:
        raise TypeError(f"allreduce: {[type(array).__name__ for array in data]}; give a list of dense MXNet arrays")
    if mx.autograd.is_recording():  # a sum in place is not to be differentiated
        with mx.autograd.pause():
            return allreduce(data)
    data = [array.as_nd_ndarray() for array in data]  # what add_n takes
    homes = [array.context for array in data]
    if len(set(homes)) < len(homes) or not homes:
        raise ValueError(f"allreduce: the arrays are on {homes}; give one array per device")
    parts = math.ceil(len(data) * data[0].size / PART) or 1
    if parts == 1 and not mx.context.num_gpus():  # CPU devices can read each other's arrays
        with contextlib.suppress(mx.MXNetError):  # unequal arrays: they are refused before anything is queued
            total = mx.nd.add_n(*data, out=data[0])
            for array in data[1:]:
                total.copyto(array)
            return
    facts = [f"{array.shape} {np.dtype(array.dtype).name}" for array in data]
    if len(set(facts)) > 1:
        raise ValueError(f"allreduce: the arrays are {', '.join(facts)}; all must be equal in shape and type")
    _allreduce_by_parts(data, parts)


def _allreduce_by_parts(data, number):
    """All-reduce arrays that are large, or on GPUs, in so many parts, one part per device at a time."""
    import mxnet as mx
    count, size, gpus = len(data), data[0].size, mx.context.num_gpus()
    edges = [size * part // number for part in range(number + 1)]
    flat = [array.reshape((-1,)) for array in data]  # views: writing to them writes to the arrays
    parts = [[array[start:end] for array in flat] for start, end in pairwise(edges)]
    for first in range(0, number, count):
        mine = parts[first:first + count]
        sums = []  # reduce-scatter, to new arrays: to the engine, writing a part of an array is writing all of it
        for owner, part in enumerate(mine):
            readable = [array.as_in_context(part[owner].context) for array in part] if gpus else part
            sums.append(mx.nd.add_n(*readable[owner:], *readable[:owner]))
        for step in range(count):  # all-gather: in each step, every device writes to another array
            for owner, total in enumerate(sums):
                total.copyto(mine[owner][(owner + step) % count])


def split_and_load(data: "mx.nd.NDArray | np.ndarray", devices: "Iterable[mx.Context]",
                   weights: Iterable[float] | None = None) -> "list[mx.nd.NDArray]":
    """Cut `data` (an MXNet or NumPy array) along axis 0 into one part per device, and put each on its device, in order.

    Without `weights`, sizes differ by at most one row, the larger ones first. With numbers above zero, one per device,
    sizes follow them by largest remainder, and no part is empty. A part on the data's own device shares its memory.
    ValueError for fewer rows than devices or wrong weights, TypeError for what is not a device.
    Lesson: 05-multi-gpu-from-scratch.

    >>> [part.shape for part in split_and_load(np.ones((7, 2)), devices(2, "cpu"))]
    [(4, 2), (3, 2)]
    """
    import mxnet as mx
    devices = list(devices)
    if not all(isinstance(device, mx.Context) for device in devices):
        raise TypeError(f"split_and_load: the devices are {devices}; give MXNet's, such as devices(2)")
    if isinstance(data, np.ndarray):
        data = (mx.np if mx.util.is_np_array() else mx.nd).array(data, dtype=data.dtype, ctx=mx.cpu())
    edges = pairwise(accumulate(part_sizes(data.shape[0], len(devices), weights), initial=0))
    return [data[start:end].as_in_context(device) for (start, end), device in zip(edges, devices, strict=True)]


def evaluate_accuracy(data_iter: "Iterable[tuple[mx.nd.NDArray, mx.nd.NDArray]]",
                      net: "Callable[[mx.nd.NDArray], mx.nd.NDArray]", devices: "Sequence[mx.Context]") -> float:
    """Return the share of rows, over all batches, whose largest score is at the label: a float from 0 to 1.

    `net` maps each device's part of a batch to scores (rows, classes); labels are (rows,), and other shapes or no rows
    are a ValueError, a network in place of the data a TypeError. All devices get their work before any result is waited
    for. Scores with a NaN count as wrong. No gradients are recorded, and dropout is off.
    Lesson: 05-multi-gpu-from-scratch.

    >>> import mxnet as mx
    >>> evaluate_accuracy([(mx.nd.array([[1, 9], [9, 1]]), mx.nd.array([1, 1]))], lambda x: x, devices(2, "cpu"))
    0.5
    """
    import mxnet as mx
    if callable(data_iter):
        raise TypeError("evaluate_accuracy: the data comes first, then the network: (data_iter, net, devices)")
    right = rows = 0
    with mx.autograd.pause():
        for features, labels in data_iter:
            used = devices[:len(features)]
            scores = [net(part) for part in split_and_load(features, used)]
            for found, wanted in zip(scores, split_and_load(labels, used), strict=True):
                found, wanted = found.asnumpy(), wanted.asnumpy()
                if found.ndim != 2 or wanted.shape != found.shape[:1]:
                    raise ValueError(f"evaluate_accuracy: scores {found.shape} do not fit labels {wanted.shape}")
                right += int(((found.argmax(axis=1) == wanted) & ~np.isnan(found).any(axis=1)).sum())
            rows += len(features)
    if rows == 0:
        raise ValueError("evaluate_accuracy: the data holds no rows")
    return right / rows


def load_data(batch_size: int, dataset: str | None = None,
              resize: int | None = None) -> "tuple[DataLoader, DataLoader]":
    """Return two Gluon loaders, of training batches (shuffled) and of test batches: pairs of images and labels.

    `dataset` and `resize` are those of `d2lhelpers.datasets.load_arrays`. Images are float32 from 0 to 1, shaped
    (rows, 1, height, width); labels int32, shaped (rows,). Lesson: 05-multi-gpu-from-scratch.

    >>> [labels.shape for images, labels in load_data(256, dataset="digits")[1]]
    [(256,), (104,)]
    """
    from mxnet.gluon.data import ArrayDataset, DataLoader
    train, test = load_arrays(dataset, resize)
    return DataLoader(ArrayDataset(*train), batch_size, shuffle=True), DataLoader(ArrayDataset(*test), batch_size)
