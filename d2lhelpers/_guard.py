"""The guard of one command: runs it, and ends it with all that it has started.

Its standard input is a pipe, which closes when the process that launched it lets go or is killed: then it kills, too.
"""
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading

ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of Linux: what the command leaves behind becomes the guard's own child


def run(command):
    """Run `command` until it ends or the pipe closes, end whatever it has left behind, and return its exit status."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    threading.Thread(target=kill_when_closed, args=[process], daemon=True).start()
    status = process.wait()
    while children := psutil.Process().children(recursive=True):
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        psutil.wait_procs(children, timeout=1)
    return status


def kill_when_closed(process):
    """Kill `process` as soon as the pipe closes."""
    os.read(0, 1)
    process.kill()


if __name__ == "__main__":
    sys.path.append(sys.argv[1])  # psutil's folder
    import psutil
    status = run(sys.argv[2:])
    if status < 0:  # a signal ended the command: the guard ends by the same one
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)
