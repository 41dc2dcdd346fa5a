"""Functions in fresh processes, and commands side by side. None of them outlives the cell that waits for it."""
import contextlib
import functools
import multiprocessing
import operator
import os
import pickle
import re
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

# With -I, variables that are meant for the command, such as PYTHONHOME, do not change the guard; -S starts it faster.
GUARD = [sys.executable, "-I", "-S", _guard.__file__, Path(psutil.__file__).parents[1]]
# What decides how many threads a library takes, and where they run. Of these a new process inherits OMP_NUM_THREADS
# alone: the lessons set it, and the others are somebody's settings for other programs.
THREADS = re.compile(r"(?!OMP_NUM_THREADS$)(OMP_|GOMP_|.*_(NUM|MAXIMUM)_THREADS$|(OMP|MKL|KMP)_(DYNAMIC|AFFINITY)$)")
CHILD = "import sys; sys.path[:] = sys.argv[2:]; from d2lhelpers.process import answer; answer(sys.argv[1])"


def launch(commands, timeout=60):
    r"""Run several commands side by side until all have ended, and return what each one printed, by name.

    `commands` maps each name to (command, variables): a list of strings, and the environment variables to set for it;
    None removes one. Of the variables that decide about threads, a command inherits OMP_NUM_THREADS alone. `timeout`
    is in seconds, for all commands together. Lesson: 07-many-machines.

    Raises:
        RuntimeError: A command failed. The others have been ended; the message says which one failed and how.
        TimeoutError: Some commands were still running at the limit. They have been ended; the message names them.
            Both messages show what each command printed.

    >>> program = "import os; print('I am', os.environ['ROLE'])"
    >>> launch({role: ([sys.executable, "-c", program], {"ROLE": role}) for role in ("server", "worker")})
    {'server': 'I am server\n', 'worker': 'I am worker\n'}
    """
    guards, files = {}, {}
    with contextlib.ExitStack() as stack:
        try:
            for name, (command, variables) in commands.items():
                files[name] = [stack.enter_context(tempfile.TemporaryFile()) for _ in ("output", "errors")]
                guards[name] = subprocess.Popen(
                    [*GUARD, *map(str, command)], stdin=subprocess.PIPE, stdout=files[name][0], stderr=files[name][1],
                    env=_variables(variables), start_new_session=True)  # an interrupt reaches this process alone
            running, failed = _wait(guards, subprocess.Popen.poll, timeout)
        finally:
            for guard in guards.values():
                guard.stdin.close()
            for guard in guards.values():
                guard.wait()
        printed = {name: [_read(file) for file in pair] for name, pair in files.items()}
    _check(failed, {name: guard.returncode for name, guard in guards.items()}, running, timeout, printed)
    return {name: output for name, (output, _) in printed.items()}


def _variables(own):
    """Return the variables of a new process: this one's, less settings of threads, and its own; None removes one."""
    inherited = {name: value for name, value in os.environ.items() if not THREADS.match(name)}
    return {name: str(value) for name, value in {**inherited, **own}.items() if value is not None}


def _wait(processes, exit_status, timeout):
    """Wait until all have ended, one has failed, or the time is over; name those still running, and the failed one."""
    deadline = time.monotonic() + timeout
    while True:
        statuses = {name: exit_status(process) for name, process in processes.items()}
        running = [name for name, status in statuses.items() if status is None]
        failed = [name for name, status in statuses.items() if status]
        if failed or not running or time.monotonic() > deadline:
            return running, failed[0] if failed else None
        time.sleep(0.005)


def _read(file):
    """Return all the text that a process has written to an open file."""
    file.seek(0)
    return file.read().decode(errors="replace")


def _check(failed, statuses, running, timeout, printed):
    """Raise an error if a process failed or some were running too long; show what each one printed."""
    order = sorted(printed, key=lambda name: name != failed)
    words = "".join(f"\n--- {name} printed:\n{''.join(printed[name])}".rstrip() for name in order)
    if failed:
        status = statuses[failed]
        how = f"exit status {status}" if status > 0 else f"signal {signal.Signals(-status).name}"
        others = "; the others were ended" if len(printed) > 1 else ""
        raise RuntimeError(f"{failed} failed with {how}{others}{words}")
    if running:
        raise TimeoutError(f"{' and '.join(running)} took more than {timeout} seconds and had to be ended{words}")


def free_port():
    """Return the number of a port of 127.0.0.1 that nobody listens on. Lesson: 07-many-machines."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def in_fresh_process(function, *arguments, timeout=120, **environment):
    """Call `function(*arguments)` in a fresh Python process and return its result.

    A framework reads its settings once, when it starts, so an experiment with other settings needs another process.
    `environment` holds the variables to set; None removes one. The function, the arguments and the result are copied by
    cloudpickle, as is all that the function uses from the notebook. MXNet's NumPy semantics are on there if they
    are on here; its arrays arrive on cpu(0), and Gluon's networks cannot be copied: make them in the function.
    Lesson: 04-automatic-parallelism.

    Raises:
        RuntimeError: The function failed, which the process's own traceback explains, or its process ended without a
            result.
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


