"""`make soak`: every lesson through strict nbval again and again, every fourth time with all cores kept busy.

Prints one line per run and the output of the runs that fail; the exit status is 1 if any did.
"""
import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path


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
    failed = 0
    for number in range(1, runs + 1):
        busy, start = number % 4 == 0, time.monotonic()
        with busy_cores() if busy else contextlib.nullcontext():
            result = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "notebooks"],
                                    cwd=Path(__file__).parents[1], capture_output=True, text=True)
        seconds, summary = time.monotonic() - start, (result.stdout.splitlines() or ["no lesson was run"])[-1]
        print(f"run {number} of {runs}{', all cores busy' * busy}: {seconds:.0f} s, {summary}", flush=True)
        if result.returncode:
            failed += 1
            print(result.stdout, result.stderr, flush=True)
    print(f"{runs} runs, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])) > 0)
