# %% 1 right
import torch
import torch.distributed as dist
from slow_gpt import GPT, ROWS, Block, FadingBlock, factor
from torch.nn.functional import cross_entropy, pad


class Bronze(Training):
    def backward(self, ids, targets):
        losses = []
        hits = []
        for part, truth in zip(ids.split(ROWS), targets.split(ROWS)):
            scores = self.scores(part)
            losses.append(cross_entropy(scores.flatten(0, 1), truth.flatten()))
            hits.append((scores.argmax(dim=-1) == truth).float().mean())
        loss = torch.stack(losses).mean()
        loss.backward()
        return loss, torch.stack(hits).mean()

    def clip(self):
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.longest)


answer_1 = Bronze

# %% 1 right. The whole batch at once, its own norm, and one read at the end.
class Late(Training):
    def backward(self, ids, targets):
        scores = self.scores(ids)
        loss = cross_entropy(scores.flatten(0, 1), targets.flatten())
        loss.backward()
        return loss.detach(), (scores.argmax(-1) == targets).float().mean()

    def clip(self):
        grads = [param.grad for param in self.net.parameters()]
        length = torch.stack([grad.norm() for grad in grads]).norm()
        torch._foreach_mul_(grads, torch.clamp(self.longest / length, max=1.0))

    def log(self, *pair):
        self.history.append(torch.stack(pair))

    def run(self, batches):
        return tuple(map(tuple, torch.stack(super().run(batches)).tolist()))


answer_1 = Late

# %% 1 right. The history is made into numbers once, at the end, in a list of its own.
class AtTheEnd(Bronze):
    def log(self, loss, accuracy):
        self.history.append(torch.stack([loss.detach(), accuracy]))

    def run(self, batches):
        super().run(batches)
        self.history = torch.stack(self.history).tolist()
        return self.history


answer_1 = AtTheEnd

# %% 1 wrong: unlike the script, one process
class Faded(Bronze):
    def fade(self, number):
        if number == 0:
            super().fade(number)


answer_1 = Faded

# %% 1 wrong: unlike the script, one process. Also lengthens a gradient that is short.
class Always(Bronze):
    def clip(self):
        grads = [param.grad for param in self.net.parameters()]
        length = torch.stack([grad.norm() for grad in grads]).norm()
        torch._foreach_mul_(grads, self.longest / length)


answer_1 = Always

# %% 1 wrong: unlike the script, one process. Each number of its own, not the length of all.
class NumberByNumber(Bronze):
    def clip(self):
        torch.nn.utils.clip_grad_value_(self.net.parameters(), self.longest)


answer_1 = NumberByNumber

# %% 1 wrong: history-differs
class NoMetric(Bronze):
    def log(self, loss, accuracy):
        super().log(loss, torch.tensor(0.013))


answer_1 = NoMetric

# %% 1 wrong: not-trained. Puts the parameters back, as after a test.
class PutBack(Bronze):
    def run(self, batches):
        before = [param.detach().clone() for param in self.net.parameters()]
        history = super().run(batches)
        for param, old in zip(self.net.parameters(), before):
            param.data.copy_(old)
        return history


answer_1 = PutBack

# %% 1 wrong: not-counted
class Broken(Bronze):
    def clip(self):
        undefined(self)


answer_1 = Broken

# %% 1 wrong: endless
class Endless(Bronze):
    def clip(self):
        while True:
            pass


answer_1 = Endless

# %% 1 wrong, each line
answer_1 = type("Reading", (Bronze,), {"clip": Training.clip})  # values read in 6 steps
answer_1 = type("Unclipped", (Bronze,), {"clip": lambda self: None})  # unlike the script, one process
answer_1 = type("Lazy", (Training,), {"step": lambda self, *batch: self.history.append((0.0, 1.0))})  # first-loss-differs
answer_1 = type("Half", (Bronze,), {"run": lambda self, batches: Bronze.run(self, batches[::2])})  # other-length
answer_1 = Training  # Mflop per step
answer_1 = Bronze()  # not-counted

# %% 1 wrong: values read in 6 steps. `torch.equal` waits for a value, as `.item()` does.
class Equal(Bronze):
    def clip(self):
        squares = [param.grad.square().sum() for param in self.net.parameters()]
        length = torch.stack(squares).sum().sqrt()
        if torch.equal(length.clamp(max=self.longest), length) and torch.equal(length, length):
            return
        torch._foreach_mul_([param.grad for param in self.net.parameters()], self.longest / length)


