# %% 1 right
def answer_1(operators, numbers, size):
    for start in range(0, len(numbers), size):
        for operator in operators:
            operator(numbers[start:start + size])

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

# %% 1 wrong: got more than 4
# Pieces of nearly equal length.
def answer_1(operators, numbers, size):
    for piece in np.array_split(numbers, max(1, len(numbers) // size)):
        for operator in operators:
            operator(piece)

# %% 1 wrong: before the second begins
# The loops the other way round.
def answer_1(operators, numbers, size):
    for operator in operators:
        for start in range(0, len(numbers), size):
            operator(numbers[start:start + size])

# %% 1 wrong: the whole array at once
def answer_1(operators, numbers, size):
    for operator in operators:
        operator(numbers)

# %% 1 wrong: what of the last piece
def answer_1(operators, numbers, size):
    for number in range(len(numbers) // size):
        for operator in operators:
            operator(numbers[number * size:(number + 1) * size])

# %% 1 wrong: a copy is not changed
def answer_1(operators, numbers, size):
    for start in range(0, len(numbers), size):
        piece = numbers[start:start + size].copy()
        for operator in operators:
            operator(piece)

# %% 1 wrong: a copy is not changed
# Indexed by a list of positions, an array gives a copy.
def answer_1(operators, numbers, size):
    for start in range(0, len(numbers), size):
        chosen = list(range(start, min(start + size, len(numbers))))
        for operator in operators:
            operator(numbers[chosen])

# %% 1 wrong: did you count pieces, or numbers
def answer_1(operators, numbers, size):
    for piece in np.array_split(numbers, size - 2):
        for operator in operators:
            operator(piece)

# %% 1 wrong: smaller than they may be
def answer_1(operators, numbers, size):
    for start in range(len(numbers)):
        for operator in operators:
            operator(numbers[start:start + 1])

# %% 1 wrong: never called
def answer_1(operators, numbers, size):
    for start in range(0, len(numbers), size):
        operators[0](numbers[start:start + size])

# %% 1 wrong: is every operator applied once
# Steps too short: pieces overlap.
def answer_1(operators, numbers, size):
    for start in range(0, len(numbers) - size + 1, size // 2):
        for operator in operators:
            operator(numbers[start:start + size])

# %% 1 wrong: is every operator applied once
def answer_1(operators, numbers, size):
    for start in range(0, len(numbers), size):
        for operator in reversed(operators):
            operator(numbers[start:start + size])

# %% 1 wrong: no operator was called
def answer_1(operators, numbers, size):
    return [numbers[start:start + size] for start in range(0, len(numbers), size)]

# %% 1 wrong: still running
def answer_1(operators, numbers, size):
    start = 0
    while start < len(numbers):
        for operator in operators:
            operator(numbers[start:start + size])

# %% 1 wrong: give a function
answer_1 = eight_operators(array)
