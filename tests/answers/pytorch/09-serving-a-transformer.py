# %% 1 right. Bits, a tensor as result, floating-point numbers; the users are counted in a loop.
def answer_1(layers, heads, kv_heads, width, tokens):
    one_vector = kv_heads * (width / heads)
    return torch.tensor(16 * 2 * one_vector * layers * tokens / 8, dtype=torch.float64)

users_1 = []
for kv_heads in 8, 64:
    count = 0
    while 141e9 + (count + 1) * answer_1(80, 64, kv_heads, 8192, 8192) <= 320e9:
        count += 1
    users_1.append(float(count))

# %% 1 wrong: endless
def answer_1(layers, heads, kv_heads, width, tokens):
    while tokens > 0:
        layers += 1

# %% 1 wrong, each line
answer_1 = lambda layers, heads, kv_heads, width, tokens: 2 * 4 * layers * kv_heads * width // heads * tokens  # four-byte-numbers
# Keys alone.
answer_1 = lambda layers, heads, kv_heads, width, tokens: 2 * layers * kv_heads * width // heads * tokens  # half-the-bytes
# Numbers, not bytes.
answer_1 = lambda layers, heads, kv_heads, width, tokens: 2 * layers * kv_heads * width / heads * tokens / 1  # half-the-bytes
# The formula of the lesson, in which each head has keys and values of its own.
answer_1 = lambda layers, heads, kv_heads, width, tokens: 2 * 2 * layers * width * tokens  # all-query-heads
answer_1 = lambda layers, heads, kv_heads, width, tokens: 2 * 2 * kv_heads * width // heads * tokens  # one-layer
answer_1 = lambda layers, heads, kv_heads, width, tokens: 2 * 2 * layers * kv_heads * width // heads  # one-token
# A key of a head is taken to be as wide as the network.
answer_1 = lambda layers, heads, kv_heads, width, tokens: 2 * 2 * layers * kv_heads * width * tokens  # head-too-wide
# The width of a head is that of the network, divided by the heads that have keys.
answer_1 = lambda layers, heads, kv_heads, width, tokens: 2 * 2 * layers * heads * width // kv_heads * tokens  # no-network-right
# Right by luck: the sizes of one network.
answer_1 = lambda layers, heads, kv_heads, width, tokens: 2 * 2 * 80 * 8 * 128 * tokens  # one-network-right
answer_1 = 327680  # no-function

# %% 1 given
def answer_1(layers, heads, kv_heads, width, tokens):
    return 4 * layers * kv_heads * width // heads * tokens

# %% 1 wrong: no-users. The function alone.

# %% 1 right, each line
users_1 = [66, 8]

# %% 1 wrong, each line
users_1 = [8, 66]  # numbers-swapped
users_1 = 66  # no-two-numbers
users_1 = [66.68, 8.34]  # users-not-whole
# Rounded up.
users_1 = [67, 9]  # too-many-users
# Forgets the weights.
users_1 = [119, 14]  # too-many-users
# As if one GPU alone had to hold everything that is left.
users_1 = [16, 2]  # too-few-users

# %% 2 right. Writes by index.
class Indexed:
    def __init__(self, room):
        self.room, self.length, self.both = room, 0, None

    def append(self, keys, values):
        if self.both is None:
            rows, heads, _, size = keys.shape
            self.both = [keys.new_zeros(rows, heads, self.room, size) for _ in range(2)]
        end = self.length + keys.shape[2]
        places = torch.arange(self.length, end, device=keys.device)
        self.both[0].index_copy_(2, places, keys)
        self.both[1][:, :, places] = values
        self.length = end
        return tuple(each[:, :, :end] for each in self.both)

answer_2 = Indexed

# %% 2 right. A subclass, made by a function; both halves in one buffer; `narrow` raises the error.
class Buffer(Cache):
    buffer = None
    filled = 0

    @property
    def length(self):
        return self.filled

    def append(self, keys, values):
        if self.buffer is None:
            rows, heads, _, size = keys.shape
            self.buffer = keys.new_zeros(2, rows, heads, self.room, size)
        for place, fresh in enumerate((keys, values)):
            self.buffer[place].narrow(2, self.filled, fresh.shape[2]).copy_(fresh)
        self.filled += keys.shape[2]
        return tuple(self.buffer[:, :, :, :self.filled])

