"""One worker of a training on several processes, with PyTorch's DistributedDataParallel.

torchrun starts this script once a process, on one host or on several, and tells each in variables which one it is:
RANK, LOCAL_RANK and WORLD_SIZE, and with MASTER_ADDR and MASTER_PORT where they meet. Where a host has a GPU for each
of its processes they talk over nccl, elsewhere over gloo.
"""
import argparse
import copy
import gc
import math
import os
import time
from datetime import timedelta

import numpy
import torch
from torch import distributed, nn
from torch.distributed.elastic.multiprocessing.errors import record
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def lenet():
    """Return the network for images of 28 by 28 pixels."""
    return nn.Sequential(nn.Conv2d(1, 20, 3), nn.ReLU(), nn.AvgPool2d(2),
                         nn.Conv2d(20, 50, 5), nn.ReLU(), nn.AvgPool2d(2),
                         nn.Flatten(), nn.Linear(800, 128), nn.ReLU(), nn.Linear(128, 10))


def loader(dataset, batch_size, rank, size, seed):
    """Return the batches of one of `size` processes: its share of each batch of `batch_size` rows, full ones only."""
    sampler = DistributedSampler(dataset, size, rank, seed=seed)
    return DataLoader(dataset, batch_size // size, sampler=sampler, drop_last=True)


def train_step(net, optimizer, X, y):
    """Take one step and return the mean loss of these rows."""
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(X), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def accuracy(net, images, labels, rank, size):
    """Return the share of right answers of all processes together, each of them asked its own rows."""
    with torch.no_grad():
        right = (net(images[rank::size]).argmax(dim=1) == labels[rank::size]).sum()
    if size > 1:
        distributed.all_reduce(right)
    return right.item() / len(labels)


def join(init_method="env://", limit=60):
    """Meet the other processes; return this one's device: a GPU of its own where the host has one for each."""
    local = int(os.environ["LOCAL_RANK"])
    on_gpu = torch.cuda.device_count() >= int(os.environ["LOCAL_WORLD_SIZE"])
    device = torch.device("cuda", local) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if on_gpu else "gloo", init_method, timedelta(seconds=limit),
                                   int(os.environ["WORLD_SIZE"]), int(os.environ["RANK"]))
    return device


@record
def main():
    """Train as one of the processes; after each epoch store what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="an .npz file with images, labels, test_images and test_labels")
    parser.add_argument("results", help="the folder for worker-0.pt, worker-1.pt, ...")
    parser.add_argument("--batch-size", type=int, default=64, help="rows of all processes together")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--steps", type=int, help="of an epoch; all of them by default")
    parser.add_argument("--rate", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0, help="of the starting values and of the rows' order")
    parser.add_argument("--init-method", default="env://", help="where to meet, if not where torchrun says")
    parser.add_argument("--limit", type=float, default=60, help="seconds to wait for the others, each time")
    args = parser.parse_args()
    os.makedirs(args.results, exist_ok=True)

    device = join(args.init_method, args.limit)
    rank, size = distributed.get_rank(), distributed.get_world_size()
    torch.manual_seed(args.seed)
    on_gpu = [device] if device.type == "cuda" else None
    net = DistributedDataParallel(lenet().to(device), device_ids=on_gpu)
    optimizer = torch.optim.SGD(net.parameters(), args.rate, momentum=0.9)
    with numpy.load(args.data) as data:
        names = "images", "labels", "test_images", "test_labels"
        images, labels, *test = (torch.from_numpy(data[name]).to(device) for name in names)
    batches = loader(TensorDataset(images, labels), args.batch_size, rank, size, args.seed)

    result = {"losses": [], "seconds": [], "accuracy": []}
    for epoch in range(args.epochs):
        batches.sampler.set_epoch(epoch)
        start = time.perf_counter()
        for step, (X, y) in zip(range(args.steps or len(batches)), batches, strict=False):
            loss = train_step(net, optimizer, X, y)
            if not math.isfinite(loss):
                raise FloatingPointError(f"worker {rank}: the loss is {loss} in step {step} of epoch {epoch}")
            result["losses"].append(loss)
            if "after one step" not in result:
                result["after one step"] = copy.deepcopy(net.module.state_dict())
        result["seconds"].append(time.perf_counter() - start)
        result["accuracy"].append(accuracy(net.module, *test, rank, size))
        torch.save({"parameters": net.module.state_dict()} | result, os.path.join(args.results, f"worker-{rank}.pt"))
        if rank == 0:
            print(f"epoch {epoch}: {result['seconds'][-1]:.4f} sec, accuracy {result['accuracy'][-1]:.3f}", flush=True)
    del net, optimizer  # they hold the group, whose threads have to end before Python does
    gc.collect()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
