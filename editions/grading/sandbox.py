"""A place in which a stranger's code runs: limits for all its processes, and on Linux namespaces without a network.

On Linux, `unshare` of util-linux gives a run its own processes, mounts and network: it sees no other process, reaches
no address but its own, and may write only into its own folder. Where the system forbids that, `isolated` is False, and
only the limits hold. Either way the code has the rights of the account, so it can read what the account can read.
"""
import contextlib
import fcntl
import functools
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

MAX_PROCESSES = 40  # processes of a run
WATCH_SECONDS = 0.2  # seconds between two looks at a run
NOBODYS = 2**30  # the first unallocated uid
DEVICES = "null", "zero", "full", "random", "urandom"
KEPT = "nosuid", "nodev", "noexec", "noatime", "relatime"  # a mount's flags that a remount has to name again


def threads():
    """Return how many threads this account may have while a run lasts: what it has now, and some per core.

    The system refuses a run more, so that not even code that forks for ever can fill the machine.
    """
    now = 0
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            now += process.num_threads() if process.uids().real == os.getuid() else 0
    return now + 200 + 100 * os.cpu_count()


def command(folder, hidden=()):
    """Return the beginning of a command that runs what follows it with `folder` to write in, without what is hidden."""
    own_user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *own_user, "--mount", "--pid", "--net", "--ipc", "--fork", "--kill-child", "--mount-proc",
            sys.executable, "-I", __file__, str(folder), *map(str, hidden), "--"]


@functools.cache
def isolated(project):
    """Return whether a command can be run that can neither write to the project nor see other processes."""
    if not (shutil.which("unshare") and shutil.which("setpriv")):
        return False
    probe = (f"import os, sys; here = not os.access({str(project)!r}, os.W_OK) and os.getpid() < 9; "
             "sys.exit(0 if here else 'this system allows no isolation')")
    with tempfile.TemporaryDirectory() as folder:
        tried = subprocess.run([*command(folder), sys.executable, "-I", "-c", probe], capture_output=True)
    return tried.returncode == 0


def enter(folder, hidden):
    """Inside the namespaces: let nothing but `folder` be written, hide other folders, and switch the loopback on."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
    mount("--bind", folder, folder)
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, place, _, options = line.split()[:4]
        place = re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), place)
        if place != folder and not re.match(r"/(proc|dev)(/|$)", place):
            flags = [flag for flag in options.split(",") if flag in KEPT]
            with contextlib.suppress(subprocess.CalledProcessError):  # `isolated` looks whether it was enough
                mount("-o", ",".join(["remount", "bind", "ro", *flags]), place)
    for place in hidden:
        if os.path.isdir(place):
            mount("-t", "tmpfs", "none", place)
        else:
            mount("--bind", "/dev/null", place)
    few_devices(Path(folder, "dev"))


def few_devices(place):
    """Replace /dev by a folder, made at `place`, that has no disks and no GPUs."""
    place.mkdir()
    mount("-t", "tmpfs", "none", place)
    for name in DEVICES:
        Path(place, name).touch()
        mount("--bind", f"/dev/{name}", f"{place}/{name}")
    Path(place, "shm").mkdir(mode=0o1777)
    Path(place, "fd").symlink_to("/proc/self/fd")
    mount("--rbind", place, "/dev")


def mount(*arguments):
    """Call the program of this name."""
    subprocess.run(["mount", *arguments], check=True, capture_output=True)


def watch(process, results, limits, stopped):
    """Wait until a process has sent results or has ended; return the limit at which it must be killed, or "".

    The event `stopped` ends the wait, too.
    """
    end = time.monotonic() + limits.seconds
    while not stopped.is_set() and not results.poll(WATCH_SECONDS):
        tree = family(process.pid)
        if time.monotonic() > end:
            return f"it was still running after {limits.seconds:g} seconds"
        if len(tree) > MAX_PROCESSES:
            return f"it started more than {MAX_PROCESSES} processes"
        if sum(resident(each) for each in tree) > limits.memory * 1e9:
            return f"it took more than {limits.memory:g} GB of memory"
    return ""


def family(pid):
    """Return a process and all its descendants."""
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def resident(process):
    """Return the bytes that a process has in memory."""
    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0


def kill_all(pid, folder):
    """Kill a process, its descendants, and every process whose home is `folder`, whoever its parent is by now."""
    for _ in range(9):
        found = [*family(pid), *(each for each in psutil.process_iter() if at_home(each, folder))]
        for each in found:
            with contextlib.suppress(psutil.Error):
                each.kill()
        if not psutil.wait_procs(found, timeout=1) or not found:
            return


def at_home(process, folder):
    """Return whether the home of a process is `folder`."""
    try:
        return process.environ().get("HOME") == str(folder)
    except (psutil.Error, OSError):
        return False


def leave_rights(folder):
    """Return the beginning of a command without any right of an administrator.

    The system does not limit the number of root's processes. So a run that root starts belongs to an
    unallocated account; it keeps the right to read, because Python may be installed where only root can.
    """
    if Path("/proc/self/uid_map").read_text().split()[1] != "0":
        return ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
    account = NOBODYS + os.stat(folder).st_ino % NOBODYS
    for path in [Path(folder), *Path(folder).rglob("*")]:
        os.chown(path, account, account, follow_symlinks=False)
    return ["setpriv", f"--reuid={account}", f"--regid={account}", "--clear-groups", "--no-new-privs",
            "--bounding-set=-all,+dac_read_search", "--inh-caps=-all,+dac_read_search",
            "--ambient-caps=-all,+dac_read_search"]


if __name__ == "__main__":
    end = sys.argv.index("--")
    before = leave_rights(sys.argv[1])
    enter(sys.argv[1], sys.argv[2:end])
    os.execvp("setpriv", [*before, *sys.argv[end + 1:]])
