"""The rows that MXNet runs. Its modules are global names that `start` sets, once the engine is configured."""
import time

from run import line

import d2lhelpers
from d2lhelpers import Benchmark, Timeline, allreduce, configure_engine, measure, split_and_load

MB = 1 << 20
BOOK = "the engine's defaults"
TINY = "limit: one element per array"


def start(book=False):
    """Configure the engine, unless it shall keep its defaults, and import MXNet."""
    global mx, numpy, d2l, autograd, gluon, np, npx, loss, both
    if not book:
        configure_engine(devices=2)
    import mxnet as mx
    import numpy
    from d2l import mxnet as d2l
    from mxnet import autograd, gluon, np, npx

    npx.set_np()
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    both = d2lhelpers.devices(2, "cpu")


def waves(devices):
    """Return work that needs a core and nothing else, as the limit: on the first device, and shared by all."""
    arrays = [np.random.uniform(size=1_000_000, ctx=device) for device in devices]

    def on(*arrays):
        def run():
            for number in range(8):
                np.exp(arrays[number % len(arrays)])
        return run

    return {"limit, one": on(arrays[0]), "limit, two": on(*arrays)}


def sized(size):
    """Write a number of bytes in the unit that suits it."""
    return f"{size // MB} MB" if size >= MB else f"{size // 1024} kB"


def textbook_allreduce(data):
    """All-reduce as the textbook does it."""
    for array in data[1:]:
        data[0][:] += array.as_in_ctx(data[0].ctx)
    for array in data[1:]:
        data[0].copyto(array)


def stores(arrays):
    """Return functions that all-reduce lists of copies by KVStores, one key a list."""
    def by(kind):
        store, keys = mx.kv.create(kind), [str(number) for number in range(len(arrays))]
        for key, copies in zip(keys, arrays, strict=True):
            store.init(key, copies[0])
        if len(keys) == 1:
            return lambda: store.pushpull(keys[0], arrays[0], out=arrays[0])
        return lambda: store.pushpull(keys, arrays, out=arrays)

    return {f"KVStore {kind}": by(kind) for kind in ("local", "device")}


