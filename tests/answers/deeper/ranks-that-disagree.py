# %% 1 right
def answer_1(net, batches):
    total, rows = 0.0, 0
    for X, y in batches:
        total += cross_entropy(net(X), y, reduction="sum").item()
        rows += len(X)
    both = torch.tensor([total, float(rows)], dtype=torch.float64)
    dist.all_reduce(both)
    return (both[0] / both[1]).item()

# %% 1 right. Each rank tells its two numbers to all; means are weighted by their rows; a tensor of one number.
def answer_1(net, batches):
    mine = [(cross_entropy(net(X), y).item() * len(y), len(y)) for X, y in batches]
    everyones = [None] * dist.get_world_size()
    dist.all_gather_object(everyones, mine)
    pairs = [pair for each in everyones for pair in each]
    return torch.tensor([sum(total for total, _ in pairs) / sum(rows for _, rows in pairs)])

# %% 1 right. Two all-reduces, after the loop.
def answer_1(net, batches):
    total, rows = torch.zeros(1), torch.zeros(1)
    with torch.no_grad():
        for X, y in batches:
            total += cross_entropy(net(X), y, reduction="none").sum()
            rows += y.numel()
    dist.all_reduce(total)
    dist.all_reduce(rows)
    return total / rows

# %% 1 wrong: mean-of-means. The likeliest mistake.
def answer_1(net, batches):
    total = sum(cross_entropy(net(X), y, reduction="sum") for X, y in batches) / sum(len(X) for X, _ in batches)
    mean = torch.as_tensor(total).detach()
    dist.all_reduce(mean)
    return mean / dist.get_world_size()

# %% 1 wrong: unequal-batches-fail. The all-reduce stands in the loop.
def answer_1(net, batches):
    total, rows = 0.0, 0.0
    for X, y in batches:
        both = torch.tensor([cross_entropy(net(X), y, reduction="sum").item(), float(len(X))])
        dist.all_reduce(both)
        total, rows = total + both[0], rows + both[1]
    return total / rows

# %% 1 wrong: unequal-rows-fail. It stands in a loop over rows.
#-         both = torch.tensor([cross_entropy(net(X), y, reduction="sum").item(), float(len(X))])
#-         dist.all_reduce(both)
#-         total, rows = total + both[0], rows + both[1]
#+         for row, label in zip(X.split(1), y.split(1)):
#+             both = torch.tensor([cross_entropy(net(row), label).item(), 1.0])
#+             dist.all_reduce(both)
#+             total, rows = total + both[0], rows + both[1]

# %% 1 wrong: unequal-batches-wrong. As many batches as the rank has that has the fewest.
#-     for X, y in batches:
#+     fewest = torch.tensor(len(batches))
#+     dist.all_reduce(fewest, dist.ReduceOp.MIN)
#+     for X, y in batches[:fewest]:

# %% 1 wrong: twice-the-mean. Divides by its own rows.
def answer_1(net, batches):
    total, rows = torch.zeros(1), 0
    for X, y in batches:
        total += cross_entropy(net(X), y, reduction="sum").detach()
        rows += len(X)
    dist.all_reduce(total)
    return total / rows

# %% 1 wrong: sum-not-mean
#- return total / rows
#+ return total

# %% 1 wrong: rank-raises. Each rank's mean, weighted by its rows: right, except for a rank that has none.
def answer_1(net, batches):
    rows = sum(len(X) for X, _ in batches)
    mean = sum(cross_entropy(net(X), y, reduction="sum").item() for X, y in batches) / rows
    both = torch.tensor([mean * rows, float(rows)])
    dist.all_reduce(both)
    return both[0] / both[1]

# %% 1 wrong: not-the-mean. Only rank 0 has the result.
def answer_1(net, batches):
    both = torch.zeros(2)
    for X, y in batches:
        both += torch.tensor([cross_entropy(net(X), y, reduction="sum").item(), len(X)])
    dist.all_reduce(both)
    return both[0] / both[1] if dist.get_rank() == 0 else 0.0

# %% 1 wrong: unequal-rows-wrong. A mean over batches.
#- both += torch.tensor([cross_entropy(net(X), y, reduction="sum").item(), len(X)])
#+ both += torch.tensor([cross_entropy(net(X), y).item(), 1.0])
#- return both[0] / both[1] if dist.get_rank() == 0 else 0.0
#+ return both[0] / both[1]

