"""Data parallelism with MXNet: devices, batches split over them, all-reduce. `configure_engine` runs before MXNet."""
import contextlib
import math
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..datasets import load_arrays
from ..environment import mxnet_fault, print_conflicting_settings, usable_cores
from ..partition import partition_sizes

if TYPE_CHECKING:
    import mxnet as mx
    from mxnet.gluon.data import DataLoader

PART = 1 << 21  # elements in one part of all arrays together; its sum is still in the cache when it is copied


def configure_engine(devices: int = 2) -> dict[str, str]:
    """Set up the engine for `devices` CPU devices that run side by side; call this before MXNet is imported.

    Each device gets one worker. With several devices, an operator runs on one OpenMP thread (MXNet 1.9.1 hangs if two
    devices run matrix products with several threads each); with one device, on one thread per core. With 64 temporary
    workspaces, operators of two devices rarely get the same one, which would make one of them wait. The settings are
    printed, and returned as environment variables.
    Lesson: 04-automatic-parallelism. Source: MXNet's list of environment variables.

    Raises:
        ValueError: `devices` is less than one.
        ImportError: This machine cannot load MXNet.
        RuntimeError: MXNet has already been imported, with other settings.

    >>> settings = configure_engine(devices=2)  # doctest: +ELLIPSIS
    engine: 2 devices, 1 worker and 1 OpenMP thread per device, 64 workspaces...
    """
    if devices < 1:
        raise ValueError(f"configure_engine: devices={devices}; at least one is needed")
    if fault := mxnet_fault():
        raise ImportError(f"MXNet cannot be loaded here: {fault} (on Debian: apt-get install libgomp1 libquadmath0)")
    print_conflicting_settings("mxnet")
    cores = usable_cores()
    threads = cores if devices == 1 else 1
    settings = {"MXNET_CPU_WORKER_NTHREADS": "1", "OMP_NUM_THREADS": str(threads), "MXNET_CPU_TEMP_COPY": "64"}
    if "mxnet" in sys.modules and not settings.items() <= os.environ.items():
        raise RuntimeError("configure_engine: MXNet is already imported; restart the kernel and call this first")
    os.environ.update(settings)
    turns = " (on 1 core, devices take turns)" if cores == 1 and devices > 1 else ""
    print(f"engine: {_count(devices, 'device')}, 1 worker and {_count(threads, 'OpenMP thread')} per device, "
          f"64 workspaces{turns}")
    return settings


