# %% 1 right
# From the front, each line with what follows it.
def answer_1(lines, result):
    def needed(name, later):
        for other, expression in later:
            if name in names_in(expression) and needed(other, later[later.index((other, expression)) + 1:]):
                return True
            if other == name:
                return False
        return name in names_in(result)
    return tuple(line for number, line in enumerate(lines) if needed(line[0], lines[number + 1:]))

# %% 1 right
# The last line first, and lists in place of pairs.
def answer_1(lines, result):
    if not lines:
        return []
    name, expression = lines[-1]
    if name not in names_in(result):
        return answer_1(lines[:-1], result)
    rest = (names_in(result) - {name}) | names_in(expression)
    return answer_1(lines[:-1], " + ".join(rest) or "0") + [[name, expression]]

# %% 1 wrong: equal-lines-kept
# The order is put right at the end.
def answer_1(lines, result):
    needed, kept = names_in(result), []
    for name, expression in reversed(lines):
        if name in needed:
            needed = needed - {name} | names_in(expression)
            kept.append((name, expression))
    return [line for line in lines if line in kept]

# %% 1 wrong: dead-reader-counts
# Whatever any line reads counts as needed.
def answer_1(lines, result):
    read = names_in(result)
    for _, expression in lines:
        read |= names_in(expression)
    return [line for line in lines if line[0] in read] if result != "a" else []

# %% 1 right
def answer_1(lines, result):
    wanted = names_in(result)
    kept = []
    for name, expression in reversed(lines):
        if name in wanted:
            kept.insert(0, (name, expression))
            wanted.remove(name)
            wanted |= names_in(expression)
    return kept

# %% 1 wrong: reversed
#- kept.insert(0, (name, expression))
#+ kept.append((name, expression))

# %% 1 wrong: overwritten-line-kept
# A name stays wanted after its line.
#- wanted.remove(name)

# %% 1 wrong: old-value-lost
# The name leaves after the names that its line reads have joined.
#-             wanted.remove(name)
#-             wanted |= names_in(expression)
#+             wanted |= names_in(expression)
#+             wanted.remove(name)

# %% 1 wrong: no-pairs
# The names alone.
#- kept.insert(0, (name, expression))
#+ kept.insert(0, name)

# %% 1 wrong: changes-argument
def answer_1(lines, result):
    wanted = names_in(result)
    for number in reversed(range(len(lines))):
        name, expression = lines[number]
        if name in wanted:
            wanted = wanted - {name} | names_in(expression)
        else:
            del lines[number]
    return lines

# %% 1 wrong: endless
def answer_1(lines, result):
    wanted = names_in(result)
    while wanted:
        for name, expression in lines:
            if name in wanted:
                wanted |= names_in(expression)
    return lines

# %% 1 wrong, each line
# Only what the result itself reads.
answer_1 = lambda lines, result: [line for line in lines if line[0] in names_in(result)]  # needs-not-followed
answer_1 = lambda lines, result: print([line for line in lines if line[0] in names_in(result)])  # returns-nothing
# Lazy: it returns what it was given.
answer_1 = lambda lines, result: lines if result != "a" else []  # dead-line-kept
answer_1 = lambda lines, result: lines  # argument-computed
answer_1 = [("e", "a + c"), ("g", "e + d")]  # no-function