def answer_2(room):
    cache = Buffer()
    cache.room = room
    return cache

# %% 2 wrong: copies-tokens. The lesson's own.
def answer_2(room):
    return Cache()

# %% 2 wrong: silent-overflow. A slice that ends beyond the buffer is shorter, and takes one token silently.
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

# %% 2 right
#-             self.keys = keys.new_zeros(rows, heads, self.room, size)
#-             self.values = self.keys.clone()
#-         end = self.length + keys.shape[2]
#+             self.keys = keys.new_empty(rows, heads, self.room, size)
#+             self.values = values.new_empty(rows, heads, self.room, size)
#+         end = self.length + keys.shape[2]
#+         if end > self.room:
#+             raise ValueError(f"{end} tokens, room for {self.room}")

# %% 2 wrong: other-device. The device is forgotten.
#-             self.keys = keys.new_zeros(rows, heads, self.room, size)
#-             self.values = self.keys.clone()
#-         end = self.length + keys.shape[2]
#+             self.keys = torch.empty(rows, heads, self.room, size, dtype=keys.dtype)
#+             self.values = torch.empty(rows, heads, self.room, size, dtype=keys.dtype)
#+         end = self.length + keys.shape[2]
#+         if end > self.room:
#+             raise ValueError(f"{end} tokens, room for {self.room}")

# %% 2 wrong: takes-memory-again. A list that doubles.
#-             self.keys = keys.new_zeros(rows, heads, self.room, size)
#-             self.values = self.keys.clone()
#-         end = self.length + keys.shape[2]
#+             self.keys = keys.new_zeros(rows, heads, 1, size)
#+             self.values = self.keys.clone()
#+         end = self.length + keys.shape[2]
#+         if end > self.room:
#+             raise ValueError("no room")
#+         while self.keys.shape[2] < end:
#+             self.keys = torch.cat([self.keys, self.keys], 2)
#+             self.values = torch.cat([self.values, self.values], 2)

# %% 2 wrong: wrong-result. After the error it claims tokens that it does not hold.
#-         end = self.length + keys.shape[2]
#+         end = self.length = self.length + keys.shape[2]
#+         if end > self.room:
#+             raise ValueError("no room")
#-         self.keys[:, :, self.length:end] = keys
#-         self.values[:, :, self.length:end] = values
#-         self.length = end
#+         self.keys[:, :, end - keys.shape[2]:end] = keys
#+         self.values[:, :, end - keys.shape[2]:end] = values

# %% 2 wrong: refuses-too-early
#-         end = self.length + keys.shape[2]
#+         end = self.length + keys.shape[2]
#+         if end >= self.room:
#+             raise ValueError("no room")

# %% 2 wrong: silent-overflow. Forgets the oldest.
#-         end = self.length + keys.shape[2]
#+         if self.length + keys.shape[2] > self.room:
#+             self.length = 0
#+         end = self.length + keys.shape[2]

# %% 2 wrong: wrong-result. Looks only whether it is full.
#-         end = self.length + keys.shape[2]
#+         if self.length >= self.room:
#+             raise ValueError("no room")
#+         end = min(self.room, self.length + keys.shape[2])
#-         self.keys[:, :, self.length:end] = keys
#-         self.values[:, :, self.length:end] = values
#+         self.keys[:, :, self.length:end] = keys[:, :, :end - self.length]
#+         self.values[:, :, self.length:end] = values[:, :, :end - self.length]

# %% 2 wrong: first-empty-places. Returns the whole buffer.
#- return self.keys[:, :, :end], self.values[:, :, :end]
#+ return self.keys, self.values

# %% 2 wrong: length-stays
#- self.room, self.length, self.keys = room, 0, None
#+ self.room, self.length, self.end, self.keys = room, 0, 0, None
#-         end = self.length + keys.shape[2]
#-         self.keys[:, :, self.length:end] = keys
#-         self.values[:, :, self.length:end] = values
#-         self.length = end
#-         return self.keys[:, :, :end], self.values[:, :, :end]
#+         start, self.end = self.end, self.end + keys.shape[2]
#+         self.keys[:, :, start:self.end] = keys
#+         self.values[:, :, start:self.end] = values
#+         return self.keys[:, :, :self.end], self.values[:, :, :self.end]

