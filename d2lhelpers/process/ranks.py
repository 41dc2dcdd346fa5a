"""A function on several ranks: processes that form a PyTorch process group."""
import functools
import os
import sys
import tempfile

from .calls import LIMIT, Call, run_calls
from .forks import run_forks
from .fresh import free_port, in_fresh_processes


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
        calls = {}
        for rank in range(size):
            variables = {**shared, "RANK": rank, "LOCAL_RANK": rank}
            calls[f"rank {rank}"] = Call(_run_rank, (function, arguments, folder), variables)
        if environment or sys.platform != "linux":  # elsewhere a fork with PyTorch may crash
            results = in_fresh_processes(calls, timeout)
        else:
            run = functools.partial(run_forks, modules=_modules_to_import(), timeout=timeout)
            results = run_calls(calls, run)
    return list(results.values())


def _modules_to_import():
    """Return the names of the modules that are imported before ranks are forked."""
    imported_here = [name for name in sys.modules if name.split(".")[0] == "torch"]
    return [*imported_here, "torch.distributed",
            "torch._dynamo",  # each optimizer needs it, and it takes seconds
            __name__]


def _run_rank(function, arguments, folder):
    """Call the function as one rank of a group. Ranks find one another through a file, which needs no free port."""
    import torch.distributed as dist
    rank = int(os.environ["RANK"])
    size = int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo", store=dist.FileStore(f"{folder}/store", size), rank=rank, world_size=size)
    result = function(*arguments)
    dist.barrier()  # a rank that leaves early would break connections that others are still making
    dist.destroy_process_group()
    return result
