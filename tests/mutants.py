"""`make mutants`: change the package and the editions in one place at a time, and list what no test notices.

The tool, cosmic-ray, changes a copy of the project in build/mutants. The command writes what it finds to
tests/mutants.md; only the reasons there are typed by hand, and each goes when its line does.
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
from collections import namedtuple
from importlib import import_module
from itertools import zip_longest
from pathlib import Path

import pytest
from mutants_page import NO_REASON, ROOT, modules, read_page, still_there, write_page

BUILD = ROOT / "build" / "mutants"
# Tests of a module, or of each module in a folder, beside its doctests and the test file that has its name: names of
# test files, with arguments of pytest. Imports that are for editors alone are tested by `benchmark -k light`.
MORE_TESTS = {
    "d2lhelpers/__init__.py": ["benchmark -k light", "both_tracks"],
    "d2lhelpers/attempts.py": ["exercises"],
    "d2lhelpers/benchmark.py": ["machine -k 'bars or suits or back_row'"],
    "d2lhelpers/counters.py": ["machine -k 'calls or pages'"],
    "d2lhelpers/environment.py": ["mxnet", "machine"],
    "d2lhelpers/examine.py": ["examine -m slow"],
    "d2lhelpers/machine.py": ["benchmark -k light"],
    "d2lhelpers/messages.py": ["exercises", "translations -k speaks"],
    "d2lhelpers/mxnet/__init__.py": ["benchmark -k light"],
    "d2lhelpers/mxnet/data_parallel.py": ["both_tracks -k 'not torch'", "mxnet"],
    "d2lhelpers/partition.py": ["both_tracks -k 'torch and (remainder or split_)'"],
    "d2lhelpers/plain.py": ["examine"],
    "d2lhelpers/plots.py": ["machine", "benchmark -k light"],
    "d2lhelpers/process": ["process", "process -m slow -k rank", "process -m slow -k 'not rank'"],
    "d2lhelpers/timeline.py": ["machine -k 'colours or back_row'", "benchmark -k light"],
    "d2lhelpers/timeline_plot.py": ["machine"],
    "d2lhelpers/torch/__init__.py": ["torch", "benchmark -k light"],
    "d2lhelpers/torch/collectives.py": ["torch_jobs -k messages", "torch_pipeline -k collectives"],
    "d2lhelpers/torch/data_parallel.py": ["torch", "both_tracks -k 'not mxnet-n'"],
    "d2lhelpers/torch/engine_plot.py": ["torch_engine -k plot"],
    "d2lhelpers/torch/gpt.py": ["torch_bottleneck -k formula"],
    "d2lhelpers/torch/jobs.py": ["torch_jobs -m slow -k gpt_train"],
    "d2lhelpers/torch/work.py": ["torch_bottleneck -k 'formula or bytes'"],
    "editions/__main__.py": ["editions", "grades_table -k results_of", "editions -m slow -k terminated"],
    "editions/copies.py": ["editions", "editions -m slow -k terminated"],
    "editions/grading": ["grade"],
    "editions/grading/answers.py": ["answers_found"],
    "editions/grading/archives.py": ["submissions"],
    "editions/grading/dependencies.py": ["answers_found"],
    "editions/grading/exercise_program.py": ["answers_found"],
    "editions/grading/feedback.py": ["grades_table"],
    "editions/grading/lesson_grade.py": ["grades_table"],
    "editions/grading/limited.py": ["sandbox -m '' -k a_call"],
    "editions/grading/owners.py": ["submissions"],
    "editions/grading/reaches.py": ["answers_found"],
    "editions/grading/runs.py": ["sandbox -m '' -k 'not forks'"],
    "editions/grading/table.py": ["grades_table"],
    "editions/lab": ["lab -m '' -k 'address or its_reader_alone'"],
    "editions/lessons.py": ["editions"],
    "editions/student.py": ["editions", "answers_found"],
    "editions/translatable.py": ["translations"],
    "editions/site": ["editions", "editions -m slow -k book_is_printed"],
    "editions/slides": ["editions", "editions -m slow -k 'poor_slide or unfolded or sees or clicked or each_deck'"],
}
LIMITS = {"processor": 60, "clock": 300}  # seconds after which tests count as failed: they would never end
# Each place is changed in one way: a test that sees one change of a sign or of a number would see the others, too.
KINDS = ("core/(AddNot|ExceptionReplacer|NumberReplacer|RemoveDecorator|ZeroIterationForLoop"
         "|Replace(AndWithOr|OrWithAnd|TrueWithFalse|FalseWithTrue|BreakWithContinue|ContinueWithBreak)"
         "|ReplaceBinaryOperator_(Add_Sub|Sub_Add|Mul_Div|Div_Mul|FloorDiv_Mul|Mod_Mul|Pow_Mul)"
         "|ReplaceComparisonOperator_(Eq_NotEq|NotEq_Eq|Lt_LtE|LtE_Lt|Gt_GtE|GtE_Gt|Is_IsNot|IsNot_Is)"
         "|ReplaceUnaryOperator_Delete_.*)")
FOR_EDITORS = re.compile(r"@overload\n.*?: \.\.\.\n", re.DOTALL)  # signatures that Python does not run
# Numbers in these, and a roofline's, are distances, which a person judges; those outside of functions are limits, of
# sizes and of time, which decide how fast something is, and not what comes of it.
PLOTS = "plots.py", "timeline_plot.py", "engine_plot.py"
# What is slow to import is imported once, and each run of tests is a fork, but MXNet starts threads, which forks lack.
PRELOADED = ["torch.profiler", "matplotlib.pyplot", "hypothesis.extra.numpy", "nbclient", "nbconvert", "jupyter_client",
             "xdist", "ipywidgets", "pooch", "requests", "psutil", "cloudpickle"]
# No plug-in that the tests of a module do not use, and no rewritten assertions: a third of the time.
PYTEST = ["-xq", "-o", "addopts=", "--doctest-modules", "--assert=plain", "-W", "ignore", "-p", "no:cacheprovider",
          "-p", "no:nbval", "-p", "no:unraisableexception", "-p", "no:threadexception", "-m", "not slow",
          "--deselect", "tests/test_editions.py::test_nothing_needs_a_solution"]
Change = namedtuple("Change", "old new code")  # a line before and after it, and the whole module after it


def tests_of(module):
    """Return the arguments of pytest in each run of a module's tests: first its doctests and the file with its name.

    That is test_FOLDER_NAME.py or test_NAME.py. If there is neither, and nothing in MORE_TESTS, the file of its folder
    or of the package is taken.
    """
    package, *folders, name = Path(module).with_suffix("").parts
    more = MORE_TESTS.get(Path(module).parent.as_posix(), []) + MORE_TESTS.get(module, [])
    names = ["_".join([*folders, name]), name, *([] if more else [*folders, package])]
    files = [f"tests/test_{name}.py" for name in names if (ROOT / f"tests/test_{name}.py").exists()]
    doctests = [module] if ">>> " in (ROOT / module).read_text(encoding="utf-8") else []
    more = [re.sub(r"^\w+", r"tests/test_\g<0>.py", run) for run in more]
    return list(dict.fromkeys(filter(None, [" ".join(doctests + files[:1]), *more])))


def changes_of(module):
    """Return all changes of a module, in order."""
    from cosmic_ray.ast import ast_nodes, get_ast  # not above: tests/test_mutants.py needs no cosmic-ray
    from cosmic_ray.ast.ast_query import ASTQuery
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    old = Path(module).read_text(encoding="utf-8")
    nodes = list(ast_nodes(get_ast(old)))
    found = []
    for name in filter(re.compile(KINDS).fullmatch, sorted(operator_names())):
        operator = get_operator(name)()
        for number, node in enumerate(place for place in nodes for _ in operator.mutation_positions(place)):
            if name == "core/NumberReplacer":  # offers one more, then one less
                judged = Path(module).name in PLOTS or ASTQuery(node).get_definition_name() in (None, "roofline")
                if judged or number % 2 == 1:
                    continue
            with contextlib.suppress(AttributeError, SyntaxError):  # cosmic-ray 8.7 fails at `except zlib.error`
                code = mutate_code(old, operator, number)
                compile(code, module, "exec")
                if FOR_EDITORS.sub("", code) != FOR_EDITORS.sub("", old):
                    found.append((node.start_pos, Change(*changed_line(old, code), code)))
    return [change for _, change in sorted(found)]


def changed_line(old, new):
    """Return the first line that differs between two texts, as it is in each."""
    before, after = ([line.strip() for line in text.splitlines() if line.strip()] for text in (old, new))
    index = next(index for index, lines in enumerate(zip_longest(before, after)) if lines[0] != lines[1])
    return before[index], after[index] if len(before) == len(after) else "(nothing)"


def prepare_for_forks():
    """Import what the forks need, and let the conftest.py of the current folder set their environment."""
    sys.path[:0] = [os.getcwd(), os.path.join(os.getcwd(), "tests")]  # the tests' modules, too, are the copy's
    for name in ["conftest", *PRELOADED]:
        with contextlib.suppress(ImportError):
            import_module(name)
    for name in [name for name in sys.modules if name.split(".")[0] in ("conftest", "d2lhelpers")]:
        del sys.modules[name]  # each fork imports its own
    sys.meta_path[:] = [finder for finder in sys.meta_path if not type(finder).__module__.startswith("d2lhelpers")]
    os.environ["PYTEST_XDIST_WORKER"] = "a fork"  # its environment is set
    gc.freeze()  # no fork need look at what this process has made


def run_tests(module):
    """Run the tests of a module until one fails; return whether all pass, and what they print, or "timeout"."""
    printed = BUILD / "printed"
    for tests in tests_of(module):
        fork = multiprocessing.get_context("fork").Process(target=in_fork, args=[tests, printed])
        fork.start()
        fork.join(LIMITS["clock"])
        late = fork.exitcode in (None, -signal.SIGXCPU)
        with contextlib.suppress(ProcessLookupError):  # also what the tests have started and left
            os.killpg(fork.pid, signal.SIGKILL)
        fork.join()
        if fork.exitcode != 0:
            return False, "timeout" if late else printed.read_text(errors="replace")
    return True, ""


def in_fork(tests, printed):
    """Run these tests, write what they print to a file, and end with pytest's exit status."""
    os.setsid()
    _, most = resource.getrlimit(resource.RLIMIT_CPU)  # stays, because runs of the grader set a limit of their own
    resource.setrlimit(resource.RLIMIT_CPU, (LIMITS["processor"], most))
    with printed.open("w") as file:
        for number in (1, 2):
            os.dup2(file.fileno(), number)
    sys.dont_write_bytecode = True  # two changes in a second would look the same to Python
    sys.exit(int(pytest.main([*PYTEST, *shlex.split(tests)])))


