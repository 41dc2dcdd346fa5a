# %% 1 right
def answer_1(p, q, guesses, luck):
    for place, token in enumerate(guesses):
        if luck[place] >= p[place, token] / q[place, token]:
            left = torch.relu(p[place] - q[place])
            return place, left / left.sum()
    return len(guesses), p[len(guesses)]

# %% 1 right. All at once, with a row of zeros for the draft after the last guess.
def answer_1(p, q, guesses, luck):
    rows = torch.arange(len(guesses))
    passed = luck < p[rows, guesses] / q[rows, guesses]
    kept = passed.int().cumprod(0).sum()
    padded = torch.cat([q, torch.zeros_like(p[:1])])
    left = torch.maximum(p[kept] - padded[kept], torch.zeros_like(p[0]))
    return kept, F.normalize(left, p=1, dim=0)

# %% 1 right. In NumPy, as a list of two.
import numpy
def answer_1(p, q, guesses, luck):
    p, q, guesses, luck = (each.numpy() for each in (p, q, guesses, luck))
    kept = 0
    while kept < len(guesses):
        token = guesses[kept]
        if luck[kept] >= min(1, p[kept, token] / q[kept, token]):
            break
        kept += 1
    if kept == len(guesses):
        return [kept, p[kept]]
    left = p[kept] - numpy.minimum(p[kept], q[kept])
    return [kept, left / (1 - numpy.minimum(p[kept], q[kept]).sum())]

# %% 1 right. In plain Python.
def answer_1(p, q, guesses, luck):
    kept = 0
    for row, other, token, number in zip(p.tolist(), q.tolist(), guesses.tolist(), luck.tolist()):
        if number * other[token] >= row[token]:
            left = [max(mine - its, 0.0) for mine, its in zip(row, other)]
            return kept, [each / sum(left) for each in left]
        kept += 1
    return kept, p[-1].tolist()

# %% 1 right. Computed in float32.
def answer_1(p, q, guesses, luck):
    for place, token in enumerate(guesses):
        if luck[place] >= p[place, token] / q[place, token]:
            left = (p[place] - q[place]).clamp(min=0).float()
            return place, left / left.sum()
    return len(guesses), p[-1].float()

# %% 1 wrong: keeps-all
def answer_1(p, q, guesses, luck):
    return len(guesses), p[-1]

# %% 1 wrong: keeps-none. The lazy one: it never trusts a guess, and gives p.
def answer_1(p, q, guesses, luck):
    return 0, p[0]

# %% 1 wrong: next-from-p
def answer_1(p, q, guesses, luck):
    for place, token in enumerate(guesses):
        if luck[place] >= p[place, token] / q[place, token]:
            return place, p[place]
    return len(guesses), p[-1]

# %% 1 wrong: without-rejected. p without the rejected token.
#-             return place, p[place]
#+             left = p[place].clone()
#+             left[token] = 0
#+             return place, left / left.sum()

# %% 1 wrong: next-from-q
#-             return place, p[place]
#+             return place, q[place]

# %% 1 wrong: not-probabilities. Not divided by their sum.
#-             return place, p[place]
#+             return place, (p[place] - q[place]).clamp(min=0)

# %% 1 wrong: not-probabilities. Negative where q is larger.
#-             return place, p[place]
#+             return place, (p[place] - q[place]) / (p[place] - q[place]).clamp(min=0).sum()

# %% 1 wrong: what-q-has-more
#-             return place, p[place]
#+             left = (q[place] - p[place]).clamp(min=0)
#+             return place, left / left.sum()

# %% 1 wrong: any-difference
#-             return place, p[place]
#+             left = (p[place] - q[place]).abs()
#+             return place, left / left.sum()

# %% 1 wrong: softmax-again
#-             return place, p[place]
#+             return place, (p[place] - q[place]).clamp(min=0).softmax(0)

# %% 1 wrong: other-row. The row after the rejected guess.
#-             return place, p[place]
#+             left = (p[place + 1] - q[min(place + 1, len(q) - 1)]).clamp(min=0)
#+             return place, left / left.sum()

# %% 1 wrong: last-row. Always the last row of the draft.
#-             return place, p[place]
#+             left = (p[place] - q[-1]).clamp(min=0)
#+             return place, left / left.sum()

# %% 1 wrong: wrong-result. Drawn already: a token, as probabilities.
#-             return place, p[place]
#+             left = (p[place] - q[place]).clamp(min=0)
#+             return place, F.one_hot(left.argmax(), len(left))

# %% 1 wrong: no-pair. Drawn already.
#-             return place, p[place]
#+             return place, int((p[place] - q[place]).argmax())

# %% 1 wrong: counts-later-guesses. All that pass, also after one that does not.
def answer_1(p, q, guesses, luck):
    rows = torch.arange(len(guesses))
    passed = luck < p[rows, guesses] / q[rows, guesses]
    kept = int(passed.sum())
    if kept == len(guesses):
        return kept, p[kept]
    first = int(passed.int().argmin())
    left = (p[first] - q[first]).clamp(min=0)
    return kept, left / left.sum()

# %% 1 wrong: all-or-nothing
def answer_1(p, q, guesses, luck):
    rows = torch.arange(len(guesses))
    passed = luck < p[rows, guesses] / q[rows, guesses]
    if passed.all():
        return len(guesses), p[-1]
    left = (p[0] - q[0]).clamp(min=0)
    return 0, left / left.sum()

# %% 1 wrong: one-too-many. The rejected guess is counted.
def answer_1(p, q, guesses, luck):
    for place, token in enumerate(guesses):
        if luck[place] >= p[place, token] / q[place, token]:
            left = (p[place] - q[place]).clamp(min=0)
            return place + 1, left / left.sum()
    return len(guesses), p[-1]

