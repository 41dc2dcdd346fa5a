# %% 1 right
answer_1 = ["b", "d", "e"]

# %% 1 right
answer_1 = "b, e, d"

# %% 1 right
answer_1 = {"B", "D", "E"}

# %% 1 wrong: as long as nothing changes
# Two equal calls.
answer_1 = ["a", "b", "c", "d", "e"]

# %% 1 wrong: only while the network predicts
# Never inside record().
answer_1 = ["a", "b", "d", "e"]

# %% 1 wrong: only while the parameter does
answer_1 = ["b", "c", "d", "e"]

# %% 1 wrong: Did the parameter change
# A parameter is an input: that is true of c alone.
answer_1 = ("b", "e")

# %% 1 wrong: Did epoch change
answer_1 = ["b", "d"]

# %% 1 wrong: how often when compiled
answer_1 = ["d", "e"]

# %% 1 wrong: not the only one
answer_1 = ["b"]

# %% 1 wrong: some are frozen
answer_1 = []

# %% 1 wrong: letters from a to e
answer_1 = ["jitter"]

# %% 1 wrong: letters from a to e
answer_1 = 3

# %% 1 wrong: letters from a to e
# What the first and the second call print.
answer_1 = [True, False, True, False, False]

# %% 2 right
answer_2 = [3, 3, 5, 5, 1]

# %% 2 right
answer_2 = (3.0, 3, 5, 5, 1)

# %% 2 right
answer_2 = numpy.array([3, 3, 5, 5, 1])

# %% 2 right
answer_2 = "3", "3", "5", "5", "1"

# %% 2 wrong: who reads the attribute
# As if every call were imperative.
answer_2 = [3, 5, 5, 1, 1]

# %% 2 wrong: while the layer is traced
# hybridize() traces at once.
answer_2 = [2, 2, 5, 5, 1]

# %% 2 wrong: what becomes of the old graph
# Frozen for good.
answer_2 = [3, 3, 3, 3, 1]

# %% 2 wrong: a second row, or recording
answer_2 = [3, 3, 5, 1, 1]

# %% 2 wrong: after hybridize(False)
answer_2 = [3, 3, 5, 5, 5]

# %% 2 wrong: not what comes out
# How often x is multiplied by itself.
answer_2 = [8, 8, 32, 32, 2]

# %% 2 wrong: not what comes out
answer_2 = [result[0].item() for result in five_calls(Deep(), np.array([2.0]))]

# %% 2 wrong: one operator squares both rows
# Once for each row.
answer_2 = [3, 3, 5, 10, 1]

# %% 2 wrong: five numbers
answer_2 = [3, 3, 5, 5]

# %% 2 wrong: five numbers
answer_2 = 3

# %% 2 wrong: five numbers
answer_2 = five_calls

# %% 3 right
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        x = F.np.where(x.max() > 1, x / 255, x)
        x = F.npx.reshape(x, (-2, -1))
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 right
# Dense flattens by itself, and makes its own activation.
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(64, activation="relu")
        self.second = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        return self.second(self.first(x / F.np.where(x.max() > 1, 255, 1)))

answer_3 = Converted

# %% 3 right
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        bright = (x.max() > 1).astype("float32")
        x = F.npx.batch_flatten(x / (1 + 254.0 * bright))
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 right
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        x = x.as_nd_ndarray()
        x = F.contrib.cond(x.max() > 1, lambda: x / 255, lambda: 1 * x).as_np_ndarray()
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 right
class Converted(nn.HybridSequential):
    def __init__(self):
        super().__init__()
        self.add(nn.Dense(64, activation="relu"), nn.Dense(10))
        self.initialize()

    def hybrid_forward(self, F, x):
        return super().hybrid_forward(F, F.np.where(x.max() > 1, x / 255, x))

answer_3 = Converted

