"""The environment of all tests and of the kernels that they start: fixed settings, and what this machine can show."""
import atexit
import contextlib
import functools
import gc
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
from multiprocessing import forkserver
from pathlib import Path

import pytest
from ablations import ABLATIONS, claims
from hypothesis import settings
from jupyter_client.provisioning.local_provisioner import LocalPortCache
from lessons import LESSONS, SLOW, tags
from nbval.plugin import NbCellError
from xdist.scheduler import LoadScopeScheduling

from d2lhelpers import configure_engine
from d2lhelpers.environment import mxnet_fault, usable_cores

# Variables that a person has set for other programs must change no result here. Variables that make this processor look
# like another one are kept.
OF_OTHERS = re.compile(r"(MXNET|NNVM|DMLC|PS|OMP|GOMP|KMP|D2LHELPERS|JAX|XLA)_|(PY)?TORCH|CUDA_LAUNCH_BLOCKING|MPL"
                       r"|MATPLOTLIB|IPYTHON|JUPYTER|PYTHON(STARTUP|WARNINGS|INSPECT)|.*_(NUM|MAXIMUM)_THREADS$|IN$")
HEADERS = "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS"
MAX_FOLDER_CHARS = 60  # characters of a temporary folder's path, because a socket's path may have no more than 108


def isolate_environment():
    """Remove the user's settings for this process and all that it starts: tests begin with empty settings folders."""
    for name in filter(OF_OTHERS.match, list(os.environ)):
        del os.environ[name]
    if len(tempfile.gettempdir()) > MAX_FOLDER_CHARS:
        os.environ["TMPDIR"] = "/tmp"
        tempfile.tempdir = "/tmp"
    place = tempfile.mkdtemp(prefix="tests-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "MPLCONFIGDIR"):
        os.environ[name] = str(Path(place, name.lower()))
        os.mkdir(os.environ[name])
    profile = Path(os.environ["IPYTHONDIR"], "profile_default")
    profile.mkdir()  # kernels that run at the same time would wait for one another's history
    (profile / "ipython_config.py").write_text("c.HistoryManager.enabled = False\n")
    os.environ["PYTHONUTF8"] = "1"  # nbval opens notebooks without naming their encoding
    os.environ["PYTHONWARNINGS"] = "ignore:Guards may run slower:RuntimeWarning"  # PyTorch, on Python 3.13.0 alone
    os.environ["D2LHELPERS_WIDGETS"] = "0"
    if shutil.which("openssl"):  # PyTorch needs it to know its own headers again
        os.environ[HEADERS] = "1"  # compiled once, in PyTorch's temporary folder: two seconds less for each loop
    # With an empty settings folder matplotlib first lists all fonts; on a slow machine a cell would print that it does.
    subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], capture_output=True)


if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in a background run; what it starts would inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)
if "PYTEST_XDIST_WORKER" not in os.environ:  # the workers inherit this process's environment
    isolate_environment()
settings.register_profile("ours", deadline=None, max_examples=60, derandomize=True)  # the same on any machine
settings.load_profile("ours")

# What this machine cannot show is left out, and the last lines of the output say so. In CI a framework may be missing
# only where it cannot be installed.
LEFT_OUT = {}  # maps what is left out to the reason
x86 = platform.machine() in ("x86_64", "AMD64")
installable = {"mxnet": x86 and sys.version_info < (3, 12), "torch": not (x86 and sys.platform == "darwin")}
installable["jax"] = installable["torch"] and not installable["mxnet"] and sys.version_info >= (3, 11)
fault = {"mxnet": mxnet_fault(), "torch": "" if find_spec("torch") else "it is not installed",
         "jax": "" if find_spec("jax") else "it is not installed (make jax)"}
required = [name for name in installable if installable[name] and os.environ.get("CI")]
missing = [name for name in fault if fault[name] and name not in required]
for name in missing:
    LEFT_OUT["the notebook on JAX" if name == "jax" else f"the track of {name}"] = fault[name]
if usable_cores() == 1:
    LEFT_OUT["claims about work in parallel"] = "there is one core"
if "mxnet" not in missing:
    with contextlib.redirect_stdout(None):  # the number of tests stays the last line of the output
        configure_engine(devices=2)

ROOT = Path(__file__).parent
pytest_plugins = ["one_run", "unchanged"]
FILES_OF_TRACK = {
    "mxnet": ["d2lhelpers/mxnet/*", "notebooks/[0-9]*.ipynb", "tests/test_mxnet.py", "tests/test_many_machines.py"],
    "torch": ["d2lhelpers/torch/*", "notebooks/pytorch/*", "tests/test_torch*.py"],
    "jax": [],  # one deeper notebook
}
for lesson in LESSONS:
    if lesson.framework and lesson.path.parent.name == "deeper":
        FILES_OF_TRACK[lesson.framework].append(lesson.file)
# Checks and scripts have no doctests, and an import of theirs may change what MXNet does; answers are cells of lessons;
# mutants.py needs cosmic-ray; launch.py imports all of JupyterLab; only Sphinx can run its settings.
collect_ignore_glob = ["*/checks_*/*", "*/scripts/*", "*/answers/*", "tests/mutants.py", "editions/lab/*",
                       "editions/site/source/*"]
for name in missing:
    collect_ignore_glob += FILES_OF_TRACK[name]


