# %% 1 right, each line
answer_1 = ["b", "d", "e"]
answer_1 = "b, e, d"
answer_1 = {"B", "D", "E"}

# %% 1 wrong, each line
# Two equal calls.
answer_1 = ["a", "b", "c", "d", "e"]  # names-a-and-c
# Never inside record().
answer_1 = ["a", "b", "d", "e"]  # names-a
answer_1 = ["b", "c", "d", "e"]  # names-c
# A parameter is an input: that is true of c alone.
answer_1 = ("b", "e")  # lacks-d
answer_1 = ["b", "d"]  # lacks-e
answer_1 = ["d", "e"]  # lacks-b
answer_1 = ["b"]  # names-only-one
answer_1 = []  # nothing-frozen
answer_1 = ["jitter"]  # no-letters
answer_1 = 3  # no-letters
# What the first and the second call print.
answer_1 = [True, False, True, False, False]  # no-letters

# %% 2 right, each line
answer_2 = [3, 3, 5, 5, 1]
answer_2 = (3.0, 3, 5, 5, 1)
answer_2 = numpy.array([3, 3, 5, 5, 1])
answer_2 = "3", "3", "5", "5", "1"

# %% 2 wrong, each line
# As if every call were imperative.
answer_2 = [3, 5, 5, 1, 1]  # wrong-second-call
# hybridize() traces at once.
answer_2 = [2, 2, 5, 5, 1]  # wrong-first-call
# Frozen for good.
answer_2 = [3, 3, 3, 3, 1]  # wrong-third-call
answer_2 = [3, 3, 5, 1, 1]  # wrong-fourth-call
answer_2 = [3, 3, 5, 5, 5]  # wrong-fifth-call
# How often x is multiplied by itself.
answer_2 = [8, 8, 32, 32, 2]  # counts-results
answer_2 = [result[0].item() for result in five_calls(Deep(), np.array([2.0]))]  # counts-results
# Once for each row.
answer_2 = [3, 3, 5, 10, 1]  # squares-both-rows
answer_2 = [3, 3, 5, 5]  # no-five-numbers
answer_2 = 3  # no-five-numbers
answer_2 = five_calls  # no-five-numbers

# %% 3 wrong: own-forward
class Converted(MLP, nn.HybridBlock):
    pass

answer_3 = Converted

# %% 3 wrong: no-hybridblock
class Converted(nn.Block):
    def hybrid_forward(self, F, x):
        return x

answer_3 = Converted

# %% 3 wrong, each line
answer_3 = MLP()  # no-class
answer_3 = MLP  # no-hybridblock

# %% 3 wrong: wrong-shape. Flattens the batch, too.
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

# %% 3 right. Dense flattens by itself, and makes its own activation.
#-         self.hidden = nn.Dense(64)
#-         self.output = nn.Dense(10)
#+         self.first = nn.Dense(64, activation="relu")
#+         self.second = nn.Dense(10)
#-         x = F.np.where(x.max() > 1, x / 255, x)
#-         x = F.npx.reshape(x, (1, -1))
#-         return self.output(F.npx.relu(self.hidden(x)))
#+         return self.second(self.first(x / F.np.where(x.max() > 1, 255, 1)))

# %% 3 right
#-         x = F.np.where(x.max() > 1, x / 255, x)
#-         x = F.npx.reshape(x, (1, -1))
#+         x = x.as_nd_ndarray()
#+         x = F.contrib.cond(x.max() > 1, lambda: x / 255, lambda: 1 * x).as_np_ndarray()

# %% 3 right
#- class Converted(nn.HybridBlock):
#+ class Converted(nn.HybridSequential):
#-         self.hidden = nn.Dense(64)
#-         self.output = nn.Dense(10)
#+         self.add(nn.Dense(64, activation="relu"), nn.Dense(10))
#-         x = F.np.where(x.max() > 1, x / 255, x)
#-         x = F.npx.reshape(x, (1, -1))
#-         return self.output(F.npx.relu(self.hidden(x)))
#+         return super().hybrid_forward(F, F.np.where(x.max() > 1, x / 255, x))

# %% 3 wrong: fails-compiled
#-         x = F.npx.reshape(x, (1, -1))
#-         return self.output(F.npx.relu(self.hidden(x)))
#+         x = F.npx.reshape(x, (-2, -1))
#+         return self.output(npx.relu(self.hidden(x)))

# %% 3 wrong: fails-compiled. Renamed, and nothing else.
#-         x = F.np.where(x.max() > 1, x / 255, x)
#-         x = F.npx.reshape(x, (1, -1))
#-         return self.output(F.npx.relu(self.hidden(x)))
#+         if x.max() > 1:
#+             x = x / 255
#+         x = x.reshape(x.shape[0], -1)
#+         return self.output(npx.relu(self.hidden(x)))

# %% 3 wrong: fails-compiled
#- x = F.npx.reshape(x, (1, -1))
#+ x = F.npx.reshape(x, (x.shape[0], -1))

# %% 3 wrong: wrong-if-dark-or-bright. Without relu.
#-         x = F.npx.reshape(x, (1, -1))
#-         return self.output(F.npx.relu(self.hidden(x)))
#+         return self.output(self.hidden(x))

# %% 3 wrong: fails-compiled. A mask times a float.
#-         x = F.np.where(x.max() > 1, x / 255, x)
#-         x = F.npx.reshape(x, (1, -1))
#+         dark = (x.max() <= 1) * 1.0
#+         x = dark * x + (1 - dark) * x / 255

# %% 3 wrong: freezes-brightness. Decides while it is traced, and says nothing.
#-         x = F.np.where(x.max() > 1, x / 255, x)
#-         x = F.npx.reshape(x, (1, -1))
#+         if F is mx.nd and x.max() > 1:
#+             x = x / 255

