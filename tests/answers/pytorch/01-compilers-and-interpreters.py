# %% 1 right
answer_1 = [1, 2, 2]

# %% 1 right
answer_1 = (1.0, 2, "2")

# %% 1 right
answer_1 = torch.tensor([1, 2, 2])

# %% 1 wrong: run eagerly
answer_1 = [4, 3, 4]

# %% 1 wrong: nothing were fused
answer_1 = [4, 2, 2]

# %% 1 wrong: counts the products, too
answer_1 = [1, 3, 4]

# %% 1 wrong: counts the products, not
answer_1 = 0, 1, 2

# %% 1 wrong: one loop per function
answer_1 = [1, 1, 1]

# %% 1 wrong: the second number
answer_1 = [1, 1, 2]

# %% 1 wrong: the third number
answer_1 = [1, 2, 1]

# %% 1 wrong: the first number
answer_1 = [2, 2, 2]

# %% 1 wrong: the third number
# Its relu, product and relu, each counted.
answer_1 = 1, 2, 3

# %% 1 wrong: the third number
answer_1 = [1, 2, 4]

# %% 1 wrong: the first number
answer_1 = [3, 2, 2]

# %% 1 wrong: the second number
answer_1 = [1, 3, 3]

# %% 1 wrong: a whole number
answer_1 = [1, 2.5, 2]

# %% 1 wrong: three numbers
answer_1 = 5

# %% 1 wrong: three numbers
answer_1 = [1, 2]

# %% 2 right
def ready(net, backend):
    compiled = torch.compile(net, backend=backend, dynamic=True)
    compiled(torch.randn(32, 512))
    return compiled

answer_2 = ready

# %% 2 right
# Both sizes in advance.
def ready(net, backend):
    compiled = torch.compile(net, backend=backend)
    for rows in (32, 8):
        compiled(torch.randn(rows, 512))
    return compiled

answer_2 = ready

# %% 2 right
# A constant for each size.
def ready(network, compiler):
    fast = torch.compile(network, backend=compiler, dynamic=False)
    serve(fast)
    return fast

answer_2 = ready

# %% 2 right
# Only one size ever reaches the compiled network.
def ready(net, backend):
    compiled = torch.compile(net, backend=backend)

    def padded(batch):
        full = torch.zeros(32, 512)
        full[:len(batch)] = batch
        return compiled(full)[:len(batch)]

    padded(torch.randn(32, 512))
    return padded

answer_2 = ready

# %% 2 right
def ready(net, backend):
    compiled = torch.compile(net, backend=backend)
    example = torch.randn(32, 512)
    torch._dynamo.mark_dynamic(example, 0)
    compiled(example)
    return compiled

answer_2 = ready

# %% 2 right
# The reader's loop prints, and returns nothing any more.
def serve(compiled, requests=requests):
    for batch in requests.split(32):
        print(len(batch), len(compiled(batch)))

def ready(net, backend):
    compiled = torch.compile(net, backend=backend, dynamic=True)
    compiled(torch.randn(32, 512))
    return compiled

answer_2 = ready

# %% 2 wrong: still has to wait
answer_2 = prepare

# %% 2 wrong: still has to wait
# The loop drops the last batch, and the function is as before.
def serve(compiled, requests=requests):
    return [compiled(batch) for batch in requests[:192].split(32)]

answer_2 = prepare

# %% 2 wrong: still has to wait
# Only once more, for the same size.
def ready(net, backend):
    compiled = torch.compile(net, backend=backend)
    compiled(torch.randn(32, 512))
    compiled(torch.randn(32, 512))
    return compiled

answer_2 = ready

# %% 2 wrong: still has to wait
# The size of all requests, not of a batch.
def ready(net, backend):
    compiled = torch.compile(net, backend=backend, dynamic=False)
    compiled(requests)
    compiled(torch.randn(32, 512))
    return compiled

answer_2 = ready

# %% 2 wrong: before the first request
def ready(net, backend):
    return torch.compile(net, backend=backend, dynamic=True)

answer_2 = ready

# %% 2 wrong: never runs it
# The eager network.
def ready(net, backend):
    compiled = torch.compile(net, backend=backend, dynamic=True)
    compiled(torch.randn(32, 512))
    return net

answer_2 = ready

# %% 2 wrong: nothing is compiled
def ready(net, backend):
    return net

answer_2 = ready

# %% 2 wrong: nothing is compiled
def ready(net, backend):
    compiled = torch.compile(net, backend="eager", dynamic=True)
    compiled(torch.randn(32, 512))
    return compiled

answer_2 = ready

# %% 2 wrong: at least one of the batches
# Every size in advance: the first ones use up the limit.
def ready(net, backend):
    compiled = torch.compile(net, backend=backend, dynamic=False)
    for rows in range(1, 33):
        compiled(torch.randn(rows, 512))
    return compiled

answer_2 = ready

# %% 2 wrong: not answered by compiled code
def ready(net, backend):
    compiled = torch.compile(net, backend=backend)
    compiled(torch.randn(32, 512))
    return lambda batch: compiled(batch) if len(batch) == 32 else net(batch)

answer_2 = ready

# %% 2 wrong: not answered by compiled code
def ready(net, backend):
    compiled = torch.compile(net, backend=backend)
    compiled(torch.randn(32, 512))
    torch.compiler.set_stance("eager_on_recompile")
    return compiled

answer_2 = ready

# %% 2 wrong: return a network
def ready(net, backend):
    compiled = torch.compile(net, backend=backend, dynamic=True)
    compiled(torch.randn(32, 512))

answer_2 = ready

# %% 2 wrong: other answers, or none
# Another network: it is compiled, and never trained.
def ready(net, backend):
    compiled = torch.compile(new_net(), backend=backend, dynamic=True)
    compiled(torch.randn(32, 512))
    return compiled

answer_2 = ready

# %% 2 wrong: other answers, or none
# It drops the last batch's rows.
def ready(net, backend):
    compiled = torch.compile(net, backend=backend)
    compiled(torch.randn(32, 512))
    return lambda batch: compiled(batch) if len(batch) == 32 else batch.new_zeros(len(batch), 2)

answer_2 = ready

# %% 2 wrong: without parentheses
answer_2 = torch.compile(net, backend="eager", dynamic=True)

# %% 2 wrong: take a network and a backend
answer_2 = torch.compile

# %% 2 wrong: take a network and a backend
answer_2 = lambda net: torch.compile(net, dynamic=True)

# %% 2 wrong: still running
def ready(net, backend):
    compiled = torch.compile(net, backend=backend)
    while True:
        compiled(torch.randn(32, 512))

answer_2 = ready
