"""One worker of a training on many machines, with MXNet's distributed KVStore.

Start this script once a worker, once a server and once as the scheduler, on one host or on several: the variable
DMLC_ROLE says which of them a process is, and the other DMLC variables where the scheduler listens and how many there
are. With DMLC_ROLE=server or scheduler, `import mxnet` itself does that work and never returns.
"""
import argparse
import faulthandler
import os
import re
import signal
import socket
import sys
import tempfile
import time

import mxnet
import numpy
from mxnet import autograd, gluon, np, npx
from mxnet.gluon import nn

# How ps-lite logs a message with an array: 1 if the worker asks, 0 if the server answers, and the bytes of the array.
MESSAGE = re.compile(rb"request=(\d)[\w=, ]*, data_type=\{[^}]*\} Body: data_size=\d+ data_size=(\d+) ")


def lenet():
    """Return the network, without values yet."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(20, 3, activation="tanh", in_channels=1), nn.AvgPool2D(2),
            nn.Conv2D(50, 5, activation="tanh", in_channels=20), nn.AvgPool2D(2),
            nn.Dense(128, activation="tanh", in_units=800), nn.Dense(10, in_units=128))
    return net


def batches(rows, batch_size, epochs):
    """Yield the rows of each batch, in the same shuffled order wherever this is called; full batches only."""
    order = numpy.random.RandomState(0)
    for _ in range(epochs):
        shuffled = order.permutation(rows)
        for start in range(0, rows - batch_size + 1, batch_size):
            yield shuffled[start:start + batch_size]


def train_step(net, trainer, X, y, batch_size):
    """Take a step with some rows of a batch; return the sum of their losses."""
    loss_of_each = gluon.loss.SoftmaxCrossEntropyLoss()
    with autograd.record():
        loss = loss_of_each(net(np.array(X)), np.array(y)).sum()
    loss.backward()
    trainer.step(batch_size)  # push the gradients, pull the new parameters
    npx.waitall()             # until they are here
    return loss.item()


def push_then_pull(store):
    """Let a store do in two calls what a Trainer asks for in one, which MXNet 1.9.1 refuses to compress."""
    def pushpull(key, value, out=None, priority=0):
        store.push(key, value, priority)
        store.pull(key, out=out, priority=priority)

    store.pushpull = pushpull


def save(net, trainer, step, folder):
    """Store parameters and the optimizer's state; then the file `latest` names them."""
    net.save_parameters(os.path.join(folder, f"before-{step}.params"))
    trainer.save_states(os.path.join(folder, f"before-{step}.states"))
    latest = os.path.join(folder, "latest")
    with open(latest + ".new", "w") as file:
        file.write(str(step))
    os.replace(latest + ".new", latest)


def fetch_start(trainer):
    """Let the workers fetch their common start before they push a gradient.

    A Trainer leaves that to its first step. If it updates the parameters itself, MXNet 1.9.1 may push the first
    gradients before, and a worker then silently begins with their sum in place of some parameters.
    """
    trainer.save_states(os.devnull)  # asks for the start, because a Trainer's state includes its store
    npx.waitall()


def resume(net, trainer, folder):
    """Load the newest checkpoint in `folder`, if there is one; return the step to go on with."""
    latest = os.path.join(folder, "latest")
    if not os.path.exists(latest):
        fetch_start(trainer)
        return 0
    with open(latest) as file:
        step = int(file.read())
    net.load_parameters(os.path.join(folder, f"before-{step}.params"))
    trainer.load_states(os.path.join(folder, f"before-{step}.states"))  # after the parameters, which give the shapes
    return step


def log_messages():
    """Let ps-lite log this process's messages to a file; return its descriptor. Python's errors go where they went."""
    os.environ["PS_VERBOSE"] = "2"
    log, path = tempfile.mkstemp()
    os.unlink(path)
    sys.stderr = os.fdopen(os.dup(2), "w", buffering=1)
    os.dup2(log, 2)
    return log


def count_bytes(log):
    """Return how many bytes of arrays this worker has pushed and pulled so far."""
    messages = MESSAGE.findall(os.pread(log, os.fstat(log).st_size, 0))
    return [sum(int(size) for request, size in messages if request == kind) for kind in (b"1", b"0")]


