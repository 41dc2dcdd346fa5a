# %% 1 right
def answer_1(tensor):
    rank, n = dist.get_rank(), dist.get_world_size()
    parts = list(tensor.chunk(n))
    going = parts[(rank - 1) % n]
    for step in range(n - 1):
        sending = dist.isend(going, (rank + 1) % n)
        coming = torch.empty_like(going)
        dist.recv(coming, (rank - 1) % n)
        sending.wait()
        going = coming + parts[(rank - step - 2) % n]
    return going

# %% 1 right
# No ring: each part straight to its owner. As many bytes, in as many messages.
def answer_1(tensor):
    rank, n = dist.get_rank(), dist.get_world_size()
    parts = tensor.chunk(n)
    sending = [dist.isend(parts[other].contiguous(), other) for other in range(n) if other != rank]
    total = parts[rank].clone()
    for other in range(n):
        if other != rank:
            received = torch.empty_like(total)
            dist.recv(received, other)
            total += received
    for each in sending:
        each.wait()
    return total

# %% 1 right
# With batches of messages.
def answer_1(tensor):
    rank, n = dist.get_rank(), dist.get_world_size()
    parts = tensor.chunk(n)
    got = [torch.empty_like(parts[rank]) for _ in range(n)]
    work = []
    for other in range(n):
        if other != rank:
            work += [dist.P2POp(dist.isend, parts[other], other), dist.P2POp(dist.irecv, got[other], other)]
    for each in dist.batch_isend_irecv(work):
        each.wait()
    return parts[rank] + sum(got[other] for other in range(n) if other != rank)

# %% 1 wrong: part r + 1
# The lesson's loop, cut off after its first half.
def answer_1(tensor):
    rank, n = dist.get_rank(), dist.get_world_size()
    parts = tensor.clone().chunk(n)
    for step in range(n - 1):
        target = parts[(rank - step - 1) % n]
        received = torch.empty_like(target)
        sending = dist.isend(parts[(rank - step) % n], (rank + 1) % n)
        dist.recv(received, (rank - 1) % n)
        sending.wait()
        target.add_(received)
    return parts[(rank + 1) % n]

# %% 1 wrong: yours is another tensor
# The lesson's loop, cut off, and the part that is not finished.
def answer_1(tensor):
    rank, n = dist.get_rank(), dist.get_world_size()
    parts = tensor.clone().chunk(n)
    for step in range(n - 1):
        target = parts[(rank - step - 1) % n]
        received = torch.empty_like(target)
        sending = dist.isend(parts[(rank - step) % n], (rank + 1) % n)
        dist.recv(received, (rank - 1) % n)
        sending.wait()
        target.add_(received)
    return parts[rank]

# %% 1 wrong: another tensor
# The lazy answer.
answer_1 = lambda tensor: tensor.chunk(dist.get_world_size())[dist.get_rank()]

# %% 1 wrong: the whole tensor
def answer_1(tensor):
    ring(tensor)
    return tensor

# %% 1 wrong: not every rank sends two parts
# The whole all-reduce, and then a part of it.
def answer_1(tensor):
    ring(tensor)
    return tensor.chunk(dist.get_world_size())[dist.get_rank()]

# %% 1 wrong: no message was sent
# What it is to be built instead of.
def answer_1(tensor):
    dist.all_reduce(tensor)
    return tensor.chunk(dist.get_world_size())[dist.get_rank()]

# %% 1 wrong: its whole tensor to everyone
def answer_1(tensor):
    through_rank_0(tensor)
    return tensor.chunk(dist.get_world_size())[dist.get_rank()]

# %% 1 wrong: but it fails on two
# Right by luck: three ranks, written out.
def answer_1(tensor):
    rank = dist.get_rank()
    parts = tensor.chunk(3)
    others = [(rank + 1) % 3, (rank + 2) % 3]
    sending = [dist.isend(parts[other], other) for other in others]
    total = parts[rank].clone()
    for other in others:
        received = torch.empty_like(total)
        dist.recv(received, other)
        total += received
    for each in sending:
        each.wait()
    return total

# %% 1 wrong: did not end
# Every rank waits before it sends.
def answer_1(tensor):
    rank, n = dist.get_rank(), dist.get_world_size()
    parts = tensor.clone().chunk(n)
    for step in range(n - 1):
        target = parts[(rank - step - 2) % n]
        received = torch.empty_like(target)
        dist.recv(received, (rank - 1) % n)
        dist.send(parts[(rank - step - 1) % n], (rank + 1) % n)
        target.add_(received)
    return parts[rank]

# %% 1 wrong: did not end
def answer_1(tensor):
    while True:
        pass

# %% 1 wrong: NameError
def answer_1(tensor):
    return tensor.chunk(world)[dist.get_rank()]

# %% 1 wrong: on every rank
# It changes the tensor, and returns nothing.
def answer_1(tensor):
    ring(tensor)

# %% 1 wrong: give a function
answer_1 = torch.arange(4.0)
