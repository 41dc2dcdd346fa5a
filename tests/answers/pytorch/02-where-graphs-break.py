# %% 1 right
answer_1 = [1, 1, 2, 2, 3, 3, 4]

# %% 1 right
answer_1 = 1, 1, 2, 2, 3, 3, 4

# %% 1 right
answer_1 = torch.tensor([1, 1, 2, 2, 3, 3, 4])

# %% 1 right
answer_1 = "1 1 2 2 3 3 4".split()

# %% 1 right
answer_1 = graphs_after(pool, calls)

# %% 1 wrong: keeps its graph for 4 rows
# Every size anew: as with dynamic=False, or in a compiler without symbols.
answer_1 = [1, 1, 2, 3, 4, 5, 6]

# %% 1 wrong: keeps its graph for 4 rows
answer_1 = graphs_after(pool, calls, dynamic=False)

# %% 1 wrong: the third call
# Only the strings count: shapes are dynamic from the start.
answer_1 = [1, 1, 1, 1, 2, 2, 3]

# %% 1 wrong: the third call
answer_1 = graphs_after(pool, calls, dynamic=True)

# %% 1 wrong: the first two calls
# How often the function ran.
answer_1 = [1, 2, 3, 4, 5, 6, 7]

# %% 1 wrong: the first two calls
# How many new graphs each call brings.
answer_1 = [1, 0, 1, 0, 1, 0, 1]

# %% 1 wrong: the fifth call
# The dynamic graph serves both strings.
answer_1 = [1, 1, 2, 2, 2, 2, 3]

# %% 1 wrong: the sixth call
# The second string begins with a static graph, too.
answer_1 = [1, 1, 2, 2, 3, 4, 5]

# %% 1 wrong: the last call
answer_1 = [1, 1, 2, 2, 3, 3, 3]

# %% 1 wrong: the last call
answer_1 = [1, 1, 2, 2, 3, 3, 5]

# %% 1 wrong: seven numbers
answer_1 = 4

# %% 1 wrong: seven numbers
answer_1 = [1, 1, 2, 2, 3, 3]

# %% 1 wrong: seven numbers
answer_1 = pool

# %% 2 right
answer_2 = "d", "e"

# %% 2 right
answer_2 = ["D", "E"]

# %% 2 right
answer_2 = "d, e"

# %% 2 right
answer_2 = "de"

# %% 2 wrong: which of them does which
answer_2 = "e", "d"

# %% 2 wrong: does Python look at their values
answer_2 = "c", "e"

# %% 2 wrong: does Python look at their values
answer_2 = "c", "d"

# %% 2 wrong: the first letter
# A method call that looks like an update.
answer_2 = "e", "e"

# %% 2 wrong: the first letter
answer_2 = "b", "e"

# %% 2 wrong: the same in every call
# The number that is rounded changes from call to call.
answer_2 = "d", "d"

# %% 2 wrong: the same in every call
answer_2 = "d", "f"

# %% 2 wrong: the same in every call
answer_2 = "d", "c"

# %% 2 wrong: two letters
answer_2 = "d"

# %% 2 wrong: two letters
answer_2 = 4, 5

# %% 2 wrong: two letters
answer_2 = "d", "e", "f"

# %% 2 wrong: two letters
answer_2 = "percent = round(100 * right.item())", "history.append(percent)"

# %% 2 wrong: two letters
answer_2 = None

# %% 3 right
def at_once(x):
    rows = torch.arange(len(x))
    return x + torch.sin(0.1 * rows).reshape(-1, 1)

answer_3 = at_once

# %% 3 right
answer_3 = lambda x: x + torch.sin(torch.arange(x.shape[0], dtype=x.dtype)[:, None] / 10)

# %% 3 right
# Rows are counted by a sum.
def by_sums(x):
    rows = torch.ones_like(x[:, :1]).cumsum(0) - 1
    return x + (0.1 * rows).sin()

answer_3 = by_sums

# %% 3 right
# A table for all lengths that will ever come.
table = torch.sin(0.1 * torch.arange(100_000)).reshape(-1, 1)

def from_table(x):
    return x + table[:len(x)]

answer_3 = from_table

# %% 3 right
# Compiled by the reader already.
def ours(x):
    return x + torch.sin(0.1 * torch.arange(len(x))).unsqueeze(1)

answer_3 = torch.compile(ours, dynamic=True)

# %% 3 right
class Positions(nn.Module):
    def forward(self, x):
        return x + torch.sin(0.1 * torch.arange(len(x))).unsqueeze(1)

answer_3 = Positions()

# %% 3 right
# The function in the cell itself was edited.
def positions(x):
    return x + torch.sin(0.1 * torch.arange(len(x))).reshape(-1, 1)

answer_3 = positions

# %% 3 wrong: a new graph for every length
answer_3 = positions

# %% 3 wrong: what the original gives
# Edited in its cell, without the sine: the original is not what the reader has made of it.
def positions(x):
    return x + 0.1 * torch.arange(len(x)).reshape(-1, 1)

