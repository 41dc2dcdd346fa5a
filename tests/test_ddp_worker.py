import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil
import pytest

from d2lhelpers.process import launch

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).parents[1] / "notebooks" / "scripts" / "ddp_worker.py"
ONE_PROCESS = """
import sys
import numpy, torch
sys.path.insert(0, sys.argv[1])
from ddp_worker import lenet, loader, train_step

with numpy.load(sys.argv[2]) as data:
    dataset = torch.utils.data.TensorDataset(*[torch.from_numpy(data[name]) for name in ("images", "labels")])
torch.manual_seed(0)
net = lenet()
optimizer = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
batches = loader(dataset, 16, 0, 1, 0)
for epoch in range(2):
    batches.sampler.set_epoch(epoch)
    losses = [train_step(net, optimizer, X, y) for X, y in batches]
one, other = [torch.load(f"{sys.argv[3]}/worker-{rank}.pt") for rank in (0, 1)]
assert len(one["losses"]) == 2 * len(losses) == 8
for name, value in net.state_dict().items():
    assert torch.equal(one["parameters"][name], other["parameters"][name]), name
    torch.testing.assert_close(one["parameters"][name].cpu(), value, rtol=1e-3, atol=1e-5)
print("equal")
"""


@pytest.fixture
def data(tmp_path):
    """Return the path of a file of random images for two workers: four batches of 16 rows and some rows more."""
    random = np.random.RandomState(0)
    images, labels = random.rand(70, 1, 28, 28).astype("float32"), random.randint(10, size=70)
    np.savez(tmp_path / "rows.npz", images=images, labels=labels, test_images=images[:9], test_labels=labels[:9])
    return tmp_path / "rows.npz"


def train(data, *options):
    """Train in two processes that meet at a file and listen on the loopback only."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--rdzv-backend=c10d",
               "--rdzv-conf=store_type=file", f"--rdzv-endpoint={data.parent}/torchrun", "--local-addr=127.0.0.1",
               f"--log-dir={data.parent}", str(SCRIPT), str(data), str(data.parent), "--batch-size=16", *options,
               f"--init-method=file://{data.parent}/workers"]
    return launch({"torchrun": (command, {
        "OMP_NUM_THREADS": 1, "OMP_WAIT_POLICY": "passive", "GLOO_SOCKET_IFNAME": "lo", "NCCL_SOCKET_IFNAME": "lo",
        "NVIDIA_TF32_OVERRIDE": 0, "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": 1})}, timeout=120)


def started(data):
    """Return the processes of the run that reads this file: each has it on its command line."""
    return [process for process in psutil.process_iter(["cmdline"]) if str(data) in (process.info["cmdline"] or [])]


def test_two_processes_are_one(data):
    """After two epochs both workers' parameters are equal, and those of one process with the same batches."""
    train(data, "--epochs=2")
    command = [sys.executable, "-c", ONE_PROCESS, str(SCRIPT.parent), str(data), str(data.parent)]
    assert launch({"one": (command, {"OMP_NUM_THREADS": 1})}, 120)["one"].startswith("equal")


def test_a_killed_worker_is_named(data):
    """A worker that is killed is named and nothing is left; until then all listen on the loopback only."""
    with ThreadPoolExecutor() as pool:
        training = pool.submit(train, data, "--epochs=1000000")
        while not training.done() and len(list(data.parent.glob("worker-*.pt"))) < 2:
            time.sleep(0.1)
        found = started(data)
        addresses = {each.laddr.ip for process in found for each in process.net_connections()
                     if each.status == psutil.CONN_LISTEN}
        victim = next(process for process in found if str(SCRIPT) in process.info["cmdline"][:3])
        victim.kill()
        words = str(training.exception())
    assert addresses == {"127.0.0.1"}
    assert f"Signal 9 (SIGKILL) received by PID {victim.pid}" in words.partition("Failures:")[2]
    assert started(data) == []