@functools.cache
def compiler_fault():
    """Return what is wrong with the C++ compiler, or "": the lessons' own test of it, run in a fresh process."""
    probe = ("from d2lhelpers.torch.compiled import empty_cache; folder = empty_cache(); "
             "from d2lhelpers.environment import compiler_fault as fault; print(fault())")
    env = {**os.environ, HEADERS: "0"}
    tried = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, env=env)
    return tried.stderr if tried.returncode else tried.stdout.strip()


holders = []  # the sockets that hold a port


def port_for_a_kernel(cache, ip):
    """Return a free port and hold it, so that no other program gets it before the kernel listens there."""
    holder = socket.socket()
    holder.bind((ip, 0))
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a kernel sets this, too, and so may bind the port
    holders.append(holder)
    return holder.getsockname()[1]


if sys.platform == "linux":  # elsewhere the kernel could not bind a port that is held, either
    LocalPortCache.find_available_port = port_for_a_kernel


# What takes longest, in this order, begins first. Each test of these files runs a lesson or starts many processes.
LONGEST = re.compile("|".join(f"({start})" for start in [
    "notebooks/pytorch/0[17]", "tests/test_editions.*site", "notebooks/0[67]", "tests/test_lab", "tests/test_editions",
    "notebooks/pytorch", "notebooks/0", "tests/test_environment", "tests/test_ablations", "notebooks",
    "tests/test_process", "tests/test_grade"]))
OWN_SCOPE = re.compile("tests/test_(ablations|environment|process)")
SITE = re.compile("tests/test_editions.*(site|page|link|book)")


class Schedule(LoadScopeScheduling):
    """Run the tests of a file in one process, but those that run a lesson, and those of the site, apart from others."""

    def _split_scope(self, nodeid):
        if OWN_SCOPE.match(nodeid):
            return nodeid
        return super()._split_scope(nodeid) + "::site" * bool(SITE.match(nodeid))


def pytest_xdist_auto_num_workers():
    """Run three notebooks at a time, whatever the number of cores: lessons spend much time waiting or measuring."""
    return 3


def pytest_xdist_make_scheduler(config, log):
    """Let `Schedule` decide which process runs which tests."""
    return Schedule(config, log)


def pytest_configure(config):
    """Refuse to run where Python skips assertions: every test and every lesson would pass. Look for no garbage yet."""
    if sys.flags.optimize:
        raise pytest.UsageError("Python skips every assertion (PYTHONOPTIMIZE or -O), so nothing would be tested: "
                                "unset PYTHONOPTIMIZE")
    config.option.loadscopereorder = False  # the order of collection counts, which is ours
    gc.disable()  # until all is collected


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for garbage again when all is collected, but not in what has been imported and collected."""
    result = yield
    gc.freeze()
    gc.enable()
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Put the longest tests first; mark those that are slow, and the cells that may fail on one core."""
    items.sort(key=lambda item: getattr(LONGEST.match(item.nodeid), "lastindex", None) or 99)
    for item in items:
        if hasattr(item.parent, "lesson") and SLOW.search(item.parent.lesson.name):
            item.add_marker(pytest.mark.slow)
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.one_job)
        if hasattr(item, "cell"):
            if tags(item.cell) & {"exercise", "check", "solution"}:
                item.add_marker(pytest.mark.slow)
            if usable_cores() == 1 and any(ABLATIONS[name].parallel for name in claims(item.cell) & set(ABLATIONS)):
                item.options["check"] = False
                item.add_marker(pytest.mark.xfail(reason="there is one core", strict=False))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Accept what a cell that needs a compiler prints where there is none; its assertions must hold all the same."""
    try:
        return (yield)
    except NbCellError as error:
        differs = str(error) == "Cell outputs differ" and "needs:compiler" in tags(item.cell)
        if not (differs and compiler_fault()):
            raise
        LEFT_OUT["what a compiler made"] = compiler_fault()


def pytest_sessionfinish(session):
    """Send what this worker has left out to the main process, and free its kernels' ports."""
    for holder in holders:
        holder.close()
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left out"] = LEFT_OUT


def pytest_testnodedown(node):
    """Receive what a worker has left out."""
    LEFT_OUT.update(getattr(node, "workeroutput", {}).get("left out", {}))


def pytest_terminal_summary(terminalreporter):
    """Print one line for each thing that was left out."""
    for what, why in LEFT_OUT.items():
        terminalreporter.write_line(f"left out: {what}: {why}")


@pytest.fixture(scope="module", autouse=True)
def fork_server():
    """End multiprocessing's fork server after a file: ranks need one that imports PyTorch, grading another one."""
    server = forkserver._forkserver
    modules = server._preload_modules
    yield
    server._stop()
    server.set_forkserver_preload(modules)


@pytest.fixture(scope="module")
def browser():
    """Return the system's Chromium, without a window. Where there is none, tests are skipped, but in CI they fail."""
    from editions import browser as browsers

    with contextlib.ExitStack() as stack:
        try:
            chromium = stack.enter_context(browsers.chromium())
        except RuntimeError as error:
            if os.environ.get("CI"):
                pytest.fail(str(error))
            pytest.skip(str(error))
        yield chromium


@pytest.fixture(scope="module")
def tab(browser):
    """Return one page of the browser for all tests of a file: a new one takes as long as what is shown in it."""
    from editions import browser as browsers

    page = browsers.new_page(browser)
    page.on("dialog", lambda dialog: dialog.accept())  # a notebook that has run asks before it is left
    yield page
    page.close()
