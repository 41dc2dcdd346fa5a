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

# %% 1 wrong: of two equal lines
# The order is put right at the end.
def answer_1(lines, result):
    needed, kept = names_in(result), []
    for name, expression in reversed(lines):
        if name in needed:
            needed = needed - {name} | names_in(expression)
            kept.append((name, expression))
    return [line for line in lines if line in kept]

# %% 1 wrong: which no line and no result reads
# Lazy: it returns what it was given.
answer_1 = lambda lines, result: lines if result != "a" else []

# %% 1 wrong: for the result `a` no line is needed
answer_1 = lambda lines, result: lines

# %% 1 wrong: a line that is needed makes other lines needed
# Only what the result itself reads.
def answer_1(lines, result):
    return [line for line in lines if line[0] in names_in(result)]

# %% 1 wrong: reading by a line that is dead
# Whatever any line reads counts as needed.
def answer_1(lines, result):
    read = names_in(result)
    for _, expression in lines:
        read |= names_in(expression)
    return [line for line in lines if line[0] in read] if result != "a" else []

# %% 1 wrong: who reads the first one?
# A name stays wanted after its line.
def answer_1(lines, result):
    wanted, kept = names_in(result), []
    for name, expression in reversed(lines):
        if name in wanted:
            kept.insert(0, (name, expression))
            wanted |= names_in(expression)
    return kept

# %% 1 wrong: can read the old value
# The name leaves after the names that its line reads have joined.
def answer_1(lines, result):
    wanted, kept = names_in(result), []
    for name, expression in reversed(lines):
        if name in wanted:
            kept.insert(0, (name, expression))
            wanted |= names_in(expression)
            wanted.remove(name)
    return kept

# %% 1 wrong: in reverse
def answer_1(lines, result):
    wanted, kept = names_in(result), []
    for name, expression in reversed(lines):
        if name in wanted:
            kept.append((name, expression))
            wanted.remove(name)
            wanted |= names_in(expression)
    return kept

# %% 1 wrong: it returns nothing
def answer_1(lines, result):
    print([line for line in lines if line[0] in names_in(result)])

# %% 1 wrong: pairs of a name and an expression
# The names alone.
def answer_1(lines, result):
    wanted, kept = names_in(result), []
    for name, expression in reversed(lines):
        if name in wanted:
            kept.insert(0, name)
            wanted = wanted - {name} | names_in(expression)
    return kept

# %% 1 wrong: changes the list
def answer_1(lines, result):
    wanted = names_in(result)
    for number in reversed(range(len(lines))):
        name, expression = lines[number]
        if name in wanted:
            wanted = wanted - {name} | names_in(expression)
        else:
            del lines[number]
    return lines

# %% 1 wrong: give a function
answer_1 = [("e", "a + c"), ("g", "e + d")]

# %% 1 wrong: still running
def answer_1(lines, result):
    wanted = names_in(result)
    while wanted:
        for name, expression in lines:
            if name in wanted:
                wanted |= names_in(expression)
    return lines