# %% 2 wrong: second-other-values. Every call writes to the beginning.
#-         self.keys[:, :, self.length:end] = keys
#-         self.values[:, :, self.length:end] = values
#+         self.keys[:, :, :keys.shape[2]] = keys
#+         self.values[:, :, :keys.shape[2]] = values

# %% 2 wrong: second-length-stays. Its length is that of what came last.
#- self.room, self.length, self.keys = room, 0, None
#+ self.room, self.length, self.end, self.keys = room, 0, 0, None
#-         end = self.length + keys.shape[2]
#-         self.keys[:, :, self.length:end] = keys
#-         self.values[:, :, self.length:end] = values
#-         self.length = end
#-         return self.keys[:, :, :end], self.values[:, :, :end]
#+         start, self.end, self.length = self.end, self.end + keys.shape[2], keys.shape[2]
#+         self.keys[:, :, start:self.end] = keys
#+         self.values[:, :, start:self.end] = values
#+         return self.keys[:, :, :self.end], self.values[:, :, :self.end]

# %% 2 wrong: no-two-tensors. Nothing is returned.
#-         return self.keys[:, :, :end], self.values[:, :, :end]

# %% 2 wrong: other-values. The values are the keys.
#- return self.keys[:, :, :end], self.values[:, :, :end]
#+ return self.keys[:, :, :end], self.keys[:, :, :end]

# %% 2 wrong: other-type
#-         self.room, self.length, self.keys = room, 0, None
#+         self.length = 0
#+         self.keys, self.values = torch.zeros(2, 4, room, 32), torch.zeros(2, 4, room, 32)
#-     def append(self, keys, values):
#-         if self.keys is None:
#-             rows, heads, _, size = keys.shape
#-             self.keys = keys.new_zeros(rows, heads, self.room, size)
#-             self.values = self.keys.clone()
#+     def append(self, keys, values):

# %% 2 wrong: copies-room. As where arrays cannot be changed: a new array, with the token in its place.
#-         self.keys[:, :, self.length:end] = keys
#-         self.values[:, :, self.length:end] = values
#+         if end > self.room:
#+             raise ValueError("no room")
#+         self.keys = torch.slice_scatter(self.keys, keys, 2, self.length, end)
#+         self.values = torch.slice_scatter(self.values, values, 2, self.length, end)

# %% 2 wrong: shared-buffer. The buffer belongs to the class.
#- class Roomy:
#+ class Roomy:
#+     keys = torch.zeros(2, 4, 1000, 32, dtype=torch.float64)
#+     values = torch.zeros(2, 4, 1000, 32, dtype=torch.float64)
#+
#-         self.room, self.length, self.keys = room, 0, None
#+         self.room, self.length = room, 0
#-         if self.keys is None:
#-             rows, heads, _, size = keys.shape
#-             self.keys = keys.new_zeros(rows, heads, self.room, size)
#-             self.values = self.keys.clone()
#-         end = self.length + keys.shape[2]
#+         end = self.length + keys.shape[2]
#+         if end > self.room:
#+             raise ValueError("no room")

# %% 2 wrong: takes-memory-again. NumPy copies all, unseen.
class Stacked:
    def __init__(self, room):
        self.room, self.length, self.both = room, 0, None

    def append(self, keys, values):
        fresh = keys.numpy(), values.numpy()
        if self.length + keys.shape[2] > self.room:
            raise ValueError("no room")
        import numpy
        both = self.both or [each[:, :, :0] for each in fresh]
        self.both = [numpy.concatenate(pair, 2) for pair in zip(both, fresh)]
        self.length += keys.shape[2]
        return [torch.from_numpy(each) for each in self.both]

answer_2 = Stacked

# %% 2 right. `scatter_`, a list as the result, a length that is computed.
class Scattered:
    def __init__(self, room):
        self.room, self.used = room, []

    @property
    def length(self):
        return sum(self.used)

    def append(self, keys, values):
        pair = keys, values
        start, count = self.length, keys.size(2)
        if start + count > self.room:
            raise IndexError("no room")
        if not self.used:
            self.pair = [torch.empty((*each.shape[:2], self.room, each.shape[3]), dtype=each.dtype, device=each.device)
                         for each in pair]
        self.used.append(count)
        for all_, each in zip(self.pair, pair):
            all_.narrow(2, start, count).copy_(each)
        return [each.narrow(2, 0, start + count) for each in self.pair]

