"""Measures the helpers, their peers and the machine's limits side by side and writes one table: `make benchmark`.

Each group of rows runs in a process of its own, because a process has one framework and one engine. All of a row take
turns, and what the table shows are medians over the rounds, of the ratios too, with their quartiles in brackets.
"""
import argparse
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import psutil

from d2lhelpers.benchmark import _seconds, measure
from d2lhelpers.process import in_fresh_process

HERE = Path(__file__).parent
ROOT = HERE.parent
DEFAULTS = dict.fromkeys(["MXNET_CPU_WORKER_NTHREADS", "OMP_NUM_THREADS", "OMP_WAIT_POLICY", "MXNET_CPU_TEMP_COPY"])
PATIENCE = 45  # seconds; with the engine's defaults, products on two devices may never come to an end

TWO = [["at_once", kind] for kind in ("product", "convolution", "element-wise")] + [
    ["training", network] for network in ("LeNet from scratch", "LeNet", "ResNet-18")]
GROUPS = [  # module and calls: a process each
    ["rows_mxnet", [["allreduce_rows", 2], ["allreduce_rows", 4], ["allreduce_rows", 8], ["gradients", "LeNet"],
                    ["gradients", "ResNet-18"], ["split"], *TWO, ["hybridized"], ["timing"]]],
    ["rows_torch", [["allreduce_rows", 2], ["allreduce_rows", 4], ["allreduce_rows", 8], ["split"], ["compiled"],
                    *[["two_processes", way] for way in ("DDP", "FSDP2", "tensor parallel")]]],
    *(["rows_mxnet", [[*call, True]]] for call in TWO),
]
TORCH = find_spec("torch") is not None  # on some machines there is none
SLOW = 4, 8, "ResNet-18", True  # calls with one of these are left out of the quick run


def line(work, times, goals=None, bound="", **extra):
    """Return one line of the table: `times` is a Comparison of "ours" and others.

    `goals` maps the label of another, or "fastest peer", to what its time is to be divided by ours at least; `extra`
    are further ratios to show. `bound` says what bounds the work, unless overhead does: then the same calls with next
    to nothing to do, a limit whose label holds "one element", take at least half as long.
    """
    ratios = {label: times.ratio(label, "ours") for label in times if label != "ours"}
    peers = [ratio for label, ratio in ratios.items() if not label.startswith("limit")]
    reached = {**ratios, "fastest peer": min(peers, default=None)}
    if any(ratio >= 0.5 for label, ratio in ratios.items() if "one element" in label):
        bound = "overhead"
    return {"work": work, "ours": _seconds(times["ours"].median), "bound": bound,
            "beside": [f"{label} {ratio}" for label, ratio in {**ratios, **extra}.items()],
            "goals": [[f"{label} {goal}×", bool(reached[label] >= goal)] for label, goal in (goals or {}).items()]}


def in_this_process(here, module, calls, quick):
    """Return the lines of one group; the process it runs in is its own."""
    import contextlib
    import importlib
    import io
    import sys

    sys.path.insert(0, here)
    with contextlib.redirect_stdout(io.StringIO()):
        rows = importlib.import_module(module)
        return [line for name, *arguments in calls for line in getattr(rows, name)(*arguments, quick=quick)]


def measured(module, calls, quick):
    """Return the lines of one group, or one that says that the engine's defaults did not come to an end."""
    book = calls[0][-1] is True
    try:
        return in_fresh_process(in_this_process, str(HERE), module, calls, quick, timeout=PATIENCE if book else 300,
                                **DEFAULTS)
    except TimeoutError:
        if not book:
            raise
        return [{"work": f"{calls[0][1]}, two devices: the engine's defaults", "ours": "", "bound": "", "goals": [],
                 "beside": [f"had not ended after {PATIENCE} seconds"]}]


