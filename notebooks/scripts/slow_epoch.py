"""A training loop in which Python waits for MXNet once per step. Lesson 03 asks where."""
import time

from mxnet import autograd, np


def read(batch):
    """Return the next batch, without rows that are far off; it comes from the disk as an array of NumPy."""
    time.sleep(0.02)
    return np.array(batch[abs(batch).max(axis=1) < 100])


def disturb(X):
    """Return the batch with a little noise."""
    return X + np.random.normal(0, 0.01, size=X.shape)


def norm_of(grads):
    """Return the norm of all gradients together."""
    return np.sqrt(sum((grad * grad).sum() for grad in grads))


def clip(grads, limit=0.01):
    """Scale long gradients down, all of them by one factor, so that their norm together is `limit`."""
    factor = min(1, limit / norm_of(grads))
    for grad in grads:
        grad *= factor


def log(losses, loss):
    """Keep a loss; after every hundredth, forget the oldest ones."""
    losses.append(loss.detach())
    if len(losses) % 100 == 0:
        del losses[:-100]


FUNCTIONS = {"read": read, "disturb": disturb, "clip": clip, "log": log}


def epoch(functions, net, trainer, batch, batches=10):
    """Train `net`, which copies its input, and return the losses; the four functions do what has a name of its own."""
    losses = []
    for _ in range(batches):
        X = functions["disturb"](functions["read"](batch))
        with autograd.record():
            loss = ((net(X) - X) ** 2).mean()
        loss.backward()
        functions["clip"]([parameter.grad() for parameter in net.collect_params().values()])
        trainer.step(1)
        functions["log"](losses, loss)
    return losses
