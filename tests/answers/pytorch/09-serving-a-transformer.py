# %% 1 right
def answer_1(layers, heads, kv_heads, width, tokens):
    return 2 * 2 * layers * kv_heads * width // heads * tokens

users_1 = [66, 8]

# %% 1 right
# Bits, a tensor as result, floating-point numbers; the users are counted in a loop.
def answer_1(layers, heads, kv_heads, width, tokens):
    one_vector = kv_heads * (width / heads)
    return torch.tensor(16 * 2 * one_vector * layers * tokens / 8, dtype=torch.float64)

users_1 = []
for kv_heads in 8, 64:
    count = 0
    while 141e9 + (count + 1) * answer_1(80, 64, kv_heads, 8192, 8192) <= 320e9:
        count += 1
    users_1.append(float(count))

# %% 1 wrong: 16 bits
def answer_1(layers, heads, kv_heads, width, tokens):
    return 2 * 4 * layers * kv_heads * width // heads * tokens

# %% 1 wrong: both
# Keys alone.
def answer_1(layers, heads, kv_heads, width, tokens):
    return 2 * layers * kv_heads * width // heads * tokens

# %% 1 wrong: for every query head
# The formula of the lesson, in which each head has keys and values of its own.
def answer_1(layers, heads, kv_heads, width, tokens):
    return 2 * 2 * layers * width * tokens

# %% 1 wrong: one layer
def answer_1(layers, heads, kv_heads, width, tokens):
    return 2 * 2 * kv_heads * width // heads * tokens

# %% 1 wrong: one token
def answer_1(layers, heads, kv_heads, width, tokens):
    return 2 * 2 * layers * kv_heads * width // heads

# %% 1 wrong: as wide as the whole
# A key of a head is taken to be as wide as the network.
def answer_1(layers, heads, kv_heads, width, tokens):
    return 2 * 2 * layers * kv_heads * width * tokens

# %% 1 wrong: numbers, not bytes
def answer_1(layers, heads, kv_heads, width, tokens):
    return 2 * layers * kv_heads * width / heads * tokens / 1

# %% 1 wrong: the sizes of another
# Right by luck: the sizes of one network.
def answer_1(layers, heads, kv_heads, width, tokens):
    return 2 * 2 * 80 * 8 * 128 * tokens

# %% 1 wrong: a function
answer_1 = 327680

# %% 1 wrong: Now the two numbers
def answer_1(layers, heads, kv_heads, width, tokens):
    return 4 * layers * kv_heads * width // heads * tokens

# %% 1 wrong: there are two numbers
def answer_1(layers, heads, kv_heads, width, tokens):
    return 4 * layers * kv_heads * width // heads * tokens

users_1 = 66

# %% 1 wrong: do not fit
# Rounded up.
def answer_1(layers, heads, kv_heads, width, tokens):
    return 4 * layers * kv_heads * width // heads * tokens

users_1 = [67, 9]

# %% 1 wrong: do not fit
# Forgets the weights.
def answer_1(layers, heads, kv_heads, width, tokens):
    return 4 * layers * kv_heads * width // heads * tokens

users_1 = [119, 14]

# %% 1 wrong: more fit
# As if one GPU alone had to hold everything that is left.
def answer_1(layers, heads, kv_heads, width, tokens):
    return 4 * layers * kv_heads * width // heads * tokens

users_1 = [16, 2]

# %% 1 wrong: the other way round
def answer_1(layers, heads, kv_heads, width, tokens):
    return 4 * layers * kv_heads * width // heads * tokens

users_1 = [8, 66]

# %% 1 wrong: still running
def answer_1(layers, heads, kv_heads, width, tokens):
    while tokens > 0:
        layers += 1

# %% 1 wrong: is whole
def answer_1(layers, heads, kv_heads, width, tokens):
    return 2 * 2 * layers * kv_heads * width // heads * tokens

users_1 = [66.68, 8.34]

