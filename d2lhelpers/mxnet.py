"""Work on several devices with MXNet: setting the engine, splitting data, summing gradients, counting right answers.

MXNet itself is imported inside the functions: `configure_engine` has to come before it.
"""
import ctypes
import math
import os
import sys

import numpy as np

from .tracks import accuracy, arrays, check_alike, check_apart, choose_devices, cut, device_list, listed, whole

PART = 1 << 23  # bytes of all arrays together; a part's sum is then still in the cache when it is copied


def configure_engine(devices=2):
    """Set the engine for `devices` CPU devices that never wait for one another; call it before MXNet is imported.

    A device of MXNet's is a queue with workers. This gives each one worker, and an operator as many OpenMP threads
    as there are cores if there is one device, else a single one: MXNet 1.9.1's matrix library hangs for ever once
    two devices run a product of several threads each. The threads sleep while they wait: spinning, they would take
    the cores from those they wait for as soon as anything else runs. The engine gets so many temporary workspaces
    that two devices hardly ever draw the same one (an operator that does must wait, though the two have nothing to
    do with each other). Prints and returns what it set: a dictionary of environment variables.

    Raises RuntimeError once MXNet is imported, unless the same settings were made before: the engine reads them when
    it starts. ValueError for fewer than one device.

    Lesson: 04-automatic-parallelism, which measures each setting. Source: MXNet's list of environment variables.

    >>> import subprocess, sys
    >>> program = "from d2lhelpers import configure_engine; configure_engine(devices=2); import mxnet"
    >>> print(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip())
    engine: 2 devices, 1 worker and 1 OpenMP threads a device, 64 workspaces
    """
    if not whole(devices, 1):
        raise ValueError(f"configure_engine: devices={devices!r}, but a whole number, at least 1, is needed")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    settings = {
        "MXNET_CPU_WORKER_NTHREADS": "1",
        "OMP_NUM_THREADS": str(cores if devices == 1 else 1),
        "OMP_WAIT_POLICY": "passive",
        "MXNET_CPU_TEMP_COPY": "64",
    }
    if "mxnet" in sys.modules and _engine != settings:
        raise RuntimeError("configure_engine: MXNet is imported already, and its engine reads these settings only when "
                           "it starts; restart the kernel and call configure_engine first")
    os.environ.update(settings)
    _engine.update(settings)
    print(f"engine: {devices} device{'s' * (devices > 1)}, 1 worker and {settings['OMP_NUM_THREADS']} OpenMP threads "
          f"a device, {settings['MXNET_CPU_TEMP_COPY']} workspaces")
    return settings


_engine = {}  # what configure_engine has set, so that a cell can be run again


def devices(n=2, kind=None):
    """Return `n` devices: GPUs where the machine has that many, else CPU devices, which are queues of their own.

    `kind` "gpu" or "cpu" insists on one or the other. ValueError for `n` < 1, another kind, or more GPUs than there
    are; the message names what the machine has.

    Lesson: 00-start-here.

    >>> devices(2, kind="cpu")
    [cpu(0), cpu(1)]
    """
    import mxnet as mx

    return choose_devices(n, kind, mx.context.num_gpus(), lambda kind, index: getattr(mx, kind)(index))


