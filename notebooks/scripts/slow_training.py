"""A training script that works, and wastes. Lesson 08 asks where, and replaces one method after the other."""
import numpy
from mxnet import autograd, init, np, npx
from mxnet.gluon import nn

from d2lhelpers import allreduce, split_and_load

npx.set_np()
SETTINGS = {  # which the engine reads when it starts
    "OMP_NUM_THREADS": 1, "MXNET_CPU_WORKER_NTHREADS": 1, "MXNET_CPU_TEMP_COPY": 1,
    "MXNET_EXEC_BULK_EXEC_TRAIN": 0, "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN": 0}
FADE_IN = 6  # steps until the branches count in full


def factor(number):
    """Return how much the branches count in step `number`: 1/6 in step 0, and 1 from step 5 on."""
    return min(1.0, (number + 1) / FADE_IN)


class Branch(nn.Block):
    """Two convolutions whose result, times a factor that grows in the first steps, is added to their input."""

    def __init__(self):
        super().__init__()
        self.factor = 1.0
        self.first = nn.Conv2D(16, kernel_size=3, padding=1, in_channels=16, use_bias=False, activation="relu")
        self.second = nn.Conv2D(16, kernel_size=3, padding=1, in_channels=16, use_bias=False)

    def forward(self, x):
        """Return the input, plus the branch."""
        return npx.relu(x + self.factor * self.second(self.first(x)))


class Network(nn.Block):
    """A small residual network for grey images of 16 x 16 pixels in ten classes."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2D(16, kernel_size=3, padding=1, in_channels=1, use_bias=False, activation="relu")
        self.branch1 = Branch()
        self.branch2 = Branch()
        self.branch3 = Branch()
        self.pool = nn.AvgPool2D(pool_size=4, strides=4)
        self.scores = nn.Dense(10, in_units=256)

    def forward(self, x):
        """Return ten scores for each image."""
        x = self.branch3(self.branch2(self.branch1(self.stem(x))))
        return self.scores(self.pool(x))


class Training:
    """Train a network on several devices. `shares` says how many rows each gets, relative to the others."""

    settings = SETTINGS
    rate = 0.1

    def __init__(self, devices, shares=None):
        npx.random.seed(1)  # the same starting values each time
        self.devices = devices
        self.shares = shares
        self.history = []
        self.net = self.network()
        self.net.initialize(init.Xavier(), ctx=devices)

    def network(self):
        """Return the network, without starting values."""
        return Network()

    def normalize(self, images):
        """Return images in which each pixel has the mean 0 and a similar spread over the rows."""
        return (images - images.mean(axis=0)) / (images.std(axis=0) + 0.1)

    def load(self, images, labels):
        """Return two lists, the devices' parts of the images, normalized, and of the labels."""
        parts = split_and_load(images, self.devices, self.shares)
        return [self.normalize(part) for part in parts], split_and_load(labels, self.devices, self.shares)

    def fade(self, number):
        """Let the branches count a little more in each of the first steps."""
        for branch in (self.net.branch1, self.net.branch2, self.net.branch3):
            branch.factor = factor(number)
        self.net.hybridize()  # the factor has changed

    def forward(self, images, labels, number):
        """Return the losses of one device's rows in step `number`."""
        self.fade(number)
        return -npx.pick(npx.log_softmax(self.net(images)), labels)

    def backward(self, parts, truths, number):
        """Compute the gradients on each device, and return a list of the devices' losses, one loss per row."""
        with autograd.record():
            losses = [self.forward(part, truth, number) for part, truth in zip(parts, truths, strict=True)]
            means = [loss.mean() for loss in losses]
        for mean in means:
            mean.backward()
        return losses

    def divisor(self, rows):
        """Return by what a sum of gradients is divided; the batch has this number of rows."""
        return len(self.devices)  # it is a sum of means

    def sum_gradients(self):
        """Give each device the sum of all devices' gradients: one message is better than nine."""
        params = self.net.collect_params().values()
        messages = []
        for device in self.devices:
            messages.append(np.concatenate([param.grad(device).reshape(-1) for param in params]))
        allreduce(messages)
        for device, message in zip(self.devices, messages, strict=True):
            start = 0
            for param in params:
                end = start + param.grad(device).size
                param.grad(device)[:] = message[start:end].reshape(param.shape)
                start = end

    def update(self, rows):
        """Move all parameters against their gradients."""
        for param in self.net.collect_params().values():
            for value, grad in zip(param.list_data(), param.list_grad(), strict=True):
                value -= self.rate / self.divisor(rows) * grad
                value.wait_to_read()  # the next step needs it

    def log(self, losses, number):
        """Keep the mean loss of step `number` in the history."""
        self.history.append(float(numpy.mean([float(loss.mean()) for loss in losses])))

    def step(self, images, labels, number):
        """Train on one batch: two arrays of NumPy."""
        parts, truths = self.load(images, labels)
        losses = self.backward(parts, truths, number)
        if len(self.devices) > 1:
            self.sum_gradients()
        self.update(len(images))
        self.log(losses, number)

    def run(self, batches):
        """Train on all batches, and return the loss of each step, as a list of numbers."""
        for number, (images, labels) in enumerate(batches):
            self.step(images, labels, number)
        return self.history
