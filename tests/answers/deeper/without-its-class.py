# %% 1 right. Stored and loaded again.
torch.export.save(torch.export.export(
    net, (torch.randn(9, 512),), dynamic_shapes=({0: torch.export.Dim("n", min=1)},)), f"{folder.name}/any.pt2")
answer_1 = torch.export.load(f"{folder.name}/any.pt2")

# %% 1 right, each line
answer_1 = torch.export.export(net, (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows")}})
answer_1 = torch.export.export(net, (example,), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},))
answer_1 = torch.export.export(net, (example,), dynamic_shapes=[[torch.export.Dim.AUTO, 512]])
# PyTorch does not enforce this lower limit: one row is accepted.
answer_1 = torch.export.export(net, (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows", min=2)}})

# %% 1 wrong: refuses-one-row
answer_1 = torch.export.export(net, (torch.randn(6, 512),),
                               dynamic_shapes={"x": {0: torch.export.Dim("rows", min=4)}})

# %% 1 wrong: refuses-some-rows. A network around it, with a condition on the number of rows.
class Checked(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = net

    def forward(self, x):
        torch._check((x.shape[0] + 1) % 3 != 0)
        return self.net(x)

answer_1 = torch.export.export(Checked(), (torch.randn(4, 512),), dynamic_shapes=({0: torch.export.Dim.AUTO},))

# %% 1 wrong: other-input
answer_1 = torch.export.export(nn.Linear(4, 2), (torch.randn(3, 4),),
                               dynamic_shapes={"input": {0: torch.export.Dim("rows")}})

# %% 1 wrong, each line
answer_1 = exported  # one-row-alone
answer_1 = torch.export.export(net, (example,))  # another-constant
# A constant for each batch that is asked for.
answer_1 = torch.export.export(net, (torch.randn(64, 512),))  # another-constant
answer_1 = torch.export.export(net, (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows", max=64)}})  # bounded
answer_1 = torch.export.export(net, (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows", max=10**6)}})  # bounded
answer_1 = torch.export.export(net, (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows", max=5)}})  # bounded
answer_1 = torch.export.export(Net(), (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows")}})  # other-answers
answer_1 = torch.export.export(net, (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows")}}).module()  # module-not-program
answer_1 = net  # module-not-program
answer_1 = "dynamic_shapes"  # no-program
# It compiles any number of rows, but it is no file.
answer_1 = torch.compile(net, backend="eager", dynamic=True)  # module-not-program
