"""Races the helpers against their peers and the machine's limits; writes figures, charts and page: `make benchmark`.

An argument names another folder to write to. With QUICK_RACES=1 every race has a single round: does it work?
"""
import importlib
import json
import os
import platform
import re
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from page import write_page

from d2lhelpers import configure_engine, measure
from d2lhelpers.environment import usable_cores
from d2lhelpers.process import in_fresh_process

OURS, DEFAULTS = "our settings, hybridized", "the engine's defaults, imperative"
UNSET = dict.fromkeys(["OMP_NUM_THREADS", "MXNET_CPU_WORKER_NTHREADS", "MXNET_CPU_TEMP_COPY"])
QUESTIONS = [  # each with a module, and a function there that runs races
    ("Is our all-reduce as fast as its peers in MXNet?", "races_mxnet", "all_reduce"),
    ("Is our all-reduce as fast as its peers in PyTorch?", "races_torch", "all_reduce"),
    ("Does one bucket for all gradients save time?", "races_mxnet", "buckets"),
    ("Is splitting a batch cheap?", "races_mxnet", "split"),
    ("Is splitting a batch cheap?", "races_torch", "split"),
    ("What does a Timeline cost?", "races_mxnet", "timeline"),
    ("Do two devices halve the time?", "races_mxnet", "two_devices", OURS),
    ("Do two devices halve the time?", "races_mxnet", "two_devices", DEFAULTS),
    ("What do hybridize and torch.compile gain?", "races_mxnet", "hybridized"),
    ("What do hybridize and torch.compile gain?", "races_torch", "compiled"),
    ("What do DDP and FSDP2 cost here?", "races_torch", "two_processes"),
]
COUNTS = [2, 4, 8]  # arrays of an all-reduce
SIZES = [  # of each array, its length, and the rounds of a race
    ("4 kB", 1 << 10, 200),
    ("64 kB", 1 << 14, 200),
    ("1 MB", 1 << 18, 60),
    ("4 MB", 1 << 20, 30),
    ("16 MB", 1 << 22, 15),
    ("64 MB", 1 << 24, 7),
]
LARGE = 1 << 18  # from this length on, copying takes longer than calling
LIMIT = "limit: one element, from 1 MB on a copy"


def race(panel, work, contestants, repeat, **options):
    """Measure contestants in turns; return a row for each but the first, by whose times the others' are divided."""
    if "QUICK_RACES" in os.environ:
        repeat = 1
    times = measure(contestants, repeat=repeat, warmup=2, **options)
    ours, *others = times
    rows = []
    for other in others:
        ratio = times.ratio(other, ours)
        rows.append({"panel": panel, "work": work, "ours": ours, "seconds": times[ours].median,
                     "other": other, "low": ratio.low, "median": ratio.median, "high": ratio.high})
    return rows


def run(module, function, *settings):
    """Return the rows of some races. They have a process of their own, because it has one engine."""
    if module == "races_mxnet" and DEFAULTS not in settings:
        configure_engine(devices=2)
    return list(getattr(importlib.import_module(module), function)(*settings))


def machine():
    """Return a sentence about the machine, the versions and what else was running."""
    facts = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.+)", facts.read_text() if facts.exists() else "")
    model = found[1] if found else platform.machine()
    packages = [f"{name} {version(name)}" for name in ("mxnet", "d2l", "torch", "numpy") if find_spec(name)]
    return (f"{usable_cores()} cores of {model}; "
            f"Python {platform.python_version()}, {', '.join(packages)}; "
            f"{os.getloadavg()[0]:.1f} other programs were running on average when it began.")


def main():
    """Run the races, store the figures and write the page."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    about = {"machine": machine(), "missing": ["GPUs: all races run on the CPU"]}
    rows = []
    for question, *call in QUESTIONS:
        print(*call, file=sys.stderr)
        try:
            for row in in_fresh_process(run, *call, timeout=600, **UNSET):
                rows.append({"question": question, **row})
        except (RuntimeError, TimeoutError) as error:
            print(error, file=sys.stderr)
            about["missing"].append(f"{' '.join(call)}: {str(error).splitlines()[-1]}")
    folder.mkdir(exist_ok=True)
    lines = [json.dumps(each, ensure_ascii=False) for each in [about, *rows]]
    (folder / "results.json").write_text("[" + ",\n".join(lines) + "]\n", encoding="utf-8")
    write_page(folder)


if __name__ == "__main__":
    main()
