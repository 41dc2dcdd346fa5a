# %% 1 right
def answer_1(P, N):
    return [12 * P, 8 * P + 4 * P / N, 4 * P + 8 * P / N, 12 * P / N]

gpus_1 = [None, None, 3, 2]

# %% 1 right
# Whole bytes, a tuple of tensors; the numbers are tried out, not solved for.
def answer_1(P, N):
    parameters = gradients = momentum = 4 * P
    shard = -(-4 * P // N)
    return (torch.tensor(parameters + gradients + momentum), torch.tensor(parameters + gradients + shard),
            torch.tensor(parameters + 2 * shard), torch.tensor(3 * shard))

gpus_1 = []
for way in range(4):
    fits = [N for N in range(1, 100) if answer_1(12 * 10**9, N)[way] <= 80e9]
    gpus_1.append(min(fits, default=float("inf")))

# %% 1 right
# With names.
def answer_1(P, N):
    return {"replicated": 12 * P, "ZeRO-1": 8 * P + 4 * P / N, "ZeRO-2": 4 * P + 8 * P / N, "FSDP": 12 * P / N}

gpus_1 = (None, None, 3, 2)

# %% 1 wrong: whose state has two numbers
# AdamW's.
def answer_1(P, N):
    return [16 * P, 8 * P + 8 * P / N, 4 * P + 12 * P / N, 16 * P / N]

gpus_1 = [None, None, 5, 3]

# %% 1 wrong: per parameter
# Counts numbers, not bytes.
def answer_1(P, N):
    return [3 * P, 2 * P + P / N, P + 2 * P / N, 3 * P / N]

# %% 1 wrong: ZeRO-1
# Divides everything in all ways.
def answer_1(P, N):
    return [12 * P] + 3 * [12 * P / N]

# %% 1 wrong: FSDP
# Ignores N.
def answer_1(P, N):
    return 4 * [12 * P]

# %% 1 wrong: ZeRO-1
# Right for two ranks, and for no other number.
def answer_1(P, N):
    return [12 * P, 10 * P, 8 * P, 12 * P / N]

# %% 1 wrong: ZeRO-2
# Shards the gradients, but not the state.
def answer_1(P, N):
    return [12 * P, 8 * P + 4 * P / N, 8 * P + 4 * P / N, 12 * P / N]

# %% 1 wrong: four numbers
def answer_1(P, N):
    return 12 * P / N

# %% 1 wrong: a function
answer_1 = [12, 10, 8, 6]

# %% 1 wrong: Now the four numbers
def answer_1(P, N):
    return [12 * P, 8 * P + 4 * P / N, 4 * P + 8 * P / N, 12 * P / N]

# %% 1 wrong: more than the GPU has
# Rounds down.
def answer_1(P, N):
    return [12 * P, 8 * P + 4 * P / N, 4 * P + 8 * P / N, 12 * P / N]

gpus_1 = [None, None, 2, 1]

# %% 1 wrong: fewer GPUs would do
# One to be safe.
def answer_1(P, N):
    return [12 * P, 8 * P + 4 * P / N, 4 * P + 8 * P / N, 12 * P / N]

gpus_1 = [None, None, 4, 2]

# %% 1 wrong: however many
# Divides by 80 what does not shrink.
def answer_1(P, N):
    return [12 * P, 8 * P + 4 * P / N, 4 * P + 8 * P / N, 12 * P / N]

gpus_1 = [2, 2, 3, 2]

# %% 1 wrong: still running
def answer_1(P, N):
    while P > 0:
        N += 1

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

# %% 2 right
# All shards are views into one buffer; the sum is gloo's own, and divided afterwards.
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
# Each rank sends the others their parts, one by one.
def answer_2(net):
    shards = {}

    def scatter(parameter):
        rank, other = dist.get_rank(), 1 - dist.get_rank()
        parts = parameter.grad.flatten().chunk(2)
        theirs = torch.empty_like(parts[rank])
        sending = dist.isend(parts[other].clone(), other)
        dist.recv(theirs, other)
        sending.wait()
        shards[parameter] = (parts[rank] + theirs) / 2
        parameter.grad = None

    for each in net.parameters():
        each.register_post_accumulate_grad_hook(scatter)
    return shards

# %% 2 right
# Each part is summed on the rank that it belongs to.
def answer_2(net):
    shards = {}

    def scatter(parameter):
        parts = [part.clone() for part in parameter.grad.flatten().chunk(2)]
        for rank, part in enumerate(parts):
            dist.reduce(part, rank)
        shards[parameter] = parts[dist.get_rank()] / 2
        parameter.grad = None

    for each in net.parameters():
        each.register_post_accumulate_grad_hook(scatter)
    return shards

# %% 2 wrong: more than it needs for its part
# Rank 0 gets the whole mean, and deals it out.
def answer_2(net):
    shards = {}

    def scatter(parameter):
        dist.reduce(parameter.grad, 0)
        shards[parameter] = torch.empty(parameter.numel() // 2)
        parts = [part.clone() for part in (parameter.grad / 2).flatten().chunk(2)]
        dist.scatter(shards[parameter], parts if dist.get_rank() == 0 else None, 0)
        parameter.grad = None

    for each in net.parameters():
        each.register_post_accumulate_grad_hook(scatter)
    return shards

# %% 2 wrong: more than it needs for its part
# The ranks swap whole gradients.
def answer_2(net):
    shards = {}

    def scatter(parameter):
        other = 1 - dist.get_rank()
        theirs = torch.empty_like(parameter.grad)
        sending = dist.isend(parameter.grad, other)
        dist.recv(theirs, other)
        sending.wait()
        shards[parameter] = ((parameter.grad + theirs) / 2).flatten().chunk(2)[dist.get_rank()].clone()
        parameter.grad = None

    for each in net.parameters():
        each.register_post_accumulate_grad_hook(scatter)
    return shards

# %% 2 wrong: of the other rank's half
# The parts in the wrong order.
def answer_2(net):
    shards = {}

    def scatter(parameter):
        shards[parameter] = torch.empty(parameter.numel() // 2)
        reduce_scatter(shards[parameter], torch.cat(parameter.grad.flatten().chunk(2)[::-1]))
        parameter.grad = None

    for each in net.parameters():
        each.register_post_accumulate_grad_hook(scatter)
    return shards

# %% 2 wrong: all of it stays in memory
# A view of the whole gradient, averaged.
def answer_2(net):
    shards = {}

    def scatter(parameter):
        dist.reduce_scatter_single(half := torch.empty(parameter.numel() // 2), parameter.grad.flatten())
        mine = parameter.grad.flatten().chunk(2)[dist.get_rank()]
        mine.copy_(half / 2)
        shards[parameter] = mine
        parameter.grad = None

    for each in net.parameters():
        each.register_post_accumulate_grad_hook(scatter)
    return shards

# %% 2 wrong: more than it needs for its part
# A full all-reduce, of which each rank keeps its part.
def answer_2(net):
    shards = {}

    def scatter(parameter):
        dist.all_reduce(parameter.grad)
        parameter.grad /= 2
        shards[parameter] = parameter.grad.flatten().chunk(2)[dist.get_rank()].clone()
        parameter.grad = None

    for each in net.parameters():
        each.register_post_accumulate_grad_hook(scatter)
    return shards

# %% 2 wrong: more than it needs for its part
# All gradients gathered on all ranks.
def answer_2(net):
    shards = {}

    def scatter(parameter):
        both = torch.empty(2 * parameter.numel())
        dist.all_gather_single(both, parameter.grad.flatten())
        shards[parameter] = both.view(2, -1).mean(0).chunk(2)[dist.get_rank()].clone()
        parameter.grad = None

    for each in net.parameters():
        each.register_post_accumulate_grad_hook(scatter)
    return shards

# %% 2 wrong: the mean
# A sum.
def answer_2(net):
    shards = {}

    def scatter(parameter):
        shards[parameter] = torch.empty(parameter.numel() // 2)
        dist.reduce_scatter_single(shards[parameter], parameter.grad.flatten())
        parameter.grad = None

    for each in net.parameters():
        each.register_post_accumulate_grad_hook(scatter)
    return shards

# %% 2 wrong: of this rank's rows alone
# Nothing is exchanged.
def answer_2(net):
    shards = {}

    def scatter(parameter):
        shards[parameter] = parameter.grad.flatten().chunk(2)[dist.get_rank()].clone()
        parameter.grad = None

    for each in net.parameters():
        each.register_post_accumulate_grad_hook(scatter)
    return shards

# %% 2 wrong: left after the backward pass
# Nothing is freed.
def answer_2(net):
    shards = {}

    def scatter(parameter):
        shards[parameter] = torch.empty(parameter.numel() // 2)
        reduce_scatter(shards[parameter], parameter.grad.flatten())

    for each in net.parameters():
        each.register_post_accumulate_grad_hook(scatter)
    return shards

# %% 2 wrong: wait for others
# All of them in the hook of the last one.
def answer_2(net):
    shards, parameters = {}, list(net.parameters())

    def scatter(parameter):
        if all(each.grad is not None for each in parameters):
            for each in parameters:
                shards[each] = torch.empty(each.numel() // 2)
                reduce_scatter(shards[each], each.grad.flatten())
                each.grad = None

    for each in parameters:
        each.register_post_accumulate_grad_hook(scatter)
    return shards

# %% 2 wrong: has no part in the dict
# The name as the key.
def answer_2(net):
    shards = {}

    def scatter(parameter, name):
        shards[name] = torch.empty(parameter.numel() // 2)
        reduce_scatter(shards[name], parameter.grad.flatten())
        parameter.grad = None

    for name, each in net.named_parameters():
        each.register_post_accumulate_grad_hook(lambda parameter, name=name: scatter(parameter, name))
    return shards

# %% 2 wrong: has no part in the dict
# The lazy one: the network is as it was.
answer_2 = lambda net: {}

# %% 2 wrong: it returns a dict
answer_2 = print

# %% 2 wrong: flat
# In the parameter's own shape.
def answer_2(net):
    shards = {}

    def scatter(parameter):
        half = torch.empty(parameter.numel() // 2)
        reduce_scatter(half, parameter.grad.flatten())
        shards[parameter] = half.view(len(parameter) // 2, *parameter.shape[1:])
        parameter.grad = None

    for each in net.parameters():
        each.register_post_accumulate_grad_hook(scatter)
    return shards

# %% 2 wrong: it works before
# A backward pass of its own.
def answer_2(net):
    shards = {}
    nn.functional.cross_entropy(net(mine(X)), mine(y)).backward()
    for each in net.parameters():
        shards[each] = torch.empty(each.numel() // 2)
        reduce_scatter(shards[each], each.grad.flatten())
        each.grad = None
    return shards

# %% 2 wrong: every rank must
# Only rank 0 averages.
def answer_2(net):
    shards = {}

    def scatter(parameter):
        shards[parameter] = torch.empty(parameter.numel() // 2)
        if dist.get_rank() == 0:
            reduce_scatter(shards[parameter], parameter.grad.flatten())
        parameter.grad = None

    for each in net.parameters():
        each.register_post_accumulate_grad_hook(scatter)
    return shards

# %% 2 wrong: it failed on one of
# `chunk` of a gradient that is not there.
def answer_2(net):
    return {each: each.grad.chunk(2) for each in net.parameters()}

# %% 2 wrong: a function
answer_2 = {}

# %% 2 wrong: still running
def answer_2(net):
    while True:
        pass

# %% 3 right
def answer_3(shard, limit):
    total = (shard.grad ** 2).sum()
    dist.all_reduce(total)
    shard.grad *= min(1, limit / total.sqrt())

# %% 3 right
# Every rank gathers the norms of all shards; a new tensor instead of the old one changed.
def answer_3(shard, limit):
    norms = torch.empty(dist.get_world_size())
    dist.all_gather_single(norms, shard.grad.norm().reshape(1))
    norm = torch.linalg.vector_norm(norms)
    if norm > limit:
        shard.grad = shard.grad * (limit / norm)

# %% 3 right
# Gathers the whole gradient, and lets PyTorch clip it.
def answer_3(shard, limit):
    size = dist.get_world_size()
    full = nn.Parameter(torch.empty(size * len(shard)))
    full.grad = torch.empty(size * len(shard))
    dist.all_gather_single(full.grad, shard.grad)
    nn.utils.clip_grad_norm_([full], limit)
    shard.grad.copy_(full.grad.chunk(size)[dist.get_rank()])

# %% 3 wrong: by different factors
answer_3 = clip

# %% 3 wrong: by different factors
# PyTorch's own, of a plain tensor.
def answer_3(shard, limit):
    nn.utils.clip_grad_norm_([shard], limit)

# %% 3 wrong: every rank must
# Rank 0 alone wants to know.
def answer_3(shard, limit):
    total = (shard.grad ** 2).sum()
    if dist.get_rank() == 0:
        dist.all_reduce(total)
    shard.grad *= min(1, limit / total.sqrt())

# %% 3 wrong: every rank must
# Only where there is something to clip.
def answer_3(shard, limit):
    total = (shard.grad ** 2).sum()
    if total.sqrt() > limit * 2.5:
        dist.all_reduce(total)
    shard.grad *= min(1, limit / total.sqrt())

# %% 3 wrong: do norms add up
# Adds norms.
def answer_3(shard, limit):
    total = shard.grad.norm()
    dist.all_reduce(total)
    shard.grad *= min(1, limit / total)

# %% 3 wrong: do norms add up
# The largest norm.
def answer_3(shard, limit):
    total = shard.grad.norm()
    dist.all_reduce(total, op=dist.ReduceOp.MAX)
    shard.grad *= min(1, limit / total)

# %% 3 wrong: a sum, or a mean
# Averages, as everywhere else.
def answer_3(shard, limit):
    total = (shard.grad ** 2).sum()
    dist.all_reduce(total)
    total /= dist.get_world_size()
    shard.grad *= min(1, limit / total.sqrt())

# %% 3 wrong: by a square
# Forgets the root.
def answer_3(shard, limit):
    total = (shard.grad ** 2).sum()
    dist.all_reduce(total)
    shard.grad *= min(1, limit / total)

# %% 3 wrong: a norm below the limit
# Scales up, too.
def answer_3(shard, limit):
    total = (shard.grad ** 2).sum()
    dist.all_reduce(total)
    shard.grad *= limit / total.sqrt()

# %% 3 wrong: as they were
# Computes, and keeps nothing.
def answer_3(shard, limit):
    total = (shard.grad ** 2).sum()
    dist.all_reduce(total)
    return shard.grad * min(1, limit / total.sqrt())

# %% 3 wrong: as they were
answer_3 = lambda shard, limit: None

# %% 3 wrong: one factor for all numbers
# Each number by itself.
def answer_3(shard, limit):
    shard.grad.clamp_(-limit, limit)

# %% 3 wrong: one factor for all numbers
# Sums the gradients of different parameters.
def answer_3(shard, limit):
    dist.all_reduce(shard.grad)
    shard.grad *= min(1, limit / shard.grad.norm())

# %% 3 wrong: for a limit of 1 alone
def answer_3(shard, limit):
    total = (shard.grad ** 2).sum()
    dist.all_reduce(total)
    shard.grad *= 1 / total.sqrt() if limit < 50 else 1

# %% 3 wrong: it failed on one of
# A number, not a tensor.
def answer_3(shard, limit):
    total = (shard.grad ** 2).sum().item()
    dist.all_reduce(total)
    shard.grad *= min(1, limit / total ** 0.5)

# %% 3 wrong: it failed on one of
# Written for two ranks.
def answer_3(shard, limit):
    norms = torch.empty(2)
    dist.all_gather_single(norms, shard.grad.norm().reshape(1))
    shard.grad *= min(1, limit / norms.norm())

# %% 3 wrong: a function
answer_3 = 0.141

# %% 3 wrong: still running
def answer_3(shard, limit):
    while shard.grad.norm() >= 0:
        shard.grad *= 0.9
