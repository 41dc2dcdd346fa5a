# %% 1 right
def answer_1(net, micro_batches):
    total = sum(map(len, micro_batches))
    for number, rows in enumerate(micro_batches):
        net.set_requires_gradient_sync(number == len(micro_batches) - 1)
        (loss_of(net, rows) * len(rows) / total).backward()

# %% 1 right
# Sums first; one division at the end. The gathered parameters stay, too.
def answer_1(net, micro_batches):
    *others, last = micro_batches
    net.set_requires_gradient_sync(False)
    net.set_reshard_after_backward(False)
    for rows in others:
        (len(rows) * loss_of(net, rows)).backward()
    net.set_requires_gradient_sync(True)
    net.set_reshard_after_backward(True)
    (len(last) * loss_of(net, last)).backward()
    for each in net.parameters():
        each.grad /= sum(len(rows) for rows in micro_batches)

# %% 1 wrong: but not for unequal ones
# The lesson's own.
def answer_1(net, micro_batches):
    accumulate(net, micro_batches, reduce_once)

# %% 1 wrong: reduced more than once
def answer_1(net, micro_batches):
    total = sum(map(len, micro_batches))
    for rows in micro_batches:
        (loss_of(net, rows) * len(rows) / total).backward()

# %% 1 wrong: the wrong size
# A sum of means.
def answer_1(net, micro_batches):
    for number, rows in enumerate(micro_batches):
        net.set_requires_gradient_sync(number == len(micro_batches) - 1)
        loss_of(net, rows).backward()

# %% 1 wrong: the wrong size
# Divides by the rows of all ranks; FSDP2 has averaged over the ranks.
def answer_1(net, micro_batches):
    total = sum(map(len, micro_batches)) * dist.get_world_size()
    for number, rows in enumerate(micro_batches):
        net.set_requires_gradient_sync(number == len(micro_batches) - 1)
        (loss_of(net, rows) * len(rows) / total).backward()

# %% 1 wrong: has no gradient
# Never reduces.
def answer_1(net, micro_batches):
    total = sum(map(len, micro_batches))
    net.set_requires_gradient_sync(False)
    for rows in micro_batches:
        (loss_of(net, rows) * len(rows) / total).backward()

# %% 1 wrong: more rows than the longest
# All of them at once.
def answer_1(net, micro_batches):
    loss_of(net, torch.cat(micro_batches)).backward()

# %% 1 wrong: not the gradient of the mean
# Forgets what came before the last.
def answer_1(net, micro_batches):
    loss_of(net, micro_batches[-1]).backward()

# %% 1 wrong: not the gradient of the mean
# Reduces after the first.
def answer_1(net, micro_batches):
    total = sum(map(len, micro_batches))
    for number, rows in enumerate(micro_batches):
        net.set_requires_gradient_sync(number == 0)
        (loss_of(net, rows) * len(rows) / total).backward()

# %% 1 wrong: but not for one
# Right for more than one.
def answer_1(net, micro_batches):
    total = sum(map(len, micro_batches))
    for number, rows in enumerate(micro_batches):
        last = 0 < number == len(micro_batches) - 1 or len(micro_batches) == 1
        net.set_requires_gradient_sync(last)
        weight = len(rows) if len(micro_batches) > 1 else 1
        (loss_of(net, rows) * weight / total).backward()

# %% 1 wrong: every rank must
# Rank 0 alone reduces.
def answer_1(net, micro_batches):
    total = sum(map(len, micro_batches))
    for number, rows in enumerate(micro_batches):
        net.set_requires_gradient_sync(number == len(micro_batches) - 1 and dist.get_rank() == 0)
        (loss_of(net, rows) * len(rows) / total).backward()

# %% 1 wrong: it failed on one of
# A backward pass without a loss.
def answer_1(net, micro_batches):
    for rows in micro_batches:
        net(rows).backward()

# %% 1 wrong: a function
answer_1 = "reduce_once"

# %% 1 wrong: still running
def answer_1(net, micro_batches):
    while micro_batches:
        net.set_requires_gradient_sync(False)
