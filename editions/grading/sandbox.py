"""A place in which a stranger's code runs: bubblewrap isolates it, and limits hold for all its processes together.

bubblewrap builds a system of which a run sees only Python, its packages and a copy of what lessons import, all
read-only. What it may write lies in memory, in file systems of a fixed size. It has no network, sees no process or
socket of yours, and has no rights of an administrator, even if root grades. It still shares the kernel: bubblewrap's
own advice is to keep that up to date, and not to take a sandbox for a machine of its own.
"""
import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from .remarks import Limit, say

MAX_PROCESSES = 40  # processes of a run
MAX_TASKS = 200 + 100 * os.cpu_count()  # threads of a run
GROUPS = Path("/sys/fs/cgroup")  # of older systems: a folder for each kind of limit, such as pids
MAX_FOLDER_BYTES = 2**30  # bytes that a run may write to the disk
WATCH_SECONDS = 0.2  # seconds between two looks at a run
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/fonts", "/etc/group",
          "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types", "/etc/passwd", "/etc/ssl", "/sys/devices/system/cpu")
PROJECT = Path(__file__).parents[2]
GIVEN = "/given"  # where a run finds what is copied into its folder
NOBODY = "65534"
SHELL = (f'cp -r {GIVEN}/. "$0" 2>/dev/null; mkdir "$0/tmp" && cd "$1" && shift && '
         'unset JPY_PARENT_PID && exec "$@"')  # with it, a kernel would end because its parent is not the one it knows


def threads():
    """Return how many threads this account may have while a run lasts: what it has now, and some per core.

    The system refuses a run more, so that not even code that forks for ever can fill the machine. Root has no such
    limit: see `control_groups`.
    """
    now = 0
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            now += process.num_threads() if process.uids().real == os.getuid() else 0
    return now + MAX_TASKS


@contextlib.contextmanager
def control_groups(memory):
    """Yield control groups: a process that joins each, and all that it starts, obey limits of threads and of memory.

    Only root can make such groups: for other accounts the list is empty. The system keeps a process from taking much
    more than `memory` bytes between two looks at it (see `watch`).

    Raises:
        OSError: This system lets not even root limit threads so.
    """
    kinds = [GROUPS / kind for kind in ("pids", "memory") if (GROUPS / kind).is_dir()] or [GROUPS]
    limits = {"pids.max": MAX_TASKS, "memory.max": memory * 3 // 2, "memory.limit_in_bytes": memory * 3 // 2}
    made = []
    try:
        for kind in [] if os.geteuid() else kinds:
            made.append(Path(tempfile.mkdtemp(prefix="grade-", dir=kind)))
            for name in limits.keys() & {path.name for path in made[-1].iterdir()}:
                (made[-1] / name).write_text(str(limits[name]))
        if made and not any((group / "pids.max").exists() for group in made):
            raise OSError("its control groups do not count processes")
        yield made
    finally:
        for group in made:
            for _ in range(50):  # until the last process has ended
                with contextlib.suppress(OSError):
                    group.rmdir()
                    break
                time.sleep(0.1)


def ran_out_of_memory(groups):
    """Return whether the system has ended a process of these control groups because they reached their memory."""
    files = [group / name for group in groups for name in ("memory.events", "memory.oom_control")]
    return any(re.search("^oom_kill [1-9]", path.read_text(), re.MULTILINE) for path in files if path.exists())


def command(given, folder, where, memory):
    """Return the beginning of a command that runs what follows it in isolation, in `where` below its folder.

    `given` has the folders `home` and `notebooks`, which are copied into `folder`; what lessons import from there stays
    read-only. Of `folder` the run shares only `kernel` with this system. `memory` is the size of all it may write, in
    bytes, for each of its three file systems.
    """
    size = ["--size", str(memory)]
    isolate = ["--unshare-all", "--unshare-user", "--disable-userns", "--uid", NOBODY, "--gid", NOBODY,
               "--cap-drop", "ALL", "--new-session", "--die-with-parent", "--hostname", "sandbox"]
    # All of /proc is read-only: files of the system's there belong to root, and root may be the one that grades.
    mounts = ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev", *size, "--tmpfs", "/dev/shm",
              "--remount-ro", "/dev", *size, "--tmpfs", "/tmp"]
    for path in (*SYSTEM, *python_folders()):
        mounts += ["--ro-bind-try", path, path]
    mounts += [*size, "--tmpfs", str(folder), "--ro-bind", str(given), GIVEN,
               "--bind", str(folder / "kernel"), str(folder / "kernel")]
    for checks in sorted((given / "notebooks").glob("**/checks_*")):
        mounts += ["--ro-bind", str(checks), str(folder / checks.relative_to(given))]
    return ["bwrap", *isolate, *mounts, "--remount-ro", "/", "--", "sh", "-c", SHELL, str(folder), str(where)]


