# %% 1 right
answer_1 = (1, 2, 0.5)

# %% 1 right
# A list, a tensor's numbers, a fraction.
from fractions import Fraction
answer_1 = [1.0, torch.tensor(2.0), Fraction(1, 2)]

# %% 1 right
import numpy
answer_1 = numpy.array([1, 2, 0.5])

# %% 1 wrong: such a step with that of one process
# The rule for larger batches, by rote.
answer_1 = (2, 2, 0.5)

# %% 1 wrong: too large, or too small
# b and c the wrong way round.
answer_1 = (1, 0.5, 2)

# %% 1 wrong: Does one process divide
# DDP is always right.
answer_1 = (1, 1, 0.5)

# %% 1 wrong: the number of rows is the same in both
answer_1 = (1, 64, 0.5)

# %% 1 wrong: what does DDP do with the sums
answer_1 = (1, 4, 0.5)

# %% 1 wrong: c: is this step too large
answer_1 = (1, 2, 2)

# %% 1 wrong: c: what is the sum of two means
answer_1 = (1, 2, 1)

# %% 1 wrong: give three numbers
answer_1 = 2

# %% 1 wrong: give three numbers
answer_1 = "1, 2, 0.5"

# %% 1 wrong: give three numbers
answer_1 = (1, 2)

# %% 2 right
def answer_2(net):
    gradients = [parameter.grad for parameter in net.parameters()]
    bucket = parameters_to_vector(gradients)
    dist.all_reduce(bucket)
    bucket /= dist.get_world_size()
    torch.nn.utils.vector_to_parameters(bucket, [each.data for each in gradients])
    for gradient, piece in zip(gradients, bucket.split([each.numel() for each in gradients])):
        gradient.copy_(piece.view_as(gradient))

# %% 2 right
# Divides first, and walks through the bucket by hand.
def answer_2(net):
    parameters = list(net.parameters())
    bucket = torch.empty(sum(each.numel() for each in parameters))
    begin = 0
    for each in parameters:
        bucket[begin:begin + each.numel()] = each.grad.flatten() / dist.get_world_size()
        begin += each.numel()
    dist.all_reduce(bucket)
    begin = 0
    for each in parameters:
        each.grad[:] = bucket[begin:begin + each.numel()].reshape(each.shape)
        begin += each.numel()

# %% 2 right
# The parameters in another order.
def answer_2(net):
    parameters = list(net.parameters())[::-1]
    bucket = torch.cat([each.grad.view(-1) for each in parameters])
    dist.all_reduce(bucket)
    for each, piece in zip(parameters, bucket.split([each.numel() for each in parameters])):
        each.grad.zero_()
        each.grad += piece.view(each.shape) / 2

# %% 2 wrong: twice the mean
# The likeliest mistake: no division.
def answer_2(net):
    gradients = [parameter.grad for parameter in net.parameters()]
    bucket = torch.cat([each.flatten() for each in gradients])
    dist.all_reduce(bucket)
    for gradient, piece in zip(gradients, bucket.split([each.numel() for each in gradients])):
        gradient.copy_(piece.view_as(gradient))

# %% 2 wrong: in new tensors
# Gives each parameter another gradient.
def answer_2(net):
    parameters = list(net.parameters())
    bucket = torch.cat([each.grad.flatten() for each in parameters])
    dist.all_reduce(bucket)
    bucket /= dist.get_world_size()
    for each, piece in zip(parameters, bucket.split([each.numel() for each in parameters])):
        each.grad = piece.view_as(each).clone()

# %% 2 wrong: in new tensors
# The gradients become views of the bucket.
def answer_2(net):
    bucket = torch.cat([each.grad.flatten() for each in net.parameters()])
    dist.all_reduce(bucket)
    bucket /= dist.get_world_size()
    begin = 0
    for each in net.parameters():
        each.grad = bucket[begin:begin + each.numel()].view_as(each)
        begin += each.numel()

# %% 2 wrong: where did the sums go
# Forgets to copy back.
def answer_2(net):
    bucket = torch.cat([each.grad.flatten() for each in net.parameters()])
    dist.all_reduce(bucket)
    bucket /= dist.get_world_size()

# %% 2 wrong: where did the sums go
# `grad` is only a name here.
def answer_2(net):
    gradients = [each.grad for each in net.parameters()]
    bucket = torch.cat([each.flatten() for each in gradients])
    dist.all_reduce(bucket)
    bucket /= dist.get_world_size()
    for gradient, piece in zip(gradients, bucket.split([each.numel() for each in gradients])):
        gradient = piece.view_as(gradient)

# %% 2 wrong: divided twice
def answer_2(net):
    gradients = [each.grad for each in net.parameters()]
    bucket = torch.cat([each.flatten() for each in gradients]) / dist.get_world_size()
    dist.all_reduce(bucket)
    bucket /= dist.get_world_size()
    for gradient, piece in zip(gradients, bucket.split([each.numel() for each in gradients])):
        gradient.copy_(piece.view_as(gradient))

