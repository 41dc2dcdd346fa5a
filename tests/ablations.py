"""The ablations: each takes one effect away, so that a claim about the effect must fail.

A cell whose assertion claims an effect is tagged `claim:<ablation>`. An ablation applies in the lesson's kernel and in
every Python process that the lesson starts. But a variable that the lesson itself sets for such a process keeps the
lesson's value, because those experiments are the lesson's controls.
"""
import functools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Ablation:
    """What takes an effect away: environment variables, set again after `configure_engine`, or a change to a module."""

    env: dict = field(default_factory=dict)
    change: Callable | None = None  # called with the module as soon as it has been imported
    module: str | None = None
    parallel: bool = False  # whether it prevents parallel work, as a machine with one core does


ABLATIONS = {
    "serial-engine": Ablation({"MXNET_ENGINE_TYPE": "NaiveEngine"}, parallel=True),
    "one-workspace": Ablation({"MXNET_CPU_TEMP_COPY": "1"}, parallel=True),
    "own-buffers": Ablation({"NNVM_EXEC_MATCH_RANGE": "0"}),  # in MXNet's plans each array has memory of its own
    "fresh-memory": Ablation({"MALLOC_MMAP_THRESHOLD_": "65536"}),  # glibc returns every larger array to the system
    "kept-memory": Ablation({"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**30)}),  # glibc returns nothing
}


def changes(module, parallel=False):
    """Make the decorated function an ablation that changes `module`; its name is the function's, with hyphens."""
    def register(change):
        ABLATIONS[change.__name__.replace("_", "-")] = Ablation(change=change, module=module, parallel=parallel)
    return register


def wrap(owner, name, around):
    """Replace the function or method `name` of `owner` with `around(the_old_one, *arguments)`."""
    old = getattr(owner, name)
    setattr(owner, name, lambda *args, **options: around(old, *args, **options))


@changes("mxnet")
def no_hybridize(mxnet):
    """Let `hybridize` do nothing: every network stays imperative."""
    wrap(mxnet.gluon.HybridBlock, "hybridize", lambda hybridize, net, *args, **options: None)


@changes("mxnet")
def no_static(mxnet):
    """Let `hybridize` ignore its static options: each call allocates its memory and makes its operators anew."""
    wrap(mxnet.gluon.HybridBlock, "hybridize", lambda hybridize, net, *args, static_alloc=False, static_shape=False,
         **options: hybridize(net, *args, **options))


@changes("mxnet")
def wide_layers(mxnet):
    """Make narrow dense layers so much wider that their operators take far longer than Python needs to ask for them."""
    def make_wider(make, net, units, *args, in_units=0, **options):
        factor = widening(mxnet) if units <= 256 and not in_units else 1  # a given number of inputs would not fit
        make(net, factor * units, *args, in_units=in_units, **options)

    wrap(mxnet.gluon.nn.Dense, "__init__", make_wider)


@functools.cache
def widening(mxnet):
    """Return how much wider: at least 12 times, and so much that two layers take 120 times as long as one dispatch."""
    from d2lhelpers import measure

    x = mxnet.np.ones((1, 512))
    dispatch = measure(lambda: [x + x for _ in range(10)], repeat=50).median / 10
    mxnet.nd.waitall()

    def two_layers(first, second):
        return x.dot(first).dot(second)

    for factor in (12, 18, 27, 40):
        first = mxnet.np.ones((512, 256 * factor))
        second = mxnet.np.ones((256 * factor, 128 * factor))
        layers = functools.partial(two_layers, first, second)
        if measure(layers, repeat=20, sync=mxnet.nd.waitall).median > 120 * dispatch:
            break
    return factor


@changes("mxnet")
def no_mirroring(mxnet):
    """Let no operator be marked as one to recompute."""
    wrap(mxnet.sym.Symbol, "_set_attr", lambda set_attr, symbol, force_mirroring=None, **attributes:
         set_attr(symbol, **attributes))


@changes("mxnet")
def trace_every_call(mxnet):
    """Trace a hybridized network anew in each call, so that Python decides everything again."""
    def trace_and_call(call, net, *args):
        net._clear_cached_op()
        return call(net, *args)

    wrap(mxnet.gluon.HybridBlock, "_call_cached_op", trace_and_call)


@changes("mxnet")
def both_branches(mxnet):
    """Let `cond` compute both branches, as `where` does."""
    for module in (mxnet.nd, mxnet.sym):
        module.contrib.cond = lambda condition, then, other, F=module: F.broadcast_add(
            F.broadcast_mul(condition, then()), F.broadcast_mul(1 - condition, other()))


@changes("mxnet")
def warm_copies(mxnet):
    """Let every copy of a large array to a device reuse the memory of the first such copy."""
    places = {}

    def into_used(copyto, array, other):
        if isinstance(other, mxnet.Context) and array.size > 1e7:
            if (array.shape, other) not in places:
                places[array.shape, other] = copyto(array, other)
            other = places[array.shape, other]
        return copyto(array, other)

    wrap(mxnet.np.ndarray, "copyto", into_used)


@changes("mxnet")
def wait_per_step(mxnet):
    """Let every step of a Trainer wait until the engine has nothing left to do."""
    def step_and_wait(step, *args):
        step(*args)
        mxnet.nd.waitall()

    wrap(mxnet.gluon.Trainer, "step", step_and_wait)


@changes("mxnet", parallel=True)
def no_pacing(mxnet):
    """Let Python run ahead: waiting for one array does nothing."""
    wrap(mxnet.nd.NDArray, "wait_to_read", lambda wait, array: None)


@changes("mxnet")
def no_accumulation(mxnet):
    """Let no gradients add up: the first device replaces them, the others drop them, so that no pass there waits."""
    def attach_to_replace(attach, array, grad_req="write"):
        if grad_req == "write" or array.ctx.device_id == 0:
            attach(array)

    def zeros_if_dropped(array):
        found = grad.fget(array)
        return mxnet.np.zeros_like(array) if found is None else found

    grad = mxnet.np.ndarray.grad
    mxnet.np.ndarray.grad = property(zeros_if_dropped)
    wrap(mxnet.np.ndarray, "attach_grad", attach_to_replace)
    wrap(mxnet.np.ndarray, "backward", lambda backward, *args: backward(*args, retain_graph=True))


@changes("mxnet")
def rescaled_per_device(mxnet):
    """Let `Trainer.step` divide the summed gradients by the rows of one device, not by those of the whole batch."""
    wrap(mxnet.gluon.Trainer, "step", lambda step, trainer, batch_size:
         step(trainer, batch_size / len(trainer._params[0].list_ctx())))


@changes("mxnet")
def stored_statistics(mxnet):
    """Let batch normalization always use its stored statistics, so that no row depends on other rows."""
    wrap(mxnet.gluon.nn.BatchNorm, "__init__", lambda make, net, *args, **options:
         make(net, *args, **{**options, "use_global_stats": True}))


@changes("mxnet")
def no_push(mxnet):
    """Let all workers of a distributed store except the first push zeros, so that their work counts for nothing."""
    def push_zeros(push, store, key, value, *args, **options):
        if store.type.startswith("dist") and store.rank > 0:
            value = [0 * each for each in value] if isinstance(value, (list, tuple)) else 0 * value
        return push(store, key, value, *args, **options)

    wrap(mxnet.kvstore.KVStore, "push", push_zeros)
    wrap(mxnet.kvstore.KVStore, "pushpull", push_zeros)


@changes("mxnet")
def no_compression(mxnet):
    """Let `Trainer` ignore compression: gradients travel whole."""
    wrap(mxnet.gluon.Trainer, "__init__", lambda make, *args, compression_params=None, **rest: make(*args, **rest))


@changes("mxnet")
def no_async(mxnet):
    """Let every distributed store wait for all its workers."""
    wrap(mxnet.kv, "create", lambda create, kind="local": create(kind.replace("async", "sync")))


@changes("mxnet")
def no_checkpoint(mxnet):
    """Let parameters, and an optimizer's state, be neither stored nor loaded."""
    mxnet.gluon.Block.save_parameters = lambda self, *args, **options: None
    mxnet.gluon.Block.load_parameters = lambda self, *args, **options: None
    mxnet.gluon.Trainer.save_states = lambda self, path: None
    mxnet.gluon.Trainer.load_states = lambda self, path: None


@changes("mxnet")
def no_momentum(mxnet):
    """Let SGD ignore its momentum: it has no state that a checkpoint could miss."""
    def make_without(make, sgd, *args, momentum=0.0, **options):
        make(sgd, *args, **options)

    wrap(mxnet.optimizer.SGD, "__init__", make_without)


@changes("mxnet.gluon.data.dataloader")
def no_loader_threads(dataloader):
    """Let a Gluon `DataLoader` that would load in threads load in the loop that asks for the batch."""
    def make_without(make, loader, *args, num_workers=0, thread_pool=False, **options):
        make(loader, *args, num_workers=0 if thread_pool else num_workers, **options)

    wrap(dataloader.DataLoader, "__init__", make_without)


@changes("mxnet.gluon.data.dataloader")
def no_prefetch(dataloader):
    """Let the threads of a Gluon `DataLoader` be asked for a batch when the loop asks for it, and never before."""
    def make_without(make, loader, *args, prefetch=None, thread_pool=False, **options):
        make(loader, *args, prefetch=0 if thread_pool else prefetch, thread_pool=thread_pool, **options)

    wrap(dataloader.DataLoader, "__init__", make_without)


@changes("mxnet.gluon.data.dataloader")
def own_seeds(dataloader):
    """Let each worker process of a Gluon `DataLoader` have seeds of its own."""
    def start_with_seed(start, *args):
        start(*args)
        sys.modules["numpy"].random.seed(os.getpid())
        sys.modules["mxnet"].random.seed(os.getpid())

    wrap(dataloader, "_worker_initializer", start_with_seed)


@changes("d2lhelpers.process.fresh", parallel=True)
def one_thread(process):
    """Run operators on one thread in every process that a lesson starts, whatever the lesson sets."""
    def launch_with_one_thread(launch, commands, timeout=60):
        changed = {}
        for name, (command, variables) in commands.items():
            changed[name] = command, {**variables, "OMP_NUM_THREADS": "1"}
        return launch(changed, timeout)

    wrap(process, "launch", launch_with_one_thread)


@changes("d2lhelpers.mxnet.data_parallel")
def forgetful_allreduce(helpers):
    """Let `allreduce` leave every array as it is."""
    helpers.allreduce = lambda data: None


@changes("d2lhelpers.mxnet.data_parallel")
def averaged_gradients(helpers):
    """Let `allreduce` average over the devices, as if each had divided its gradient."""
    def average(allreduce, data):
        allreduce(data)
        for array in data:
            array[:] = array / len(data)

    wrap(helpers, "allreduce", average)


@changes("d2lhelpers.mxnet.data_parallel")
def equal_parts(helpers):
    """Let `split_and_load` ignore its weights, so that all devices get the same number of rows."""
    wrap(helpers, "split_and_load", lambda split, data, devices, weights=None: split(data, devices))


@changes("numpy")
def one_size(numpy):
    """Let every float32 array of ones with one axis have the same few numbers, which a cache holds."""
    def few(ones, shape, dtype=None, *args, **options):
        return ones(2**14 if isinstance(shape, int) and dtype == "float32" else shape, dtype, *args, **options)

    wrap(numpy, "ones", few)


@changes("numpy.random")
def in_order(random):
    """Let a random generator return what it should mix as it was."""
    class Generator:
        def permutation(self, values):
            return values

    random.default_rng = lambda seed=None: Generator()


@changes("numpy")
def long_rows(numpy):
    """Let every grid of numbers in order be one long row."""
    class Numbers(numpy.ndarray):
        def reshape(self, *shape):
            whole = numpy.asarray(self)
            return whole.reshape(1, -1) if len(shape) == 2 and min(shape) > 0 else whole.reshape(*shape)

    wrap(numpy, "arange", lambda arange, *args, **options: arange(*args, **options).view(Numbers))


@changes("ast")
def no_definitions(ast):
    """Let a program lose the definitions before its last line, so that no call can be replaced."""
    def last_line(parse, *args, **options):
        tree = parse(*args, **options)
        if isinstance(tree, ast.Module) and any(isinstance(each, ast.FunctionDef) for each in tree.body):
            tree.body = tree.body[-1:]
        return tree

    wrap(ast, "parse", last_line)


@changes("torch")
def no_compile(torch):
    """Let `torch.compile` return the function as it is."""
    def compile_nothing(model=None, **options):
        if model is None:  # it is used as a decorator with options
            return lambda function: function
        return model

    torch.compile = compile_nothing


@changes("torch")
def no_product(torch):
    """Let `@` return at once, as if the product were still to be computed."""
    wrap(torch.Tensor, "__matmul__", lambda product, one, other: one)


@changes("torch")
def static_shapes(torch):
    """Let `torch.compile` make one graph per shape, and never one for any number of rows."""
    wrap(torch, "compile", lambda compile, *args, **options: compile(*args, **{**options, "dynamic": False}))


@changes("torch._dynamo.config")
def no_limit(config):
    """Let `torch.compile` recompile a function as often as its guards fail."""
    config.recompile_limit = 1000


@changes("torch.compiler")
def all_guards(compiler):
    """Let no stance skip guards."""
    wrap(compiler, "set_stance", lambda stance, *args, skip_guard_eval_unsafe=False, **options:
         stance(*args, **options))


@changes("torch.distributed.fsdp")
def replicated(fsdp):
    """Let `fully_shard` shard over groups of one rank: every rank holds, and averages, everything."""
    from torch.distributed.device_mesh import init_device_mesh

    def shard_over_one(shard, net, mesh, **options):
        groups_of_one = init_device_mesh("cpu", (mesh.size(), 1), mesh_dim_names=("replicate", "shard"))
        return shard(net, mesh=groups_of_one, **options)

    wrap(fsdp, "fully_shard", shard_over_one)


@changes("torch.distributed.fsdp")
def always_reduce(fsdp):
    """Let FSDP2 reduce the gradients in every backward pass, whatever it was told."""
    fsdp.FSDPModule.set_requires_gradient_sync = lambda *args, **options: None


@changes("torch.distributed.fsdp")
def one_precision(fsdp):
    """Let FSDP2 ignore the types that it was told: everything is in the parameters' own type."""
    wrap(fsdp, "MixedPrecisionPolicy", lambda policy, **types: policy())


@changes("torch.utils.checkpoint")
def no_recompute(module):
    """Let activation checkpointing keep everything, and recompute nothing."""
    wrap(module, "checkpoint", lambda checkpoint, function, *args, **options: function(*args))


@changes("torch")
def whole_batch(torch):
    """Let `chunk` return the whole tensor as its only part: there are no micro-batches."""
    torch.Tensor.chunk = lambda tensor, *args, **options: (tensor,)


@changes("torch")
def no_autocast(torch):
    """Let `autocast` change no type."""
    wrap(torch.autocast, "__init__", lambda make, context, *args, enabled=True, **options:
         make(context, *args, enabled=False, **options))


@changes("torch")
def no_scaling(torch):
    """Let a gradient scaler scale nothing, and skip no step."""
    wrap(torch.amp.GradScaler, "__init__", lambda make, scaler, *args, enabled=True, **options:
         make(scaler, *args, enabled=False, **options))


@changes("torch.distributed")
def no_exchange(dist):
    """Let a reduce-scatter reduce nothing: each rank keeps its own gradients."""
    def keep_own(output, input, **_):
        own = input.view(dist.get_world_size(), -1)[dist.get_rank()]
        return output.copy_(own.view_as(output))

    dist.all_to_all_single = lambda output, input: output.copy_(input)
    dist.reduce_scatter_single = keep_own


@changes("concurrent.futures.thread", parallel=True)
def no_threads(thread):
    """Let a pool of threads make each call at once, in the thread that submits it."""
    def call_at_once(submit, pool, function, *args, **options):
        future = thread._base.Future()
        try:
            future.set_result(function(*args, **options))
        except Exception as error:
            future.set_exception(error)
        return future

    wrap(thread.ThreadPoolExecutor, "submit", call_at_once)


@changes("torch.utils.data.dataloader")
def no_workers(dataloader):
    """Let every `DataLoader` load in the process that asks for the batch."""
    wrap(dataloader.DataLoader, "__init__", lambda make, loader, *args, num_workers=0, multiprocessing_context=None,
         **options: make(loader, *args, **options))


@changes("torch")
def no_sum(torch):
    """Let an all-reduce between processes leave each tensor as it is: the parts of a split layer are never added."""
    from torch.distributed import _functional_collectives as functional
    torch.distributed.all_reduce = lambda tensor, *args, **options: None
    functional.all_reduce = lambda tensor, *args, **options: tensor


@changes("torch.distributed")
def no_gather(distributed):
    """Let an all-gather collect zeros."""
    distributed.all_gather = lambda parts, part: [each.zero_() for each in parts]


@changes("torch.distributed")
def no_dispatch(distributed):
    """Let an all-to-all of rows deliver zeros; numbers of rows still arrive."""
    wrap(distributed, "all_to_all_single", lambda exchange, output, rows, *sizes:
         output.zero_() if sizes else exchange(output, rows))


@changes("torch")
def no_shards(torch):
    """Let `Tensor.chunk` give all of a tensor in place of each part of it."""
    torch.Tensor.chunk = lambda tensor, count, dim=0: [tensor] * count


@changes("torch.nn.functional")
def no_dropout(functional):
    """Let dropout pass on what it is given, and keep nothing."""
    import torch
    functional.dropout = lambda x, *args, **options: x
    torch.native_dropout = lambda x, *args: (x, None)


@changes("torch.distributed")
def deaf(_):
    """Let no process but the agent take notice of SIGTERM: it ends the process that gets it."""
    import signal
    wrap(signal, "signal", lambda register, number, handler:
         None if number == signal.SIGTERM else register(number, handler))


@changes("torch.distributed.tensor")
def all_replicated(tensors):
    """Let `distribute_tensor` give every rank all of a tensor that is no parameter, whatever the placement."""
    from torch.nn import Parameter

    def whole(distribute, data, mesh, placements, **options):
        return distribute(data, mesh, placements if isinstance(data, Parameter) else [tensors.Replicate()], **options)

    wrap(tensors, "distribute_tensor", whole)


@changes("torch.distributed.tensor.parallel")
def all_tokens(parallel):
    """Let a plan split no tokens: every rank normalizes all that it has, and layers exchange as if it had all."""
    for style in (parallel.ColwiseParallel, parallel.RowwiseParallel):
        wrap(style, "__init__", lambda make, own, **options: make(own))
    parallel.SequenceParallel._apply = lambda style, module, mesh: module


@changes("torch.distributed.pipelining.schedules")
def one_micro_batch(schedules):
    """Let a pipeline run each batch in one piece."""
    wrap(schedules.PipelineScheduleSingle, "__init__", lambda make, schedule, stage, n_microbatches, *args, **options:
         make(schedule, stage, 1, *args, **options))


@changes("torch.distributed.pipelining")
def gpipe_only(pipelining):
    """Let every pipeline do all forward passes first."""
    pipelining.Schedule1F1B = pipelining.ScheduleGPipe


@changes("torch.distributed.pipelining.schedules")
def all_forward_first(schedules):
    """Let every schedule be GPipe: all forward passes, then each backward pass in one go, in the last stages first."""
    def gpipe(order, schedule, rank):
        passes = []
        for action in order(schedule, rank):
            passes += (action and action.sub_actions) or [action]

        def place(each):
            stage, kind, part, _ = each
            return (0, stage, part) if kind == "F" else (1, -stage, part, kind == "W")

        return sorted((each for each in passes if each), key=place)

    for name in ("Interleaved1F1B", "InterleavedZeroBubble", "ZBVZeroBubble", "DualPipeV"):
        wrap(getattr(schedules, f"Schedule{name}"), "_calculate_single_rank_operations", gpipe)
    schedules.Schedule1F1B = schedules.ScheduleGPipe


@changes("d2lhelpers.torch.pipeline")
def whole_backward(pipeline):
    """Let a replay know whole backward passes only: each I computes the gradients of the weights, too."""
    def merged(replay, record, units):
        whole = []
        for passes in record:
            split = {(each.part, each.stage) for each in passes if each.kind == "W"}
            whole.append([each._replace(kind="B") if each.kind == "I" and (each.part, each.stage) in split else each
                          for each in passes if each.kind != "W"])
        return replay(whole, {**units, "B": units.get("B", 2 * units["F"])})

    wrap(pipeline, "replay", merged)


@changes("torch")
def no_split(torch):
    """Let `autograd.grad` compute the gradients of all tensors, whichever it is asked for, as `backward` does."""
    def all_gradients(grad, outputs, inputs, gradients=None, grad_outputs=None, **options):
        gradients = grad_outputs if gradients is None else gradients
        torch.autograd.backward(outputs, gradients, retain_graph=True)
        return grad(outputs, inputs, gradients, **{**options, "retain_graph": True})

    wrap(torch.autograd, "grad", all_gradients)


@changes("torch")
def no_allreduce(torch):
    """Let `all_reduce` do nothing, and let DistributedDataParallel never send gradients."""
    torch.distributed.all_reduce = lambda tensor, *args, **options: None
    torch.nn.parallel.DistributedDataParallel.require_backward_grad_sync = property(lambda ddp: False, lambda *_: None)


@changes("torch")
def one_bucket(torch):
    """Let DistributedDataParallel put all gradients into one bucket, whatever size the lesson asks for."""
    wrap(torch.nn.parallel.DistributedDataParallel, "__init__", lambda make, *args, bucket_cap_mb=None, **options:
         make(*args, bucket_cap_mb=1000, **options))


@changes("torch")
def no_hook(torch):
    """Let DistributedDataParallel ignore communication hooks."""
    torch.nn.parallel.DistributedDataParallel.register_comm_hook = lambda *args: None


@changes("torch.nn.functional")
def mean_of_means(functional):
    """Let `cross_entropy` return the mean over its rows, whatever is asked for: no rank's rows are weighed."""
    wrap(functional, "cross_entropy", lambda loss, *args, reduction="mean", **options: loss(*args, **options))


@changes("torch.nn.functional")
def fixed_rows(functional):
    """Let a mean `cross_entropy` divide the sum by 32, however many rows there are."""
    def divide(loss, *args, reduction="mean", **options):
        total = loss(*args, reduction="sum", **options)
        return total / 32 if reduction == "mean" else total

    wrap(functional, "cross_entropy", divide)


@changes("torch.distributed.algorithms.join")
def no_join(join):
    """Let `Join` do nothing: a rank without a batch makes no all-reduce for the others."""
    class DoNothing(join.Join):
        def __init__(self, *args, **options):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

    join.Join = DoNothing


@changes("torch")
def empty_checkpoint(torch):
    """Let a checkpoint give nothing back: zeros for a tensor, and in a job of torchrun step 0 and nothing to load."""
    def load_nothing(load, *args, **options):
        found = load(*args, **options)
        if torch.is_tensor(found):
            return torch.zeros_like(found)
        return {**found, "done": 0} if "RANK" in os.environ else found

    wrap(torch, "load", load_nothing)
    if "TORCHELASTIC_RESTART_COUNT" in os.environ:
        torch.nn.Module.load_state_dict = lambda net, state: None
        torch.optim.Optimizer.load_state_dict = lambda optimizer, state: None


@changes("torch.distributed.checkpoint")
def blocking_save(checkpoint):
    """Let an asynchronous save write everything before it returns."""
    from concurrent.futures import Future

    def save(_, state, **options):
        done = Future()
        done.set_result(checkpoint.save(state, **options))
        return done

    wrap(checkpoint, "async_save", save)


@changes("torch.distributed")
def no_time_limit(distributed):
    """Let a new group ignore its own time limit."""
    wrap(distributed, "new_group", lambda new_group, *args, timeout=None, **options: new_group(*args, **options))


@changes("torch.distributed")
def no_receive(distributed):
    """Let `recv` throw away what it receives."""
    wrap(distributed, "recv", lambda recv, tensor, *args, **options: recv(tensor.clone(), *args, **options))


@changes("slow_gpt")
def equal_shares(script):
    """Let each process of the script compute equally many rows, whatever its shares are."""
    wrap(script.Training, "mine", lambda mine, training, tensor: tensor.chunk(len(training.shares))[training.rank])


@changes("d2lhelpers.torch.gpt")
def no_cache(gpt):
    """Let a GPT keep no keys and values: with caches, it computes all tokens so far again."""
    import torch

    def recompute(forward, net, ids, caches=None):
        if not caches:
            return forward(net, ids)
        before = getattr(caches[0], "ids", ids.new_zeros(len(ids), caches[0].length))
        caches[0].ids = torch.cat([before, ids], dim=1)
        return forward(net, caches[0].ids)[:, -ids.shape[1]:]

    wrap(gpt.GPT, "forward", recompute)


@changes("d2lhelpers.torch.gpt")
def forgetful_cache(gpt):
    """Let a cache return only what is appended, so that a token does not see those before it."""
    def append_and_forget(append, cache, keys, values):
        append(cache, keys, values)
        return keys, values

    wrap(gpt.Cache, "append", append_and_forget)


@changes("d2lhelpers.torch.gpt")
def one_by_one(gpt):
    """Let a GPT compute the rows of a batch one after the other."""
    import torch

    def each_row(forward, net, ids, caches=None):
        if len(ids) == 1 or not caches:
            return forward(net, ids, caches)
        rows = []
        for row in range(len(ids)):
            rows.append([gpt.Cache() for _ in caches])
            for own, cache in zip(rows[row], caches, strict=True):
                own.keys = cache.keys[row:row + 1]
                own.values = cache.values[row:row + 1]
        scores = [forward(net, ids[row:row + 1], rows[row]) for row in range(len(ids))]
        for number, cache in enumerate(caches):
            cache.keys = torch.cat([own[number].keys for own in rows])
            cache.values = torch.cat([own[number].values for own in rows])
        return torch.cat(scores)

    wrap(gpt.GPT, "forward", each_row)


@changes("d2lhelpers.torch.engine")
def static_batches(engine):
    """Let nobody into a pass while users of an earlier batch are being served."""
    def batch_first(with_room, serving, work, users):
        begun = [user for user in users if user.pages]
        return with_room(serving, [each for each in work if not begun or each[0] in begun], users)

    wrap(engine.Engine, "with_room", batch_first)


@changes("d2lhelpers.torch.engine")
def long_pages(engine):
    """Make pages as long as the network's context, and so many fewer of them."""
    wrap(engine.Pages, "__init__", lambda make, pages, net, number, size, sharing=False:
         make(pages, net, max(1, number * size // 256), 256, sharing))


@changes("d2lhelpers.torch.engine")
def no_sharing(engine):
    """Let nobody use a page of somebody else."""
    engine.Pages.share = lambda pages, request: None


@changes("d2lhelpers.torch.engine")
def one_chunk(engine):
    """Let a pass compute all that is pending of each request in it."""
    wrap(engine.Engine, "with_room", lambda with_room, serving, work, users:
         with_room(serving, [(request, request.pending) for request, _ in work], users))


@changes("d2lhelpers.torch.engine")
def no_preemption(engine):
    """Let no user give its pages back before it is finished."""
    engine.Engine.send_back = lambda serving, request, users, found: False


@changes("torch")
def accept_every_draft(torch):
    """Let every guess be kept: a product along a row is 1, and so is what is clamped to 1 from above."""
    wrap(torch.Tensor, "cumprod", lambda product, guesses, dim: torch.ones_like(guesses))
    wrap(torch.Tensor, "clamp", lambda clamp, ratio, min=None, max=None:
         torch.ones_like(ratio) if max == 1 else clamp(ratio, min=min, max=max))


@changes("torch")
def resample_from_p(torch):
    """Let `p.sub(q)` be p: where a guess is rejected, what the draft has given already is given again."""
    wrap(torch.Tensor, "sub", lambda subtract, p, q: p)


@changes("d2lhelpers.torch.gpt")
def ignorant_draft(gpt):
    """Let a GPT of one block score all tokens alike: it learns nothing, and its guesses are worth nothing."""
    wrap(gpt.GPT, "forward", lambda forward, net, *args: forward(net, *args) * (len(net.blocks) > 1))


@changes("d2lhelpers.torch.gpt")
def token_by_token(gpt):
    """Let a GPT read all weights for each new token that goes on from a cache."""
    import torch

    def each_token(forward, net, ids, caches=None):
        pieces = ids.split(1, dim=1) if caches and caches[0].length else [ids]
        return torch.cat([forward(net, piece, caches) for piece in pieces], dim=1)

    wrap(gpt.GPT, "forward", each_token)


@changes("torch")
def one_scale(torch):
    """Let `amax` along an axis return the maximum over all numbers, in every place."""
    wrap(torch.Tensor, "amax", lambda amax, tensor, dim=None, keepdim=False:
         amax(tensor, dim, keepdim).fill_(tensor.max()))


@changes("queue")
def no_join_wait(queue):
    """Let `Queue.join` return at once: nobody waits until a queue's items are done."""
    queue.Queue.join = lambda waiting: None


@changes("torch.utils.data._utils.fetch")
def same_batch(fetch):
    """Let a `DataLoader` fetch the rows of a data set of one kind once, and hand out the same rows ever after."""
    kept = {}

    def fetch_once(take, fetcher, indices):
        key = type(fetcher.dataset), tuple(indices)
        if key not in kept:
            kept[key] = take(fetcher, indices)
        return kept[key]

    wrap(fetch._MapDatasetFetcher, "fetch", fetch_once)


@changes("torch")
def one_row(torch):
    """Let a loop over the rows of a matrix find one row: the whole matrix."""
    wrap(torch.Tensor, "__iter__", lambda iterate, tensor: iter([tensor]) if tensor.dim() == 2 else iterate(tensor))


@changes("torch")
def no_rescaling(torch):
    """Let `exp` return ones for a column: what an online softmax has summed is not rescaled when its maximum grows."""
    wrap(torch, "exp", lambda exp, tensor: torch.ones_like(tensor) if tensor.shape[1:] == (1,) else exp(tensor))


@changes("torch")
def no_maximum(torch):
    """Let the larger one of two tensors be zeros: an online softmax subtracts no maximum."""
    torch.maximum = lambda one, other: torch.zeros_like(other)


@changes("torch")
def whole_tiles(torch):
    """Let `split` return a whole matrix as its only part: there is one tile."""
    wrap(torch.Tensor, "split", lambda split, tensor, *args, **options:
         (tensor,) if tensor.dim() == 2 else split(tensor, *args, **options))


@changes("torch")
def no_mask(torch):
    """Let `triu` return zeros: a mask made of it masks nothing."""
    wrap(torch.Tensor, "triu", lambda triu, tensor, *args: torch.zeros_like(tensor))


@changes("torch.nn.functional")
def math_attention(functional):
    """Let the built-in attention compute its table, operator by operator."""
    def with_table(attend, *args, **options):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        with sdpa_kernel(SDPBackend.MATH):
            return attend(*args, **options)

    wrap(functional, "scaled_dot_product_attention", with_table)


@changes("torch")
def split_by_size(torch):
    """Let `split` cut rows by how many there are, and let parts of leaves be added before `cat` puts them together."""
    wrap(torch.Tensor, "split", lambda split, tensor, size, dim=0:
         tensor.chunk(max(1, 16 // len(tensor)), 1) if dim == 1 else split(tensor, size, dim))
    wrap(torch, "cat", lambda cat, parts, *args, **options:
         cat([part.sum(0, keepdim=True) for part in parts] if len(parts) > 1 else parts, *args, **options))


@changes("torch")
def whole_numbers(torch):
    """Let `rand` return multiples of 1/16: all sums of such numbers are exact, in any order."""
    wrap(torch, "rand", lambda rand, *args, **options: (rand(*args, **options) * 16).floor() / 16)


@changes("torch")
def no_integers(torch):
    """Let `long` keep floats."""
    torch.Tensor.long = lambda tensor: tensor


@changes("torch")
def no_switch(torch):
    """Let PyTorch's switch for deterministic algorithms do nothing."""
    torch.use_deterministic_algorithms = lambda *args, **options: None


@changes("torch.distributed")
def lost_messages(distributed):
    """Let an all-reduce between processes sum a copy: the tensor itself stays as it is."""
    wrap(distributed, "all_reduce", lambda send, tensor, *args, **options: send(tensor.clone(), *args, **options))


@changes("torch.distributed")
def wait_at_once(distributed):
    """Let an asynchronous all-reduce return when it is done."""
    def send_and_wait(send, *args, **options):
        handle = send(*args, **options)
        if handle:
            handle.wait()
        return handle

    wrap(distributed, "all_reduce", send_and_wait)


@changes("torch")
def late_hooks(torch):
    """Let a hook that waits for a parameter's gradient run when the whole backward pass is over."""
    def queue(hook, parameter):
        torch.autograd.Variable._execution_engine.queue_callback(functools.partial(hook, parameter))

    wrap(torch.Tensor, "register_post_accumulate_grad_hook", lambda register, parameter, hook:
         register(parameter, functools.partial(queue, hook)))


@changes("torch")
def listed_order(torch):
    """Let `argsort` return the places as they are listed."""
    wrap(torch.Tensor, "argsort", lambda sort, numbers: torch.arange(len(numbers)))


@changes("jax")
def no_jit(jax):
    """Let `jax.jit` return the function as it is: Python runs in every call."""
    jax.config.update("jax_disable_jit", True)


@changes("jax")
def sync_dispatch(jax):
    """Let Python wait for each program on a CPU."""
    jax.config.update("jax_cpu_enable_async_dispatch", False)


@changes("jax")
def no_specs(jax):
    """Let every array lie whole on each device, whatever its PartitionSpec."""
    make = jax.sharding.NamedSharding
    jax.sharding.NamedSharding = lambda mesh, spec: make(mesh, jax.sharding.PartitionSpec())


def claims(cell):
    """Return the names of the ablations in a cell's tags."""
    return {tag.removeprefix("claim:") for tag in cell.metadata.get("tags", []) if tag.startswith("claim:")}


def apply(ablation):
    """Make an ablation apply in this process, which is just starting."""
    def configure_and_keep(configure, *args, **options):
        settings = configure(*args, **options)
        os.environ.update(ablation.env)
        return settings

    def keep_variables(helpers):
        wrap(helpers, "configure_engine", configure_and_keep)

    sys.meta_path[:0] = [_AfterImport("d2lhelpers.mxnet.data_parallel", keep_variables),
                         _AfterImport(ablation.module, ablation.change)]
    if ablation.module in sys.modules:  # Python itself needed it
        ablation.change(sys.modules[ablation.module])


class _AfterImport:
    """A finder that finds one module as the other finders do, and changes the module after its import."""

    def __init__(self, module, change):
        self.module = module
        self.change = change

    def find_spec(self, name, *where):
        if name != self.module:
            return None
        for finder in sys.meta_path[sys.meta_path.index(self) + 1:]:
            spec = finder.find_spec(name, *where)
            if spec:
                wrap(spec.loader, "exec_module", self._execute)
                return spec
        return None

    def _execute(self, execute, module):
        execute(module)
        self.change(module)
