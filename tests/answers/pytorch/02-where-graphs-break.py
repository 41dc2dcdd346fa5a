# %% 1 right, each line
answer_1 = [1, 1, 2, 2, 3, 3, 4]
answer_1 = 1, 1, 2, 2, 3, 3, 4
answer_1 = torch.tensor([1, 1, 2, 2, 3, 3, 4])
answer_1 = "1 1 2 2 3 3 4".split()
answer_1 = graphs_after(pool, calls)

# %% 1 wrong, each line
# Every size anew: as with dynamic=False, or in a compiler without symbols.
answer_1 = [1, 1, 2, 3, 4, 5, 6]  # wrong-fourth
answer_1 = graphs_after(pool, calls, dynamic=False)  # wrong-fourth
# Only the strings count: shapes are dynamic from the start.
answer_1 = [1, 1, 1, 1, 2, 2, 3]  # wrong-third
answer_1 = graphs_after(pool, calls, dynamic=True)  # wrong-third
# How often the function ran.
answer_1 = [1, 2, 3, 4, 5, 6, 7]  # wrong-first-two
# How many new graphs each call brings.
answer_1 = [1, 0, 1, 0, 1, 0, 1]  # wrong-first-two
# The dynamic graph serves both strings.
answer_1 = [1, 1, 2, 2, 2, 2, 3]  # wrong-fifth
# The second string begins with a static graph, too.
answer_1 = [1, 1, 2, 2, 3, 4, 5]  # wrong-sixth
answer_1 = [1, 1, 2, 2, 3, 3, 3]  # wrong-last
answer_1 = [1, 1, 2, 2, 3, 3, 5]  # wrong-last
answer_1 = 4  # not-seven-numbers
answer_1 = [1, 1, 2, 2, 3, 3]  # not-seven-numbers
answer_1 = pool  # not-seven-numbers

# %% 2 right, each line
answer_2 = "d", "e"
answer_2 = ["D", "E"]
answer_2 = "d, e"
answer_2 = "de"

# %% 2 wrong, each line
answer_2 = "e", "d"  # swapped
answer_2 = "c", "e"  # compares-tensors
answer_2 = "c", "d"  # compares-tensors
# A method call that looks like an update.
answer_2 = "e", "e"  # wrong-break
answer_2 = "b", "e"  # wrong-break
# The number that is rounded changes from call to call.
answer_2 = "d", "d"  # wrong-recompilation
answer_2 = "d", "f"  # wrong-recompilation
answer_2 = "d", "c"  # wrong-recompilation
answer_2 = "d"  # not-two-letters
answer_2 = 4, 5  # not-two-letters
answer_2 = "d", "e", "f"  # not-two-letters
# In no order.
answer_2 = {"d", "e"}  # not-two-letters
answer_2 = "percent = round(100 * right.item())", "history.append(percent)"  # not-two-letters
answer_2 = None  # not-two-letters

# %% 3 right, each line
answer_3 = lambda x: x + torch.sin(0.1 * torch.arange(len(x))).reshape(-1, 1)
answer_3 = lambda x: x + torch.sin(torch.arange(x.shape[0], dtype=x.dtype)[:, None] / 10)
# Rows are counted by a sum.
answer_3 = lambda x: x + (0.1 * (torch.ones_like(x[:, :1]).cumsum(0) - 1)).sin()
answer_3 = lambda x: torch.arange(len(x)).mul(0.1).sin().unsqueeze(-1).add(x)
# Compiled by the reader already.
answer_3 = torch.compile(lambda x: x + torch.sin(0.1 * torch.arange(len(x))).unsqueeze(1), dynamic=True)

# %% 3 wrong: table-too-short. A table for all lengths that will ever come.
table = torch.sin(0.1 * torch.arange(100_000)).reshape(-1, 1)

def from_table(x):
    return x + table[:len(x)]

answer_3 = from_table

# %% 3 right
class Positions(nn.Module):
    def forward(self, x):
        return x + torch.sin(0.1 * torch.arange(len(x))).unsqueeze(1)

answer_3 = Positions()

# %% 3 wrong: other-values. Edited in its cell, counting from one.
def positions(x):
    return x + torch.sin(0.1 * torch.arange(1, len(x) + 1)).reshape(-1, 1)

answer_3 = positions

# %% 3 right. The function in the cell itself was edited.
#- return x + torch.sin(0.1 * torch.arange(1, len(x) + 1)).reshape(-1, 1)
#+ return x + torch.sin(0.1 * torch.arange(len(x))).reshape(-1, 1)

# %% 3 wrong: other-values. Edited in its cell, without the sine: the original is not what the reader has made of it.
#- return x + torch.sin(0.1 * torch.arange(1, len(x) + 1)).reshape(-1, 1)
#+ return x + 0.1 * torch.arange(len(x)).reshape(-1, 1)

# %% 3 wrong: graph-per-length
def in_place(x):
    y = x.clone()
    for row in range(len(x)):
        y[row] += torch.sin(torch.tensor(0.1 * row))
    return y

answer_3 = in_place

# %% 3 wrong: asks-for-length. One operator, but an if on the length.
def with_if(x):
    rows = torch.arange(len(x))
    if len(x) > 20:
        return x + torch.sin(rows * 0.1).unsqueeze(1)
    return x + torch.sin(0.1 * rows).reshape(-1, 1)

