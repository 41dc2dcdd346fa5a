"""What is right in the exercises of lesson 05, and the cases in which it is tried."""
import numpy
from mxnet import autograd, gluon, np, npx

import d2lhelpers
from d2lhelpers import split_and_load


def single(values):
    """Return an MXNet array of single precision, as all are in the lesson."""
    return np.array(values, dtype="float32")


def attached(params, devs):
    """Return a copy of parameters for each device, with room for gradients."""
    copies = [[param.copyto(device) for param in params] for device in devs]
    for each in copies:
        for param in each:
            param.attach_grad()
    return copies


def right_bucket(params, device):
    """Return copies of parameters on a device, and an array of which their gradients are views."""
    copies = [param.copyto(device) for param in params]
    whole = np.zeros(sum(copy.size for copy in copies), ctx=device)
    views, begin = [], 0
    for copy in copies:
        views.append(whole[begin:begin + copy.size].reshape_view(copy.shape))
        begin += copy.size
    autograd.mark_variables(copies, views)
    return copies, whole


def some_parameters(random):
    """Yield parameters on either of two devices, and one of three devices."""
    three = d2lhelpers.devices(3)
    for shapes in [(1,)], [(2, 3), (3,)], [(4, 1, 2, 2), (1,), (5, 7), (2,)]:
        for home, device in (0, 0), (0, 1), (1, 2):
            yield [single(random.normal(size=shape)).copyto(three[home]) for shape in shapes], three[device]


def passes_of(function, params, device):
    """Return the copies that a function makes, and its array after backward passes, in which the order is free."""
    copies, whole = function(params, device)
    found = [str(each.ctx) for each in (whole, *copies)] + [copy.asnumpy() for copy in copies]
    for factor in 1, 3:
        with autograd.record():
            total = sum((factor * copy * copy).sum() for copy in copies)
        total.backward()
        found.append(numpy.sort(whole.asnumpy()))
        found += [copy.grad.asnumpy() for copy in copies]
    for copy in copies:
        copy[:] = copy + 1  # the parameters themselves must stay as they are
    return found


def right_step(X, y, copies, devs, rate):
    """Take a step of two dense layers with a ReLU between them, by the mean loss of all rows."""
    losses = []
    with autograd.record():
        for part, truth, params in zip(split_and_load(X, devs), split_and_load(y, devs), copies, strict=True):
            W1, b1, W2, b2 = params
            scores = np.dot(npx.relu(np.dot(part, W1) + b1), W2) + b2
            losses.append(gluon.loss.SoftmaxCrossEntropyLoss()(scores, truth))
    autograd.backward(losses)
    for replicas in zip(*copies, strict=True):
        d2lhelpers.allreduce([param.grad for param in replicas])
        for param in replicas:
            param -= rate / len(X) * param.grad


def some_steps(random):
    """Yield batches, copies of two layers on one to three devices, and rates."""
    for k, rows, hidden in (1, 1, 1), (1, 5, 32), (2, 3, 32), (3, 7, 32), (3, 64, 20), (2, 63, 32):
        devs = d2lhelpers.devices(3)[:k]
        shapes = (64, hidden), (hidden,), (hidden, 10), (10,)
        params = [single(random.normal(size=shape) / 8) for shape in shapes]
        X, y = single(random.normal(size=(rows, 64))), np.array(random.integers(0, 10, size=rows))
        yield X, y, attached(params, devs), devs, float(random.uniform(0.01, 1))
