import contextlib
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from d2lhelpers.process import launch

SCRIPT = Path(__file__).parent.parent / "notebooks" / "scripts" / "ddp_worker.py"
LIMIT = 100

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
print("equal, and", "trained" if losses[-1] < losses[0] else "not trained")
"""


@pytest.fixture
def data(tmp_path):
    """A file of random images for two workers: four batches of 16 rows and some rows more."""
    random = np.random.RandomState(0)
    images, labels = random.rand(70, 1, 28, 28).astype("float32"), random.randint(10, size=70)
    return write(tmp_path / "rows.npz", images, labels)


def write(path, images, labels):
    """Write what a worker reads, and return the path."""
    np.savez(path, images=images, labels=labels, test_images=images[:9], test_labels=labels[:9])
    return path


def torchrun(folder, *arguments):
    """Return what `launch` takes to train in two processes that meet at a file and listen on the loopback only."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--rdzv-backend=c10d",
               "--rdzv-conf=store_type=file", f"--rdzv-endpoint={folder}/torchrun", "--local-addr=127.0.0.1",
               f"--log-dir={folder}", SCRIPT, *arguments, f"--init-method=file://{folder}/workers"]
    return [str(word) for word in command], {
        "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "GLOO_SOCKET_IFNAME": "lo", "NCCL_SOCKET_IFNAME": "lo",
        "NVIDIA_TF32_OVERRIDE": "0", "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}


def started(data):
    """Return the processes of the run that reads this file: each has it on its command line."""
    return [process for process in psutil.process_iter(["cmdline"]) if str(data) in (process.info["cmdline"] or [])]


def workers(data):
    """Return those of them that run the script itself."""
    return [process for process in started(data) if process.info["cmdline"][-1:] and "-m" not in process.info["cmdline"]
            and "-c" not in process.info["cmdline"]]


def wait_until(true, what):
    """Wait until a condition holds, and fail past the limit."""
    deadline = time.monotonic() + LIMIT
    while not true():
        assert time.monotonic() < deadline, f"not in {LIMIT} seconds: {what}"
        time.sleep(0.1)


def test_two_processes_are_one(data, tmp_path):
    """After two epochs both workers' parameters are equal, and those of one process with the same batches."""
    launch({"torchrun": torchrun(tmp_path, data, tmp_path, "--batch-size=16", "--epochs=2")}, LIMIT)
    command = [sys.executable, "-c", ONE_PROCESS, SCRIPT.parent, data, tmp_path]
    assert launch({"one process": (command, {"OMP_NUM_THREADS": 1})}, LIMIT)["one process"].startswith("equal, and")


def test_a_failing_worker_is_named(data, tmp_path):
    """The worker that meets a damaged row is named with its own error in torchrun's summary, and nothing is left."""
    with np.load(data) as file:
        images, labels = file["images"][:64], file["labels"][:64]  # full batches only, so that one of them has the row
    images[5] = np.nan
    write(data, images, labels)
    with pytest.raises(RuntimeError, match="torchrun failed with exit status 1") as caught:
        launch({"torchrun": torchrun(tmp_path, data, tmp_path, "--batch-size=16")}, LIMIT)
    summary = str(caught.value).partition("Failures:")[2]
    assert len(set(re.findall(r"FloatingPointError: worker [01]: the loss is nan in step \d of epoch 0", summary))) == 1
    assert started(data) == []


@contextlib.contextmanager
def training(data, folder):
    """Start a process that launches a long training, wait until it is in the middle, and end it afterwards."""
    run = torchrun(folder, data, folder, "--batch-size=16", "--epochs=1000000")
    program = f"from d2lhelpers.process import launch\nlaunch({{'torchrun': {run!r}}}, {LIMIT})"
    with subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True) as caller:
        try:
            wait_until(lambda: all((folder / f"worker-{rank}.pt").exists() for rank in (0, 1)), "an epoch of both")
            yield caller
        finally:
            caller.kill()


@pytest.mark.parametrize("who", ["worker", "caller"])
def test_a_kill_leaves_nothing(data, tmp_path, who):
    """Killing a worker, or the process that waits for both, in the middle leaves no process; the worker is named."""
    with training(data, tmp_path) as caller:
        victim, _ = workers(data) if who == "worker" else (caller, None)
        victim.send_signal(signal.SIGKILL)
        words = caller.communicate(timeout=LIMIT)[1]
        wait_until(lambda: started(data) == [], "all of them ended")
    if who == "worker":
        assert f"Signal 9 (SIGKILL) received by PID {victim.pid}" in words.partition("Failures:")[2]


def test_it_listens_on_the_loopback_only(data, tmp_path):
    """Nothing that a training in two processes starts accepts connections from other machines."""
    with training(data, tmp_path):
        connections = [each for process in started(data) for each in process.net_connections("inet")]
        assert {each.laddr.ip for each in connections if each.status == psutil.CONN_LISTEN} == {"127.0.0.1"}
    wait_until(lambda: started(data) == [], "all of them ended")