def train(net, trainer, images, labels, rank, workers, log, args):
    """Train on this worker's rows of each batch; return what it recorded of each step, by name."""
    losses, seconds, moved = [], [], []
    first = resume(net, trainer, args.checkpoints) if args.checkpoints else 0
    for step, rows in enumerate(batches(len(images), args.batch_size, args.epochs)):
        if step < first:
            continue
        faulthandler.dump_traceback_later(args.limit, exit=True)  # sets the alarm clock anew
        if step == args.lost_at:
            os.kill(os.getpid(), signal.SIGKILL)
        mine = rows[rank::workers]
        start = time.perf_counter()
        time.sleep(args.pause)
        loss = train_step(net, trainer, images[mine], labels[mine], len(rows))
        seconds.append(time.perf_counter() - start)
        losses.append(loss / len(mine))
        print(f"step {step} done", flush=True)
        if args.checkpoints and rank == 0 and (step + 1) % args.every == 0:
            save(net, trainer, step + 1, args.checkpoints)
        moved.append(count_bytes(log) if args.bytes else [0, 0])
    faulthandler.cancel_dump_traceback_later()
    pushed, pulled = numpy.diff([[0, 0], *moved], axis=0).T
    return {"losses": losses, "seconds": seconds, "pushed": pushed, "pulled": pulled}


def wait_for_scheduler(limit):
    """End this process with a clear message unless the scheduler's port answers within `limit` seconds."""
    host, port = os.environ["DMLC_PS_ROOT_URI"], int(os.environ["DMLC_PS_ROOT_PORT"])
    deadline = time.monotonic() + limit
    while True:
        try:
            return socket.create_connection((host, port), timeout=limit).close()
        except OSError as error:
            if time.monotonic() > deadline:
                raise SystemExit(f"no scheduler answers at {host}:{port} "
                                 f"within {limit} seconds: {error}") from None
        time.sleep(0.1)


def main():
    """Train as one of the workers, and store what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="an .npz file with images (of 28 by 28 pixels) and labels")
    parser.add_argument("results", help="the folder for worker-0.npz, worker-1.npz, ...")
    parser.add_argument("--batch-size", type=int, default=128, help="rows of all workers together")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--rate", type=float, default=0.2)
    parser.add_argument("--momentum", type=float, default=0)
    parser.add_argument("--seed", type=int, default=0, help="of the starting values: the same for every worker")
    parser.add_argument("--start-limit", type=float, default=60, help="seconds until all processes are there")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a step")
    parser.add_argument("--bytes", action="store_true", help="record how many bytes are pushed and pulled")
    parser.add_argument("--store", default="dist_sync", help="or dist_async, whose server waits for nobody")
    parser.add_argument("--threshold", type=float, help="send two bits per gradient: plus, minus this, or nothing")
    parser.add_argument("--pause", type=float, default=0, help="seconds that this worker sleeps in each step")
    parser.add_argument("--checkpoints", help="a folder that all can read: resume from it, and save there")
    parser.add_argument("--every", type=int, default=3, help="steps from one checkpoint to the next")
    parser.add_argument("--lost-at", type=int, help="a drill: kill this process at that step")
    args = parser.parse_args()
    for folder in filter(None, [args.results, args.checkpoints]):
        os.makedirs(folder, exist_ok=True)

    log = log_messages() if args.bytes else None
    wait_for_scheduler(args.start_limit)
    faulthandler.dump_traceback_later(args.start_limit, exit=True)
    store = mxnet.kv.create(args.store)
    npx.set_np()
    npx.random.seed(args.seed)
    net = lenet()
    net.initialize(mxnet.init.Xavier())
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": args.rate, "momentum": args.momentum},
                            kvstore=store, update_on_kvstore=False if args.checkpoints else None,
                            compression_params=args.threshold and {"type": "2bit", "threshold": args.threshold})
    if args.threshold:
        push_then_pull(store)
    data = numpy.load(args.data)
    records = train(net, trainer, data["images"], data["labels"], store.rank, store.num_workers, log, args)
    values = [param.data().asnumpy() for param in net.collect_params().values()]
    numpy.savez(os.path.join(args.results, f"worker-{store.rank}.npz"), *values, **records)


if __name__ == "__main__":
    main()
