# %% 1 right
def ours(gradient):
    return gradient / gradient.norm().clamp(min=1)

answer_1 = ours

# %% 1 right
def ours(gradient):
    norm = gradient.norm()
    return torch.where(norm > 1, gradient / norm, gradient)

answer_1 = ours

# %% 1 right
def ours(gradient):
    norm = gradient.norm()
    return torch.cond(norm > 1, lambda g, n: g / n, lambda g, n: g.clone(), (gradient, norm))

answer_1 = ours

# %% 1 right
answer_1 = lambda g: g * torch.minimum(torch.ones(()), 1 / g.norm())

# %% 1 right
class Clip(nn.Module):
    def forward(self, gradient):
        return gradient / torch.maximum(gradient.square().sum().sqrt(), torch.tensor(1.0))

answer_1 = Clip()

# %% 1 right
# PyTorch traces max of two tensors as torch.maximum.
answer_1 = lambda g: g / max(g.norm(), torch.tensor(1.0))

# %% 1 wrong: more than one graph
answer_1 = clipped

# %% 1 wrong: more than one graph
# Without item, but still an if.
def ours(gradient):
    norm = gradient.norm()
    if norm > 1:
        return gradient / norm
    return gradient

answer_1 = ours

# %% 1 wrong: more than one graph
# Right numbers, but it reports them inside.
def ours(gradient):
    norm = gradient.norm().clamp(min=1)
    print(end="")
    return gradient / norm

answer_1 = ours

# %% 1 wrong: no graph at all
uncompiled = torch.compiler.disable(clipped)
answer_1 = lambda gradient: uncompiled(gradient)

# %% 1 wrong: a norm below 1
# Divides always.
answer_1 = lambda g: g / g.norm()

# %% 1 wrong: a norm above 1
# The lazy one.
answer_1 = lambda g: g

# %% 1 wrong: a norm above 1
# Clips each number, not the norm.
answer_1 = lambda g: g.clamp(-1, 1)

# %% 1 wrong: a tensor of zeros
# 0 times infinity.
def ours(gradient):
    norm = gradient.norm()
    large = (norm > 1).float()
    return large * gradient / norm + (1 - large) * gradient

answer_1 = ours

# %% 1 wrong: changes its argument
def ours(gradient):
    gradient /= gradient.norm().clamp(min=1)
    return gradient

answer_1 = ours

# %% 1 wrong: without calling it
answer_1 = clipped(x)

# %% 1 wrong: still running
def ours(gradient):
    while gradient.norm() < 1e9:
        norm = gradient.norm().clamp(min=1)
    return gradient / norm

answer_1 = ours
