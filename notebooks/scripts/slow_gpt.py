"""A training script that works, and wastes. Lesson pytorch/11 asks where, and replaces one method after the other."""
import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy

from d2lhelpers.torch.gpt import GPT, Block

FADE_IN = 4  # steps until the layers count in full
ROWS = 3  # in a micro-batch


def factor(number):
    """Return how much the layers count in step `number`: 1/4 in step 0, and 1 from step 3 on."""
    return min(1.0, (number + 1) / FADE_IN)


class FadingBlock(Block):
    """A layer of a GPT whose results, times a factor that grows in the first steps, are added to their input."""

    number = 0  # of the step

    def forward(self, x, cache=None):
        """Return the tokens' new numbers, of the same shape."""
        share = factor(self.number)
        x = x + share * self.attention(self.norm1(x), cache)
        return x + share * self.dense(self.norm2(x))


class Training:
    """Train a small GPT in one process or in several. `shares` says how many rows each gets, relative to the others."""

    rate = 0.5
    longest = 0.66  # the limit of the gradient norm

    def __init__(self, rank=0, shares=(1,)):
        torch.manual_seed(1)  # the same starting values each time, in each process
        self.rank = rank
        self.shares = shares
        self.history = []
        self.net = self.network()

    def network(self):
        """Return the network, with its starting values."""
        net = GPT(vocabulary=71, width=64, layers=1, context=64)
        net.blocks[0] = FadingBlock(width=64, heads=4)
        return net

    def mine(self, tensor):
        """Return this process's rows of a batch."""
        rows = [len(tensor) * share // sum(self.shares) for share in self.shares]
        return tensor.split(rows)[self.rank]

    def fade(self, number):
        """Let the layers count a little more in each of the first steps."""
        for block in self.net.blocks:
            block.number = number

    def scores(self, ids):
        """Return a score for each possible next token, at every place."""
        return self.net(ids)

    def loss(self, ids, targets):
        """Return the mean loss of all places."""
        return cross_entropy(self.scores(ids).flatten(0, 1), targets.flatten())

    def accuracy(self, ids, targets):
        """Return the share of places at which the right next token has the highest score."""
        with torch.no_grad():
            return (self.scores(ids).argmax(dim=-1) == targets).float().mean()

    def backward(self, ids, targets):
        """Compute the gradients in micro-batches, to save memory; return the mean loss and the accuracy."""
        parts = zip(ids.split(ROWS), targets.split(ROWS), strict=True)
        loss = torch.stack([self.loss(*part) for part in parts]).mean()
        loss.backward()
        return loss, self.accuracy(ids, targets)

    def sum_gradients(self):
        """Give each process the mean of all processes' gradients, summed in double precision."""
        for param in self.net.parameters():
            total = param.grad.double()
            dist.all_reduce(total)
            param.grad = (total / len(self.shares)).float()

    def clip(self):
        """Shorten the gradient if it is too long."""
        squares = [param.grad.square().sum().item() for param in self.net.parameters()]
        length = sum(squares) ** 0.5
        if length > self.longest:
            for param in self.net.parameters():
                param.grad *= self.longest / length

    def update(self):
        """Move all parameters against their gradients."""
        with torch.no_grad():
            for param in self.net.parameters():
                param -= self.rate * param.grad
                param.grad = None

    def log(self, loss, accuracy):
        """Keep the loss and the accuracy of a step in the history."""
        self.history.append((loss.item(), accuracy.item()))

    def step(self, ids, targets, number):
        """Train on one batch."""
        ids, targets = self.mine(ids), self.mine(targets)
        self.fade(number)
        loss, accuracy = self.backward(ids, targets)
        if len(self.shares) > 1:
            self.sum_gradients()
        self.clip()
        self.update()
        self.log(loss, accuracy)

    def run(self, batches):
        """Train on all batches, and return each step's loss and accuracy: a list of pairs of numbers."""
        for number, (ids, targets) in enumerate(batches):
            self.step(ids, targets, number)
        return self.history