answer_3 = with_if

# %% 3 wrong: graph-breaks. Looks at a value.
def peeks(x):
    waves = torch.sin(0.1 * torch.arange(len(x))).reshape(-1, 1)
    if waves.isnan().any():
        return x
    return x + waves

answer_3 = peeks

# %% 3 wrong: graph-breaks
def prints(x):
    waves = torch.sin(0.1 * torch.arange(len(x))).reshape(-1, 1)
    print(end="")
    return x + waves

answer_3 = prints

# %% 3 wrong: not-compiled. No graph, no recompilation.
@torch.compiler.disable
def uncompiled(x):
    return positions(x)

answer_3 = lambda x: uncompiled(x)

# %% 3 wrong: endless
def endless(x):
    row = 0
    while row < len(x):
        wave = torch.sin(torch.tensor(0.1 * row))
    return x + wave

answer_3 = endless

# %% 3 wrong: asks-for-length. One operator for short tensors, the loop for long ones.
def long_ones(x):
    if len(x) > 200:
        waves = [torch.sin(torch.tensor(0.1 * row)) for row in range(len(x))]
        return x + torch.stack(waves).reshape(-1, 1)
    return x + torch.sin(0.1 * torch.arange(len(x))).reshape(-1, 1)

answer_3 = long_ones

# %% 3 wrong: loops-when-long
def very_long_ones(x):
    if len(x) > 500:
        return x + torch.stack([torch.sin(torch.tensor(0.1 * row)) for row in range(len(x))]).reshape(-1, 1)
    return x + torch.sin(0.1 * torch.arange(len(x))).reshape(-1, 1)

answer_3 = very_long_ones

# %% 3 wrong, each line
answer_3 = positions  # graph-per-length
# The loop moved into a list of numbers.
answer_3 = lambda x: x + torch.tensor([0.1 * row for row in range(len(x))]).sin().reshape(-1, 1)  # graph-per-length
# Compiling a disabled function compiles it.
answer_3 = torch.compiler.disable(lambda x: positions(x))  # graph-per-length
answer_3 = lambda x: x.add_(torch.sin(0.1 * torch.arange(len(x))).reshape(-1, 1))  # changes-argument
answer_3 = lambda x, short=torch.sin(0.1 * torch.arange(64)).reshape(-1, 1): x + short[:len(x)]  # other-values
answer_3 = lambda x, short=torch.sin(0.1 * torch.arange(1024)).reshape(-1, 1): x + short[:len(x)]  # limited-rows
# Ignores the rows.
answer_3 = lambda x: x  # other-values
# Adds along the columns, which fits eight rows and columns alone.
answer_3 = lambda x: x + torch.sin(0.1 * torch.arange(x.shape[1]))  # other-values
# Starts at one.
answer_3 = lambda x: x + torch.sin(0.1 * torch.arange(1, len(x) + 1)).reshape(-1, 1)  # other-values
# The arguments of the sine, without the sine.
answer_3 = lambda x: x + 0.1 * torch.arange(len(x)).reshape(-1, 1)  # other-values
# The step in the range: one row too many for some lengths.
answer_3 = lambda x: x + torch.sin(torch.arange(0, 0.1 * len(x), 0.1)).reshape(-1, 1)  # other-values
# No gradient flows.
answer_3 = lambda x: x.detach() + torch.sin(0.1 * torch.arange(len(x))).reshape(-1, 1)  # wrong-result
# Eight columns, for ever.
answer_3 = lambda x: x + torch.sin(0.1 * torch.arange(len(x))).reshape(-1, 1).expand(-1, 8)  # wrong-result
answer_3 = lambda x: x + torch.sin(torch.linspace(0, 0.1 * (len(x) - 1), len(x))).reshape(-1, 1)  # graph-per-length
answer_3 = lambda x: x + torch.cos(0.1 * torch.arange(len(x))).reshape(-1, 1)  # other-values
answer_3 = lambda x: x - torch.sin(0.1 * torch.arange(len(x))).reshape(-1, 1)  # other-values
answer_3 = lambda x: 0 * x + torch.sin(0.1 * torch.arange(len(x))).reshape(-1, 1)  # other-values
answer_3 = positions(x)  # no-function
answer_3 = "positions"  # no-function

# %% 4 right, each line
answer_4 = [3, 2]
answer_4 = 3, 2.0
answer_4 = torch.tensor([3, 2])
answer_4 = "3", "2"

# %% 4 wrong, each line
# One graph per step.
answer_4 = 21, 2  # too-many-for-float
# One graph per step, up to the limit, and the forward pass.
answer_4 = 9, 2  # too-many-for-float
answer_4 = 8, 2  # too-many-for-float
# As if the float were an input from the start.
answer_4 = 2, 2  # too-few-for-float
# The forward pass counted alone.
answer_4 = 2, 1  # wrong-for-tensor
# As if a tensor's value were guarded.
answer_4 = 3, 3  # wrong-for-tensor
answer_4 = 20, 20  # wrong-for-tensor
answer_4 = 2, 3  # swapped
answer_4 = 3  # not-two-numbers
answer_4 = [2, 3, 3, 3, 3]  # not-two-numbers
answer_4 = None  # not-two-numbers
