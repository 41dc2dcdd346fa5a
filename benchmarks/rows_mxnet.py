"""The rows that MXNet runs. Networks and steps are the lessons' own cells."""
import json
import time

from run import ROOT, by_turns, line

import d2lhelpers
from d2lhelpers import Timeline, allreduce, configure_engine, measure, split_and_load

MB = 1 << 20
BOOK = "the engine's defaults"


def start(book=False):
    """Set the engine, unless it shall keep its defaults, and return the names that the lessons' cells use."""
    if not book:
        configure_engine(devices=2)
    import numpy
    from d2l import mxnet as d2l
    from mxnet import autograd, gluon, init, np, npx

    npx.set_np()
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    ours = {name: getattr(d2lhelpers, name) for name in d2lhelpers.__all__}
    return {**ours, "d2l": d2l, "autograd": autograd, "gluon": gluon, "init": init, "np": np, "npx": npx, "loss": loss,
            "numpy": numpy, "SEED": 1}


def cells(names, lesson, *ids):
    """Run cells of a lesson, told by their ids, in `names`."""
    path = ROOT / "notebooks" / f"{lesson}.ipynb"
    source = {cell["id"]: "".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]}
    for each in ids:
        exec(source[each], names)


def waves(np, devices):
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


def stores(arrays):
    """Return functions that all-reduce lists of copies by KVStores, one key a list."""
    import mxnet as mx

    def by(kind):
        store, keys = mx.kv.create(kind), [str(number) for number in range(len(arrays))]
        for key, copies in zip(keys, arrays, strict=True):
            store.init(key, copies[0])
        if len(keys) == 1:
            return lambda: store.pushpull(keys[0], arrays[0], out=arrays[0])
        return lambda: store.pushpull(keys, arrays, out=arrays)

    return {f"KVStore {kind}": by(kind) for kind in ("local", "device")}