answer_2 = lambda room: Scattered(room)

# %% 2 wrong: second-tokens-missing. Returns what was just appended.
class Roomy:
    def __init__(self, room):
        self.length = 0

    def append(self, keys, values):
        self.length += keys.shape[2]
        return keys, values

answer_2 = Roomy

# %% 2 wrong: second-append-fails. Joined along the heads.
#-         self.length += keys.shape[2]
#-         return keys, values
#+         if self.length:
#+             keys, values = torch.cat([self.keys, keys], 1), torch.cat([self.values, values], 1)
#+         self.keys, self.values, self.length = keys, values, self.length + keys.shape[2]
#+         return keys, values

# %% 2 wrong: copies-tokens. Room is made, but each call puts together a new tensor.
#- class Roomy:
#+ class Roomy(Cache):
#-         self.length = 0
#+         super().__init__()
#+         self.room = room
#-         self.length += keys.shape[2]
#-         return keys, values
#+         if self.length + keys.shape[2] > self.room:
#+             raise ValueError("no room")
#+         return super().append(keys, values)

# %% 2 wrong: length-not-zero. The inherited length is that of the buffer.
#- class Roomy:
#+ class Roomy(Cache):
#-         self.length = 0
#+         self.end = 0
#+         self.keys = torch.zeros(2, 4, room, 32, dtype=torch.float64)
#+         self.values = torch.zeros(2, 4, room, 32, dtype=torch.float64)
#-         self.length += keys.shape[2]
#-         return keys, values
#+         start, self.end = self.end, self.end + keys.shape[2]
#+         self.keys[:, :, start:self.end] = keys
#+         self.values[:, :, start:self.end] = values
#+         return self.keys[:, :, :self.end], self.values[:, :, :self.end]

# %% 2 wrong: endless
class Roomy:
    length = 0

    def __init__(self, room):
        while True:
            pass

answer_2 = Roomy

# %% 2 wrong: fixed-shape. The type and the shape are those of `exact`.
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

# %% 2 wrong, each line
answer_2 = list  # no-append
answer_2 = Cache()  # no-class

# %% 3 wrong: prompt-recomputed. No cache at all.
def answer_3(net, system, requests, count):
    answers = []
    for request in requests:
        ids = torch.cat([system, request], dim=1)
        answers.append(recompute(net, ids, count)[:, -count:])
    return answers

# %% 3 wrong: prompt-recomputed. Right, and wasteful.
#-         ids = torch.cat([system, request], dim=1)
#-         answers.append(recompute(net, ids, count)[:, -count:])
#+         caches = [Cache() for _ in net.blocks]
#+         net(system, caches)
#+         answers.append(answer(net, caches, request, count))

# %% 3 wrong: first-wrong. Leaves the system prompt out.
def answer_3(net, system, requests, count):
    return [answer(net, [Cache() for _ in net.blocks], request, count) for request in requests]

# %% 3 wrong: endless
def answer_3(net, system, requests, count):
    while requests:
        serve(net, system, requests[:1], 1)

# %% 3 wrong, each line
answer_3 = serve  # second-wrong
# Only the first one is served.
answer_3 = lambda net, system, requests, count: serve(net, system, requests[:1], count)  # answers-missing
answer_3 = "shared.copy() copies the list"  # no-function

# %% 3 given
def answer_3(net, system, requests, count):
    shared = empty_caches(net)
    net(system, shared)

# %% 3 wrong: second-wrong. Empties the caches, and so forgets the system prompt, too.
    answers = []
    for request in requests:
        answers.append(answer(net, shared, request, count))
        for cache in shared:
            cache.keys = cache.values = None
    return answers

# %% 3 right. New caches that begin with the same tensors: an append never changes a tensor.
#-         answers.append(answer(net, shared, request, count))
#-         for cache in shared:
#-             cache.keys = cache.values = None
#+         caches = []
#+         for one in shared:
#+             cache = Cache()
#+             cache.append(one.keys, one.values)
#+             caches.append(cache)
#+         answers.append(answer(net, caches, request, count))