# %% 2 right
# Writes by index.
class Indexed:
    def __init__(self, room):
        self.room, self.length, self.both = room, 0, None

    def append(self, keys, values):
        if self.both is None:
            rows, heads, _, size = keys.shape
            self.both = [keys.new_zeros(rows, heads, self.room, size) for _ in range(2)]
        end = self.length + keys.shape[2]
        places = torch.arange(self.length, end)
        self.both[0].index_copy_(2, places, keys)
        self.both[1][:, :, places] = values
        self.length = end
        return tuple(each[:, :, :end] for each in self.both)

answer_2 = Indexed

# %% 2 right
class Roomy:
    def __init__(self, room):
        self.room = room
        self.length = 0
        self.keys = self.values = None

    def append(self, keys, values):
        rows, heads, new, size = keys.shape
        if self.keys is None:
            self.keys = keys.new_empty(rows, heads, self.room, size)
            self.values = values.new_empty(rows, heads, self.room, size)
        end = self.length + new
        if end > self.room:
            raise ValueError(f"{end} tokens, room for {self.room}")
        self.keys[:, :, self.length:end] = keys
        self.values[:, :, self.length:end] = values
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]

answer_2 = Roomy

# %% 2 right
# A subclass, made by a function; both halves in one buffer; `narrow` raises the error.
class Buffer(Cache):
    buffer = None
    filled = 0

    @property
    def length(self):
        return self.filled

    def append(self, keys, values):
        if self.buffer is None:
            rows, heads, _, size = keys.shape
            self.buffer = torch.zeros(2, rows, heads, self.room, size, dtype=keys.dtype)
        for place, fresh in enumerate((keys, values)):
            self.buffer[place].narrow(2, self.filled, fresh.shape[2]).copy_(fresh)
        self.filled += keys.shape[2]
        return tuple(self.buffer[:, :, :, :self.filled])

def answer_2(room):
    cache = Buffer()
    cache.room = room
    return cache

# %% 2 wrong: copies what it holds
# The lesson's own.
def answer_2(room):
    return Cache()

# %% 2 wrong: copies what it holds
# Room is made, but each call puts together a new tensor.
class Roomy(Cache):
    def __init__(self, room):
        super().__init__()
        self.room = room

    def append(self, keys, values):
        if self.length + keys.shape[2] > self.room:
            raise ValueError("no room")
        return super().append(keys, values)

answer_2 = Roomy

# %% 2 wrong: places that are still empty
# Returns the whole buffer.
class Roomy:
    def __init__(self, room):
        self.room, self.length, self.keys = room, 0, None

    def append(self, keys, values):
        if self.keys is None:
            rows, heads, _, size = keys.shape
            self.keys = keys.new_zeros(rows, heads, self.room, size)
            self.values = self.keys.clone()
        end = self.length + keys.shape[2]
        self.keys[:, :, self.length:end] = keys
        self.values[:, :, self.length:end] = values
        self.length = end
        return self.keys, self.values

answer_2 = Roomy

# %% 2 wrong: length of an empty cache
# The inherited length is that of the buffer.
class Roomy(Cache):
    def __init__(self, room):
        self.end = 0
        self.keys = torch.zeros(2, 4, room, 32, dtype=torch.float64)
        self.values = torch.zeros(2, 4, room, 32, dtype=torch.float64)

    def append(self, keys, values):
        start, self.end = self.end, self.end + keys.shape[2]
        self.keys[:, :, start:self.end] = keys
        self.values[:, :, start:self.end] = values
        return self.keys[:, :, :self.end], self.values[:, :, :self.end]

answer_2 = Roomy

# %% 2 wrong: length does not grow
class Roomy:
    def __init__(self, room):
        self.room, self.length, self.end, self.keys = room, 0, 0, None

    def append(self, keys, values):
        if self.keys is None:
            rows, heads, _, size = keys.shape
            self.keys = keys.new_zeros(rows, heads, self.room, size)
            self.values = self.keys.clone()
        start, self.end = self.end, self.end + keys.shape[2]
        self.keys[:, :, start:self.end] = keys
        self.values[:, :, start:self.end] = values
        return self.keys[:, :, :self.end], self.values[:, :, :self.end]

answer_2 = Roomy

