# %% 1 given
import math

# %% 1 right. In whole numbers.
def answer_1(parameters, layers, h, a, s, room, scores):
    left = int(room) - layers * s * (34 * h + (5 * a * s if scores else 0))
    if left <= 0:
        return None
    return -(-16 * int(parameters) // left)

# %% 1 right
def answer_1(parameters, layers, h, a, s, room, scores):
    left = room - layers * s * (34 * h + 5 * a * s * scores)
    return math.ceil(16 * parameters / left) if left > 0 else None

# %% 1 right. A NumPy number, from the formula in the text.
#-     left = room - layers * s * (34 * h + 5 * a * s * scores)
#-     return math.ceil(16 * parameters / left) if left > 0 else None
#+     import numpy
#+     left = room - layers * s * h * (34 + 5 * a * s / h * scores)
#+     return numpy.ceil(16 * parameters / left) if left > 0 else None

# %% 1 right. One GPU more until it fits.
#-     return math.ceil(16 * parameters / left) if left > 0 else None
#+     gpus = 1
#+     while left > 0 and gpus * left < 16 * parameters:
#+         gpus += 1
#+     return gpus if left > 0 else None

# %% 1 wrong: shares-activations
#-     left = room - layers * s * (34 * h + 5 * a * s * scores)
#-     return math.ceil(16 * parameters / left) if left > 0 else None
#+     return math.ceil((16 * parameters + layers * s * (34 * h + 5 * a * s * scores)) / room)

# %% 1 wrong: forgets-activations
#-     left = room - layers * s * (34 * h + 5 * a * s * scores)
#+     left = room

# %% 1 wrong: one-layer
#-     left = room - layers * s * (34 * h + 5 * a * s * scores)
#+     left = room - s * (34 * h + 5 * a * s * scores)

# %% 1 wrong: rounds-down
#-     return math.ceil(16 * parameters / left) if left > 0 else None
#+     return int(16 * parameters / left) if left > 0 else None

# %% 1 wrong: wrong-result. One GPU too many where it fits exactly.
#-     return math.ceil(16 * parameters / left) if left > 0 else None
#+     return 16 * parameters // left + 1 if left > 0 else None

# %% 1 wrong: scores-always
#-     left = room - layers * s * (34 * h + 5 * a * s * scores)
#+     left = room - layers * s * (34 * h + 5 * a * s)

# %% 1 wrong: scores-always. Never.
#-     left = room - layers * s * (34 * h + 5 * a * s * scores)
#+     left = room - layers * s * 34 * h

# %% 1 wrong: never-none
#-     return math.ceil(16 * parameters / left) if left > 0 else None
#+     return math.ceil(16 * parameters / max(left, 1))

# %% 1 wrong: wrong-result. Nothing is left, and that is called a fit.
#-     return math.ceil(16 * parameters / left) if left > 0 else None
#+     return math.ceil(16 * parameters / (left or 1)) if left >= 0 else None

# %% 1 wrong: wrong-result. Eight heads, as in the first network that is tried.
#-     left = room - layers * s * (34 * h + 5 * a * s * scores)
#+     left = room - layers * s * (34 * h + 5 * 8 * s * scores)

# %% 1 wrong: wrong-result. Powers of two, as GPUs are sold.
#-     return math.ceil(16 * parameters / left) if left > 0 else None
#+     return 2 ** math.ceil(math.log2(16 * parameters / left)) if left > 0 else None

# %% 1 wrong: wrong-result. Bytes for scores in whole numbers, per channel.
#-     left = room - layers * s * (34 * h + 5 * a * s * scores)
#+     left = room - layers * s * h * (34 + 5 * a * s // h * scores)

# %% 1 wrong: wrong-result. Looks as far as the table does.
#-     return math.ceil(16 * parameters / left) if left > 0 else None
#+     return next((n for n in range(1, 1025) if 16 * parameters <= n * left), None)

# %% 1 wrong: gives-none-back
#-     return math.ceil(16 * parameters / left) if left > 0 else None
#+     print(math.ceil(16 * parameters / left) if left > 0 else None)

# %% 1 wrong: raises
#-     return math.ceil(16 * parameters / left) if left > 0 else None
#+     return None if left < 0 else math.ceil(16 * parameters / left)

# %% 1 wrong: wrong-result
networks = []
def answer_1(parameters, layers, h, a, s, room, scores):
    networks.append(parameters)
    left = room - layers * s * (34 * h + 5 * a * s * scores)
    return math.ceil(16 * sum(networks) / left) if left > 0 else None

# %% 1 wrong: no-function
answer_1 = 48
