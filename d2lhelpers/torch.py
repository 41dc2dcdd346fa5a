"""The helpers of the PyTorch track: the names of `d2lhelpers`, for tensors.

`Benchmark` and `measure` are the same on both tracks; pass them `sync=synchronize` to wait for what GPUs still do.
"""
import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

from .benchmark import Benchmark, measure
from .torch_timeline import Timeline
from .tracks import accuracy, arrays, check_alike, check_apart, choose_devices, cut, device_list, listed

__all__ = ["Benchmark", "Timeline", "allreduce", "devices", "evaluate_accuracy", "load_data", "measure",
           "split_and_load", "synchronize"]
CHUNK = 1 << 19  # elements; so few that a sum is still in the core's cache when it is copied
SMALL = 1 << 20  # bytes; below this, all-reduce gains less from parts at once than their extra operators cost


def synchronize():
    """Wait until every GPU has done what was queued for it. On a CPU there is nothing to wait for.

    Lesson: pytorch/02-asynchronous-computation.

    >>> synchronize()
    """
    for index in range(torch.cuda.device_count()):
        torch.cuda.synchronize(index)


def devices(n=2, kind=None):
    """Return `n` devices: GPUs where the machine has that many, else `n` times the CPU, which is one device.

    `kind` "gpu" or "cpu" insists on one or the other. ValueError for `n` < 1, another kind, or more GPUs than there
    are; the message names what the machine has.

    Lesson: pytorch/03-automatic-parallelism.

    >>> devices(2, kind="cpu")
    [device(type='cpu'), device(type='cpu')]
    """
    return choose_devices(n, kind, torch.cuda.device_count(),
                          lambda kind, index: torch.device("cuda", index) if kind == "gpu" else torch.device("cpu"))


@torch.no_grad()
def allreduce(data):
    """Replace every tensor in `data` by the sum of them all, in place: an all-reduce.

    `data` is an iterable of dense tensors, one a device, equal in shape and type. One tensor alone is left as it is.
    Returns None; on GPUs it is queued, not waited for.

    Large tensors on several devices are cut into one part a device: each device adds up its own part of all of them
    while the others do theirs (reduce-scatter), then sends it to the others (all-gather). On one device they are
    summed and copied piece by piece, so that a piece's sum need not come from memory again.

    A tensor that is given twice counts twice, and becomes the sum as the others do. Views that share only a part of
    their memory cannot: they are refused.

    Raises ValueError if there is no tensor, one that differs in shape or type from the first, or shares a part of its
    memory with another; TypeError if something is no dense tensor of numbers that can be written, or `data` is a
    single tensor. They name its index, and nothing is modified.

    Lesson: pytorch/04-data-parallel. Source: Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for
    clusters of workstations, 2009.

    >>> data = [torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0])]
    >>> allreduce(data)
    >>> [tensor.tolist() for tensor in data]
    [[11.0, 22.0], [11.0, 22.0]]
    """
    data = listed(data, "allreduce: the data must be a list of tensors, one a device", torch.Tensor)
    check_alike(data, "dense PyTorch tensor that can be written (one that was expanded needs a clone())", _facts,
                _describe, torch.bool, "to(torch.int32)")
    count, size = len(data), data[0].numel()
    if count == 1 or size == 0:
        return
    same = check_apart({index: _place(tensor) for index, tensor in enumerate(data)})
    if len({tensor.device for tensor in data}) > 1:
        _allreduce_apart(data, same)
    elif size <= 2 * CHUNK or not data[0].is_cpu or not all(tensor.is_contiguous() for tensor in data):
        _allreduce_here(data, same)
    else:
        for pieces in zip(*(tensor.view(-1).split(CHUNK) for tensor in data), strict=True):
            _allreduce_here(pieces, same)


def _allreduce_here(data, same):
    """All-reduce tensors of one device."""
    total = data[0].clone() if same else data[0]
    for tensor in data[1:]:
        total.add_(tensor)
    for tensor in data if same else data[1:]:
        tensor.copy_(total)


def _allreduce_apart(data, same):
    """All-reduce tensors of several devices: each adds up its part, then sends it to the others.

    Nobody waits for what goes to a GPU, whose stream keeps the order; what comes from one must be here to be read.
    """
    count, size, parts = len(data), data[0].numel(), 1
    if all(tensor.is_contiguous() for tensor in data):
        data = [tensor.view(-1) for tensor in data]
        if size * data[0].element_size() >= SMALL:
            parts = min(count, size)
    pieces = list(zip(*(tensor.tensor_split(parts) for tensor in data), strict=True)) if parts > 1 else [data]
    sums = []
    for owner, mine in enumerate(pieces):
        total = mine[owner].clone() if same else mine[owner]
        for piece in (*mine[owner + 1:], *mine[:owner]):
            total.add_(piece.to(total.device, non_blocking=piece.is_cpu))
        sums.append(total)
    for owner, (total, mine) in enumerate(zip(sums, pieces, strict=True)):
        for index, piece in enumerate(mine):
            if same or index != owner:
                piece.copy_(total, non_blocking=total.is_cpu)


def _facts(tensor):
    """Return the shape and type of a dense tensor that can be written in place; None of anything else."""
    if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided:
        return None
    if not tensor.is_contiguous():
        reach = 0  # of the steps so far: a longer step than that cannot lead to an element a second time
        for stride, length in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
            if length > 1 and stride <= reach < tensor.numel():
                return None
            reach += stride * (length - 1)
    if tensor.is_inference() and not torch.is_inference_mode_enabled():
        return None
    return tensor.shape, tensor.dtype


