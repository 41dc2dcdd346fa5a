"""Work on several devices with MXNet: setting the engine, splitting data, summing gradients, counting right answers.

MXNet itself is imported inside the functions: `configure_engine` has to come before it.
"""
import itertools
import math
import os
import sys

import numpy as np

SMALL = 1 << 20  # bytes; below this, all-reduce gains less from parts at once than their extra operators cost


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
    if devices < 1:
        raise ValueError(f"configure_engine: devices={devices}, but at least 1 is needed")
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

    gpus = mx.context.num_gpus()
    has = f"this machine has {gpus} GPU{'s' * (gpus != 1)} and {os.cpu_count()} CPU cores"
    if kind not in (None, "cpu", "gpu"):
        raise ValueError(f"devices: kind={kind!r}, but it is 'cpu', 'gpu' or None; {has}")
    if n < 1:
        raise ValueError(f"devices: n={n}, but at least 1 is needed; {has}")
    if kind == "gpu" and n > gpus:
        raise ValueError(f"devices: {n} GPUs asked for, but {has}; take kind='cpu' or None")
    make = mx.gpu if kind == "gpu" or (kind is None and n <= gpus) else mx.cpu
    return [make(i) for i in range(n)]


def allreduce(data):
    """Replace every array in `data` by the sum of them all, in place: an all-reduce.

    `data` is an iterable of MXNet arrays (of either kind), one a device, equal in shape and type. One array alone is
    left as it is. Returns None; like every operator it is queued, not waited for.

    Large arrays are cut into one part a device: each device adds up its own part of all the arrays while the others
    do theirs (reduce-scatter), then collects the parts the others have summed (all-gather). Small ones are summed on
    the first device and copied.

    Raises ValueError if there is no array, or one that differs in shape or type from the first, TypeError if
    something is no dense MXNet array of numbers; either names its index, and nothing is modified.

    Lesson: 05-multi-gpu-from-scratch. Source: Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for
    clusters of workstations, 2009.

    >>> import mxnet as mx
    >>> data = [mx.nd.array([1, 2], ctx=mx.cpu(0)), mx.nd.array([10, 20], ctx=mx.cpu(1))]
    >>> allreduce(data)
    >>> [array.asnumpy().tolist() for array in data]
    [[11.0, 22.0], [11.0, 22.0]]
    """
    import mxnet as mx

    data = list(data)
    if not data:
        raise ValueError("allreduce: no arrays; give one a device")
    for index, array in enumerate(data):
        if not isinstance(array, mx.nd.NDArray) or array.stype != "default":
            raise TypeError(f"allreduce: item {index} is a {type(array).__name__}, not a dense MXNet array")
        if np.dtype(array.dtype) == bool:
            raise TypeError(f"allreduce: array {index} is {_describe(array)}, and truth values have no sum; "
                            "convert them with astype('int32')")
        if (array.shape, array.dtype) != (data[0].shape, data[0].dtype):
            raise ValueError(f"allreduce: array {index} is {_describe(array)}, but array 0 is {_describe(data[0])}; "
                             "all must be equal in shape and type")
    count, size = len(data), data[0].size
    if count == 1 or size == 0:
        return
    flat = [mx.nd.NDArray.reshape(array, (-1,)).as_nd_ndarray() for array in data]  # views: writing them writes `data`
    parts = min(count, size) if size * np.dtype(data[0].dtype).itemsize >= SMALL else 1
    edges = [size * part // parts for part in range(parts + 1)]
    with mx.autograd.pause():
        sums = []
        for part in range(parts):
            pieces = [array[edges[part]:edges[part + 1]] for array in flat[part:] + flat[:part]]
            sums.append(mx.nd.add_n(*(_readable(piece, pieces[0].context) for piece in pieces)))
        for step in range(parts):  # at every step each device collects another part: none of them has to wait in line
            for index, array in enumerate(flat):
                part = (index + step) % parts
                sums[part].copyto(array[edges[part]:edges[part + 1]])


def _describe(array):
    return f"{array.shape} {np.dtype(array.dtype)} on {array.context}"


def _readable(array, device):
    """Return `array`, or a copy of it, that an operator on `device` can read: CPU devices share their memory."""
    shared = array.context.device_type == device.device_type == "cpu"
    return array if shared else array.as_in_context(device)


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

    Lesson: 05-multi-gpu-from-scratch; unequal weights in 06-multi-gpu-concise.

    >>> import mxnet as mx
    >>> [part.shape for part in split_and_load(mx.nd.ones((7, 2)), [mx.cpu(0), mx.cpu(1)])]
    [(4, 2), (3, 2)]
    >>> [part.shape for part in split_and_load(mx.nd.ones((7, 2)), [mx.cpu(0), mx.cpu(1)], weights=[1, 6])]
    [(1, 2), (6, 2)]
    """
    import mxnet as mx

    devices = list(devices)
    if not data.shape:
        raise ValueError("split_and_load: the data is a single number; it needs rows, along axis 0")
    ends = list(itertools.accumulate(_sizes(data.shape[0], devices, weights), initial=0))
    parts = [data[start:end] for start, end in itertools.pairwise(ends)]
    if isinstance(data, mx.nd.NDArray):
        return [part.as_in_context(device) for part, device in zip(parts, devices, strict=True)]
    make = mx.np.array if mx.util.is_np_array() else mx.nd.array
    return [make(part, dtype=part.dtype, ctx=device) for part, device in zip(parts, devices, strict=True)]


def _sizes(rows, devices, weights):
    """Return how many of `rows` each device gets: by largest remainder, and at least one each."""
    if not devices or rows < len(devices):
        raise ValueError(f"split_and_load: {rows} rows for {len(devices)} devices; each device needs a row, "
                         "so give more rows or fewer devices")
    weights = [1.0] * len(devices) if weights is None else [float(weight) for weight in weights]
    if len(weights) != len(devices):
        raise ValueError(f"split_and_load: {len(weights)} weights for {len(devices)} devices; give one a device")
    for index, weight in enumerate(weights):
        if not 0 < weight < math.inf:
            raise ValueError(f"split_and_load: weight {index} is {weight}, but weights are finite and above zero")
    largest = max(weights)  # dividing by it first keeps the sum of huge weights finite
    total = sum(weight / largest for weight in weights)
    shares = [rows * (weight / largest) / total for weight in weights]
    sizes = [math.floor(share) for share in shares]
    by_remainder = sorted(range(len(sizes)), key=lambda index: sizes[index] - shares[index])
    for index in by_remainder[:rows - sum(sizes)]:
        sizes[index] += 1
    while 0 in sizes:
        sizes[sizes.index(max(sizes))] -= 1
        sizes[sizes.index(0)] += 1
    return sizes


def evaluate_accuracy(data_iter, net, devices):
    """Return the share of rows, over all batches, whose largest output is the label: a float from 0 to 1.

    `net` is called with each device's part of a batch, on that device, and gives one row of scores (classes along
    axis 1) for each row. All devices work on a batch before it is waited for; the last, shorter batch counts in
    full, on as many devices as it has rows. ValueError if `data_iter` holds no rows.

    Lesson: 05-multi-gpu-from-scratch.

    >>> import mxnet as mx
    >>> scores, labels = mx.nd.array([[1, 9], [9, 1], [1, 9]]), mx.nd.array([1, 1, 1])
    >>> round(evaluate_accuracy([(scores, labels)], lambda x: x, [mx.cpu(0), mx.cpu(1)]), 4)
    0.6667
    """
    devices, right, rows = list(devices), 0, 0
    for features, labels in data_iter:
        used = devices[:len(labels)]
        parts = zip(split_and_load(features, used), split_and_load(labels, used), strict=True)
        answers = [(net(x).argmax(axis=1), y) for x, y in parts]
        right += sum(int((answer.asnumpy() == y.asnumpy()).sum()) for answer, y in answers)
        rows += len(labels)
    if rows == 0:
        raise ValueError("evaluate_accuracy: the data holds no rows, so there is no share of them")
    return right / rows


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
    if batch_size < 1:
        raise ValueError(f"load_data: batch_size={batch_size}, but at least 1 is needed")
    from mxnet.gluon.data import ArrayDataset, DataLoader

    from .datasets import load_arrays

    train, test = load_arrays(dataset, resize)
    return (DataLoader(ArrayDataset(*train), batch_size, shuffle=True, num_workers=0),
            DataLoader(ArrayDataset(*test), batch_size, num_workers=0))
