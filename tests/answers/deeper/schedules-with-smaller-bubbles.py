# %% 1 right. As in the solution, with counters.
def answer_1(rank, ranks, micro_batches):
    ahead = 2 * (ranks - rank) - 1
    behind = 2 * rank
    done = dict(F=0, I=0, W=0)
    names = []
    def do(kind):
        if done[kind] < micro_batches:
            names.append(f"{kind}{done[kind]}")
            done[kind] += 1
    for _ in range(ahead):
        do("F")
    while done["W"] < micro_batches:
        do("I")
        if done["I"] > behind or done["I"] == micro_batches:
            do("W")
        do("F")
    return names

# %% 1 right. A simulation: the gradient of an input first, then a forward pass if memory allows, otherwise weights.
def answer_1(rank, ranks, micro_batches):
    done, orders, alive = set(), [[] for _ in range(ranks)], [0] * ranks
    counts = [dict(F=0, I=0, W=0) for _ in range(ranks)]
    while min(each["W"] for each in counts) < micro_batches:
        new = []
        for r, count in enumerate(counts):
            f, i, w = count.values()
            if i < f and (r == ranks - 1 or ("I", i, r + 1) in done):
                kind = "I"
            elif f < micro_batches and alive[r] < 2 * ranks - 1 and (r == 0 or ("F", f, r - 1) in done):
                kind = "F"
            elif w < i:
                kind = "W"
            else:
                continue
            alive[r] += {"F": 1, "I": 0, "W": -1}[kind]
            new.append((kind, count[kind], r))
            orders[r].append(f"{kind}{count[kind]}")
            count[kind] += 1
        done.update(new)
    return orders[rank]

# %% 1 right. A generator, W before F, in the words of a text.
def answer_1(rank, ranks, micro_batches):
    def names():
        yield from (f"F{n}" for n in range(2 * (ranks - rank) - 1))
        for n in range(micro_batches):
            yield f"I{n}"
            if n >= 2 * rank:
                yield f"W{n - 2 * rank}"
            if n + 2 * (ranks - rank) - 1 < micro_batches:
                yield f"F{n + 2 * (ranks - rank) - 1}"
        yield from (f"W{n}" for n in range(micro_batches - 2 * rank, micro_batches))
    return " ".join(names())

# %% 1 right. From the passes' own order: each pass has a time at which it starts, and times are sorted.
def answer_1(rank, ranks, micro_batches):
    ahead, behind, names = 2 * (ranks - rank) - 1, 2 * rank, []
    for part in range(micro_batches):
        names.append((max(0, part - ahead + 1), 2, part, "F"))
        names.append((part + 1, 0, part, "I"))
        names.append((part + 1 + behind, 1, part, "W"))
    return tuple(f"{kind}{part}" for _, _, part, kind in sorted(names))

# %% 1 wrong: like-zb-h1. ZB-H1.
def answer_1(rank, ranks, micro_batches):
    ahead, behind = ranks - rank, rank
    names = [f"F{part}" for part in range(ahead)]
    for part in range(micro_batches):
        names.append(f"I{part}")
        if part >= behind:
            names.append(f"W{part - behind}")
        if part + ahead < micro_batches:
            names.append(f"F{part + ahead}")
    return names + [f"W{part}" for part in range(micro_batches - behind, micro_batches)]

# %% 1 wrong: weights-at-once. 1F1B with its backward pass in two.
#- ahead, behind = ranks - rank, rank
#+ ahead, behind = ranks - rank, 0

# %% 1 wrong: weights-at-once. Far ahead, but W at once.
#- ahead, behind = ranks - rank, rank
#+ ahead, behind = 2 * (ranks - rank) - 1, 0

# %% 1 wrong: too-many-alive. All forward passes first.
#- ahead, behind = ranks - rank, rank
#+ ahead, behind = micro_batches, 0

# %% 1 wrong: too-many-alive. All W at the end.
#- ahead, behind = ranks - rank, rank
#+ ahead, behind = 2 * (ranks - rank) - 1, micro_batches

# %% 1 wrong: too-many-alive. One F too many.
#- ahead, behind = ranks - rank, rank
#+ ahead, behind = min(2 * (ranks - rank), micro_batches), 2 * rank