def _describe(tensor):
    return f"{str(tensor.dtype).removeprefix('torch.')} on {tensor.device}"


def _place(tensor):
    """Return where a tensor lies: its address, shape and strides, and the bytes of an element."""
    size = tensor.element_size()
    return tensor.data_ptr(), tuple(tensor.shape), tuple(step * size for step in tensor.stride()), size


def split_and_load(data, devices, weights=None):
    """Cut `data` along axis 0 into one part a device, in order, and put each part on its device.

    Parameters
    ----------
    data : tensor or NumPy array
        At least as many rows as there are devices.
    devices : list of devices
    weights : list of numbers, optional
        One a device, above zero: the parts follow them by largest remainder, and none is empty. Without it, sizes
        differ by one row at most, the larger ones first.

    Returns
    -------
    list of tensors
        A part whose device is the tensor's own shares its memory. From pinned memory (as `load_data` gives it where
        there is a GPU) the copies are queued, not waited for: do not write to `data` before they are done.

    Raises
    ------
    ValueError
        No devices, fewer rows than devices, or weights of another number or not above zero; the message names them.
    TypeError
        Data, or devices, that are none of PyTorch's; a type of NumPy's that its tensors cannot have.

    Lesson: pytorch/04-data-parallel.

    >>> [part.shape[0] for part in split_and_load(torch.ones(7, 2), ["cpu", "cpu"])]
    [4, 3]
    >>> [part.shape[0] for part in split_and_load(torch.ones(7, 2), ["cpu", "cpu"], weights=[1, 6])]
    [1, 6]
    """
    devices = device_list(devices, _gpu, torch.cuda.device_count)
    parts = cut(data, {torch.Tensor: "a PyTorch tensor", np.ndarray: "a NumPy array"}, devices, weights)
    if isinstance(data, np.ndarray):
        native = data.dtype.newbyteorder("=")
        try:  # PyTorch reads neither another machine's order of bytes nor backward steps: a copy has none of them
            parts = [torch.from_numpy(np.array(part, native, order="C")) for part in parts]
        except TypeError:
            raise TypeError(f"split_and_load: the data is {data.shape} {data.dtype}, a type that PyTorch's tensors "
                            "cannot have; convert it, as with astype('float32')") from None
    return [part.to(device, non_blocking=part.is_cpu) for part, device in zip(parts, devices, strict=True)]


def _gpu(device):
    """Return a GPU's number, -1 for another device, None for what is none."""
    try:
        device = torch.device(device) if isinstance(device, str) else device
    except RuntimeError:
        return None
    if not isinstance(device, torch.device):
        return None
    return device.index or 0 if device.type == "cuda" else -1


@torch.no_grad()
def evaluate_accuracy(data_iter, net, devices):
    """Return the share of rows, over all batches, whose largest output is the label: a float from 0 to 1.

    `net` is called with each device's part of a batch, on that device, and gives one row of scores (classes along
    axis 1) for each row. All devices work on a batch before it is waited for; the last, shorter batch counts in
    full, on as many devices as it has rows. A module is in evaluation mode meanwhile, and afterwards as it was.
    A row whose scores are not all numbers (NaN) is not guessed right. ValueError if `data_iter` holds no rows, or
    labels or scores are not one for each row; it names their shapes.

    Lesson: pytorch/04-data-parallel.

    >>> scores, labels = torch.tensor([[1, 9], [9, 1], [1, 9]]), torch.tensor([1, 1, 1])
    >>> round(evaluate_accuracy([(scores, labels)], lambda x: x, ["cpu", "cpu"]), 4)
    0.6667
    """
    modes = {module: module.training for module in net.modules()} if isinstance(net, torch.nn.Module) else {}
    try:
        for module in modes:
            module.training = False
        return accuracy(data_iter, device_list(devices, _gpu, torch.cuda.device_count), split_and_load, net,
                        torch.Tensor, lambda scores: (scores.argmax(dim=1), scores.isnan().any(dim=1)),
                        lambda best, nan, y: int(((best == y) & ~nan).sum()))
    finally:
        for module, mode in modes.items():
            module.training = mode


def load_data(batch_size, dataset=None, resize=None):
    """Return two DataLoaders, of training batches (shuffled) and of test batches: pairs of images and labels.

    Parameters
    ----------
    batch_size : int
        Rows a batch; the last one may be shorter.
    dataset : "digits" or "fashion_mnist", optional
        Small real images that need no network, or the larger set, downloaded once. The variable D2LHELPERS_DATASET
        sets the default, D2LHELPERS_DATA_DIR the folder: see `d2lhelpers.datasets`, also for what can go wrong.
    resize : int, optional
        Height and width in pixels to which every image is scaled.

    Images are float32 from 0 to 1, shaped (rows, 1, height, width); labels int64, as PyTorch's losses want them,
    shaped (rows,). Where there is a GPU both are in pinned memory, from which copies need not be waited for.

    Lesson: pytorch/04-data-parallel.

    >>> train, test = load_data(256, dataset="digits")
    >>> [labels.shape for images, labels in test]
    [torch.Size([256]), torch.Size([104])]
    """
    train, test = (TensorDataset(torch.from_numpy(images), torch.from_numpy(labels.astype(np.int64)))
                   for images, labels in arrays(batch_size, dataset, resize))
    batch_size = int(batch_size)
    pin = torch.cuda.is_available()
    return (DataLoader(train, batch_size, shuffle=True, pin_memory=pin),
            DataLoader(test, batch_size, pin_memory=pin))
