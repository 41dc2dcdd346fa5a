# %% 1 right
answer_1 = 195

# %% 1 right
# Both devices together compute 400 rows per second, of our 240 rows and the neighbour's 20.
answer_1 = 300 * (240 + 0.2 * 100) / 400

# %% 1 right
answer_1 = "195"

# %% 1 right
answer_1 = numpy.array([195])[0]

# %% 1 wrong: with equal parts
answer_1 = 240 / 2

# %% 1 wrong: without the neighbour
answer_1 = 240 * 300 / 400

# %% 1 wrong: the rows of device 1
answer_1 = 45

# %% 1 wrong: not 220
# The neighbour's rows are taken out of the batch before it is divided.
answer_1 = (240 - 0.2 * 100) * 300 / 400

# %% 1 wrong: all that the neighbour takes
# Device 0 gets all the rows that the neighbour takes from device 1.
answer_1 = 180 + 0.2 * 100

# %% 1 wrong: after one round
answer_1 = 240 * 300 / (300 + 120 / 1.4)

# %% 1 wrong: a share of the batch
answer_1 = 195 / 240

# %% 1 wrong: in seconds
answer_1 = 0.65

# %% 1 wrong: in per cent
answer_1 = 81.25

# %% 1 wrong: one device would get no row
# All rows for the device without a neighbour.
answer_1 = 240

# %% 1 wrong: ends before device 1
answer_1 = 190

# %% 1 wrong: ends after device 1
answer_1 = 210

# %% 1 wrong: give one number
answer_1 = lambda rows: rows / 300 == (240 - rows) / 100 + 0.2

# %% 2 right
def answer_2(images, devs):
    scores = [trained(part) for part in split_and_load(images, devs)]
    return numpy.concatenate([part.asnumpy().argmax(axis=1) for part in scores])

# %% 2 right
# The images are cut in NumPy, the classes are found on the devices, and they are read from the last device to the first.
def answer_2(images, devs):
    from mxnet import np
    classes = []
    for part, device in zip(numpy.array_split(images.asnumpy(), len(devs)), devs):
        classes.append(trained(np.array(part, ctx=device)).argmax(axis=1))
    read = [part.asnumpy() for part in reversed(classes)]
    return numpy.concatenate(read[::-1])

# %% 2 right
# One layer after the other, and a list of whole numbers.
def answer_2(images, devs):
    parts = split_and_load(images, devs)
    for layer in trained:
        parts = [layer(part) for part in parts]
    npx.waitall()
    return [int(numpy.argmax(row)) for part in parts for row in part.asnumpy()]

# %% 2 wrong: together, the devices compute more images
# Each device computes all images.
def answer_2(images, devs):
    scores = [trained(images.as_in_ctx(device)) for device in devs]
    return scores[0].asnumpy().argmax(axis=1)

