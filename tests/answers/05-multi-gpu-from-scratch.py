# %% 1 right. Tried out instead of thought out, with one of several candidates.
def answer_1(k):
    rows = [slice(32 * n, 32 * n + 32) for n in range(k)]
    wanted = after(*[(part, 0.001) for part in rows])
    distances = {}
    for factor in (1, k ** 0.5, k, k * k):
        found = after((slice(0, 32 * k), 0.001 * factor))
        distances[factor] = numpy.linalg.norm(found - wanted)
    return min(distances, key=distances.get)

# %% 1 right, each line
answer_1 = lambda k: k
answer_1 = numpy.float32

# %% 1 wrong: endless
def answer_1(k):
    factor = 1
    while factor != k + 0.5:
        factor += 1
    return factor

# %% 1 wrong, each line
answer_1 = lambda k: k ** 0.5  # falls-short
# Nothing is to be changed.
answer_1 = lambda k: 1  # falls-short
# Larger batches, smaller steps.
answer_1 = lambda k: 1 / k  # falls-short
answer_1 = lambda k: k ** 2  # goes-beyond
# Ignores k; right for k = 2.
answer_1 = lambda k: 2  # changes-equal-batch
# The new rate, not its factor.
answer_1 = lambda k: 0.01 * k  # changes-equal-batch
answer_1 = lambda k: min(k, 2)  # right-for-two-only
answer_1 = lambda k: k * k / 2 if k > 1 else 1  # right-for-two-only
# The last power of two.
answer_1 = lambda k: 2 ** (k.bit_length() - 1)  # wrong-result
answer_1 = lambda k: 1.08 * k - 0.08  # wrong-result
answer_1 = lambda k: min(k, 4)  # wrong-result
answer_1 = lambda k: -k  # no-positive-number
answer_1 = print  # no-positive-number
answer_1 = 2  # no-function

# %% 2 right. From the end to the beginning, one at a time; tuples and a list.
def answer_2(params, device):
    whole = np.ones(sum(param.size for param in params), ctx=device)
    copies, end = [], len(whole)
    for param in params:
        copies.append(param.copyto(device))
        view = whole[end - param.size:end]
        end -= param.size
        autograd.mark_variables([copies[-1]], [view.reshape_view(param.shape)])
    return [tuple(copies), whole]

# %% 2 right
def answer_2(params, device):
    copies = [param.copyto(device) for param in params]
    whole = np.zeros(sum(copy.size for copy in copies), ctx=device)
    views, begin = [], 0
    for copy in copies:
        views.append(whole[begin:begin + copy.size].reshape_view(copy.shape))
        begin += copy.size
    autograd.mark_variables(copies, views)
    return copies, whole

# %% 2 wrong: not-copied
#- copies = [param.copyto(device) for param in params]
#+ copies = [param.as_in_ctx(device) for param in params]

# %% 2 wrong: misses-gradients
#- copies = [param.copyto(device) for param in params]
#+ copies = [np.zeros(param.shape, ctx=device) for param in params]

# %% 2 wrong: array-elsewhere. The lesson's own function says where: this one forgets it.
#- whole = np.zeros(sum(copy.size for copy in copies), ctx=device)
#+ whole = np.zeros(sum(copy.size for copy in copies), ctx=both[0])

# %% 2 wrong: wrong-gradient-shape. The views are not reshaped.
#- views.append(whole[begin:begin + copy.size].reshape_view(copy.shape))
#+ views.append(whole[begin:begin + copy.size])

# %% 2 wrong: gradients-elsewhere. `reshape` copies.
#- views.append(whole[begin:begin + copy.size].reshape_view(copy.shape))
#+ views.append(whole[begin:begin + copy.size].copy().reshape(copy.shape))

# %% 2 wrong: accumulates
#- autograd.mark_variables(copies, views)
#+ autograd.mark_variables(copies, views, "add")

# %% 2 wrong: misses-gradients. Every view begins at 0.
#-     views, begin = [], 0
#-     for copy in copies:
#-         views.append(whole[begin:begin + copy.size].reshape_view(copy.shape))
#-         begin += copy.size
#+     views = [whole[:copy.size].reshape_view(copy.shape) for copy in copies]

