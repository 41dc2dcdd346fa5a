import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import nbformat
import numpy as np
import psutil
import pytest

from d2lhelpers.process import free_port, launch

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
SCRIPT = str(NOTEBOOKS / "scripts" / "kvstore_worker.py")
CELLS = {cell.id: cell.source for cell in nbformat.read(NOTEBOOKS / "07-many-machines.ipynb", 4).cells}
lesson = {"sys": sys, "free_port": free_port, "SCRIPT": SCRIPT, "WORKERS": 2}
exec(CELLS["roles"], lesson)
roles = lesson["roles"]  # the lesson's own function

ALONE = f"""
import sys
sys.path.insert(0, {os.path.dirname(SCRIPT)!r})
import mxnet, numpy
from kvstore_worker import batches, lenet, train_step
from mxnet import gluon, npx

npx.set_np()
npx.random.seed(0)
net = lenet()
net.initialize(mxnet.init.Xavier())
trainer = gluon.Trainer(net.collect_params(), "sgd", {{"learning_rate": 0.2}})
data = numpy.load(sys.argv[1])
for rows in batches(len(data["images"]), 32, 2):
    train_step(net, trainer, data["images"][rows], data["labels"][rows], len(rows))
numpy.savez(sys.argv[2], *[param.data().asnumpy() for param in net.collect_params().values()])
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return the path of a small file of images."""
    path, random = tmp_path_factory.mktemp("data") / "data.npz", np.random.RandomState(0)
    np.savez(path, images=random.uniform(size=(160, 1, 28, 28)).astype("float32"), labels=random.randint(10, size=160))
    return str(path)


