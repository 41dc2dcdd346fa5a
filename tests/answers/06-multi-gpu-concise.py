# %% 1 right, each line
answer_1 = 195
# Both devices together compute 400 rows per second, of our 240 rows and the neighbour's 20.
answer_1 = 300 * (240 + 0.2 * 100) / 400
answer_1 = "195"
answer_1 = numpy.array([195])[0]

# %% 1 wrong, each line
answer_1 = 240 / 2  # equal-parts
answer_1 = 240 * 300 / 400  # ignores-neighbour
answer_1 = 45  # rows-of-device-1
# The neighbour's rows are taken out of the batch before it is divided.
answer_1 = (240 - 0.2 * 100) * 300 / 400  # smaller-batch
# Device 0 gets all the rows that the neighbour takes from device 1.
answer_1 = 180 + 0.2 * 100  # gives-away-all
answer_1 = 240 * 300 / (300 + 120 / 1.4)  # one-round
answer_1 = 195 / 240  # a-share
answer_1 = 0.65  # a-time
answer_1 = 81.25  # in-percent
# All rows for the device without a neighbour.
answer_1 = 240  # outside-the-batch
answer_1 = 190  # too-few-rows
answer_1 = 210  # too-many-rows
answer_1 = lambda rows: rows / 300 == (240 - rows) / 100 + 0.2  # no-number

# %% 2 right
# The images are cut in NumPy, the classes are found on the devices, and they are read from the last device to the first.
def answer_2(images, devs):
    from mxnet import np
    classes = []
    for part, device in zip(numpy.array_split(images.asnumpy(), len(devs)), devs):
        classes.append(trained(np.array(part, ctx=device)).argmax(axis=1))
    read = [part.asnumpy() for part in reversed(classes)]
    return numpy.concatenate(read[::-1])

# %% 2 right. One layer after the other, and a list of whole numbers.
def answer_2(images, devs):
    parts = split_and_load(images, devs)
    for layer in trained:
        parts = [layer(part) for part in parts]
    npx.waitall()
    return [int(numpy.argmax(row)) for part in parts for row in part.asnumpy()]

# %% 2 wrong: nothing-split. Each device computes all images.
def answer_2(images, devs):
    scores = [trained(images.as_in_ctx(device)) for device in devs]
    return scores[0].asnumpy().argmax(axis=1)

# %% 2 wrong: nothing-split. Each device computes all images, and its part of the result is kept.
#-     return scores[0].asnumpy().argmax(axis=1)
#+     half = -(-len(images) // len(devs))
#+     kept = [part[n * half:(n + 1) * half].asnumpy() for n, part in enumerate(scores)]
#+     return numpy.concatenate(kept).argmax(axis=1)

# %% 2 wrong: devices-take-turns. Reads in the loop.
def answer_2(images, devs):
    classes = []
    for part in split_and_load(images, devs):
        classes.append(trained(part).asnumpy().argmax(axis=1))
    return numpy.concatenate(classes)

# %% 2 wrong: wrong-on-one
def answer_2(images, devs):
    scores = [trained(part) for part in split_and_load(images, devs)]
    return numpy.concatenate([part.asnumpy().argmin(axis=1) for part in scores])

# %% 2 right
#- return numpy.concatenate([part.asnumpy().argmin(axis=1) for part in scores])
#+ return numpy.concatenate([part.asnumpy().argmax(axis=1) for part in scores])

# %% 2 wrong: scores-not-classes
#- return numpy.concatenate([part.asnumpy().argmin(axis=1) for part in scores])
#+ return numpy.concatenate([part.asnumpy() for part in scores])

# %% 2 wrong: not-one-array. A list of arrays.
#- return numpy.concatenate([part.asnumpy().argmin(axis=1) for part in scores])
#+ return [part.asnumpy().argmax(axis=1) for part in scores]

# %% 2 wrong: not-one-array. The largest score of each class.
#- return numpy.concatenate([part.asnumpy().argmin(axis=1) for part in scores])
#+ return numpy.concatenate([part.asnumpy() for part in scores]).argmax(axis=0)

# %% 2 wrong: wrong-result
#-     return numpy.concatenate([part.asnumpy().argmin(axis=1) for part in scores])
#+     classes = numpy.zeros(63)
#+     start = 0
#+     for part in scores:
#+         classes[start:start + len(part)] = part.asnumpy().argmax(axis=1)
#+         start += len(part)
#+     return classes