def _count(number, noun):
    """Return a number and its noun, with an s unless the number is 1."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def devices(n: int = 2, kind: str | None = None) -> "list[mx.Context]":
    """Return `n` devices: GPUs if the machine has that many, else CPU devices, each with a queue of its own.

    `kind` "gpu" or "cpu" asks for devices of that kind. Lesson: 00-start-here.

    Raises:
        ValueError: `n` is less than one, there are too few GPUs for `kind` "gpu", or `kind` is unknown.

    >>> devices(2, kind="cpu")
    [cpu(0), cpu(1)]
    """
    import mxnet as mx
    gpus = mx.context.num_gpus()
    too_few = kind == "gpu" and n > gpus
    if n < 1 or kind not in (None, "cpu", "gpu") or too_few:
        raise ValueError(f"devices: n={n}, kind={kind!r}; give n > 0 and kind 'cpu', 'gpu' or None; GPUs here: {gpus}")
    if kind == "cpu" or n > gpus:
        return [mx.cpu(index) for index in range(n)]
    return [mx.gpu(index) for index in range(n)]


def allreduce(data: "Iterable[mx.nd.NDArray]") -> None:
    """Replace every array in `data` by the sum of them all, in place: an all-reduce.

    `data` is a list of dense MXNet arrays, one per device, equal in shape and type. Like every operator, the sum is
    queued, and Python does not wait for it. Small arrays are summed on the first device, then copied to the others.
    Large arrays are cut into parts: each device sums its own part of all arrays (reduce-scatter), then copies the sum
    to all devices (all-gather). After an error no array has been modified. Lesson: 05-multi-gpu-from-scratch.
    Source: Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009.

    Raises:
        TypeError: `data` is not a list of dense MXNet arrays.
        ValueError: There are no arrays, two are on one device, or their shapes or types differ.

    >>> import mxnet as mx
    >>> data = [mx.nd.array([1, 2], ctx=mx.cpu(0)), mx.nd.array([10, 20], ctx=mx.cpu(1))]
    >>> allreduce(data)
    >>> [array.asnumpy().tolist() for array in data]
    [[11.0, 22.0], [11.0, 22.0]]
    """
    import mxnet as mx
    if isinstance(data, mx.nd.NDArray):
        raise TypeError("allreduce: the data is a single array; give a list of dense MXNet arrays, one per device")
    data = list(data)
    if not {type(array) for array in data} <= {mx.np.ndarray, mx.nd.NDArray}:
        types = ", ".join(type(array).__name__ for array in data)
        raise TypeError(f"allreduce: the types are {types}; give a list of dense MXNet arrays")
    if mx.autograd.is_recording():  # a sum in place cannot be differentiated
        with mx.autograd.pause():
            return allreduce(data)
    data = [array.as_nd_ndarray() for array in data]  # add_n takes no others
    contexts = [array.context for array in data]
    if len(set(contexts)) < len(contexts) or not contexts:
        raise ValueError(f"allreduce: the arrays are on {contexts}; give one array per device")
    parts = max(1, math.ceil(len(data) * data[0].size / PART))
    if parts == 1 and not mx.context.num_gpus():  # CPU devices can read each other's arrays
        with contextlib.suppress(mx.MXNetError):  # add_n refuses unequal arrays, and queues nothing
            total = mx.nd.add_n(*data, out=data[0])
            for array in data[1:]:
                total.copyto(array)
            return
    forms = [f"{array.shape} {np.dtype(array.dtype).name}" for array in data]
    if len(set(forms)) > 1:
        raise ValueError(f"allreduce: the arrays are {', '.join(forms)}; all must be equal in shape and type")
    _allreduce_by_parts(data, parts)


def _allreduce_by_parts(data, number):
    """All-reduce large arrays, and those on GPUs: cut them into `number` parts; each device sums one at a time."""
    import mxnet as mx
    count = len(data)
    size = data[0].size
    gpus = mx.context.num_gpus()
    edges = [size * part // number for part in range(number + 1)]
    flat = [array.reshape((-1,)) for array in data]  # views: writing to them writes to the arrays
    parts = []
    for start, end in pairwise(edges):
        parts.append([array[start:end] for array in flat])
    for first in range(0, number, count):
        group = parts[first:first + count]  # a part for each device
        sums = []  # reduce-scatter, to new arrays: for the engine, writing a part of an array is writing all of it
        for owner, part in enumerate(group):
            readable = [array.as_in_context(part[owner].context) for array in part] if gpus else part
            sums.append(mx.nd.add_n(*readable[owner:], *readable[:owner]))
        for step in range(count):  # all-gather: in each step, no two devices write to the same array
            for owner, total in enumerate(sums):
                total.copyto(group[owner][(owner + step) % count])


def split_and_load(data: "mx.nd.NDArray | np.ndarray", devices: "Iterable[mx.Context]",
                   weights: Iterable[float] | None = None) -> "list[mx.nd.NDArray]":
    """Cut `data` (an MXNet or NumPy array) along axis 0 into one part per device, and put each on its device, in order.

    Without `weights`, parts differ by at most one row, and the larger ones come first. `weights` are positive numbers,
    one per device: the sizes of the parts follow them (by largest remainder), and no part is empty. A part on the
    data's own device shares memory with the data. Lesson: 05-multi-gpu-from-scratch.

    Raises:
        TypeError: One of the `devices` is not an MXNet device.
        ValueError: There are fewer rows than devices, or the weights are wrong.

    >>> [part.shape for part in split_and_load(np.ones((7, 2)), devices(2, "cpu"))]
    [(4, 2), (3, 2)]
    """
    import mxnet as mx
    devices = list(devices)
    if not all(isinstance(device, mx.Context) for device in devices):
        raise TypeError(f"split_and_load: the devices are {devices}; give MXNet devices, such as devices(2)")
    if isinstance(data, np.ndarray):
        namespace = mx.np if mx.util.is_np_array() else mx.nd
        data = namespace.array(data, dtype=data.dtype, ctx=mx.cpu())
    parts = []
    start = 0
    for device, size in zip(devices, partition_sizes(data.shape[0], len(devices), weights), strict=True):
        parts.append(data[start:start + size].as_in_context(device))
        start += size
    return parts


def evaluate_accuracy(data_iter: "Iterable[tuple[mx.nd.NDArray, mx.nd.NDArray]]",
                      net: "Callable[[mx.nd.NDArray], mx.nd.NDArray]", devices: "Sequence[mx.Context]") -> float:
    """Return the share of rows, over all batches, whose largest score is that of the label: a float from 0 to 1.

    `net` maps each device's part of a batch to scores, shaped (rows, classes); labels are shaped (rows,). All devices
    get their work before Python waits for a result. A row with a NaN in its scores counts as wrong. No gradients are
    recorded, and dropout is off. Lesson: 05-multi-gpu-from-scratch.

    Raises:
        TypeError: The network comes before the data.
        ValueError: Scores or labels have another shape, or there are no rows.

    >>> import mxnet as mx
    >>> evaluate_accuracy([(mx.nd.array([[1, 9], [9, 1]]), mx.nd.array([1, 1]))], lambda x: x, devices(2, "cpu"))
    0.5
    """
    import mxnet as mx
    if callable(data_iter):
        raise TypeError("evaluate_accuracy: the data comes first, then the network: (data_iter, net, devices)")
    right = 0
    rows = 0
    with mx.autograd.pause():
        for features, labels in data_iter:
            used = devices[:len(features)]
            scores = [net(part) for part in split_and_load(features, used)]
            for part_scores, part_labels in zip(scores, split_and_load(labels, used), strict=True):
                found = part_scores.asnumpy()
                wanted = part_labels.asnumpy()
                if found.ndim != 2 or wanted.shape != found.shape[:1]:
                    raise ValueError(f"evaluate_accuracy: scores {found.shape} do not fit labels {wanted.shape}")
                correct = (found.argmax(axis=1) == wanted) & ~np.isnan(found).any(axis=1)
                right += int(correct.sum())
            rows += len(features)
    if rows == 0:
        raise ValueError("evaluate_accuracy: the data holds no rows")
    return right / rows


def load_data(batch_size: int, dataset: str | None = None,
              resize: int | None = None) -> "tuple[DataLoader, DataLoader]":
    """Return two Gluon DataLoaders, one for training (shuffled) and one for testing. A batch is (images, labels).

    `dataset` and `resize` are those of `d2lhelpers.datasets.load_arrays`. Images are float32 from 0 to 1, shaped
    (rows, 1, height, width); labels are int32, shaped (rows,). Lesson: 05-multi-gpu-from-scratch.

    >>> [labels.shape for images, labels in load_data(256, dataset="digits")[1]]
    [(256,), (104,)]
    """
    from mxnet.gluon.data import ArrayDataset, DataLoader
    train, test = load_arrays(dataset, resize)
    return DataLoader(ArrayDataset(*train), batch_size, shuffle=True), DataLoader(ArrayDataset(*test), batch_size)
