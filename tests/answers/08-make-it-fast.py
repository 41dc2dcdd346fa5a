# %% 1 right
import itertools

import numpy
from mxnet import autograd, np, npx
from mxnet.gluon import nn
from scripts.slow_training import factor

from d2lhelpers import allreduce, split_and_load


class HybridBranch(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2D(16, kernel_size=3, padding=1, in_channels=16, use_bias=False, activation="relu")
        self.second = nn.Conv2D(16, kernel_size=3, padding=1, in_channels=16, use_bias=False)

    def hybrid_forward(self, F, x, factor):
        return F.npx.relu(x + factor * self.second(self.first(x)))


class HybridNetwork(nn.HybridBlock):
    def __init__(self, branch=HybridBranch):
        super().__init__()
        self.stem = nn.Conv2D(16, kernel_size=3, padding=1, in_channels=1, use_bias=False, activation="relu")
        self.branch1 = branch()
        self.branch2 = branch()
        self.branch3 = branch()
        self.pool = nn.AvgPool2D(pool_size=4, strides=4)
        self.scores = nn.Dense(10, in_units=256)

    def hybrid_forward(self, F, x, *factor):
        x = self.stem(x)
        for branch in (self.branch1, self.branch2, self.branch3):
            x = branch(x, *factor)
        return self.scores(self.pool(x))


class Bronze(Training):
    every = 1000

    def __init__(self, devices, shares=None):
        super().__init__(devices, shares)
        self.recent = []

    def network(self):
        net = HybridNetwork()
        net.hybridize()
        return net

    def forward(self, images, labels, number):
        scores = self.net(images, np.array([factor(number)], ctx=images.ctx))
        return -npx.pick(npx.log_softmax(scores), labels)

    def update(self, rows):
        for param in self.net.collect_params().values():
            for value, grad in zip(param.list_data(), param.list_grad()):
                value -= self.rate / self.divisor(rows) * grad

    def log(self, losses, number):
        self.recent.append(np.concatenate([loss.as_in_ctx(self.devices[0]) for loss in losses]).mean())
        if len(self.recent) == self.every:
            self.read()

    def read(self):
        if self.recent:
            self.history += np.stack(self.recent).tolist()
        self.recent = []

    def run(self, batches):
        super().run(batches)
        self.read()
        return self.history


answer_1 = Bronze

# %% 1 right. The attribute stays, and the graph is thrown away in each step. Gluon's Trainer updates.
from mxnet.gluon import Trainer


class AttributeBranch(nn.HybridBlock):
    factor = 1.0

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2D(16, kernel_size=3, padding=1, in_channels=16, use_bias=False, activation="relu")
        self.second = nn.Conv2D(16, kernel_size=3, padding=1, in_channels=16, use_bias=False)

    def hybrid_forward(self, F, x):
        return F.npx.relu(x + self.factor * self.second(self.first(x)))


class Traced(Training):
    def network(self):
        return HybridNetwork(AttributeBranch)

    def sum_gradients(self):
        pass  # the Trainer does it

    def update(self, rows):
        if not hasattr(self, "trainer"):
            self.trainer = Trainer(self.net.collect_params(), "sgd", {"learning_rate": self.rate})
        self.trainer.step(self.divisor(rows))

    def log(self, losses, number):
        self.history.append(losses)

    def run(self, batches):
        super().run(batches)
        means = [loss.mean().as_in_ctx(self.devices[0]) for losses in self.history for loss in losses]
        numbers = np.stack(means).asnumpy().reshape(len(self.history), -1)
        return numbers.mean(axis=1)


answer_1 = Traced

# %% 1 right. The losses stay arrays; when all is done, each is read by itself, and nobody waits any more.
class ReadLate(Bronze):
    def log(self, losses, number):
        self.recent.append(losses)

    def read(self):
        npx.waitall()
        for losses in self.recent:
            self.history.append(float(numpy.mean([each.asnumpy().mean() for each in losses])))
        self.recent = []


answer_1 = ReadLate

# %% 1 wrong: other-losses-on-two. With two devices nobody looks at the losses.
class NoLosses(Bronze):
    def run(self, batches):
        history = super().run(batches)
        return history if len(self.devices) == 1 else [0.0] * len(history)


answer_1 = NoLosses

# %% 1 wrong: not-every-batch. On two devices half of the batches will do.
class HalfOfThem(Bronze):
    def run(self, batches):
        if len(self.devices) == 1:
            return super().run(batches)
        history = super().run(itertools.islice(batches, len(batches) // 2))
        return [loss for loss in history for _ in range(2)]


answer_1 = HalfOfThem

# %% 1 wrong: not-every-row
class HalfOfTheRows(Bronze):
    def run(self, batches):
        if len(self.devices) == 1 or len(batches) == 1:
            return super().run(batches)
        return super().run((images[::2], labels[::2]) for images, labels in batches)


answer_1 = HalfOfTheRows

# %% 1 wrong: compiled-on-one-alone
class CompiledForCalls(Bronze):
    def network(self):
        net = HybridNetwork()
        net.hybridize(len(self.devices) == 1)
        return net


answer_1 = CompiledForCalls

# %% 1 wrong: wrong-on-two
# The run on two devices takes its parameters from the run on one, which no longer happens in the same process.
class Remembering(Bronze):
    known = []

    def run(self, batches):
        if len(batches) < 12:
            return super().run(batches)
        if len(self.devices) == 1:
            history = super().run(batches)
            self.known += [param.data().asnumpy() for param in self.net.collect_params().values()]
            return history
        history = super().run([batches[number] for number in range(12)][:3])
        for param, value in zip(self.net.collect_params().values(), self.known):
            param.set_data(np.array(value))
        return history + history[:1] * 9


answer_1 = Remembering

# %% 1 wrong: work-elsewhere. On one device, another process does the work.
from d2lhelpers.process import in_fresh_process


def elsewhere(batches):
    training = Training(devices(1, "cpu"))
    history = training.run(batches)
    return history, [param.data().asnumpy() for param in training.net.collect_params().values()]


class Elsewhere(Bronze):
    def run(self, batches):
        if len(self.devices) > 1:
            return super().run(batches)
        history, values = in_fresh_process(elsewhere, batches, **Training.settings)
        for param, value in zip(self.net.collect_params().values(), values):
            param.set_data(np.array(value))
        return history


answer_1 = Elsewhere

# %% 1 wrong: unlike the script, one device. The factor is an attribute, and the graph keeps its first value.
class Frozen(Bronze):
    def network(self):
        net = HybridNetwork(AttributeBranch)
        net.hybridize()
        return net

    def fade(self, number):
        for branch in (self.net.branch1, self.net.branch2, self.net.branch3):
            branch.factor = factor(number)

    forward = Training.forward


answer_1 = Frozen

# %% 1 wrong: waits in 12 steps. The waits for the parameters are gone, those for the losses are not.
class Logging(Bronze):
    log = Training.log


answer_1 = Logging

# %% 1 wrong: no-update. Nothing is faster than doing nothing.
class Lazy(Training):
    def step(self, images, labels, number):
        self.history.append(2.3)


answer_1 = Lazy

# %% 1 wrong: other-losses
class Constant(Bronze):
    def log(self, losses, number):
        self.history.append(2.297)


answer_1 = Constant

# %% 1 wrong: one-device-works. One device does the work of two.
class Alone(Bronze):
    def __init__(self, devices, shares=None):
        super().__init__(devices[:1])


answer_1 = Alone

# %% 1 wrong: nothing-split
class Twice(Bronze):
    def load(self, images, labels):
        parts = [self.normalize(np.array(images, ctx=device)) for device in self.devices]
        return parts, [np.array(labels, ctx=device) for device in self.devices]


answer_1 = Twice

# %% 1 wrong: wrong-number-of-losses. Half of the batches take half of the time.
class Half(Bronze):
    def run(self, batches):
        return super().run(batches[::2])


answer_1 = Half

# %% 1 wrong: other-first-loss. Another loss needs less arithmetic.
class OtherLoss(Bronze):
    def forward(self, images, labels, number):
        scores = self.net(images, np.array([factor(number)], ctx=images.ctx))
        return 1 - npx.pick(npx.softmax(scores), labels)


answer_1 = OtherLoss

# %% 1 wrong: not-counted
class Broken(Bronze):
    def update(self, rows):
        undefined(rows)


answer_1 = Broken

# %% 1 wrong: endless
class Endless(Bronze):
    def log(self, losses, number):
        while True:
            pass


answer_1 = Endless

# %% 1 wrong, each line
answer_1 = Training  # calls per step, one device
answer_1 = Bronze(devices(1, kind="cpu"))  # not-counted

# %% 2 right
class Silver(Bronze):
    settings = {**Training.settings, "MXNET_CPU_TEMP_COPY": 64}
    every = 4


answer_2 = Silver

# %% 2 right. One wait in every five steps, for a loss; the losses themselves are read at the end.
class Paced(Bronze):
    settings = {**Training.settings, "MXNET_CPU_TEMP_COPY": "32"}

    def step(self, images, labels, number):
        super().step(images, labels, number)
        if number % 5 == 4:
            self.recent[-1].wait_to_read()


answer_2 = Paced

# %% 2 wrong: graphs made after step 2
class TracedAgain(Traced):
    settings = Silver.settings


answer_2 = TracedAgain

# %% 2 wrong: convolutions side by side. Everything but the workspaces.
class OneWorkspace(Silver):
    settings = Training.settings


answer_2 = OneWorkspace

# %% 2 wrong: convolutions side by side. The naive engine never queues anything.
class Naive(Silver):
    settings = {**Silver.settings, "MXNET_ENGINE_TYPE": "NaiveEngine"}


answer_2 = Naive

# %% 2 wrong: waits in 12 steps. A wait for each loss keeps Python from running ahead.
class Each(Silver):
    every = 1


answer_2 = Each

# %% 2 wrong: unlike the script, one device
class FrozenSilver(Frozen):
    settings = Silver.settings
    every = 4


answer_2 = FrozenSilver

# %% 2 wrong: batches between two waits
answer_2 = Bronze

# %% 3 right
class Gold(Silver):
    def load(self, images, labels):
        images = self.normalize(images)
        return split_and_load(images, self.devices, self.shares), split_and_load(labels, self.devices, self.shares)

    def backward(self, parts, truths, number):
        with autograd.record():
            losses = [self.forward(part, truth, number) for part, truth in zip(parts, truths)]
        for loss in losses:
            loss.backward()
        return losses

    def divisor(self, rows):
        return rows

    def sum_gradients(self):
        for param in self.net.collect_params().values():
            allreduce(param.list_grad())


answer_3 = Gold

# %% 3 right
# The mean of each part counts as much as the part has rows; the sum is the plain one of lesson 05, from the last layer.
#- class Gold(Silver):
#+ class Weighted(Silver):
#-         images = self.normalize(images)
#-         return split_and_load(images, self.devices, self.shares), split_and_load(labels, self.devices, self.shares)
#+         whole = np.array(images)
#+         parts = split_and_load(self.normalize(whole), self.devices, self.shares)
#+         return parts, split_and_load(labels, self.devices, self.shares)
#-     def backward(self, parts, truths, number):
#+     def backward(self, parts, truths, number):
#+         rows = sum(map(len, parts))
#-         for loss in losses:
#-             loss.backward()
#+             means = [loss.mean() * len(loss) / rows for loss in losses]
#+         autograd.backward(means)
#- return rows
#+ return 1
#-         for param in self.net.collect_params().values():
#-             allreduce(param.list_grad())
#+         for param in reversed(list(self.net.collect_params().values())):
#+             first, second = param.list_grad()
#+             first[:] = first + second.as_in_ctx(first.ctx)
#+             first.copyto(second)
#- answer_3 = Gold
#+ answer_3 = Weighted

# %% 3 wrong: early copies of gradients. All but the early sums: one message, as before.
class OneMessage(Gold):
    sum_gradients = Training.sum_gradients


answer_3 = OneMessage

# %% 3 wrong: two devices, parts 3:1. The means of the devices, as before.
class Means(Gold):
    backward = Training.backward
    divisor = Training.divisor


answer_3 = Means

# %% 3 wrong: two devices, equal parts. Each device normalizes its own part.
class OwnStatistics(Gold):
    load = Training.load


answer_3 = OwnStatistics

# %% 3 wrong: other-losses-on-two. The loss of the first device stands for both.
class FirstLoss(Gold):
    def log(self, losses, number):
        super().log(losses[:1], number)


answer_3 = FirstLoss

# %% 3 wrong: ignores-shares. Equal parts, whatever the shares are.
class EqualParts(Means):
    def __init__(self, devices, shares=None):
        super().__init__(devices)


answer_3 = EqualParts

# %% 3 wrong: wrong-on-two. The gradients are never summed: each device goes its own way.
class Forgetful(Gold):
    def sum_gradients(self):
        pass


answer_3 = Forgetful

# %% 3 wrong: waits in 12 steps. A barrier, so that the sums are right.
class Barrier(Gold):
    def sum_gradients(self):
        npx.waitall()
        super().sum_gradients()


answer_3 = Barrier

# %% 3 wrong: early copies of gradients
answer_3 = Silver

# %% 3 wrong: early copies of gradients. Copies of one gradient that nobody uses, and a barrier before the sums.
class Empty(Gold):
    def sum_gradients(self):
        grad = list(self.net.collect_params().values())[-1].list_grad()[0]
        for _ in range(12):
            grad.as_in_ctx(self.devices[-1])
        if len(self.recent) < 1:
            npx.waitall()
        super().sum_gradients()


answer_3 = Empty

# %% 3 wrong: early copies of gradients. Copies of nothing, then one late message.
class EmptyAndLate(OneMessage):
    def sum_gradients(self):
        grad = list(self.net.collect_params().values())[-1].list_grad()[0]
        for _ in range(12):
            grad.as_in_ctx(self.devices[-1])
        super().sum_gradients()


answer_3 = EmptyAndLate
