"""Functions in fresh processes, and commands side by side. No process outlives the cell that waits for it."""
import contextlib
import errno
import functools
import multiprocessing
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

from d2lhelpers import _forks, _guard

# -I keeps variables that are meant for the command, such as PYTHONHOME, from changing the guard; -S starts it faster.
GUARD = [sys.executable, "-I", "-S", _guard.__file__, Path(psutil.__file__).parents[1]]
# The variables that decide how many threads a library uses, and on which cores. Of these a new process inherits only
# OMP_NUM_THREADS, which the lessons set: the others were set for other programs.
THREADS = re.compile(r"(?!OMP_NUM_THREADS$)(OMP_|GOMP_|.*_(NUM|MAXIMUM)_THREADS$|(OMP|MKL|KMP)_(DYNAMIC|AFFINITY)$)")
LIMIT = 120  # seconds that a call may take, unless it is told otherwise
CHILD = "import sys; sys.path[:] = sys.argv[2:]; from d2lhelpers.process import answer; answer(sys.argv[1])"


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
                    env=_variables(variables), start_new_session=True)  # so that an interrupt does not reach it
            running, failed = _wait(guards, subprocess.Popen.poll, timeout)
        finally:
            for guard in guards.values():
                guard.stdin.close()
            for guard in guards.values():
                guard.wait()
        printed = {name: (_read(output), _read(errors)) for name, (output, errors) in files.items()}
    _check(failed, {name: guard.returncode for name, guard in guards.items()}, running, timeout, printed)
    return {name: output for name, (output, _) in printed.items()}


def _variables(changes):
    """Return a new process's variables: this one's, except thread settings, with `changes`; None removes one."""
    inherited = {name: value for name, value in os.environ.items() if not THREADS.match(name)}
    return {name: str(value) for name, value in {**inherited, **changes}.items() if value is not None}


def _wait(processes, exit_status, timeout):
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


def _check(failed, statuses, running, timeout, printed):
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
        commands = {name: ([sys.executable, "-c", CHILD, file, *_path()], own) for name, (file, own) in stored.items()}
        return launch(commands, timeout)

    return _run_calls(calls, run)


def _path():
    """Return sys.path for another process, which may start in another folder.

    Python's own folders come first: a reader's signal.py must not hide the standard library's.
    """
    library = os.path.dirname(os.__file__)
    own = library, os.path.join(library, "lib-dynload")
    return sorted(map(os.path.abspath, sys.path), key=lambda folder: folder not in own)


def _run_calls(calls, run):
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


def answer(file):
    """Run the call that is stored in `file`, and store its result beside it. This runs in the new process."""
    with open(file, "rb") as call:
        if pickle.load(call):  # NumPy semantics
            import mxnet
            mxnet.npx.set_np()
        function, arguments = pickle.load(call)
    Path(file).with_suffix(".result").write_bytes(cloudpickle.dumps(function(*arguments)))


def in_group(function, *arguments, size=2, timeout=LIMIT, **environment):
    """Call `function(*arguments)` in `size` new processes that form a PyTorch process group; list the results by rank.

    The group uses gloo on 127.0.0.1. torchrun's variables are set, and OMP_NUM_THREADS is 1 unless you set it. The rest
    is as in `in_fresh_process`. On Linux the first group starts a process that imports the modules of PyTorch that are
    imported here. The ranks of all groups are forked from it, which takes a twentieth of the time. PyTorch reads some
    variables when it is imported, so if you set any, the ranks are fresh processes. Lesson: pytorch/04-data-parallel.

    Raises:
        RuntimeError: A rank failed or gave no result. The message names the first one that failed.
        TimeoutError: Some ranks were still running `timeout` seconds after all had started.

    >>> def rank():
    ...     import torch.distributed as dist
    ...     return dist.get_rank(), dist.get_world_size()
    >>> in_group(rank)
    [(0, 2), (1, 2)]
    """
    shared = {"WORLD_SIZE": size, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(),
              "GLOO_SOCKET_IFNAME": "lo0" if sys.platform == "darwin" else "lo", "OMP_NUM_THREADS": 1, **environment}
    with tempfile.TemporaryDirectory() as folder:
        calls = {f"rank {rank}": (_member, (function, arguments, folder), {**shared, "RANK": rank, "LOCAL_RANK": rank})
                 for rank in range(size)}
        if environment or sys.platform != "linux":  # elsewhere a fork with PyTorch may crash
            return list(in_fresh_processes(calls, timeout).values())
        return list(_run_calls(calls, functools.partial(_run_forks, timeout=timeout)).values())


def _member(function, arguments, folder):
    """Call the function as one rank of a group. Ranks find one another through a file, which needs no free port."""
    import torch.distributed as dist
    rank = int(os.environ["RANK"])
    size = int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo", store=dist.FileStore(f"{folder}/store", size), rank=rank, world_size=size)
    result = function(*arguments)
    dist.barrier()  # a rank that leaves early would break connections that others are still making
    dist.destroy_process_group()
    return result


def _run_forks(stored, timeout):
    """Start a fork for each stored call, wait until all have ended, and return what each one printed, by name."""
    modules = [name for name in sys.modules if name.split(".")[0] == "torch"]
    modules += ["torch.distributed", "torch._dynamo", __name__]  # the second takes seconds, and each optimizer needs it
    _forks.start_server(modules, _variables({"OMP_NUM_THREADS": 1}), _path())
    forks = {}
    alive, hold = multiprocessing.Pipe(duplex=False)
    try:
        for name, (file, own) in stored.items():
            forks[name] = _forks.start(name, answer, file, _variables(own), _path(), alive)
        running, failed = _wait(forks, lambda fork: fork.exitcode, timeout)
        if failed:
            _forks.let_the_first_print(forks, file.parent)
    finally:
        hold.close()  # ends all forks that are still running
        for fork in forks.values():
            fork.join()
        alive.close()
    if failed:
        failed = _forks.first_failed(file.parent, failed)
    printed = {name: _forks.printed(file) for name, (file, _) in stored.items()}
    _check(failed, {name: fork.exitcode for name, fork in forks.items()}, running, timeout, printed)
    return {name: output for name, (output, _) in printed.items()}
