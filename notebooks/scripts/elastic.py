"""A training job that survives the loss of a process. Start it with torchrun --max-restarts=3 ... elastic.py FILE."""
import argparse
import os
import signal

import torch
import torch.distributed as dist

ROWS, BATCH = 512, 64


def meet():
    """Join this process to the job, and return its rank and the number of ranks."""
    store, rank, size = next(dist.rendezvous("env://"))    # torchrun has set the environment
    attempt = os.environ["TORCHELASTIC_RESTART_COUNT"]
    store = dist.PrefixStore(f"attempt {attempt}", store)  # hides the addresses of dead workers
    dist.init_process_group("gloo", store=store, rank=rank, world_size=size)
    return rank, size


def rows_of(step, rank, size):
    """Return a rank's rows in a step. They depend on nothing else, so a restart finds them again."""
    epoch, batch = divmod(step, ROWS // BATCH)
    order = torch.randperm(ROWS, generator=torch.Generator().manual_seed(epoch))
    return order[BATCH * batch:BATCH * (batch + 1)][rank::size]


def save(path, done, net, optimizer):
    """Store all that the next step depends on. The file gets its name when it is complete."""
    state = {"done": done, "net": net.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(state, f"{path}.new")
    os.replace(f"{path}.new", path)


def resume(path, net, optimizer):
    """Load the checkpoint, if there is one, and return the number of steps that are done."""
    if not os.path.exists(path):
        return 0
    state = torch.load(path)
    net.load_state_dict(state["net"])
    optimizer.load_state_dict(state["optimizer"])
    return state["done"]


def drill(rank, what):
    """Wait until all ranks are here. Then send rank 1 a signal: SIGKILL, as if it had crashed, or SIGTERM."""
    dist.barrier()
    if rank == 1:
        os.kill(os.getpid(), what)


def told_to_leave():
    """Return a function that says, on all ranks alike, whether one of them has got SIGTERM. All must call it."""
    told = []
    signal.signal(signal.SIGTERM, lambda *_: told.append(True))

    def anyone_told():
        flag = torch.tensor(len(told))
        dist.all_reduce(flag)
        return flag.item() > 0

    return anyone_told


def prepare():
    """Return data, labels, a network and its optimizer: the same in every process."""
    torch.manual_seed(0)
    X = torch.randn(ROWS, 64, dtype=torch.float64)         # so that rounding stays far below any effect
    y = X[:, :10].argmax(dim=1)
    net = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10)).double()
    return X, y, net, torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9)


def train(rank, size, path, steps, every, drills):
    """Train from the newest checkpoint on. Rank 0 saves for all, because the replicas are equal."""
    X, y, net, optimizer = prepare()
    first = resume(path, net, optimizer)
    replica = torch.nn.parallel.DistributedDataParallel(net)
    anyone_told = told_to_leave()
    for step in range(first, steps):
        if step in drills and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
            drill(rank, drills[step])
        rows = rows_of(step, rank, size)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(replica(X[rows]), y[rows])
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f}", flush=True)
        last = step + 1 == steps or anyone_told()
        if rank == 0 and (last or (step + 1) % every == 0):
            save(path, step + 1, net, optimizer)
        if last:
            break


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", help="the checkpoint, in a folder that all hosts see")
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--every", type=int, default=5, help="steps from one checkpoint to the next")
    parser.add_argument("--lost-at", type=int, help="a drill: rank 1 kills itself before this step")
    parser.add_argument("--told-at", type=int, help="a drill: rank 1 gets SIGTERM before this step")
    given = parser.parse_args()
    drills = {given.lost_at: signal.SIGKILL, given.told_at: signal.SIGTERM}
    train(*meet(), given.path, given.steps, given.every, drills)
    dist.destroy_process_group()