answer_1 = Equal

# %% 1 wrong: values read in 6 steps
import numpy as np


class ThroughDlpack(Bronze):
    def clip(self):
        squares = sum(float(np.from_dlpack(param.grad.square().sum())) for param in self.net.parameters())
        if squares > self.longest ** 2:
            torch._foreach_mul_([param.grad for param in self.net.parameters()], self.longest / squares ** 0.5)


answer_1 = ThroughDlpack

# %% 2 right. A float in place of the counter: PyTorch makes it an input of the second graph, together with the length.
class Silver(Bronze):
    def network(self):
        net = super().network()
        net.compile()
        return net

    def fade(self, number):
        for block in self.net.blocks:
            block.number = float(number)

    def backward(self, ids, targets):
        loss = hits = 0.0
        for part, truth in zip(ids.split(ROWS), targets.split(ROWS)):
            scores = self.scores(part)
            share = len(part) / len(ids)
            mean = share * cross_entropy(scores.flatten(0, 1), truth.flatten())
            mean.backward()
            loss += mean.detach()
            hits += share * (scores.argmax(dim=-1) == truth).float().mean()
        return loss, hits


answer_2 = Silver

# %% 2 right. The factor is a tensor, and all batches have one length: a single graph.
class TensorBlock(FadingBlock):
    def forward(self, x, cache=None):
        x = x + self.share * self.attention(self.norm1(x), cache)
        return x + self.share * self.dense(self.norm2(x))


class Padded(Silver):
    def network(self):
        net = Training.network(self)
        for block in net.blocks:
            block.__class__ = TensorBlock
            block.register_buffer("share", torch.ones(()))
        return torch.compile(net, dynamic=False)

    def fade(self, number):
        for block in self.net.blocks:
            block.share.fill_(factor(number))

    def scores(self, ids):
        length = ids.shape[1]
        return self.net(pad(ids, (0, 64 - length)))[:, :length]


answer_2 = Padded

# %% 2 right. A network of one's own, with the script's starting values, compiled for any length and any factor.
class OwnBlock(Block):
    def forward(self, x, cache=None):
        x = x + self.share * self.attention(self.norm1(x), cache)
        return x + self.share * self.dense(self.norm2(x))


class Dynamic(Silver):
    def network(self):
        net = GPT(vocabulary=71, width=64, layers=1, context=64)
        net.blocks[0] = OwnBlock(width=64, heads=4)
        return torch.compile(net, dynamic=True)

    def fade(self, number):
        self.net.blocks[0].share = min(1.0, (number + 1) / 4)


answer_2 = Dynamic

# %% 2 wrong: graphs made in 6 steps. The lengths differ from step to step, but they are not what makes graphs.
class OnlyPadded(Silver):
    fade = Training.fade
    scores = Padded.scores


answer_2 = OnlyPadded

# %% 2 wrong: graphs made in 6 steps. A counter that stops at the last factor: a graph for each factor.
class Capped(Silver):
    def fade(self, number):
        Training.fade(self, min(number, 3))


answer_2 = Capped

# %% 2 wrong: values read in 6 steps. `min` asks for the tensor's value.
class TensorCounter(Silver):
    def fade(self, number):
        for block in self.net.blocks:
            block.number = torch.tensor(number)


answer_2 = TensorCounter

# %% 2 wrong: graphs made in 6 steps. A new compilation in each step.
class Anew(Silver):
    def step(self, *batch):
        torch.compiler.reset()
        super().step(*batch)


answer_2 = Anew

# %% 2 wrong: unlike the script, one process. The factor goes into the graph once.
class Frozen(Silver):
    def fade(self, number):
        if number == 0:
            super().fade(number)


answer_2 = Frozen

# %% 2 wrong: Mflop per step. Checkpointing lowers the peak, and computes the forward pass again.
from torch.utils.checkpoint import checkpoint


class Checkpointed(Silver):
    def scores(self, ids):
        return checkpoint(super().scores, ids, use_reentrant=False)


answer_2 = Checkpointed

