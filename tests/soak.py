"""`make soak`: every lesson through strict nbval again and again, every fourth time with all cores kept busy."""
import os
import subprocess
import sys
from pathlib import Path


def main(runs):
    """Run all lessons `runs` times, print a line per run and what the failing ones say, and return how many failed."""
    failed = 0
    for number in range(1, runs + 1):
        busy = number % 4 == 0
        loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() * busy)]
        try:
            done = subprocess.run([sys.executable, "-m", "pytest", "-qm", "", "-p", "no:cacheprovider", "notebooks"],
                                  cwd=Path(__file__).parents[1], capture_output=True, text=True)
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
        failed += done.returncode != 0
        passed = [line for line in done.stdout.splitlines() if " passed" in line]
        print(*([done.stdout, done.stderr] if done.returncode else passed), flush=True)
        print(f"run {number} of {runs}{', all cores busy' * busy}: {failed} failed so far", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])) > 0)
