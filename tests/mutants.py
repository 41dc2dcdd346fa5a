"""`make mutants`: change the package and the editions in one place at a time, and list what no test notices.

The tool, cosmic-ray, changes a copy of the project in build/mutants. What it finds is written to tests/mutants.md,
which keeps the reasons that people have given there. A second run tries only what is new or has no reason yet.
"""
import contextlib
import gc
import multiprocessing
import os
import random
import re
import resource
import shlex
import shutil
import signal
import sys
from importlib import import_module
from pathlib import Path

import pytest
from cosmic_ray.commands import init
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "mutants"
PAGE = ROOT / "tests" / "mutants.md"
NO_REASON = "?"
NAMES = ("both_tracks", "machine", "process", "timeline", "torch_jobs", "torch_needs", "torch_pipeline",
         "torch_sharding")
BOTH, MACHINE, PROCESS, TIMELINE, JOBS, NEEDS, PIPELINE, SHARDING = [f"tests/test_{name}.py" for name in NAMES]
GROUPS = [f"{PROCESS} -m slow -k {tests}" for tests in ("rank", "'not rank'")]
LIGHT = "tests/test_benchmark.py -k light"  # imports that are for editors alone
EDITIONS, GRADE = "tests/test_editions.py", "tests/test_grade.py"
ATTACKS = [GRADE, *(f"{GRADE} -m weekly -k {tests}" for tests in (
    "'isolated or exits or leaves'", "'misbehaves and not (hangs or exits or leaves)'", "hangs"))]