# %% 2 wrong: in new memory
# The mirror of `parameters_to_vector`: the same tensors, but each is given other memory.
def answer_2(net):
    gradients = [each.grad for each in net.parameters()]
    bucket = parameters_to_vector(gradients)
    dist.all_reduce(bucket)
    bucket /= dist.get_world_size()
    torch.nn.utils.vector_to_parameters(bucket, gradients)

# %% 2 wrong: not rounded
# Half the bytes, as in section 4.
def answer_2(net):
    gradients = [each.grad for each in net.parameters()]
    bucket = torch.cat([each.flatten() for each in gradients]).half()
    dist.all_reduce(bucket)
    bucket /= dist.get_world_size()
    for gradient, piece in zip(gradients, bucket.split([each.numel() for each in gradients])):
        gradient.copy_(piece.view_as(gradient))

# %% 2 wrong: more than one all-reduce
# The lazy answer.
answer_2 = average_gradients

# %% 2 wrong: in its own place
# Walks through the bucket in the other order than it was filled.
def answer_2(net):
    gradients = [each.grad for each in net.parameters()]
    bucket = torch.cat([each.flatten() for each in gradients])
    dist.all_reduce(bucket)
    bucket /= dist.get_world_size()
    begin = 0
    for gradient in reversed(gradients):
        gradient.copy_(bucket[begin:begin + gradient.numel()].view_as(gradient))
        begin += gradient.numel()

# %% 2 wrong: no all-reduce
def answer_2(net):
    for each in net.parameters():
        each.grad /= dist.get_world_size()

# %% 2 wrong: no all-reduce
# Gathers everything instead.
def answer_2(net):
    gradients = [each.grad for each in net.parameters()]
    mine = torch.cat([each.flatten() for each in gradients])
    everyones = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(everyones, mine)
    mean = sum(everyones) / len(everyones)
    for gradient, piece in zip(gradients, mean.split([each.numel() for each in gradients])):
        gradient.copy_(piece.view_as(gradient))

# %% 2 wrong: changes the parameters, too
def answer_2(net):
    gradients = [each.grad for each in net.parameters()]
    bucket = torch.cat([each.flatten() for each in gradients])
    dist.all_reduce(bucket)
    bucket /= dist.get_world_size()
    for gradient, piece in zip(gradients, bucket.split([each.numel() for each in gradients])):
        gradient.copy_(piece.view_as(gradient))
    torch.optim.SGD(net.parameters(), lr=0.1).step()

# %% 2 wrong: It raised RuntimeError
# Puts tensors of different shapes into one.
def answer_2(net):
    bucket = torch.stack([each.grad for each in net.parameters()])
    dist.all_reduce(bucket)

# %% 2 wrong: equally often
# Only rank 0 averages.
def answer_2(net):
    if dist.get_rank() == 0:
        average_gradients(net)

# %% 2 wrong: give a function
answer_2 = average_gradients(nn.Sequential())

# %% 2 wrong: still running
def answer_2(net):
    while True:
        pass

# %% 3 right
def answer_3(X, y):
    net = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(784), nn.Linear(784, 10), nn.Linear(10, 10))
    ddp = DDP(net)
    for X_part, y_part in zip(X.chunk(4), y.chunk(4)):
        step(ddp, *mine(X_part, y_part))
    for buffer in net.buffers():
        dist.broadcast(buffer, src=0)
    return net.state_dict()

# %% 3 right
# Another seed, the wrapper's own state, statistics averaged.
def answer_3(X, y):
    torch.manual_seed(7)
    net = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(784), nn.Linear(784, 10))
    net.append(nn.Linear(10, 10))
    ddp = DDP(net)
    for X_part, y_part in zip(X.chunk(4), y.chunk(4)):
        step(ddp, *mine(X_part, y_part))
    for statistic in (net[1].running_mean, net[1].running_var):
        dist.all_reduce(statistic)
        statistic /= dist.get_world_size()
    return ddp.state_dict()

# %% 3 right
# No DDP at all: the step by hand, from the same seed.
def answer_3(X, y):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(784), nn.Linear(784, 10), nn.Linear(10, 10))
    for X_part, y_part in zip(X.chunk(4), y.chunk(4)):
        step(net, *mine(X_part, y_part), average_gradients)
    for buffer in net.buffers():
        dist.broadcast(buffer, src=1)
    return net.state_dict()

# %% 3 right
# No DDP: the parameters are averaged after each update, which for plain SGD is the same step.
def answer_3(X, y):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(784), nn.Linear(784, 10), nn.Linear(10, 10))
    for X_part, y_part in zip(X.chunk(4), y.chunk(4)):
        step(net, *mine(X_part, y_part))
        for each in net.parameters():
            dist.all_reduce(each.data)
            each.data /= dist.get_world_size()
    for buffer in net.buffers():
        dist.broadcast(buffer, src=0)
    return net.state_dict()