def in_fresh_processes(calls, timeout=120):
    """Call functions side by side, each in a fresh process, and return their results by name: see `in_fresh_process`.

    `calls` maps each name to (function, arguments, environment).

    Raises:
        RuntimeError, TimeoutError: As for `in_fresh_process`, with the name. The others have been ended.
    """
    def run(stored):
        commands = {name: ([sys.executable, "-c", CHILD, file, *_path()], own) for name, (file, own) in stored.items()}
        return launch(commands, timeout)

    return _carry_out(calls, run)


def _path():
    """Return where Python looks for modules, its own first: a reader's own signal.py must not hide Python's."""
    library = os.path.dirname(os.__file__)
    return sorted(sys.path, key=lambda folder: folder not in (library, os.path.join(library, "lib-dynload")))


def _carry_out(calls, run):
    """Store each call in a file, let `run` start a process for each of them, print what it returns; give the results.

    `run` gets a file and an environment by name, and returns what the processes printed.
    """
    numpy_semantics = "mxnet" in sys.modules and sys.modules["mxnet"].util.is_np_array()
    stored, results = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, (function, arguments, environment)) in enumerate(calls.items()):
            stored[name] = Path(folder, str(number)), environment
            stored[name][0].write_bytes(pickle.dumps(numpy_semantics) + cloudpickle.dumps((function, arguments)))
        print(*run(stored).values(), sep="", end="")
        for name, (file, _) in stored.items():
            result = file.with_suffix(".result")
            if not result.exists():
                raise RuntimeError(f"{name} ended its process without a result")
            results[name] = pickle.loads(result.read_bytes())
    return results


def answer(file):
    """Carry out the call that is stored in `file` and store its result beside it: this runs in the new process."""
    with open(file, "rb") as call:
        if pickle.load(call):  # NumPy semantics
            import mxnet
            mxnet.npx.set_np()
        function, arguments = pickle.load(call)
    Path(file).with_suffix(".result").write_bytes(cloudpickle.dumps(function(*arguments)))


def in_group(function, *arguments, size=2, timeout=120, **environment):
    """Call `function(*arguments)` in `size` new processes that form a PyTorch process group; return their results.

    The results are listed by rank. The group uses gloo on 127.0.0.1; torchrun's variables are set, and OMP_NUM_THREADS
    is 1 unless given. Otherwise it is like `in_fresh_process`; errors name the rank. On Linux the first group starts a
    process that imports what this one has imported of PyTorch. The ranks of all groups are its forks, which takes a
    twentieth of the time. PyTorch reads some variables as it is imported: if you give any, ranks are fresh processes.
    Lesson: pytorch/04-data-parallel.

    Raises:
        RuntimeError: A rank failed or ended without a result; the message names the first one.
        TimeoutError: Some ranks took more than `timeout` seconds after all had started.

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
        if environment or sys.platform != "linux":  # elsewhere a process that has imported PyTorch may not fork safely
            return list(in_fresh_processes(calls, timeout).values())
        return list(_carry_out(calls, functools.partial(_run_forks, timeout=timeout)).values())


def _member(function, arguments, folder):
    """Call the function as one rank of a group, which finds the others by a file, so no port can be taken."""
    import torch.distributed as dist
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo", store=dist.FileStore(f"{folder}/store", size), rank=rank, world_size=size)
    result = function(*arguments)
    dist.barrier()  # a rank that leaves early would break the connections of one that still makes them
    dist.destroy_process_group()
    return result


def _run_forks(stored, timeout):
    """Start a fork for each stored call, wait until all have ended, and return what each one printed, by name."""
    modules = [name for name in sys.modules if name.split(".")[0] == "torch"]
    _forks.start_server([*modules, "torch.distributed", __name__], _variables({"OMP_NUM_THREADS": 1}), _path())
    forks = {}
    alive, hold = multiprocessing.Pipe(duplex=False)
    try:
        for name, (file, own) in stored.items():
            forks[name] = _forks.start(name, answer, file, _variables(own), _path(), alive)
        running, failed = _wait(forks, operator.attrgetter("exitcode"), timeout)
        if failed:
            failed = _forks.first_failed(file.parent, failed)
    finally:
        hold.close()  # ends all that still run
        for fork in forks.values():
            fork.join()
        alive.close()
    printed = {name: _forks.printed(file) for name, (file, _) in stored.items()}
    _check(failed, {name: fork.exitcode for name, fork in forks.items()}, running, timeout, printed)
    return {name: output for name, (output, _) in printed.items()}
