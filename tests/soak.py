"""`make soak`: run every lesson through strict nbval again and again, every fourth time with all cores kept busy."""
import os
import subprocess
import sys
from pathlib import Path


def main(runs):
    """Run all lessons `runs` times, print one line per run and the output of runs that fail; return how many failed."""
    failed = 0
    for number in range(1, runs + 1):
        busy = number % 4 == 0
        cores = os.cpu_count() if busy else 0
        loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(cores)]
        try:
            command = [sys.executable, "-m", "pytest", "-qm", "", "-k", "not Answers", "notebooks"]
            done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True)
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
        if done.returncode:
            failed += 1
            print(done.stdout, done.stderr)
        else:
            passed = [line for line in done.stdout.splitlines() if " passed" in line]
            print(*passed)
        load = ", all cores busy" if busy else ""
        print(f"run {number} of {runs}{load}: {failed} failed so far", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])) > 0)
