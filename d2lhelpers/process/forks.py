"""Forks of one process that has imported PyTorch: multiprocessing's fork server, with a guard for each fork.

On its own, multiprocessing would run the reader's script again in each new process, and would give every process the
environment variables that were set when the server started.
"""
import contextlib
import gc
import multiprocessing
import os
import signal
import sys
import tempfile
import types
from multiprocessing import forkserver, resource_tracker

from .calls import Outcome, absolute_sys_path, outputs_or_error, result_file, run_stored_call, variables_with, wait_for
from .guard import adopt_orphans, exit_with_status, guard

MAX_PATH_CHARS = 70  # characters of a folder's path: multiprocessing adds 32, and a socket's path may have 107 on Linux
OUTPUTS = ".output", ".errors"  # the suffixes of the files that hold what a fork prints
DIED = "died"  # the file that lists the forks that failed without an exception
RAISED = "raised"  # the file that lists the forks that failed with an exception


def run_forks(stored, modules, timeout):
    """Make stored calls in forks of a process that has imported `modules`, and return each one's output, by name.

    Raises:
        RuntimeError: A fork failed, or the fork server has ended, because an import failed.
        TimeoutError: Some forks were still running `timeout` seconds after all had started.
    """
    start_server(modules)
    forks = {}
    alive, hold = multiprocessing.Pipe(duplex=False)
    try:
        for name, call in stored.items():
            forks[name] = start_fork(name, call, alive)
        noticed, running = wait_for(forks, lambda fork: fork.exitcode, timeout)
        if noticed:
            _wait_for_first_traceback(forks, stored[noticed].file.parent)
    finally:
        hold.close()  # the guards end all forks that are still running
        for fork in forks.values():
            fork.join()
        alive.close()
    failed = noticed and _first_failed(stored[noticed].file.parent, default=noticed)
    statuses = {name: fork.exitcode for name, fork in forks.items()}
    printed = {name: _read_outputs(call.file) for name, call in stored.items()}
    return outputs_or_error(Outcome(failed, running, statuses, printed), timeout)


def start_server(modules):
    """Start the fork server, unless it is running. It imports `modules`, and uses one thread.

    It starts in the root folder: in the current one, a reader's own signal.py would hide the standard library's.
    """
    multiprocessing.get_context("forkserver").set_forkserver_preload(modules)
    path = absolute_sys_path()
    variables = variables_with({"OMP_NUM_THREADS": 1})
    # Many versions of Python do not pass sys.path on to the server, but all of them read this variable.
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), *path]))
    temporary = tempfile.gettempdir()
    if len(temporary) > MAX_PATH_CHARS:
        temporary = "/tmp"
    with _sigint_blocked(), _start_method_kept(), _temporary_process_state(variables, path, temporary, folder="/"):
        resource_tracker.ensure_running()  # the server needs it; it must start first, because its start unblocks SIGINT
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        with _lost_connection_explained():
            forkserver.ensure_running()  # with SIGINT blocked, so that no interrupt reaches it


def start_fork(name, call, alive):
    """Start a fork that makes a stored call; it is killed when the other end of the pipe `alive` closes.

    Raises:
        RuntimeError: The fork server has ended, because an import failed.
    """
    for suffix in OUTPUTS:
        call.file.with_suffix(suffix).touch()
    arguments = call.file, variables_with(call.environment), absolute_sys_path(), alive
    with _start_method_kept(), _without_main_module(), _lost_connection_explained():
        fork = multiprocessing.get_context("forkserver").Process(
            target=_fork_and_guard, name=name, args=arguments, daemon=False)
        fork.start()
    return fork


@contextlib.contextmanager
def _sigint_blocked():
    """Hold back SIGINT, which arrives when all is as it was before."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _start_method_kept():
    """Restore multiprocessing's default start method, which the start of a server or of a process fixes."""
    before = multiprocessing.get_start_method(allow_none=True)
    try:
        yield
    finally:
        multiprocessing.set_start_method(before, force=True)


