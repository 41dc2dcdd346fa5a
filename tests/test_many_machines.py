import contextlib
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import numpy as np
import psutil
import pytest

from d2lhelpers.process import free_port, launch

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
SCRIPT = NOTEBOOKS / "scripts" / "kvstore_worker.py"
COMMANDS = [block for path in sorted(NOTEBOOKS.rglob("[0-9]*.ipynb")) for cell in nbformat.read(path, 4).cells
            for block in re.findall(r"```sh\n(.*?)```", cell.source, re.DOTALL) if SCRIPT.name in block]
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
    """Return the path of a small file of images; afterwards no process that was told to read it may be left."""
    path, random = tmp_path / "data.npz", np.random.RandomState(0)
    np.savez(path, images=random.uniform(size=(160, 1, 28, 28)).astype("float32"), labels=random.randint(10, size=160))
    yield path
    assert started(path) == []


def started(data):
    """Return the running processes that have this file on their command line."""
    return [process for process in psutil.process_iter(["cmdline"]) if str(data) in (process.info["cmdline"] or [])]


def roles(data, *options, workers=2):
    """Return what `launch` takes to train with one server: the scheduler, the server and the workers."""
    shared = {"DMLC_PS_ROOT_URI": "127.0.0.1", "DMLC_PS_ROOT_PORT": free_port(), "DMLC_NODE_HOST": "127.0.0.1",
              "DMLC_NUM_SERVER": 1, "DMLC_NUM_WORKER": workers, "OMP_NUM_THREADS": 1}
    return {name: ([sys.executable, str(SCRIPT), str(data), str(data.parent), "--batch-size=32", *options],
                   {"DMLC_ROLE": name.split()[0], **shared})
            for name in ("scheduler", "server 0", *[f"worker {n}" for n in range(workers)])}


@pytest.mark.slow
def test_two_workers_equal_one_process(data):
    """Two workers end with identical copies, which are those of one process that trains with the same batches."""
    alone = [sys.executable, "-c", ALONE, str(data), str(data.parent / "alone.npz")], {"OMP_NUM_THREADS": 1}
    printed = launch({**roles(data, "--epochs=2"), "alone": alone}, timeout=120)
    assert printed["worker 0"].splitlines()[-1] == printed["worker 1"].splitlines()[-1] == "step 9 done"
    one, first, second = (np.load(data.parent / f"{name}.npz") for name in ("alone", "worker-0", "worker-1"))
    for name in one:
        assert (first[name] == second[name]).all()
        np.testing.assert_allclose(one[name], first[name], atol=1e-5)


def test_no_scheduler_is_said(data):
    """A worker whose scheduler is not there ends soon, with a message that names the address."""
    processes = roles(data, "--start-limit=1", workers=1)
    words = f"no scheduler answers at 127.0.0.1:{processes['worker 0'][1]['DMLC_PS_ROOT_PORT']} within 1.0 seconds"
    with pytest.raises(RuntimeError, match=rf"worker 0 failed with exit status 1(?s:.*){words}"):
        launch({"worker 0": processes["worker 0"]}, timeout=60)


@pytest.mark.slow
def test_they_listen_on_the_loopback_only(data):
    """Where DMLC_NODE_HOST says so, scheduler, server and workers accept connections from their own machine alone."""
    addresses = []
    with ThreadPoolExecutor() as pool:
        training = pool.submit(launch, roles(data, "--epochs=100000"), 120)
        while not (training.done() or (len(addresses) == 4 and all(addresses))):
            found = [process for process in started(data) if process.info["cmdline"][1] == str(SCRIPT)]
            with contextlib.suppress(psutil.NoSuchProcess):
                addresses = [{each.laddr.ip for each in process.net_connections() if each.status == psutil.CONN_LISTEN}
                             for process in found]
            time.sleep(0.1)
        for process in found:
            process.kill()
    assert addresses == [{"127.0.0.1"}] * 4


@pytest.mark.slow
@pytest.mark.parametrize("commands", COMMANDS, ids=lambda commands: "Slurm" if "srun" in commands else "by hand")
def test_the_commands_for_hosts_work(data, commands):
    """The commands that the lessons give for real hosts and for Slurm train, with this machine's address in them."""
    workers = 2 if "srun" in commands else 1
    for old, new in {"10.0.0.1": "127.0.0.1", "$(hostname -i)": "127.0.0.1", "9091": str(free_port()),
                     "DMLC_NUM_WORKER=2": f"DMLC_NUM_WORKER={workers}", "python": sys.executable,
                     f"{SCRIPT.name} data.npz out": f"{SCRIPT} {data} {data.parent} --batch-size 32"}.items():
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
