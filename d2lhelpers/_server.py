"""A process that imports PyTorch once, and then forks: a rank that begins as its copy has nothing left to import."""
import atexit
import contextlib
import importlib
import os
import signal
import socket
import sys

import psutil

from d2lhelpers._guard import adopt_orphans, guard
from d2lhelpers.process import answer


def serve(address, modules):
    """Import the modules, and fork for everyone who asks at `address`: the fork answers the call that it is sent."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        print("ready", flush=True)  # who asks now waits for the imports
        for name in modules.split():
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks that guard others
        while True:
            asker, _ = server.accept()
            if os.fork() == 0:
                break
            asker.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    call, outputs, *_ = socket.recv_fds(asker, 4096, 2)
    adopt_orphans()
    if fork := os.fork():
        asker.send(b"%d" % guard(psutil.Process(fork), asker.fileno()))
        os._exit(0)
    asker.close()
    for number, output in enumerate(outputs, 1):
        os.dup2(output, number)
    answer(call.decode())
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(0)  # without the second that Python takes to unload all imports
