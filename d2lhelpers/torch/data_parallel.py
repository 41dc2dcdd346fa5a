"""Data parallelism with PyTorch: devices, batches split over them, all-reduce, accuracy, data."""
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

from ..datasets import load_arrays
from ..partition import partition_sizes

CACHED = 1 << 24  # bytes of all tensors together; up to this size they stay in a CPU's cache until the sum is copied
CHUNK = 1 << 18  # elements; larger tensors are summed, and copied while they are in the cache, in chunks of this size
SMALL = 1 << 20  # bytes of one tensor; up to this size, parts for several devices would cost more time than they save


def devices(n: int = 2, kind: str | None = None) -> list[torch.device]:
    """Return `n` devices: GPUs if the machine has that many, else `n` times the CPU, which is one device.

    `kind` "gpu" or "cpu" asks for devices of that kind. Lesson: pytorch/00-start-here.

    Raises:
        ValueError: `n` is less than one, there are too few GPUs for `kind` "gpu", or `kind` is unknown.

    >>> devices(2, kind="cpu")
    [device(type='cpu'), device(type='cpu')]
    """
    gpus = torch.cuda.device_count()
    too_few = kind == "gpu" and n > gpus
    if n < 1 or kind not in (None, "cpu", "gpu") or too_few:
        raise ValueError(f"devices: n={n}, kind={kind!r}; give n > 0 and kind 'cpu', 'gpu' or None; GPUs here: {gpus}")
    if kind == "cpu" or n > gpus:
        return [torch.device("cpu") for _ in range(n)]
    return [torch.device("cuda", index) for index in range(n)]


def allreduce(data: Iterable[torch.Tensor]) -> None:
    """Replace every tensor in `data` by the sum of them all, in place: an all-reduce.

    `data` is a list of dense tensors, one per device, equal in shape and type; several replicas on one device, such as
    the CPU, have a tensor each. On GPUs the sum is queued, and Python does not wait for it. Large tensors on several
    devices are cut into one part per device: each device sums its own part of all tensors (reduce-scatter), then copies
    the sum to all devices (all-gather). After an error no tensor has been modified. Lesson: pytorch/04-data-parallel.
    Source: Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009.

    Raises:
        TypeError: `data` is a single tensor.
        ValueError: There are no tensors, or they differ in shape or type, share memory, are not contiguous or are
            booleans.

    >>> data = [torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0])]
    >>> allreduce(data)
    >>> [tensor.tolist() for tensor in data]
    [[11.0, 22.0], [11.0, 22.0]]
    """
    if isinstance(data, torch.Tensor):
        raise TypeError("allreduce: the data is a single tensor; give a list of tensors, one per device")
    data = list(data)
    if not data:
        raise ValueError("allreduce: no tensors; give one per device")
    first = data[0]
    shape = first.shape
    dtype = first.dtype
    size = first.nbytes
    addresses = []
    plain = True
    for tensor in data:
        if tensor.shape != shape or tensor.dtype is not dtype:  # add_ would broadcast and cast
            raise ValueError(f"allreduce: a tensor is {tuple(tensor.shape)} {tensor.dtype}, the first {tuple(shape)} "
                             f"{dtype}; all must be equal in shape and type")
        if not tensor.is_contiguous() or dtype is torch.bool:
            raise ValueError(f"allreduce: a tensor is {dtype} with strides {tensor.stride()}; give tensors of numbers, "
                             "made contiguous()")
        addresses.append(tensor.data_ptr())
        plain = plain and tensor.is_cpu and not tensor.requires_grad
    for address, next_address in pairwise(sorted(addresses)):
        if next_address - address < size:
            raise ValueError("allreduce: two of the tensors share memory; clone() one of them")
    if size * len(data) > CACHED or not plain:
        return _allreduce_by_parts(data)
    for tensor in data[1:]:  # the cache holds all tensors, so parts would gain nothing
        first.add_(tensor)
    for tensor in data[1:]:
        tensor.copy_(first)


@torch.no_grad()
def _allreduce_by_parts(data):
    """All-reduce tensors that are large, on GPUs or known to autograd."""
    flat = [tensor.view(-1) for tensor in data]
    places = {tensor.device for tensor in data}
    if places == {torch.device("cpu")}:
        for chunk in zip(*(tensor.split(CHUNK) for tensor in flat), strict=True):
            _sum_and_copy([chunk])
    else:
        parts = len(data) if len(places) > 1 and data[0].nbytes > SMALL else 1
        _sum_and_copy(zip(*(tensor.tensor_split(parts) for tensor in flat), strict=True))