# The tests of each module in several runs, the quickest first.
TESTS = {
    "d2lhelpers/parts.py": ["d2lhelpers/parts.py", f"{BOTH} -k 'torch and (remainder or split_)'"],
    "d2lhelpers/benchmark.py": ["d2lhelpers/benchmark.py tests/test_benchmark.py",
                                f"{MACHINE} -k 'bars or suits or back_row'"],
    "d2lhelpers/exercises.py": ["d2lhelpers/exercises.py tests/test_exercises.py"],
    "d2lhelpers/datasets.py": ["d2lhelpers/datasets.py tests/test_datasets.py"],
    "d2lhelpers/torch.py": ["d2lhelpers/torch.py tests/test_torch.py", f"{BOTH} -k 'not mxnet-n'"],
    "d2lhelpers/mxnet.py": [f"d2lhelpers/mxnet.py {BOTH} -k 'not torch'", "tests/test_mxnet.py"],
    "d2lhelpers/timeline.py": [f"d2lhelpers/timeline.py {TIMELINE} -k 'counting or figures or idle or trace'",
                               f"{MACHINE} -k 'colours or back_row'", LIGHT, f"{TIMELINE} -k 'over_torch or memory'"],
    "d2lhelpers/torch_timeline.py": [f"{TIMELINE} -k torch_reads", f"d2lhelpers/torch_timeline.py {TIMELINE} -k torch"],
    "d2lhelpers/mxnet_timeline.py": [f"{TIMELINE} -k mxnet_reads",
                                     f"d2lhelpers/mxnet_timeline.py {TIMELINE} -k 'not torch'"],
    "d2lhelpers/machine.py": [f"d2lhelpers/machine.py {MACHINE} -k 'not limits and not calls'", LIGHT, MACHINE],
    "d2lhelpers/process.py": [PROCESS, "d2lhelpers/process.py", *GROUPS],
    "editions/write.py": [f"{EDITIONS} -k 'not nothing_needs'", f"{EDITIONS} -m slow -k 'not slide'"],
    "editions/translations.py": ["tests/test_translations.py"],
    "editions/search.py": ["editions/search.py"],
    "editions/book.py": [f"{EDITIONS} -k 'chapter or model or glossary or script or its_section'",
                         f"{EDITIONS} -m slow -k book_is_printed"],
    "editions/grade.py": [GRADE],
    "editions/grading/hand_ins.py": [f"editions/grading/hand_ins.py {GRADE}"],
    **{f"editions/grading/{name}.py": [GRADE] for name in ("cutting", "pages", "rows", "slices")},
    "editions/grading/runs.py": ATTACKS,  # not sandbox.py: a change to what it kills could kill every program
    "editions/lab/launch.py": ["tests/test_lab.py -m '' -k 'address or its_reader_alone'"],
    "d2lhelpers/surroundings.py": ["tests/test_surroundings.py", f"tests/test_mxnet.py {MACHINE}"],
    "d2lhelpers/words.py": ["d2lhelpers/words.py tests/test_exercises.py", "tests/test_translations.py -k speaks"],
    "d2lhelpers/_guard.py": [PROCESS],
    "d2lhelpers/_forks.py": [f"{PROCESS} -k server", *GROUPS],
    "d2lhelpers/plots.py": [MACHINE, LIGHT],
    "d2lhelpers/timeline_plot.py": [MACHINE],
    "d2lhelpers/score.py": ["d2lhelpers/score.py tests/test_score.py"],
    "d2lhelpers/torch_collectives.py": ["d2lhelpers/torch_collectives.py", f"{PIPELINE} -k collectives"],
    "d2lhelpers/torch_compiled.py": ["d2lhelpers/torch_compiled.py tests/test_torch_compiled.py"],
    "d2lhelpers/torch_gpt.py": ["d2lhelpers/torch_gpt.py tests/test_torch_gpt.py", f"{NEEDS} -k formula"],
    "d2lhelpers/torch_jobs.py": [f"{JOBS} -k 'failed or thread'", f"{JOBS} -m slow -k gpt_train"],
    "d2lhelpers/torch_memory.py": ["d2lhelpers/torch_memory.py tests/test_torch_memory.py"],
    "d2lhelpers/torch_messages.py": ["d2lhelpers/torch_messages.py", f"{JOBS} -k messages"],
    "d2lhelpers/torch_needs.py": [f"d2lhelpers/torch_needs.py {NEEDS} -k 'not loader'", NEEDS],
    "d2lhelpers/torch_pipeline.py": [f"d2lhelpers/torch_pipeline.py {PIPELINE} -k 'not stage and not collectives'",
                                     f"{PIPELINE} -k stage"],
    "d2lhelpers/torch_sharding.py": ["d2lhelpers/torch_sharding.py", f"{SHARDING} -k another", SHARDING],
    "d2lhelpers/torch_work.py": ["d2lhelpers/torch_work.py tests/test_torch_work.py", f"{NEEDS} -k 'formula or bytes'"],
}
LIMITS = {"processor": 20, "clock": 300}  # seconds after which tests count as failed: they would never end
# Each place is changed in one way: a test that sees one change of a sign or of a number would see the others, too.
NOISE = re.compile(
    "core/(ReplaceBinaryOperator_(?!Add_Sub|Sub_Add|Mul_Div|Div_Mul|FloorDiv_Mul|Mod_Mul|Pow_Mul)"
    "|ReplaceComparisonOperator_(?!Eq_NotEq|NotEq_Eq|Lt_LtE|LtE_Lt|Gt_GtE|GtE_Gt|Is_IsNot|IsNot_Is)"
    "|ReplaceUnaryOperator_(?!Delete_))")
FOR_EDITORS = re.compile(r"@overload\n.*?: \.\.\.\n", re.DOTALL)  # signatures that Python does not run
PLOTS = "plots.py", "timeline_plot.py"  # their numbers, and a roofline's, are distances, which a person judges; those
# outside of functions are limits, of sizes and of time, which decide how fast something is, and not what comes of it.
# What is slow to import is imported once, and each run of tests is a fork, but MXNet starts threads, which forks lack.
PRELOADED = ["torch.profiler", "matplotlib.pyplot", "hypothesis.extra.numpy", "nbclient", "nbconvert", "jupyter_client",
             "xdist", "ipywidgets", "pooch", "requests", "psutil", "cloudpickle"]