answer_3 = positions

# %% 3 wrong: what the original gives
# Edited in its cell, counting from one.
def positions(x):
    return x + torch.sin(0.1 * torch.arange(1, len(x) + 1)).reshape(-1, 1)

answer_3 = positions

# %% 3 wrong: a new graph for every length
# The loop moved into a list of numbers.
def from_list(x):
    return x + torch.tensor([0.1 * row for row in range(len(x))]).sin().reshape(-1, 1)

answer_3 = from_list

# %% 3 wrong: a new graph for every length
def in_place(x):
    y = x.clone()
    for row in range(len(x)):
        y[row] += torch.sin(torch.tensor(0.1 * row))
    return y

answer_3 = in_place

# %% 3 wrong: for some lengths
# One operator, but an if on the length.
def with_if(x):
    rows = torch.arange(len(x))
    if len(x) > 20:
        return x + torch.sin(rows * 0.1).unsqueeze(1)
    return x + torch.sin(0.1 * rows).reshape(-1, 1)

answer_3 = with_if

# %% 3 wrong: in more than one piece
# Looks at a value.
def peeks(x):
    waves = torch.sin(0.1 * torch.arange(len(x))).reshape(-1, 1)
    if waves.isnan().any():
        return x
    return x + waves

answer_3 = peeks

# %% 3 wrong: in more than one piece
def prints(x):
    waves = torch.sin(0.1 * torch.arange(len(x))).reshape(-1, 1)
    print(end="")
    return x + waves

answer_3 = prints

# %% 3 wrong: a new graph for every length
# Compiling a disabled function compiles it.
answer_3 = torch.compiler.disable(lambda x: positions(x))

# %% 3 wrong: not compiled at all
# No graph, no recompilation.
@torch.compiler.disable
def uncompiled(x):
    return positions(x)

answer_3 = lambda x: uncompiled(x)

# %% 3 wrong: what the original gives
# Ignores the rows.
answer_3 = lambda x: x

# %% 3 wrong: what the original gives
# Adds along the columns, which fits eight rows and columns alone.
answer_3 = lambda x: x + torch.sin(0.1 * torch.arange(x.shape[1]))

# %% 3 wrong: what the original gives
# Starts at one.
answer_3 = lambda x: x + torch.sin(0.1 * torch.arange(1, len(x) + 1)).reshape(-1, 1)

# %% 3 wrong: what the original gives
# The arguments of the sine, without the sine.
answer_3 = lambda x: x + 0.1 * torch.arange(len(x)).reshape(-1, 1)

# %% 3 wrong: with more rows than it has
short = torch.sin(0.1 * torch.arange(64)).reshape(-1, 1)
answer_3 = lambda x: x + short[:len(x)]

# %% 3 wrong: with more rows than it has
short = torch.sin(0.1 * torch.arange(1024)).reshape(-1, 1)
answer_3 = lambda x: x + short[:len(x)]

# %% 3 wrong: what the original gives
# The step in the range: one row too many for some lengths.
answer_3 = lambda x: x + torch.sin(torch.arange(0, 0.1 * len(x), 0.1)).reshape(-1, 1)

# %% 3 wrong: changes its argument
def adds_in_place(x):
    x += torch.sin(0.1 * torch.arange(len(x))).reshape(-1, 1)
    return x

answer_3 = adds_in_place

# %% 3 wrong: without calling it
answer_3 = positions(x)

# %% 3 wrong: without calling it
answer_3 = "positions"

# %% 3 wrong: still running
def endless(x):
    row = 0
    while row < len(x):
        wave = torch.sin(torch.tensor(0.1 * row))
    return x + wave

answer_3 = endless

# %% 4 right
answer_4 = [3, 2]

# %% 4 right
answer_4 = 3, 2.0

# %% 4 right
answer_4 = torch.tensor([3, 2])

# %% 4 right
answer_4 = "3", "2"

# %% 4 wrong: has changed before
# One graph per step.
answer_4 = 21, 2

# %% 4 wrong: has changed before
# One graph per step, up to the limit, and the forward pass.
answer_4 = 9, 2

# %% 4 wrong: has changed before
answer_4 = 8, 2

# %% 4 wrong: the first of your numbers is too small
# As if the float were an input from the start.
answer_4 = 2, 2

# %% 4 wrong: the second of your numbers
# The forward pass counted alone.
answer_4 = 2, 1

# %% 4 wrong: the second of your numbers
# As if a tensor's value were guarded.
answer_4 = 3, 3

# %% 4 wrong: the second of your numbers
answer_4 = 20, 20

# %% 4 wrong: the other way round
answer_4 = 2, 3

# %% 4 wrong: two numbers
answer_4 = 3

# %% 4 wrong: two numbers
answer_4 = [2, 3, 3, 3, 3]

# %% 4 wrong: two numbers
answer_4 = None