@contextlib.contextmanager
def _temporary_process_state(variables, path, temporary, folder):
    """Give this process other variables, another sys.path, folder for temporary files, and working folder for a while.

    A new process inherits them.
    """
    before = dict(os.environ), sys.path, tempfile.tempdir, os.getcwd()
    try:
        _set_process_state(variables, path, temporary, folder)
        yield
    finally:
        _set_process_state(*before)


def _set_process_state(variables, path, temporary, folder):
    """Give this process these variables, sys.path, folder for temporary files, and working folder."""
    _replace_variables(variables)
    sys.path = path
    tempfile.tempdir = temporary
    os.chdir(folder)


def _replace_variables(variables):
    """Replace all environment variables of this process with `variables`."""
    for name in os.environ.keys() - variables.keys():
        del os.environ[name]
    os.environ.update(variables)


@contextlib.contextmanager
def _without_main_module():
    """Hide the reader's script from multiprocessing, which would run it again in each new process."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextlib.contextmanager
def _lost_connection_explained():
    """Say what it means if the connection to the server is lost."""
    try:
        yield
    except (EOFError, ConnectionError) as error:
        message = "The process from which ranks are forked has ended; standard error shows why."
        raise RuntimeError(message) from error


def _fork_and_guard(file, variables, path, alive):
    """Fork once more: the new process makes the call that is stored in `file`, and this one becomes its guard."""
    if alive.poll():  # the other end is closed: the cell that asked for this process has been interrupted
        return
    _leave_session()
    _redirect_outputs(file)
    adopt_orphans()
    gc.freeze()  # of what was imported nothing is garbage: a collection in a rank need not look at it
    fork = os.fork()
    if fork:  # this is the guard
        exit_with_status(_watch(fork, file, alive))
    _make_call(file, variables, path)


def _leave_session():
    """Start a new session, which Ctrl-C does not reach, discard a pending SIGINT, and unblock later ones."""
    os.setsid()
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)  # discards a pending one
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    signal.signal(signal.SIGINT, handler)


def _redirect_outputs(file):
    """Let this process and its children write standard output and standard error to files beside `file`."""
    for descriptor, suffix in enumerate(OUTPUTS, 1):  # 1 is standard output, 2 is standard error
        os.dup2(os.open(file.with_suffix(suffix), os.O_WRONLY), descriptor)


def _read_outputs(file):
    """Return what the fork that made the call in `file` has printed: its output and its errors."""
    return [file.with_suffix(suffix).read_bytes().decode(errors="replace") for suffix in OUTPUTS]


def _make_call(file, variables, path):
    """Make the call that is stored in `file`, with these environment variables and this sys.path."""
    multiprocessing.set_start_method(None, force=True)  # the system's default, not the fork server's
    _replace_variables(variables)
    sys.path = path
    try:
        run_stored_call(file)
    except BaseException:
        _record_failure(RAISED, file)
        raise


def _watch(fork, file, alive):
    """Guard the fork until it ends, and return its exit status, which is 1 if there is no result."""
    status, killed = guard(fork, alive.fileno())
    if status == 0 and not result_file(file).exists():
        print("The function ended its process without a result.", file=sys.stderr)
        status = 1
    raised = multiprocessing.current_process().name in _failures(RAISED, file.parent)
    if status and not killed and not raised:
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


def _wait_for_first_traceback(forks, folder):
    """Wait until the first of these forks that raised an exception has printed it and ended, but five seconds at most.

    The forks are given by name; their files are in this folder.
    """
    for name in _failures(RAISED, folder)[:1]:
        forks[name].join(5)


def _first_failed(folder, default):
    """Return the name of the fork that failed first, of those whose files are in this folder. All must have ended.

    A fork that raises an exception records it before its connections close and make other forks fail. A fork that dies,
    for example of a signal, cannot record anything: its guard does so a moment later. But a lost connection raises an
    exception and kills no fork, so a fork that died was the first.
    """
    failed = _failures(DIED, folder) + _failures(RAISED, folder)
    return failed[0] if failed else default