def allreduce_of(count, size, repeat):
    """Return the line of all-reducing one array per device."""
    data, spare, tiny = ([np.zeros(length, ctx=device) for device in d2lhelpers.devices(count, "cpu")]
                         for length in (size // 4, size // 4, 1))

    def once():
        for array, other in zip(data, spare, strict=True):
            array.copyto(other)

    arrays = [array.as_nd_ndarray() for array in data]

    def calls():
        mx.nd.add_n(*arrays, out=arrays[0])
        for array in arrays[1:]:
            arrays[0].copyto(array)

    times = measure({"ours": lambda: allreduce(data), "textbook loop": lambda: textbook_allreduce(data),
                     **stores([data]), "limit: read and write once": once, TINY: lambda: allreduce(tiny),
                     **({"limit: its operators, nothing checked": calls} if size <= MB else {})},
                    repeat=repeat, warmup=2, sync=npx.waitall)
    goals = {"fastest peer": 1 if size == 64 << 10 else 0.85 if size == 4 << 10 and count == 8 else 0.95}
    if size >= 64 * MB:
        goals |= {"textbook loop": 3, "limit: read and write once": 0.4}
    return line(f"all-reduce, {count} devices, {sized(size)}", times, goals, "memory")


def allreduce_rows(count, quick=False):
    """Return the lines of one number of devices."""
    start()
    sizes = {4 << 10: 3} if quick else {4 << 10: 200, 64 << 10: 200, MB: 60, 16 * MB: 15, 64 * MB: 7}
    return [allreduce_of(count, size, repeat) for size, repeat in sizes.items()]


def lenet_params():
    """Return the parameters of a LeNet."""
    return [np.random.normal(0, 0.05, size=shape)
            for shape in ((20, 1, 3, 3), (20,), (50, 20, 5, 5), (50,), (800, 128), (128,), (128, 10), (10,))]


def lenet(X, params):
    """Return the scores of a LeNet."""
    W1, b1, W2, b2, W3, b3, W4, b4 = params
    for weight, bias in ((W1, b1), (W2, b2)):
        X = npx.convolution(X, weight, bias, kernel=weight.shape[2:], num_filter=len(bias))
        X = npx.pooling(npx.relu(X), kernel=(2, 2), stride=(2, 2), pool_type="avg")
    return np.dot(npx.relu(np.dot(X.reshape(len(X), -1), W3) + b3), W4) + b4


def copies_of(params, device):
    """Return copies of the parameters on a device, which collect gradients there."""
    copies = [param.copyto(device) for param in params]
    for copy in copies:
        copy.attach_grad()
    return copies


def train_batch(X, y, copies, devices, reduce=allreduce):
    """Train the copies of LeNet's parameters, one list per device, on one batch."""
    Xs, ys = (split_and_load(each, devices) for each in (X, y))
    with autograd.record():
        losses = [loss(lenet(X, params), y) for X, y, params in zip(Xs, ys, copies, strict=True)]
    for each in losses:
        each.backward()
    for gradients in zip(*[[param.grad for param in params] for params in copies], strict=True):
        reduce(gradients)
    for params in copies:
        d2l.sgd(params, 0.001, len(X))


def step(net, trainer, X, y, devices):
    """Train a Gluon network on one batch."""
    Xs, ys = (split_and_load(each, devices) for each in (X, y))
    with autograd.record():
        losses = [loss(net(X), y) for X, y in zip(Xs, ys, strict=True)]
    for each in losses:
        each.backward()
    trainer.step(len(X))


def gradients(network, quick=False):
    """Return the line of all-reducing all the gradients of a network."""
    start()
    params = lenet_params()
    if network == "ResNet-18":
        net = d2l.resnet18(10)
        net.initialize()
        net(np.zeros((2, 1, 8, 8)))
        params = [param.data() for param in net.collect_params().values() if param.grad_req != "null"]
    copies = [[np.zeros(param.shape, ctx=device) for device in both] for param in params]
    buckets = [np.zeros(sum(param.size for param in params), ctx=device) for device in both]
    tiny = [np.zeros(1, ctx=device) for device in both]

    def one_by_one(reduce):
        def run():
            for gradients in copies:
                reduce(gradients)
        return run

    times = measure({"ours": lambda: allreduce(buckets), "ours, one by one": one_by_one(allreduce),
                     "textbook loop, one by one": one_by_one(textbook_allreduce), **stores(copies),
                     TINY: lambda: allreduce(tiny)},
                    repeat=3 if quick else 25, warmup=2, sync=npx.waitall)
    return [line(f"gradients of {network}, {len(params)} arrays, in one bucket per device", times,
                 {"ours, one by one": 2, "fastest peer": 0.95}, "memory")]


def split(quick=False):
    """Return the lines of splitting a batch."""
    start()
    theirs, tiny, lines = gluon.utils.split_and_load, np.zeros((2, 1)), []
    for rows in (256,) if quick else (256, 4096, 100_000):
        data = np.zeros((rows, 64))
        times = measure({"ours": lambda data=data: split_and_load(data, both),
                         "gluon.utils": lambda data=data: theirs(data, both), TINY: lambda: split_and_load(tiny, both)},
                        repeat=3 if quick else 100, warmup=2, sync=npx.waitall)
        lines.append(line(f"split_and_load, {rows:,} rows", times, {"fastest peer": 0.95}, "memory"))
    return lines


def gain(work, one, two, goal, book, repeat):
    """Return the line of work on two devices, beside the same on one, or in turns.

    What a second core speeds up nearly as much as work that needs cores alone is bound by computing, else by what the
    devices share.
    """
    times = measure({"one at a time": one, "ours": two, **waves(both)}, repeat=repeat, sync=npx.waitall)
    limit = times.ratio("limit, one", "limit, two")
    only = type(times)({label: times[label] for label in ("one at a time", "ours")})
    bound = "compute" if only.ratio("one at a time", "ours") >= 0.8 * limit else "shared"
    return [line(f"{work}: {BOOK if book else 'our settings'}", only, {} if book else {"one at a time": goal}, bound,
                 **{"limit 2.00×; here and now": limit})]


def at_once(kind, book=False, quick=False):
    """Return the line of work on two devices at once, beside the same in turns."""
    start(book)
    shapes = {"product": [(600, 600)], "convolution": [(16, 32, 28, 28), (32, 32, 3, 3)], "element-wise": [(500_000,)]}
    arrays = [[np.random.uniform(size=shape, ctx=device) for shape in shapes[kind]] for device in both]
    operator = {"product": lambda x: np.dot(x, x), "element-wise": np.exp, "convolution": lambda x, weight:
                npx.convolution(x, weight, num_filter=32, kernel=(3, 3), no_bias=True)}[kind]

    def run(barrier):
        for each in arrays:
            for _ in range(10):
                operator(*each)
            if barrier:
                npx.waitall()

    return gain(f"{kind}, two devices", lambda: run(True), lambda: run(False), 1.85, book, 3 if quick else 15)


def training(network, book=False, quick=False):
    """Return the line of steps on two devices, beside the same on one."""
    start(book)
    rows = 128 if network == "ResNet-18" else 256
    X, y = np.random.uniform(size=(rows, 1, 28, 28)), np.zeros(rows)
    if network == "LeNet from scratch":
        params = lenet_params()

        def on(devices):
            copies = [copies_of(params, device) for device in devices]
            return lambda: train_batch(X, y, copies, devices, textbook_allreduce if book else allreduce)
    else:
        def gluon_lenet():
            net, nn = gluon.nn.HybridSequential(), gluon.nn
            net.add(nn.Conv2D(20, 3, activation="relu"), nn.AvgPool2D(2, 2), nn.Conv2D(50, 5, activation="relu"),
                    nn.AvgPool2D(2, 2), nn.Dense(128, activation="relu"), nn.Dense(10))
            return net

        def on(devices):
            net = d2l.resnet18(10) if network == "ResNet-18" else gluon_lenet()
            net.initialize(mx.init.Xavier(), ctx=devices)
            for device in devices:
                net(X[:2].as_in_ctx(device))
            if not book:
                net.hybridize(static_alloc=True, static_shape=True)
            trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.001}, kvstore="device")
            return lambda: step(net, trainer, X, y, devices)
    goal = 1.6 if network == "ResNet-18" else 1.8
    return gain(f"training {network}, {rows} rows a step", on(both[:1]), on(both), goal, book,
                1 if quick else 5 if network == "ResNet-18" else 9)


