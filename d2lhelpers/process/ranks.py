"""A function on several ranks: processes that form a PyTorch process group."""
import functools
import multiprocessing
import os
import sys
import tempfile

from . import forks
from .fresh import (
    LIMIT,
    absolute_path,
    free_port,
    in_fresh_processes,
    raise_if_failed,
    run_calls,
    run_stored_call,
    variables_with,
    wait_for,
)


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
        return list(run_calls(calls, functools.partial(_run_forks, timeout=timeout)).values())


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
    forks.start_server(modules, variables_with({"OMP_NUM_THREADS": 1}), absolute_path())
    started = {}
    alive, hold = multiprocessing.Pipe(duplex=False)
    try:
        for name, (file, own) in stored.items():
            started[name] = forks.start(name, run_stored_call, file, variables_with(own), absolute_path(), alive)
        running, failed = wait_for(started, lambda fork: fork.exitcode, timeout)
        if failed:
            forks.wait_for_first_traceback(started, file.parent)
    finally:
        hold.close()  # ends all forks that are still running
        for fork in started.values():
            fork.join()
        alive.close()
    if failed:
        failed = forks.first_failed(file.parent, failed)
    printed = {name: forks.printed(file) for name, (file, _) in stored.items()}
    raise_if_failed(failed, {name: fork.exitcode for name, fork in started.items()}, running, timeout, printed)
    return {name: output for name, (output, _) in printed.items()}
