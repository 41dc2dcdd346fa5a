"""Tests of jobs of PyTorch's torchrun, of the script that readers of pytorch/04 take away, and of what ranks send."""
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import nn

from d2lhelpers.process import in_group
from d2lhelpers.torch import Timeline
from d2lhelpers.torch.collectives import Messages
from d2lhelpers.torch.jobs import torchrun

SCRIPT = Path(__file__).parent.parent / "notebooks" / "scripts" / "ddp_training.py"


@pytest.fixture
def data(tmp_path):
    """Return a file with images of two kinds, bright above or below, and their labels: 65 to train with, 33 to test."""
    def images(rows):
        labels = torch.arange(rows) % 2
        pictures = torch.rand(rows, 1, 28, 28)
        for picture, label in zip(pictures, labels, strict=True):
            picture[:, 14 * label:14 * label + 14] += 1
        return pictures, labels

    torch.manual_seed(0)
    torch.save((images(65), images(33)), tmp_path / "data.pt")
    return tmp_path / "data.pt"


def accuracies(lines):
    """Return what a job printed about each epoch."""
    return [float(line.split()[-1]) for line in lines if line.startswith("epoch")]


@pytest.mark.slow
def test_ddp_training_learns_saves_and_resumes(data, tmp_path, monkeypatch):
    """Two ranks train alike; a second job goes on after the last epoch of the first; one process can load the file."""
    lines = torchrun(SCRIPT, data, tmp_path / "net.pt", 2)
    assert [line.split(":")[0] for line in lines] == ["epoch 0", "epoch 1", "rank 0", "rank 1"]
    assert lines[2:] == [f"rank {rank}: 0.0 from rank 0's parameters" for rank in (0, 1)]
    lines = torchrun(SCRIPT, data, tmp_path / "net.pt", 3)
    assert [line.split(":")[0] for line in lines] == ["epoch 2", "rank 0", "rank 1"]
    monkeypatch.syspath_prepend(SCRIPT.parent)
    import ddp_training
    saved = torch.load(tmp_path / "net.pt", map_location="cpu")
    net = ddp_training.network()
    net.load_state_dict(saved["net"])
    _, (images, labels) = torch.load(data)
    right = (net(images).argmax(dim=1) == labels).float().mean().item()
    assert saved["epochs"] == 3
    assert accuracies(lines) == [round(right, 3)]  # over all 33 rows, though the ranks have 17 and 16
    assert right > 0.9


@pytest.mark.parametrize(("gpus", "backend"), [(0, "gloo"), (1, "gloo"), (2, "nccl")])
def test_the_script_takes_gpus_if_each_process_has_one(gpus, backend, monkeypatch):
    """Two processes on one host use two GPUs, or the CPU: never one GPU, which NCCL would refuse."""
    monkeypatch.syspath_prepend(SCRIPT.parent)
    import ddp_training
    asked = []
    monkeypatch.setattr(dist, "init_process_group", asked.append)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(torch.cuda, "set_device", asked.append)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: asked[0])
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    device = ddp_training.join_group()
    assert asked == ([1, backend] if backend == "nccl" else [backend])
    assert device == (torch.device("cuda", 1) if backend == "nccl" else torch.device("cpu"))


@pytest.mark.slow
def test_one_rank_is_enough(data, tmp_path):
    """The script runs on a single rank, too."""
    assert len(accuracies(torchrun(SCRIPT, data, tmp_path / "net.pt", 1, ranks=1))) == 1


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2])
def test_gpt_train_learns_alike_on_all_ranks(ranks):
    """The loss falls, and all ranks end with the same parameters."""
    lines = torchrun(SCRIPT.with_name("gpt_train.py"), 11, ranks=ranks)
    losses = [float(line.split()[-1]) for line in lines if line.startswith("step")]
    sizes = [line.split(",")[0].split()[-1] for line in lines if line.startswith("rank")]
    assert len(losses) == 2
    assert losses[1] < losses[0]
    assert len(sizes) == ranks
    assert len(set(sizes)) == 1


def test_a_job_has_two_ranks_of_one_thread_each(tmp_path):
    """Without other wishes there are two ranks, each with one thread and the arguments; what they print is sorted."""
    script = tmp_path / "prints.py"
    names = "RANK", "WORLD_SIZE", "OMP_NUM_THREADS"
    script.write_text(f"import os, sys\nprint(*map(os.environ.get, {names}), *sys.argv[1:])")
    assert torchrun(script, "word", 3) == ["0 2 1 word 3", "1 2 1 word 3"]


def test_torchrun_says_what_failed(tmp_path):
    """The error of a job that fails shows the exception of its script."""
    script = tmp_path / "fails.py"
    script.write_text("raise KeyError('a name of ours')")
    with pytest.raises(RuntimeError, match="a name of ours"):
        torchrun(script)


def backward():
    """Return the bytes of the all-reduces of two backward passes, and a Timeline of the second."""
    net = nn.parallel.DistributedDataParallel(nn.Linear(100, 10))
    sizes = []
    with Messages(sizes):
        net(torch.ones(2, 100)).sum().backward()
        dist.broadcast(torch.ones(3), src=0)  # no all-reduce
        with Timeline() as record:
            net(torch.ones(2, 100)).sum().backward()
    return sizes, record


def test_messages_and_timeline_show_all_reduces():
    """Each all-reduce counts with its bytes, and has a row of its own in a Timeline, in every rank."""
    for sizes, record in in_group(backward):
        assert sizes == [4040, 4040]
        [place] = {operator.device for operator in record.operators if operator.name == "all_reduce"}
        assert place != "cpu"
