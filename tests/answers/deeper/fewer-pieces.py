# %% 1 right
class Clip(nn.Module):
    def forward(self, gradient):
        return gradient / torch.maximum(gradient.square().sum().sqrt(), torch.tensor(1.0))

answer_1 = Clip()

# %% 1 right, each line
answer_1 = lambda g: g * torch.minimum(torch.ones(()), 1 / g.norm())
answer_1 = lambda g: g / g.norm().clamp(min=1)
# PyTorch traces max of two tensors as torch.maximum.
answer_1 = lambda g: g / max(g.norm(), torch.tensor(1.0))

# %% 1 wrong: no-graph
uncompiled = torch.compiler.disable(clipped)
answer_1 = lambda gradient: uncompiled(gradient)

# %% 1 wrong: zeros-fail. 0 times infinity.
def ours(gradient):
    norm = gradient.norm()
    large = (norm > 1).float()
    return large * gradient / norm + (1 - large) * gradient

answer_1 = ours

# %% 1 right
#-     large = (norm > 1).float()
#-     return large * gradient / norm + (1 - large) * gradient
#+     return torch.where(norm > 1, gradient / norm, gradient)

# %% 1 right
#-     large = (norm > 1).float()
#-     return large * gradient / norm + (1 - large) * gradient
#+     return torch.cond(norm > 1, lambda g, n: g / n, lambda g, n: g.clone(), (gradient, norm))

# %% 1 wrong: changes-argument
def ours(gradient):
    gradient /= gradient.norm().clamp(min=1)
    return gradient

answer_1 = ours

# %% 1 wrong: several-graphs. Without item, but still an if.
#-     gradient /= gradient.norm().clamp(min=1)
#+     norm = gradient.norm()
#+     if norm > 1:
#+         return gradient / norm

# %% 1 wrong: endless
def ours(gradient):
    while gradient.norm() < 1e9:
        norm = gradient.norm().clamp(min=1)
    return gradient / norm

answer_1 = ours

# %% 1 wrong: several-graphs. Right numbers, but it reports them inside.
#-     while gradient.norm() < 1e9:
#-         norm = gradient.norm().clamp(min=1)
#+     norm = gradient.norm().clamp(min=1)
#+     print(end="")

# %% 1 wrong, each line
answer_1 = clipped  # several-graphs
# Divides always.
answer_1 = lambda g: g / g.norm()  # short-gradient-changed
# The lazy one.
answer_1 = lambda g: g  # norm-not-one
# Clips each number, not the norm.
answer_1 = lambda g: g.clamp(-1, 1)  # norm-not-one
answer_1 = clipped(x)  # no-function
# Right for two dimensions only.
answer_1 = lambda g: g / (g ** 2).sum((0, 1)).sqrt().clamp(min=1)  # raises
answer_1 = lambda g: g / torch.linalg.matrix_norm(g).clamp(min=1)  # raises
# Each row by itself.
answer_1 = lambda g: g / g.norm(dim=-1, keepdim=True).clamp(min=1)  # norm-not-one
# The largest number, or the sum.
answer_1 = lambda g: g / g.abs().max().clamp(min=1)  # norm-not-one
answer_1 = lambda g: g / g.norm(1).clamp(min=1)  # norm-not-one
answer_1 = lambda g: g / g.norm().clamp(min=1.001)  # short-gradient-changed
answer_1 = lambda g: g.double() / g.double().norm().clamp(min=1)  # other-type
answer_1 = lambda g: g.float() / g.float().norm().clamp(min=1)  # other-type
# Right for norms up to a thousand.
answer_1 = lambda g: g / g.norm().clamp(min=1, max=1000)  # wrong-result
answer_1 = lambda g: g / g.norm().clamp(max=1)  # norm-not-one
answer_1 = lambda g: (g / g.norm().clamp(min=1)).flatten().view(len(g), -1)  # wrong-result
answer_1 = lambda g: torch.nn.functional.normalize(g, dim=(0, 1)) * g.norm().clamp(max=1)  # raises

# %% 1 right, each line
answer_1 = lambda g: torch.nn.functional.normalize(g.flatten(), dim=0).view_as(g) * g.norm().clamp(max=1)
answer_1 = lambda g: torch.renorm(g.reshape(1, -1), 2, 0, 1).view_as(g)
answer_1 = lambda g: g * (1 / g.norm()).clamp(max=1)
answer_1 = lambda g: g / max(g.norm(), 1)
answer_1 = lambda g: torch.cond(g.norm() > 1, lambda g: g / g.norm(), lambda g: g.clone(), (g,))
