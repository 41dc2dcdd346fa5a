# Answers to the exercises of pytorch/10-find-the-bottleneck.ipynb, and what the checks must say about them.

# %% 1 right
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    weights = 12 * layers * width**2 + vocabulary * width
    tokens = rows * length
    flops = 6 * weights * tokens + 12 * layers * width * length * tokens
    return flops / seconds / peak

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
# Biases and norms count as weights, as in 6 × parameters: less than one in a hundred.
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    weights = 12 * layers * width**2 + vocabulary * width
    return (6 * weights + 12 * layers * width * length) * 1.005 * rows * length / seconds / peak

# %% 1 wrong: forward pass alone
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    weights = 12 * layers * width**2 + vocabulary * width
    return (2 * weights + 4 * layers * width * length) * rows * length / seconds / peak

# %% 1 wrong: two products for each
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    weights = 12 * layers * width**2 + vocabulary * width
    return (4 * weights + 8 * layers * width * length) * rows * length / seconds / peak

# %% 1 wrong: have no weights at all
# The rule of thumb.
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    weights = 12 * layers * width**2 + vocabulary * width
    return 6 * weights * rows * length / seconds / peak

# %% 1 wrong: looked up multiplies nothing
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    weights = 12 * layers * width**2 + 2 * vocabulary * width
    return (6 * weights + 12 * layers * width * length) * rows * length / seconds / peak

# %% 1 wrong: after the last layer
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    return (72 * layers * width**2 + 12 * layers * width * length) * rows * length / seconds / peak

# %% 1 wrong: every token
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    weights = 12 * layers * width**2 + vocabulary * width
    return (6 * weights + 12 * layers * width * length) * rows / seconds / peak

# %% 1 right
# Biases and norms, counted.
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    parameters = layers * (12 * width**2 + 13 * width) + 2 * width + vocabulary * width
    return (6 * parameters + 12 * layers * width * length) * rows * length / seconds / peak

# %% 1 wrong: a mask saves nothing
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    weights = 12 * layers * width**2 + vocabulary * width
    return (6 * weights + 6 * layers * width * length) * rows * length / seconds / peak

# %% 1 wrong: attention has a backward pass
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    weights = 12 * layers * width**2 + vocabulary * width
    return (6 * weights + 4 * layers * width * length) * rows * length / seconds / peak

# %% 1 wrong: an attention of its own
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    weights = 12 * layers * width**2 + vocabulary * width
    return (6 * weights + 12 * width * length) * rows * length / seconds / peak

# %% 1 wrong: not a percentage
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    weights = 12 * layers * width**2 + vocabulary * width
    return 100 * (6 * weights + 12 * layers * width * length) * rows * length / seconds / peak

# %% 1 wrong: a slower step less
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    weights = 12 * layers * width**2 + vocabulary * width
    return seconds * peak / ((6 * weights + 12 * layers * width * length) * rows * length)

# %% 1 wrong: were counted in 2 seconds
# FLOPs per second.
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    weights = 12 * layers * width**2 + vocabulary * width
    return (6 * weights + 12 * layers * width * length) * rows * length / seconds

# %% 1 wrong: were counted in 2 seconds
# Ignores its arguments.
answer_1 = lambda *arguments: 0.4

# %% 1 wrong: not its result
answer_1 = 0.37

# %% 1 wrong: seven arguments
answer_1 = lambda flops, seconds, peak: flops / seconds / peak

# %% 1 wrong: still running
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    while seconds > 0:
        seconds = seconds + 1

# %% 2 right
answer_2 = {"a": "overhead", "b": "waiting", "c": "arithmetic", "d": "feeding", "e": "repeated", "f": "memory"}

# %% 2 right
# In order.
answer_2 = ["overhead", "waiting", "arithmetic", "feeding", "repeated", "memory"]

# %% 2 right
# Other names, as in the lessons.
answer_2 = {"program_a": "Overhead-bound", "program_b": "waiting", "program_c": "arithmetic",
            "program_d": "feeding", "program_e": "repeated", "program_f": "memory-bound"}

# %% 2 wrong: and no more were counted
# The two that multiply, exchanged.
answer_2 = {"a": "overhead", "b": "waiting", "c": "repeated", "d": "feeding", "e": "arithmetic", "f": "memory"}

# %% 2 wrong: GFLOPs, and
# The name of the largest part, for each.
answer_2 = {"a": "overhead", "b": "waiting", "c": "arithmetic", "d": "feeding", "e": "arithmetic", "f": "memory"}

# %% 2 wrong: program a and 'waiting': its thread waits
answer_2 = {"a": "waiting", "b": "overhead", "c": "arithmetic", "d": "feeding", "e": "repeated", "f": "memory"}

# %% 2 wrong: program b and 'feeding': it is inside
# Whatever waits, waits for data.
answer_2 = {"a": "overhead", "b": "feeding", "c": "arithmetic", "d": "waiting", "e": "repeated", "f": "memory"}

# %% 2 wrong: program b and 'overhead': it calls 1
answer_2 = {"a": "overhead", "b": "overhead", "c": "arithmetic", "d": "feeding", "e": "repeated", "f": "memory"}

# %% 2 wrong: program c and 'memory': for each byte
answer_2 = {"a": "overhead", "b": "waiting", "c": "memory", "d": "feeding", "e": "repeated", "f": "arithmetic"}

