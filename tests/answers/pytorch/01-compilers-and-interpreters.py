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

# %% 1 wrong: the order of the questions
answer_1 = [1, 2, 3]

# %% 1 wrong: a whole number
answer_1 = [1, 2.5, 2]

# %% 1 wrong: three numbers
answer_1 = 5

# %% 1 wrong: three numbers
answer_1 = [1, 2]

# %% 2 right
answer_2 = torch.export.export(net, (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows")}})

# %% 2 right
answer_2 = torch.export.export(net, (example,), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},))

# %% 2 right
answer_2 = torch.export.export(net, (example,), dynamic_shapes=[[torch.export.Dim.AUTO, 512]])

# %% 2 right
# Stored and loaded again.
torch.export.save(torch.export.export(
    net, (torch.randn(9, 512),), dynamic_shapes=({0: torch.export.Dim("n", min=1)},)), f"{folder.name}/any.pt2")
answer_2 = torch.export.load(f"{folder.name}/any.pt2")

# %% 2 wrong: one row, and no other
answer_2 = exported

# %% 2 wrong: still a constant
answer_2 = torch.export.export(net, (example,))

# %% 2 wrong: still a constant
# A constant for each batch that is asked for.
answer_2 = torch.export.export(net, (torch.randn(64, 512),))

# %% 2 wrong: largest number of rows
answer_2 = torch.export.export(net, (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows", max=64)}})

# %% 2 wrong: largest number of rows
answer_2 = torch.export.export(net, (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows", max=10**6)}})

# %% 2 wrong: refuses one row
answer_2 = torch.export.export(net, (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows", min=2)}})

# %% 2 wrong: refuses some
answer_2 = torch.export.export(net, (torch.randn(6, 512),),
                               dynamic_shapes={"x": {0: 3 * torch.export.Dim("rows")}})

# %% 2 wrong: not those of `net`
answer_2 = torch.export.export(Net(), (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows")}})

# %% 2 wrong: does not take rows of 512
answer_2 = torch.export.export(nn.Linear(4, 2), (torch.randn(3, 4),),
                               dynamic_shapes={"input": {0: torch.export.Dim("rows")}})

# %% 2 wrong: what `export` itself returns
answer_2 = torch.export.export(net, (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows")}}).module()

# %% 2 wrong: what `export` itself returns
answer_2 = net

# %% 2 wrong: what `export` returns
answer_2 = "dynamic_shapes"

# %% 2 wrong: it is the network
# It compiles any number of rows, but it is no file.
answer_2 = torch.compile(net, backend="eager", dynamic=True)

# %% 3 right
def ready(net, backend):
    compiled = torch.compile(net, backend=backend, dynamic=True)
    compiled(torch.randn(32, 512))
    return compiled

answer_3 = ready

# %% 3 right
# Both sizes in advance.
def ready(net, backend):
    compiled = torch.compile(net, backend=backend)
    for rows in (32, 8):
        compiled(torch.randn(rows, 512))
    return compiled

answer_3 = ready

# %% 3 right
# A constant for each size.
def ready(network, compiler):
    fast = torch.compile(network, backend=compiler, dynamic=False)
    serve(fast)
    return fast

answer_3 = ready

# %% 3 right
# Only one size ever reaches the compiled network.
def ready(net, backend):
    compiled = torch.compile(net, backend=backend)

    def padded(batch):
        full = torch.zeros(32, 512)
        full[:len(batch)] = batch
        return compiled(full)[:len(batch)]

    padded(torch.randn(32, 512))
    return padded

answer_3 = ready

# %% 3 right
def ready(net, backend):
    compiled = torch.compile(net, backend=backend)
    example = torch.randn(32, 512)
    torch._dynamo.mark_dynamic(example, 0)
    compiled(example)
    return compiled

answer_3 = ready

# %% 3 wrong: still has to wait
answer_3 = prepare

# %% 3 wrong: still has to wait
# Only once more, for the same size.
def ready(net, backend):
    compiled = torch.compile(net, backend=backend)
    compiled(torch.randn(32, 512))
    compiled(torch.randn(32, 512))
    return compiled

answer_3 = ready

# %% 3 wrong: still has to wait
# The size of all requests, not of a batch.
def ready(net, backend):
    compiled = torch.compile(net, backend=backend, dynamic=False)
    compiled(requests)
    compiled(torch.randn(32, 512))
    return compiled

answer_3 = ready

# %% 3 wrong: before the first request
def ready(net, backend):
    return torch.compile(net, backend=backend, dynamic=True)

answer_3 = ready

# %% 3 wrong: never runs it
# The eager network.
def ready(net, backend):
    compiled = torch.compile(net, backend=backend, dynamic=True)
    compiled(torch.randn(32, 512))
    return net

answer_3 = ready

# %% 3 wrong: nothing is compiled
def ready(net, backend):
    return net

answer_3 = ready

# %% 3 wrong: nothing is compiled
def ready(net, backend):
    compiled = torch.compile(net, backend="eager", dynamic=True)
    compiled(torch.randn(32, 512))
    return compiled

answer_3 = ready

# %% 3 wrong: not answered by compiled code
def ready(net, backend):
    compiled = torch.compile(net, backend=backend)
    compiled(torch.randn(32, 512))
    return lambda batch: compiled(batch) if len(batch) == 32 else net(batch)

answer_3 = ready

# %% 3 wrong: not answered by compiled code
def ready(net, backend):
    compiled = torch.compile(net, backend=backend)
    compiled(torch.randn(32, 512))
    torch.compiler.set_stance("eager_on_recompile")
    return compiled

answer_3 = ready

# %% 3 wrong: return a network
def ready(net, backend):
    compiled = torch.compile(net, backend=backend, dynamic=True)
    compiled(torch.randn(32, 512))

answer_3 = ready

# %% 3 wrong: other answers, or none
# Another network: it is compiled, and never trained.
def ready(net, backend):
    compiled = torch.compile(Net(), backend=backend, dynamic=True)
    compiled(torch.randn(32, 512))
    return compiled

answer_3 = ready

# %% 3 wrong: other answers, or none
# It drops the last batch's rows.
def ready(net, backend):
    compiled = torch.compile(net, backend=backend)
    compiled(torch.randn(32, 512))
    return lambda batch: compiled(batch) if len(batch) == 32 else batch.new_zeros(len(batch), 2)

answer_3 = ready

# %% 3 wrong: without parentheses
answer_3 = torch.compile(net, backend="eager", dynamic=True)

# %% 3 wrong: take a network and a backend
answer_3 = torch.compile

# %% 3 wrong: take a network and a backend
answer_3 = lambda net: torch.compile(net, dynamic=True)

# %% 3 wrong: still running
def ready(net, backend):
    compiled = torch.compile(net, backend=backend)
    while True:
        compiled(torch.randn(32, 512))

answer_3 = ready