# %% 1 wrong: no-batch-fails. Whoever has nothing goes home.
#- def answer_1(net, batches):
#+ def answer_1(net, batches):
#+     if not batches:
#+         return 0.0
#- return both[0] / both[1] if dist.get_rank() == 0 else 0.0
#+ return both[0] / both[1]

# %% 1 wrong: no-batch-wrong. Whoever has nothing takes part, and returns nothing.
#- return both[0] / both[1] if dist.get_rank() == 0 else 0.0
#+ return both[0] / both[1] if batches else 0.0

# %% 1 wrong: no-number. It prints, and returns nothing.
#- return both[0] / both[1] if dist.get_rank() == 0 else 0.0
#+ print(end="")

# %% 1 wrong: rank-waits. Only rank 0 asks.
#-     dist.all_reduce(both)
#-     return both[0] / both[1] if dist.get_rank() == 0 else 0.0
#+     if dist.get_rank() == 0:
#+         dist.all_reduce(both)
#+     return both[0] / both[1]

# %% 1 wrong: rank-endless
def answer_1(net, batches):
    while len(batches) > -1:
        pass

# %% 1 right
def answer_1(net, batches):
    rows = sum(len(y) for _, y in batches)
    both = torch.zeros(2)
    for X, y in batches:
        both += torch.tensor([cross_entropy(net(X), y, reduction="sum").item(), len(X)])
    dist.all_reduce(both)
    return both[0] / both[1]

# %% 1 wrong: wrong-result. Batches of one row are skipped.
#- for X, y in batches:
#+ for X, y in [each for each in batches if len(each[1]) > 1]:

# %% 1 wrong: wrong-result
#- for X, y in batches:
#+ for X, y in batches[:3]:

# %% 1 wrong: wrong-effect
#- for X, y in batches:
#+ while batches:
#+         X, y = batches.pop()

# %% 1 wrong: wrong-effect. Left in evaluation.
#- both = torch.zeros(2)
#+ both = torch.zeros(2)
#+     net.eval()

# %% 1 wrong: wrong-effect
#- return both[0] / both[1]
#+ for each in net.parameters():
#+         each.data.zero_()
#+     return both[0] / both[1]

# %% 1 wrong: wrong-effect. Leaves gradients.
#- both += torch.tensor
#+ cross_entropy(net(X), y).backward()
#+         both += torch.tensor

# %% 1 wrong: wrong-effect. Freezes the network.
#- both = torch.zeros(2)
#+ both = torch.zeros(2)
#+     net.requires_grad_(False)

# %% 1 wrong: wrong-effect. Scales the caller's rows.
#- return both[0] / both[1]
#+ for X, _ in batches:
#+         X *= 2
#+     return both[0] / both[1]

# %% 1 wrong: changes-surroundings
#- both = torch.zeros(2)
#+ torch.manual_seed(0)
#+     both = torch.zeros(2)

# %% 1 wrong: changes-surroundings
#- both = torch.zeros(2)
#+ torch.set_grad_enabled(False)
#+     both = torch.zeros(2)

# %% 1 wrong: wrong-result. A sum that lives on.
both = torch.zeros(2)
def answer_1(net, batches):
    for X, y in batches:
        both[:] += torch.tensor([cross_entropy(net(X), y, reduction="sum").item(), len(X)])
    total = both.clone()
    dist.all_reduce(total)
    return total[0] / total[1]

# %% 1 wrong: rank-raises. Written for two ranks.
def answer_1(net, batches):
    mine = torch.tensor([sum(cross_entropy(net(X), y, reduction="sum").item() for X, y in batches),
                         float(sum(len(y) for _, y in batches))])
    everyones = [torch.zeros(2) for _ in range(2)]
    dist.all_gather(everyones, mine)
    total, rows = sum(everyones)
    return total / rows

# %% 1 right
#- range(2)
#+ range(dist.get_world_size())

# %% 1 wrong: wrong-result. Sends all data, and computes everything everywhere.
def answer_1(net, batches):
    everyones = [None] * dist.get_world_size()
    dist.all_gather_object(everyones, batches)
    X = torch.cat([X for each in everyones for X, _ in each])
    y = torch.cat([y for each in everyones for _, y in each])
    return cross_entropy(net(X), y).item()

# %% 1 wrong, each line
# No collective at all.
answer_1 = lambda net, batches: sum(cross_entropy(net(X), y, reduction="sum") for X, y in batches) / sum(len(X) for X, _ in batches)  # own-rows-alone
answer_1 = 2.3  # no-function