def imports(quick):
    """Return the lines for importing the helpers beside the book's package, each in fresh processes."""
    program = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"

    def importing(what):
        command = [sys.executable, "-c", program.format(what)]
        return lambda: float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    every = "from d2lhelpers import *"
    times = measure({"ours": importing("import d2lhelpers"), every: importing(every),
                     "import d2l.mxnet": importing("import d2l.mxnet")},
                    repeat=1 if quick else 5, warmup=0, reported=True)
    return [line("import d2lhelpers", times, {"import d2l.mxnet": 40})]


def lessons():
    """Return the lines for executing half of the lessons and all of them again: takes minutes."""
    every = [str(path) for path in sorted((ROOT / "notebooks").rglob("*.ipynb"))
             if ".ipynb_checkpoints" not in path.parts]
    lines = []
    for files in (every[::2], every):
        def run(*command, files=files):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-m", *command, *files], cwd=ROOT, check=True, capture_output=True)
            return time.perf_counter() - start

        times = measure({"ours": lambda run=run: run("pytest", "-q"), "nbconvert --execute, one after another":
                         lambda run=run: run("nbconvert", "--execute", "--to", "notebook", "--stdout")},
                        repeat=1, warmup=0, reported=True)
        lines.append(line(f"{len(files)} lessons executed again", times, {"fastest peer": 1}))
    return lines


def machine():
    """Return a sentence about the machine and the versions."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        facts = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next((fact.partition(":")[2].strip() for fact in facts if fact.startswith("model name")), model)
    memory = psutil.virtual_memory().total / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in ("mxnet", "d2l", *["torch"] * TORCH, "numpy"))
    return (f"{cores} cores of {model}, {memory:.0f} GB of memory; Python {platform.python_version()}, {packages}; "
            f"before it began {os.getloadavg()[0]:.1f} programs were running on average.")


def table(lines):
    """Return the lines as a Markdown table."""
    rows = ["| work | its time | bound by | the others' time divided by it | to reach | reached |", "|" + "---|" * 6]
    for each in lines:
        goals = "<br>".join(text for text, _ in each["goals"])
        reached = "<br>".join("yes" if reached else "**no**" for _, reached in each["goals"])
        rows.append(f"| {each['work']} | {each['ours']} | {each['bound']} | {'<br>'.join(each['beside'])} | {goals} | "
                    f"{reached} |")
    return "\n".join(rows)


def main():
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="the smallest sizes, hardly repeated: does it run?")
    parser.add_argument("--lessons", action="store_true", help="execute every lesson again, too: takes minutes")
    parser.add_argument("--only", default="", help="only the calls that contain this")
    parser.add_argument("--output", help="where to write the table; a whole one goes to RESULTS.md")
    options = parser.parse_args()
    start, about, lines = time.perf_counter(), machine(), []
    for module, calls in GROUPS:
        kept = [call for call in calls if options.only in " ".join(map(str, [module, *call]))
                and not (options.quick and set(call) & set(SLOW))]
        if kept and (TORCH or module != "rows_torch"):
            print(f"{module}: {', '.join(' '.join(map(str, call)) for call in kept)}", file=sys.stderr, flush=True)
            lines += measured(module, kept, options.quick)
    if options.only in "imports":
        lines += imports(options.quick)
    if options.lessons:
        lines += lessons()
    minutes = (time.perf_counter() - start) / 60
    text = (f"# Measured\n\nBy `make benchmark`, in {minutes:.1f} minutes, on {about}\n\n"
            "Each line was measured in turns: medians of the ratios, their quartiles in brackets. "
            "Above 1× the others took longer. *Its operators, nothing checked* is the same sum by the framework's "
            "operators alone, with no argument looked at. *Bound by* overhead: with one element per array, the same "
            "calls take at least half as long; by computing: a second core shortens the work nearly as much as it "
            "shortens work that needs cores alone, else by what the devices share: memory, workspaces; by "
            "communication: with nothing exchanged it takes less than 0.6 of its time.\n\n"
            + table(lines) + "\n")
    output = options.output or (None if options.quick or options.only else HERE / "RESULTS.md")
    if output:
        Path(output).write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
