"""The engine and the data as the lessons take them, in every process that runs tests and in the kernels it starts."""
import contextlib
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
from importlib.util import find_spec

import pytest
from hypothesis import settings
from jupyter_client.provisioning.local_provisioner import LocalPortCache
from xdist.scheduler import LoadScopeScheduling

from d2lhelpers import configure_engine

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as for a run in the background, and for all that it would start
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.pop("D2LHELPERS_DATASET", None)
os.environ["D2LHELPERS_WIDGETS"] = "0"
os.environ["PYTHONWARNINGS"] = "ignore:Guards may run slower:RuntimeWarning"  # PyTorch, on Python 3.13.0 alone
configure_engine(devices=2)
settings.register_profile("house", deadline=None, max_examples=60, derandomize=True)  # no result hangs on the machine
settings.load_profile("house")

# What this machine cannot show is left out, and the last lines of the output say so. In CI a framework may be missing
# only where it cannot be installed.
x86 = platform.machine() in ("x86_64", "AMD64")
could_be = {"mxnet": x86 and sys.version_info < (3, 12), "torch": not (x86 and sys.platform == "darwin")}
missing = [name for name in could_be if not find_spec(name) and not (os.environ.get("CI") and could_be[name])]
cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
compiler = shutil.which(os.environ.get("CXX") or ("clang++" if sys.platform == "darwin" else "g++"))
try_it = [compiler, "-x", "c++", "-fsyntax-only", "-"]
if compiler and subprocess.run(try_it, input=b"#include <vector>", capture_output=True).returncode:
    compiler = None
if " " in sys.prefix:  # PyTorch 2.13 does not quote its own folder when it calls the compiler
    compiler = None
LEFT_OUT = [f"the track of {name}, which is not installed" for name in missing]
if cores == 1:
    LEFT_OUT.append("claims about work in parallel: there is one core")
if not compiler and "torch" not in missing:
    LEFT_OUT.append("what a compiler made: there is no C++ compiler that PyTorch can use here")
OF_TRACK = {
    "mxnet": ["d2lhelpers/mxnet.py", "d2lhelpers/timeline.py", "notebooks/[0-9]*.ipynb", "notebooks/deeper/*",
              "notebooks/scripts/kvstore_worker.py", "tests/test_mxnet.py",
              "tests/test_many_machines.py"],
    "torch": ["d2lhelpers/torch*.py", "notebooks/pytorch/*", "tests/test_torch.py"],
}
collect_ignore_glob = ["*/checks/*"]  # two packages of one name, without doctests
collect_ignore_glob += [pattern for name in missing for pattern in OF_TRACK[name]]


held = []


def port_for_a_kernel(cache, ip):
    """Return a free port and hold it: nobody else is given it before the kernel, seconds later, listens there."""
    holder = socket.socket()
    holder.bind((ip, 0))
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # lets in who says the same, as a kernel does
    held.append(holder)
    return holder.getsockname()[1]


if sys.platform == "linux":  # elsewhere a port that is held is closed to everybody
    LocalPortCache.find_available_port = port_for_a_kernel


class Schedule(LoadScopeScheduling):
    """Keep the tests of a file together, in one process, but not those that run a whole lesson each."""

    def _split_scope(self, nodeid):
        each = nodeid.startswith(("tests/test_nulls.py", "tests/test_surroundings.py"))
        return nodeid if each else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config, log):
    """Let our own schedule say which process runs what."""
    return Schedule(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what is slow; run the cells that need what is not here, but neither compare nor hold what they say."""
    sys.path.append(os.path.join(os.path.dirname(__file__), "tests"))
    from nulls import NULLS, claims

    for item in items:
        if hasattr(item, "cell"):
            tags = set(item.cell.metadata.get("tags", []))
            if tags & {"exercise", "check", "solution"} or item.path.parent.name == "deeper":
                item.add_marker(pytest.mark.slow)
            if not compiler and "needs:compiler" in tags:
                item.options["check"] = False
            if cores == 1 and any(NULLS[name].parallel for name in claims(item.cell) & set(NULLS)):
                item.options["check"] = False
                item.add_marker(pytest.mark.xfail(reason="there is one core", strict=False))


def pytest_terminal_summary(terminalreporter):
    """Say what was left out, in a line each."""
    for each in LEFT_OUT:
        terminalreporter.write_line(f"left out: {each}")


@pytest.fixture(scope="module")
def browser():
    """Return the system's Chromium, without a window; tests that need it are skipped without one, but not in CI."""
    from test_editions import make

    with contextlib.ExitStack() as stack:
        try:
            chromium = stack.enter_context(make.chromium())
        except FileNotFoundError as error:
            (pytest.fail if os.environ.get("CI") else pytest.skip)(str(error))
        yield chromium
