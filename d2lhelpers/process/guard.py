"""The guard of one process: when that process ends, the guard kills everything that it has started.

A pipe connects the guard with the process that waits for it. When that process closes the pipe or is killed, the guard
kills the process that it guards.
"""
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading

PR_SET_CHILD_SUBREAPER = 36  # of Linux's prctl


def adopt_orphans():
    """Become the parent of all processes that children of this one leave behind; call it before the children start."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def guard(pid, pipe):
    """Wait for the child `pid`, kill it if `pipe` closes, and kill what it leaves behind.

    Return its exit status, and whether it was killed because the pipe closed.
    """
    killed = threading.Event()
    threading.Thread(target=kill_when_closed, args=[pid, pipe, killed], daemon=True).start()
    _, status = os.waitpid(pid, 0)
    if sys.platform != "linux":  # no orphan becomes a child of this process, but many are still in their group
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
    kill_children()
    return os.waitstatus_to_exitcode(status), killed.is_set()


def kill_children():
    """Kill the children of this process, and theirs, until none is left."""
    while has_children():
        import psutil  # not at the top: with -S, Python finds it only once its folder has been added below

        children = psutil.Process().children(recursive=True)
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        psutil.wait_procs(children, timeout=1)


def has_children():
    """Return whether any child of this process is still running."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass  # one that has ended
    except ChildProcessError:
        return False
    return True


def kill_when_closed(pid, pipe, killed):
    """As soon as the pipe closes, set the event `killed` and kill the child `pid`, unless that has ended before."""
    os.read(pipe, 1)
    if not has_ended(pid):
        killed.set()
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def has_ended(pid):
    """Return whether the child `pid` has ended, even if this process has not been told so yet."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True
    except AttributeError:  # macOS, before Python 3.13
        return False


def exit_with_status(status):
    """End this process with the exit status of another one, or by the signal -`status` if the status is negative."""
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


if __name__ == "__main__":
    folder, *command = sys.argv[1:]
    sys.path.append(folder)  # where psutil is
    adopt_orphans()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    status, _ = guard(process.pid, pipe=0)
    exit_with_status(status)