def try_changes(module, sample, reasons):
    """Try a random sample of a module's changes, and all that survived before; return the figures and who survived."""
    path = Path(module)
    old = path.read_text(encoding="utf-8")
    changes = changes_of(module)
    chosen = random.Random(module).sample(changes, min(sample, len(changes)))
    again = [change for change in changes if change[:2] in reasons and change not in chosen]
    passed, printed = run_tests(module) if chosen else (True, "")
    if not passed:
        raise RuntimeError(f"{module}: its tests fail without any change, or take too long\n{printed}")
    results = {}
    for change in chosen + again:
        path.write_text(change.code, encoding="utf-8")
        results[change] = run_tests(module)
    path.write_text(old, encoding="utf-8")
    survived = sum(results[change][0] for change in chosen)
    late = sum(results[change][1] == "timeout" for change in chosen)
    survivors = [change[:2] for change in changes if change in results and results[change][0]]
    figures = len(changes), len(chosen), len(chosen) - survived, late, survived
    return figures, {change: reasons.get(change, NO_REASON) for change in survivors}


def main(sample, chosen):
    """Try changes of these modules, write the page, and end with an error if tests or reasons are missing."""
    copy = BUILD / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "build", "my-lessons", "__pycache__"))
    os.chdir(copy)
    os.environ["PYTHONPATH"] = str(copy)
    prepare_for_forks()
    figures, survivors = still_there(*read_page())
    faults = []
    for module in chosen:
        try:
            figures[module], survivors[module] = try_changes(module, sample, survivors.get(module, {}))
        except RuntimeError as error:
            figures.pop(module, None)
            faults.append(str(error))
        else:
            row = "{} changes, {} tried, {} noticed, {} by the time limit, {} survived".format(*figures[module])
            print(f"{module}: {row}", flush=True)
        write_page(figures, survivors)
    for module, found in survivors.items():
        unexplained = [change for change, why in found.items() if why == NO_REASON]
        faults += [f"{module}: neither a test nor a reason: {old} → {new}" for old, new in unexplained]
    sys.exit("\n".join(faults) or 0)


if __name__ == "__main__":
    main(int(sys.argv[1]) or sys.maxsize, sys.argv[2:] or modules())
