"""What is raced in MXNet, whose engine is configured before this module is imported."""
import subprocess
import sys
import time

import mxnet as mx
from collect import COUNTS, OURS, QUICK, SIZES, race, record, written
from d2l import mxnet as d2l
from mxnet import autograd, gluon, np, npx

from d2lhelpers import Benchmark, Timeline, allreduce, devices, measure, split_and_load

npx.set_np()
BOTH = devices(2, "cpu")


def textbook(data):
    """All-reduce as the textbook does it."""
    for array in data[1:]:
        data[0][:] += array.as_in_ctx(data[0].ctx)
    for array in data[1:]:
        data[0].copyto(array)


def by_store(kind, groups):
    """Return a function that all-reduces lists of copies by a KVStore, one key per list."""
    store = mx.kv.create(kind)
    keys = [str(number) for number in range(len(groups))]
    for key, copies in zip(keys, groups, strict=True):
        store.init(key, copies[0])
    if len(groups) == 1:
        keys, groups = keys[0], groups[0]
    return lambda: store.pushpull(keys, groups, out=groups)


def all_reduce_of(count, size, repeat):
    """Race one array per device."""
    places = devices(count, "cpu")
    data, spare, tiny = ([np.zeros(length, ctx=place) for place in places] for length in (size // 4, size // 4, 1))

    def copy():
        for array, other in zip(data, spare, strict=True):
            array.copyto(other)

    return race("all-reduce in MXNet", f"{count} devices", written(size), {
        "ours": lambda: allreduce(data), "textbook loop": lambda: textbook(data),
        "KVStore local": by_store("local", [data]), "KVStore device": by_store("device", [data]),
        "limit: a copy": copy, "limit: one element": lambda: allreduce(tiny)}, repeat, sync=npx.waitall)


def all_reduce():
    """Race all sizes on all numbers of devices."""
    return [all_reduce_of(count, size, repeat) for count in COUNTS for size, repeat in SIZES.items()]


def buckets_of(name, net):
    """Race the all-reduce of all gradients of a network, in one bucket per device, against one by one."""
    net.initialize(force_reinit=True)
    net(np.zeros((2, 1, 28, 28)))
    shapes = [param.shape for param in net.collect_params().values() if param.grad_req != "null"]
    pairs = [[np.zeros(shape, ctx=place) for place in BOTH] for shape in shapes]
    buckets = [np.zeros(sum(array.size for array, _ in pairs), ctx=place) for place in BOTH]

    def one_by_one(function):
        def run():
            for pair in pairs:
                function(pair)
        return run

    return race("buckets", "", f"{name}, {len(shapes)} arrays", {
        "ours": lambda: allreduce(buckets), "textbook loop, one by one": one_by_one(textbook),
        "KVStore local": by_store("local", pairs), "KVStore device": by_store("device", pairs),
        "ours, one by one": one_by_one(allreduce)}, 25, sync=npx.waitall)


def gradients():
    """Race the gradients of a small and of a large network."""
    return [buckets_of("LeNet", d2l.LeNet().net), buckets_of("ResNet-18", d2l.resnet18(10))]


def split():
    """Race splitting a batch."""
    records, tiny = [], np.zeros((2, 1))
    for rows in [256] if QUICK else [256, 4096, 100_000]:
        data = np.zeros((rows, 64))
        contestants = {"ours": lambda data=data: split_and_load(data, BOTH),
                       "gluon.utils": lambda data=data: gluon.utils.split_and_load(data, BOTH),
                       "limit: one element": lambda: split_and_load(tiny, BOTH)}
        records.append(race("split", "MXNet", f"{rows:,} rows", contestants, 100, sync=npx.waitall))
    return records


def ten_calls(operator, shape, places):
    """Return a function that queues an operator ten times for each place."""
    arrays = [np.random.uniform(size=shape, ctx=place) for place in places]

    def run():
        for array in arrays:
            for _ in range(10):
                operator(array)
    return run


def training_step(net, rows, places, compiled=True):
    """Return a function that trains a network on one batch, shared by the devices."""
    X, y = np.random.uniform(size=(rows, 1, 28, 28)), np.zeros(rows)
    net.initialize(mx.init.Xavier(), ctx=places, force_reinit=True)
    for place in places:
        net(X[:2].as_in_ctx(place))
    if compiled:
        net.hybridize(static_alloc=True, static_shape=True)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.001}, kvstore="device")
    loss = gluon.loss.SoftmaxCrossEntropyLoss()

    def step():
        parts = zip(split_and_load(X, places), split_and_load(y, places), strict=True)
        with autograd.record():
            losses = [loss(net(features), labels) for features, labels in parts]
        for each in losses:
            each.backward()
        trainer.step(rows)
    return step


def two_devices(work, settings):
    """Race work that two devices share against all of it on one."""
    pair = [[BOTH[0]] * 2, BOTH]
    if work == "product":
        one, two = (ten_calls(lambda x: np.dot(x, x), (600, 600), places) for places in pair)
    elif work == "training LeNet":
        one, two = (training_step(d2l.LeNet().net, 256, places, settings == OURS) for places in (BOTH[:1], BOTH))
    else:
        one, two = (training_step(d2l.resnet18(10), 128, places, settings == OURS) for places in (BOTH[:1], BOTH))
    alone, shared = (ten_calls(np.exp, 500_000, places) for places in pair)
    times = measure({"one": one, "two": two, "limit, one": alone, "limit, two": shared},
                    repeat=2 if QUICK else 9, sync=npx.waitall)
    others = {f"one device, {settings}": times.ratio("one", "two")}
    if settings == OURS:
        others["limit: element-wise"] = times.ratio("limit, one", "limit, two")
    return [record("two devices", "", work, times["two"].median, others)]


def hybridized():
    """Race a compiled network against the same one run imperatively."""
    def forward(compiled):
        net, nn = gluon.nn.HybridSequential(), gluon.nn
        net.add(nn.Dense(256, activation="relu"), nn.Dense(128, activation="relu"), nn.Dense(2))
        net.initialize()
        if compiled:
            net.hybridize(static_alloc=True, static_shape=True)
        return ten_calls(net, (1, 512), [BOTH[0]] * 10)

    return [race("compiling", "", "hybridize: dense layers", {"ours": forward(True), "without it": forward(False)}, 15,
                 sync=npx.waitall)]


def helpers():
    """Race what the helpers cost: importing them, a Benchmark block, recording a Timeline."""
    def importing(module):
        program = f"import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
        return lambda: float(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True).stdout)

    def block(kind):
        def run():
            start = time.perf_counter()
            for _ in range(200):
                with kind():
                    pass
            return (time.perf_counter() - start) / 200
        return run

    step = training_step(d2l.LeNet().net, 256, BOTH)

    def plain():
        start = time.perf_counter()
        step()
        npx.waitall()
        return time.perf_counter() - start

    def recorded():
        with Timeline() as timeline:
            step()
        return timeline.end

    races = {"import": ({"ours": importing("d2lhelpers"), "import d2l.mxnet": importing("d2l.mxnet")}, 5),
             "a Benchmark block": ({"ours": block(Benchmark), "d2l.Benchmark": block(d2l.Benchmark)}, 25),
             "a Timeline of a training step": ({"ours": recorded, "the step alone": plain}, 25)}
    return [race("helpers", "", work, contestants, repeat, sync=npx.waitall, reported=True)
            for work, (contestants, repeat) in races.items()]
