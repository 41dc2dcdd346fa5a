# %% 1 right
# For each layer that ends a segment, all pairs of a kept sum and a largest segment that no other pair beats.
def answer_1(sizes):
    ends = [[(0, 0, ())]]
    for n, size in enumerate(sizes):
        found = []
        for start, choices in enumerate(ends):
            segment = sum(sizes[start:n])
            found += [(held + size, max(largest, segment), kept + (n,)) for held, largest, kept in choices]
        front = []
        for held, largest, kept in sorted(found):
            if not front or largest < front[-1][1]:
                front.append((held, largest, kept))
        ends.append(front)
    return min(ends[-1], key=lambda choice: choice[0] + choice[1])[2]

# %% 1 wrong: from-one
#- return min(ends[-1], key=lambda choice: choice[0] + choice[1])[2]
#+ kept = min(ends[-1], key=lambda choice: choice[0] + choice[1])[2]
#+     return [n + 1 for n in kept if n + 1 < len(sizes)]

# %% 1 wrong: no-list. The peak in place of the layers.
#- return min(ends[-1], key=lambda choice: choice[0] + choice[1])[2]
#+ return min(held + largest for held, largest, _ in ends[-1])

# %% 1 wrong: no-numbers. The sizes in place of the layers.
#- return min(ends[-1], key=lambda choice: choice[0] + choice[1])[2]
#+ return [sizes[n] for n in min(ends[-1], key=lambda choice: choice[0] + choice[1])[2]]

# %% 1 wrong: no-numbers. A mark per layer.
#- return min(ends[-1], key=lambda choice: choice[0] + choice[1])[2]
#+ kept = min(ends[-1], key=lambda choice: choice[0] + choice[1])[2]
#+     return [n in kept for n in range(len(sizes))]

# %% 1 wrong: returns-nothing
#- return min(ends[-1], key=lambda choice: choice[0] + choice[1])[2]
#+ print(min(ends[-1], key=lambda choice: choice[0] + choice[1])[2])

# %% 1 wrong: wrong-result. Each end of a segment remembers only the choice with the smallest peak so far.
#- ends.append(front)
#+ ends.append([min(front, key=lambda choice: choice[0] + choice[1])])

# %% 1 wrong: keeps-none. Only the choice that keeps least.
#- if not front or largest < front[-1][1]:
#+ if not front:

# %% 1 wrong: keeps-none. The segment before the first kept output does not count.
#- segment = sum(sizes[start:n])
#+ segment = sum(sizes[start:n]) if start else 0

# %% 1 wrong: wrong-result. At most eight layers to a segment.
#- for start, choices in enumerate(ends):
#+ for start, choices in list(enumerate(ends))[-8:]:

# %% 1 right. By recursion, and by numbers that NumPy counts; the last layer is not named.
import functools
import numpy

def answer_1(sizes):
    sums = numpy.concatenate([[0], numpy.cumsum(sizes)])

    @functools.cache
    def least(start, limit):
        options = []
        for end in range(start, len(sizes)):
            if sums[end] - sums[start] > limit:
                break
            if end == len(sizes) - 1:
                options.append((sizes[end], ()))
            else:
                held, kept = least(end + 1, limit)
                options.append((held + sizes[end], (end,) + kept))
        return min(options, key=lambda option: option[0]) if options else (float("inf"), ())

    limits = {int(one - other) for one in sums[:-1] for other in sums if one >= other}
    best = min(limits, key=lambda limit: limit + least(0, limit)[0])
    return {numpy.int64(n) for n in least(0, best)[1]}

# %% 1 wrong: keeps-all. Only the limit 0.
#- limits = {int(one - other) for one in sums[:-1] for other in sums if one >= other}
#+ limits = {0}

# %% 1 wrong: keeps-none
#- limits = {int(one - other) for one in sums[:-1] for other in sums if one >= other}
#+ limits = {int(sums[-1])}

