"""The nulls: each takes one effect away, so that a claim about the effect must fail.

A cell whose assertion claims an effect is tagged `claim:<null>`. A null holds in the lesson's kernel and in every
Python process that the lesson starts, except that a variable which the lesson itself sets for such a process keeps the
lesson's value: those experiments are the lesson's controls.
"""
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Null:
    """What takes an effect away: environment variables, which outlive `configure_engine`, or a change to a module."""

    env: dict = field(default_factory=dict)
    change: Callable | None = None  # called with the module as soon as it has been imported
    module: str | None = None
    parallel: bool = False  # it takes away work in parallel, as a machine with one core does


def no_hybridize(mxnet):
    """Let `hybridize` do nothing: every network stays imperative."""
    mxnet.gluon.HybridBlock.hybridize = lambda self, *args, **options: None


def no_static(mxnet):
    """Let `hybridize` ignore what it is promised: memory is allocated anew, operators are made anew."""
    hybridize = mxnet.gluon.HybridBlock.hybridize
    promises = "static_alloc", "static_shape"
    mxnet.gluon.HybridBlock.hybridize = lambda self, *args, **options: hybridize(
        self, *args, **{name: value for name, value in options.items() if name not in promises})


def wide_layers(mxnet):
    """Make narrow dense layers sixteen times as wide: their operators then take longer than Python asks for them."""
    make = mxnet.gluon.nn.Dense.__init__
    mxnet.gluon.nn.Dense.__init__ = lambda self, units, *args, **options: make(
        self, 16 * units if units <= 256 else units, *args, **options)


def trace_every_call(mxnet):
    """Trace a hybridized network anew in each call: nothing that Python decided stays decided."""
    block = mxnet.gluon.HybridBlock
    call = block._call_cached_op

    def trace_and_call(self, *args):
        self._clear_cached_op()
        return call(self, *args)

    block._call_cached_op = trace_and_call


def both_branches(mxnet):
    """Let `cond` compute both branches, as `where` does."""
    def replace(module):
        def cond(condition, then, other):
            chosen = module.broadcast_mul(condition, then()), module.broadcast_mul(1 - condition, other())
            return module.broadcast_add(*chosen)

        module.contrib.cond = cond

    replace(mxnet.nd)
    replace(mxnet.sym)


def warm_copies(mxnet):
    """Let a copy of a large array to a device go into the memory that the first such copy took."""
    copyto, places = mxnet.np.ndarray.copyto, {}

    def into_used(self, other):
        if isinstance(other, mxnet.Context) and self.size > 1e7:
            if (self.shape, other) not in places:
                places[self.shape, other] = copyto(self, other)
            other = places[self.shape, other]
        return copyto(self, other)

    mxnet.np.ndarray.copyto = into_used


def one_thread(process):
    """Run operators on one thread in every process that a lesson starts, whatever the lesson sets."""
    launch = process.launch

    def launch_with_one(commands, timeout=60):
        return launch({name: (command, {**variables, "OMP_NUM_THREADS": "1"})
                       for name, (command, variables) in commands.items()}, timeout)

    process.launch = launch_with_one


def no_compile(torch):
    """Let `torch.compile` return the function, or return a decorator that does."""
    torch.compile = lambda model=None, **options: (lambda same: same) if model is None else model


def wait_per_step(mxnet):
    """Let every step of a Trainer wait until the engine has nothing left to do."""
    step = mxnet.gluon.Trainer.step

    def step_and_wait(self, *args, **options):
        step(self, *args, **options)
        mxnet.nd.waitall()

    mxnet.gluon.Trainer.step = step_and_wait


def forgetful_allreduce(helpers):
    """Let `allreduce` leave every array as it is."""
    helpers.allreduce = lambda data: None


def averaged_gradients(helpers):
    """Let `allreduce` average over the devices, as if each had divided its gradient."""
    summing = helpers.allreduce

    def averaging(data):
        summing(data)
        for array in data:
            array[:] = array / len(data)

    helpers.allreduce = averaging


def no_pacing(mxnet):
    """Let Python run ahead: waiting for one array does nothing."""
    mxnet.nd.NDArray.wait_to_read = lambda self: None


def equal_parts(helpers):
    """Let `split_and_load` ignore its weights: every device gets as many rows as the others."""
    split = helpers.split_and_load
    helpers.split_and_load = lambda data, devices, weights=None: split(data, devices)


