"""`make soak`: every lesson through strict nbval again and again, every fourth time with all cores kept busy.

Prints a line a run and the failures of those that fail, and ends with exit status 1 if any did.
"""
import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]


@contextlib.contextmanager
def busy_cores():
    """Keep every core busy with other work meanwhile."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def main(runs):
    """Run all lessons `runs` times and return how many runs failed."""
    failed = loaded = 0
    for number in range(1, runs + 1):
        load = number % 4 == 0
        start = time.monotonic()
        with busy_cores() if load else contextlib.nullcontext():
            result = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "notebooks"],
                                    cwd=ROOT, capture_output=True, text=True)
        failed, loaded = failed + (result.returncode != 0), loaded + load
        summary = next((line for line in reversed(result.stdout.splitlines()) if "passed" in line or "failed" in line),
                       "no lesson was run")
        where = ", all cores busy" if load else ""
        print(f"run {number} of {runs}{where}: {time.monotonic() - start:.0f} s, {summary}", flush=True)
        if result.returncode:
            print(result.stdout, result.stderr, flush=True)
    print(f"{runs} runs, {loaded} of them with all cores busy: {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])) > 0)