# %% 2 wrong: no-gradient
def answer_2(params, device):
    copies = [param.copyto(device) for param in params]
    return copies, np.zeros(sum(copy.size for copy in copies), ctx=device)

# %% 2 wrong: copies-elsewhere
#- copies = [param.copyto(device) for param in params]
#+ copies = [param.copy() for param in params]

# %% 2 wrong: not-copied. Not copied at all, and on one device only.
#- copies = [param.copyto(device) for param in params]
#+ copies = params

# %% 2 wrong: wrong-array-shape. Room for the largest, times the number of parameters.
def answer_2(params, device):
    copies = get_params(params, device)
    return copies, np.zeros((len(copies), max(copy.size for copy in copies)), ctx=device)

# %% 2 wrong: other-order
#-     return copies, np.zeros((len(copies), max(copy.size for copy in copies)), ctx=device)
#+     whole = np.zeros(sum(copy.size for copy in copies), ctx=device)
#+     return whole, copies

# %% 2 wrong: gradients-elsewhere. Packs a copy.
#- return copies, np.zeros((len(copies), max(copy.size for copy in copies)), ctx=device)
#+ return copies, np.concatenate([copy.grad.reshape(-1) for copy in copies])

# %% 2 wrong: endless
#-     return copies, np.zeros((len(copies), max(copy.size for copy in copies)), ctx=device)
#+     while sum(copy.size for copy in copies) > 0:
#+         pass

# %% 2 wrong: no-pair. The lesson's own, unchanged.
answer_2 = get_params

# %% 3 given
def two_layers(X, params):
    return np.dot(npx.relu(np.dot(X, params[0]) + params[1]), params[2]) + params[3]

answer_3 = partial(train_batch, net=two_layers)

# %% 3 wrong, each line
slow_3 = ...  # no-letter
slow_3 = 3  # not-a-letter
slow_3 = "a"  # blames-passes
slow_3 = "b"  # blames-sums

# %% 3 given
def two_layers(X, params):
    return np.dot(npx.relu(np.dot(X, params[0]) + params[1]), params[2]) + params[3]

slow_3 = "c"

# %% 3 right
def two_layers(X, params):
    W1, b1, W2, b2 = params
    return np.dot(npx.relu(np.dot(X, W1) + b1), W2) + b2

answer_3 = partial(train_batch, net=two_layers)

# %% 3 wrong: no-update. Forward only.
def answer_3(X, y, copies, devs, rate):
    for part, params in zip(split_and_load(X, devs), copies):
        npx.relu(np.dot(part, params[0]) + params[1])

# %% 3 wrong: nothing-split. Each device takes every row, and nobody sums.
def answer_3(X, y, copies, devs, rate):
    losses = []
    with autograd.record():
        for device, params in zip(devs, copies):
            H = npx.relu(np.dot(X.as_in_ctx(device), params[0]) + params[1])
            losses.append(loss(np.dot(H, params[2]) + params[3], y.as_in_ctx(device)))
    autograd.backward(losses)
    for params in copies:
        for param in params:
            param -= rate / len(X) * param.grad

# %% 3 wrong: nothing-split. Each device takes every row, and divides by two.
#-     for params in copies:
#-         for param in params:
#-             param -= rate / len(X) * param.grad
#+     for replicas in zip(*copies):
#+         allreduce([param.grad for param in replicas])
#+         for param in replicas:
#+             param -= rate / len(X) / len(devs) * param.grad

# %% 3 wrong: wrong-on-one. Without the activation.
answer_3 = partial(train_batch, net=lambda X, params: np.dot(
    np.dot(X, params[0]) + params[1], params[2]) + params[3])

# %% 3 wrong: ignores-rate
def answer_3(X, y, copies, devs, rate):
    train_batch(X, y, copies, devs, 0.1, net=two_layers)

# %% 3 wrong: no-update. No update.
#-     train_batch(X, y, copies, devs, 0.1, net=two_layers)
#+     forward_backward(X, y, copies, devs, two_layers)
#+     for replicas in zip(*copies):
#+         allreduce([param.grad for param in replicas])