# %% 1 wrong: wrong-result. A segment is at most as large as the largest output.
#- limits = {int(one - other) for one in sums[:-1] for other in sums if one >= other}
#+ limits = set(range(max(sizes) + 1))

# %% 1 wrong: wrong-result. The fewest outputs, not the least megabytes.
#- return min(options, key=lambda option: option[0]) if options else (float("inf"), ())
#+ return min(options, key=lambda option: len(option[1])) if options else (float("inf"), ())

# %% 1 wrong: wrong-result. Only the limits that begin at the first layer.
#- limits = {int(one - other) for one in sums[:-1] for other in sums if one >= other}
#+ limits = {int(one) for one in sums[:-1]}

# %% 1 wrong: wrong-result. One table for all networks of the same sum.
#- import numpy
#+ import numpy
#+ seen = {}
#- return {numpy.int64(n) for n in least(0, best)[1]}
#+ return seen.setdefault(sum(sizes), least(0, best)[1])

# %% 1 right
def answer_1(sizes):
    best, smallest = [], float("inf")
    for limit in range(sum(sizes)):
        held = [0]
        before = []
        for n, size in enumerate(sizes):
            start = n
            choice = n
            while start > 0 and sum(sizes[start - 1:n]) <= limit:
                start -= 1
                if held[start] < held[choice]:
                    choice = start
            held.append(held[choice] + size)
            before.append(choice)
        if limit + held[-1] < smallest:
            smallest = limit + held[-1]
            best, n = [], len(sizes)
            while n > 0:
                best.append(n - 1)
                n = before[n - 1]
    return best

# %% 1 wrong: wrong-result. Segments strictly below the limit, and the limit counts.
#- while start > 0 and sum(sizes[start - 1:n]) <= limit:
#+ while start > 0 and sum(sizes[start:n]) + sizes[start - 1] + sizes[n] <= limit:

# %% 1 wrong: endless. The limit never grows.
#-     for limit in range(sum(sizes)):
#+     limit = 0
#+     while limit < sum(sizes):

# %% 1 wrong: wrong-result. As the paper's heuristic: a segment ends where the next output would exceed the limit.
def answer_1(sizes):
    found = []
    for limit in range(sum(sizes) + 1):
        kept, segment = [], 0
        for n, size in enumerate(sizes):
            if segment + size > limit:
                kept.append(n)
                segment = 0
            else:
                segment += size
        found.append(kept)
    return min(found, key=lambda kept: peak(sizes, kept))

# %% 1 wrong: endless. All choices.
def answer_1(sizes):
    choices = []
    for number in range(2 ** len(sizes)):
        choices.append([n for n in range(len(sizes)) if number >> n & 1])
    return min(choices, key=lambda kept: peak(sizes, kept))

# %% 1 wrong: sizes-ignored. Every √n-th.
def answer_1(sizes):
    every = round(len(sizes) ** 0.5)
    return range(every - 1, len(sizes), every)

# %% 1 wrong: wrong-result. The best interval for these sizes.
def answer_1(sizes):
    ways = [range(k - 1, len(sizes), k) for k in range(1, len(sizes) + 1)]
    return min(ways, key=lambda kept: peak(sizes, kept))

# %% 1 wrong: keeps-large. What is large is worth keeping.
def answer_1(sizes):
    by_size = sorted(range(len(sizes)), key=lambda n: -sizes[n])
    return by_size[:round(len(sizes) ** 0.5)]

# %% 1 wrong: keeps-none. Drops the largest outputs one by one.
def answer_1(sizes):
    kept = list(range(len(sizes)))
    for n in sorted(kept, key=lambda n: -sizes[n]):
        fewer = [each for each in kept if each != n]
        if peak(sizes, fewer) <= peak(sizes, kept):
            kept = fewer
    return kept