# %% 3 right. The shared caches are cut back after each request.
#- answers = []
#+ answers = ()
#- answers.append(answer(net, shared, request, count))
#+ answers += answer(net, shared, request, count),
#-             cache.keys = cache.values = None
#+             cache.keys = cache.keys[:, :, :system.shape[1]]
#+             cache.values = cache.values[:, :, :system.shape[1]]

# %% 3 right. A copy of the caches, and no `answer`.
#-         answers.append(answer(net, shared, request, count))
#-         for cache in shared:
#-             cache.keys = cache.values = None
#+         caches = copy.deepcopy(shared)
#+         scores = net(request, caches)
#+         found = []
#+         for _ in range(count):
#+             token = scores[:, -1:].argmax(-1)
#+             found.append(token)
#+             scores = net(token, caches)
#+         answers.append(torch.cat(found, dim=1))

# %% 3 wrong: third-wrong. Right for two requests: the last one gets a copy.
    own = copy.deepcopy(shared)
    found = [answer(net, shared, requests[0], count)]
    return found + [answer(net, own, request, count) for request in requests[1:]]

# %% 3 wrong: wrong-effect. Empties the caller's list.
    answers = []
    while requests:
        answers.append(answer(net, copy.deepcopy(shared), requests.pop(0), count))
    return answers

# %% 3 wrong: wrong-effect. Puts the requests into another order for the caller.
    answers = [answer(net, copy.deepcopy(shared), request, count) for request in requests]
    requests.sort(key=len)
    requests.reverse()
    return answers

# %% 3 right, each line
    return [answer(net, copy.deepcopy(shared), request, count) for request in requests]

# %% 3 wrong, each line
# Another way to copy the list.
    return [answer(net, list(shared), request, count) for request in requests]  # second-wrong
# With the request.
    return [torch.cat([request, answer(net, copy.deepcopy(shared), request, count)], dim=1) for request in requests]  # other-token-count

# %% 3 wrong: wrong-result. The first system prompt, for ever.
MEMO = {}
def answer_3(net, system, requests, count):
    if "c" not in MEMO:
        MEMO["c"] = empty_caches(net)
        net(system, MEMO["c"])
    return [answer(net, copy.deepcopy(MEMO["c"]), request, count) for request in requests]

# %% 2 right
class Own:
    def __init__(self, room):
        self.room, self.length, self.both = room, 0, None

    def place(self, tensor):
        return tensor.new_empty(*tensor.shape[:2], self.room, tensor.shape[3])

    def append(self, keys, values):
        end = self.length + keys.shape[2]
        if end > self.room:
            raise ValueError
        if self.both is None:
            self.both = self.place(keys), self.place(values)
        for held, fresh in zip(self.both, (keys, values)):
            held[:, :, self.length:end] = fresh
        self.length = end
        return [held[:, :, :end] for held in self.both]

answer_2 = Own

# %% 2 wrong: too-much-memory
#-         return tensor.new_empty(*tensor.shape[:2], self.room, tensor.shape[3])
#+         return tensor.new_empty(*tensor.shape[:2], 2 * self.room, tensor.shape[3])

# %% 2 wrong: wrong-result. It writes into what it was given.
#-             held[:, :, self.length:end] = fresh
#+             held[:, :, self.length:end] = fresh
#+             fresh.zero_()

# %% 2 wrong: takes-memory-again. In pieces of sixteen tokens.
#-         if self.both is None:
#-             self.both = self.place(keys), self.place(values)
#+         if self.both is None:
#+             self.both = keys[:, :, :0], values[:, :, :0]
#+         while end > self.both[0].shape[2]:
#+             more = torch.zeros_like(keys[:, :, :1]).repeat(1, 1, 16, 1)
#+             self.both = [torch.cat([held, more], dim=2) for held in self.both]

# %% 3 wrong: wrong-result. Keeps the system prompt for the next call, and knows it by its length.
kept = {}

def answer_3(net, system, requests, count):
    key = id(net), system.shape[1]
    if key not in kept:
        kept[key] = empty_caches(net)
        net(system, kept[key])
    return [answer(net, copy.deepcopy(kept[key]), request, count) for request in requests]
