"""Calls in other processes, fresh or forked: how they are stored, what the processes inherit, how they have ended."""
import os
import pickle
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import cloudpickle

LIMIT = 120  # seconds that a call may take, unless it is told otherwise
THREAD_SETTING = "OMP_NUM_THREADS"  # the one that the lessons set
OTHER_THREAD_SETTINGS = {"KMP_AFFINITY", "KMP_DYNAMIC", "MKL_AFFINITY", "MKL_DYNAMIC"}
THREAD_PREFIXES = "OMP_", "GOMP_"
THREAD_SUFFIXES = "_NUM_THREADS", "_MAXIMUM_THREADS"


class Call(NamedTuple):
    """A function to call in another process, its arguments, and the environment variables to set there."""

    function: Callable
    arguments: Sequence
    environment: Mapping


class StoredCall(NamedTuple):
    """The file in which a call is stored, and the environment variables to set for its process."""

    file: Path
    environment: Mapping


class Outcome(NamedTuple):
    """How processes that ran side by side have ended."""

    failed: str | None  # the name of the first that failed
    running: list  # the names of those that had to be stopped
    statuses: dict  # all exit statuses, by name
    printed: dict  # each one's output and errors, by name


def run_calls(calls, run):
    """Make calls in other processes, print the outputs of these, and return the results by name.

    `calls` maps each name to a Call, or to a tuple of the same three things. `run` starts the processes: it is called
    with a dictionary of each name's StoredCall, and returns each one's output, by name.
    """
    with tempfile.TemporaryDirectory() as folder:
        stored = {}
        for number, (name, call) in enumerate(calls.items()):
            stored[name] = _store(Call(*call), Path(folder, str(number)))
        outputs = run(stored)
        print(*outputs.values(), sep="", end="")
        return {name: _load_result(name, call.file) for name, call in stored.items()}


def _store(call, file):
    """Store the call, and whether MXNet's NumPy semantics are on here, and return the StoredCall."""
    numpy_semantics = "mxnet" in sys.modules and sys.modules["mxnet"].util.is_np_array()
    file.write_bytes(pickle.dumps(numpy_semantics) + cloudpickle.dumps((call.function, call.arguments)))
    return StoredCall(file, call.environment)


def run_stored_call(file):
    """Make the call that is stored in `file`, and store its result. This runs in the new process."""
    with open(file, "rb") as stored:
        numpy_semantics = pickle.load(stored)
        if numpy_semantics:  # they must be on before arrays are loaded
            import mxnet
            mxnet.npx.set_np()
        function, arguments = pickle.load(stored)
    result = function(*arguments)
    result_file(file).write_bytes(cloudpickle.dumps(result))


def result_file(file):
    """Return the path of the result of the call that is stored in `file`."""
    return Path(file).with_suffix(".result")


def _load_result(name, file):
    """Return the result of the call that is stored in `file`."""
    if not result_file(file).exists():
        raise RuntimeError(f"{name} ended its process without a result")
    return pickle.loads(result_file(file).read_bytes())


def variables_with(changes):
    """Return a new process's variables: those that it inherits from this one, with `changes`; None removes one."""
    inherited = {name: value for name, value in os.environ.items() if _is_inherited(name)}
    return {name: str(value) for name, value in {**inherited, **changes}.items() if value is not None}


def _is_inherited(name):
    """Return whether a new process inherits an environment variable.

    Of those that decide how many threads a library uses, and on which cores, it inherits only the one that the lessons
    set: the others were set for other programs.
    """
    controls_threads = (name in OTHER_THREAD_SETTINGS or name.startswith(THREAD_PREFIXES)
                        or name.endswith(THREAD_SUFFIXES))
    return name == THREAD_SETTING or not controls_threads


def absolute_sys_path():
    """Return sys.path for another process, which may start in another folder.

    Python's own folders come first: a reader's signal.py must not hide the standard library's.
    """
    library = os.path.dirname(os.__file__)
    own = library, os.path.join(library, "lib-dynload")
    return sorted(map(os.path.abspath, sys.path), key=lambda folder: folder not in own)


def wait_for(processes, exit_status, timeout):
    """Wait until all processes have ended, one has failed or time is up.

    `exit_status(process)` is None while a process is running. Return the name of one that has failed, or None, and a
    list of the names of those that are still running.
    """
    deadline = time.monotonic() + timeout
    while True:
        statuses = {name: exit_status(process) for name, process in processes.items()}
        failed = next((name for name, status in statuses.items() if status), None)
        running = [name for name, status in statuses.items() if status is None]
        if failed or not running or time.monotonic() > deadline:
            return failed, running
        time.sleep(0.005)


def outputs_or_error(outcome, timeout):
    """Return each process's output, by name, or raise an error that shows what each one printed.

    Raises:
        RuntimeError: A process failed.
        TimeoutError: Some were still running after `timeout` seconds.
    """
    if outcome.failed:
        how = _in_words(outcome.statuses[outcome.failed])
        others = "; the others were ended" if len(outcome.statuses) > 1 else ""
        raise RuntimeError(f"{outcome.failed} failed with {how}{others}{_all_printed(outcome)}")
    if outcome.running:
        names = " and ".join(outcome.running)
        raise TimeoutError(f"{names} took more than {timeout} seconds and had to be stopped{_all_printed(outcome)}")
    return {name: output for name, (output, _) in outcome.printed.items()}


def _in_words(status):
    """Say what an exit status other than 0 means."""
    return f"exit status {status}" if status > 0 else f"signal {signal.Signals(-status).name}"


def _all_printed(outcome):
    """Return what each process printed, under a heading with its name: first the one that failed."""
    text = ""
    for name in sorted(outcome.printed, key=lambda name: name != outcome.failed):
        output, errors = outcome.printed[name]
        text += f"\n--- {name} printed:\n{output}{errors}".rstrip()
    return text
