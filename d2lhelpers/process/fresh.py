"""Functions in fresh processes, and commands side by side. No process outlives the cell that waits for it."""
import contextlib
import errno
import functools
import secrets
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil

from . import guard
from .calls import LIMIT, Call, Outcome, absolute_sys_path, outputs_or_error, run_calls, variables_with, wait_for

# -I keeps variables that are meant for the command, such as PYTHONHOME, from changing the guard; -S starts it faster.
GUARD = [sys.executable, "-I", "-S", guard.__file__, Path(psutil.__file__).parents[1]]
CHILD = ("import sys; sys.path[:] = sys.argv[2:]; "
         "from d2lhelpers.process.calls import run_stored_call; run_stored_call(sys.argv[1])")


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
                guards[name] = _start_guarded(command, variables, output, errors)
            failed, running = wait_for(guards, subprocess.Popen.poll, timeout)
        finally:
            for each in guards.values():
                each.stdin.close()  # a guard whose command is still running ends it
            for each in guards.values():
                each.wait()
        printed = {name: (_read(output), _read(errors)) for name, (output, errors) in files.items()}
    statuses = {name: each.returncode for name, each in guards.items()}
    return outputs_or_error(Outcome(failed, running, statuses, printed), timeout)


def _start_guarded(command, variables, output, errors):
    """Start a command that writes to these two files, and return its guard, which has the command's exit status."""
    return subprocess.Popen(
        [*GUARD, *map(str, command)], stdin=subprocess.PIPE, stdout=output, stderr=errors,
        env=variables_with(variables), start_new_session=True)  # so that an interrupt does not reach it


def _read(file):
    """Return all that a process has written to an open file, as text."""
    file.seek(0)
    return file.read().decode(errors="replace")


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

    >>> import os
    >>> def engine():
    ...     return os.environ["MXNET_ENGINE_TYPE"]
    >>> in_fresh_process(engine, MXNET_ENGINE_TYPE="NaiveEngine")
    'NaiveEngine'
    """
    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    name = getattr(inner, "__name__", type(inner).__name__)
    return in_fresh_processes({name: Call(function, arguments, environment)}, timeout)[name]


def in_fresh_processes(calls, timeout=LIMIT):
    """Call functions side by side, each in a fresh process, and return their results by name: see `in_fresh_process`.

    `calls` maps each name to (function, arguments, environment).

    Raises:
        RuntimeError, TimeoutError: As for `in_fresh_process`. The message names the call; the others have been stopped.
    """
    def run(stored):
        commands = {}
        for name, call in stored.items():
            commands[name] = [sys.executable, "-c", CHILD, call.file, *absolute_sys_path()], call.environment
        return launch(commands, timeout)

    return run_calls(calls, run)
