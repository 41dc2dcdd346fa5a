"""Train a network with DistributedDataParallel, one process per GPU or CPU. Lesson: pytorch/04-data-parallel.

    torchrun --nproc-per-node=2 ddp_training.py DATA CHECKPOINT EPOCHS

DATA holds ((images, labels) to train with, (images, labels) to test with) as `torch.save` stores them. If there is a
CHECKPOINT, the training goes on from it. For your own training change `network`, the data and the optimizer.
"""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import parameters_to_vector
from torch.utils.data import DataLoader, DistributedSampler, Subset, TensorDataset


def network():
    """Return the network, not trained."""
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))


def join_group():
    """Join the process group of all ranks; return this rank's device."""
    if torch.cuda.device_count() >= int(os.environ["LOCAL_WORLD_SIZE"]):  # a GPU for each process here
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group("nccl")
        return torch.device("cuda", torch.cuda.current_device())
    dist.init_process_group("gloo")
    return torch.device("cpu")


def train(ddp, optimizer, loader, device):
    """Train for one epoch on this rank's rows."""
    for X, y in loader:
        X, y = X.to(device), y.to(device)  # the labels, too
        optimizer.zero_grad()
        with torch.autocast(device.type, torch.bfloat16):  # not the backward pass
            loss = nn.functional.cross_entropy(ddp(X), y)
        loss.backward()
        optimizer.step()


@torch.no_grad()
def accuracy(net, loader, device):
    """Return the share of right answers over the rows of all ranks."""
    counts = torch.zeros(2, device=device)
    for X, y in loader:
        right = net(X.to(device)).argmax(dim=1) == y.to(device)
        counts += torch.stack([right.sum(), torch.tensor(len(y), device=device)])
    dist.all_reduce(counts)  # sums over ranks, divided once: never the mean of the ranks' means
    return (counts[0] / counts[1]).item()


def distance_from_rank_0(net):
    """Return how far this rank's parameters are from those of rank 0; all ranks must call it."""
    mine = parameters_to_vector(net.parameters()).detach()
    of_rank_0 = mine.clone()
    dist.broadcast(of_rank_0, src=0)
    return (mine - of_rank_0).abs().max().item()


def own_batches(data, device):
    """Return this rank's batches of 32, to train with and to test with, and the sampler that shuffles the former."""
    training, test = [TensorDataset(*both) for both in torch.load(data)]
    sampler = DistributedSampler(training)
    batches = DataLoader(training, 32, sampler=sampler, pin_memory=device.type == "cuda")
    own_test = Subset(test, range(dist.get_rank(), len(test), dist.get_world_size()))  # no row twice
    return batches, DataLoader(own_test, 32), sampler


def resume(checkpoint, net, optimizer, device):
    """Load a checkpoint, if there is one; return how many epochs are done."""
    if not os.path.exists(checkpoint):
        return 0
    saved = torch.load(checkpoint, map_location=device)
    net.load_state_dict(saved["net"])
    optimizer.load_state_dict(saved["optimizer"])
    return saved["epochs"]


def main(data, checkpoint, epochs):
    """Train until `epochs` epochs are done, and save after each."""
    device = join_group()
    rank = dist.get_rank()
    torch.manual_seed(rank)  # dropout differs from rank to rank; parameters do not, DDP sends rank 0's
    batches, test_batches, sampler = own_batches(data, device)
    net = network().to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    done = resume(checkpoint, net, optimizer, device)
    ddp = DistributedDataParallel(net, device_ids=[device] if device.type == "cuda" else None)
    for epoch in range(done, epochs):
        sampler.set_epoch(epoch)  # or every epoch has the same order
        train(ddp, optimizer, batches, device)
        score = accuracy(net, test_batches, device)
        if rank == 0:
            print(f"epoch {epoch}: accuracy {score:.3f}\n", end="", flush=True)
            states = {"net": net.state_dict(), "optimizer": optimizer.state_dict(), "epochs": epoch + 1}
            torch.save(states, checkpoint)
    print(f"rank {rank}: {distance_from_rank_0(net)} from rank 0's parameters\n", end="", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
