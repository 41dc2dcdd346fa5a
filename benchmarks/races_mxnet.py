"""The races in MXNet, whose engine is configured before this module is imported."""
import cProfile
from functools import partial

import collect
from collect import COUNTS, LARGE, LIMIT, OURS, SIZES
from d2l import mxnet as d2l
from mxnet import autograd, kv, np, npx
from mxnet.gluon import Trainer, loss, nn, utils

from d2lhelpers import Timeline, allreduce, devices, measure, split_and_load

npx.set_np()
BOTH = devices(2, "cpu")
HAND_OVER = {"_imperative_invoke", "pushpull"}  # MXNet's functions in Python that hand work to the engine
race = partial(collect.race, sync=npx.waitall)


def for_each(function, *lists):
    """Call a function for each item of a list, or of several."""
    for items in zip(*lists, strict=True):
        function(*items)


def textbook(data):
    """All-reduce as the textbook does it."""
    for array in data[1:]:
        data[0][:] += array.as_in_ctx(data[0].ctx)
    for array in data[1:]:
        data[0].copyto(array)


def by_store(kind, groups):
    """Return a function that all-reduces groups of arrays by a KVStore, one key per group, as its best user would."""
    store = kv.create(kind)
    groups = [[array.as_nd_ndarray() for array in group] for group in groups]  # it takes longer for those of mx.np
    for key, group in enumerate(groups):
        store.init(key, group[0])
    if len(groups) == 1:
        return partial(store.pushpull, 0, groups[0])
    return partial(store.pushpull, list(range(len(groups))), groups)


def count_calls(function):
    """Return how often Python hands work to the engine; a Timeline, which counts this, too, takes fewer devices."""
    profile = cProfile.Profile()
    profile.runcall(function)
    npx.waitall()
    entries = [entry for entry in profile.getstats() if not isinstance(entry.code, str)]  # text is a built-in function
    return sum(entry.callcount for entry in entries if entry.code.co_name in HAND_OVER)


def all_reduce():
    """Race one array per device."""
    for count in COUNTS:
        places = devices(count, "cpu")
        for size, length, repeat in SIZES:
            data = [np.zeros(length, ctx=place) for place in places]
            spare = [array.copy() for array in data]
            tiny = [np.zeros(1, ctx=place) for place in places]
            copy = partial(for_each, np.ndarray.copyto, data, spare)
            contestants = {
                "our all-reduce in MXNet": partial(allreduce, data),
                "textbook loop": partial(textbook, data),
                "KVStore local": by_store("local", [data]),
                "KVStore device": by_store("device", [data]),
                LIMIT: copy if length >= LARGE else partial(allreduce, tiny),
            }
            for row in race(f"{count} devices", size, contestants, repeat):
                ours_and_other = contestants[row["ours"]], contestants[row["other"]]
                yield {**row, "calls": [count_calls(contestant) for contestant in ours_and_other]}


def buckets():
    """Race all gradients of a network in one bucket per device."""
    for name, net in {"LeNet": d2l.LeNet().net, "ResNet-18": d2l.resnet18(10)}.items():
        net.initialize(force_reinit=True)
        net(np.zeros((2, 1, 28, 28)))
        params = [param for param in net.collect_params().values() if param.grad_req != "null"]
        pairs = [[np.zeros(param.shape, ctx=place) for place in BOTH] for param in params]
        length = sum(array.size for array, _ in pairs)
        contestants = {
            "one bucket": partial(allreduce, [np.zeros(length, ctx=place) for place in BOTH]),
            "KVStore local": by_store("local", pairs),
            "KVStore device": by_store("device", pairs),
            "our all-reduce, one by one": partial(for_each, allreduce, pairs),
        }
        yield from race("2 devices", f"{name}, {len(pairs)} arrays", contestants, 25)


def split():
    """Race splitting a batch."""
    for rows in (256, 4096, 100_000):
        data = np.zeros((rows, 64))
        contestants = {
            "our split_and_load": partial(split_and_load, data, BOTH),
            "gluon.utils": partial(utils.split_and_load, data, BOTH),
            "limit: one element": partial(split_and_load, np.zeros((2, 1)), BOTH),
        }
        yield from race("MXNet", f"{rows:,} rows", contestants, 100)


def training_step(places, settings):
    """Return a function that trains LeNet on one batch, which the devices share."""
    X, y = np.random.uniform(size=(256, 1, 28, 28)), np.zeros(256)
    net = d2l.LeNet().net
    net.initialize(ctx=places, force_reinit=True)
    if settings == OURS:
        net.hybridize(static_alloc=True, static_shape=True)
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 0.001}, kvstore="device")
    entropy = loss.SoftmaxCrossEntropyLoss()

    def step():
        parts = zip(split_and_load(X, places), split_and_load(y, places), strict=True)
        with autograd.record():
            losses = [entropy(net(features), labels) for features, labels in parts]
        autograd.backward(losses)
        trainer.step(256)
    return step


def timeline():
    """Race a training step against the same step, recorded."""
    step = training_step(BOTH, OURS)

    def recorded():
        with Timeline() as timeline:
            step()
        return timeline.end

    def alone():
        return measure(step, repeat=1, warmup=0, sync=npx.waitall).median

    contestants = {"the recorded step": recorded, "the step alone": alone}
    return race("2 devices", "training LeNet", contestants, 25, reported=True)


def two_devices(settings):
    """Race work that two devices share against all of it on one; element-wise operators show what is possible."""
    works = {"element-wise: the limit": (np.exp, 500_000), "product": (lambda x: np.dot(x, x), (600, 600))}
    for work, (operator, shape) in works.items():
        arrays = [np.random.uniform(size=shape, ctx=place) for place in BOTH]
        contestants = {
            "two devices": partial(for_each, operator, 10 * arrays),
            "one device": partial(for_each, operator, 20 * arrays[:1]),
        }
        yield from race(settings, work, contestants, 9)
    contestants = {
        "two devices": training_step(BOTH, settings),
        "one device": training_step(BOTH[:1], settings),
    }
    yield from race(settings, "training LeNet", contestants, 9)


def hybridized():
    """Race a compiled network against the same one run imperatively."""
    nets = {"compiled code": nn.HybridSequential(), "not compiled": nn.HybridSequential()}
    for net in nets.values():
        net.add(nn.Dense(256, activation="relu"), nn.Dense(128, activation="relu"), nn.Dense(2))
        net.initialize()
    nets["compiled code"].hybridize(static_alloc=True, static_shape=True)
    rows = 100 * [np.random.uniform(size=(1, 512))]
    contestants = {label: partial(for_each, net, rows) for label, net in nets.items()}
    return race("hybridize", "dense layers", contestants, 15)