# %% 3 wrong: some parameters differ
# As it is.
answer_3 = colleague

# %% 3 wrong: some parameters differ
# Blames the seeds.
def answer_3(X, y):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(784), nn.Linear(784, 10))
    ddp = DDP(net)
    net.append(nn.Linear(10, 10))
    for X_part, y_part in zip(X.chunk(4), y.chunk(4)):
        step(ddp, *mine(X_part, y_part))
    return net.state_dict()

# %% 3 wrong: running statistics still differ
def answer_3(X, y):
    net = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(784), nn.Linear(784, 10), nn.Linear(10, 10))
    ddp = DDP(net)
    for X_part, y_part in zip(X.chunk(4), y.chunk(4)):
        step(ddp, *mine(X_part, y_part))
    return net.state_dict()

# %% 3 wrong: rows of one rank only
# Copies everything from rank 0 at the end.
def answer_3(X, y):
    state = colleague(X, y)
    for each in state.values():
        dist.broadcast(each, src=0)
    return state

# %% 3 wrong: rows of one rank only
# Copies the last layer from rank 0 at the end, and averages the statistics, as one should.
def answer_3(X, y):
    state = colleague(X, y)
    for name in ("3.weight", "3.bias"):
        dist.broadcast(state[name], src=0)
    for name in ("1.running_mean", "1.running_var"):
        dist.all_reduce(state[name])
        state[name] /= dist.get_world_size()
    return state

# %% 3 wrong: rows of one rank only
# Averages everything at the end: the mean of two layers that each saw half of the rows.
def answer_3(X, y):
    state = colleague(X, y)
    for each in state.values():
        total = each.double()
        dist.all_reduce(total)
        each.copy_(total / dist.get_world_size())
    return state

# %% 3 wrong: other layers
# Another network: no running statistics.
def answer_3(X, y):
    ddp = DDP(nn.Sequential(nn.Flatten(), nn.LayerNorm(784), nn.Linear(784, 10), nn.Linear(10, 10)))
    for X_part, y_part in zip(X.chunk(4), y.chunk(4)):
        step(ddp, *mine(X_part, y_part))
    return ddp.module.state_dict()

# %% 3 wrong: other layers
# Leaves the last layer out.
def answer_3(X, y):
    net = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(784), nn.Linear(784, 10))
    ddp = DDP(net)
    for X_part, y_part in zip(X.chunk(4), y.chunk(4)):
        step(ddp, *mine(X_part, y_part))
    for buffer in net.buffers():
        dist.broadcast(buffer, src=0)
    return net.state_dict()

# %% 3 wrong: has gathered no statistics
# Batch normalization in evaluation: equal, because nothing is gathered.
def answer_3(X, y):
    net = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(784), nn.Linear(784, 10), nn.Linear(10, 10))
    ddp = DDP(net.eval())
    for X_part, y_part in zip(X.chunk(4), y.chunk(4)):
        step(ddp, *mine(X_part, y_part))
    return net.state_dict()

# %% 3 wrong: rows of one rank only
# Every rank takes all rows: equal, but nothing was exchanged.
def answer_3(X, y):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(784), nn.Linear(784, 10), nn.Linear(10, 10))
    for X_part, y_part in zip(X.chunk(4), y.chunk(4)):
        step(net, X_part, y_part)
    return net.state_dict()

# %% 3 wrong: did not take four steps
def answer_3(X, y):
    net = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(784), nn.Linear(784, 10), nn.Linear(10, 10))
    ddp = DDP(net)
    for X_part, y_part in zip(X.chunk(8), y.chunk(8)):
        step(ddp, *mine(X_part, y_part))
    for buffer in net.buffers():
        dist.broadcast(buffer, src=0)
    return net.state_dict()

# %% 3 wrong: returns a `state_dict`
def answer_3(X, y):
    return True

# %% 3 wrong: It raised
# SyncBatchNorm does not run on CPUs.
def answer_3(X, y):
    net = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(784), nn.Linear(784, 10), nn.Linear(10, 10))
    net = nn.SyncBatchNorm.convert_sync_batchnorm(net)
    ddp = DDP(net)
    for X_part, y_part in zip(X.chunk(4), y.chunk(4)):
        step(ddp, *mine(X_part, y_part))
    return net.state_dict()

# %% 3 wrong: equally often
# Only one rank calls the collective.
def answer_3(X, y):
    net = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(784), nn.Linear(784, 10), nn.Linear(10, 10))
    ddp = DDP(net)
    for X_part, y_part in zip(X.chunk(4), y.chunk(4)):
        step(ddp, *mine(X_part, y_part))
    if dist.get_rank() == 0:
        for buffer in net.buffers():
            dist.broadcast(buffer, src=0)
    return net.state_dict()

# %% 3 wrong: give a function
answer_3 = ("d", "b")

# %% 3 wrong: still running
def answer_3(X, y):
    while True:
        step(lenet(), X, y)
