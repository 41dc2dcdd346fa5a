# %% 1 right. By number; recursion in place of a set.
def answer_1(lines, result):
    def reads(number, name):
        for place in range(number + 1, len(lines)):
            if name in names_in(lines[place][1]) and reads(place, lines[place][0]):
                return True
            if lines[place][0] == name:
                return False
        return name in names_in(result)
    return (line for number, line in enumerate(lines) if reads(number, line[0]))

# %% 1 wrong: equal-lines-kept. Of equal lines the first one is meant, always.
#- return (line for number, line in enumerate(lines) if reads(number, line[0]))
#+ return (line for line in lines if reads(lines.index(line), line[0]))

# %% 1 right. The last line first, and lists in place of pairs.
def answer_1(lines, result):
    if not lines:
        return []
    name, expression = lines[-1]
    if name not in names_in(result):
        return answer_1(lines[:-1], result)
    rest = (names_in(result) - {name}) | names_in(expression)
    return answer_1(lines[:-1], " + ".join(rest) or "0") + [[name, expression]]

# %% 1 wrong: equal-lines-kept. The order is put right at the end.
def answer_1(lines, result):
    needed, kept = names_in(result), []
    for name, expression in reversed(lines):
        if name in needed:
            needed = needed - {name} | names_in(expression)
            kept.append((name, expression))
    return [line for line in lines if line in kept]

# %% 1 wrong: dead-reader-counts. Whatever any line reads counts as needed.
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

# %% 1 wrong: overwritten-line-kept. A name stays wanted after its line.
#- wanted.remove(name)

# %% 1 wrong: old-value-lost. The name leaves after the names that its line reads have joined.
#-             wanted.remove(name)
#-             wanted |= names_in(expression)
#+             wanted |= names_in(expression)
#+             wanted.remove(name)

# %% 1 wrong: no-pairs. The names alone.
#- kept.insert(0, (name, expression))
#+ kept.insert(0, name)

# %% 1 wrong: wrong-effect
def answer_1(lines, result):
    wanted = names_in(result)
    for number in reversed(range(len(lines))):
        name, expression = lines[number]
        if name in wanted:
            wanted = wanted - {name} | names_in(expression)
        else:
            del lines[number]
    return lines

# %% 1 wrong: chain-wrong. What two lines read is computed twice.
def answer_1(lines, result):
    last = dict(lines)
    needed = []
    for name in sorted(names_in(result) & set(last)):
        needed += answer_1(lines[:lines.index((name, last[name]))], last[name]) + [(name, last[name])]
    return needed

# %% 1 wrong: other-lines. The first line that sets a name, not the last one.
def answer_1(lines, result):
    names, needed = names_in(result), []
    for name, expression in reversed(lines):
        if name in names and name not in [target for target, _ in lines[:lines.index((name, expression))]]:
            names = names | names_in(expression)
            needed.insert(0, (name, expression))
    return needed

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

# %% 1 wrong: wrong-result. Text in place of names: x is a part of xx.
def answer_1(lines, result):
    kept, text = [], result
    for name, expression in reversed(lines):
        if name in text:
            text = text.replace(name, "") + " " + expression
            kept.insert(0, (name, expression))
    return kept

# %% 1 wrong: wrong-result. Words in place of names: what follows a dot is no name.
import re
def answer_1(lines, result):
    kept, live = [], set(re.findall(r"\w+", result))
    for name, expression in reversed(lines):
        if name in live:
            live = live - {name} | set(re.findall(r"\w+", expression))
            kept.insert(0, (name, expression))
    return kept

# %% 1 wrong: wrong-result. Words between spaces.
#- kept, live = [], set(re.findall(r"\w+", result))
#+ kept, live = [], set(result.split())
#- live = live - {name} | set(re.findall(r"\w+", expression))
#+ live = live - {name} | set(expression.split())

# %% 1 wrong: no-pairs
#- kept.insert(0, (name, expression))
#+ kept.insert(0, f"{name} = {expression}")

# %% 1 wrong: one-name-alone. A name is needed once.
def answer_1(lines, result):
    live, done, kept = names_in(result), set(), []
    for name, expression in reversed(lines):
        if name in live:
            kept = [(name, expression)] + kept
            done.add(name)
            live = live | names_in(expression)
            live -= done - names_in(expression)
    return kept