# %% 2 wrong: uses-another-device. Always both devices of the lesson.
def answer_2(images, devs):
    scores = [trained(part) for part in split_and_load(images, both)]
    return numpy.concatenate([part.asnumpy().argmax(axis=1) for part in scores])

# %% 2 wrong: devices-take-turns
#-     scores = [trained(part) for part in split_and_load(images, both)]
#+     scores = []
#+     for part in split_and_load(images, devs):
#+         scores.append(trained(part))
#+         npx.waitall()

# %% 2 wrong: one-device-works. The parts are loaded to both devices, and computed on the first.
#- scores = [trained(part) for part in split_and_load(images, both)]
#+ scores = [trained(part.as_in_ctx(devs[0])) for part in split_and_load(images, devs)]

# %% 2 wrong: unequal-parts
#-     scores = [trained(part) for part in split_and_load(images, both)]
#+     weights = [9] + [1] * (len(devs) - 1)
#+     scores = [trained(part) for part in split_and_load(images, devs, weights)]

# %% 2 wrong: not-one-per-image. Gluon's function refuses an odd number of images.
#- scores = [trained(part) for part in split_and_load(images, both)]
#+ scores = [trained(part) for part in gluon.utils.split_and_load(images, devs)]

# %% 2 wrong: wrong-on-two. Every second image.
#- scores = [trained(part) for part in split_and_load(images, both)]
#+ scores = [trained(images[n::len(devs)].as_in_ctx(device)) for n, device in enumerate(devs)]

# %% 2 wrong: unequal-parts-of-40. The first 32 images on one device, whatever follows on the other.
#-     scores = [trained(part) for part in split_and_load(images, both)]
#+     parts = [images] if len(devs) == 1 else [images[:32], images[32:]]
#+     scores = [trained(part.as_in_ctx(device)) for part, device in zip(parts, devs)]

# %% 2 wrong: unequal-on-three. Whole parts, and what remains goes to the last device.
#-     scores = [trained(part) for part in split_and_load(images, both)]
#+     size = len(images) // len(devs)
#+     ends = [n * size for n in range(1, len(devs))] + [len(images)]
#+     scores = [trained(images[n * size:end].as_in_ctx(device)) for n, (end, device) in enumerate(zip(ends, devs))]