def allreduce_of(count, size, repeat, names):
    """Return the line of all-reducing one array a device."""
    import mxnet as mx

    np, devices = names["np"], d2lhelpers.devices(count, "cpu")
    data, spare = ([np.zeros(size // 4, ctx=device) for device in devices] for _ in range(2))

    def once():
        for array, other in zip(data, spare, strict=True):
            array.copyto(other)

    arrays = [array.as_nd_ndarray() for array in data]

    def calls():
        mx.nd.add_n(*arrays, out=arrays[0])
        for array in arrays[1:]:
            arrays[0].copyto(array)

    times = measure({"ours": lambda: allreduce(data), "textbook loop": lambda: names["textbook_allreduce"](data),
                     **stores([data]), "limit: read and write once": once,
                     **({"limit: its operators, nothing checked": calls} if size <= MB else {})},
                    repeat=repeat, warmup=2, sync=names["npx"].waitall)
    goals = {"fastest peer": 0.95}
    if size >= 64 * MB:
        goals |= {"textbook loop": 3, "limit: read and write once": 0.4}
    return line(f"all-reduce, {count} devices, {sized(size)}", times, goals)


def allreduce_rows(count, quick=False):
    """Return the lines of one number of devices."""
    names = start()
    cells(names, "05-multi-gpu-from-scratch", "textbook")
    sizes = {4 << 10: 3} if quick else {4 << 10: 200, 64 << 10: 200, MB: 60, 16 * MB: 15, 64 * MB: 7}
    return [allreduce_of(count, size, repeat, names) for size, repeat in sizes.items()]


def gradients(network, quick=False):
    """Return the line of all-reducing all the gradients of a network."""
    names = start()
    np, both = names["np"], d2lhelpers.devices(2, "cpu")
    cells(names, "05-multi-gpu-from-scratch", "params", "textbook", "solution-2")
    params = names["start"]
    if network == "ResNet-18":
        net = names["d2l"].resnet18(10)
        net.initialize()
        net(np.zeros((2, 1, 8, 8)))
        params = [param.data() for param in net.collect_params().values() if param.grad_req != "null"]
    buckets = [names["get_params_with_bucket"](params, device)[1] for device in both]
    copies = [[np.zeros(param.shape, ctx=device) for device in both] for param in params]

    def one_by_one(reduce):
        def run():
            for gradients in copies:
                reduce(gradients)
        return run

    times = measure({"ours": lambda: allreduce(buckets), "ours, one by one": one_by_one(allreduce),
                     "textbook loop, one by one": one_by_one(names["textbook_allreduce"]), **stores(copies)},
                    repeat=3 if quick else 25, warmup=2, sync=names["npx"].waitall)
    return [line(f"gradients of {network}, {len(params)} arrays, in one bucket a device", times,
                 {"ours, one by one": 2, "fastest peer": 0.95})]


def split(quick=False):
    """Return the lines of splitting a batch."""
    names = start()
    both, theirs = d2lhelpers.devices(2, "cpu"), names["gluon"].utils.split_and_load
    lines = []
    for rows in (256,) if quick else (256, 4096, 100_000):
        data = names["np"].zeros((rows, 64))
        times = measure({"ours": lambda data=data: split_and_load(data, both),
                         "gluon.utils": lambda data=data: theirs(data, both)},
                        repeat=3 if quick else 100, warmup=2, sync=names["npx"].waitall)
        lines.append(line(f"split_and_load, {rows:,} rows", times, {"fastest peer": 0.95}))
    return lines


def gain(work, one, two, names, goal, book, repeat):
    """Return the line of work on two devices, beside the same on one, or in turns."""
    limits = waves(names["np"], d2lhelpers.devices(2, "cpu"))
    times = measure({"one at a time": one, "ours": two, **limits}, repeat=repeat, sync=names["npx"].waitall)
    limit = times.ratio("limit, one", "limit, two")
    only = type(times)({label: times[label] for label in ("one at a time", "ours")})
    return [line(f"{work}: {BOOK if book else 'our settings'}", only, {} if book else {"one at a time": goal},
                 **{"limit 2.00×; here and now": limit})]


def at_once(kind, book=False, quick=False):
    """Return the line of work on two devices at once, beside the same in turns."""
    names = start(book)
    np, npx, both = names["np"], names["npx"], d2lhelpers.devices(2, "cpu")
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

    return gain(f"{kind}, two devices", lambda: run(True), lambda: run(False), names, 1.85, book, 3 if quick else 15)


def training(network, book=False, quick=False):
    """Return the line of steps on two devices, beside the same on one."""
    names = start(book)
    np, gluon, both = names["np"], names["gluon"], d2lhelpers.devices(2, "cpu")
    if book:
        names["split_and_load"] = lambda data, devices, weights=None: gluon.utils.split_and_load(data, devices)
    rows = 128 if network == "ResNet-18" else 256
    X, y = np.random.uniform(size=(rows, 1, 28, 28)), np.zeros(rows)
    if network == "LeNet from scratch":
        cells(names, "05-multi-gpu-from-scratch", "lenet", "lenet-dense", "params", "get-params", "textbook",
              "train-batch")
        reduce = names["textbook_allreduce"] if book else allreduce

        def on(devices):
            copies = [names["get_params"](names["start"], device) for device in devices]
            return lambda: names["train_batch"](X, y, copies, devices, 0.001, reduce)
    else:
        cells(names, "06-multi-gpu-concise", "step")

        def lenet():
            net, nn = gluon.nn.HybridSequential(), gluon.nn
            net.add(nn.Conv2D(20, 3, activation="relu"), nn.AvgPool2D(2, 2), nn.Conv2D(50, 5, activation="relu"),
                    nn.AvgPool2D(2, 2), nn.Dense(128, activation="relu"), nn.Dense(10))
            return net

        def on(devices):
            net = names["d2l"].resnet18(10) if network == "ResNet-18" else lenet()
            net.initialize(names["init"].Xavier(), ctx=devices)
            for device in devices:
                net(X[:2].as_in_ctx(device))
            if not book:
                net.hybridize(static_alloc=True, static_shape=True)
            trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.001}, kvstore="device")
            return lambda: names["step"](net, trainer, X, y, devices)
    goal = 1.6 if network == "ResNet-18" else 1.8
    return gain(f"training {network}, {rows} rows a step", on(both[:1]), on(both), names, goal, book,
                1 if quick else 5 if network == "ResNet-18" else 9)


def hybridized(quick=False):
    """Return the line of a compiled network, beside the same one run imperatively."""
    names = start()
    nn, np = names["gluon"].nn, names["np"]

    def forward(compiled):
        net = nn.HybridSequential()
        net.add(nn.Dense(256, activation="relu"), nn.Dense(128, activation="relu"), nn.Dense(2))
        net.initialize()
        if compiled:
            net.hybridize(static_alloc=True, static_shape=True)
        x = np.random.normal(size=(1, 512))

        def run():
            for _ in range(10 if quick else 200):
                net(x)
        return run

    times = measure({"ours": forward(True), "imperative": forward(False)}, repeat=3 if quick else 15,
                    sync=names["npx"].waitall)
    return [line("200 forward passes of 512-256-128-2, batch 1: hybridized", times, {"imperative": 2.5})]


def timing(quick=False):
    """Return the lines of what timing costs: a Benchmark block, and a Timeline's slow-down of what it records."""
    names = start()
    np, npx, both = names["np"], names["npx"], d2lhelpers.devices(2, "cpu")

    def blocks(kind):
        def run():
            for _ in range(10 if quick else 1000):
                with kind():
                    pass
        return run

    times = measure({"ours": blocks(d2lhelpers.Benchmark), "d2l.Benchmark": blocks(names["d2l"].Benchmark)}, repeat=9)
    each = times["ours"].median / (10 if quick else 1000)
    block = line("1,000 Benchmark blocks", times)
    block["goals"] = [["5 ms: 5 µs a block", each < 5e-6]]
    cells(names, "05-multi-gpu-from-scratch", "lenet", "lenet-dense", "params", "get-params", "train-batch")
    copies = [names["get_params"](names["start"], device) for device in both]
    X, y = np.random.uniform(size=(256, 1, 28, 28)), np.zeros(256)

    def step():
        names["train_batch"](X, y, copies, both, 0.001)

    def plain():
        npx.waitall()
        begin = time.perf_counter()
        step()
        npx.waitall()
        return time.perf_counter() - begin

    def recorded():
        with Timeline() as timeline:
            step()
        return timeline.end

    plain()
    times = by_turns({"ours": recorded, "not recorded": plain}, 2 if quick else 25)
    return [block, line("a training step of LeNet, recorded by a Timeline", times, {"not recorded": 0.91})]