# %% 3 wrong: no-update. New parameters in every step.
#-     train_batch(X, y, copies, devs, 0.1, net=two_layers)
#+     copies = [get_params(small, device) for device in devs]
#+     train_batch(X, y, copies, devs, rate, net=two_layers)

# %% 3 wrong: nothing-split. Each device takes the lesson's own step alone, one after the other.
#-     train_batch(X, y, copies, devs, 0.1, net=two_layers)
#+     for device, params in zip(devs, copies):
#+         train_batch(X, y, [params], [device], rate, net=two_layers)

# %% 3 wrong: one-device-works. Device 0 does everything, and sends its parameters.
#-     train_batch(X, y, copies, devs, 0.1, net=two_layers)
#+     train_batch(X, y, copies[:1], devs[:1], rate, net=two_layers)
#+     for params in copies[1:]:
#+         for param, first in zip(params, copies[0]):
#+             first.copyto(param)

# %% 3 wrong: waits-inside
#-     train_batch(X, y, copies, devs, 0.1, net=two_layers)
#+     train_batch(X, y, copies, devs, rate, net=two_layers)
#+     npx.waitall()

# %% 3 wrong: wrong-on-one. Not divided by the rows.
#- train_batch(X, y, copies, devs, 0.1, net=two_layers)
#+ train_batch(X, y, copies, devs, rate * len(X), net=two_layers)

# %% 3 wrong: wrong-effect. The mean of the parts' means.
def answer_3(X, y, copies, devs, rate):
    losses = []
    with autograd.record():
        for part, labels, params in zip(split_and_load(X, devs), split_and_load(y, devs), copies):
            H = npx.relu(np.dot(part, params[0]) + params[1])
            losses.append(loss(np.dot(H, params[2]) + params[3], labels).mean())
    autograd.backward(losses)
    for replicas in zip(*copies):
        allreduce([param.grad for param in replicas])
        for param in replicas:
            param -= rate / len(devs) * param.grad

# %% 3 right. By hand: the mean of the whole batch is in the loss, and sums by the lesson's own all-reduce.
#-             H = npx.relu(np.dot(part, params[0]) + params[1])
#-             losses.append(loss(np.dot(H, params[2]) + params[3], labels).mean())
#+             H = np.maximum(np.dot(part, params[0]) + params[1], 0)
#+             scores = np.dot(H, params[2]) + params[3]
#+             losses.append(loss(scores, labels).sum() / len(X))
#- allreduce([param.grad for param in replicas])
#+ add_in_place([param.grad for param in replicas])
#-             param -= rate / len(devs) * param.grad
#+             param[:] = param - rate * param.grad
#+ slow_3 = "C"

# %% 3 wrong: wrong-on-two. The mean of each part, summed.
#- param -= rate / len(devs) * param.grad
#+ param -= rate * param.grad

# %% 3 wrong: raises. Puts new arrays into the lists, which have no gradient.
#- losses.append(loss(np.dot(H, params[2]) + params[3], labels).mean())
#+ losses.append(loss(np.dot(H, params[2]) + params[3], labels))
#-         for param in replicas:
#-             param -= rate / len(devs) * param.grad
#+     for params in copies:
#+         for number, param in enumerate(params):
#+             params[number] = param - rate / len(X) * param.grad

# %% 3 wrong: wrong-effect. Sums over two devices at most.
def answer_3(X, y, copies, devs, rate):
    forward_backward(X, y, copies, devs, two_layers)
    for replicas in zip(*copies):
        allreduce([param.grad for param in replicas[:2]])
    for params in copies:
        for param in params:
            param -= rate / len(X) * param.grad

# %% 3 right
#- allreduce([param.grad for param in replicas[:2]])
#+ allreduce([param.grad for param in replicas])

# %% 3 wrong: waits-inside. A mask of rows, all of which stay: its shape depends on values.
#-     forward_backward(X, y, copies, devs, two_layers)
#+     X = X[X[:, 0] > -1e9]
#+     forward_backward(X, y, copies, devs, two_layers)
#- allreduce([param.grad for param in replicas[:2]])
#+ allreduce([param.grad for param in replicas])

