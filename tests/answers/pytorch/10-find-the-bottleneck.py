# Answers to the exercises of pytorch/10-find-the-bottleneck.ipynb, and what the checks must say about them.

# %% 1 right. The package's formula.
from d2lhelpers.torch.bottleneck import training_flops
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    weights = layers * 12 * width * width + width * vocabulary
    return training_flops(weights, layers, width, length, rows) / (seconds * peak)

# %% 1 wrong: recomputed-scores. Counts a step of a network of that size, in which attention computes its scores again.
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    net = GPT(vocabulary, width=width, layers=layers)
    ids = torch.zeros(rows, length, dtype=torch.long)
    flops = count_work(lambda: F.cross_entropy(net(ids).flatten(0, 1), ids.flatten()).backward()).flops
    return torch.tensor(flops / seconds / peak)

# %% 1 right. Biases and norms, counted.
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    parameters = layers * (12 * width**2 + 13 * width) + 2 * width + vocabulary * width
    return (6 * parameters + 12 * layers * width * length) * rows * length / seconds / peak

# %% 1 wrong: endless
def answer_1(layers, width, vocabulary, length, rows, seconds, peak):
    while seconds > 0:
        seconds = seconds + 1

# %% 1 wrong, each line
# Ignores its arguments.
answer_1 = lambda *arguments: 0.4  # wrong-result
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
# A small network on a fast device gets 0.
    return round((6 * weights + 12 * layers * width * length) * rows * length / seconds / peak, 3)  # rounded
# FLOPs per second.
    return (6 * weights + 12 * layers * width * length) * rows * length / seconds  # wrong-result
    return (2 * weights + 4 * layers * width * length) * rows * length / seconds / peak  # forward-alone
    return (4 * weights + 8 * layers * width * length) * rows * length / seconds / peak  # one-backward-product
# The rule of thumb.
    return 6 * weights * rows * length / seconds / peak  # no-attention
    return (6 * (weights + vocabulary * width) + 12 * layers * width * length) * rows * length / seconds / peak  # table-counted
    return (72 * layers * width**2 + 12 * layers * width * length) * rows * length / seconds / peak  # no-scores
    return (6 * weights + 12 * layers * width * length) * rows / seconds / peak  # tokens-ignored
    return (6 * weights + 14 * layers * width * length) * rows * length / seconds / peak  # recomputed-scores
    return (8 * weights + 16 * layers * width * length) * rows * length / seconds / peak  # recomputed-all
    return (6 * weights + 12 * layers * width * length**2) * rows * length / seconds / peak  # length-squared
    return (6 * weights + 24 * layers * width * length) * rows * length / seconds / peak  # wrong-result
    return (6 * weights + 12 * layers * width**2) * rows * length / seconds / peak  # wrong-result
    return (6 * 16 * layers * width**2 + 12 * layers * width * length) * rows * length / seconds / peak  # wrong-result
    return (6 * weights + 6 * layers * width * length) * rows * length / seconds / peak  # mask-saves-work
    return (6 * weights + 4 * layers * width * length) * rows * length / seconds / peak  # attention-forward-alone
    return (6 * weights + 12 * width * length) * rows * length / seconds / peak  # one-attention
    return 100 * (6 * weights + 12 * layers * width * length) * rows * length / seconds / peak  # percentage
    return seconds * peak / ((6 * weights + 12 * layers * width * length) * rows * length)  # inverse

# %% 2 right. Other names, as in the lessons.
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

# %% 3 wrong: other-programs. One of them.
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

