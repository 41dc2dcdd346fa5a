"""Processes that a lesson starts: one for an experiment with other settings, or several that work together.

However a cell that waits for them ends, by an error, an interrupt, a time limit or with its kernel, none stays behind.
"""
import contextlib
import inspect
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Mapping
from numbers import Real
from pathlib import Path

# Each command runs under a guard, which shares a pipe with this process. If the pipe closes, because it was let go or
# because this process was killed, the guard ends the command and all that it has started. On Linux it adopts orphans,
# so that it finds them whatever group they have made for themselves.
_GUARD = """
import contextlib, ctypes, os, signal, subprocess, sys, threading
import psutil

def end():
    while children := psutil.Process().children(recursive=True):
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        psutil.wait_procs(children, timeout=1)

def end_with_pipe():
    while os.read(0, 1):
        pass
    end()
    os._exit(1)

ADOPT_ORPHANS = 36
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)
threading.Thread(target=end_with_pipe, daemon=True).start()
status = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL).wait()
end()
if status < 0:
    signal.signal(-status, signal.SIG_DFL) if -status != signal.SIGKILL else None
    os.kill(os.getpid(), -status)
os._exit(status)
"""

_RUN = "import sys; exec(compile(open(sys.argv[3], encoding='utf-8').read(), '<string>', 'exec'))"
_CALL = """
import json, sys
with open(sys.argv[1], encoding="utf-8") as _file:
    _arguments = json.load(_file)
with open(sys.argv[2], "w", encoding="utf-8") as _file:
    json.dump({name}(*_arguments), _file)
"""


def launch(commands, timeout=60):
    r"""Run several commands side by side until all have ended, and return what each one printed.

    Parameters
    ----------
    commands : mapping from name to (command, variables)
        The command is a list of strings. The variables are added to this process's environment for it; None removes
        one.
    timeout : float
        Seconds for all of them together.

    Returns
    -------
    dict from name to str
        What each printed on its standard output; what it wrote on standard error is shown if something fails.

    As soon as one fails, the others are ended: RuntimeError says which one it was and how it ended, TimeoutError
    which were still running at the limit; both show each process's own words, kept apart. FileNotFoundError for a
    command that does not exist, TypeError for what is no command, ValueError for a time limit that is none, before
    any is started. However it ends, no process stays behind.

    Lesson: 07-many-machines.

    >>> import sys
    >>> program = "import os; print('I am', os.environ['ROLE'])"
    >>> launch({role: ([sys.executable, "-c", program], {"ROLE": role}) for role in ("server", "worker")})
    {'server': 'I am server\n', 'worker': 'I am worker\n'}
    """
    if not isinstance(timeout, Real) or not timeout > 0:  # NaN is not above zero either
        raise ValueError(f"timeout={timeout!r}, but a number of seconds above zero is needed")
    for name, (command, variables) in commands.items():
        if isinstance(command, str) or not command or not isinstance(variables, Mapping):
            raise TypeError(f"{name} cannot start: it is ({command!r}, {variables!r}), not a list of strings, such as "
                            "['ls', '-l'], and a mapping of variables")
        if not shutil.which(command[0], path={**os.environ, **variables}.get("PATH")):
            raise FileNotFoundError(f"{name} cannot start: there is no command {command[0]!r} here")
    started = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        files = {name: (Path(folder, f"{number}.out"), Path(folder, f"{number}.err"))
                 for number, name in enumerate(commands)}
        stack.callback(_end, started)
        for name, (command, variables) in commands.items():
            environment = {**os.environ, **variables}
            printed, errors = (stack.enter_context(open(file, "wb")) for file in files[name])
            started[name] = subprocess.Popen(
                [sys.executable, "-c", _GUARD, *map(str, command)], stdin=subprocess.PIPE, stdout=printed,
                stderr=errors, env={key: str(value) for key, value in environment.items() if value is not None},
                start_new_session=True)  # an interrupt of this process is not theirs
        deadline = time.monotonic() + timeout
        while True:
            running = [name for name in started if started[name].poll() is None]
            failed = [name for name in started if started[name].returncode]
            if failed or not running or time.monotonic() > deadline:
                break
            time.sleep(0.01)
        _end(started)
        printed, errors = ({name: file[which].read_text(encoding="utf-8", errors="replace")
                            for name, file in files.items()} for which in (0, 1))
    if failed:
        [name, *_] = failed
        rest = "; the others were ended" if len(commands) > 1 else ""
        raise RuntimeError(f"{name} failed with {_how(started[name].returncode)}{rest}\n"
                           + _words(printed, errors, first=name))
    if running:
        raise TimeoutError(f"{' and '.join(running)} took more than {timeout} seconds and had to be ended\n"
                           + _words(printed, errors))
    return printed


