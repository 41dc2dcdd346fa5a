"""Functions in fresh processes, and commands side by side; however the cell that waits for them ends, none is left."""
import contextlib
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

# With -I, variables that are meant for the command, such as PYTHONHOME, do not change the guard; -S starts it faster.
GUARD = [sys.executable, "-I", "-S", Path(__file__).with_name("_guard.py"), Path(psutil.__file__).parents[1]]
# What decides how many threads a library takes, and where they run. Of these a new process inherits OMP_NUM_THREADS
# alone: the lessons set it, and the others are somebody's settings for other programs.
THREADS = re.compile(r"(?!OMP_NUM_THREADS$)(OMP_|GOMP_|.*_(NUM|MAXIMUM)_THREADS$|(OMP|MKL|KMP)_(DYNAMIC|AFFINITY)$)")
CHILD = "import sys; sys.path[:] = sys.argv[2:]; from d2lhelpers.process import answer; answer(sys.argv[1])"
SERVER = "import sys; sys.path[:] = sys.argv[3:]; from d2lhelpers._server import serve; serve(*sys.argv[1:3])"


def launch(commands, timeout=60):
    r"""Run several commands side by side until all have ended, and return what each one printed, by name.

    `commands` maps each name to (command, variables): a list of strings, and the environment variables to set for it;
    None removes one. Of the variables that decide about threads, a command inherits OMP_NUM_THREADS alone. `timeout`
    is in seconds, for all commands together. As soon as one fails, the others are ended, and RuntimeError says which
    one it was and how it ended; TimeoutError says which were still running at the limit. Both show what each process
    printed. Lesson: 07-many-machines.

    >>> program = "import os; print('I am', os.environ['ROLE'])"
    >>> launch({role: ([sys.executable, "-c", program], {"ROLE": role}) for role in ("server", "worker")})
    {'server': 'I am server\n', 'worker': 'I am worker\n'}
    """
    guards, files, deadline = {}, {}, time.monotonic() + timeout
    with contextlib.ExitStack() as stack:
        try:
            for name, (command, variables) in commands.items():
                inherited = {name: value for name, value in os.environ.items() if not THREADS.match(name)}
                merged = {**inherited, **variables}
                files[name] = [stack.enter_context(tempfile.TemporaryFile()) for _ in ("output", "errors")]
                guards[name] = subprocess.Popen(
                    [*GUARD, *map(str, command)], stdin=subprocess.PIPE, stdout=files[name][0], stderr=files[name][1],
                    env={key: str(value) for key, value in merged.items() if value is not None},
                    start_new_session=True)  # an interrupt reaches this process alone
            running, failed = list(guards), []
            while running and not failed and time.monotonic() < deadline:
                time.sleep(0.01)
                running = [name for name in guards if guards[name].poll() is None]
                failed = [name for name in guards if guards[name].returncode]
        finally:
            for guard in guards.values():
                guard.stdin.close()
            for guard in guards.values():
                guard.wait()
        printed = {name: [(file.seek(0) or file.read()).decode(errors="replace") for file in pair]
                   for name, pair in files.items()}
    order = sorted(printed, key=lambda name: name not in failed)
    words = "".join(f"\n--- {name} printed:\n{''.join(printed[name])}".rstrip() for name in order)
    if failed:
        status = guards[failed[0]].returncode
        how = f"exit status {status}" if status > 0 else f"signal {signal.Signals(-status).name}"
        raise RuntimeError(f"{failed[0]} failed with {how}{'; the others were ended' * (len(commands) > 1)}{words}")
    if running:
        raise TimeoutError(f"{' and '.join(running)} took more than {timeout} seconds and had to be ended{words}")
    return {name: output for name, (output, _) in printed.items()}


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
    RuntimeError with the process's own traceback if the function fails, TimeoutError after `timeout` seconds.
    Lesson: 04-automatic-parallelism.

    >>> def engine():
    ...     return os.environ["MXNET_ENGINE_TYPE"]
    >>> in_fresh_process(engine, MXNET_ENGINE_TYPE="NaiveEngine")
    'NaiveEngine'
    """
    return in_fresh_processes({function.__name__: (function, arguments, environment)}, timeout)[function.__name__]


def in_fresh_processes(calls, timeout=120):
    """Call functions side by side, each in a fresh process, and return their results by name: see `in_fresh_process`.

    `calls` maps each name to (function, arguments, environment). As soon as one fails, the others are ended.
    """
    return _carry_out(calls, timeout, [sys.executable, "-c", CHILD], _path())


def _path():
    """Return where Python looks for modules, its own first: a reader's own signal.py must not hide Python's."""
    library = os.path.dirname(os.__file__)
    return sorted(sys.path, key=lambda folder: folder not in (library, os.path.join(library, "lib-dynload")))


def _carry_out(calls, timeout, start, path=()):
    """Store each call in a file, launch a process for it by the command `start`, file, `path`; return the results."""
    numpy_semantics = "mxnet" in sys.modules and sys.modules["mxnet"].util.is_np_array()
    with tempfile.TemporaryDirectory() as folder:
        files, commands = {name: Path(folder, str(number)) for number, name in enumerate(calls)}, {}
        for name, (function, arguments, environment) in calls.items():
            files[name].write_bytes(pickle.dumps(numpy_semantics) + cloudpickle.dumps((function, arguments)))
            commands[name] = [*start, files[name], *path], environment
        print(*launch(commands, timeout).values(), sep="", end="")
        return {name: pickle.loads(file.with_suffix(".result").read_bytes()) for name, file in files.items()}


def answer(file):
    """Carry out the call that is stored in `file` and store its result beside it: this runs in the fresh process."""
    with open(file, "rb") as call:
        if pickle.load(call):  # NumPy semantics
            import mxnet
            mxnet.npx.set_np()
        function, arguments = pickle.load(call)
    Path(file).with_suffix(".result").write_bytes(cloudpickle.dumps(function(*arguments)))


def in_group(function, *arguments, size=2, timeout=120, **environment):
    """Call `function(*arguments)` in `size` new processes that form a PyTorch process group; return their results.

    The results are listed by rank. The group uses gloo on 127.0.0.1; torchrun's variables are set, and OMP_NUM_THREADS
    is 1 unless given. Otherwise it is like `in_fresh_process`; errors name the rank. On Linux one process imports what
    this one has imported of PyTorch, for the first group; the ranks of all groups are its forks, which takes a tenth of
    the time. Lesson: pytorch/04-data-parallel.

    >>> def rank():
    ...     import torch.distributed as dist
    ...     return dist.get_rank(), dist.get_world_size()
    >>> in_group(rank)
    [(0, 2), (1, 2)]
    """
    shared = {"MASTER_ADDR": "127.0.0.1",
              "GLOO_SOCKET_IFNAME": "lo0" if sys.platform == "darwin" else "lo", "OMP_NUM_THREADS": 1, **environment}
    with tempfile.TemporaryDirectory() as folder:
        own = {"WORLD_SIZE": size, "MASTER_PORT": free_port(), **shared}
        ranks = [{**own, "RANK": rank, "LOCAL_RANK": rank} for rank in range(size)]
        calls = {f"rank {each['RANK']}": (_member, (function, arguments, folder, each), each) for each in ranks}
        if sys.platform != "linux":  # elsewhere a process that has imported PyTorch may not be safe to fork
            return list(in_fresh_processes(calls, timeout).values())
        return list(_carry_out(calls, timeout, ["ask", _server({**os.environ, **shared})]).values())


def _member(function, arguments, folder, variables):
    """Call the function as one rank of a group, which finds the others by a file, so no port can be taken."""
    import torch.distributed as dist
    os.environ.update({name: str(value) for name, value in variables.items()})
    rank, size = variables["RANK"], variables["WORLD_SIZE"]
    dist.init_process_group("gloo", store=dist.FileStore(f"{folder}/store", size), rank=rank, world_size=size)
    result = function(*arguments)
    dist.barrier()  # a rank that leaves early would break the connections of one that still makes them
    dist.destroy_process_group()
    return result


_servers = {}  # at most one: by what it was started with, its guard and its folder


def _server(variables):
    """Return the address of a server for forks (see _server.py) that was started with these variables."""
    wanted = str((sorted(variables.items()), _path(), os.getcwd()))
    if wanted not in _servers or _servers[wanted][0].poll() is not None:
        for guard, _ in _servers.values():
            guard.stdin.close()
        folder = tempfile.TemporaryDirectory()
        modules = " ".join(name for name in sys.modules if name.startswith("torch")) or "torch"
        guard = subprocess.Popen(
            [*GUARD, sys.executable, "-c", SERVER, f"{folder.name}/socket", modules, *_path()], start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={name: str(value) for name, value in variables.items() if value is not None})
        guard.stdout.readline()  # it is ready
        _servers.clear()
        _servers[wanted] = guard, folder
    return f"{_servers[wanted][1].name}/socket"