# %% 1 wrong: wrong-effect. It uses up its argument.
def answer_1(sizes):
    choices = {(): (0, 0, 0)}
    n = 0
    while sizes:
        size = sizes.pop(0)
        found = {}
        for kept, (held, segment, largest) in choices.items():
            found[kept + (n,)] = held + size, 0, largest
            found[kept] = held, segment + size, max(largest, segment + size)
        front = {}
        for kept, (held, segment, largest) in sorted(found.items(), key=lambda item: item[1]):
            if all(h > held or s > segment or l > largest for h, s, l in front.values()):
                front[kept] = held, segment, largest
        choices = front
        n += 1
        last = {kept: values for kept, values in choices.items() if kept and kept[-1] == n - 1}
    return min(last, key=lambda kept: last[kept][0] + last[kept][2])

# %% 1 wrong, each line
# Lazy: all, none, the half, what was given; a list in place of a function.
answer_1 = lambda sizes: range(len(sizes))  # keeps-all
answer_1 = lambda sizes: []  # keeps-none
answer_1 = lambda sizes: range(1, len(sizes), 2)  # sizes-ignored
answer_1 = lambda sizes: sizes  # no-numbers
answer_1 = [1, 3, 6, 11]  # no-function
# The small ones.
answer_1 = lambda sizes: [n for n, size in enumerate(sizes) if size <= sum(sizes) / len(sizes)]  # wrong-result

# %% 1 wrong: sizes-ignored. The best interval, found once.
kept = []
def answer_1(sizes):
    if not kept:
        kept.extend(range(3, 100, 4))
    return [n for n in kept if n < len(sizes)]

# %% 1 wrong: wrong-effect. It sorts its argument to find the limits.
def answer_1(sizes):
    sums = [sum(sizes[:n]) for n in range(len(sizes) + 1)]
    choices = []
    for limit in {end - start for start in sums for end in sums if end >= start}:
        ways = [(0, ())]
        for n in range(len(sizes)):
            ways.append(min((held + sizes[n], (*kept, n)) for start, (held, kept) in enumerate(ways)
                            if sums[n] - sums[start] <= limit))
        choices.append((limit + ways[-1][0], ways[-1][1]))
    sizes.sort()
    return min(choices)[1]

# %% 1 right. A copy is sorted.
#- sizes.sort()
#+ sizes = sorted(sizes)

# %% 1 wrong: wrong-result. The 200 beginnings with the smallest peak so far.
def answer_1(sizes):
    ways = [(0, 0, 0, ())]
    for n, size in enumerate(sizes):
        found = []
        for held, segment, largest, kept in ways:
            found.append((held + size, 0, largest, (*kept, n)))
            found.append((held, segment + size, max(largest, segment + size), kept))
        ways = sorted(found, key=lambda way: way[0] + way[2])[:200]
    return min(ways, key=lambda way: peak(sizes, way[3]))[3]

# %% 1 wrong: wrong-result. The limits to 100 MB.
def answer_1(sizes):
    ways = []
    for limit in range(100):
        best = [(0, ())]
        for n, size in enumerate(sizes):
            best.append(min((held + size, (*kept, n)) for start, (held, kept) in enumerate(best)
                            if sum(sizes[start:n]) <= limit))
        ways.append(best[-1][1])
    return min(ways, key=lambda kept: peak(sizes, kept))

# %% 1 wrong: wrong-result. Limits that are sums of at most five outputs.
#- for limit in range(100):
#+ for limit in {sum(sizes[n:end]) for n in range(len(sizes)) for end in range(n, n + 6)}:

# %% 1 wrong: wrong-effect. A right choice, but the argument has lost its last size.
def answer_1(sizes):
    last = sizes.pop()
    every = [*sizes, last]
    ways = []
    for limit in {sum(every[n:end]) for n in range(len(every)) for end in range(n, len(every))}:
        best = [(0, ())]
        for n, size in enumerate(every):
            best.append(min((held + size, (*kept, n)) for start, (held, kept) in enumerate(best)
                            if sum(every[start:n]) <= limit))
        ways.append(best[-1][1])
    return min(ways, key=lambda kept: peak(every, kept))
