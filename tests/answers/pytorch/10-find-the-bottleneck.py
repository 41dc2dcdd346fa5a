# Answers to the exercises of pytorch/10-find-the-bottleneck.ipynb, and what the checks must say about them.

# %% 1 right
# The package's formula.
from d2lhelpers.torch.bottleneck import training_flops
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    weights = layers * 12 * width * width + width * vocabulary
    return training_flops(weights, layers, width, length, rows) / (seconds * peak)

# %% 1 right
# Counts a step of a network of that size.
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    net = GPT(vocabulary, width=width, layers=layers)
    ids = torch.zeros(rows, length, dtype=torch.long)
    flops = count_work(lambda: F.cross_entropy(net(ids).flatten(0, 1), ids.flatten()).backward()).flops
    return torch.tensor(flops / seconds / peak)

# %% 1 right
# Biases and norms, counted.
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    parameters = layers * (12 * width**2 + 13 * width) + 2 * width + vocabulary * width
    return (6 * parameters + 12 * layers * width * length) * rows * length / seconds / peak

# %% 1 wrong: endless
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    while seconds > 0:
        seconds = seconds + 1

# %% 1 wrong, each line
# Ignores its arguments.
answer_1 = lambda *arguments: 0.4  # not-as-counted
answer_1 = 0.37  # no-function
answer_1 = lambda flops, seconds, peak: flops / seconds / peak  # no-number

# %% 1 given
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    weights = 12 * layers * width**2 + vocabulary * width

# %% 1 right
    tokens = rows * length
    flops = 6 * weights * tokens + 12 * layers * width * length * tokens
    return flops / seconds / peak

# %% 1 right, each line
# Biases and norms count as weights, as in 6 × parameters: less than one in a hundred.
    return (6 * weights + 12 * layers * width * length) * 1.005 * rows * length / seconds / peak

# %% 1 wrong, each line
# FLOPs per second.
    return (6 * weights + 12 * layers * width * length) * rows * length / seconds  # not-as-counted
    return (2 * weights + 4 * layers * width * length) * rows * length / seconds / peak  # forward-alone
    return (4 * weights + 8 * layers * width * length) * rows * length / seconds / peak  # one-backward-product
# The rule of thumb.
    return 6 * weights * rows * length / seconds / peak  # no-attention
    return (6 * (weights + vocabulary * width) + 12 * layers * width * length) * rows * length / seconds / peak  # table-counted
    return (72 * layers * width**2 + 12 * layers * width * length) * rows * length / seconds / peak  # no-scores
    return (6 * weights + 12 * layers * width * length) * rows / seconds / peak  # tokens-ignored
    return (6 * weights + 6 * layers * width * length) * rows * length / seconds / peak  # mask-saves-work
    return (6 * weights + 4 * layers * width * length) * rows * length / seconds / peak  # attention-forward-alone
    return (6 * weights + 12 * width * length) * rows * length / seconds / peak  # one-attention
    return 100 * (6 * weights + 12 * layers * width * length) * rows * length / seconds / peak  # percentage
    return seconds * peak / ((6 * weights + 12 * layers * width * length) * rows * length)  # inverse

# %% 2 right
# Other names, as in the lessons.
answer_2 = {"program_a": "Overhead-bound", "program_b": "waiting", "program_c": "arithmetic",
            "program_d": "feeding", "program_e": "repeated", "program_f": "memory-bound"}

# %% 2 given
right = {"a": "overhead", "b": "waiting", "c": "arithmetic", "d": "feeding", "e": "repeated", "f": "memory"}

# %% 2 right, each line
answer_2 = right
# In order.
answer_2 = ["overhead", "waiting", "arithmetic", "feeding", "repeated", "memory"]

