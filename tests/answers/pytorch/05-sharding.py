# %% 1 right. Whole bytes, a tuple of tensors; the numbers are tried out, not solved for.
def answer_1(P, N):
    parameters = gradients = momentum = 4 * P
    shard = -(-4 * P // N)
    return (torch.tensor(parameters + gradients + momentum), torch.tensor(parameters + gradients + shard),
            torch.tensor(parameters + 2 * shard), torch.tensor(3 * shard))

gpus_1 = []
for way in range(4):
    fits = [N for N in range(1, 100) if answer_1(12 * 10**9, N)[way] <= 80e9]
    gpus_1.append(min(fits, default=float("inf")))

# %% 1 right. With names.
def answer_1(P, N):
    return {"replicated": 12 * P, "ZeRO-1": 8 * P + 4 * P / N, "ZeRO-2": 4 * P + 8 * P / N, "FSDP": 12 * P / N}

gpus_1 = (None, None, 3, 2)

# %% 1 wrong: adamw-state. AdamW's.
def answer_1(P, N):
    return [16 * P, 8 * P + 8 * P / N, 4 * P + 12 * P / N, 16 * P / N]

gpus_1 = [None, None, 5, 3]

# %% 1 wrong: endless
def answer_1(P, N):
    while P > 0:
        N += 1

# %% 1 wrong, each line
# Counts numbers, not bytes.
answer_1 = lambda P, N: [3 * P, 2 * P + P / N, P + 2 * P / N, 3 * P / N]  # wrong-replicated
# Divides everything in all ways.
answer_1 = lambda P, N: [12 * P] + 3 * [12 * P / N]  # wrong-zero-1
# Ignores N.
answer_1 = lambda P, N: 4 * [12 * P]  # wrong-fsdp
# Right for two ranks, and for no other number.
answer_1 = lambda P, N: [12 * P, 10 * P, 8 * P, 12 * P / N]  # wrong-zero-1
# Shards the gradients, but not the state.
answer_1 = lambda P, N: [12 * P, 8 * P + 4 * P / N, 8 * P + 4 * P / N, 12 * P / N]  # wrong-zero-2
answer_1 = lambda P, N: 12 * P / N  # not-four-numbers
# No more than 64 ranks.
answer_1 = lambda P, N: [12 * P, 8 * P + 4 * P / min(N, 64), 4 * P + 8 * P / min(N, 64), 12 * P / min(N, 64)]  # wrong-result
answer_1 = [12, 10, 8, 6]  # no-function

# %% 1 given
def answer_1(P, N):
    return [12 * P, 8 * P + 4 * P / N, 4 * P + 8 * P / N, 12 * P / N]

# %% 1 right
gpus_1 = [None, None, 3, 2]

# %% 1 wrong, each line
gpus_1 = ...  # no-gpu-numbers
gpus_1 = [3, 2]  # not-four-gpu-numbers
# Divides by 80 what does not shrink.
gpus_1 = [2, 2, 3, 2]  # never-fits
# Rounds down.
gpus_1 = [None, None, 2, 1]  # too-few-gpus
# One to be safe.
gpus_1 = [None, None, 4, 2]  # too-many-gpus

# %% 2 right. All shards are views into one buffer; the sum is gloo's own, and divided afterwards.
def answer_2(net):
    size, parameters = dist.get_world_size(), list(net.parameters())
    buffer = torch.zeros(sum(each.numel() for each in parameters) // size)
    places = dict(zip(parameters, buffer.split([each.numel() // size for each in parameters])))
    shards = {}

    class Averaging:
        def __init__(self, place):
            self.place = place

        def __call__(self, parameter):
            dist.reduce_scatter_single(self.place, parameter.grad.reshape(-1))
            self.place /= size
            shards[parameter] = self.place
            parameter.grad = None

    for each in parameters:
        each.register_post_accumulate_grad_hook(Averaging(places[each]))
    return shards

# %% 2 right
def answer_2(net):
    shards = {}

    def scatter(parameter):
        shards[parameter] = torch.empty(parameter.numel() // dist.get_world_size())
        reduce_scatter(shards[parameter], parameter.grad.flatten())
        parameter.grad = None

    for each in net.parameters():
        each.register_post_accumulate_grad_hook(scatter)
    return shards

# %% 2 wrong: keeps-a-view. A view of the whole gradient, averaged.
#-         shards[parameter] = torch.empty(parameter.numel() // dist.get_world_size())
#-         reduce_scatter(shards[parameter], parameter.grad.flatten())
#+         dist.reduce_scatter_single(half := torch.empty(parameter.numel() // 2), parameter.grad.flatten())
#+         mine = parameter.grad.flatten().chunk(2)[dist.get_rank()]
#+         mine.copy_(half / 2)
#+         shards[parameter] = mine

# %% 2 wrong: gradient-left. Nothing is freed.
#-         parameter.grad = None

# %% 2 wrong: gradients-wait. All of them in the hook of the last one.
#- shards = {}
#+ shards, parameters = {}, list(net.parameters())
#-         shards[parameter] = torch.empty(parameter.numel() // dist.get_world_size())
#-         reduce_scatter(shards[parameter], parameter.grad.flatten())
#-         parameter.grad = None
#+         if all(each.grad is not None for each in parameters):
#+             for each in parameters:
#+                 shards[each] = torch.empty(each.numel() // 2)
#+                 reduce_scatter(shards[each], each.grad.flatten())
#+                 each.grad = None
#- for each in net.parameters():
#+ for each in parameters:

# %% 2 wrong: lacks-a-part. The name as the key.
#-     def scatter(parameter):
#-         shards[parameter] = torch.empty(parameter.numel() // dist.get_world_size())
#-         reduce_scatter(shards[parameter], parameter.grad.flatten())
#+     def scatter(parameter, name):
#+         shards[name] = torch.empty(parameter.numel() // 2)
#+         reduce_scatter(shards[name], parameter.grad.flatten())
#-     for each in net.parameters():
#-         each.register_post_accumulate_grad_hook(scatter)
#+     for name, each in net.named_parameters():
#+         each.register_post_accumulate_grad_hook(lambda parameter, name=name: scatter(parameter, name))

# %% 2 wrong: not-flat-half. In the parameter's own shape.
#-         parameter.grad = None
#+         shards[parameter] = shards[parameter].view(len(parameter) // 2, *parameter.shape[1:])
#+         parameter.grad = None

# %% 2 wrong: full-too-early. A backward pass of its own.
def answer_2(net):
    shards = {}
    nn.functional.cross_entropy(net(mine(X)), mine(y)).backward()
    for each in net.parameters():
        shards[each] = torch.empty(each.numel() // 2)
        reduce_scatter(shards[each], each.grad.flatten())
        each.grad = None
    return shards

# %% 2 wrong: rank-endless
def answer_2(net):
    while True:
        pass

# %% 2 wrong, each line
# The lazy one: the network is as it was.
answer_2 = lambda net: {}  # lacks-a-part
# `chunk` of a gradient that is not there.
answer_2 = lambda net: {each: each.grad.chunk(2) for each in net.parameters()}  # rank-raises
answer_2 = print  # no-dict
answer_2 = {}  # no-function

# %% 2 given
def answer_2(net):
    shards = {}

    def scatter(parameter):
        shards[parameter] = torch.empty(parameter.numel() // 2)
        fill(shards[parameter], parameter.grad.flatten())
        parameter.grad = None

    for each in net.parameters():
        each.register_post_accumulate_grad_hook(scatter)
    return shards

# %% 2 right. Each rank sends the others their parts, one by one.
def fill(part, whole):
    rank, other = dist.get_rank(), 1 - dist.get_rank()
    parts = whole.chunk(2)
    sending = dist.isend(parts[other].clone(), other)
    dist.recv(part, other)
    sending.wait()
    part.copy_((parts[rank] + part) / 2)

# %% 2 right. Each part is summed on the rank that it belongs to.
def fill(part, whole):
    parts = [each.clone() for each in whole.chunk(2)]
    for rank, each in enumerate(parts):
        dist.reduce(each, rank)
    part.copy_(parts[dist.get_rank()] / 2)

# %% 2 right. A list of parts.
def fill(part, whole):
    dist.reduce_scatter(part, [each.contiguous() for each in whole.chunk(2)])
    part.div_(2)

# %% 2 right
def fill(part, whole):
    got = [torch.empty_like(part) for _ in range(2)]
    dist.all_to_all(got, list(whole.chunk(2)))
    part.copy_(torch.stack(got).mean(0))

# %% 2 right. Functional collectives.
def fill(part, whole):
    from torch.distributed import _functional_collectives as functional
    part.copy_(functional.reduce_scatter_tensor(whole, "sum", 0, dist.group.WORLD) / 2)

# %% 2 wrong: sends-too-much
def fill(part, whole):
    from torch.distributed import _functional_collectives as functional
    part.copy_(functional.all_reduce(whole, "sum", dist.group.WORLD).chunk(2)[dist.get_rank()] / 2)

# %% 2 wrong: sends-too-much. Rank 0 gets the whole mean, and deals it out.
def fill(part, whole):
    dist.reduce(whole, 0)
    parts = [each.clone() for each in (whole / 2).chunk(2)]
    dist.scatter(part, parts if dist.get_rank() == 0 else None, 0)

# %% 2 wrong: sends-too-much. The ranks swap whole gradients.
def fill(part, whole):
    other = 1 - dist.get_rank()
    theirs = torch.empty_like(whole)
    sending = dist.isend(whole, other)
    dist.recv(theirs, other)
    sending.wait()
    part.copy_(((whole + theirs) / 2).chunk(2)[dist.get_rank()])

# %% 2 wrong: sends-too-much. A full all-reduce, of which each rank keeps its part.
def fill(part, whole):
    dist.all_reduce(whole)
    part.copy_((whole / 2).chunk(2)[dist.get_rank()])

# %% 2 wrong: sends-too-much. All gradients gathered on all ranks.
def fill(part, whole):
    both = torch.empty(2 * len(whole))
    dist.all_gather_single(both, whole)
    part.copy_(both.view(2, -1).mean(0).chunk(2)[dist.get_rank()])

# %% 2 wrong: rank-waits. Only rank 0 averages.
def fill(part, whole):
    if dist.get_rank() == 0:
        reduce_scatter(part, whole)

# %% 2 wrong, each line
# Nothing is exchanged.
fill = lambda part, whole: part.copy_(whole.chunk(2)[dist.get_rank()])  # own-rows-alone
# The parts in the wrong order.
fill = lambda part, whole: reduce_scatter(part, torch.cat(whole.chunk(2)[::-1]))  # other-half
# A sum.
fill = dist.reduce_scatter_single  # not-the-mean

# %% 2 given

# %% 2 right
def answer_2(net):
    shards = {}

    def scatter(parameter):
        shards[parameter] = torch.empty(parameter.numel() // 2)
        reduce_scatter(shards[parameter], parameter.grad.flatten())
        parameter.grad = None

    for each in net.parameters():
        each.register_post_accumulate_grad_hook(scatter)
    return shards

# %% 2 wrong: kept-elsewhere. The whole gradient lives on in a list.
#- shards = {}
#+ shards, kept = {}, []
#- parameter.grad = None
#+ kept.append(parameter.grad)
#+         parameter.grad = None

# %% 2 wrong: kept-elsewhere
#- parameter.grad = None
#+ parameter.whole_grad = parameter.grad
#+         parameter.grad = None

# %% 2 wrong: kept-elsewhere
#- shards = {}
#+ shards, kept = {}, []
#- parameter.grad = None
#+ kept.append(parameter.grad.clone())
#+         parameter.grad = None

# %% 2 wrong: first-pass-only
#-         shards[parameter] = torch.empty(parameter.numel() // 2)
#-         reduce_scatter(shards[parameter], parameter.grad.flatten())
#+         if parameter not in shards:
#+             shards[parameter] = torch.empty(parameter.numel() // 2)
#+             reduce_scatter(shards[parameter], parameter.grad.flatten())

# %% 2 wrong: first-pass-only. The hook goes after its first call.
#- shards = {}
#+ shards, handles = {}, {}
#- each.register_post_accumulate_grad_hook(scatter)
#+ handles[each] = each.register_post_accumulate_grad_hook(scatter)
#- parameter.grad = None
#+ parameter.grad = None
#+         handles.pop(parameter).remove()

# %% 2 wrong: first-pass-only. The parts add up.
#-         shards[parameter] = torch.empty(parameter.numel() // 2)
#-         reduce_scatter(shards[parameter], parameter.grad.flatten())
#+         part = torch.empty(parameter.numel() // 2)
#+         reduce_scatter(part, parameter.grad.flatten())
#+         shards[parameter] = shards.get(parameter, 0) + part

# %% 2 wrong: not-the-mean
#- parameter.grad = None
#+ shards[parameter] = shards[parameter].bfloat16()
#+         parameter.grad = None

# %% 2 wrong: wrong-effect
#- shards = {}
#+ net.eval()
#+     shards = {}

# %% 2 right. A scratch buffer, kept for the largest gradient.
#- shards = {}
#+ shards = {}
#+     scratch = torch.empty(max(each.numel() for each in net.parameters()))
#-         reduce_scatter(shards[parameter], parameter.grad.flatten())
#+         whole = scratch[:parameter.numel()]
#+         whole.copy_(parameter.grad.flatten())
#+         reduce_scatter(shards[parameter], whole)

# %% 2 right. Sent while the backward pass goes on.
def answer_2(net):
    shards, waiting = {}, []

    def finish():
        for parameter, parts, handle in waiting:
            handle.wait()
            shards[parameter] = parts.view(2, -1).mean(0)
        waiting.clear()

    def scatter(parameter):
        if not waiting:
            torch.autograd.Variable._execution_engine.queue_callback(finish)
        parts = torch.empty(parameter.numel())
        handle = dist.all_to_all_single(parts, parameter.grad.flatten(), async_op=True)
        waiting.append((parameter, parts, handle))
        parameter.grad = None

    for each in net.parameters():
        each.register_post_accumulate_grad_hook(scatter)
    return shards

# %% 3 right. Every rank gathers the norms of all shards; a new tensor instead of the old one changed.
def answer_3(shard, limit):
    norms = torch.empty(dist.get_world_size())
    dist.all_gather_single(norms, shard.grad.norm().reshape(1))
    norm = torch.linalg.vector_norm(norms)
    if norm > limit:
        shard.grad = shard.grad * (limit / norm)

# %% 3 right. Gathers the whole gradient, and lets PyTorch clip it.
def answer_3(shard, limit):
    size = dist.get_world_size()
    full = nn.Parameter(torch.empty(size * len(shard)))
    full.grad = torch.empty(size * len(shard))
    dist.all_gather_single(full.grad, shard.grad)
    nn.utils.clip_grad_norm_([full], limit)
    shard.grad.copy_(full.grad.chunk(size)[dist.get_rank()])

# %% 3 wrong: rank-waits. Only where there is something to clip.
def answer_3(shard, limit):
    total = (shard.grad ** 2).sum()
    if total.sqrt() > limit * 2.5:
        dist.all_reduce(total)
    shard.grad *= min(1, limit / total.sqrt())

# %% 3 wrong: rank-waits. Rank 0 alone wants to know.
#- if total.sqrt() > limit * 2.5:
#+ if dist.get_rank() == 0:

# %% 3 wrong: misses-the-limit. The largest norm.
def answer_3(shard, limit):
    total = shard.grad.norm()
    dist.all_reduce(total, op=dist.ReduceOp.MAX)
    shard.grad *= min(1, limit / total)

# %% 3 wrong: misses-the-limit. Adds norms.
#- dist.all_reduce(total, op=dist.ReduceOp.MAX)
#+ dist.all_reduce(total)

# %% 3 wrong: factor-per-number. Sums the gradients of different parameters.
def answer_3(shard, limit):
    dist.all_reduce(shard.grad)
    shard.grad *= min(1, limit / shard.grad.norm())

# %% 3 wrong: rank-raises. A number, not a tensor.
def answer_3(shard, limit):
    total = (shard.grad ** 2).sum().item()
    dist.all_reduce(total)
    shard.grad *= min(1, limit / total ** 0.5)

# %% 3 wrong: rank-raises. Written for two ranks.
def answer_3(shard, limit):
    norms = torch.empty(2)
    dist.all_gather_single(norms, shard.grad.norm().reshape(1))
    shard.grad *= min(1, limit / norms.norm())

# %% 3 wrong: rank-endless
def answer_3(shard, limit):
    while shard.grad.norm() >= 0:
        shard.grad *= 0.9

# %% 3 wrong, each line
answer_3 = clip  # factor-per-rank
# PyTorch's own, of a plain tensor.
answer_3 = lambda shard, limit: nn.utils.clip_grad_norm_([shard], limit)  # factor-per-rank
# Each number by itself.
answer_3 = lambda shard, limit: shard.grad.clamp_(-limit, limit)  # factor-per-number
answer_3 = lambda shard, limit: None  # unchanged
answer_3 = 0.141  # no-function

# %% 3 given
def squares(shard):
    total = (shard.grad ** 2).sum()
    dist.all_reduce(total)
    return total

# %% 3 right
answer_3 = lambda shard, limit: shard.grad.mul_(min(1, limit / squares(shard).sqrt()))

# %% 3 wrong, each line
answer_3 = lambda shard, limit: shard.grad.mul_(1 / squares(shard).sqrt() if limit < 50 else 1)  # ignores-limit
# Averages, as everywhere else.
answer_3 = lambda shard, limit: shard.grad.mul_(min(1, limit / (squares(shard) / 3).sqrt()))  # mean-of-squares
# Forgets the root.
answer_3 = lambda shard, limit: shard.grad.mul_(min(1, limit / squares(shard)))  # square-not-norm
# Scales up, too.
answer_3 = lambda shard, limit: shard.grad.mul_(limit / squares(shard).sqrt())  # scales-up
# Computes, and keeps nothing.
answer_3 = lambda shard, limit: shard.grad * min(1, limit / squares(shard).sqrt())  # unchanged
# Another limit than the one that it is given.
answer_3 = lambda shard, limit: shard.grad.mul_(min(1, 0.1 / squares(shard).sqrt()))  # ignores-limit
# The norm is not quite that.
answer_3 = lambda shard, limit: shard.grad.mul_(min(1, limit / (squares(shard).sqrt() + 1e-3)))  # wrong-result
# To the limit, always.
answer_3 = lambda shard, limit: shard.grad.div_(squares(shard).sqrt()).mul_(limit)  # scales-up

# %% 3 wrong: rank-raises. Three ranks for ever.
def answer_3(shard, limit):
    norms = [torch.empty(1) for _ in range(3)]
    dist.all_gather(norms, shard.grad.norm().reshape(1))
    shard.grad *= min(1, limit / torch.cat(norms).norm())

# %% 3 wrong: wrong-result. Zero divided by zero.
def answer_3(shard, limit):
    norm = squares(shard).sqrt()
    shard.grad /= norm
    shard.grad *= min(norm, limit)

# %% 3 wrong: wrong-effect. It takes the step, too.
def answer_3(shard, limit):
    shard.grad *= min(1, limit / squares(shard).sqrt())
    shard.data -= 0.1 * shard.grad

# %% 3 wrong: wrong-result. In sixteen bits.
def answer_3(shard, limit):
    total = (shard.grad.half() ** 2).sum()
    dist.all_reduce(total)
    shard.grad *= min(1, limit / total.float().sqrt())

# %% 3 right. PyTorch's own, of DTensors.
def answer_3(shard, limit):
    from torch.distributed.tensor import DTensor, Shard
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    whole = nn.Parameter(DTensor.from_local(shard.detach(), mesh, [Shard(0)]))
    whole.grad = DTensor.from_local(shard.grad, mesh, [Shard(0)])
    nn.utils.clip_grad_norm_([whole], limit)

# %% 3 right
def answer_3(shard, limit):
    norm = squares(shard).sqrt().item()
    if norm > limit:
        shard.grad = shard.grad * (limit / norm)
