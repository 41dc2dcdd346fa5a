"""Races the helpers against their peers and the machine's limits; writes figures, charts and page: `make benchmark`.

All contestants of a race take turns. Each round gives ratios, of which the median and the quartiles are stored. An
argument names another folder to write to. With QUICK_RACES=1 a few small races are run for a few rounds: do they work?
"""
import contextlib
import importlib
import io
import json
import os
import platform
import sys
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import psutil
from page import write_page

from d2lhelpers import configure_engine, measure
from d2lhelpers.process import in_fresh_process
from d2lhelpers.surroundings import mxnet_fault, usable_cores

HERE = Path(__file__).parent
QUICK = "QUICK_RACES" in os.environ
SIZES = {4 << 10: 200, 64 << 10: 200, 1 << 20: 60, 4 << 20: 30, 16 << 20: 15, 64 << 20: 7}  # bytes: rounds
COUNTS, WORKS = [2, 4, 8], ["product", "training LeNet", "training ResNet-18"]
if QUICK:
    SIZES, COUNTS, WORKS = {4 << 10: 3}, [2], ["training LeNet"]
OURS, DEFAULTS = "our settings", "the engine's defaults"
RACES = {"races_mxnet": [["all_reduce"], ["gradients"], ["split"], ["hybridized"], ["helpers"]],
         "races_torch": [["all_reduce"], ["split"], ["compiled"], ["two_processes"]]}
for each in WORKS:
    RACES["races_mxnet"] += [["two_devices", each, OURS], ["two_devices", each, DEFAULTS]]
WARMUP = 2  # rounds that do not count
UNSET = dict.fromkeys(["OMP_NUM_THREADS", "OMP_WAIT_POLICY", "MXNET_CPU_WORKER_NTHREADS", "MXNET_CPU_TEMP_COPY"])


def record(question, panel, work, ours, others):
    """Return a race's result as it is stored: our median, and how many times as long each of the others took."""
    spans = {label: [float(f"{value:.4g}") for value in (ratio.low, ratio.median, ratio.high)]
             for label, ratio in others.items()}
    return {"question": question, "panel": panel, "work": work, "seconds": float(f"{ours:.4g}"), "others": spans}


def race(question, panel, work, contestants, repeat, **options):
    """Measure "ours" and the others in turns; limits are others whose label begins with "limit"."""
    times = measure(contestants, repeat=3 if QUICK else repeat, warmup=WARMUP, **options)
    others = {label: times.ratio(label, "ours") for label in times if label != "ours"}
    return record(question, panel, work, times["ours"].median, others)


def written(size):
    """Write a number of bytes in the unit that suits it."""
    return f"{size >> 20} MB" if size >> 20 else f"{size >> 10} kB"


def in_this_process(folder, module, function, *arguments):
    """Return the records of some races; the process they run in is their own, because it has one engine."""
    sys.path.insert(0, folder)
    with contextlib.redirect_stdout(io.StringIO()):
        if module == "races_mxnet" and DEFAULTS not in arguments:
            configure_engine(devices=2)
        return getattr(importlib.import_module(module), function)(*arguments)


def machine():
    """Return a sentence about the machine, the versions and what else was running."""
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        for fact in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if fact.startswith("model name"):
                model = fact.partition(":")[2].strip()
    packages = [f"{name} {version(name)}" for name in ("mxnet", "d2l", "torch", "numpy") if find_spec(name)]
    memory = psutil.virtual_memory().total / 2**30
    return (f"{usable_cores()} cores of {model}, {memory:.0f} GB of memory; Python {platform.python_version()}, "
            f"{', '.join(packages)}; {os.getloadavg()[0]:.1f} other programs were running on average when it began.")


def main():
    """Run the races, store the figures and write the page."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    start, about, records, missing = time.perf_counter(), machine(), [], []
    faults = {"races_mxnet": mxnet_fault(), "races_torch": "" if find_spec("torch") else "it is not installed"}
    for module, call in [(module, call) for module, calls in RACES.items() for call in calls]:
        what = f"{module.removeprefix('races_')}, {', '.join(call).replace('_', ' ')}"
        print(what, file=sys.stderr, flush=True)
        # With the engine's defaults, products on two devices may never come to an end.
        patience = 45 if DEFAULTS in call else 400
        if faults[module]:
            missing.append(f"{what}: {faults[module]}")
            continue
        try:
            records += in_fresh_process(in_this_process, str(HERE), module, *call, timeout=patience, **UNSET)
        except TimeoutError:
            missing.append(f"{what}: had not ended after {patience} seconds")
    missing += [each["missing"] for each in records if "missing" in each]
    about = {"machine": about, "minutes": round((time.perf_counter() - start) / 60, 1), "missing": missing}
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in records if "missing" not in each)
    head = json.dumps(about, ensure_ascii=False, indent=1).removesuffix("\n}")
    folder.mkdir(exist_ok=True)
    (folder / "results.json").write_text(f'{head},\n "records": [\n{lines}\n]}}\n', encoding="utf-8")
    write_page(folder)


if __name__ == "__main__":
    main()
