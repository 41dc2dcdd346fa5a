# %% 1 right
answer_1 = torch.export.export(net, (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows")}})

# %% 1 right
answer_1 = torch.export.export(net, (example,), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},))

# %% 1 right
answer_1 = torch.export.export(net, (example,), dynamic_shapes=[[torch.export.Dim.AUTO, 512]])

# %% 1 right
# Stored and loaded again.
torch.export.save(torch.export.export(
    net, (torch.randn(9, 512),), dynamic_shapes=({0: torch.export.Dim("n", min=1)},)), f"{folder.name}/any.pt2")
answer_1 = torch.export.load(f"{folder.name}/any.pt2")

# %% 1 right
# PyTorch does not enforce this lower limit: one row is accepted.
answer_1 = torch.export.export(net, (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows", min=2)}})

# %% 1 wrong: one row, and no other
answer_1 = exported

# %% 1 wrong: still a constant
answer_1 = torch.export.export(net, (example,))

# %% 1 wrong: still a constant
# A constant for each batch that is asked for.
answer_1 = torch.export.export(net, (torch.randn(64, 512),))

# %% 1 wrong: largest number of rows
answer_1 = torch.export.export(net, (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows", max=64)}})

# %% 1 wrong: largest number of rows
answer_1 = torch.export.export(net, (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows", max=10**6)}})

# %% 1 wrong: largest number of rows
answer_1 = torch.export.export(net, (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows", max=5)}})

# %% 1 wrong: refuses one row
answer_1 = torch.export.export(net, (torch.randn(6, 512),),
                               dynamic_shapes={"x": {0: torch.export.Dim("rows", min=4)}})

# %% 1 wrong: not those of `net`
answer_1 = torch.export.export(Net(), (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows")}})

# %% 1 wrong: does not take rows of 512
answer_1 = torch.export.export(nn.Linear(4, 2), (torch.randn(3, 4),),
                               dynamic_shapes={"input": {0: torch.export.Dim("rows")}})

# %% 1 wrong: what `export` itself returns
answer_1 = torch.export.export(net, (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows")}}).module()

# %% 1 wrong: what `export` itself returns
answer_1 = net

# %% 1 wrong: what `export` returns
answer_1 = "dynamic_shapes"

# %% 1 wrong: it is the network
# It compiles any number of rows, but it is no file.
answer_1 = torch.compile(net, backend="eager", dynamic=True)
