# %% 1 right. Sums first; one division at the end. The gathered parameters stay, too.
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

# %% 1 right
def answer_1(net, micro_batches):
    total = sum(map(len, micro_batches))
    for number, rows in enumerate(micro_batches):
        net.set_requires_gradient_sync(number == len(micro_batches) - 1)
        (loss_of(net, rows) * len(rows) / total).backward()

# %% 1 wrong: scaled-gradient. A sum of means.
#- (loss_of(net, rows) * len(rows) / total).backward()
#+ loss_of(net, rows).backward()

# %% 1 wrong: rank-waits. Rank 0 alone reduces.
#- net.set_requires_gradient_sync(number == len(micro_batches) - 1)
#+ net.set_requires_gradient_sync(number == len(micro_batches) - 1 and dist.get_rank() == 0)

# %% 1 wrong: reduced-again
#-     for number, rows in enumerate(micro_batches):
#-         net.set_requires_gradient_sync(number == len(micro_batches) - 1)
#+     for rows in micro_batches:

# %% 1 wrong: scaled-gradient. Divides by the rows of all ranks; FSDP2 has averaged over the ranks.
#- total = sum(map(len, micro_batches))
#+ total = sum(map(len, micro_batches)) * dist.get_world_size()

# %% 1 wrong: no-gradient. Never reduces.
#- net.set_requires_gradient_sync(number == len(micro_batches) - 1)
#+ net.set_requires_gradient_sync(False)

# %% 1 wrong: other-gradient. Reduces after the first.
#- net.set_requires_gradient_sync(number == len(micro_batches) - 1)
#+ net.set_requires_gradient_sync(number == 0)

# %% 1 wrong: one-batch-wrong. Right for more than one.
#-         net.set_requires_gradient_sync(number == len(micro_batches) - 1)
#-         (loss_of(net, rows) * len(rows) / total).backward()
#+         last = 0 < number == len(micro_batches) - 1 or len(micro_batches) == 1
#+         net.set_requires_gradient_sync(last)
#+         weight = len(rows) if len(micro_batches) > 1 else 1
#+         (loss_of(net, rows) * weight / total).backward()

# %% 1 wrong: rank-raises. A backward pass without a loss.
def answer_1(net, micro_batches):
    for rows in micro_batches:
        net(rows).backward()

# %% 1 wrong: rank-endless
def answer_1(net, micro_batches):
    while micro_batches:
        net.set_requires_gradient_sync(False)

# %% 1 right
def answer_1(net, micro_batches):
    total = sum(map(len, micro_batches))
    for number, rows in enumerate(micro_batches):
        net.set_requires_gradient_sync(number == len(micro_batches) - 1)
        (loss_of(net, rows) * len(rows) / total).backward()

# %% 1 wrong: wrong-effect. The caller's list is used up.
#-     for number, rows in enumerate(micro_batches):
#-         net.set_requires_gradient_sync(number == len(micro_batches) - 1)
#+     while micro_batches:
#+         rows = micro_batches.pop(0)
#+         net.set_requires_gradient_sync(not micro_batches)

# %% 1 wrong: wrong-result. The next step of anybody else is not reduced any more.
#- (loss_of(net, rows) * len(rows) / total).backward()
#+ (loss_of(net, rows) * len(rows) / total).backward()
#+     net.set_requires_gradient_sync(False)

# %% 1 wrong: second-call-wrong. Takes the step, too.
#- (loss_of(net, rows) * len(rows) / total).backward()
#+ (loss_of(net, rows) * len(rows) / total).backward()
#+     torch.optim.SGD(net.parameters(), 0.1).step()

# %% 1 wrong: wrong-result
#- total = sum(map(len, micro_batches))
#+ total = sum(map(len, micro_batches))
#+     net.eval()

# %% 1 wrong: wrong-effect. Scales the caller's rows.
#- (loss_of(net, rows) * len(rows) / total).backward()
#+ (loss_of(net, rows) * len(rows) / total).backward()
#+     rows.zero_()

# %% 1 wrong: wrong-result. Batches of one row are left out.
#- * len(rows) / total
#+ * (len(rows) > 1) * len(rows) / total

# %% 1 wrong: wrong-result. Two ranks for ever.
#- * len(rows) / total
#+ * len(rows) / total * dist.get_world_size() / 2

# %% 1 wrong: reduced-again. Reduced once by FSDP2, and once more by hand, which changes nothing.
def answer_1(net, micro_batches):
    total = sum(map(len, micro_batches))
    for number, rows in enumerate(micro_batches):
        net.set_requires_gradient_sync(number == len(micro_batches) - 1)
        (loss_of(net, rows) * len(rows) / total).backward()
    for each in net.parameters():
        dist.all_reduce(each.grad.to_local().clone())

# %% 1 wrong, each line
# The lesson's own.
answer_1 = lambda net, micro_batches: accumulate(net, micro_batches, reduce_once)  # unequal-batches-wrong
# All of them at once.
answer_1 = lambda net, micro_batches: loss_of(net, torch.cat(micro_batches)).backward()  # too-many-rows
# Forgets what came before the last.
answer_1 = lambda net, micro_batches: loss_of(net, micro_batches[-1]).backward()  # other-gradient
answer_1 = "reduce_once"  # no-function