# %% 1 wrong: first-rank-idle. Memory of 2p - 1 only on the last rank.
#- ahead, behind = ranks - rank, rank
#+ ahead, behind = ranks - rank, 2 * rank

# %% 1 wrong: first-rank-idle. One W too few is left over.
#- ahead, behind = ranks - rank, rank
#+ ahead, behind = 2 * (ranks - rank) - 1, max(0, 2 * rank - 1)

# %% 1 wrong: first-rank-idle. Far ahead on the first rank alone.
#- ahead, behind = ranks - rank, rank
#+ ahead, behind = ranks - rank + (ranks - 1) * (rank == 0), 2 * rank

# %% 1 wrong: first-rank-idle. The first rank's numbers, and the last one's W, but half as many in between.
#- ahead, behind = ranks - rank, rank
#+ ahead, behind = 2 * (ranks - rank) - 1, rank

# %% 1 wrong: whole-backward
#- names.append(f"I{part}")
#+ names.append(f"B{part}")

# %% 1 wrong: not-once. What is left at the end is forgotten.
#- return names + [f"W{part}" for part in range(micro_batches - behind, micro_batches)]
#+ return names

# %% 1 wrong: not-once. F goes on after the last one.
#-         if part + ahead < micro_batches:
#-             names.append(f"F{part + ahead}")
#+         names.append(f"F{part + ahead}")

# %% 1 wrong: not-once. W of the last ones twice.
#- for part in range(micro_batches - behind, micro_batches)]
#+ for part in range(micro_batches - behind - 1, micro_batches)]

# %% 1 wrong: weights-before-input
#-         names.append(f"I{part}")
#-         if part >= behind:
#-             names.append(f"W{part - behind}")
#+         if part >= behind:
#+             names.append(f"W{part - behind}")
#+         names.append(f"I{part}")

# %% 1 wrong: input-before-forward
#- names = [f"F{part}" for part in range(ahead)]
#+ names = []
#-         names.append(f"I{part}")
#+         names.append(f"I{part}")
#+         if part < ahead:
#+             names.append(f"F{part}")

# %% 1 wrong: no-names. Pairs.
#-     return names + [f"W{part}" for part in range(micro_batches - behind, micro_batches)]
#+     names += [f"W{part}" for part in range(micro_batches - behind, micro_batches)]
#+     return [(name[0], int(name[1:])) for name in names]

# %% 1 wrong: no-names. Kinds without numbers.
#- return names + [f"W{part}" for part in range(micro_batches - behind, micro_batches)]
#+ return [name[0] for name in names] + ["W"] * behind

# %% 1 wrong: no-function
answer_1 = ["F0", "I0", "W0"]

# %% 1 given
def right(rank, ranks, micro_batches):
    ahead, behind = 2 * (ranks - rank) - 1, 2 * rank
    names = [f"F{part}" for part in range(ahead)]
    for part in range(micro_batches):
        names.append(f"I{part}")
        if part >= behind:
            names.append(f"W{part - behind}")
        if part + ahead < micro_batches:
            names.append(f"F{part + ahead}")
    return names + [f"W{part}" for part in range(micro_batches - behind, micro_batches)]

# %% 1 wrong: deadlock. Backward in the reverse order on the first rank alone.
def answer_1(rank, ranks, micro_batches):
    if rank == 0 and ranks > 1:
        first = 2 * ranks - 1
        names = [f"F{n}" for n in range(first)] + [f"{kind}{n}" for n in reversed(range(first)) for kind in "IW"]
        return names + [f"{kind}{n}" for n in range(first, micro_batches) for kind in "FIW"]
    return right(rank, ranks, micro_batches)

# %% 1 wrong: not-once. Right for four ranks.
def answer_1(rank, ranks, micro_batches):
    ranks = 4
    return right(rank, ranks, micro_batches) if micro_batches >= 7 else []

# %% 1 wrong: idle. Two passes the wrong way round on the last of four ranks.
def answer_1(rank, ranks, micro_batches):
    names = right(rank, ranks, micro_batches)
    if rank == 3 and ranks == 4:
        names[11:13] = reversed(names[11:13])
    return names

