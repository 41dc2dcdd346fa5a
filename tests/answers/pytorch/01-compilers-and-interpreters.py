# %% 1 right, each line
answer_1 = [1, 2, 2]
answer_1 = (1.0, 2, "2")
answer_1 = torch.tensor([1, 2, 2])

# %% 1 wrong, each line
answer_1 = [4, 3, 4]  # counts-operators
answer_1 = [4, 2, 2]  # nothing-fused
answer_1 = [1, 3, 4]  # counts-products-too
answer_1 = 0, 1, 2  # counts-products
answer_1 = [1, 1, 1]  # one-per-function
answer_1 = [1, 1, 2]  # wrong-second
answer_1 = [1, 3, 3]  # wrong-second
answer_1 = [1, 2, 1]  # wrong-third
# Its relu, product and relu, each counted.
answer_1 = 1, 2, 3  # wrong-third
answer_1 = [1, 2, 4]  # wrong-third
answer_1 = [2, 2, 2]  # wrong-first
answer_1 = [3, 2, 2]  # wrong-first
answer_1 = [1, 2.5, 2]  # not-counts
answer_1 = 5  # not-three-numbers
answer_1 = [1, 2]  # not-three-numbers

# %% 2 right. A constant for each size.
def ready(network, compiler):
    fast = torch.compile(network, backend=compiler, dynamic=False)
    serve(fast)
    return fast

answer_2 = ready

# %% 2 wrong: compiles-while-serving. The loop drops the last batch, and the function is as before.
def serve(compiled, requests=requests):
    return [compiled(batch) for batch in requests[:192].split(32)]

answer_2 = prepare

# %% 2 right
def ready(net, backend):
    compiled = torch.compile(net, backend=backend, dynamic=True)
    compiled(torch.randn(32, 512))
    return compiled

answer_2 = ready

# %% 2 right. The reader's loop prints, and returns nothing any more.
#- def ready(net, backend):
#+ def serve(compiled, requests=requests):
#+     for batch in requests.split(32):
#+         print(len(batch), len(compiled(batch)))
#+
#+ def ready(net, backend):

# %% 2 right
#-     compiled = torch.compile(net, backend=backend, dynamic=True)
#-     compiled(torch.randn(32, 512))
#+     compiled = torch.compile(net, backend=backend)
#+     example = torch.randn(32, 512)
#+     torch._dynamo.mark_dynamic(example, 0)
#+     compiled(example)

# %% 2 right. Both sizes in advance.
#- , dynamic=True)
#+ )
#-     compiled(torch.randn(32, 512))
#+     for rows in (32, 8):
#+         compiled(torch.randn(rows, 512))

# %% 2 wrong: some-uncompiled. Every size in advance: the first ones use up the limit.
#- dynamic=True)
#-     compiled(torch.randn(32, 512))
#+ dynamic=False)
#+     for rows in range(1, 33):
#+         compiled(torch.randn(rows, 512))

# %% 2 wrong: not-in-advance
#-     compiled(torch.randn(32, 512))

# %% 2 wrong: compiled-never-runs. The eager network.
#- return compiled
#+ return net

# %% 2 wrong: no-network
#-     return compiled

# %% 2 wrong: endless
#-     compiled(torch.randn(32, 512))
#+     while True:
#+         compiled(torch.randn(32, 512))

# %% 2 wrong: other-answers. Another network: it is compiled, and never trained.
#- net, backend=backend
#+ new_net(), backend=backend

# %% 2 wrong: nothing-compiled
#- backend=backend
#+ backend="eager"

# %% 2 wrong: compiles-while-serving. Only once more, for the same size.
#- , dynamic=True)
#+ )
#+     compiled(torch.randn(32, 512))

# %% 2 wrong: compiles-while-serving. The size of all requests, not of a batch.
#- dynamic=True)
#+ dynamic=False)
#+     compiled(requests)

# %% 2 wrong: other-answers. It drops the last batch's rows.
def ready(net, backend):
    compiled = torch.compile(net, backend=backend)
    compiled(torch.randn(32, 512))
    return lambda batch: compiled(batch) if len(batch) == 32 else batch.new_zeros(len(batch), 2)

answer_2 = ready

# %% 2 wrong: some-uncompiled
#- batch.new_zeros(len(batch), 2)
#+ net(batch)

# %% 2 wrong: some-uncompiled
#-     return lambda batch: compiled(batch) if len(batch) == 32 else batch.new_zeros(len(batch), 2)
#+     torch.compiler.set_stance("eager_on_recompile")
#+     return compiled

# %% 2 right. Only one size ever reaches the compiled network.
#-     compiled(torch.randn(32, 512))
#-     return lambda batch: compiled(batch) if len(batch) == 32 else batch.new_zeros(len(batch), 2)
#+
#+     def padded(batch):
#+         full = torch.zeros(32, 512)
#+         full[:len(batch)] = batch
#+         return compiled(full)[:len(batch)]
#+
#+     padded(torch.randn(32, 512))
#+     return padded

# %% 2 right
def ready(net, backend):
    compiled = torch.compile(net, backend=backend, dynamic=True)
    compiled(torch.randn(32, 512))
    return compiled

answer_2 = ready

# %% 2 wrong: batch-in-pieces. Row by row: 32 calls per batch.
#-     compiled(torch.randn(32, 512))
#-     return compiled
#+     compiled(torch.randn(1, 512))
#+     return lambda batch: torch.cat([compiled(row[None]) for row in batch])

# %% 2 wrong: batch-in-pieces
#-     compiled(torch.randn(32, 512))
#-     return compiled
#+     compiled(torch.randn(8, 512))
#+     return lambda batch: torch.cat([compiled(part) for part in batch.split(8)])

# %% 2 wrong: compiles-while-serving. Warmed up with gradients, served without.
#- compiled(torch.randn(32, 512))
#+ with torch.enable_grad():
#+         compiled(torch.randn(32, 512))

# %% 2 wrong: wrong-effect. It freezes the caller's network.
#- return compiled
#+ net.requires_grad_(False)
#+     return compiled

# %% 2 wrong: wrong-effect
#- compiled = torch
#+ net.eval()
#+     compiled = torch

# %% 2 wrong: wrong-result. The lesson's network, whatever it is given.
the_lessons = net
def ready(net, backend):
    compiled = torch.compile(the_lessons, backend=backend, dynamic=True)
    compiled(torch.randn(32, 512))
    return compiled

answer_2 = ready

# %% 2 wrong, each line
answer_2 = lambda net, backend: net  # nothing-compiled
answer_2 = prepare  # compiles-while-serving
answer_2 = torch.compile(net, backend="eager", dynamic=True)  # no-function
answer_2 = torch.compile  # no-network
answer_2 = lambda net: torch.compile(net, dynamic=True)  # no-network
