"""The guard of one command: runs it, and ends it with all that it has started.

Its standard input is a pipe, which closes when the launching process lets go or is killed: then the guard kills, too.
"""
import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading

ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of Linux: what the command leaves behind becomes the guard's own child


class Asked:
    """A process that _server.py forks for us, with what a guard needs of `subprocess.Popen`."""

    def __init__(self, address, call):
        self.server = socket.socket(socket.AF_UNIX)
        self.server.connect(address)
        socket.send_fds(self.server, [call.encode()], [1, 2])  # it prints where we do

    def wait(self):
        """Return its exit status, that of a kill if the server itself was killed."""
        return int(self.server.recv(16) or -signal.SIGKILL)

    def kill(self):
        """Close the connection: the server's guard then kills the process."""
        self.server.shutdown(socket.SHUT_WR)


def adopt_orphans():
    """Become the parent of whatever this process's children leave behind: to be called before they start."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)


def guard(process, pipe):
    """Wait until `process` ends or `pipe` closes, end whatever it has left behind, and return its exit status."""
    import psutil

    threading.Thread(target=kill_when_closed, args=[process, pipe], daemon=True).start()
    status = process.wait()
    while children := psutil.Process().children(recursive=True):
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        psutil.wait_procs(children, timeout=1)
    return status


def kill_when_closed(process, pipe):
    """Kill `process` as soon as the pipe closes."""
    os.read(pipe, 1)
    process.kill()


if __name__ == "__main__":
    folder, *command = sys.argv[1:]
    sys.path.append(folder)  # psutil's
    adopt_orphans()
    ask = command[0] == "ask"
    status = guard(Asked(*command[1:]) if ask else subprocess.Popen(command, stdin=subprocess.DEVNULL), pipe=0)
    if status < 0:  # a signal ended the command: the guard ends by the same one
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)