def _end(processes):
    """End each guard, with all that it guards."""
    for process in processes.values():
        process.stdin.close()
    for process in processes.values():
        process.wait()


def _how(status):
    return f"exit status {status}" if status > 0 else f"signal {signal.Signals(-status).name}"


def _words(printed, errors, first=None):
    """Return what each process printed, under its name, `first` above the others."""
    names = sorted(printed, key=lambda name: name != first)
    return "\n".join(f"--- {name} printed:\n{printed[name]}{errors[name]}".rstrip() for name in names)


def free_port():
    """Return the number of a port of 127.0.0.1 that nobody listens on.

    Lesson: 07-many-machines.

    >>> 1024 <= free_port() < 65536
    True
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def in_fresh_process(function, *arguments, needs=(), timeout=120, **environment):
    """Call `function(*arguments)` in a fresh Python process and return its result.

    An engine reads its settings once, when it starts, so an experiment with other settings needs another process.

    Parameters
    ----------
    function : function
        It is sent as source text, so it imports for itself whatever it uses.
    *arguments
        Passed to it; like its result they must be what JSON can hold.
    needs : functions or lines of Python, optional
        Sent along, before `function`: what it calls, and what these in turn rely on.
    timeout : float
        Seconds after which the process, and whatever it has started, is ended.
    **environment
        Environment variables to set; None removes one that this process has.

    What it prints is printed here. Raises TimeoutError past the limit and RuntimeError if the function fails, both
    with the process's own words; TypeError for arguments or a function that cannot be sent. However it ends, no
    process stays behind.

    Lesson: 04-automatic-parallelism.

    >>> def which_engine():
    ...     import os
    ...     return os.environ["MXNET_ENGINE_TYPE"]
    >>> in_fresh_process(which_engine, MXNET_ENGINE_TYPE="NaiveEngine")
    'NaiveEngine'
    """
    if not inspect.isfunction(function) or not function.__name__.isidentifier():
        raise TypeError(f"in_fresh_process: {function!r} cannot be sent as source text; give a function made by def")
    name = function.__name__
    needs = [needs] if isinstance(needs, str) or callable(needs) else needs
    try:
        words = json.dumps(arguments)
    except (TypeError, ValueError) as error:
        raise TypeError(f"in_fresh_process: the arguments of {name} are not what JSON can hold: {error}") from None
    try:
        source = "\n".join(each if isinstance(each, str) else textwrap.dedent(inspect.getsource(each))
                           for each in (*needs, function))
    except OSError as error:
        raise TypeError(f"in_fresh_process: {name}, or what it needs, cannot be sent: {error}") from None
    with tempfile.TemporaryDirectory() as folder:
        program, sent, answer = (Path(folder, file) for file in ("function.py", "arguments.json", "answer.json"))
        program.write_text(source + _CALL.format(name=name), encoding="utf-8")  # argv holds the locale's letters alone
        sent.write_text(words, encoding="utf-8")
        command = [sys.executable, "-c", _RUN, sent, answer, program]
        print(launch({name: (command, environment)}, timeout)[name], end="")
        try:
            return json.loads(answer.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            raise RuntimeError(f"{name} ended its process itself, and so returned nothing") from None
