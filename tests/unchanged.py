"""What has not changed since it passed is not run again, as a plug-in of pytest: `--all` runs it all the same.

A result holds for a file, a notebook or one of tests, with all that the file depends on (`depends.py`), such as what is
installed; so it also holds if this machine cannot show all of it. It is kept in pytest's own cache, so CI, which begins
with an empty folder, has none.
"""
import os
from collections import defaultdict

import pytest
from depends import ROOT, key

UNCHANGED = pytest.StashKey()  # the files that are not run, a set of paths relative to the project
KEYS = {}  # for each file, the key that it had when the tests began
OUTCOMES = defaultdict(set)  # of the tests of each file


def pytest_addoption(parser):
    """Add the option that runs everything."""
    parser.addoption("--all", action="store_true", help="also run what has not changed since it passed")


def is_complete(config):
    """Return whether pytest was asked for everything that a marker selects, so that a result holds for a whole file."""
    option = config.option
    only = (option.keyword, option.maxfail, option.deselect, getattr(option, "lf", 0), getattr(option, "stepwise", 0))
    return config.args_source is config.ArgsSource.TESTPATHS and not any(only) and hasattr(config, "cache")


def entry(config, file):
    """Return the place of a result in the cache: it holds for the tests that a marker selects."""
    return f"unchanged/{config.option.markexpr.replace(' ', '-') or 'all'}/{file}"


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session):
    """Find out which files have passed as they are."""
    config = session.config
    config.stash[UNCHANGED] = set(getattr(config, "workerinput", {}).get("unchanged", []))
    if hasattr(config, "workerinput") or not is_complete(config) or os.environ.get("CI"):
        return
    for path in [*ROOT.glob("tests/test_*.py"), *ROOT.glob("d2lhelpers/**/*.py"), *ROOT.glob("editions/**/*.py"),
                 *ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("notebooks/*/*.ipynb")]:
        file = path.relative_to(ROOT).as_posix()
        KEYS[file] = key(path)
        if config.cache.get(entry(config, file), None) == KEYS[file] and not config.option.all:
            config.stash[UNCHANGED].add(file)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Tell a worker which files are not run, so that all workers collect the same tests."""
    node.workerinput["unchanged"] = sorted(node.config.stash[UNCHANGED])


def pytest_ignore_collect(collection_path, config):
    """Leave out the files that have not changed."""
    unchanged = {ROOT / file for file in config.stash[UNCHANGED]}
    return True if collection_path in unchanged else None


def pytest_runtest_logreport(report):
    """Keep the outcomes of the tests of each file."""
    OUTCOMES[report.nodeid.partition("::")[0]].add(report.outcome)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    """Keep the results of files in which no test has failed; if nothing was left to run, all is well."""
    config = session.config
    if hasattr(config, "workerinput"):
        return
    if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        for file in KEYS:
            if OUTCOMES[file] in ({"passed"}, {"passed", "skipped"}):
                config.cache.set(entry(config, file), KEYS[file])
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and config.stash[UNCHANGED]:
        session.exitstatus = pytest.ExitCode.OK


def pytest_terminal_summary(terminalreporter, config):
    """Print a line for each lesson that was not run, and one for all other files."""
    left = sorted(config.stash.get(UNCHANGED, ()))
    for file in left:
        if file.endswith(".ipynb"):
            terminalreporter.write_line(f"unchanged since it passed: {file}")
    if others := [file for file in left if not file.endswith(".ipynb")]:
        terminalreporter.write_line(f"unchanged since they passed: {len(others)} files of tests and doctests")
    if left:
        terminalreporter.write_line("make test ALL=1 runs all of them again")
