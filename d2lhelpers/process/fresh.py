"""Functions in fresh processes, and commands side by side. No process outlives the cell that waits for it."""
import contextlib
import errno
import functools
import os
import pickle
import re
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cloudpickle
import psutil

from . import guard

# -I keeps variables that are meant for the command, such as PYTHONHOME, from changing the guard; -S starts it faster.
GUARD = [sys.executable, "-I", "-S", guard.__file__, Path(psutil.__file__).parents[1]]
# The variables that decide how many threads a library uses, and on which cores. Of these a new process inherits only
# OMP_NUM_THREADS, which the lessons set: the others were set for other programs.
THREADS = re.compile(r"(?!OMP_NUM_THREADS$)(OMP_|GOMP_|.*_(NUM|MAXIMUM)_THREADS$|(OMP|MKL|KMP)_(DYNAMIC|AFFINITY)$)")
LIMIT = 120  # seconds that a call may take, unless it is told otherwise
CHILD = ("import sys; sys.path[:] = sys.argv[2:]; "
         "from d2lhelpers.process.fresh import run_stored_call; run_stored_call(sys.argv[1])")


def launch(commands, timeout=60):
    r"""Run several commands side by side until all have ended, and return what each one printed, by name.

    `commands` maps each name to (command, variables): a list of strings, and the environment variables to set for it;
    None removes one. Of the variables that control threads, a command inherits only OMP_NUM_THREADS. `timeout` is in
    seconds, for all commands together. Both errors show what each command printed. Lesson: 07-many-machines.

    Raises:
        RuntimeError: A command failed. The message says which one and how; the others have been stopped.
        TimeoutError: Some commands were still running at the limit. The message names them; they have been stopped.

    >>> program = "import os; print('I am', os.environ['ROLE'])"
    >>> launch({role: ([sys.executable, "-c", program], {"ROLE": role}) for role in ("server", "worker")})
    {'server': 'I am server\n', 'worker': 'I am worker\n'}
    """
    guards = {}
    files = {}
    with contextlib.ExitStack() as stack:
        try:
            for name, (command, variables) in commands.items():
                output = stack.enter_context(tempfile.TemporaryFile())
                errors = stack.enter_context(tempfile.TemporaryFile())
                files[name] = output, errors
                guards[name] = subprocess.Popen(
                    [*GUARD, *map(str, command)], stdin=subprocess.PIPE, stdout=output, stderr=errors,
                    env=variables_with(variables), start_new_session=True)  # so that an interrupt does not reach it
            running, failed = wait_for(guards, subprocess.Popen.poll, timeout)
        finally:
            for process in guards.values():
                process.stdin.close()
            for process in guards.values():
                process.wait()
        printed = {name: (_read(output), _read(errors)) for name, (output, errors) in files.items()}
    raise_if_failed(failed, {name: process.returncode for name, process in guards.items()}, running, timeout, printed)
    return {name: output for name, (output, _) in printed.items()}


def variables_with(changes):
    """Return a new process's variables: this one's, except thread settings, with `changes`; None removes one."""
    inherited = {name: value for name, value in os.environ.items() if not THREADS.match(name)}
    return {name: str(value) for name, value in {**inherited, **changes}.items() if value is not None}


def wait_for(processes, exit_status, timeout):
    """Wait until all have ended, one has failed or time is up; return the names of the running and of the failed."""
    deadline = time.monotonic() + timeout
    while True:
        statuses = {name: exit_status(process) for name, process in processes.items()}
        running = [name for name, status in statuses.items() if status is None]
        failed = [name for name, status in statuses.items() if status]
        if failed or not running or time.monotonic() > deadline:
            return running, (failed[0] if failed else None)
        time.sleep(0.005)


def _read(file):
    """Return all that a process has written to an open file, as text."""
    file.seek(0)
    return file.read().decode(errors="replace")


