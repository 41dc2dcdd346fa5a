"""Forks of one process that has imported PyTorch: multiprocessing's fork server, with a guard for each fork.

On its own, multiprocessing would run the reader's script again in each new process, and would give every process the
environment variables that were set when the server started.
"""
import contextlib
import multiprocessing
import os
import signal
import sys
import tempfile
import types
from multiprocessing import forkserver, resource_tracker

from .guard import adopt_orphans, exit_with_status, guard

MAX_PATH_CHARS = 70  # characters of a folder's path: multiprocessing adds 32, and a socket's path may have 107 on Linux
OUTPUTS = ".output", ".errors"  # the suffixes of the files that hold what a fork prints
DIED = "died"  # the file that lists the forks that failed without an exception
RAISED = "raised"  # the file that lists the forks that failed with an exception


def start_server(modules, variables, path):
    """Start the fork server, unless it is running. It imports `modules`.

    `variables` are its environment variables, `path` its sys.path. It starts in the root folder, so all paths must be
    absolute: in the current one, a reader's own signal.py would hide the standard library's.
    """
    multiprocessing.get_context("forkserver").set_forkserver_preload(modules)
    with contextlib.ExitStack() as restore:
        unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        restore.callback(signal.pthread_sigmask, signal.SIG_SETMASK, unblocked)  # last, when all is as it was before
        method = multiprocessing.get_start_method(allow_none=True)
        restore.callback(multiprocessing.set_start_method, method, force=True)
        restore.callback(_replace_variables, dict(os.environ))
        restore.callback(os.chdir, os.getcwd())
        restore.callback(setattr, sys, "path", sys.path)
        restore.callback(setattr, tempfile, "tempdir", tempfile.tempdir)
        # Many versions of Python do not pass sys.path on to the server, but all of them read this variable.
        folders = [os.environ.get("PYTHONPATH", ""), *path]
        _replace_variables({**variables, "PYTHONPATH": os.pathsep.join(filter(None, folders))})
        os.chdir("/")
        sys.path = path
        if len(tempfile.gettempdir()) > MAX_PATH_CHARS:
            tempfile.tempdir = "/tmp"
        resource_tracker.ensure_running()  # the server needs it; it must start first, because its start unblocks SIGINT
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        with _reported():
            forkserver.ensure_running()  # with SIGINT blocked, so that no interrupt reaches it


@contextlib.contextmanager
def _reported():
    """Say what it means if the connection to the server is lost."""
    try:
        yield
    except (EOFError, ConnectionError) as error:
        message = "The process from which ranks are forked has ended; standard error shows why."
        raise RuntimeError(message) from error


def _replace_variables(variables):
    """Replace all environment variables of this process with `variables`."""
    for name in os.environ.keys() - variables.keys():
        del os.environ[name]
    os.environ.update(variables)


def start(name, answer, file, variables, path, alive):
    """Start a fork that calls `answer(file)`; it is killed when the other end of the pipe `alive` closes.

    `variables` are its environment variables, `path` its sys.path.

    Raises:
        RuntimeError: The fork server has ended, because an import failed.
    """
    for kind in OUTPUTS:
        file.with_suffix(kind).touch()
    main = sys.modules["__main__"]
    method = multiprocessing.get_start_method(allow_none=True)
    sys.modules["__main__"] = types.ModuleType("__main__")  # multiprocessing would run the real one again
    try:
        fork = multiprocessing.get_context("forkserver").Process(
            target=_fork_and_guard, name=name, args=(answer, file, variables, path, alive), daemon=False)
        with _reported():
            fork.start()
    finally:
        sys.modules["__main__"] = main
        multiprocessing.set_start_method(method, force=True)
    return fork


def _fork_and_guard(answer, file, variables, path, alive):
    """Fork once more: the new process calls `answer(file)`, and this one becomes its guard."""
    if alive.poll():  # the other end is closed: the cell that asked for this process has been interrupted
        return
    os.setsid()  # from now on an interrupt at the keyboard does not reach this process
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)  # forgets one that has come before
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    signal.signal(signal.SIGINT, handler)
    for descriptor, kind in enumerate(OUTPUTS, 1):  # 1 is standard output, 2 is standard error
        os.dup2(os.open(file.with_suffix(kind), os.O_WRONLY), descriptor)
    adopt_orphans()
    fork = os.fork()
    if fork:  # this is the guard
        exit_with_status(_watch(fork, file, alive))
    multiprocessing.set_start_method(None, force=True)  # the system's default, not the fork server's
    _replace_variables(variables)
    sys.path = path
    try:
        answer(file)
    except BaseException:
        _record_failure(RAISED, file)
        raise


def _watch(fork, file, alive):
    """Guard the fork until it ends, and return its exit status, which is 1 if there is no result."""
    status, killed = guard(fork, alive.fileno())
    if status == 0 and not file.with_suffix(".result").exists():
        print("The function ended its process without a result.", file=sys.stderr)
        status = 1
    if status and not killed and multiprocessing.current_process().name not in _failures(RAISED, file.parent):
        _record_failure(DIED, file)
    return status


def _record_failure(how, file):
    """Add this process to the list of the forks that failed in this way: DIED or RAISED."""
    with open(file.with_name(how), "a") as record:
        print(multiprocessing.current_process().name, file=record)


def _failures(how, folder):
    """Return the names of the forks that failed in this way, in the order in which they failed."""
    with open(folder / how, "a+") as record:
        record.seek(0)
        return record.read().splitlines()


def wait_for_first_traceback(forks, folder):
    """Wait until the first of these forks that raised an exception has printed it and ended, but five seconds at most.

    The forks are given by name; their files are in this folder.
    """
    for name in _failures(RAISED, folder)[:1]:
        forks[name].join(5)


def first_failed(folder, default):
    """Return the name of the fork that failed first, of those whose files are in this folder. All must have ended.

    A fork that raises an exception records it before its connections close and make other forks fail. A fork that dies,
    for example of a signal, cannot record anything: its guard does so a moment later. But a lost connection raises an
    exception and kills no fork, so a fork that died was the first.
    """
    failed = _failures(DIED, folder) + _failures(RAISED, folder)
    return failed[0] if failed else default


def printed(file):
    """Return what the fork that was started with this file has printed: its output and its errors."""
    return [file.with_suffix(kind).read_bytes().decode(errors="replace") for kind in OUTPUTS]