# %% 3 wrong: freezes-rows. Only the first two rows, once it is compiled.
#-         self.initialize()
#+         self.initialize()
#+         self.rows = 0
#-         x = F.npx.reshape(x, (1, -1))
#+         if F is mx.nd:
#+             self.rows = x.shape[0]
#+         x = F.np.concatenate([F.npx.reshape(x[i], (1, -1)) for i in range(min(self.rows, 2))]) \
#+             if F is mx.sym else x

# %% 3 wrong: own-forward
#-     def hybrid_forward(self, F, x):
#-         x = F.np.where(x.max() > 1, x / 255, x)
#-         x = F.npx.reshape(x, (1, -1))
#-         return self.output(F.npx.relu(self.hidden(x)))
#+     def forward(self, x):
#+         x = np.where(x.max() > 1, x / 255, x)
#+         x = npx.reshape(x, (-2, -1))
#+         return self.output(npx.relu(self.hidden(x)))

# %% 3 wrong: more-calls. Python reads the maximum, and hands the factor over.
#-     def hybrid_forward(self, F, x):
#-         x = F.np.where(x.max() > 1, x / 255, x)
#-         x = F.npx.reshape(x, (1, -1))
#-         return self.output(F.npx.relu(self.hidden(x)))
#+     def __call__(self, x):
#+         factor = np.array([255.0 if x.max() > 1 else 1.0])
#+         return super().__call__(x, factor)
#+
#+     def hybrid_forward(self, F, x, factor):
#+         return self.output(F.npx.relu(self.hidden(x / factor)))

# %% 3 wrong: other-layers
#-         self.hidden = nn.Dense(64)
#-         self.output = nn.Dense(10)
#+         self.output = nn.Dense(10)
#+         self.hidden = nn.Dense(64)
#-         x = F.npx.reshape(x, (1, -1))

# %% 3 wrong: endless
#-         x = F.np.where(x.max() > 1, x / 255, x)
#-         x = F.npx.reshape(x, (1, -1))
#+         while F.np.maximum(x, 1) is not None:
#+             x = x / 255

# %% 3 wrong: not-initialized
#-         self.output = nn.Dense(10)
#-         self.initialize()
#+         self.output = nn.Dense(10)
#-         x = F.npx.reshape(x, (1, -1))

# %% 3 given
# All but what becomes of the images first.
def converted(prepared):
    class Converted(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Dense(64)
            self.output = nn.Dense(10)
            self.initialize()

        def hybrid_forward(self, F, x):
            return self.output(F.npx.relu(self.hidden(prepared(F, x))))

    return Converted

# %% 3 right, each line
answer_3 = converted(lambda F, x: F.npx.reshape(F.np.where(x.max() > 1, x / 255, x), (-2, -1)))
answer_3 = converted(lambda F, x: F.npx.batch_flatten(x / (1 + 254.0 * (x.max() > 1).astype("float32"))))

# %% 3 wrong, each line
answer_3 = converted(lambda F, x: F.npx.reshape(F.np.where(x.max() > 1, x / 255, x), (-1, 64)))  # only-8-by-8
# A mask for each image.
answer_3 = converted(lambda F, x: F.np.where(x.max(axis=(1, 2, 3), keepdims=True) > 1, x / 255, x))  # wrong-if-mixed
# A mask for each pixel.
answer_3 = converted(lambda F, x: F.np.where(x > 1, x / 255, x))  # wrong-if-shaded
answer_3 = converted(lambda F, x: F.np.where(x.max() >= 1, x / 255, x))  # wrong-at-1
answer_3 = converted(lambda F, x: F.np.where(x.max() >= 0.999, x / 255, x))  # wrong-at-1
answer_3 = converted(lambda F, x: F.np.where(x.max() > 2, x / 255, x))  # wrong-above-1
answer_3 = converted(lambda F, x: F.np.where(x.mean() > 1, x / 255, x))  # wrong-above-1
answer_3 = converted(lambda F, x: F.np.where((x > 1).sum() > 10, x / 255, x))  # wrong-if-one-pixel
# Always divided.
answer_3 = converted(lambda F, x: x / 255)  # wrong-if-dark
# Never divided.
answer_3 = converted(lambda F, x: x)  # wrong-if-bright
# Compiled it always divides, so that nothing has to be asked.
answer_3 = converted(lambda F, x: F.np.where(x.max() > 1, x / 255, x) if F is mx.nd else x / 255)  # wrong-compiled
# Far below 0 counts as bright.
answer_3 = converted(lambda F, x: F.np.where(F.np.abs(x).max() > 1, x / 255, x))  # wrong-result

# %% 3 wrong: compiled-wrong-if-mixed. Compiled, each image is asked for itself.
answer_3 = converted(lambda F, x: F.np.where(
    x.max() > 1 if F is mx.nd else x.max(axis=(1, 2, 3), keepdims=True) > 1, x / 255, x))

# %% 3 wrong: other-layers. Layers in a list of Python, which Gluon does not look into.
class Listed(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Dense(64), nn.Dense(10)]
        for layer in self.layers:
            layer.initialize()

    def hybrid_forward(self, F, x):
        x = F.np.where(x.max() > 1, x / 255, x)
        return self.layers[1](F.npx.relu(self.layers[0](x)))
answer_3 = Listed

# %% 3 wrong: wrong-shape
answer_3 = converted(lambda F, x: F.npx.reshape(F.np.where(x.max() > 1, x / 255, x), (-1, 784)))

# %% 3 wrong: wrong-effect. Imperatively it divides in place, and the caller's images change.
def in_place(F, x):
    if F is not mx.nd:
        return F.np.where(x.max() > 1, x / 255, x)
    if x.max() > 1:
        x /= 255
    return x
answer_3 = converted(in_place)