@pytest.fixture
def marker(tmp_path):
    """Return variables that mark all processes of a test; after the test none of them may be left."""
    variables = {"MANY_MACHINES": str(tmp_path), "OMP_NUM_THREADS": 1}
    yield variables
    deadline = time.monotonic() + 10
    while (left := marked(variables)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left


def marked(variables, role=None):
    """Return the processes with the marker, or those of them in a role."""
    found = []
    for process in psutil.process_iter():
        try:
            environment = process.environ()
            if environment.get("MANY_MACHINES") == variables["MANY_MACHINES"] and process.status() != "zombie" \
                    and "kvstore_worker.py" in process.cmdline()[1] and role in (None, environment["DMLC_ROLE"]):
                found.append(process)
        except (psutil.Error, IndexError, KeyError):
            continue
    return found


def listening(processes):
    """Return the addresses on which each of the processes listens."""
    ask = "net_connections" if hasattr(psutil.Process, "net_connections") else "connections"  # before psutil 6
    return [{each.laddr.ip for each in getattr(process, ask)("tcp") if each.status == psutil.CONN_LISTEN}
            for process in processes]


def wait_until_all_train(variables):
    """Wait until scheduler, server and two workers listen, and the workers have had time for some steps."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = marked(variables)
        if len(found) == 4 and all(listening(found)):
            time.sleep(1)
            return found
        time.sleep(0.1)
    raise TimeoutError("they did not start")


def parameters(path):
    """Return the parameters in a file of results."""
    with np.load(path) as file:
        return [file[f"arr_{number}"] for number in range(8)]


def test_two_workers_equal_one_process(data, tmp_path, marker):
    """Two workers end with identical copies, which are those of one process that trains with the same batches."""
    processes = roles(data, tmp_path, "--batch-size", 32, "--epochs", 2, **marker)
    processes["alone"] = [sys.executable, "-c", ALONE, data, str(tmp_path / "alone.npz")], {"OMP_NUM_THREADS": 1}
    printed = launch(processes, timeout=120)
    assert printed["worker 0"].splitlines()[-1] == printed["worker 1"].splitlines()[-1] == "step 9 done"
    alone, *workers = (parameters(tmp_path / f"{name}.npz") for name in ("alone", "worker-0", "worker-1"))
    for one, first, second in zip(alone, *workers, strict=True):
        assert (first == second).all()
        assert np.allclose(one, first, atol=1e-5)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupt_leaves_no_process(data, tmp_path, marker, how):
    """Interrupting the cell that trains, or killing its kernel, ends the scheduler, the server and both workers."""
    processes = roles(data, tmp_path, "--epochs", 100_000, **marker)
    program = f"from d2lhelpers.process import launch\nlaunch({processes!r}, timeout=300)"
    kernel = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE)
    wait_until_all_train(marker)
    kernel.send_signal(how)
    assert (b"KeyboardInterrupt" in kernel.communicate(timeout=20)[1]) is (how == signal.SIGINT)


def test_a_killed_worker_is_named(data, tmp_path, marker):
    """A worker that is killed while it trains is named with its signal; until then all listened on 127.0.0.1 only."""
    processes, addresses = roles(data, tmp_path, "--epochs", 100_000, **marker), []
    processes["worker 1"][1]["WHO"] = "worker 1"

    def kill():
        found = wait_until_all_train(marker)
        addresses.extend(listening(found))
        [worker] = [process for process in found if "WHO" in process.environ()]
        worker.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(RuntimeError, match=r"^worker 1 failed with signal SIGKILL; the others were ended\n--- worker 1 "
                                           r"printed:\nstep 0 done\n"):
        launch(processes, timeout=120)
    killer.join()
    assert addresses == [{"127.0.0.1"}] * 4


def test_no_scheduler_is_said_within_seconds(data, tmp_path, marker):
    """A worker whose scheduler is not there ends soon, with a message that names the address."""
    processes, start = roles(data, tmp_path, "--start-limit", 1, workers=1, **marker), time.monotonic()
    words = f"no scheduler answers at 127.0.0.1:{processes['worker 0'][1]['DMLC_PS_ROOT_PORT']} within 1.0 seconds"
    with pytest.raises(RuntimeError, match=rf"worker 0 failed with exit status 1\n(?s:.*){words}"):
        launch({"worker 0": processes["worker 0"]}, timeout=60)
    assert time.monotonic() - start < 30


def test_a_worker_that_waits_too_long_says_where(data, tmp_path, marker):
    """A worker without its server ends itself at the limit, and shows the line where it stood."""
    processes = roles(data, tmp_path, "--start-limit", 5, workers=1, **marker)
    del processes["server 0"]
    with pytest.raises(RuntimeError, match=r"worker 0 failed with exit status 1;(?s:.*)Timeout(?s:.*) in create\n"):
        launch(processes, timeout=60)


SRUN = 'srun() { shift; for n in 0 1 2 3; do SLURM_PROCID=$n "$@" & done; wait; }\n'


@pytest.mark.parametrize(("cell", "workers", "before"), [("hosts-text", 1, ""), ("hosts-slurm", 2, SRUN)],
                         ids=["by-hand", "Slurm"])
def test_the_commands_for_hosts_work(data, tmp_path, marker, cell, workers, before):
    """The commands that the lesson gives for real hosts and for Slurm train, with this machine's address in them."""
    [commands] = re.findall(r"```sh\n(.*?)```", CELLS[cell], re.DOTALL)
    for old, new in {"10.0.0.1": "127.0.0.1", "$(hostname -i)": "127.0.0.1", "9091": str(free_port()),
                     "DMLC_NUM_WORKER=2": f"DMLC_NUM_WORKER={workers}", "python": sys.executable,
                     "kvstore_worker.py data.npz out": f"{SCRIPT} {data} {tmp_path / 'out'} --batch-size 32"}.items():
        assert old in commands or new == "127.0.0.1", old
        commands = commands.replace(old, new)
    launch({"host": (["sh", "-ec", before + commands], marker)}, timeout=120)
    assert len(list((tmp_path / "out").glob("worker-*.npz"))) == workers