# %% 3 wrong: wrong-effect. The images are gone afterwards.
#-     forward_backward(X, y, copies, devs, two_layers)
#+     forward_backward(X, y, copies, devs, two_layers)
#+     X[:] = 0
#- allreduce([param.grad for param in replicas[:2]])
#+ allreduce([param.grad for param in replicas])

# %% 3 wrong: wrong-effect. The rate falls with the step.
steps = []
def answer_3(X, y, copies, devs, rate):
    steps.append(len(X))
    train_batch(X, y, copies, devs, rate if len(steps) < 12 else rate / 2, net=two_layers)

# %% 3 wrong: wrong-effect. Gradients are added up from step to step.
def answer_3(X, y, copies, devs, rate):
    for params in copies:
        for param in params:
            if len(X) < 64:
                param.attach_grad("add")
    train_batch(X, y, copies, devs, rate, net=two_layers)
    if len(X) < 64:
        train_batch(X, y, copies, devs, 0 * rate, net=two_layers)
        train_batch(X, y, copies, devs, rate / 2, net=two_layers)

# %% 3 wrong: replicas-differ. Device 0 alone is updated by the sum.
def answer_3(X, y, copies, devs, rate):
    forward_backward(X, y, copies, devs, two_layers)
    for replicas in zip(*copies):
        for param in replicas[1:]:
            replicas[0].grad[:] += param.grad.as_in_ctx(devs[0])
    for params in copies:
        for param in params:
            param -= rate / len(X) * param.grad

# %% 3 wrong: endless
def answer_3(X, y, copies, devs, rate):
    while True:
        split_and_load(X, devs)

# %% 3 wrong, each line
# No all-reduce.
answer_3 = partial(train_batch, net=two_layers, allreduce=lambda gradients: None)  # replicas-differ
# The one that forgets.
answer_3 = partial(train_batch, net=two_layers, allreduce=add_up)  # replicas-differ
# The network, not the step.
answer_3 = two_layers  # fails
# LeNet's own step is no step of this network.
answer_3 = train_batch  # fails
answer_3 = train_batch(X, y, two, both, 0.01)  # no-function

# %% 4 wrong: wrong-if-reached. Each device gets its share of the limit.
def answer_4(X, y, copies, devs, rate, limit):
    suspect(X, y, copies, devs, rate, limit / len(devs))

# %% 4 wrong: wrong-if-reached. The same, as a mean of what was shortened.
def answer_4(X, y, copies, devs, rate, limit):
    suspect(X, y, copies, devs, rate / len(devs), limit)

# %% 4 wrong: shortens-otherwise. Each parameter has a length of its own.
def answer_4(X, y, copies, devs, rate, limit):
    forward_backward(X, y, copies, devs)
    for replicas in zip(*copies):
        allreduce([param.grad for param in replicas])
    for params in copies:
        for param in params:
            param.grad[:] = param.grad / len(X)
            shorten([param], limit)
            param -= rate * param.grad

# %% 4 right
#-             shorten([param], limit)
#+         shorten(params, limit)
#+         for param in params:

# %% 4 wrong: replicas-differ. Shortened after the all-reduce that forgets.
def answer_4(X, y, copies, devs, rate, limit):
    forward_backward(X, y, copies, devs)
    for replicas in zip(*copies):
        add_up([param.grad for param in replicas])
    for params in copies:
        shorten(params, limit * len(X))
        for param in params:
            param -= rate / len(X) * param.grad

# %% 4 right. In other words: the sum is shortened to what the limit is for a sum.
#- add_up([param.grad for param in replicas])
#+ add_in_place([param.grad for param in replicas])
#- param -= rate / len(X) * param.grad
#+ param[:] -= rate / len(X) * param.grad

# %% 4 wrong: shortens-otherwise. Sums first, but measures the sum in place of the mean.
#- add_up([param.grad for param in replicas])
#+ allreduce([param.grad for param in replicas])
#- shorten(params, limit * len(X))
#+ shorten(params, limit)

# %% 4 wrong: changes-short-gradient. Always makes it as long as the limit.
#- add_up([param.grad for param in replicas])
#+ allreduce([param.grad for param in replicas])
#- shorten(params, limit * len(X))
#+ length = np.sqrt(sum((param.grad ** 2).sum() for param in params))
#- param -= rate / len(X) * param.grad
#+ param -= rate * limit * param.grad / length