def allreduce(data):
    """Replace every array in `data` by the sum of them all, in place: an all-reduce.

    `data` is an iterable of MXNet arrays (of either kind), one a device, equal in shape and type. One array alone is
    left as it is. Returns None; like every operator it is queued, not waited for.

    An array that is given twice counts twice, and becomes the sum as the others do. Views that share only a part of
    their memory cannot: they are refused. To see that, arrays that have a device in common are waited for.

    Large arrays are cut into parts: each device adds up its own parts of all the arrays while the others do theirs
    (reduce-scatter), then copies the sums to all of them (all-gather). Small ones are summed on the first device.

    Raises ValueError if there is no array, one that differs in shape or type from the first, or shares a part of its
    memory with another; TypeError if something is no dense MXNet array of numbers, or `data` is a single array. They
    name its index, and nothing is modified.

    Lesson: 05-multi-gpu-from-scratch. Source: Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for
    clusters of workstations, 2009.

    >>> import mxnet as mx
    >>> data = [mx.nd.array([1, 2], ctx=mx.cpu(0)), mx.nd.array([10, 20], ctx=mx.cpu(1))]
    >>> allreduce(data)
    >>> [array.asnumpy().tolist() for array in data]
    [[11.0, 22.0], [11.0, 22.0]]
    """
    import mxnet as mx

    data = listed(data, "allreduce: the data must be a list of arrays, one a device", mx.nd.NDArray)
    shape, dtype = check_alike(data, "dense MXNet array", _facts, _describe, np.dtype(bool), "astype('int32')")
    count, size = len(data), math.prod(shape)
    if count == 1 or size == 0:
        return
    homes = [array.context for array in data]
    if len(set(homes)) < count:
        check_apart({index: _place(array) for index, array in enumerate(data) if homes.count(homes[index]) > 1})
    parts = min(size, -(-count * size * np.dtype(dtype).itemsize // PART))
    data = [array.as_nd_ndarray() for array in data]
    with mx.autograd.pause():
        if parts == 1:
            in_place = data[0] if count < 5 else None  # beyond four, an array that is given twice would count wrong
            total = mx.nd.add_n(*_readable(data, 0), out=in_place)
            for array in data:
                if array is not total:
                    total.copyto(array)
            return
        flat = [array.reshape((-1,)) for array in data]  # views: writing them writes `data`
        edges = [size * part // parts for part in range(parts + 1)]
        for first in range(0, parts, count):  # at a time, one part a device
            pieces = [[array[edges[part]:edges[part + 1]] for array in flat]
                      for part in range(first, min(first + count, parts))]
            sums = [mx.nd.add_n(*_readable(mine, owner)) for owner, mine in enumerate(pieces)]
            for step in range(count):  # at every step to other arrays: none of the devices has to wait in line
                for owner, total in enumerate(sums):
                    total.copyto(pieces[owner][(owner + step) % count])


def _facts(array):
    """Return the shape and type of a dense array; None of anything else."""
    import mxnet as mx

    dense = isinstance(array, mx.nd.NDArray) and array.stype == "default"
    return (array.shape, array.dtype) if dense else None


def _describe(array):
    return f"{np.dtype(array.dtype).name} on {array.context}"


def _place(array):
    """Return where an array lies: its address, shape and strides, and the bytes of an element."""
    from mxnet.base import _LIB, check_call

    array.wait_to_read()  # before, it may lie nowhere yet
    address = ctypes.c_void_p()
    check_call(_LIB.MXNDArrayGetData(array.handle, ctypes.byref(address)))
    size = np.dtype(array.dtype).itemsize
    return address.value, (array.size,), (size,), size


def _readable(arrays, owner):
    """Return `arrays`, the owner's first, as its device can read them: CPU devices share their memory."""
    import mxnet as mx

    arrays = arrays[owner:] + arrays[:owner]
    if mx.context.num_gpus() == 0:
        return arrays
    device = arrays[0].context
    shared = [array.context.device_type == device.device_type == "cpu" for array in arrays]
    return [array if read else array.as_in_context(device) for array, read in zip(arrays, shared, strict=True)]


def split_and_load(data, devices, weights=None):
    """Cut `data` along axis 0 into one part a device, in order, and put each part on its device.

    Parameters
    ----------
    data : MXNet array of either kind, or NumPy array
        At least as many rows as there are devices.
    devices : list of devices
    weights : list of numbers, optional
        One a device, above zero: the parts follow them by largest remainder, and none is empty. Without it, sizes
        differ by one row at most, the larger ones first.

    Returns
    -------
    list of MXNet arrays
        A part whose device is the data's own shares its memory.

    Raises
    ------
    ValueError
        No devices, fewer rows than devices, or weights of another number or not above zero; the message names them.
    TypeError
        Data, or devices, that are none of MXNet's; a type of NumPy's that its arrays cannot have.

    Lesson: 05-multi-gpu-from-scratch; unequal weights in 06-multi-gpu-concise.

    >>> import mxnet as mx
    >>> [part.shape for part in split_and_load(mx.nd.ones((7, 2)), [mx.cpu(0), mx.cpu(1)])]
    [(4, 2), (3, 2)]
    >>> [part.shape for part in split_and_load(mx.nd.ones((7, 2)), [mx.cpu(0), mx.cpu(1)], weights=[1, 6])]
    [(1, 2), (6, 2)]
    """
    import mxnet as mx

    devices = device_list(devices, _gpu, mx.context.num_gpus)
    parts = cut(data, {mx.nd.NDArray: "an MXNet array", np.ndarray: "a NumPy array"}, devices, weights)
    if isinstance(data, mx.nd.NDArray):
        return [part.as_in_context(device) for part, device in zip(parts, devices, strict=True)]
    make = mx.np.array if mx.util.is_np_array() else mx.nd.array
    try:
        return [make(part, dtype=part.dtype, ctx=device) for part, device in zip(parts, devices, strict=True)]
    except KeyError:
        raise TypeError(f"split_and_load: the data is {data.shape} {data.dtype}, a type that MXNet's arrays cannot "
                        "have; convert it, as with astype('float32')") from None


def _gpu(device):
    """Return a GPU's number, -1 for another device, None for what is none."""
    import mxnet as mx

    if not isinstance(device, mx.Context):
        return None
    return device.device_id if device.device_type == "gpu" else -1


def evaluate_accuracy(data_iter, net, devices):
    """Return the share of rows, over all batches, whose largest output is the label: a float from 0 to 1.

    `net` is called with each device's part of a batch, on that device, and gives one row of scores (classes along
    axis 1) for each row. All devices work on a batch before it is waited for; the last, shorter batch counts in
    full, on as many devices as it has rows. A row whose scores are not all numbers (NaN) is not guessed right.
    ValueError if `data_iter` holds no rows, or labels or scores are not one for each row; it names their shapes.

    Lesson: 05-multi-gpu-from-scratch.

    >>> import mxnet as mx
    >>> scores, labels = mx.nd.array([[1, 9], [9, 1], [1, 9]]), mx.nd.array([1, 1, 1])
    >>> round(evaluate_accuracy([(scores, labels)], lambda x: x, [mx.cpu(0), mx.cpu(1)]), 4)
    0.6667
    """
    import mxnet as mx

    return accuracy(data_iter, device_list(devices, _gpu, mx.context.num_gpus), split_and_load, net, mx.nd.NDArray,
                    lambda scores: (scores.argmax(axis=1), (scores != scores).sum(axis=1)),  # NaN alone is not itself
                    lambda best, nans, y: int(((best.asnumpy() == y.asnumpy()) & (nans.asnumpy() == 0)).sum()))


def load_data(batch_size, dataset=None, resize=None):
    """Return two Gluon loaders, of training batches (shuffled) and of test batches: pairs of images and labels.

    Parameters
    ----------
    batch_size : int
        Rows a batch; the last one may be shorter.
    dataset : "digits" or "fashion_mnist", optional
        Small real images that need no network, or the larger set, downloaded once. The variable D2LHELPERS_DATASET
        sets the default, D2LHELPERS_DATA_DIR the folder: see `d2lhelpers.datasets`, also for what can go wrong.
    resize : int, optional
        Height and width in pixels to which every image is scaled.

    Images are float32 from 0 to 1, shaped (rows, 1, height, width); labels int32, shaped (rows,).

    Lesson: 05-multi-gpu-from-scratch.

    >>> train, test = load_data(256, dataset="digits")
    >>> [labels.shape for images, labels in test]
    [(256,), (104,)]
    """
    train, test = arrays(batch_size, dataset, resize)
    from mxnet.gluon.data import ArrayDataset, DataLoader

    batch_size = int(batch_size)
    return (DataLoader(ArrayDataset(*train), batch_size, shuffle=True, num_workers=0),
            DataLoader(ArrayDataset(*test), batch_size, num_workers=0))