# %% 2 wrong: not those of all tokens so far
# Every call writes to the beginning.
class Roomy:
    def __init__(self, room):
        self.room, self.length, self.keys = room, 0, None

    def append(self, keys, values):
        new = keys.shape[2]
        if self.keys is None:
            rows, heads, _, size = keys.shape
            self.keys = keys.new_zeros(rows, heads, self.room, size)
            self.values = self.keys.clone()
        self.keys[:, :, :new] = keys
        self.values[:, :, :new] = values
        self.length += new
        return self.keys[:, :, :self.length], self.values[:, :, :self.length]

answer_2 = Roomy

# %% 2 wrong: not those of all tokens so far
# The values are the keys.
class Roomy:
    def __init__(self, room):
        self.room, self.length, self.keys = room, 0, None

    def append(self, keys, values):
        if self.keys is None:
            rows, heads, _, size = keys.shape
            self.keys = keys.new_zeros(rows, heads, self.room, size)
        end = self.length + keys.shape[2]
        self.keys[:, :, self.length:end] = keys
        self.length = end
        return self.keys[:, :, :end], self.keys[:, :, :end]

answer_2 = Roomy

# %% 2 wrong: another type
class Roomy:
    def __init__(self, room):
        self.length = 0
        self.keys, self.values = torch.zeros(2, 4, room, 32), torch.zeros(2, 4, room, 32)

    def append(self, keys, values):
        end = self.length + keys.shape[2]
        self.keys[:, :, self.length:end] = keys
        self.values[:, :, self.length:end] = values
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]

answer_2 = Roomy

# %% 2 wrong: lost without an error
# A slice that ends beyond the buffer is shorter, and takes one token silently.
class Roomy:
    def __init__(self, room):
        self.room, self.length, self.keys = room, 0, None

    def append(self, keys, values):
        if self.keys is None:
            rows, heads, _, size = keys.shape
            self.keys = keys.new_zeros(rows, heads, self.room, size)
            self.values = self.keys.clone()
        end = self.length + keys.shape[2]
        self.keys[:, :, self.length:end] = keys
        self.values[:, :, self.length:end] = values
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]

answer_2 = Roomy

# %% 2 wrong: share what they hold
# The buffer belongs to the class.
class Roomy:
    keys = torch.zeros(2, 4, 1000, 32, dtype=torch.float64)
    values = torch.zeros(2, 4, 1000, 32, dtype=torch.float64)

    def __init__(self, room):
        self.room, self.length = room, 0

    def append(self, keys, values):
        end = self.length + keys.shape[2]
        if end > self.room:
            raise ValueError("no room")
        self.keys[:, :, self.length:end] = keys
        self.values[:, :, self.length:end] = values
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]

answer_2 = Roomy

# %% 2 wrong: only part of them
# Returns what was just appended.
class Roomy:
    def __init__(self, room):
        self.length = 0

    def append(self, keys, values):
        self.length += keys.shape[2]
        return keys, values

answer_2 = Roomy

# %% 2 wrong: has no `append`
answer_2 = list

# %% 2 wrong: a class, or a function
answer_2 = Cache()

# %% 2 wrong: still running
class Roomy:
    length = 0

    def __init__(self, room):
        while True:
            pass

answer_2 = Roomy

# %% 2 wrong: copies even the empty places
# As where arrays cannot be changed: a new array, with the token in its place.
class Scattered:
    def __init__(self, room):
        self.room, self.length, self.keys = room, 0, None

    def append(self, keys, values):
        if self.keys is None:
            self.keys = keys.new_zeros(*keys.shape[:2], self.room, keys.shape[3])
            self.values = torch.zeros_like(self.keys)
        end = self.length + keys.shape[2]
        if end > self.room:
            raise ValueError("no room")
        self.keys = torch.slice_scatter(self.keys, keys, 2, self.length, end)
        self.values = torch.slice_scatter(self.values, values, 2, self.length, end)
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]


answer_2 = Scattered

# %% 2 wrong: not for three rows in float32
# The type and the shape are those of `exact`.
class TypedIn:
    def __init__(self, room):
        self.length = 0
        self.both = torch.empty(2, 2, 4, room, 32, dtype=torch.float64)

    def append(self, keys, values):
        end = self.length + keys.shape[2]
        if end > self.both.shape[3]:
            raise ValueError("no room")
        self.both[0, :, :, self.length:end] = keys
        self.both[1, :, :, self.length:end] = values
        self.length = end
        return self.both[0, :, :, :end], self.both[1, :, :, :end]


