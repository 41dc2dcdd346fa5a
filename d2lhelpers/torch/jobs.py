"""Run a training script with torchrun, as on a cluster, on this machine."""
import sys
from os import PathLike

from ..process import launch


def torchrun(script: str | PathLike, *arguments: object, ranks: int = 2, timeout: float = 280) -> list[str]:
    """Run `script` in `ranks` processes of one PyTorch job, and return the lines that they print, sorted.

    It is what `torchrun --standalone --nproc-per-node=RANKS SCRIPT ARGUMENTS` does. All messages stay on this machine,
    and each process has one thread. Lesson: pytorch/04-data-parallel.

    Raises:
        RuntimeError: The job failed; the message shows what it printed.
        TimeoutError: It was still running after `timeout` seconds, and has been stopped.
    """
    loopback = "lo0" if sys.platform == "darwin" else "lo"
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr=127.0.0.1",
               f"--nproc-per-node={ranks}", script, *arguments]
    printed = launch({"torchrun": (command, {"GLOO_SOCKET_IFNAME": loopback, "OMP_NUM_THREADS": 1})}, timeout)
    return sorted(printed["torchrun"].splitlines())