# %% 2 wrong: unequal-on-three. Parts of as many rows, rounded up.
def answer_2(images, devs):
    size = -(-len(images) // len(devs))
    scores = [trained(images[n * size:(n + 1) * size].as_in_ctx(device)) for n, device in enumerate(devs)]
    return numpy.concatenate([part.asnumpy().argmax(axis=1) for part in scores])

# %% 2 wrong: not-one-per-image. The odd image is lost.
#- size = -(-len(images) // len(devs))
#+ size = len(images) // len(devs)

# %% 2 wrong: endless
def answer_2(images, devs):
    classes = []
    while len(classes) < len(images):
        scores = [trained(part) for part in split_and_load(images, devs)]
        npx.waitall()
    return classes

# %% 2 wrong, each line
# Ignores the devices.
answer_2 = lambda images, devs: trained(images).asnumpy().argmax(axis=1)  # one-device-works
answer_2 = lambda images: trained(images).asnumpy().argmax(axis=1)  # fails
answer_2 = trained(X).asnumpy().argmax(axis=1)  # no-function

# %% 2 wrong: devices-take-turns. Python waits inside an operator: how many rows a mask leaves depends on values.
def answer_2(images, devs):
    scores = []
    for part in split_and_load(images, devs):
        found = trained(part)
        scores.append(found[found.max(axis=1) > -1e9])
    return numpy.concatenate([part.asnumpy().argmax(axis=1) for part in scores])

# %% 2 right. A mask after all forward passes.
#-         found = trained(part)
#-         scores.append(found[found.max(axis=1) > -1e9])
#+         scores.append(trained(part))
#+     scores = [found[found.max(axis=1) > -1e9] for found in scores]

# %% 2 wrong: idle-on-three. Two devices at most.
#-     for part in split_and_load(images, devs):
#+     for part in split_and_load(images, both[:len(devs)]):
#-         found = trained(part)
#-         scores.append(found[found.max(axis=1) > -1e9])
#+         scores.append(trained(part))

# %% 2 wrong: wrong-effect. The images are normalized for the next call, too.
def answer_2(images, devs):
    parts = [trained(part) for part in split_and_load(images, devs)]
    images[:] = images / 2
    return numpy.concatenate([part.asnumpy().argmax(axis=1) for part in parts])

# %% 2 wrong: wrong-result. A part of one image is lost.
def answer_2(images, devs):
    parts = [trained(part) for part in split_and_load(images, devs)]
    return numpy.concatenate([part.asnumpy().argmax(axis=1) for part in parts if len(part) > 1 or len(devs) < 2])

# %% 3 right. Each device divides by the same number, and the trainer by nothing.
def answer_3(net, trainer, X, y, devs):
    known = max((y.asnumpy() >= 0).sum(), 1)
    losses = []
    with autograd.record():
        for part, truth in zip(split_and_load(X, devs), split_and_load(y, devs)):
            losses.append((loss(net(part), truth) * (truth >= 0)).sum() / known)
    autograd.backward(losses)
    trainer.step(1)

# %% 3 wrong: device-without-labels. Right by weights, but zero times zero divided by zero is no number.
#- known = max((y.asnumpy() >= 0).sum(), 1)
#+ total = int((y >= 0).sum())
#-             losses.append((loss(net(part), truth) * (truth >= 0)).sum() / known)
#-     autograd.backward(losses)
#+             known = truth >= 0
#+             each = loss(net(part), truth) * known
#+             losses.append(each.sum() / known.sum() * (known.sum() / total))
#+     for each in losses:
#+         each.backward()

# %% 3 wrong: single-label
# The labelled rows alone, by the lesson's own step, which cannot divide one row by two devices.
def answer_3(net, trainer, X, y, devs):
    known = y >= 0
    step(net, trainer, X[known], y[known], devs)

# %% 3 wrong: wrong-on-two. The sums are right, and divided by the devices as well.
def answer_3(net, trainer, X, y, devs):
    losses = []
    with autograd.record():
        for part, truth in zip(split_and_load(X, devs), split_and_load(y, devs)):
            losses.append(loss(net(part), truth) * (truth >= 0))
    for each in losses:
        each.backward()
    trainer.step(int((y >= 0).sum()) * len(devs))

# %% 3 right
#- trainer.step(int((y >= 0).sum()) * len(devs))
#+ trainer.step(int((y >= 0).sum()))

# %% 3 wrong: wrong-length. "Divide once by the rows of the whole batch", word by word.
#- trainer.step(int((y >= 0).sum()) * len(devs))
#+ trainer.step(len(X))

# %% 3 wrong: not-the-mean. The sum of all losses.
#- trainer.step(int((y >= 0).sum()) * len(devs))
#+ trainer.step(1)

# %% 3 wrong: wrong-with-gaps. Weighted by the rows of the part, not by its labelled rows.
#-             losses.append(loss(net(part), truth) * (truth >= 0))
#+             known = truth >= 0
#+             each = loss(net(part), truth) * known
#+             losses.append(each.sum() / known.sum() * len(part) / len(X))
#- trainer.step(int((y >= 0).sum()) * len(devs))
#+ trainer.step(1)

# %% 3 wrong: nothing-split. Each device computes the whole batch.
#- def answer_3(net, trainer, X, y, devs):
#+ def answer_3(net, trainer, X, y, devs):
#+     images = [X.as_in_ctx(device) for device in devs]
#+     labels = [y.as_in_ctx(device) for device in devs]
#-         for part, truth in zip(split_and_load(X, devs), split_and_load(y, devs)):
#-             losses.append(loss(net(part), truth) * (truth >= 0))
#+         for whole, truth in zip(images, labels):
#+             losses.append(loss(net(whole), truth) * (truth >= 0))

# %% 3 wrong: uneven-parts. Gluon's function, told to take what divides evenly.
def answer_3(net, trainer, X, y, devs):
    rows = len(X) - len(X) % len(devs)
    losses = []
    with autograd.record():
        for part, truth in zip(split_and_load(X[:rows], devs), split_and_load(y[:rows], devs)):
            losses.append(loss(net(part), truth) * (truth >= 0))
    for each in losses:
        each.backward()
    trainer.step(int((y >= 0).sum()))

# %% 3 right. Gluon's own weights of the rows.
#- rows = len(X) - len(X) % len(devs)
#+ known = (y >= 0).astype("float32").reshape(-1, 1)
#-         for part, truth in zip(split_and_load(X[:rows], devs), split_and_load(y[:rows], devs)):
#-             losses.append(loss(net(part), truth) * (truth >= 0))
#+         parts = zip(split_and_load(X, devs), split_and_load(y, devs), split_and_load(known, devs))
#+         for part, truth, weight in parts:
#+             losses.append(loss(net(part), truth, weight))
#- trainer.step(int((y >= 0).sum()))
#+ trainer.step(sum(label >= 0 for label in y.asnumpy()))

# %% 3 wrong: wrong-with-gaps. As many labelled rows as on the first device, on every device.
#- rows = len(X) - len(X) % len(devs)
#+ labels = split_and_load(y, devs)
#- for part, truth in zip(split_and_load(X[:rows], devs), split_and_load(y[:rows], devs)):
#+ for part, truth in zip(split_and_load(X, devs), labels):
#- trainer.step(int((y >= 0).sum()))
#+ trainer.step(len(devs) * int((labels[0] >= 0).sum()))

# %% 3 wrong: fails. One device computes everything; the gradients of the other are missing.
def answer_3(net, trainer, X, y, devs):
    with autograd.record():
        total = (loss(net(X.as_in_ctx(both[1])), y.as_in_ctx(both[1])) * (y.as_in_ctx(both[1]) >= 0)).sum()
    total.backward()
    trainer.step(int((y >= 0).sum()))

# %% 3 wrong: one-device-works. One device computes everything, the other is told that its gradients are old.
def answer_3(net, trainer, X, y, devs):
    first = devs[0]
    with autograd.record():
        total = (loss(net(X.as_in_ctx(first)), y.as_in_ctx(first)) * (y.as_in_ctx(first) >= 0)).sum()
    total.backward()
    trainer.step(int((y >= 0).sum()), ignore_stale_grad=True)

# %% 3 wrong: no-update. No update.
def answer_3(net, trainer, X, y, devs):
    with autograd.record():
        losses = [loss(net(part), truth) for part, truth in zip(split_and_load(X, devs), split_and_load(y, devs))]
    for each in losses:
        each.backward()

# %% 3 wrong: endless
def answer_3(net, trainer, X, y, devs):
    while (y < 0).sum() >= 0:
        npx.waitall()

# %% 3 wrong, each line
# Unchanged.
answer_3 = labelled_step  # wrong-with-gaps
# The lesson's own step, unchanged.
answer_3 = step  # counts-unlabelled
answer_3 = lambda net, trainer, X, y: step(net, trainer, X[y >= 0], y[y >= 0], both)  # fails
answer_3 = "the devices divide by different numbers"  # no-function

# %% 3 given
from d2lhelpers import split_and_load
from mxnet import autograd, np, npx

# %% 3 wrong: wrong-effect. The learning rate is scaled for good: the next step is another one.
def answer_3(net, trainer, X, y, devs):
    losses = []
    with autograd.record():
        for part, truth in zip(split_and_load(X, devs), split_and_load(y, devs)):
            losses.append(loss(net(part), truth) * (truth >= 0))
    for each in losses:
        each.backward()
    trainer.set_learning_rate(trainer.learning_rate * len(X) / int((y >= 0).sum()))
    trainer.step(len(X))

# %% 3 wrong: wrong-effect. The caller's missing labels become class 0.
def answer_3(net, trainer, X, y, devs):
    known = y >= 0
    y[:] = np.maximum(y, 0)
    losses = []
    with autograd.record():
        for part, truth, there in zip(split_and_load(X, devs), split_and_load(y, devs), split_and_load(known, devs)):
            losses.append(loss(net(part), truth) * there)
    for each in losses:
        each.backward()
    trainer.step(int(known.sum()))

# %% 3 wrong: raises. Two devices at most.
def answer_3(net, trainer, X, y, devs):
    half = (len(X) + 1) // 2 if len(devs) == 2 else len(X)
    losses = []
    with autograd.record():
        for part, truth, device in zip((X[:half], X[half:]), (y[:half], y[half:]), devs):
            part, truth = part.as_in_ctx(device), truth.as_in_ctx(device)
            losses.append(loss(net(part), truth) * (truth >= 0))
    for each in losses:
        each.backward()
    trainer.step(int((y >= 0).sum()))