# %% 4 wrong: replicas-differ. Device 0 alone is held to the limit.
#-         add_up([param.grad for param in replicas])
#-     for params in copies:
#-         shorten(params, limit * len(X))
#+         allreduce([param.grad for param in replicas])
#+     for number, params in enumerate(copies):
#+         shorten(params, limit * len(X) if number == 0 else 1e9)

# %% 4 wrong: one-device-works. Right by luck: the step of one device, copied to the others.
def answer_4(X, y, copies, devs, rate, limit):
    suspect(X, y, copies[:1], devs[:1], rate, limit)
    for params in copies[1:]:
        for param, first in zip(params, copies[0]):
            first.copyto(param)

# %% 4 wrong: nothing-split. Each device takes the step of one device, on all rows.
def answer_4(X, y, copies, devs, rate, limit):
    for device, params in zip(devs, copies):
        suspect(X, y, [params], [device], rate, limit)

# %% 4 wrong: nothing-split. Each device computes all rows, and the sum of equal gradients is divided again.
#-         suspect(X, y, [params], [device], rate, limit)
#+         forward_backward(X, y, [params], [device])
#+     for replicas in zip(*copies):
#+         allreduce([param.grad for param in replicas])
#+     for params in copies:
#+         shorten(params, limit * len(X) * len(devs))
#+         for param in params:
#+             param -= rate / len(X) / len(devs) * param.grad

# %% 4 wrong: uneven-parts. Each part's mean, weighted alike.
def answer_4(X, y, copies, devs, rate, limit):
    forward_backward(X, y, copies, devs)
    parts = [len(part) for part in split_and_load(X, devs)]
    for rows, params in zip(parts, copies):
        for param in params:
            param.grad[:] = param.grad / rows / len(devs)
    for replicas in zip(*copies):
        allreduce([param.grad for param in replicas])
    for params in copies:
        shorten(params, limit)
        for param in params:
            param -= rate * param.grad

# %% 4 wrong: wrong-effect. The caller's images are gone.
def answer_4(X, y, copies, devs, rate, limit):
    forward_backward(X, y, copies, devs)
    for replicas in zip(*copies):
        allreduce([param.grad for param in replicas])
    for params in copies:
        shorten(params, limit * len(X))
        for param in params:
            param -= rate / len(X) * param.grad
    X[:] = 0

# %% 4 right
#-     X[:] = 0

# %% 4 wrong: wrong-effect. The second step has another limit.
#- shorten(params, limit * len(X))
#+ shorten(params, limit * len(X) if len(X) > 9 else min(limit, 100) * len(X) / len(devs))
#-     X[:] = 0

# %% 4 wrong: wrong-if-not-reached. The mean over the devices, unless the sum had to be shortened.
#-         shorten(params, limit * len(X))
#-         for param in params:
#-             param -= rate / len(X) * param.grad
#-     X[:] = 0
#+         length = float(sum((param.grad ** 2).sum() for param in params)) ** 0.5
#+         shorten(params, limit * len(X))
#+         for param in params:
#+             param -= rate / len(X) / (1 if length > limit * len(X) else len(devs)) * param.grad

# %% 4 wrong: uneven-parts. Two devices are measured, at most.
#-     for replicas in zip(*copies):
#-         allreduce([param.grad for param in replicas])
#+     for replicas in zip(*copies[:2]):
#+         allreduce([param.grad for param in replicas])
#-     X[:] = 0
#+     for params in copies[2:]:
#+         for param, first in zip(params, copies[0]):
#+             first.copyto(param)

# %% 4 wrong: endless
def answer_4(X, y, copies, devs, rate, limit):
    while limit > 0:
        shorten(copies[0], limit)

# %% 4 wrong, each line
answer_4 = suspect  # wrong-if-reached
# The lesson's own step, which limits nothing.
answer_4 = lambda X, y, copies, devs, rate, limit: train_batch(X, y, copies, devs, rate)  # shortens-otherwise
# It raises, because it knows no limit.
answer_4 = train_batch  # shortens-otherwise
answer_4 = "the limit"  # no-function
