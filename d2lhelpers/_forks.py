"""Forks of one process that has imported PyTorch: multiprocessing's fork server, with a guard for each fork.

By itself, multiprocessing would run a script again in each new process, and give it the variables of the first.
"""
import contextlib
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import types
from multiprocessing import forkserver, resource_tracker

from d2lhelpers._guard import adopt_orphans, guard, leave

LONGEST = 70  # characters of a folder: multiprocessing adds 32, and Linux allows a socket's address 107
OUTPUTS = ".output", ".errors"  # the endings of the files that hold what a fork prints
DIED, RAISED = "died", "raised"  # the files that name the forks that failed: without an exception, or by one


def start_server(modules, variables, path):
    """Start the fork server unless it runs: it imports `modules`, with these variables and this path for modules.

    It starts in the root folder: in this one, a reader's own signal.py would hide Python's.
    """
    multiprocessing.get_context("forkserver").set_forkserver_preload(modules)
    with contextlib.ExitStack() as restore:
        restore.callback(multiprocessing.set_start_method, multiprocessing.get_start_method(allow_none=True), True)
        restore.callback(_replace_variables, dict(os.environ))
        restore.callback(os.chdir, os.getcwd())
        restore.callback(setattr, sys, "path", sys.path)
        restore.callback(setattr, tempfile, "tempdir", tempfile.tempdir)
        # Many versions of Python do not hand `path` to the server, but all of them read this variable.
        folders = [os.environ.get("PYTHONPATH", ""), *map(os.path.abspath, path)]
        _replace_variables({**variables, "PYTHONPATH": os.pathsep.join(filter(None, folders))})
        os.chdir("/")
        sys.path = path
        if len(tempfile.gettempdir()) > LONGEST:
            tempfile.tempdir = "/tmp"
        resource_tracker.ensure_running()  # which the server needs; its start would unblock what is blocked now
        unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        restore.callback(signal.pthread_sigmask, signal.SIG_SETMASK, unblocked)
        forkserver.ensure_running()  # no interrupt reaches it


def _replace_variables(variables):
    """Let these be the environment variables of this process, and no others."""
    for name in os.environ.keys() - variables.keys():
        del os.environ[name]
    os.environ.update(variables)


def start(name, answer, file, variables, path, alive):
    """Start a fork that calls `answer(file)`; it is ended when the other end of the pipe `alive` closes.

    `variables` are its environment variables, and `path` is where it looks for modules.

    Raises:
        RuntimeError: The fork server did not survive its imports.
    """
    for kind in OUTPUTS:
        file.with_suffix(kind).touch()
    main, method = sys.modules["__main__"], multiprocessing.get_start_method(allow_none=True)
    sys.modules["__main__"] = types.ModuleType("__main__")  # the real one would be run again
    try:
        fork = multiprocessing.get_context("forkserver").Process(
            target=_guarded, name=name, args=(answer, file, variables, path, alive), daemon=False)
        fork.start()
    except (EOFError, ConnectionError) as error:
        message = "The process from which ranks are forked has ended; its own error is on standard error."
        raise RuntimeError(message) from error
    finally:
        sys.modules["__main__"] = main
        multiprocessing.set_start_method(method, force=True)
    return fork


def _guarded(answer, file, variables, path, alive):
    """Fork once more: the new process calls `answer(file)`, and this one is its guard."""
    if alive.poll():  # the other end is closed: whoever asked for this process has been interrupted
        return
    os.setsid()  # from now on an interrupt at the keyboard does not reach it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    for number, kind in enumerate(OUTPUTS, 1):
        os.dup2(os.open(file.with_suffix(kind), os.O_WRONLY), number)
    adopt_orphans()
    fork = os.fork()
    if fork:
        leave(_watch(fork, file, alive))
    multiprocessing.set_start_method(None, force=True)  # the system's default, not that of this process
    _replace_variables(variables)
    sys.path = path
    try:
        answer(file)
    except BaseException:
        _note(RAISED, file)
        raise


def _watch(fork, file, alive):
    """Guard the fork and return its exit status, 1 if there is no result."""
    status = guard(fork, alive.fileno())
    if status == 0 and not file.with_suffix(".result").exists():
        print("The function ended its process without a result.", file=sys.stderr, flush=True)
        status = 1
    if status and multiprocessing.current_process().name not in _noted(RAISED, file.parent):
        _note(DIED, file)
    return status


def _note(how, file):
    """Note that this process has failed, and how."""
    with open(file.with_name(how), "a") as notes:
        print(multiprocessing.current_process().name, file=notes)


def _noted(how, folder):
    """Return the names of the forks that have failed in this way, in their order."""
    with open(folder / how, "a+") as notes:
        notes.seek(0)
        return notes.read().splitlines()


def first_failed(folder, otherwise):
    """Return the name of the fork that failed first, of those whose files are in this folder.

    A fork notes its exception before its connections close, which makes other forks fail. One that is killed cannot
    note anything. Its guard does so a moment later, but no lost connection ends a process like that: it was the first.
    """
    time.sleep(0.2)
    return [*_noted(DIED, folder), *_noted(RAISED, folder), otherwise][0]


def printed(file):
    """Return what the fork that was given this file has printed: its output, and its errors."""
    return [file.with_suffix(kind).read_bytes().decode(errors="replace") for kind in OUTPUTS]
