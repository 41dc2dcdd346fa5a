"""What both tracks do alike, and so with the same errors: `d2lhelpers.mxnet` and `d2lhelpers.torch` build on it."""
import itertools
import math
import os
import reprlib
from fractions import Fraction
from numbers import Integral
from types import SimpleNamespace


def whole(value, least):
    """Say whether `value` is a whole number, and not too small."""
    return isinstance(value, Integral) and not isinstance(value, bool) and value >= least


def listed(values, words, *wrong):
    """Return `values` as a list; TypeError, in `words`, for what has no items, strings, and the types `wrong`."""
    try:
        items = iter(values)
    except TypeError:
        items = None
    if items is None or isinstance(values, (str, bytes, *wrong)):
        raise TypeError(f"{words}, but it is of type {type(values).__name__}")
    return list(items)


def choose_devices(n, kind, gpus, make):
    """Return `n` devices made by `make(kind, index)`: GPUs where the machine has that many, else CPU devices."""
    has = f"this machine has {gpus} GPU{'s' * (gpus != 1)} and {os.cpu_count()} CPU cores"
    if kind not in (None, "cpu", "gpu"):
        raise ValueError(f"devices: kind={kind!r}, but it is 'cpu', 'gpu' or None; {has}")
    if not whole(n, 1):
        raise ValueError(f"devices: n={n!r}, but a whole number, at least 1, is needed; {has}")
    if kind == "gpu" and n > gpus:
        raise ValueError(f"devices: {n} GPUs asked for, but {has}; take kind='cpu' or None")
    return [make("gpu" if kind == "gpu" or (kind is None and n <= gpus) else "cpu", index) for index in range(n)]


def device_list(devices, gpu, gpus):
    """Return `devices` as a list; TypeError for what is no device, ValueError for a GPU that is not there.

    `gpu(device)` gives a GPU's number, -1 for another device and None for what is none; `gpus()` counts them.
    """
    devices = listed(devices, "the devices must be a list, such as devices(2)")
    for index, device in enumerate(devices):
        number = gpu(device)
        if number is None:
            raise TypeError(f"device {index} is {reprlib.repr(device)}, of type {type(device).__name__}, which is no "
                            "device of this framework; take what devices(n) returns")
        if number >= 0 and number >= gpus():
            raise ValueError(f"device {index} is {device}, but this machine has {gpus()} GPUs; take what devices(n) "
                             "returns")
    return devices


def check_alike(data, wanted, facts, describe, truth, convert):
    """Return the shape and type that all arrays have; raise an error if there is none, or they cannot be summed.

    `wanted` names what each should be, `facts(item)` gives its shape and type, or None if it is something else,
    `describe(item)` says its type and device in words, `truth` is the type of truth values, and `convert` how they
    become numbers.
    """
    if not data:
        raise ValueError("allreduce: no arrays; give one a device")

    def said(index):
        return f"array {index} is {tuple(found[index][0])} {describe(data[index])}"

    found = [facts(item) for item in data]
    if None in found:
        index = found.index(None)
        raise TypeError(f"allreduce: item {index} is a {type(data[index]).__name__}, not a {wanted}")
    for index, each in enumerate(found):
        if each != found[0]:
            raise ValueError(f"allreduce: {said(index)}, but {said(0)}; all must be equal in shape and type")
    if found[0][1] == truth:
        raise TypeError(f"allreduce: {said(0)}, and truth values have no sum; convert them with {convert}")
    return found[0]


def check_apart(places):
    """Raise ValueError if two arrays share a part of their memory alone; return whether any two are the same one.

    `places` maps the number of an array to its address, its shape and its strides, and the bytes of an element.
    """
    import numpy as np

    spans = []
    for address, shape, strides, size in places.values():
        reach = sum(step * (length - 1) for step, length in zip(strides, shape, strict=True))
        spans.append((address, address + reach + size))
    if all(end <= start for (_, end), (start, _) in itertools.pairwise(sorted(spans))):
        return False  # mostly so; what follows looks at each element
    seen = {}
    for index, (address, shape, strides, size) in places.items():
        steps = tuple(stride if length > 1 else 0 for stride, length in zip(strides, shape, strict=True))
        interface = {"version": 3, "typestr": f"|V{size}", "data": (address, False), "shape": shape, "strides": steps}
        memory = np.asarray(SimpleNamespace(__array_interface__=interface))  # it is only asked where it lies
        for place, (other, others) in seen.items():
            if place != (address, steps) and np.shares_memory(memory, others):
                raise ValueError(f"allreduce: array {index} shares a part of its memory with array {other}, so they "
                                 "cannot both become the sum; copy one of them first")
        seen.setdefault((address, steps), (index, memory))
    return len(seen) < len(places)