# %% 2 wrong: together, the devices compute more images
# Each device computes all images, and its part of the result is kept.
def answer_2(images, devs):
    scores = [trained(images.as_in_ctx(device)) for device in devs]
    half = -(-len(images) // len(devs))
    kept = [part[n * half:(n + 1) * half].asnumpy() for n, part in enumerate(scores)]
    return numpy.concatenate(kept).argmax(axis=1)

# %% 2 wrong: they take turns
# Reads in the loop.
def answer_2(images, devs):
    classes = []
    for part in split_and_load(images, devs):
        classes.append(trained(part).asnumpy().argmax(axis=1))
    return numpy.concatenate(classes)

# %% 2 wrong: they take turns
def answer_2(images, devs):
    scores = []
    for part in split_and_load(images, devs):
        scores.append(trained(part))
        npx.waitall()
    return numpy.concatenate([part.asnumpy().argmax(axis=1) for part in scores])

# %% 2 wrong: it gives one of them no image
# Ignores the devices.
answer_2 = lambda images, devs: trained(images).asnumpy().argmax(axis=1)

# %% 2 wrong: it gives one of them no image
# The parts are loaded to both devices, and computed on the first.
def answer_2(images, devs):
    scores = [trained(part.as_in_ctx(devs[0])) for part in split_and_load(images, devs)]
    return numpy.concatenate([part.asnumpy().argmax(axis=1) for part in scores])

# %% 2 wrong: many more images than the other
def answer_2(images, devs):
    weights = [9] + [1] * (len(devs) - 1)
    scores = [trained(part) for part in split_and_load(images, devs, weights)]
    return numpy.concatenate([part.asnumpy().argmax(axis=1) for part in scores])

# %% 2 wrong: does not return one class for each image
# Gluon's function refuses an odd number of images.
def answer_2(images, devs):
    scores = [trained(part) for part in gluon.utils.split_and_load(images, devs)]
    return numpy.concatenate([part.asnumpy().argmax(axis=1) for part in scores])

# %% 2 wrong: does not return one class for each image
# The odd image is lost.
def answer_2(images, devs):
    size = len(images) // len(devs)
    scores = [trained(images[n * size:(n + 1) * size].as_in_ctx(device)) for n, device in enumerate(devs)]
    return numpy.concatenate([part.asnumpy().argmax(axis=1) for part in scores])

# %% 2 wrong: in another order
# Every second image.
def answer_2(images, devs):
    scores = [trained(images[n::len(devs)].as_in_ctx(device)) for n, device in enumerate(devs)]
    return numpy.concatenate([part.asnumpy().argmax(axis=1) for part in scores])

# %% 2 wrong: those are ten scores
def answer_2(images, devs):
    scores = [trained(part) for part in split_and_load(images, devs)]
    return numpy.concatenate([part.asnumpy() for part in scores])

# %% 2 wrong: one class per image
# A list of arrays.
def answer_2(images, devs):
    scores = [trained(part) for part in split_and_load(images, devs)]
    return [part.asnumpy().argmax(axis=1) for part in scores]

# %% 2 wrong: one class per image
# The largest score of each class.
def answer_2(images, devs):
    scores = [trained(part) for part in split_and_load(images, devs)]
    return numpy.concatenate([part.asnumpy() for part in scores]).argmax(axis=0)

# %% 2 wrong: finds other classes than
def answer_2(images, devs):
    scores = [trained(part) for part in split_and_load(images, devs)]
    return numpy.concatenate([part.asnumpy().argmin(axis=1) for part in scores])

# %% 2 wrong: it uses another one as well
# Always both devices of the lesson.
def answer_2(images, devs):
    scores = [trained(part) for part in split_and_load(images, both)]
    return numpy.concatenate([part.asnumpy().argmax(axis=1) for part in scores])

# %% 2 wrong: divided well for 63 images
# The first 32 images on one device, whatever follows on the other.
def answer_2(images, devs):
    parts = [images] if len(devs) == 1 else [images[:32], images[32:]]
    scores = [trained(part.as_in_ctx(device)) for part, device in zip(parts, devs)]
    return numpy.concatenate([part.asnumpy().argmax(axis=1) for part in scores])

# %% 2 wrong: on three the parts
# Parts of as many rows, rounded up.
def answer_2(images, devs):
    size = -(-len(images) // len(devs))
    scores = [trained(images[n * size:(n + 1) * size].as_in_ctx(device)) for n, device in enumerate(devs)]
    return numpy.concatenate([part.asnumpy().argmax(axis=1) for part in scores])

# %% 2 wrong: on three the parts
# Whole parts, and what remains goes to the last device.
def answer_2(images, devs):
    size = len(images) // len(devs)
    ends = [n * size for n in range(1, len(devs))] + [len(images)]
    scores = [trained(images[n * size:end].as_in_ctx(device)) for n, (end, device) in enumerate(zip(ends, devs))]
    return numpy.concatenate([part.asnumpy().argmax(axis=1) for part in scores])

# %% 2 wrong: right for 63 images, but not for 40
def answer_2(images, devs):
    scores = [trained(part) for part in split_and_load(images, devs)]
    classes = numpy.zeros(63)
    start = 0
    for part in scores:
        classes[start:start + len(part)] = part.asnumpy().argmax(axis=1)
        start += len(part)
    return classes

# %% 2 wrong: still running
def answer_2(images, devs):
    classes = []
    while len(classes) < len(images):
        scores = [trained(part) for part in split_and_load(images, devs)]
        npx.waitall()
    return classes

# %% 2 wrong: it fails
answer_2 = lambda images: trained(images).asnumpy().argmax(axis=1)

# %% 2 wrong: give a function
answer_2 = trained(X).asnumpy().argmax(axis=1)

# %% 3 right
def answer_3(net, trainer, X, y, devs):
    losses = []
    with autograd.record():
        for part, truth in zip(split_and_load(X, devs), split_and_load(y, devs)):
            losses.append(loss(net(part), truth) * (truth >= 0))
    for each in losses:
        each.backward()
    trainer.step(int((y >= 0).sum()))

# %% 3 right
# Gluon's own weights of the rows.
def answer_3(net, trainer, X, y, devs):
    known = (y >= 0).astype("float32").reshape(-1, 1)
    losses = []
    with autograd.record():
        parts = zip(split_and_load(X, devs), split_and_load(y, devs), split_and_load(known, devs))
        for part, truth, weight in parts:
            losses.append(loss(net(part), truth, weight))
    for each in losses:
        each.backward()
    trainer.step(sum(label >= 0 for label in y.asnumpy()))

# %% 3 right
# Each device divides by the same number, and the trainer by nothing.
def answer_3(net, trainer, X, y, devs):
    known = max((y.asnumpy() >= 0).sum(), 1)
    losses = []
    with autograd.record():
        for part, truth in zip(split_and_load(X, devs), split_and_load(y, devs)):
            losses.append((loss(net(part), truth) * (truth >= 0)).sum() / known)
    autograd.backward(losses)
    trainer.step(1)

# %% 3 wrong: the first 20 rows lack their label
# Unchanged.
answer_3 = labelled_step

# %% 3 wrong: rows without a label still move
# The lesson's own step, unchanged.
answer_3 = step

# %% 3 wrong: but not its length
# "Divide once by the rows of the whole batch", word by word.
def answer_3(net, trainer, X, y, devs):
    losses = []
    with autograd.record():
        for part, truth in zip(split_and_load(X, devs), split_and_load(y, devs)):
            losses.append(loss(net(part), truth) * (truth >= 0))
    for each in losses:
        each.backward()
    trainer.step(len(X))

# %% 3 wrong: the first 20 rows lack their label
# Weighted by the rows of the part, not by its labelled rows.
def answer_3(net, trainer, X, y, devs):
    losses = []
    with autograd.record():
        for part, truth in zip(split_and_load(X, devs), split_and_load(y, devs)):
            known = truth >= 0
            each = loss(net(part), truth) * known
            losses.append(each.sum() / known.sum() * len(part) / len(X))
    for each in losses:
        each.backward()
    trainer.step(1)

# %% 3 wrong: the first 20 rows lack their label
# As many labelled rows as on the first device, on every device.
def answer_3(net, trainer, X, y, devs):
    labels = split_and_load(y, devs)
    losses = []
    with autograd.record():
        for part, truth in zip(split_and_load(X, devs), labels):
            losses.append(loss(net(part), truth) * (truth >= 0))
    for each in losses:
        each.backward()
    trainer.step(len(devs) * int((labels[0] >= 0).sum()))

# %% 3 wrong: unless no row of a device has a label
# Right by weights, but zero times zero divided by zero is no number.
def answer_3(net, trainer, X, y, devs):
    total = int((y >= 0).sum())
    losses = []
    with autograd.record():
        for part, truth in zip(split_and_load(X, devs), split_and_load(y, devs)):
            known = truth >= 0
            each = loss(net(part), truth) * known
            losses.append(each.sum() / known.sum() * (known.sum() / total))
    for each in losses:
        each.backward()
    trainer.step(1)

# %% 3 wrong: a single row
# The labelled rows alone, by the lesson's own step, which cannot divide one row by two devices.
def answer_3(net, trainer, X, y, devs):
    known = y >= 0
    step(net, trainer, X[known], y[known], devs)

# %% 3 wrong: not the step of one device
# The sums are right, and divided by the devices as well.
def answer_3(net, trainer, X, y, devs):
    losses = []
    with autograd.record():
        for part, truth in zip(split_and_load(X, devs), split_and_load(y, devs)):
            losses.append(loss(net(part), truth) * (truth >= 0))
    for each in losses:
        each.backward()
    trainer.step(int((y >= 0).sum()) * len(devs))

# %% 3 wrong: does not divide evenly
# Gluon's function, told to take what divides evenly.
def answer_3(net, trainer, X, y, devs):
    rows = len(X) - len(X) % len(devs)
    losses = []
    with autograd.record():
        for part, truth in zip(split_and_load(X[:rows], devs), split_and_load(y[:rows], devs)):
            losses.append(loss(net(part), truth) * (truth >= 0))
    for each in losses:
        each.backward()
    trainer.step(int((y >= 0).sum()))

# %% 3 wrong: nothing was split
# Each device computes the whole batch.
def answer_3(net, trainer, X, y, devs):
    images = [X.as_in_ctx(device) for device in devs]
    labels = [y.as_in_ctx(device) for device in devs]
    losses = []
    with autograd.record():
        for whole, truth in zip(images, labels):
            losses.append(loss(net(whole), truth) * (truth >= 0))
    for each in losses:
        each.backward()
    trainer.step(int((y >= 0).sum()) * len(devs))

# %% 3 wrong: it fails
# One device computes everything; the gradients of the other are missing.
def answer_3(net, trainer, X, y, devs):
    with autograd.record():
        total = (loss(net(X.as_in_ctx(both[1])), y.as_in_ctx(both[1])) * (y.as_in_ctx(both[1]) >= 0)).sum()
    total.backward()
    trainer.step(int((y >= 0).sum()))

# %% 3 wrong: it computes on one alone
# One device computes everything, the other is told that its gradients are old.
def answer_3(net, trainer, X, y, devs):
    first = devs[0]
    with autograd.record():
        total = (loss(net(X.as_in_ctx(first)), y.as_in_ctx(first)) * (y.as_in_ctx(first) >= 0)).sum()
    total.backward()
    trainer.step(int((y >= 0).sum()), ignore_stale_grad=True)

# %% 3 wrong: what they were before
# No update.
def answer_3(net, trainer, X, y, devs):
    with autograd.record():
        losses = [loss(net(part), truth) for part, truth in zip(split_and_load(X, devs), split_and_load(y, devs))]
    for each in losses:
        each.backward()

# %% 3 wrong: still running
def answer_3(net, trainer, X, y, devs):
    while (y < 0).sum() >= 0:
        npx.waitall()

# %% 3 wrong: it fails
answer_3 = lambda net, trainer, X, y: step(net, trainer, X[y >= 0], y[y >= 0], both)

# %% 3 wrong: give a function
answer_3 = "the devices divide by different numbers"