def python_folders():
    """Return the folders that Python, its packages and the project's helpers need, and those that variables name."""
    named = [os.environ.get(name, "") for name in ("LD_LIBRARY_PATH", "D2LHELPERS_DATASET", "D2LHELPERS_DATA_DIR")]
    named = filter(os.path.isabs, ":".join(named).split(":"))
    found = [sys.prefix, sys.base_prefix, str(PROJECT / "d2lhelpers"), *named]
    return list(dict.fromkeys([*found, *map(os.path.realpath, found)]))


@functools.cache
def fault():
    """Return why this system isolates nothing, as a remark, or None."""
    if not shutil.which("bwrap"):
        return say("bubblewrap is not installed: on Linux, install the package bubblewrap")
    with tempfile.TemporaryDirectory() as folder:
        given, own = Path(folder, "given"), Path(folder, "own")
        for made in (given / "home", given / "notebooks", own / "kernel"):
            made.mkdir(parents=True)
        probe = [*command(given, own, own / "notebooks", 2**20), sys.executable, "-c", "import d2lhelpers"]
        tried = subprocess.run(probe, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if tried.returncode:
        return say("bubblewrap (0.8 or newer) cannot isolate here: {error}", error=tried.stderr.strip()[-200:])
    try:
        with control_groups(2**30):
            return None
    except OSError as error:
        return say("root's processes cannot be limited here ({error}): use another account", error=error)


def watch(process, results, limits, folder, stopped):
    """Wait until a process has sent results or has ended; return the Limit at which it must be killed, or None.

    `folder` is where it writes. The event `stopped` ends the wait, too.
    """
    end = time.monotonic() + limits.seconds
    while not stopped.is_set() and not results.poll(WATCH_SECONDS):
        tree = family(process.pid)
        if len(tree) > MAX_PROCESSES:
            return Limit(*say("it started more than {number} processes", number=MAX_PROCESSES))
        if time.monotonic() > end:
            return Limit(*say("it was still running after {seconds:g} seconds", seconds=limits.seconds))
        if memory_of(tree, folder, limits.memory * 1e9) > limits.memory * 1e9:
            return out_of_memory(limits)
        if sum(size_of(path) for path in folder.rglob("*")) > MAX_FOLDER_BYTES:
            return Limit(*say("it wrote more than {size:g} GB", size=MAX_FOLDER_BYTES / 2**30))
    return None


def out_of_memory(limits):
    """Return the Limit that a run has reached if it takes too much memory."""
    return Limit(*say("it took more than {memory:g} GB of memory", memory=limits.memory))


def family(pid):
    """Return a process and all its descendants."""
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def memory_of(tree, folder, enough):
    """Return the bytes that processes use: resident, in files without a name, and in their file systems in memory.

    What processes share is counted once, but only if the sum could be more than `enough`: that takes longer.
    """
    unnamed = {}
    systems = {}
    for process in tree:
        with contextlib.suppress(OSError):
            for entry in os.scandir(f"/proc/{process.pid}/fd"):
                with contextlib.suppress(OSError):
                    if os.readlink(entry.path).startswith("/memfd:"):
                        found = os.stat(entry.path)
                        unnamed[found.st_ino] = found.st_blocks * 512
        for place in (folder, "/tmp", "/dev/shm"):
            with contextlib.suppress(OSError):
                root = f"/proc/{process.pid}/root{place}"
                device = os.stat(root).st_dev
                if device not in systems:
                    systems[device] = os.statvfs(root) if device != os.stat(place).st_dev else None
    written = sum((each.f_blocks - each.f_bfree) * each.f_frsize for each in systems.values() if each)
    total = written + sum(unnamed.values()) + sum(memory(process, exact=False) for process in tree)
    if total > enough:
        total = written + sum(unnamed.values()) + sum(memory(process, exact=True) for process in tree)
    return total


def memory(process, exact):
    """Return the bytes that a process has in memory; `exact` counts a share of what it shares, and no shared memory."""
    with contextlib.suppress(OSError, KeyError):
        if exact:
            lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
            sizes = {line.split(":")[0]: 1024 * int(line.split()[1]) for line in lines if line.startswith("Pss")}
            return sizes["Pss"] - sizes["Pss_Shmem"]
    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0


def size_of(path):
    """Return the bytes that a file takes on the disk; 0 if it has gone."""
    try:
        return path.lstat().st_blocks * 512
    except OSError:
        return 0


def kill_all(pid, folder):
    """Kill a process, its descendants, and every process whose home is `folder`, but not the one that calls this.

    Their process groups are killed as a whole: code that forks for ever starts processes faster than they are found.
    """
    for _ in range(9):
        found = {*family(pid), *(each for each in psutil.process_iter() if at_home(each, folder))} - {psutil.Process()}
        if not found:
            break
        for each in found:
            with contextlib.suppress(psutil.Error, OSError):
                if each.is_running() and os.getpgid(each.pid) != os.getpgrp():
                    os.killpg(os.getpgid(each.pid), signal.SIGKILL)
                each.kill()
        psutil.wait_procs(found, timeout=1)


def at_home(process, folder):
    """Return whether the home of a process is `folder`."""
    try:
        return process.environ().get("HOME") == str(folder)
    except (psutil.Error, OSError):
        return False