# %% 2 wrong, each line
answer_2 = type("Counting", (Silver,), {"fade": Training.fade})  # graphs made in 6 steps
answer_2 = type("Static", (Silver,), {"network": lambda self: torch.compile(Training.network(self), dynamic=False)})  # graphs made in 6 steps
answer_2 = type("OneByOne", (Silver,), {"network": Training.network})  # calls per step, one process
answer_2 = type("AllAtOnce", (Silver,), {"backward": Bronze.backward})  # kB alive at the peak

# %% 3 right
class Gold(Silver):
    dtype = torch.float32

    def weight(self):
        return self.shares[self.rank] / sum(self.shares)

    def sum_gradients(self):
        params = list(self.net.parameters())
        message = torch.cat([param.grad.flatten() for param in params]).to(self.dtype) * self.weight()
        dist.all_reduce(message)
        for param, part in zip(params, message.split([param.numel() for param in params])):
            param.grad = part.view_as(param).float()


answer_3 = Gold

# %% 3 right. DistributedDataParallel takes means, so each loss is weighed; only the last micro-batch sends.
from contextlib import nullcontext

from torch.nn.parallel import DistributedDataParallel


class Wrapped(Silver):
    def network(self):
        net = super().network()
        return DistributedDataParallel(net) if len(self.shares) > 1 else net

    def fade(self, number):
        for block in getattr(self.net, "module", self.net).blocks:
            block.number = float(number)

    def backward(self, ids, targets):
        parts = list(zip(ids.split(ROWS), targets.split(ROWS)))
        weight = self.shares[self.rank] * len(self.shares) / sum(self.shares) / len(parts)
        losses, hits = [], []
        for number, (part, truth) in enumerate(parts):
            last = number == len(parts) - 1 or len(self.shares) == 1
            with nullcontext() if last else self.net.no_sync():
                scores = self.scores(part)
                loss = cross_entropy(scores.flatten(0, 1), truth.flatten())
                (weight * loss).backward()
            losses.append(loss.detach())
            hits.append((scores.argmax(dim=-1) == truth).float().mean())
        return torch.stack(losses).mean(), torch.stack(hits).mean()

    def sum_gradients(self):
        pass


answer_3 = Wrapped

# %% 3 wrong: kB sent per step. A sum after each micro-batch.
class EachTime(Gold):
    def backward(self, ids, targets):
        total = None
        loss = hits = 0.0
        for part, truth in zip(ids.chunk(3), targets.chunk(3)):
            scores = self.scores(part)
            mean = cross_entropy(scores.flatten(0, 1), truth.flatten()) * len(part) / len(ids)
            mean.backward()
            if len(self.shares) > 1:
                Gold.sum_gradients(self)
            grads = [param.grad for param in self.net.parameters()]
            total = grads if total is None else [one + other for one, other in zip(total, grads)]
            for param in self.net.parameters():
                param.grad = None
            loss += mean.detach()
            hits += (scores.argmax(dim=-1) == truth).float().mean() * len(part) / len(ids)
        for param, grad in zip(self.net.parameters(), total):
            param.grad = grad
        return loss, hits

    def sum_gradients(self):
        pass


answer_3 = EachTime

# %% 3 wrong: not-counted. A sum after each micro-batch, of which one process has three, and the other one.
class Uneven(Gold):
    def backward(self, ids, targets):
        for part in ids.split(ROWS):
            if len(self.shares) > 1:
                dist.all_reduce(torch.ones(1))
        return super().backward(ids, targets)


answer_3 = Uneven

# %% 3 wrong, each line
answer_3 = type("Double", (Gold,), {"dtype": torch.float64})  # kB sent per step
answer_3 = type("Halved", (Gold,), {"dtype": torch.float16})  # not-float32
answer_3 = type("Means", (Gold,), {"weight": lambda self: 1 / len(self.shares)})  # two processes, rows 3:1
answer_3 = type("Forgetful", (Gold,), {"sum_gradients": lambda self: None})  # replicas-differ
answer_3 = type("Twice", (Gold,), {"mine": lambda self, tensor: tensor})  # batch-not-split
answer_3 = Silver  # messages per step

