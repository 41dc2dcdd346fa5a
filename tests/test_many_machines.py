import contextlib
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psutil
import pytest
from lessons import LESSONS, NOTEBOOKS

from d2lhelpers.process import free_port, launch

SCRIPT = NOTEBOOKS / "scripts" / "kvstore_worker.py"
COMMANDS = []  # what the lessons tell the reader to type on real hosts
for lesson in LESSONS:
    for cell in lesson.notebook.cells if "deeper" not in lesson.name else []:
        blocks = re.findall(r"```sh\n(.*?)```", cell.source, re.DOTALL)
        COMMANDS += [block for block in blocks if SCRIPT.name in block]
ALONE = f"""
import sys
sys.path.insert(0, {str(SCRIPT.parent)!r})
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


@pytest.fixture
def data(tmp_path):
    """Return the path of a small file of images; check afterwards that no process that reads it is still running."""
    path = tmp_path / "data.npz"
    random = np.random.RandomState(0)
    np.savez(path, images=random.uniform(size=(160, 1, 28, 28)).astype("float32"), labels=random.randint(10, size=160))
    yield path
    assert started(path) == []


def started(data):
    """Return the running processes that have this file on their command line."""
    return [process for process in psutil.process_iter(["cmdline"]) if str(data) in (process.info["cmdline"] or [])]


def listening(process):
    """Return the addresses at which a process accepts connections."""
    return {each.laddr.ip for each in process.net_connections() if each.status == psutil.CONN_LISTEN}


def roles(data, *options, workers=2):
    """Return the commands that `launch` needs to train with a scheduler, one server and some workers."""
    command = [sys.executable, str(SCRIPT), str(data), str(data.parent), "--batch-size=32", *options]
    shared = {"DMLC_PS_ROOT_URI": "127.0.0.1", "DMLC_PS_ROOT_PORT": free_port(), "DMLC_NODE_HOST": "127.0.0.1",
              "DMLC_NUM_SERVER": 1, "DMLC_NUM_WORKER": workers, "OMP_NUM_THREADS": 1}
    names = ["scheduler", "server 0"]
    names += [f"worker {number}" for number in range(workers)]
    return {name: (command, {"DMLC_ROLE": name.split()[0], **shared}) for name in names}


@pytest.mark.slow
def test_two_workers_equal_one_process(data):
    """Two workers end with identical weights, which equal those of one process that trains on the same batches."""
    alone = [sys.executable, "-c", ALONE, str(data), str(data.parent / "alone.npz")], {"OMP_NUM_THREADS": 1}
    printed = launch({**roles(data, "--epochs=2"), "alone": alone}, timeout=120)
    assert printed["worker 0"].splitlines()[-1] == printed["worker 1"].splitlines()[-1] == "step 9 done"
    one = np.load(data.parent / "alone.npz")
    first = np.load(data.parent / "worker-0.npz")
    second = np.load(data.parent / "worker-1.npz")
    for name in one:
        assert (first[name] == second[name]).all()
        np.testing.assert_allclose(one[name], first[name], atol=1e-5)


def test_a_missing_scheduler_is_reported(data):
    """A worker that finds no scheduler ends soon, with a message that names the address."""
    processes = roles(data, "--start-limit=1", workers=1)
    words = f"no scheduler answers at 127.0.0.1:{processes['worker 0'][1]['DMLC_PS_ROOT_PORT']} within 1.0 seconds"
    with pytest.raises(RuntimeError, match=rf"worker 0 failed with exit status 1(?s:.*){words}"):
        launch({"worker 0": processes["worker 0"]}, timeout=60)


@pytest.mark.slow
def test_they_listen_on_the_loopback_only(data):
    """With DMLC_NODE_HOST=127.0.0.1, scheduler, server and workers accept connections from their own machine only."""
    addresses = []
    with ThreadPoolExecutor() as pool:
        training = pool.submit(launch, roles(data, "--epochs=100000"), 120)
        while not training.done():
            found = [process for process in started(data) if process.info["cmdline"][1] == str(SCRIPT)]
            with contextlib.suppress(psutil.NoSuchProcess):
                addresses = [listening(process) for process in found]
            if len(addresses) == 4 and all(addresses):
                break
            time.sleep(0.1)
        for process in found:
            with contextlib.suppress(psutil.NoSuchProcess):  # once one is killed, `launch` ends the others
                process.kill()
    assert addresses == [{"127.0.0.1"}] * 4


@pytest.mark.slow
@pytest.mark.parametrize("commands", COMMANDS, ids=lambda commands: "Slurm" if "srun" in commands else "by hand")
def test_the_commands_for_hosts_work(data, commands):
    """With this machine's address, the commands that the lessons give for real hosts and for Slurm train a network."""
    workers = 2 if "srun" in commands else 1
    replacements = {"10.0.0.1": "127.0.0.1", "$(hostname -i)": "127.0.0.1", "9091": str(free_port()),
                    "DMLC_NUM_WORKER=2": f"DMLC_NUM_WORKER={workers}", "python": sys.executable,
                    f"{SCRIPT.name} data.npz out": f"{SCRIPT} {data} {data.parent} --batch-size 32"}
    for old, new in replacements.items():
        commands = commands.replace(old, new)
    srun = 'srun() { shift; for n in 0 1 2 3; do SLURM_PROCID=$n "$@" & done; wait; }\n'
    launch({"host": (["sh", "-ec", srun + commands], {"OMP_NUM_THREADS": 1})}, timeout=120)
    assert len(list(data.parent.glob("worker-*.npz"))) == workers


def test_the_start_is_fetched_before_any_gradient(tmp_path):
    """Without a checkpoint, `resume` lets the Trainer fetch all parameters, none of which its first step then needs."""
    program = f"""if True:
        import sys
        sys.path.insert(0, {str(SCRIPT.parent)!r})
        from kvstore_worker import lenet, resume
        from mxnet import gluon, npx

        npx.set_np()
        net = lenet()
        net.initialize()
        trainer = gluon.Trainer(net.collect_params(), "sgd", kvstore="local", update_on_kvstore=False)
        print(len(trainer._params_to_init))
        print(resume(net, trainer, sys.argv[1]), len(trainer._params_to_init))"""
    printed = launch({"worker": ([sys.executable, "-c", program, str(tmp_path)], {})}, timeout=120)
    assert printed["worker"] == "8\n0 0\n"