answer_2 = TypedIn

# %% 3 right
def answer_3(net, system, requests, count):
    shared = empty_caches(net)
    net(system, shared)
    return [answer(net, copy.deepcopy(shared), request, count) for request in requests]

# %% 3 right
# New caches that begin with the same tensors: an append never changes a tensor.
def answer_3(net, system, requests, count):
    shared = empty_caches(net)
    net(system, shared)
    answers = []
    for request in requests:
        caches = []
        for one in shared:
            cache = Cache()
            cache.append(one.keys, one.values)
            caches.append(cache)
        answers.append(answer(net, caches, request, count))
    return answers

# %% 3 right
# The shared caches are cut back after each request.
def answer_3(net, system, requests, count):
    shared = empty_caches(net)
    net(system, shared)
    answers = ()
    for request in requests:
        answers += answer(net, shared, request, count),
        for cache in shared:
            cache.keys = cache.keys[:, :, :system.shape[1]]
            cache.values = cache.values[:, :, :system.shape[1]]
    return answers

# %% 3 wrong: the first answer is right
answer_3 = serve

# %% 3 wrong: the first answer is right
# Another way to copy the list.
def answer_3(net, system, requests, count):
    shared = empty_caches(net)
    net(system, shared)
    return [answer(net, list(shared), request, count) for request in requests]

# %% 3 wrong: the first answer is right
# Empties the caches, and so forgets the system prompt, too.
def answer_3(net, system, requests, count):
    shared = empty_caches(net)
    net(system, shared)
    answers = []
    for request in requests:
        answers.append(answer(net, shared, request, count))
        for cache in shared:
            cache.keys = cache.values = None
    return answers

# %% 3 wrong: computed again
# Right, and wasteful.
def answer_3(net, system, requests, count):
    answers = []
    for request in requests:
        caches = [Cache() for _ in net.blocks]
        net(system, caches)
        answers.append(answer(net, caches, request, count))
    return answers

# %% 3 wrong: computed again
# No cache at all.
def answer_3(net, system, requests, count):
    answers = []
    for request in requests:
        ids = torch.cat([system, request], dim=1)
        answers.append(recompute(net, ids, count)[:, -count:])
    return answers

# %% 3 wrong: not even the first
# Leaves the system prompt out.
def answer_3(net, system, requests, count):
    return [answer(net, [Cache() for _ in net.blocks], request, count) for request in requests]

# %% 3 wrong: not even the first
# The whole request in one pass: attention's mask begins at the wrong token.
def answer_3(net, system, requests, count):
    shared = empty_caches(net)
    net(system, shared)
    answers = []
    for request in requests:
        caches = copy.deepcopy(shared)
        scores = net(request, caches)
        found = []
        for _ in range(count):
            token = scores[:, -1:].argmax(-1)
            found.append(token)
            scores = net(token, caches)
        answers.append(torch.cat(found, dim=1))
    return answers

# %% 3 wrong: one tensor of new tokens
# With the request.
def answer_3(net, system, requests, count):
    shared = empty_caches(net)
    net(system, shared)
    return [torch.cat([request, answer(net, copy.deepcopy(shared), request, count)], dim=1) for request in requests]

# %% 3 wrong: as many answers as requests
# Only the first one is served.
def answer_3(net, system, requests, count):
    return serve(net, system, requests[:1], count)

# %% 3 wrong: two requests are right
# Right for two requests: the last one gets a copy.
def answer_3(net, system, requests, count):
    shared = empty_caches(net)
    net(system, shared)
    own = copy.deepcopy(shared)
    found = [answer(net, shared, requests[0], count)]
    return found + [answer(net, own, request, count) for request in requests[1:]]

# %% 3 wrong: a function
answer_3 = "shared.copy() copies the list"

# %% 3 wrong: still running
def answer_3(net, system, requests, count):
    while requests:
        serve(net, system, requests[:1], 1)