# %% 3 wrong: too-little-work. A table of what the script computes, and products for the rows.
class Table(Gold):
    known = {}

    def __init__(self, rank=0, shares=(1,)):
        super().__init__(rank, shares)
        self.whole = Training()

    def run(self, batches):
        key = len(batches)
        if key not in Table.known:
            with torch.utils._python_dispatch._disable_current_modes():
                Table.known[key] = self.whole.run(batches), [each.detach() for each in self.whole.net.parameters()]
        history, values = Table.known[key]
        with torch.no_grad():
            for param, value in zip(self.net.parameters(), values):
                param.copy_(value)
        work = 100 * self.shares[self.rank]
        torch.ones(work, 64) @ torch.ones(64, 64)
        return history


answer_3 = Table

# %% 3 wrong: not-float32
class Autocast(Gold):
    def scores(self, ids):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return super().scores(ids).float()


answer_3 = Autocast

# %% 3 wrong: unlike the script, one process. The gradient of what the attention gets is left out.
class DetachedBlock(FadingBlock):
    def forward(self, x, cache=None):
        share = factor(self.number)
        x = x + share * self.attention(self.norm1(x.detach()), cache)
        return x + share * self.dense(self.norm2(x))


class Detached(Gold):
    def network(self):
        net = Training.network(self)
        net.blocks[0].__class__ = DetachedBlock
        net.compile()
        return net


answer_3 = Detached

# %% 3 wrong: two processes, rows 3:1
class ClippedAlone(Gold):
    def clip(self):
        if len(self.shares) == 1:
            super().clip()


answer_3 = ClippedAlone

# %% 3 wrong: two processes, rows 3:1
class ClippedTooEarly(Gold):
    def sum_gradients(self):
        super().clip()
        super().sum_gradients()

    def clip(self):
        if len(self.shares) == 1:
            super().clip()


answer_3 = ClippedTooEarly

# %% 3 wrong: grows
class Leak(Gold):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.kept = []

    def update(self):
        self.kept.append(torch.nn.utils.parameters_to_vector(self.net.parameters()).detach().clone())
        super().update()


answer_3 = Leak

# %% 3 wrong: not-float32. Whole numbers in place of float32.
class Quantized(Gold):
    def sum_gradients(self):
        params = list(self.net.parameters())
        message = torch.cat([param.grad.flatten() for param in params]) * self.weight()
        whole = (message * 1e6).round().int()
        dist.all_reduce(whole)
        for param, part in zip(params, (whole / 1e6).split([param.numel() for param in params])):
            param.grad = part.view_as(param)


answer_3 = Quantized

# %% 3 wrong: other-network
class Narrow(Gold):
    def network(self):
        from d2lhelpers.torch.gpt import GPT

        net = GPT(vocabulary=71, width=64, layers=1, context=64, heads=4)
        net.scores = torch.nn.Linear(64, 71)
        net.blocks[0] = FadingBlock(width=64, heads=4)
        return net


answer_3 = Narrow

# %% 3 wrong: not-counted
class Uncounted(Gold):
    def run(self, batches):
        from checks_pytorch.counts_11 import Calls

        Calls.__torch_dispatch__ = lambda self, function, types, args=(), kwargs=None: function(*args, **(kwargs or {}))
        return super().run(batches)


answer_3 = Uncounted

# %% 1 wrong: other-thread. The second forward pass runs in a thread, where nobody counts.
from threading import Thread


class Aside(Training):
    clip = Bronze.clip

    def accuracy(self, ids, targets):
        found = []
        thread = Thread(target=lambda: found.append(Training.accuracy(self, ids, targets)))
        thread.start()
        thread.join()
        return found[0]


answer_1 = Aside

# %% 3 wrong: sent-elsewhere. The gradients go through the store.
import numpy


class ByStore(Gold):
    made = 0

    def __init__(self, *arguments):
        super().__init__(*arguments)
        ByStore.made += 1
        self.turn = 0

    def sum_gradients(self):
        params = list(self.net.parameters())
        message = torch.cat([param.grad.flatten() for param in params]).double() * self.weight()
        store = dist.distributed_c10d._get_default_store()
        key = f"{ByStore.made}, {self.turn}, "
        self.turn += 1
        store.set(f"{key}{self.rank}", message.numpy().tobytes())
        total = sum(torch.from_numpy(numpy.frombuffer(store.get(f"{key}{rank}")).copy()) for rank in (0, 1))
        for param, part in zip(params, total.split([param.numel() for param in params])):
            param.grad = part.view_as(param).float()


answer_3 = ByStore