def _sum_and_copy(parts):
    """Let each device sum its part of all tensors (reduce-scatter), then copy the sum to the others (all-gather).

    Copies to a GPU are asynchronous: its stream keeps their order. Copies from a GPU block, because they are read next.
    """
    owned = [(part[owner], part[owner + 1:] + part[:owner]) for owner, part in enumerate(parts)]
    for total, others in owned:
        for piece in others:
            total.add_(piece.to(total.device, non_blocking=piece.is_cpu))
    for total, others in owned:
        for piece in others:
            piece.copy_(total, non_blocking=total.is_cpu)


def split_and_load(data: torch.Tensor | np.ndarray, devices: Iterable[torch.device | str],
                   weights: Iterable[float] | None = None) -> list[torch.Tensor]:
    """Cut `data` (a tensor or NumPy array) along axis 0 into one part per device, and put each on its device, in order.

    Without `weights`, parts differ by at most one row, and the larger ones come first. `weights` are positive numbers,
    one per device: the sizes of the parts follow them (by largest remainder), and no part is empty. A part on the
    data's own device shares memory with the data. Copies from pinned memory (see `load_data`) are queued: do not write
    to `data` before they are done. Lesson: pytorch/04-data-parallel.

    Raises:
        ValueError: There are fewer rows than devices, or the weights are wrong.

    >>> [part.shape[0] for part in split_and_load(torch.ones(7, 2), ["cpu", "cpu"], weights=[1, 6])]
    [1, 6]
    """
    places = list(map(torch.device, devices))
    if isinstance(data, np.ndarray):
        data = torch.tensor(data)
    rows = data.shape[0]
    count = len(places)
    on_cpu = data.is_cpu
    if weights is None and rows >= count > 0:
        parts = data.tensor_split(count)
    else:
        parts = data.split(partition_sizes(rows, count, weights))
    return [part if part.device == place else part.to(place, non_blocking=on_cpu)
            for part, place in zip(parts, places, strict=True)]


@torch.no_grad()
def evaluate_accuracy(data_iter: Iterable[tuple[torch.Tensor, torch.Tensor]],
                      net: Callable[[torch.Tensor], torch.Tensor], devices: Sequence[torch.device | str]) -> float:
    """Return the share of rows, over all batches, whose largest score is that of the label: a float from 0 to 1.

    `net` maps each device's part of a batch to scores, shaped (rows, classes); labels are shaped (rows,). All devices
    get their work before Python waits for a result. A row with a NaN in its scores counts as wrong. A module is put
    into evaluation mode, and afterwards into the mode that it had before. Lesson: pytorch/04-data-parallel.

    Raises:
        TypeError: The network comes before the data.
        ValueError: Scores or labels have another shape, or there are no rows.

    >>> evaluate_accuracy([(torch.tensor([[1, 9], [9, 1]]), torch.tensor([1, 1]))], lambda x: x, ["cpu", "cpu"])
    0.5
    """
    if callable(data_iter):
        raise TypeError("evaluate_accuracy: the data comes first, then the network: (data_iter, net, devices)")
    modes = {}
    if isinstance(net, torch.nn.Module):
        modes = {module: module.training for module in net.modules()}
    right = 0
    rows = 0
    try:
        for module in modes:
            module.training = False
        for features, labels in data_iter:
            used = devices[:len(features)]
            scores = [net(part) for part in split_and_load(features, used)]
            for found, wanted in zip(scores, split_and_load(labels, used), strict=True):
                if found.ndim != 2 or wanted.shape != found.shape[:1]:
                    raise ValueError(f"evaluate_accuracy: scores {tuple(found.shape)} do not fit labels "
                                     f"{tuple(wanted.shape)}")
                correct = (found.argmax(dim=1) == wanted) & ~found.isnan().any(dim=1)
                right += int(correct.sum())
            rows += len(features)
    finally:
        for module, mode in modes.items():
            module.training = mode
    if rows == 0:
        raise ValueError("evaluate_accuracy: the data holds no rows")
    return right / rows


def load_data(batch_size: int, dataset: str | None = None,
              resize: int | None = None) -> tuple[DataLoader, DataLoader]:
    """Return two DataLoaders, one for training (shuffled) and one for testing. A batch is (images, labels).

    `dataset` and `resize` are those of `d2lhelpers.datasets.load_arrays`. Images are float32 from 0 to 1, shaped
    (rows, 1, height, width); labels are int64, as PyTorch's losses need them, shaped (rows,). If there is a GPU, both
    are in pinned memory, so that copies to a GPU need not block. Lesson: pytorch/04-data-parallel.

    >>> [labels.shape for images, labels in load_data(256, dataset="digits")[1]]
    [torch.Size([256]), torch.Size([104])]
    """
    train, test = [TensorDataset(torch.from_numpy(images), torch.from_numpy(labels.astype(np.int64)))
                   for images, labels in load_arrays(dataset, resize)]
    pin = torch.cuda.is_available()
    return DataLoader(train, batch_size, shuffle=True, pin_memory=pin), DataLoader(test, batch_size, pin_memory=pin)
