"""A reader's function, tried on several ranks of a process group for the rules of a check."""
import os
import sys
import threading
import time
from collections.abc import Callable

from .exercises import Broken
from .messages import say
from .process import in_group

PATIENCE = 8  # seconds of work, or of idleness, after which a rank is ended


class Attempt:
    """A try to run a reader's function on `size` ranks of a process group, for the rules of a check.

    Afterwards `results` holds what the ranks returned, or `fault` what went wrong: "waits" if a rank waited in vain for
    the others, "runs" if it computed for too long, or else the last line of a traceback.
    """

    def __init__(self, size: int = 2, patience: int | None = None):
        self.size = size
        self.patience = patience or PATIENCE
        self.results: list = []
        self.fault = ""

    def run(self, function: Callable[..., object], *arguments: object) -> bool:
        """Call `function(*arguments)` on all ranks, and return True, whatever happens."""
        patience = self.patience

        def end_in_time():
            over = threading.Event()
            threading.Thread(target=_end_if_stuck, args=[over, patience], daemon=True).start()
            result = function(*arguments)
            over.set()
            return result

        self.results = []
        self.fault = ""
        try:
            self.results = in_group(end_in_time, size=self.size)
        except (RuntimeError, TimeoutError) as error:
            first = str(error).partition("\n--- ")[2].partition("\n--- ")[0]  # by the rank that failed first
            self.fault = (first.splitlines() or [str(error)])[-1]
            if "closed by peer" in self.fault or "reset by peer" in self.fault:  # the other rank has ended
                self.fault = "waits"
        return True

    def rules(self, function: Callable[..., object], *arguments: object) -> tuple:
        """Return the rules that run `function(*arguments)` and say what went wrong, if anything did."""
        words = say("it failed on one of {size} ranks", size=self.size)

        def runs_through(_):
            if self.fault:
                raise Broken("rank-raises", words, say("It raised {error}.", error=self.fault))
            return True

        return (
            ("rank-waits", lambda _: self.run(function, *arguments) and self.fault != "waits",
             say("a rank waits for the others in vain: every rank must call the same collectives, in the same order")),
            ("rank-endless", lambda _: self.fault != "runs",
             say("a rank was still running: which loop never ends?")),
            ("rank-raises", runs_through, words),
        )


def _end_if_stuck(over, patience):
    """Exit if computing or idle for `patience` seconds, and say which.

    Both are seconds of the processor, or of this thread, so that on a loaded machine a process has more time.
    """
    used = [time.process_time()]
    while not over.wait(1):
        used.append(time.process_time())
        now = used[-1]
        stalled = len(used) > patience and now - used[-patience] < 0.02 * patience
        overrun = now - used[0] > patience
        if stalled or overrun:
            print("waits" if stalled else "runs", file=sys.stderr, flush=True)
            os._exit(1)