def rescaled_per_device(mxnet):
    """Let `Trainer.step` divide the summed gradients by the rows of one device, not by those of the whole batch."""
    step = mxnet.gluon.Trainer.step

    def step_per_device(self, batch_size, *args, **options):
        count = len(self._params[0].list_ctx())
        step(self, batch_size / count, *args, **options)

    mxnet.gluon.Trainer.step = step_per_device


def stored_statistics(mxnet):
    """Let batch normalization use its stored statistics always: no row depends on other rows."""
    create = mxnet.gluon.nn.BatchNorm.__init__
    mxnet.gluon.nn.BatchNorm.__init__ = lambda self, *args, **options: create(
        self, *args, **{**options, "use_global_stats": True})


def no_push(mxnet):
    """Let all workers of a distributed store but the first push zeros: what they computed counts for nothing."""
    store = mxnet.kvstore.KVStore

    def pushes_zeros(method):
        def call(self, key, value, *args, **options):
            if self.type.startswith("dist") and self.rank > 0:
                value = [0 * each for each in value] if isinstance(value, (list, tuple)) else 0 * value
            return method(self, key, value, *args, **options)
        return call

    store.push, store.pushpull = pushes_zeros(store.push), pushes_zeros(store.pushpull)


def no_checkpoint(mxnet):
    """Let parameters be neither stored nor loaded."""
    mxnet.gluon.Block.save_parameters = mxnet.gluon.Block.load_parameters = lambda self, *args, **options: None


NULLS = {
    "serial-engine": Null({"MXNET_ENGINE_TYPE": "NaiveEngine"}, parallel=True),
    "one-workspace": Null({"MXNET_CPU_TEMP_COPY": "1"}, parallel=True),
    "wait-per-step": Null(change=wait_per_step, module="mxnet"),
    "warm-copies": Null(change=warm_copies, module="mxnet"),
    "one-thread": Null(change=one_thread, module="d2lhelpers.process", parallel=True),
    "no-hybridize": Null(change=no_hybridize, module="mxnet"),
    "no-static": Null(change=no_static, module="mxnet"),
    "wide-layers": Null(change=wide_layers, module="mxnet"),
    "trace-every-call": Null(change=trace_every_call, module="mxnet"),
    "both-branches": Null(change=both_branches, module="mxnet"),
    "forgetful-allreduce": Null(change=forgetful_allreduce, module="d2lhelpers.mxnet"),
    "averaged-gradients": Null(change=averaged_gradients, module="d2lhelpers.mxnet"),
    "no-pacing": Null(change=no_pacing, module="mxnet", parallel=True),
    "equal-parts": Null(change=equal_parts, module="d2lhelpers.mxnet"),
    "rescaled-per-device": Null(change=rescaled_per_device, module="mxnet"),
    "stored-statistics": Null(change=stored_statistics, module="mxnet"),
    "no-push": Null(change=no_push, module="mxnet"),
    "no-checkpoint": Null(change=no_checkpoint, module="mxnet"),
    "no-compile": Null(change=no_compile, module="torch"),
}


def claims(cell):
    """Return the names of the nulls in a cell's tags."""
    return {tag[len("claim:"):] for tag in cell.metadata.get("tags", []) if tag.startswith("claim:")}


def apply(null):
    """Make a null hold in this process, as it starts."""
    def outlive(helpers):
        configure = helpers.configure_engine

        def configure_and_keep(*args, **options):
            settings = configure(*args, **options)
            os.environ.update(null.env)
            return settings

        helpers.configure_engine = configure_and_keep

    sys.meta_path[:0] = [_AfterImport("d2lhelpers.mxnet", outlive), _AfterImport(null.module, null.change)]


class _AfterImport:
    """Finds one module as the other finders do, and has it changed once it is imported."""

    def __init__(self, module, change):
        self.module, self.change = module, change

    def find_spec(self, name, *where):
        if name != self.module:
            return None
        others = sys.meta_path[sys.meta_path.index(self) + 1:]
        if spec := next(filter(None, (finder.find_spec(name, *where) for finder in others)), None):
            execute = spec.loader.exec_module
            spec.loader.exec_module = lambda module: (execute(module), self.change(module))
        return spec
