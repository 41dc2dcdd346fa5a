"""The surroundings of all tests, and of the kernels they start: our own settings, and what this machine can show."""
import atexit
import contextlib
import functools
import os
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings
from jupyter_client.provisioning.local_provisioner import LocalPortCache
from xdist.scheduler import LoadScopeScheduling

from d2lhelpers import configure_engine
from d2lhelpers.surroundings import mxnet_fault, usable_cores

# What a person has set for other programs changes no result here. What makes this processor seem another one stays.
OF_OTHERS = re.compile(r"(MXNET|DMLC|PS|OMP|GOMP|KMP|D2LHELPERS)_|(PY)?TORCH|CUDA_LAUNCH_BLOCKING|MPL|MATPLOTLIB"
                       r"|IPYTHON|JUPYTER|PYTHON(STARTUP|WARNINGS|INSPECT)|.*_(NUM|MAXIMUM)_THREADS$")
LONGEST = 60  # characters of a temporary folder's path: a socket in it has 108


def own_surroundings():
    """Set aside other people's settings, for this process and all that it starts: tests begin with empty folders."""
    for name in filter(OF_OTHERS.match, list(os.environ)):
        del os.environ[name]
    if len(tempfile.gettempdir()) > LONGEST:
        os.environ["TMPDIR"] = tempfile.tempdir = "/tmp"
    place = tempfile.mkdtemp(prefix="tests-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "MPLCONFIGDIR"):
        os.environ[name] = str(Path(place, name.lower()))
        os.mkdir(os.environ[name])
    os.environ["PYTHONUTF8"] = "1"  # nbval opens notebooks without saying in which encoding
    os.environ["PYTHONWARNINGS"] = "ignore:Guards may run slower:RuntimeWarning"  # PyTorch, on Python 3.13.0 alone
    os.environ["D2LHELPERS_WIDGETS"] = "0"
    # In an empty folder matplotlib lists the system's fonts first, and on a slow machine a cell would print that.
    subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], capture_output=True)


if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as for a run in the background, and for all that it would start
    signal.signal(signal.SIGINT, signal.default_int_handler)
if "PYTEST_XDIST_WORKER" not in os.environ:  # the workers inherit them
    own_surroundings()
settings.register_profile("ours", deadline=None, max_examples=60, derandomize=True)  # as many on any machine
settings.load_profile("ours")

# What this machine cannot show is left out, and the last lines of the output say so. In CI a framework may be missing
# only where it cannot be installed.
LEFT_OUT = {}  # what, and why
x86 = platform.machine() in ("x86_64", "AMD64")
could_be = {"mxnet": x86 and sys.version_info < (3, 12), "torch": not (x86 and sys.platform == "darwin")}
fault = {"mxnet": mxnet_fault(), "torch": "" if find_spec("torch") else "it is not installed"}
missing = [name for name in could_be if fault[name] and not (os.environ.get("CI") and could_be[name])]
for name in missing:
    LEFT_OUT[f"the track of {name}"] = fault[name]
if usable_cores() == 1:
    LEFT_OUT["claims about work in parallel"] = "there is one core"
if "mxnet" not in missing:
    with contextlib.redirect_stdout(None):  # the last line of all is the number of tests
        configure_engine(devices=2)
OF_TRACK = {
    "mxnet": ["d2lhelpers/mxnet.py", "d2lhelpers/mxnet_timeline.py", "notebooks/[0-9]*.ipynb", "notebooks/deeper/*",
              "notebooks/scripts/*", "tests/test_mxnet.py", "tests/test_many_machines.py"],
    "torch": ["d2lhelpers/torch*.py", "notebooks/pytorch/*", "tests/test_torch.py"],
}
collect_ignore_glob = ["*/checks/*", "*/answers/*"]  # two packages of one name; no programs, but cells of lessons
collect_ignore_glob += [pattern for name in missing for pattern in OF_TRACK[name]]


@functools.cache
def compiler_fault():
    """Return what the lessons' own probe says of the C++ compiler, when it is asked as they do, in a fresh process."""
    probe = "from d2lhelpers.surroundings import compiler_fault as fault; print(fault())"
    with tempfile.TemporaryDirectory() as cache:
        tried = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, env={
            **os.environ, "TORCHINDUCTOR_CACHE_DIR": cache, "TORCHINDUCTOR_COMPILE_THREADS": "1"})
    return tried.stderr if tried.returncode else tried.stdout.strip()


held = []


def port_for_a_kernel(cache, ip):
    """Return a free port and hold it: nobody else is given it before the kernel, seconds later, listens there."""
    holder = socket.socket()
    holder.bind((ip, 0))
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a kernel sets this too, and may bind the port
    held.append(holder)
    return holder.getsockname()[1]


if sys.platform == "linux":  # elsewhere a port that is held is closed to everybody
    LocalPortCache.find_available_port = port_for_a_kernel


class Schedule(LoadScopeScheduling):
    """Keep the tests of a file together, in one process, but not those that run a whole lesson each."""

    def _split_scope(self, nodeid):
        each = nodeid.startswith(("tests/test_nulls.py", "tests/test_surroundings.py"))
        return nodeid if each else super()._split_scope(nodeid)


def pytest_xdist_auto_num_workers():
    """Let three notebooks run at a time, however many cores there are: much of a lesson is waiting, or measures."""
    return 3


def pytest_xdist_make_scheduler(config, log):
    """Let our own schedule say which process runs what."""
    return Schedule(config, log)


def pytest_configure():
    """Refuse to run where Python skips assertions: every test and every lesson would pass."""
    if sys.flags.optimize:
        raise pytest.UsageError("Python skips every assertion (PYTHONOPTIMIZE or -O), so nothing would be tested: "
                                "unset PYTHONOPTIMIZE")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what is slow, and what may fail on one core."""
    sys.path.append(os.path.join(os.path.dirname(__file__), "tests"))
    from nulls import NULLS, claims

    for item in items:
        if hasattr(item, "cell"):
            tags = set(item.cell.metadata.get("tags", []))
            if tags & {"exercise", "check", "solution"} or item.path.parent.name == "deeper":
                item.add_marker(pytest.mark.slow)
            if usable_cores() == 1 and any(NULLS[name].parallel for name in claims(item.cell) & set(NULLS)):
                item.options["check"] = False
                item.add_marker(pytest.mark.xfail(reason="there is one core", strict=False))


def pytest_runtest_setup(item):
    """Run the cells that need a compiler where there is none, but do not compare what they print."""
    if hasattr(item, "cell") and "needs:compiler" in item.cell.metadata.get("tags", []) and compiler_fault():
        item.options["check"] = False
        LEFT_OUT["what a compiler made"] = compiler_fault()


def pytest_sessionfinish(session):
    """Send home what this worker has left out."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left out"] = LEFT_OUT


def pytest_testnodedown(node):
    """Take what a worker has left out."""
    LEFT_OUT.update(getattr(node, "workeroutput", {}).get("left out", {}))


def pytest_terminal_summary(terminalreporter):
    """Say what was left out, in a line each."""
    for what, why in LEFT_OUT.items():
        terminalreporter.write_line(f"left out: {what}: {why}")


@pytest.fixture(scope="module")
def browser():
    """Return the system's Chromium, without a window; tests that need it are skipped without one, but not in CI."""
    from test_editions import editions

    with contextlib.ExitStack() as stack:
        try:
            chromium = stack.enter_context(editions.chromium())
        except RuntimeError as error:
            (pytest.fail if os.environ.get("CI") else pytest.skip)(str(error))
        yield chromium
