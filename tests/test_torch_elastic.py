import sys
from pathlib import Path

import pytest
import torch

from d2lhelpers.process import launch

SCRIPT = Path(__file__).parents[1] / "notebooks" / "scripts" / "elastic.py"
sys.path.insert(0, str(SCRIPT.parent))
import elastic  # noqa: E402


def job(place, *options, ranks=2):
    """Return the command that trains with torchrun, and the variables to set for it."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}",
               "--max-restarts=1", "--local-addr=127.0.0.1", "--tee=1", f"--log-dir={place}", SCRIPT, place / "last.pt"]
    return [*command, *options], {"GLOO_SOCKET_IFNAME": "lo0" if sys.platform == "darwin" else "lo"}


def trained(steps):
    """Return a small network and its optimizer after some steps."""
    torch.manual_seed(0)
    net = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for _ in range(steps):
        net(torch.ones(4, 3)).square().sum().backward()
        optimizer.step()
    return net, optimizer


@pytest.mark.parametrize("size", [1, 2, 4])
def test_ranks_share_each_epoch(size):
    """However many ranks there are, those of a step have the same batch, and an epoch has each row once."""
    epoch = []
    for step in range(8, 16):
        batch = sorted(row for rank in range(size) for row in elastic.rows_of(step, rank, size).tolist())
        assert batch == sorted(elastic.rows_of(step, 0, 1).tolist())
        epoch += batch
    assert sorted(epoch) == list(range(elastic.ROWS))
    assert elastic.rows_of(0, 0, 1).tolist() != elastic.rows_of(8, 0, 1).tolist()


def test_a_checkpoint_holds_the_momentum(tmp_path):
    """A network and an optimizer that were resumed take the next step exactly as the saved ones do."""
    saved = trained(5)
    elastic.save(tmp_path / "last.pt", 5, *saved)
    resumed = trained(0)
    assert elastic.resume(tmp_path / "last.pt", *resumed) == 5
    for net, optimizer in saved, resumed:
        optimizer.zero_grad()
        net(torch.ones(4, 3)).square().sum().backward()
        optimizer.step()
    assert torch.equal(saved[0].weight, resumed[0].weight)


def test_half_a_file_is_no_checkpoint(tmp_path):
    """Without a checkpoint a job begins with step 0; a file that was not completed changes nothing."""
    (tmp_path / "last.pt.new").write_bytes(b"half")
    assert elastic.resume(tmp_path / "last.pt", *trained(0)) == 0


@pytest.mark.slow
def test_a_killed_job_ends_like_one_that_was_not(tmp_path):
    """A job that lost a rank, and one that was told to leave and went on with one rank, end like an undisturbed one."""
    for name in ("whole", "killed", "fewer"):
        (tmp_path / name).mkdir()
    launch({"whole": job(tmp_path / "whole"), "fewer": job(tmp_path / "fewer", "--told-at=11")}, timeout=600)
    printed = launch({"killed": job(tmp_path / "killed", "--lost-at=14"), "fewer": job(tmp_path / "fewer", ranks=1)},
                     timeout=600)
    assert printed["killed"].count("[default0]:step ") == 28
    assert printed["fewer"].startswith("[default0]:step 12 ")
    whole = torch.load(tmp_path / "whole" / "last.pt")
    for name in ("killed", "fewer"):
        other = torch.load(tmp_path / name / "last.pt")
        assert other["done"] == whole["done"] == 24
        for key, value in whole["net"].items():
            torch.testing.assert_close(other["net"][key], value, rtol=0, atol=1e-9)