def cut(data, own, devices, weights):
    """Return the parts of `data` along axis 0, one a device, as slices: what `split_and_load` puts on the devices.

    `own` maps the type of the framework's arrays, and that of NumPy's, to their names.
    """
    if not isinstance(data, tuple(own)):
        raise TypeError(f"split_and_load: the data is of type {type(data).__name__}, not {' or '.join(own.values())}; "
                        "convert it first")
    if not data.shape:
        raise ValueError("split_and_load: the data is a single number; it needs rows, along axis 0")
    ends = list(itertools.accumulate(_sizes(data.shape[0], devices, weights), initial=0))
    return [data[start:end] for start, end in itertools.pairwise(ends)]


def _sizes(rows, devices, weights):
    """Return how many of `rows` each device gets: by largest remainder, and at least one each."""
    if not devices or rows < len(devices):
        raise ValueError(f"split_and_load: {rows} rows for {len(devices)} devices; each device needs a row, "
                         "so give more rows or fewer devices")
    if weights is None:
        least, more = divmod(rows, len(devices))
        return [least + (index < more) for index in range(len(devices))]
    weights = listed(weights, "split_and_load: weights must be a list of numbers, one a device")
    if len(weights) != len(devices):
        raise ValueError(f"split_and_load: {len(weights)} weights for {len(devices)} devices; give one a device")
    numbers = [_number(weight) for weight in weights]
    for index, number in enumerate(numbers):
        if not 0 < number < math.inf:
            raise ValueError(f"split_and_load: weight {index} is {reprlib.repr(weights[index])}, but weights are "
                             "numbers, finite and above zero")
    numbers = [Fraction(number) for number in numbers]  # exact, so that the parts' sum is, however large the numbers
    shares = [rows * number / sum(numbers) for number in numbers]
    sizes = [math.floor(share) for share in shares]
    by_remainder = sorted(range(len(sizes)), key=lambda index: sizes[index] - shares[index])
    for index in by_remainder[:rows - sum(sizes)]:
        sizes[index] += 1
    while 0 in sizes:
        sizes[sizes.index(max(sizes))] -= 1
        sizes[sizes.index(0)] += 1
    return sizes


def _number(weight):
    """Return a weight as a float, NaN for what is none."""
    try:
        return math.nan if isinstance(weight, (str, bytes)) else float(weight)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def accuracy(batches, devices, split_and_load, net, own, guess, count):
    """Return the share of rows that are guessed right: `guess(net(x))` on every device first, then `count` of each.

    `own` is the type of the framework's arrays, which a net must give.
    """
    right, rows = 0, 0
    if not hasattr(batches, "__iter__"):
        raise TypeError(f"evaluate_accuracy: the data must be batches, but it is of type {type(batches).__name__}")
    for index, batch in enumerate(batches):
        try:
            features, labels = batch
        except (TypeError, ValueError):
            raise ValueError(f"evaluate_accuracy: batch {index} is of type {type(batch).__name__}, not a pair of "
                             "features and labels") from None
        shapes = [getattr(each, "shape", None) for each in (features, labels)]
        if not all(shapes) or len(shapes[1]) != 1 or shapes[0][0] != shapes[1][0]:
            described = (tuple(shape) if shape is not None else f"of type {type(each).__name__}"
                         for shape, each in zip(shapes, (features, labels), strict=True))
            raise ValueError("evaluate_accuracy: batch {} has features {} and labels {}, but needs an array of each, "
                             "with one label for each row".format(index, *described))
        if not shapes[1][0]:
            continue
        used = devices[:shapes[1][0]]
        parts = zip(split_and_load(features, used), split_and_load(labels, used), strict=True)
        guesses = [(guess(_checked(net(x), x, own)), y) for x, y in parts]
        right += sum(count(*guessed, y) for guessed, y in guesses)
        rows += shapes[1][0]
    if rows == 0:
        raise ValueError("evaluate_accuracy: the data holds no rows, so there is no share of them")
    return right / rows


def _checked(scores, x, own):
    """Return a net's scores; ValueError if they are not one row of them for each row of `x`."""
    shape = tuple(scores.shape) if isinstance(scores, own) else f"an object of type {type(scores).__name__}"
    if not isinstance(scores, own) or len(shape) != 2 or shape[0] != x.shape[0] or shape[1] < 1:
        raise ValueError(f"evaluate_accuracy: for features {tuple(x.shape)} the net gave {shape}, not one row of "
                         f"scores for each row: ({x.shape[0]}, classes)")
    return scores


def arrays(batch_size, dataset, resize):
    """Return what `load_data` makes its loaders of; ValueError for a batch size below one."""
    from .datasets import load_arrays

    if not whole(batch_size, 1):
        raise ValueError(f"load_data: batch_size={batch_size!r}, but a whole number, at least 1, is needed")
    return load_arrays(dataset, resize)
