# %% 1 right
def answer_1(operators, numbers, size):
    count = -(-numbers.size // size)
    for number in range(count):
        piece = numbers[number * size:(number + 1) * size]
        for operator in operators:
            operator(piece)
    return numbers

# %% 1 right
def answer_1(operators, numbers, size):
    while len(numbers):
        for operator in operators:
            operator(numbers[:size])
        numbers = numbers[size:]

# %% 1 wrong: whole-array
def answer_1(operators, numbers, size):
    for operator in operators:
        operator(numbers)

# %% 1 wrong: operator-by-operator. The loops the other way round.
#-         operator(numbers)
#+         for start in range(0, len(numbers), size):
#+             operator(numbers[start:start + size])

# %% 1 wrong: last-piece-wrong
def answer_1(operators, numbers, size):
    for number in range(len(numbers) // size):
        for operator in operators:
            operator(numbers[number * size:(number + 1) * size])

# %% 1 wrong: pieces-too-long
def answer_1(operators, numbers, size):
    for piece in np.array_split(numbers, size - 2):
        for operator in operators:
            operator(piece)

# %% 1 wrong: last-piece-too-long. Pieces of nearly equal length.
#- for piece in np.array_split(numbers, size - 2):
#+ for piece in np.array_split(numbers, max(1, len(numbers) // size)):

# %% 1 right
def answer_1(operators, numbers, size):
    for start in range(0, len(numbers), size):
        for operator in operators:
            operator(numbers[start:start + size])

# %% 1 wrong: wrong-numbers
#- for operator in operators:
#+ for operator in reversed(operators):

# %% 1 wrong: wrong-numbers. Steps too short: pieces overlap.
#- for start in range(0, len(numbers), size):
#+ for start in range(0, len(numbers) - size + 1, size // 2):

# %% 1 wrong: pieces-too-short
#-     for start in range(0, len(numbers), size):
#+     for start in range(len(numbers)):
#- operator(numbers[start:start + size])
#+ operator(numbers[start:start + 1])

# %% 1 wrong: operator-missing
#-         for operator in operators:
#-             operator(numbers[start:start + size])
#+         operators[0](numbers[start:start + size])

# %% 1 wrong: copy-changed
#-         for operator in operators:
#-             operator(numbers[start:start + size])
#+         piece = numbers[start:start + size].copy()
#+         for operator in operators:
#+             operator(piece)

# %% 1 wrong: copy-changed. Indexed by a list of positions, an array gives a copy.
#-             operator(numbers[start:start + size])
#+             operator(numbers[list(range(start, min(start + size, len(numbers))))])

# %% 1 wrong: endless
#-     for start in range(0, len(numbers), size):
#+     start = 0
#+     while start < len(numbers):

# %% 1 wrong, each line
answer_1 = lambda operators, numbers, size: [numbers[start:start + size] for start in range(0, len(numbers), size)]  # no-operator-called
answer_1 = eight_operators(array)  # no-function

# %% 1 right. A buffer, written back.
def answer_1(operators, numbers, size):
    for start in range(0, len(numbers), size):
        buffer = numbers[start:start + size].copy()
        for operator in operators:
            operator(buffer)
        numbers[start:start + size] = buffer

# %% 1 right. One buffer for all pieces, and the last piece first.
def answer_1(operators, numbers, size):
    buffer = np.empty(size)
    for start in reversed(range(0, len(numbers), size)):
        part = buffer[:len(numbers) - start]
        part[:] = numbers[start:start + size]
        for operator in operators:
            operator(part)
        numbers[start:start + size] = part

# %% 1 right. As few pieces, of nearly equal length.
def answer_1(operators, numbers, size):
    for piece in np.array_split(numbers, -(-len(numbers) // size)):
        for operator in operators:
            operator(piece)

# %% 1 wrong: copies-all
def answer_1(operators, numbers, size):
    changed = numbers.copy()
    for start in range(0, len(numbers), size):
        for operator in operators:
            operator(changed[start:start + size])
    numbers[:] = changed

# %% 1 wrong: strided
def answer_1(operators, numbers, size):
    count = -(-len(numbers) // size)
    for first in range(count):
        for operator in operators:
            operator(numbers[first::count])

# %% 1 wrong: strided. Gathered, and scattered again.
#-         for operator in operators:
#-             operator(numbers[first::count])
#+         piece = numbers[first::count].copy()
#+         for operator in operators:
#+             operator(piece)
#+         numbers[first::count] = piece

# %% 1 wrong: wrong-result. Operators in pairs.
def answer_1(operators, numbers, size):
    for k in range(0, len(operators), 2):
        for start in range(0, len(numbers), size):
            for operator in operators[k:k + 2]:
                operator(numbers[start:start + size])

# %% 1 wrong: wrong-result. Three at a time.
#- for k in range(0, len(operators), 2):
#+ for k in range(0, len(operators), 3):
#- for operator in operators[k:k + 2]:
#+ for operator in operators[k:k + 3]:

# %% 1 wrong: wrong-result. The first piece only; then operator by operator.
def answer_1(operators, numbers, size):
    for operator in operators:
        operator(numbers[:size])
    for operator in operators:
        for start in range(size, len(numbers), size):
            operator(numbers[start:start + size])

# %% 1 wrong: wrong-result. No more than five operators.
def answer_1(operators, numbers, size):
    for start in range(0, len(numbers), size):
        for operator in operators[:5]:
            operator(numbers[start:start + size])

# %% 1 wrong: wrong-result. A remainder of one number is left out.
#- for start in range(0, len(numbers), size):
#+ for start in range(0, max(len(numbers) - 1, 1), size):
#- for operator in operators[:5]:
#+ for operator in operators:

# %% 1 wrong: wrong-result. Right once: the list of operators is left turned round.
def answer_1(operators, numbers, size):
    operators.reverse()
    for start in range(0, len(numbers), size):
        for operator in reversed(operators):
            operator(numbers[start:start + size])

# %% 1 wrong: wrong-effect. Pieces of a thousand at most, of which the first is one longer.
def answer_1(operators, numbers, size):
    size = min(size, 1000)
    for start in range(0, len(numbers), size):
        for operator in operators:
            operator(numbers[start:start + size + (start == 0 and size == 1000)])

# %% 1 wrong: pieces-too-short. An empty piece at the end.
def answer_1(operators, numbers, size):
    for number in range(len(numbers) // size + 1):
        for operator in operators:
            operator(numbers[number * size:(number + 1) * size])