# %% 2 wrong, each line
# The two that multiply, exchanged.
answer_2 = right | {"c": "repeated", "e": "arithmetic"}  # c-not-repeated
# The name of the largest part, for each.
answer_2 = right | {"e": "arithmetic"}  # e-not-arithmetic
answer_2 = right | {"a": "waiting", "b": "overhead"}  # a-not-waiting
# Whatever waits, waits for data.
answer_2 = right | {"b": "feeding", "d": "waiting"}  # b-not-feeding
answer_2 = right | {"b": "overhead"}  # b-not-overhead
answer_2 = right | {"c": "memory", "f": "arithmetic"}  # c-not-memory
# A loop in Python.
answer_2 = right | {"d": "overhead"}  # d-not-overhead
answer_2 = right | {"f": "arithmetic"}  # f-not-arithmetic
answer_2 = right | {"a": "memory"}  # a-not-memory
answer_2 = {"a": "overhead", "b": "waiting"}  # words-missing
answer_2 = "overhead"  # words-missing
answer_2 = ["slow", "waiting", "arithmetic", "feeding", "repeated", "memory"]  # unknown-word
# Lazy.
answer_2 = ["overhead"] * 6  # all-alike

# %% 3 given
from checks_pytorch import programs_10 as p

# %% 3 wrong: other-programs
# One of them.
def once(seed=1):
    net, rows = p._network(seed), p._numbers(seed + 1, p.ROWS, p.WIDTH)
    net(rows).square().mean().backward()
    return p._update(net)
answer_3 = {"e": once}

# %% 3 right
#- answer_3 = {"e": once}
#+ def whole(seed=1):
#+     rows = p._numbers(seed, 5000, 64)
#+     rows = rows - rows.mean(dim=1, keepdim=True)
#+     return (rows / rows.norm(dim=1, keepdim=True)).max(dim=1).values.mean().item()
#+ answer_3 = {"a": whole, "e": once}

# %% 3 wrong: e-differs
# Parts without their share: the gradient is four times as large.
def by_parts(seed):
    net = p._network(seed)
    for part in p._numbers(seed + 1, p.ROWS, p.WIDTH).split(p.ROWS // 4):
        net(part).square().mean().backward()
    return p._update(net)
answer_3 = {"e": by_parts}

# %% 3 right
# F.normalize; each part once, with its share of the mean.
#- net(part).square().mean().backward()
#+ (net(part).square().mean() / 4).backward()
#- answer_3 = {"e": by_parts}
#+ def normalized(seed):
#+     rows = p._numbers(seed, 5000, 64)
#+     return F.normalize(rows - rows.mean(1, keepdim=True)).amax(1).mean()
#+ answer_3 = {"e": by_parts, "a": normalized}

# %% 3 wrong: e-differs
# Only the last part.
def last(seed):
    net = p._network(seed)
    net(p._numbers(seed + 1, p.ROWS, p.WIDTH)[-p.ROWS // 4:]).square().mean().backward()
    return p._update(net)
answer_3 = {"e": last}

# %% 3 wrong: e-repeats
# The parts are only zeroed elsewhere.
def halves(seed):
    net, rows = p._network(seed), p._numbers(seed + 1, p.ROWS, p.WIDTH)
    for end in (p.ROWS // 2, p.ROWS):
        net.zero_grad()
        net(rows[:end]).square().mean().backward()
    return p._update(net)
answer_3 = {"e": halves}

# %% 3 wrong: a-row-by-row
# Fewer operators per row.
def half(seed):
    rows = p._numbers(seed, 5000, 64)
    rows = rows - rows.mean(1, keepdim=True)
    return torch.stack([row.max() / row.norm() for row in rows]).mean()
answer_3 = {"a": half}

# %% 3 wrong: a-differs
# The mean and the length of the whole.
def whole(seed):
    rows = p._numbers(seed, 5000, 64)
    rows = rows - rows.mean()
    return (rows / rows.norm()).amax(1).mean()
answer_3 = {"a": whole}

# %% 3 wrong: endless
def endless(seed):
    while True:
        seed += 1
answer_3 = {"a": endless}

# %% 3 wrong, each line
# As it is.
answer_3 = {"a": p.program_a}  # a-row-by-row
# As it is.
answer_3 = {"e": p.program_e}  # e-repeats
# Another one as well.
answer_3 = {"f": p.program_f}  # other-programs
# Right by luck: the result for seed 1.
answer_3 = {"a": lambda seed, result=p.program_a(): result}  # a-differs
answer_3 = {"a": lambda: 0.3}  # no-number
answer_3 = {"a", "e"}  # no-dictionary
answer_3 = {"a": 0.3}  # no-dictionary