# No plug-in that the tests of a module do not use, and no rewritten assertions: a third of the time.
PYTEST = ["-xq", "-o", "addopts=", "--doctest-modules", "--assert=plain", "-W", "ignore", "-p", "no:cacheprovider",
          "-p", "no:nbval", "-p", "no:unraisableexception", "-p", "no:threadexception", "-m", "not slow"]


def changed_code(mutation):
    """Return what a change makes of its module, or None if it is left out: it is noise, or makes no Python."""
    path, operator = mutation.module_path, mutation.operator_name
    if NOISE.match(operator):
        return None
    if operator == "core/NumberReplacer":  # offers one more, then one less
        judged = path.name in PLOTS or mutation.definition_name in (None, "roofline")
        if judged or mutation.occurrence % 2 == 1:
            return None
    old = path.read_text(encoding="utf-8")
    try:
        code = mutate_code(old, get_operator(operator)(), mutation.occurrence)
        compile(code, path, "exec")
    except (AttributeError, SyntaxError):  # AttributeError: cosmic-ray 8.7 fails at `except zlib.error`
        return None
    return None if FOR_EDITORS.sub("", code) == FOR_EDITORS.sub("", old) else code


def prepare_for_forks():
    """Import what the forks need, and let the conftest.py of the current folder set their surroundings."""
    sys.path.insert(0, os.getcwd())
    for name in ["conftest", *PRELOADED]:
        with contextlib.suppress(ImportError):
            import_module(name)
    for name in [name for name in sys.modules if name.split(".")[0] in ("conftest", "d2lhelpers")]:
        del sys.modules[name]  # each fork imports its own
    os.environ["PYTEST_XDIST_WORKER"] = "a fork"  # its surroundings are set
    gc.freeze()  # no fork need look at what this process has made


def run_tests(module):
    """Run the tests of a module until one fails; return whether all pass, and what they print, or "timeout"."""
    printed = BUILD / "printed"
    for tests in TESTS[module]:
        arguments = [*PYTEST, *shlex.split(tests)]
        fork = multiprocessing.get_context("fork").Process(target=in_fork, args=[arguments, printed])
        fork.start()
        fork.join(LIMITS["clock"])
        late = fork.exitcode in (None, -signal.SIGXCPU)
        with contextlib.suppress(ProcessLookupError):  # also what the tests have started and left
            os.killpg(fork.pid, signal.SIGKILL)
        fork.join()
        if fork.exitcode != 0:
            return False, "timeout" if late else printed.read_text(errors="replace")
    return True, ""


def in_fork(arguments, printed):
    """Run pytest with these arguments, write what it prints to a file, and end with its exit status."""
    os.setsid()
    _, most = resource.getrlimit(resource.RLIMIT_CPU)  # stays, because runs of the grader set a limit of their own
    resource.setrlimit(resource.RLIMIT_CPU, (LIMITS["processor"], most))
    with printed.open("w") as file:
        for number in (1, 2):
            os.dup2(file.fileno(), number)
    sys.dont_write_bytecode = True  # two changes in a second would look the same to Python
    sys.exit(int(pytest.main(arguments)))


def try_change(module, new):
    """Run the tests of a module with this code, and return the result."""
    path = Path(module)
    old = path.read_text(encoding="utf-8")
    path.write_text(new, encoding="utf-8")
    passed, printed = run_tests(module)
    path.write_text(old, encoding="utf-8")
    both = zip(new.splitlines(), old.splitlines(), strict=False)
    line = next(after.strip() for after, before in both if after != before)
    return WorkResult(WorkerOutcome.NORMAL, printed, TestOutcome.SURVIVED if passed else TestOutcome.KILLED, line)


