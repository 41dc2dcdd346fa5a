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

# %% 1 wrong: operator-by-operator
# The loops the other way round.
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

# %% 1 wrong: last-piece-too-long
# Pieces of nearly equal length.
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

# %% 1 wrong: wrong-numbers
# Steps too short: pieces overlap.
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

# %% 1 wrong: copy-changed
# Indexed by a list of positions, an array gives a copy.
#-             operator(numbers[start:start + size])
#+             operator(numbers[list(range(start, min(start + size, len(numbers))))])

# %% 1 wrong: endless
#-     for start in range(0, len(numbers), size):
#+     start = 0
#+     while start < len(numbers):

# %% 1 wrong, each line
answer_1 = lambda operators, numbers, size: [numbers[start:start + size] for start in range(0, len(numbers), size)]  # no-operator-called
answer_1 = eight_operators(array)  # no-function