# %% 2 wrong: program d and 'overhead': it calls
# A loop in Python.
answer_2 = {"a": "overhead", "b": "waiting", "c": "arithmetic", "d": "overhead", "e": "repeated", "f": "memory"}

# %% 2 wrong: program f and 'arithmetic': it does 0.00 GFLOPs
answer_2 = {"a": "overhead", "b": "waiting", "c": "arithmetic", "d": "feeding", "e": "repeated", "f": "arithmetic"}

# %% 2 wrong: program a and 'memory': an operator of it moves
answer_2 = {"a": "memory", "b": "waiting", "c": "arithmetic", "d": "feeding", "e": "repeated", "f": "memory"}

# %% 2 wrong: a word for each
answer_2 = {"a": "overhead", "b": "waiting"}

# %% 2 wrong: a word for each
answer_2 = "overhead"

# %% 2 wrong: the words are
answer_2 = ["slow", "waiting", "arithmetic", "feeding", "repeated", "memory"]

# %% 2 wrong: the same fault
# Lazy.
answer_2 = ["overhead"] * 6

# %% 3 right
from checks_pytorch.programs_10 import ROWS, WIDTH, _network, _numbers, _update
def whole(seed=1):
    rows = _numbers(seed, 5000, 64)
    rows = rows - rows.mean(dim=1, keepdim=True)
    return (rows / rows.norm(dim=1, keepdim=True)).max(dim=1).values.mean().item()
def once(seed=1):
    net, rows = _network(seed), _numbers(seed + 1, ROWS, WIDTH)
    net(rows).square().mean().backward()
    return _update(net)
answer_3 = {"a": whole, "e": once}

# %% 3 right
# F.normalize; each part once, with its share of the mean.
from checks_pytorch import programs_10 as p
def normalized(seed):
    rows = p._numbers(seed, 5000, 64)
    return F.normalize(rows - rows.mean(1, keepdim=True)).amax(1).mean()
def by_parts(seed):
    net = p._network(seed)
    for part in p._numbers(seed + 1, p.ROWS, p.WIDTH).split(p.ROWS // 4):
        (net(part).square().mean() / 4).backward()
    return p._update(net)
answer_3 = {"e": by_parts, "a": normalized}

# %% 3 wrong: the two whose faults
# One of them.
from checks_pytorch.programs_10 import ROWS, WIDTH, _network, _numbers, _update
def once(seed=1):
    net, rows = _network(seed), _numbers(seed + 1, ROWS, WIDTH)
    net(rows).square().mean().backward()
    return _update(net)
answer_3 = {"e": once}

# %% 3 wrong: program e's task is done differently
# Parts without their share: the gradient is four times as large.
from checks_pytorch import programs_10 as p
def by_parts(seed):
    net = p._network(seed)
    for part in p._numbers(seed + 1, p.ROWS, p.WIDTH).split(p.ROWS // 4):
        net(part).square().mean().backward()
    return p._update(net)
answer_3 = {"e": by_parts}

# %% 3 wrong: program e's task is done differently
# Only the last part.
from checks_pytorch import programs_10 as p
def last(seed):
    net = p._network(seed)
    net(p._numbers(seed + 1, p.ROWS, p.WIDTH)[-p.ROWS // 4:]).square().mean().backward()
    return p._update(net)
answer_3 = {"e": last}

# %% 3 wrong: more FLOPs than its task needs
# As it is.
from checks_pytorch import programs_10 as p
answer_3 = {"e": p.program_e}

# %% 3 wrong: more FLOPs than its task needs
# The parts are only zeroed elsewhere.
from checks_pytorch import programs_10 as p
def halves(seed):
    net, rows = p._network(seed), p._numbers(seed + 1, p.ROWS, p.WIDTH)
    for end in (p.ROWS // 2, p.ROWS):
        net.zero_grad()
        net(rows[:end]).square().mean().backward()
    return p._update(net)
answer_3 = {"e": halves}

# %% 3 wrong: most of them once per row
# As it is.
from checks_pytorch import programs_10 as p
answer_3 = {"a": p.program_a}

# %% 3 wrong: most of them once per row
# Fewer operators per row.
from checks_pytorch import programs_10 as p
def half(seed):
    rows = p._numbers(seed, 5000, 64)
    rows = rows - rows.mean(1, keepdim=True)
    return torch.stack([row.max() / row.norm() for row in rows]).mean()
answer_3 = {"a": half}

# %% 3 wrong: program a's task is done differently
# The mean and the length of the whole.
from checks_pytorch import programs_10 as p
def whole(seed):
    rows = p._numbers(seed, 5000, 64)
    rows = rows - rows.mean()
    return (rows / rows.norm()).amax(1).mean()
answer_3 = {"a": whole}

# %% 3 wrong: program a's task is done differently
# Right by luck: the result for seed 1.
from checks_pytorch import programs_10 as p
result = p.program_a()
answer_3 = {"a": lambda seed: result}

# %% 3 wrong: takes a seed
answer_3 = {"a": lambda: 0.3}

# %% 3 wrong: letters to functions
answer_3 = {"a", "e"}

# %% 3 wrong: letters to functions
answer_3 = {"a": 0.3}

# %% 3 wrong: the two whose faults
# Another one as well.
from checks_pytorch import programs_10 as p
answer_3 = {"f": p.program_f}

# %% 3 wrong: still running
def endless(seed):
    while True:
        seed += 1
answer_3 = {"a": endless}