# %% 3 wrong: e-differs. Parts without their share: the gradient is four times as large.
def by_parts(seed):
    net = p._network(seed)
    for part in p._numbers(seed + 1, p.ROWS, p.WIDTH).split(p.ROWS // 4):
        net(part).square().mean().backward()
    return p._update(net)
answer_3 = {"e": by_parts}

# %% 3 right. F.normalize; each part once, with its share of the mean.
#- net(part).square().mean().backward()
#+ (net(part).square().mean() / 4).backward()
#- answer_3 = {"e": by_parts}
#+ def normalized(seed):
#+     rows = p._numbers(seed, 5000, 64)
#+     return F.normalize(rows - rows.mean(1, keepdim=True)).amax(1).mean()
#+ answer_3 = {"e": by_parts, "a": normalized}

# %% 3 wrong: e-differs. Only the last part.
def last(seed):
    net = p._network(seed)
    net(p._numbers(seed + 1, p.ROWS, p.WIDTH)[-p.ROWS // 4:]).square().mean().backward()
    return p._update(net)
answer_3 = {"e": last}

# %% 3 wrong: e-repeats. The parts are only zeroed elsewhere.
def halves(seed):
    net, rows = p._network(seed), p._numbers(seed + 1, p.ROWS, p.WIDTH)
    for end in (p.ROWS // 2, p.ROWS):
        net.zero_grad()
        net(rows[:end]).square().mean().backward()
    return p._update(net)
answer_3 = {"e": halves}

# %% 3 wrong: a-row-by-row. Fewer operators per row.
def half(seed):
    rows = p._numbers(seed, 5000, 64)
    rows = rows - rows.mean(1, keepdim=True)
    return torch.stack([row.max() / row.norm() for row in rows]).mean()
answer_3 = {"a": half}

# %% 3 wrong: a-differs. The mean and the length of the whole.
def whole(seed):
    rows = p._numbers(seed, 5000, 64)
    rows = rows - rows.mean()
    return (rows / rows.norm()).amax(1).mean()
answer_3 = {"a": whole}

# %% 3 wrong: a-row-by-row. Thirty-two rows at a time.
def some(seed):
    found = []
    for rows in p._numbers(seed, 5000, 64).split(32):
        rows = rows - rows.mean(1, keepdim=True)
        found.append(F.normalize(rows).amax(1))
    return torch.cat(found).mean()
answer_3 = {"a": some}

# %% 3 wrong: a-in-python. NumPy, a row at a time.
def numbers(seed):
    found = []
    for row in p._numbers(seed, 5000, 64).numpy():
        row = row - row.mean()
        found.append((row / (row @ row) ** 0.5).max())
    return sum(found) / len(found)
answer_3 = {"a": numbers}

# %% 3 wrong: a-in-python. No array at all.
def lists(seed):
    found = []
    for row in p._numbers(seed, 5000, 64).tolist():
        mean = sum(row) / 64
        length = sum((each - mean) ** 2 for each in row) ** 0.5
        found.append((max(row) - mean) / length)
    return sum(found) / len(found)
answer_3 = {"a": lists}

# %% 3 wrong: other-thread. The program as it was, in another thread.
from concurrent.futures import ThreadPoolExecutor
def elsewhere(seed):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(p.program_a, seed).result()
answer_3 = {"a": elsewhere}

# %% 3 wrong: other-thread
#- pool.submit(p.program_a, seed)
#+ pool.submit(p.program_e, seed)
#- answer_3 = {"a": elsewhere}
#+ answer_3 = {"e": elsewhere}

# %% 3 wrong: e-unseen. The passes that were thrown away, in NumPy.
def unseen(seed):
    net, rows = p._network(seed), p._numbers(seed + 1, p.ROWS, p.WIDTH).numpy()
    first, _, second = net
    w1, b1, w2, b2 = (each.detach().numpy() for each in (first.weight, first.bias, second.weight, second.bias))
    for end in range(p.ROWS // 4, p.ROWS + 1, p.ROWS // 4):
        x = rows[:end]
        hidden = (x @ w1.T + b1).clip(0)
        g = 2 * (hidden @ w2.T + b2) / end
        gh = (g @ w2) * (hidden > 0)
    gradients = gh.T @ x, gh.sum(0), g.T @ hidden, g.sum(0)
    return sum(abs(each).sum() for each in gradients)
answer_3 = {"e": unseen}

# %% 3 wrong: a-row-by-row. A table of the first seeds.
TABLE = {seed: p.program_a(seed) for seed in (1, 2, 3, 5)}
answer_3 = {"a": lambda seed: TABLE.get(seed) or p.program_a(seed)}

# %% 3 wrong: e-repeats. Seeds that were seen before cost nothing.
import functools
answer_3 = {"e": functools.cache(p.program_e)}

# %% 3 wrong: changes-surroundings. The generator of everybody.
def seeded(seed):
    torch.manual_seed(seed)
    rows = p._numbers(seed, 5000, 64)
    rows = rows - rows.mean(dim=1, keepdim=True)
    return (rows / rows.norm(dim=1, keepdim=True)).max(dim=1).values.mean().item()
answer_3 = {"a": seeded}

# %% 3 right. NumPy, all rows at once.
def numpy_rows(seed):
    rows = p._numbers(seed, 5000, 64).numpy()
    rows = rows - rows.mean(1, keepdims=True)
    return (rows.max(1) / (rows * rows).sum(1) ** 0.5).mean()
def once(seed=1):
    net, rows = p._network(seed), p._numbers(seed + 1, p.ROWS, p.WIDTH)
    net(rows).square().mean().backward()
    return p._update(net)
answer_3 = {"e": once, "a": numpy_rows}

# %% 3 right. Ten parts of the rows.
#- rows = p._numbers(seed, 5000, 64).numpy()
#-     rows = rows - rows.mean(1, keepdims=True)
#-     return (rows.max(1) / (rows * rows).sum(1) ** 0.5).mean()
#+ parts = p._numbers(seed, 5000, 64).chunk(10)
#+     return torch.cat([F.normalize(rows - rows.mean(1)[:, None]).amax(1) for rows in parts]).mean().item()

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

# %% 3 wrong: a-differs. A few rows are left out.
answer_3 = {"a": lambda seed: F.normalize((rows := p._numbers(seed, 5000, 64)[5:]) - rows.mean(1)[:, None]).amax(1).mean()}

# %% 3 wrong: changes-threads. The reader's kernel has two threads from now on.
def threaded(seed):
    torch.set_num_threads(3 - torch.get_num_threads())
    rows = p._numbers(seed, 5000, 64)
    return F.normalize(rows - rows.mean(1, keepdim=True)).amax(1).mean()
answer_3 = {"a": threaded}
