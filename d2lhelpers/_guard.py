"""The guard of one process: ends it, and all that it has started.

A pipe leads to the process that waits for both. It closes when that one lets go or is killed.
"""
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading

ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of Linux: what the command leaves behind becomes the guard's own child


def adopt_orphans():
    """Become the parent of whatever this process's children leave behind. Call it before they start."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)


def guard(number, pipe):
    """Wait until the child of that number ends or `pipe` closes, end all that is left, and return its exit status."""
    threading.Thread(target=kill_when_closed, args=[number, pipe], daemon=True).start()
    _, status = os.waitpid(number, 0)
    while has_children():
        import psutil

        children = psutil.Process().children(recursive=True)
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        psutil.wait_procs(children, timeout=1)
    return os.waitstatus_to_exitcode(status)


def has_children():
    """Return whether this process has any children left that have not ended."""
    try:
        ended, _ = os.waitpid(-1, os.WNOHANG)
        while ended:
            ended, _ = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


def kill_when_closed(number, pipe):
    """Kill the process of that number as soon as the pipe closes."""
    os.read(pipe, 1)
    with contextlib.suppress(ProcessLookupError):
        os.kill(number, signal.SIGKILL)


def leave(status):
    """End this process as another one ended: with its exit status, or by the same signal if that is negative."""
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


if __name__ == "__main__":
    folder, *command = sys.argv[1:]
    sys.path.append(folder)  # psutil's
    adopt_orphans()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    leave(guard(process.pid, pipe=0))