def raise_if_failed(failed, statuses, running, timeout, printed):
    """Raise an error if a process failed or some were running too long; show what each one printed."""
    words = ""
    for name in sorted(printed, key=lambda name: name != failed):  # the failed one first
        output, errors = printed[name]
        words += f"\n--- {name} printed:\n{output}{errors}".rstrip()
    if failed:
        status = statuses[failed]
        how = f"exit status {status}" if status > 0 else f"signal {signal.Signals(-status).name}"
        others = "; the others were ended" if len(printed) > 1 else ""
        raise RuntimeError(f"{failed} failed with {how}{others}{words}")
    if running:
        raise TimeoutError(f"{' and '.join(running)} took more than {timeout} seconds and had to be stopped{words}")


def free_port():
    """Return the number of a free port of 127.0.0.1. Lesson: 07-many-machines.

    It is below the range from which most systems pick a port for a program that asks for any, so nobody takes it by
    chance before you use it.
    """
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise


def in_fresh_process(function, *arguments, timeout=LIMIT, **environment):
    """Call `function(*arguments)` in a fresh Python process and return its result.

    A framework reads its settings once, when it starts, so an experiment with other settings needs its own process.
    `environment` sets environment variables there; None removes one. cloudpickle copies the function, what it uses from
    the notebook, its arguments and its result. MXNet's NumPy semantics are on there if they are on here. MXNet arrays
    arrive on cpu(0). Gluon networks cannot be copied: create them in the function. Lesson: 01-imperative-and-symbolic.

    Raises:
        RuntimeError: The function raised an exception, whose traceback the message shows, or gave no result.
        TimeoutError: It took more than `timeout` seconds.

    >>> def engine():
    ...     return os.environ["MXNET_ENGINE_TYPE"]
    >>> in_fresh_process(engine, MXNET_ENGINE_TYPE="NaiveEngine")
    'NaiveEngine'
    """
    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    name = getattr(inner, "__name__", type(inner).__name__)
    return in_fresh_processes({name: (function, arguments, environment)}, timeout)[name]


def in_fresh_processes(calls, timeout=LIMIT):
    """Call functions side by side, each in a fresh process, and return their results by name: see `in_fresh_process`.

    `calls` maps each name to (function, arguments, environment).

    Raises:
        RuntimeError, TimeoutError: As for `in_fresh_process`. The message names the call; the others have been stopped.
    """
    def run(stored):
        start = [sys.executable, "-c", CHILD]
        commands = {name: ([*start, file, *absolute_path()], own) for name, (file, own) in stored.items()}
        return launch(commands, timeout)

    return run_calls(calls, run)


def absolute_path():
    """Return sys.path for another process, which may start in another folder.

    Python's own folders come first: a reader's signal.py must not hide the standard library's.
    """
    library = os.path.dirname(os.__file__)
    own = library, os.path.join(library, "lib-dynload")
    return sorted(map(os.path.abspath, sys.path), key=lambda folder: folder not in own)


def run_calls(calls, run):
    """Store each call in a file, run all of them with `run`, print their output, and return their results by name.

    `run` is called with (file, environment) by name, and returns what each process printed, by name.
    """
    numpy_semantics = "mxnet" in sys.modules and sys.modules["mxnet"].util.is_np_array()
    stored = {}
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (function, arguments, environment) in calls.items():
            file = Path(folder, str(len(stored)))
            file.write_bytes(pickle.dumps(numpy_semantics) + cloudpickle.dumps((function, arguments)))
            stored[name] = file, environment
        printed = run(stored)
        print(*printed.values(), sep="", end="")
        for name, (file, _) in stored.items():
            result = file.with_suffix(".result")
            if not result.exists():
                raise RuntimeError(f"{name} ended its process without a result")
            results[name] = pickle.loads(result.read_bytes())
    return results


def run_stored_call(file):
    """Run the call that is stored in `file`, and store its result beside it. This runs in the new process."""
    with open(file, "rb") as call:
        if pickle.load(call):  # NumPy semantics
            import mxnet
            mxnet.npx.set_np()
        function, arguments = pickle.load(call)
    Path(file).with_suffix(".result").write_bytes(cloudpickle.dumps(function(*arguments)))