# %% 1 wrong: counts-new-token. How many tokens the call gives.
def answer_1(p, q, guesses, luck):
    for place, token in enumerate(guesses):
        if luck[place] >= p[place, token] / q[place, token]:
            left = (p[place] - q[place]).clamp(min=0)
            return place + 1, left / left.sum()
    return len(guesses) + 1, p[-1]

# %% 1 wrong: ratio-upside-down
def answer_1(p, q, guesses, luck):
    for place, token in enumerate(guesses):
        if luck[place] >= q[place, token] / p[place, token]:
            left = (p[place] - q[place]).clamp(min=0)
            return place, left / left.sum()
    return len(guesses), p[-1]

# %% 1 wrong: luck-upside-down
#-         if luck[place] >= q[place, token] / p[place, token]:
#+         if luck[place] < p[place, token] / q[place, token]:

# %% 1 wrong: ignores-q
#-         if luck[place] >= q[place, token] / p[place, token]:
#+         if luck[place] >= p[place, token]:

# %% 1 wrong: ignores-luck. Greedy.
#-         if luck[place] >= q[place, token] / p[place, token]:
#+         if token != p[place].argmax():

# %% 1 wrong: ignores-luck. Kept wherever p is at least as large.
#-         if luck[place] >= q[place, token] / p[place, token]:
#+         if p[place, token] < q[place, token]:

# %% 1 wrong: not-repeatable. Random numbers of its own.
#-         if luck[place] >= q[place, token] / p[place, token]:
#+         if torch.rand(1) >= p[place, token] / q[place, token]:

# %% 1 wrong: all-kept. No token after the last guess.
def answer_1(p, q, guesses, luck):
    for place, token in enumerate(guesses):
        left = (p[place] - q[place]).clamp(min=0)
        if luck[place] >= p[place, token] / q[place, token]:
            break
    else:
        place = len(guesses)
    return place, left / left.sum()

# %% 1 wrong: all-kept. The row before the last.
def answer_1(p, q, guesses, luck):
    for place, token in enumerate(guesses):
        if luck[place] >= p[place, token] / q[place, token]:
            left = (p[place] - q[place]).clamp(min=0)
            return place, left / left.sum()
    return len(guesses), p[-2]

# %% 1 wrong: raises. Not made for no guesses at all.
def answer_1(p, q, guesses, luck):
    for place, token in enumerate(guesses):
        if luck[place] >= p[place, token] / q[place, token]:
            left = (p[place] - q[place]).clamp(min=0)
            return place, left / left.sum()
    return place + 1, p[-1]

# %% 1 wrong: wrong-result. The probabilities of a token for four guesses.
def answer_1(p, q, guesses, luck):
    for place, token in enumerate(guesses):
        if luck[place] >= p[place, token] / q[place, token]:
            left = (p[place] - q[place]).clamp(min=0)
            return place, left / left.sum()
    return len(guesses), p[min(4, len(guesses))]

# %% 1 wrong: wrong-effect. In place: it changes the caller's p.
def answer_1(p, q, guesses, luck):
    for place, token in enumerate(guesses):
        if luck[place] >= p[place, token] / q[place, token]:
            left = p[place].sub_(q[place]).clamp_(min=0)
            return place, left / left.sum()
    return len(guesses), p[-1]

# %% 1 wrong: not-repeatable. The list goes on from the call before.
def answer_1(p, q, guesses, luck, kept=[]):
    for place, token in enumerate(guesses):
        if luck[place] >= p[place, token] / q[place, token]:
            left = torch.relu(p[place] - q[place])
            return len(kept), left / left.sum()
        kept.append(token)
    return len(kept), p[-1]

# %% 1 wrong: changes-surroundings. A seed is set.
def answer_1(p, q, guesses, luck):
    torch.manual_seed(0)
    for place, token in enumerate(guesses):
        if luck[place] >= p[place, token] / q[place, token]:
            left = torch.relu(p[place] - q[place])
            return place, left / left.sum()
    return len(guesses), p[len(guesses)]

# %% 1 wrong: one-buffer. One buffer for all that is returned.
buffer = torch.zeros(1000, dtype=torch.float64)
def answer_1(p, q, guesses, luck):
    kept = len(guesses)
    for place, token in enumerate(guesses):
        if luck[place] >= p[place, token] / q[place, token]:
            kept = place
            break
    left = torch.relu(p[kept] - q[kept]) if kept < len(q) else p[kept]
    buffer[:len(left)] = 0
    own = buffer[:len(left)].copy_(left / left.sum())
    return kept, own

# %% 1 wrong: endless
def answer_1(p, q, guesses, luck):
    kept = 0
    while luck[kept] < p[kept, guesses[kept]] / q[kept, guesses[kept]]:
        pass
    return kept, p[kept]

# %% 1 wrong, each line
answer_1 = 3  # no-function
answer_1 = lambda p, q, guesses, luck: None  # no-pair
answer_1 = lambda p, q, guesses, luck: p[0]  # no-pair
answer_1 = lambda p, q, guesses, luck: (0.5, p[0])  # no-pair
answer_1 = lambda p, q, guesses, luck: (-1, p[0])  # no-pair
# The tokens that are kept.
answer_1 = lambda p, q, guesses, luck: (guesses, p[0])  # no-pair

# %% 1 wrong: wrong-result. The ratio is rounded.
def answer_1(p, q, guesses, luck):
    for place, token in enumerate(guesses):
        if luck[place] >= round(min(1.0, float(p[place, token] / q[place, token])), 2):
            missing = torch.relu(p[place] - q[place])
            return place, missing / missing.sum()
    return len(guesses), p[-1]