def try_changes(module, sample, explained):
    """Try what is new or not explained in a module; return how many changes there are, and all results of a sample."""
    session = BUILD / f"{module.replace('/', '-')}.sqlite"
    if session.exists() and session.stat().st_mtime < (ROOT / module).stat().st_mtime:
        session.unlink()
    with use_db(session) as base:
        if base.num_work_items == 0:
            init([Path(module)], base, {})
        items = sorted(base.work_items, key=lambda item: (item.mutations[0].start_pos, item.mutations[0].operator_name))
        codes = {item.job_id: changed_code(item.mutations[0]) for item in items}
        possible = [job for job, code in codes.items() if code is not None]
        chosen = list(possible)
        random.Random(0).shuffle(chosen)  # a larger sample holds a smaller one
        chosen = chosen[:sample]
        results = {job: result for job, result in base.results if result.is_killed or result.diff in explained}
        left = [job for job in chosen if job not in results]
        passed, printed = run_tests(module) if left else (True, "")
        if not passed:
            sys.exit(f"{module}: its tests fail without any change, or take too long\n{printed}")
        for job in left:
            results[job] = try_change(module, codes[job])
            base.set_result(job, results[job])
    return len(possible), [results[job] for job in chosen]


def read_page():
    """Return what the page says: the row of each module, and for each its surviving lines with their reasons."""
    rows, reasons = {}, {module: {} for module in TESTS}
    for line in PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else []:
        if row := re.fullmatch(r"\| (\S+\.py) \| (.+) \|", line):
            rows[row[1]] = row[2].split(" | ")
        elif heading := re.fullmatch(r"## (\S+)", line):
            module = heading[1]
        elif survivor := re.fullmatch(r"- `([^`]+)`: (.+)", line):
            reasons[module][survivor[1]] = survivor[2]
    return rows, reasons


def write_page(rows, reasons):
    """Write the page, and return how many changes were tried, how many survived, and which have no reason."""
    tried, survived = (sum(int(row[column]) for row in rows.values()) for column in (1, 4))
    lines = ["# Changes that no test notices", "",
             f"`make mutants` tried {tried} changes of the code, one at a time. The tests did not notice {survived} of "
             f"them ({survived / tried:.1%}). Each line below is what such a change has made of a line, and why it may "
             "stay so. The command writes this page, and keeps the reasons. Where fewer changes were tried than there "
             "are, they are a random sample; tests were written for what it showed, so among the others more may "
             "survive. A module that is not in the table has not been tried.", "",
             "| Module | Changes | Tried | Noticed | of these by the time limit | Survived |",
             "|---|--:|--:|--:|--:|--:|"]
    lines += [f"| {module} | {' | '.join(map(str, rows[module]))} |" for module in TESTS if module in rows]
    for module in TESTS:
        if reasons[module]:
            lines += ["", f"## {module}", "", *(f"- `{line}`: {why}" for line, why in reasons[module].items())]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tried, survived, [line for module in TESTS for line, why in reasons[module].items() if why == NO_REASON]


def main(modules, sample):
    """Try the changes of these modules, write the page, and end with an error if it is not as it should be."""
    copy = BUILD / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "build", "my-lessons", "__pycache__"))
    os.chdir(copy)
    os.environ["PYTHONPATH"] = str(copy)
    prepare_for_forks()
    rows, reasons = read_page()
    for module in modules:
        explained = [line for line, why in reasons[module].items() if why != NO_REASON]
        places, results = try_changes(module, sample, explained)
        survived = [result.diff for result in results if not result.is_killed]
        late = sum(result.output == "timeout" for result in results)
        rows[module] = [places, len(results), len(results) - len(survived), late, len(survived)]
        reasons[module] = {line: reasons[module].get(line, NO_REASON) for line in survived}
        tried, left, unexplained = write_page(rows, reasons)
        print(f"{module}: {len(results)} of {places} changes, {len(survived)} survived", flush=True)
    if left > 0.05 * tried or unexplained:
        sys.exit("\n".join([f"{left} of {tried} changes survived; without a reason:", *unexplained]))


if __name__ == "__main__":
    main(sys.argv[2:] or TESTS, int(sys.argv[1] or 0) or sys.maxsize)
