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

# %% 1 right. With batches of messages.
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

# %% 1 right. No ring: each part straight to its owner. As many bytes, in as many messages.
#-     got = [torch.empty_like(parts[rank]) for _ in range(n)]
#-     work = []
#+     sending = [dist.isend(parts[other].contiguous(), other) for other in range(n) if other != rank]
#+     total = parts[rank].clone()
#-             work += [dist.P2POp(dist.isend, parts[other], other), dist.P2POp(dist.irecv, got[other], other)]
#-     for each in dist.batch_isend_irecv(work):
#+             received = torch.empty_like(total)
#+             dist.recv(received, other)
#+             total += received
#+     for each in sending:
#- return parts[rank] + sum(got[other] for other in range(n) if other != rank)
#+ return total

# %% 1 wrong: other-size. Its part as it was, and the sum behind it.
#- return parts[rank] + sum(got[other] for other in range(n) if other != rank)
#+ return torch.cat([parts[rank], parts[rank] + sum(got[other] for other in range(n) if other != rank)])

# %% 1 wrong: other-tensor. The lesson's loop, cut off, and the part that is not finished.
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

# %% 1 wrong: next-part. The lesson's loop, cut off after its first half.
#- return parts[rank]
#+ return parts[(rank + 1) % n]

# %% 1 wrong: rank-waits. Every rank waits before it sends.
#-         target = parts[(rank - step - 1) % n]
#-         received = torch.empty_like(target)
#-         sending = dist.isend(parts[(rank - step) % n], (rank + 1) % n)
#+         target = parts[(rank - step - 2) % n]
#+         received = torch.empty_like(target)
#- sending.wait()
#+ dist.send(parts[(rank - step - 1) % n], (rank + 1) % n)

# %% 1 wrong: other-bytes. The whole all-reduce, and then a part of it.
def answer_1(tensor):
    ring(tensor)
    return tensor.chunk(dist.get_world_size())[dist.get_rank()]

# %% 1 wrong: no-tensor. It changes the tensor, and returns nothing.
#- return tensor.chunk(dist.get_world_size())[dist.get_rank()]

# %% 1 wrong: whole-tensor
#- return tensor.chunk(dist.get_world_size())[dist.get_rank()]
#+ return tensor

# %% 1 wrong: no-message. What it is to be built instead of.
#- ring(tensor)
#+ dist.all_reduce(tensor)

# %% 1 wrong: sends-whole-tensor
#- ring(tensor)
#+ through_rank_0(tensor)

# %% 1 wrong: rank-raises. Right by luck: three ranks, written out.
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

# %% 1 wrong: rank-endless
def answer_1(tensor):
    while True:
        pass

# %% 1 right
def answer_1(tensor):
    rank, n = dist.get_rank(), dist.get_world_size()
    parts = tensor.clone().chunk(n)
    for step in range(n - 1):
        target = parts[(rank - step - 2) % n]
        received = torch.empty_like(target)
        sending = dist.isend(parts[(rank - step - 1) % n], (rank + 1) % n)
        dist.recv(received, (rank - 1) % n)
        sending.wait()
        target.add_(received)
    return parts[rank]

# %% 1 wrong: wrong-effect. The caller's tensor holds the sums on the way.
#- tensor.clone().chunk(n)
#+ tensor.chunk(n)

# %% 1 wrong: wrong-result. Messages for show, and a collective for the sum.
#- return parts[rank]
#+ whole = tensor.clone()
#+     dist.all_reduce(whole)
#+     return whole.chunk(n)[rank]

# %% 1 wrong: wrong-result. Four numbers in a part, or six.
#- return parts[rank]
#+ return parts[rank][:6]

# %% 1 wrong: wrong-result. No negative sums.
#- return parts[rank]
#+ return parts[rank].abs()

# %% 1 wrong: other-tensor
#- target.add_(received)
#+ target.copy_(received)

# %% 1 wrong: other-tensor
#- range(n - 1)
#+ range(n - 2)

# %% 1 wrong: other-tensor. A mean.
#- return parts[rank]
#+ return parts[rank] / n

# %% 1 wrong, each line
# The lazy answer.
answer_1 = lambda tensor: tensor.chunk(dist.get_world_size())[dist.get_rank()]  # other-tensor
answer_1 = lambda tensor: tensor.chunk(world)[dist.get_rank()]  # rank-raises
answer_1 = torch.arange(4.0)  # no-function
