"""Run cells in a kernel of their own, in a sandbox: nbclient does it, in a process that can be killed."""
import contextlib
import multiprocessing
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

from nbformat.v4 import new_code_cell, new_notebook

from . import sandbox
from .feedback import line_of_error
from .limited import SERVER
from .remarks import say

MAX_TEXT_CHARS = 4000  # characters of a text that are kept at its beginning, and as many at its end
MAX_FILE_BYTES = 2**30  # bytes of one file that a run may write
MAX_CPU_SECONDS = 3600  # seconds of the processor for one process: it ends even if nobody watches it any more
PASSED_ON = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SSL_CERT_FILE",
             "D2LHELPERS_DATASET", "D2LHELPERS_DATA_DIR")
STOPPED = threading.Event()


def stop():
    """End all runs, and let no other begin."""
    STOPPED.set()


class RunLimits(NamedTuple):
    """What a run may take: seconds, and GB of memory for all its processes together; and whether it is isolated."""

    seconds: float = 300
    memory: float = 4
    isolated: bool = True


class Place(NamedTuple):
    """Where runs begin: a folder with a copy of what lessons import, `notebooks`, and an empty `home`."""

    folder: Path
    isolated: bool


class Run(NamedTuple):
    """The cells to run, the run's own folder, and the folder below it in which they run."""

    sources: list
    folder: Path
    where: Path


@contextlib.contextmanager
def prepared(lessons, isolated, translate=lambda folder: None):
    """Yield a Place that is made of the lessons' folder and `translate`, called with it; it is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="grade-") as folder:
        place = Place(Path(folder), isolated)
        copy = place.folder / "notebooks"
        shutil.copytree(lessons, copy, ignore=shutil.ignore_patterns("*.ipynb", "__pycache__", ".*", "img", "*.md"))
        translate(copy)
        home = place.folder / "home"
        home.mkdir()
        # With an empty settings folder matplotlib first lists all fonts, which takes seconds.
        subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], env=environment(home), cwd=home,
                       capture_output=True)
        yield place


def environment(home):
    """Return the environment variables of a run: a few of this process's own, and folders in its home."""
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    own = {"TMPDIR": home.parent / "tmp", "IPYTHONDIR": home / "ipython", "MPLCONFIGDIR": home / "matplotlib",
           "JUPYTER_CONFIG_DIR": home / "jupyter", "JUPYTER_DATA_DIR": home / "jupyter",
           "JUPYTER_RUNTIME_DIR": home / "jupyter", "XDG_CACHE_HOME": home / "cache"}
    return kept | {name: str(path) for name, path in own.items()} | {
        "HOME": str(home), "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1", "D2LHELPERS_WIDGETS": "0"}


def run(sources, where, place, limits):
    """Run cells from the top in the folder `where` of the lessons; return each cell's outputs, and what ended the run.

    A cell that was not run has no outputs. What ended the run is a remark, or None if the last cell was run.
    """
    if STOPPED.is_set():
        raise InterruptedError("the grading was interrupted")
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="grade-", ignore_cleanup_errors=True)))
        groups = []
        with contextlib.suppress(*([] if place.isolated else [OSError])):
            groups = stack.enter_context(sandbox.control_groups(int(1e9 * limits.memory)))
        (folder / "kernel").mkdir()
        if not place.isolated:
            shutil.copytree(place.folder, folder, dirs_exist_ok=True)
            (folder / "tmp").mkdir()
        receiver, sender = SERVER.Pipe(duplex=False)
        own = Run(sources, folder, folder / "notebooks" / where)
        process = SERVER.Process(target=execute, args=[own, place, limits, groups, sender], daemon=True)
        process.start()
        sender.close()
        ended = say("its process was ended")
        outputs, reason = [], None
        try:
            reason = sandbox.watch(process, receiver, limits, folder, STOPPED)
            if STOPPED.is_set():
                raise InterruptedError("the grading was interrupted")
            if not reason:
                outputs, ended = receiver.recv()
        except EOFError:
            pass
        finally:
            sandbox.kill_all(process.pid, folder / "home")
            process.join()
            receiver.close()
        if sandbox.ran_out_of_memory(groups):
            reason = sandbox.out_of_memory(limits)
        missing = [[]] * (len(sources) - len(outputs))
        return outputs + missing, reason or ended


def execute(own, place, limits, groups, sender):
    """In a process of its own: run cells, and send their outputs and what ended the run."""
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    for group in groups:
        (group / "cgroup.procs").write_text(str(os.getpid()))
    os.setsid()
    threading.Thread(target=end_with_parent, args=[own.folder / "home"], daemon=True).start()
    system_limits = {resource.RLIMIT_FSIZE: MAX_FILE_BYTES, resource.RLIMIT_CORE: 0,
                     resource.RLIMIT_CPU: MAX_CPU_SECONDS, resource.RLIMIT_DATA: int(2e9 * limits.memory),
                     resource.RLIMIT_NPROC: sandbox.threads()}
    for what, most in system_limits.items():
        resource.setrlimit(what, (most, most))
    manager = AsyncKernelManager(transport="ipc", ip=str(own.folder / "kernel" / "k"),  # no network, so no ports
                                 connection_file=str(own.folder / "kernel" / "kernel.json"))
    kernel = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    size = int(1e9 * limits.memory)
    start = sandbox.command(place.folder, own.folder, own.where, size) if place.isolated else []
    manager.kernel_spec.argv = [*start, *kernel]
    notebook = new_notebook(cells=[new_code_cell(source) for source in own.sources])
    where = str(own.folder if place.isolated else own.where)
    client = NotebookClient(notebook, km=manager, timeout=None, allow_errors=True,
                            resources={"metadata": {"path": where}})
    variables = environment(own.folder / "home")
    path = [str(own.where), variables.get("PYTHONPATH")]  # checks are found in whatever folder an answer goes to
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    ended = None
    try:
        client.execute(env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except Exception as error:  # of the kernel or of nbclient: no check after it counts
        ended = say("its process was ended ({error})", error=type(error).__name__)
    sender.send(([[clipped(output) for output in few(cell.outputs)] for cell in notebook.cells], ended))


def end_with_parent(home):
    """Kill this run as soon as the program that started it has ended, for whatever reason."""
    multiprocessing.parent_process().join()
    sandbox.kill_all(os.getpid(), home)
    os._exit(1)


def few(outputs):
    """Return the first and the last outputs of a cell."""
    return outputs if len(outputs) <= 40 else [*outputs[:20], *outputs[-20:]]


def clipped(output):
    """Return an output of a cell as a dictionary without pictures, whose texts are not too long."""
    if output.output_type == "stream":
        return {"output_type": "stream", "name": output.name, "text": shortened(output.text)}
    if output.output_type == "error":
        return {"output_type": "error", "ename": shortened(output.ename), "evalue": shortened(output.evalue),
                "line": line_of_error(output.traceback)}
    text = shortened(output.data.get("text/plain", ""))
    return {"output_type": output.output_type, "data": {"text/plain": text}, "metadata": {}}


def shortened(text):
    """Return a text without its middle if it is too long."""
    text = str(text)
    return text if len(text) <= 2 * MAX_TEXT_CHARS else f"{text[:MAX_TEXT_CHARS]}\n[...]\n{text[-MAX_TEXT_CHARS:]}"