# %% 1 wrong: wrong-result. Right for up to four ranks.
def answer_1(rank, ranks, micro_batches):
    return right(rank, ranks, micro_batches) if ranks <= 4 else right(rank, ranks, 2 * ranks - 1)

# %% 1 wrong: not-once. It keeps its list.
kept = {}

def answer_1(rank, ranks, micro_batches):
    kept.setdefault(rank, []).extend(right(rank, ranks, micro_batches))
    return kept[rank]

# %% 1 wrong: raises
def answer_1(rank, ranks, micro_batches):
    return {4: right, 2: right, 1: right}[ranks](rank, ranks, micro_batches)

# %% 1 wrong: endless
def answer_1(rank, ranks, micro_batches):
    names = right(rank, ranks, micro_batches)
    while ranks > 2:
        pass
    return names

# %% 1 wrong: wrong-result. As many forward passes ahead as there are ranks, from 8 ranks on.
def answer_1(rank, ranks, micro_batches):
    ahead, behind = 2 * (ranks - rank) - 1, 2 * rank
    if ranks > 7:
        ahead = min(ahead, ranks)
    names = [f"F{part}" for part in range(ahead)]
    for part in range(micro_batches):
        names += [f"I{part}"] + [f"W{part - behind}"] * (part >= behind)
        names += [f"F{part + ahead}"] * (part + ahead < micro_batches)
    return names + [f"W{part}" for part in range(micro_batches - behind, micro_batches)]

# %% 1 right
# Sorts the passes: a forward pass comes after the gradient that makes room for it, and weights wait for their turn.
def answer_1(rank, ranks, micro_batches):
    ahead = 2 * (ranks - rank) - 1
    turn = {}
    for part in range(micro_batches):
        turn[f"F{part}"] = (-1, part) if part < ahead else (part - ahead, 2)
        turn[f"I{part}"] = part, 0
        late = part + 2 * rank
        turn[f"W{part}"] = (late, 1) if late < micro_batches else (micro_batches, late)
    return sorted(turn, key=turn.get)

# %% 2 right, each line
answer_2 = "ZB-H1", 7 / 55, 48
answer_2 = ["zb-h1", 0.127, 48.0]
answer_2 = ("ZB H1", 0.1273, 48)
answer_2 = ("ZBH1", torch.tensor(7 / 55), torch.tensor(48))

# %% 2 wrong, each line
answer_2 = 7 / 55  # not-three
answer_2 = "ZB-H1", 7 / 55  # not-three
answer_2 = "abc"  # not-three
answer_2 = "ZB", 7 / 55, 48  # no-schedule
answer_2 = 7 / 55, "ZB-H1", 48  # no-schedule
answer_2 = "ZB-V", 0, 16  # too-many-messages
answer_2 = "interleaved", 10.5 / 58.5, 32  # too-many-messages
answer_2 = "interleaved, 2 stages", 10.5 / 58.5, 32  # too-many-messages
answer_2 = "ZB-H2", 0, 16  # too-much-memory
answer_2 = "GPipe", 21 / 69, 16  # too-much-memory
answer_2 = "1F1B", 21 / 69, 16  # more-idle
answer_2 = "ZB-H1", 7, 48  # no-share
answer_2 = "ZB-H1", 12.7, 48  # no-share
answer_2 = "ZB-H1", 7 / 48, 48  # relative-to-work
answer_2 = "ZB-H1", 48 / 55, 48  # share-of-work
answer_2 = "ZB-H1", 21 / 69, 48  # share-of-1f1b
answer_2 = "ZB-H1", 7 / 23, 48  # share-of-1f1b
answer_2 = "ZB-H1", 14 / 62, 48  # wrong-share
answer_2 = "ZB-H1", 8 / 56, 48  # wrong-share
answer_2 = "ZB-H1", 7 / 55, 16  # same-batch
answer_2 = "ZB-H1", 7 / 55, 144  # wrong-number
answer_2 = "ZB-H1", 7 / 55, 49  # wrong-number
answer_2 = "ZB-H1", 7 / 55, 32  # wrong-number