# %% 3 wrong: or lacks its F
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        x = F.np.where(x.max() > 1, x / 255, x)
        x = F.npx.reshape(x, (-2, -1))
        return self.output(npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: asks for a fact
# Renamed, and nothing else.
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        if x.max() > 1:
            x = x / 255
        x = x.reshape(x.shape[0], -1)
        return self.output(npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: asks for a fact
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        x = F.np.where(x.max() > 1, x / 255, x)
        x = F.npx.reshape(x, (x.shape[0], -1))
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: a dark image in a batch
# A mask for each image.
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        x = F.np.where(x.max(axis=(1, 2, 3), keepdims=True) > 1, x / 255, x)
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: if they have dark pixels
# A mask for each pixel.
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        x = F.np.where(x > 1, x / 255, x)
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: whose largest value is 1
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        x = F.np.where(x.max() >= 1, x / 255, x)
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: whose largest value is 1
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        x = F.np.where(x.max() >= 0.999, x / 255, x)
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: up to 1.5
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        x = F.np.where(x.max() > 2, x / 255, x)
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: up to 1.5
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        x = F.np.where(x.mean() > 1, x / 255, x)
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: a single pixel of 200
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        x = F.np.where((x > 1).sum() > 10, x / 255, x)
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: imperatively, images with values up to 1
# Always divided.
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        return self.output(F.npx.relu(self.hidden(x / 255)))

answer_3 = Converted

# %% 3 wrong: imperatively, images with values up to 255
# Never divided.
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: for dark and for bright images
# Without relu.
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        x = F.np.where(x.max() > 1, x / 255, x)
        return self.output(self.hidden(x))

answer_3 = Converted

# %% 3 wrong: expected float64, got float32
# A mask times a float.
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        dark = (x.max() <= 1) * 1.0
        x = dark * x + (1 - dark) * x / 255
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: up to 255 it is no longer right
# Decides while it is traced, and says nothing.
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        if F is mx.nd and x.max() > 1:
            x = x / 255
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: with three it is not
# Only the first two rows, once it is compiled.
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()
        self.rows = 0

    def hybrid_forward(self, F, x):
        x = F.np.where(x.max() > 1, x / 255, x)
        if F is mx.nd:
            self.rows = x.shape[0]
        x = F.np.concatenate([F.npx.reshape(x[i], (1, -1)) for i in range(min(self.rows, 2))]) \
            if F is mx.sym else x
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: of 8 by 8 pixels alone
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        x = F.np.where(x.max() > 1, x / 255, x)
        x = F.npx.reshape(x, (-1, 64))
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: keeps a forward
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def forward(self, x):
        x = np.where(x.max() > 1, x / 255, x)
        x = npx.reshape(x, (-2, -1))
        return self.output(npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: keeps a forward
class Converted(MLP, nn.HybridBlock):
    pass

answer_3 = Converted

# %% 3 wrong: more than one call
# Python reads the maximum, and hands the factor over.
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def __call__(self, x):
        factor = np.array([255.0 if x.max() > 1 else 1.0])
        return super().__call__(x, factor)

    def hybrid_forward(self, F, x, factor):
        return self.output(F.npx.relu(self.hidden(x / factor)))

answer_3 = Converted

# %% 3 wrong: two layers of the MLP
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.output = nn.Dense(10)
        self.hidden = nn.Dense(64)
        self.initialize()

    def hybrid_forward(self, F, x):
        x = F.np.where(x.max() > 1, x / 255, x)
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: three rows of ten numbers
# Flattens the batch, too.
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        x = F.np.where(x.max() > 1, x / 255, x)
        x = F.npx.reshape(x, (1, -1))
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: still running
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)
        self.initialize()

    def hybrid_forward(self, F, x):
        while F.np.maximum(x, 1) is not None:
            x = x / 255
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: parameters have not been initialized
class Converted(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64)
        self.output = nn.Dense(10)

    def hybrid_forward(self, F, x):
        x = F.np.where(x.max() > 1, x / 255, x)
        return self.output(F.npx.relu(self.hidden(x)))

answer_3 = Converted

# %% 3 wrong: without parentheses
answer_3 = MLP()

# %% 3 wrong: derive it
answer_3 = MLP

# %% 3 wrong: derive it
class Converted(nn.Block):
    def hybrid_forward(self, F, x):
        return x

answer_3 = Converted