def hybridized(quick=False):
    """Return the line of a compiled network, beside the same one run imperatively."""
    start()

    def forward(compiled, *sizes):
        net, nn = gluon.nn.HybridSequential(), gluon.nn
        net.add(nn.Dense(sizes[1], activation="relu"), nn.Dense(sizes[2], activation="relu"), nn.Dense(sizes[3]))
        net.initialize()
        if compiled:
            net.hybridize(static_alloc=True, static_shape=True)
        x = np.random.normal(size=(1, sizes[0]))

        def run():
            for _ in range(10 if quick else 200):
                net(x)
        return run

    sizes = 512, 256, 128, 2
    times = measure({"ours": forward(True, *sizes), "imperative": forward(False, *sizes),
                     TINY: forward(True, 1, 1, 1, 1)}, repeat=3 if quick else 15, sync=npx.waitall)
    return [line("200 forward passes of 512-256-128-2, batch 1: hybridized", times, {"imperative": 2.5}, "compute")]


def timing(quick=False):
    """Return the lines of what timing costs: a Benchmark block, and a Timeline's slow-down of what it records."""
    start()

    def blocks(kind):
        def run():
            for _ in range(10 if quick else 1000):
                with kind():
                    pass
        return run

    times = measure({"ours": blocks(Benchmark), "d2l.Benchmark": blocks(d2l.Benchmark)}, repeat=9)
    each = times["ours"].median / (10 if quick else 1000)
    block = line("1,000 Benchmark blocks", times, bound="overhead")
    block["goals"] = [["5 ms: 5 µs a block", each < 5e-6]]
    params = lenet_params()
    copies = [copies_of(params, device) for device in both]
    X, y = np.random.uniform(size=(256, 1, 28, 28)), np.zeros(256)

    def plain():
        npx.waitall()
        begin = time.perf_counter()
        train_batch(X, y, copies, both)
        npx.waitall()
        return time.perf_counter() - begin

    def recorded():
        with Timeline() as timeline:
            train_batch(X, y, copies, both)
        return timeline.end

    plain()
    times = measure({"ours": recorded, "not recorded": plain}, repeat=2 if quick else 25, warmup=0, reported=True)
    return [block, line("a training step of LeNet, recorded by a Timeline", times, {"not recorded": 0.91})]
