"""Calls in a process of their own, for what a stranger's file makes us compute: they end at limits of time and memory.

The process has our own code only; it runs nothing of a submission's.
"""
import contextlib
import multiprocessing
import os
import resource

import psutil

from .remarks import Remark, say

SECONDS = 30  # for one call
MEMORY = 2  # GB of address space that a call may take beyond what the server has
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["nbclient", "editions.grading.runs"])  # each import takes a part of a second


class Refused(Exception):
    """A call gave no result; `remark` says why, in words that may follow the name of a file."""

    def __init__(self, remark):
        super().__init__(remark)
        self.remark = remark


def call(function, *arguments, seconds=SECONDS, memory=MEMORY):
    """Return what a function of the project returns; it is called in a new process.

    Raises:
        Refused: It raised an exception, or reached a limit of time or memory.
    """
    receiver, sender = SERVER.Pipe(duplex=False)
    process = SERVER.Process(target=_send_result, args=[sender, function, arguments, memory], daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(seconds):
            raise Refused(say("took more than {seconds:g} seconds to read", seconds=seconds))
        result = receiver.recv()
    except EOFError:
        raise Refused(say("could not be read: the process that read it ended")) from None
    finally:
        process.kill()
        process.join()
        receiver.close()
    if isinstance(result, Remark):
        raise Refused(result)
    return result[0]


def _send_result(sender, function, arguments, memory):
    """In the new process: call the function and send its result in a tuple, or a remark that says why there is none."""
    os.setsid()  # so that Ctrl+C interrupts the grader alone
    limit = psutil.Process().memory_info().vms + int(memory * 1e9)
    with contextlib.suppress(ValueError):  # macOS has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        result = (function(*arguments),)
    except MemoryError:
        result = say("takes more than {memory:g} GB of memory to read", memory=memory)
    except Exception as error:
        result = say("could not be read ({error})", error=f"{type(error).__name__}: {error}"[:200])
    sender.send(result)
