"""The set-up: its files agree, and every machine gets the tracks that it can run, or an error that says what to do."""
import contextlib
import fcntl
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from importlib import metadata
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from d2lhelpers import __version__

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
LOCKS = {"requirements.txt": ["mxnet", "pytorch", "lessons", "test"],
         "requirements-pytorch.txt": ["pytorch", "lessons", "test"],
         "requirements-jax.txt": ["pytorch", "lessons", "test", "jax"]}
SYSTEMS = {"requirements.txt": [("3.10", "linux", "x86_64"), ("3.10", "darwin", "x86_64"),
                                ("3.11", "linux", "x86_64"), ("3.11", "darwin", "x86_64")],
           "requirements-pytorch.txt": []}
for minor in range(10, 15):
    for system, machine in (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")):
        SYSTEMS["requirements-pytorch.txt"].append((f"3.{minor}", system, machine))
SYSTEMS["requirements-jax.txt"] = [each for each in SYSTEMS["requirements-pytorch.txt"] if each[0] != "3.10"]
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / ".github" / "workflows").iterdir()}


def lines(lock):
    """Return the requirements in a lock, without its comments."""
    return [line for line in (ROOT / lock).read_text().splitlines() if not line.startswith("#")]


def applies(requirement, environment):
    """Return whether a requirement applies in an environment."""
    return requirement.marker is None or requirement.marker.evaluate(environment)


def pins(lock, environment=None):
    """Return the version of each package that a lock pins in an environment; fail if it pins a package twice."""
    requirements = [Requirement(line.split(" #")[0]) for line in lines(lock)]
    applying = [pin for pin in requirements if applies(pin, environment)]
    versions = {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in applying}
    assert len(versions) == len(applying), f"{lock} pins a package twice"
    return versions


def environment(python, system, machine):
    """Return the variables that markers have on another machine."""
    return default_environment() | {
        "python_version": python, "python_full_version": f"{python}.9", "sys_platform": system,
        "platform_system": system.capitalize(), "platform_machine": machine}


# The files


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_is_pins(lock):
    """Every line of a lock pins one package to one version and names no address and no path."""
    for line in lines(lock):
        assert re.fullmatch(r"[a-z0-9.-]+==[a-z0-9.]+( ; [^#]+?)?\s+# via [^/]+", line), line


@pytest.mark.parametrize(("lock", "machine"), [(lock, machine) for lock in LOCKS for machine in SYSTEMS[lock]], ids=str)
def test_a_lock_holds_every_dependency(lock, machine):
    """On each of its systems a lock pins every dependency of tracks, tests and build to an allowed version."""
    here = environment(*machine)
    pinned = pins(lock, here)
    wanted = chain(PROJECT["dependencies"], PYPROJECT["build-system"]["requires"],
                   *(EXTRAS[extra] for extra in LOCKS[lock]))
    for dependency in map(Requirement, wanted):
        if dependency.name != PROJECT["name"] and applies(dependency, here):
            version = pinned.get(canonicalize_name(dependency.name))
            assert version, f"{dependency.name} is not in {lock}: make lock"
            assert dependency.specifier.contains(version), f"{dependency} is pinned to {version}: make lock"


def test_jax_is_beside_the_pytorch_track():
    """The lock with JAX has all pins of the PyTorch track's lock, and those of JAX."""
    for machine in SYSTEMS["requirements-jax.txt"]:
        here = environment(*machine)
        alone, both = pins("requirements-pytorch.txt", here), pins("requirements-jax.txt", here)
        assert both.items() >= alone.items()
        assert {"jax", "jaxlib"} <= both.keys() - alone.keys()


def test_installed_is_the_lock():
    """The packages that are installed here have the versions of the lock, and d2lhelpers has this version."""
    beside = "requirements-jax.txt" if find_spec("jax") else "requirements-pytorch.txt"
    lock = "requirements.txt" if find_spec("mxnet") else beside
    different = {}
    for name, version in {**pins(lock), PROJECT["name"]: __version__}.items():
        try:
            installed = metadata.version(name).split("+")[0]  # torch adds "+" and what it was built for
        except metadata.PackageNotFoundError:
            installed = "missing"
        if installed != version:
            different[name] = f"{installed}, not {version}"
    assert not different, different


def test_other_files_agree():
    """Conda's Python is one that its lock is made for; CI's jobs use those that the project allows."""
    python, _, by_pip = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    systems = SYSTEMS[by_pip["pip"][0].removeprefix("-r ")]
    assert python.removeprefix("python=") in [each for each, *_ in systems]
    jobs = WORKFLOWS["ci"]["jobs"]
    pythons = [each["python"] for job in jobs.values() for each in job["strategy"]["matrix"]["include"]]
    assert pythons
    assert all(SpecifierSet(PROJECT["requires-python"]).contains(python) for python in pythons)
    assert all("bash .ci/run" in job["steps"][-1]["run"] for job in jobs.values())


@pytest.mark.parametrize("name", sorted(WORKFLOWS))
def test_a_workflow_can_do_no_harm(name):
    """Jobs have a time limit and keep no credentials, actions are pinned by hash, and only deployment may write."""
    workflow = WORKFLOWS[name]
    assert workflow["permissions"] in ({}, {"contents": "read"})
    assert workflow["concurrency"]["group"]
    for job in workflow["jobs"].values():
        used = [step["uses"].split("@")[0] for step in job["steps"] if "uses" in step]
        writes = {right for right, level in job.get("permissions", {}).items() if level != "read"}
        assert job["timeout-minutes"] <= 90
        if "actions/deploy-pages" in used:
            assert writes == {"pages", "id-token"}
            assert len(job["steps"]) == 1, "a job that may write does nothing else"
        else:
            assert writes == set()
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False
    text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text()
    for line in re.findall(r".*\buses:.*", text):
        assert re.search(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


def test_every_weekly_test_runs_every_week():
    """Each file with tests that CI leaves out is named by the workflow that runs them."""
    weekly = re.compile(r"mark\.week" r"ly|each_kind\(\)")
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").glob("test_*.py")
             if weekly.search(path.read_text(encoding="utf-8"))}
    named = WORKFLOWS["weekly"]["jobs"]["tests"]["strategy"]["matrix"]["files"]
    assert files | {"notebooks"} == set(" ".join(named).split())  # answers are shown in the run of a notebook


def test_the_version_is_the_same_everywhere():
    """CITATION.cff and the first section of CHANGELOG.md name this version and the same date."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    newest = re.search(r"^## (\S+) \((\S+)\)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert citation["version"] == newest[1] == __version__
    assert str(citation["date-released"]) == newest[2]


def test_every_system_gets_the_same_packages():
    """CI, README.md and the container install the same packages; the devcontainer is built from Containerfile."""
    listed = re.search(r"packages=\((.+?)^    \)", (ROOT / ".ci" / "run").read_text(), re.DOTALL | re.MULTILINE)[1]
    needed = {line.split()[0] for line in listed.strip().splitlines()}
    assert len(needed) == 3
    # Debian's Python lacks venv, which the container's Python has; git clones, and serves the container's editor.
    for file, extra in (("README.md", {"git", "python3-venv"}), ("Containerfile", {"git"})):
        named = re.search(r"apt-get install(?: --\S+)*((?: [a-z0-9-]+)+)", (ROOT / file).read_text())[1]
        assert set(named.split()) == needed | extra, file
    folder = ROOT / ".devcontainer"
    container = (ROOT / "Containerfile").read_text()
    settings = json.loads((folder / "devcontainer.json").read_text())
    assert (folder / settings["build"]["dockerfile"]).resolve() == ROOT / "Containerfile"
    assert f" AS {settings['build']['target']}\n" in container
    assert f"USER {settings['remoteUser']}\n" in container


def test_code_is_clean():
    """Ruff finds nothing wrong in the package, the benchmarks, the editions, the tests and the lessons."""
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "."]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


# The tracks


WITHOUT = """
import sys
class Refuse:
    def find_spec(self, name, *rest):
        if name.split(".")[0] in {names}:
            raise {error}
sys.meta_path.insert(0, Refuse())
"""
USE_TORCH = """
import torch
from d2lhelpers.torch import *
data = [torch.ones(3), torch.ones(3)]
allreduce(data)
parts = split_and_load(torch.ones(7, 2), devices(2))
train, test = load_data(256, dataset="digits")
with Timeline() as timeline:
    parts[0] + 1
accuracy = evaluate_accuracy(test, lambda x: torch.zeros(len(x), 10), devices(2))
ratio = measure(dict.fromkeys("ab", lambda: sum(range(9)))).ratio("a", "b")
print(data[1].tolist(), [len(part) for part in parts], timeline.devices, 0 < accuracy < 1, ratio > 0)
"""


@pytest.mark.skipif(find_spec("torch") is None, reason="there is no PyTorch here")
def test_the_pytorch_track_needs_no_mxnet(tmp_path):
    """If mxnet and d2l cannot be imported, the helpers of the PyTorch track work, and print nothing of their own."""
    (tmp_path / "sitecustomize.py").write_text(WITHOUT.format(names=["mxnet", "d2l"], error="ImportError(name)"))
    done = subprocess.run([sys.executable, "-c", USE_TORCH], env=os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}"},
                          capture_output=True, text=True, timeout=600)
    assert (done.stdout, done.stderr) == ("[2.0, 2.0, 2.0] [4, 3] ['cpu'] True True\n", "")


@pytest.mark.slow
@pytest.mark.parametrize(("missing", "other", "left"), [
    ("mxnet", "torch", "pytorch/"), ("torch", "mxnet", "05-multi-gpu-from-scratch")])
def test_a_missing_track_is_left_out(tmp_path, missing, other, left):
    """Without one framework the tests and lessons of the other are collected, and one line says what is left out."""
    if find_spec(other) is None:
        pytest.skip(f"{other} is not installed, so that no track would be left")
    cannot_be_imported = WITHOUT.format(names=[missing], error="ModuleNotFoundError(name)")
    cannot_be_found = f"""
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == {missing!r} else find(name, package)
"""
    (tmp_path / "sitecustomize.py").write_text(cannot_be_imported + cannot_be_found)
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "CI"))}
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "--collect-only", "-q"]
    done = subprocess.run(command, env=variables | {"PYTHONPATH": f"{tmp_path}:{ROOT}"}, cwd=ROOT, capture_output=True,
                          text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    lessons = {line.split("::")[0] for line in done.stdout.splitlines() if line.startswith("notebooks/")}
    assert any(left in lesson for lesson in lessons)
    assert all(("pytorch/" in lesson) is (missing == "mxnet") for lesson in lessons)
    assert done.stdout.count(f"left out: the track of {missing}") == 1


# The commands


@pytest.fixture
def sandbox(tmp_path):
    """Return a folder with an awkward name, and a PATH with a few stubs and no Python, in which scripts can run."""

    class Sandbox:
        folder = tmp_path / "课程 with spaces"
        log = tmp_path / "log"

        def stub(self, name, script):
            path = tmp_path / "bin" / name
            path.unlink(missing_ok=True)  # a link to the system's own tool
            path.write_text(f"#!/bin/sh\n{script}\n")
            path.chmod(0o755)
            return path

        def python(self, name, change="", version="3.11", machine="x86_64", system="linux"):
            """Put a Python on the PATH that claims to be another one, and that only logs what it would install."""
            changed = tmp_path / f"change-{name}.py"
            changed.write_text(
                "import ctypes, ensurepip, platform, sys, venv\n"  # before they could see another system
                f"sys.version_info = (*map(int, {version!r}.split('.')), 1, 'final', 0); sys.version = {version!r}\n"
                f"sys.platform = {system!r}; platform.machine = lambda: {machine!r}\n"
                f"platform.libc_ver = lambda *_: ('glibc', '2.36'); ctypes.CDLL = lambda name: None\n{change}\n")
            disguise = f"import sys; exec(open({str(changed)!r}).read()); exec(sys.argv[1])"
            return self.stub(name, f'''
                isolated=
                if [ "$1" = -I ]; then isolated=-I; shift; fi
                case "$1 $2" in
                    "-m venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
                    "-m pip")
                        [ ! -e slow ] || {{ echo "$@" >>{self.log}; exec sleep 600; }}
                        echo "$@" >>{self.log}
                        [ ! -e broken ] || exit 1 ;;
                    *) exec {shlex.quote(sys.executable)} $isolated -c {shlex.quote(disguise)} "$2" ;;
                esac''')

        def run(self, *command, **variables):
            return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=600,
                                  env=self.environment | variables)

        def setup(self, **variables):
            return self.run("/bin/sh", str(self.folder / "setup.sh"), **variables)

        def installed(self):
            """Return what each call of pip has installed."""
            logged = self.log.read_text().splitlines() if self.log.exists() else []
            return [line.split()[-1] for line in logged]

    sandbox = Sandbox()
    sandbox.environment = {"PATH": str(tmp_path / "bin"), "LC_ALL": "C.UTF-8"}
    sandbox.folder.mkdir()
    (tmp_path / "bin").mkdir()
    (sandbox.folder / "d2lhelpers").mkdir()
    for name in ["setup.sh", *LOCKS, "pyproject.toml", "d2lhelpers/__init__.py"]:
        shutil.copy(ROOT / name, sandbox.folder / name)
    for tool in ["bash", "cat", "cksum", "cp", "dirname", "env", "find", "head", "ls", "mkdir", "rm", "sh",
                 "sleep"]:
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    sandbox.stub("uname", "echo Linux")
    return sandbox


@pytest.mark.parametrize("missing", ["", "libgomp1"])
def test_ci_is_make_test(sandbox, missing):
    """.ci/run installs missing Debian packages, then runs `make test-all` and ends with its exit status."""
    (sandbox.folder / ".ci").mkdir()
    script = shutil.copy(ROOT / ".ci" / "run", sandbox.folder / ".ci")
    sandbox.python("python3")
    sandbox.stub("id", "echo 0")
    sandbox.stub("dpkg-query", f'[ "$4" != "{missing}" ] && echo installed')
    sandbox.stub("apt-get", f'echo "$@" >>{sandbox.log}')
    sandbox.stub("make", f'echo make "$@" >>{sandbox.log}; exit 7')
    assert sandbox.run("bash", str(script)).returncode == 7
    expected = ["make test-all"]
    if missing:
        expected = ["update", f"install --yes --no-install-recommends {missing}", "make test-all"]
    assert sandbox.log.read_text().splitlines() == expected


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make here")
@pytest.mark.parametrize(("folder", "added"), [
    ("python3.11/site-packages/mxnet", False), ("python3.10/site-packages/torch", False),
    ("python3.13/site-packages/torch", True)])
def test_jax_is_added_where_it_can_run(tmp_path, folder, added):
    """`make jax` adds JAX to the PyTorch track, and CI does so, too; elsewhere one sentence says what to do."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "setup.sh").touch()
    (tmp_path / ".venv" / "lib" / folder).mkdir(parents=True)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir()
    shutil.copy(shutil.which("echo"), python)
    shutil.copy(python, python.parent / "uv")
    asked, in_ci = (subprocess.run(["make", *words], cwd=tmp_path, capture_output=True, text=True, timeout=60)
                    for words in (["jax"], ["test-all", "CI=true"]))
    assert (asked.returncode == 0) is added
    assert ("PYTHON=python3.13 make jax" in asked.stderr) is not added
    assert in_ci.returncode == 0
    assert all(("requirements-jax.txt" in done.stdout) is added for done in (asked, in_ci))


@pytest.mark.parametrize(("python", "lock"), [
    ({}, "requirements.txt"), ({"system": "darwin"}, "requirements.txt"),
    ({"version": "3.13"}, "requirements-pytorch.txt"), ({"machine": "aarch64"}, "requirements-pytorch.txt"),
    ({"machine": "arm64", "system": "darwin"}, "requirements-pytorch.txt")], ids=str)
def test_each_machine_gets_what_it_can_run(sandbox, python, lock):
    """Set-up installs the lock that fits the Python and says which tracks it holds; a second run does nothing."""
    sandbox.python("python3", **python)
    first = sandbox.setup()
    assert (first.returncode, first.stderr) == (0, "")
    assert ("both tracks" in first.stdout) is (lock == "requirements.txt")
    assert sandbox.installed() == [lock, "."]
    assert sandbox.setup().stdout == ""
    assert sandbox.installed() == [lock, "."]


@pytest.mark.parametrize(("python", "words"), [
    ({"version": "3.9"}, "3.10 or newer is needed"),
    ({"version": "3.13", "system": "darwin"}, "only MXNet runs on this Mac"),
    ({"change": "sys.modules['ensurepip'] = None"}, "apt-get install python3.11-venv"),
    ({"change": "platform.libc_ver = lambda *_: ('', '')"}, "use a Linux with glibc"),
    ({"change": "def CDLL(name):\n    raise OSError\nctypes.CDLL = CDLL"}, "apt-get install libgomp1"),
], ids=str)
def test_without_a_suitable_python_setup_says_why(sandbox, python, words):
    """If no Python fits, set-up says in one line what is wrong with which one, and makes nothing."""
    sandbox.python("python3", **python)
    told = sandbox.setup()
    assert told.returncode != 0
    assert words in told.stderr
    assert "python3: " in told.stderr
    assert len(told.stderr.splitlines()) == 1
    assert not (sandbox.folder / ".venv").exists()
    assert sandbox.installed() == []


@pytest.mark.parametrize(("module", "debian", "fedora"), [
    ("bz2", "libbz2-dev", "bzip2-devel"), ("ctypes", "libffi-dev", "libffi-devel"),
    ("lzma", "liblzma-dev", "xz-devel"), ("sqlite3", "libsqlite3-dev", "sqlite-devel"),
    ("ssl", "libssl-dev", "openssl-devel"), ("zlib", "zlib1g-dev", "zlib-devel")])
def test_setup_refuses_a_python_built_without_a_module(sandbox, module, debian, fedora):
    """Set-up names a module that Python was built without and the packages to install, and takes another Python."""
    lacking = str(sandbox.python("python3.11", change=f"sys.modules[{module!r}] = None"))
    why = f"it was built without {module}: apt-get install {debian}, or dnf install {fedora}, then build Python again"
    for name, variables in (("python3.11", {}), (lacking, {"PYTHON": lacking})):
        told = sandbox.setup(**variables)
        assert told.returncode != 0
        assert told.stderr.startswith(f"setup: no suitable Python; {name}: {why};")
        assert len(told.stderr.splitlines()) == 1
    sandbox.python("python3.10", version="3.10")
    assert sandbox.setup(PYTHON=lacking).returncode != 0
    assert sandbox.installed() == []
    assert sandbox.setup().returncode == 0
    assert sandbox.installed() == ["requirements.txt", "."]


def test_setup_names_every_module_that_is_missing(sandbox):
    """Where Python was built without several modules, one line names them all."""
    sandbox.python("python3", change="sys.modules['lzma'] = sys.modules['bz2'] = None")
    told = sandbox.setup().stderr
    assert "without bz2, lzma: apt-get install libbz2-dev liblzma-dev, or dnf install bzip2-devel xz-devel, " in told


def test_setup_takes_the_python_it_is_told(sandbox):
    """PYTHON comes before those on the PATH; another PYTHON replaces .venv, and one that does not fit is an error."""
    sandbox.python("python3.11")
    assert sandbox.setup().returncode == 0
    chosen = sandbox.python("mine", version="3.12").rename(sandbox.folder / "my python")
    assert sandbox.setup(PYTHON=str(chosen)).returncode == 0
    assert sandbox.installed()[2:] == ["requirements-pytorch.txt", "."]
    sandbox.python("old", version="3.9")
    assert "old: it is Python 3.9" in sandbox.setup(PYTHON="old").stderr
    assert sandbox.installed()[4:] == []


def test_setup_with_the_same_python_does_nothing(sandbox):
    """If PYTHON is the Python of .venv, even under another name, set-up installs nothing again."""
    sandbox.python("python3.11")
    assert sandbox.setup().returncode == 0
    for name in ("python3.11", str(sandbox.folder.parent / "bin" / "python3.11"), ".venv/bin/python"):
        assert sandbox.setup(PYTHON=name).stdout == ""
        assert len(sandbox.installed()) == 2


def test_setup_starts_over_or_goes_on(sandbox):
    """A failed or moved .venv is made anew; a change of pyproject.toml is installed into the existing one."""
    sandbox.python("python3")
    added = sandbox.folder / ".venv" / "added"
    (sandbox.folder / "broken").touch()
    assert sandbox.setup().returncode != 0
    (sandbox.folder / "broken").unlink()
    added.touch()
    assert sandbox.setup().returncode == 0
    assert not added.exists()
    added.touch()
    installed = sandbox.installed()
    (sandbox.folder / "pyproject.toml").write_text("")
    assert sandbox.setup().returncode == 0
    assert added.exists()
    assert sandbox.installed() == [*installed, "requirements.txt", "."]
    sandbox.folder = sandbox.folder.rename(sandbox.folder.parent / "moved")
    assert sandbox.setup().returncode == 0
    assert not (sandbox.folder / ".venv" / "added").exists()


def test_setup_cut_short_is_not_ready(sandbox):
    """If set-up ends while it empties the .venv of another Python, the next set-up does not take it for ready."""
    sandbox.python("python3.11")
    sandbox.python("python3.12", version="3.12")
    assert sandbox.setup().returncode == 0
    find = sandbox.folder.parent / "bin" / "find"
    find.unlink()
    sandbox.stub("find", "exit 1")
    assert sandbox.setup(PYTHON="python3.12").returncode != 0
    find.unlink()
    find.symlink_to(shutil.which("find"))
    assert sandbox.setup().returncode == 0
    assert sandbox.installed() == ["requirements.txt", "."] * 2


@pytest.mark.parametrize("kind", ["folder", "link", "link to ours", "file"])
def test_setup_leaves_what_it_did_not_make(sandbox, kind):
    """A .venv that set-up did not make stays as it is, and one line says what to do; without it, set-up works."""
    sandbox.python("python3")
    venv = sandbox.folder / ".venv"
    elsewhere = sandbox.folder.parent / "elsewhere"
    if kind == "file":
        venv.write_text("mine")
    else:
        made = venv if kind == "folder" else elsewhere
        made.mkdir()
        (made / "mine").touch()
    if kind == "link to ours":
        (elsewhere / ".made-by-make").touch()
    if kind.startswith("link"):
        venv.symlink_to(elsewhere)
    before = sorted(sandbox.folder.parent.rglob("*"))
    for variables in ({}, {"PYTHON": "python3"}):
        told = sandbox.setup(**variables)
        assert told.returncode != 0
        assert told.stderr.startswith("setup: .venv was not made by this command")
        assert len(told.stderr.splitlines()) == 1
    assert sorted(sandbox.folder.parent.rglob("*")) == before
    venv.rename(sandbox.folder / "my venv")
    assert sandbox.setup().returncode == 0


@pytest.mark.parametrize("mark", ["", ".ready"])
def test_setup_takes_an_empty_folder_or_an_earlier_versions(sandbox, mark):
    """Set-up takes an empty .venv, which a set-up killed at its start leaves, and one whose only mark is .ready."""
    sandbox.python("python3")
    (sandbox.folder / ".venv").mkdir()
    if mark:
        (sandbox.folder / ".venv" / mark).write_text("elsewhere")
    assert sandbox.setup().returncode == 0
    assert sandbox.installed() == ["requirements.txt", "."]


@pytest.fixture
def slow_setup(sandbox):
    """Start a set-up in a session of its own, and let it wait in its first installation."""
    sandbox.python("python3")
    (sandbox.folder / "slow").touch()
    process = subprocess.Popen(["/bin/sh", "setup.sh"], cwd=sandbox.folder, env=sandbox.environment,
                               start_new_session=True)
    while not sandbox.installed():
        assert process.poll() is None
        time.sleep(0.05)
    (sandbox.folder / "slow").unlink()
    yield process
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.parametrize("shell", ["runs", "was killed"])
def test_two_setups_do_not_interfere(sandbox, slow_setup, shell):
    """While a set-up installs, or a process that it started still does, a second one says so and changes nothing."""
    if shell == "was killed":
        slow_setup.kill()
        slow_setup.wait()
    before = {path: path.stat().st_mtime_ns for path in sandbox.folder.rglob("*")}
    told = sandbox.setup()
    assert told.returncode != 0
    assert "another make is setting up" in told.stderr
    assert len(told.stderr.splitlines()) == 1
    assert {path: path.stat().st_mtime_ns for path in sandbox.folder.rglob("*")} == before


def test_many_setups_at_once_install_once(sandbox):
    """Of several set-ups that start together, one installs; each of the others says so or finds the work done."""
    sandbox.python("python3")
    command = ["/bin/sh", "setup.sh"]
    every = [subprocess.Popen(command, cwd=sandbox.folder, env=sandbox.environment, stderr=subprocess.PIPE, text=True)
             for _ in range(8)]
    ended = [(process.communicate()[1], process.returncode) for process in every]
    assert ("", 0) in ended
    for told, _ in ended:
        assert told == "" or "another make is setting up" in told
    assert sandbox.installed() == ["requirements.txt", "."]
    assert sandbox.setup().returncode == 0


def test_a_setup_that_begins_meanwhile_is_no_stranger(sandbox):
    """A set-up whose first look at .venv falls between another one's first two steps does not take it for foreign."""
    sandbox.python("python3")
    (sandbox.folder / ".venv").mkdir()
    sandbox.stub("ls", ": >.venv/.made-by-make; echo .made-by-make")
    assert sandbox.setup().returncode == 0
    assert sandbox.installed() == ["requirements.txt", "."]


def test_setup_starts_over_after_it_was_killed(sandbox, slow_setup):
    """After a set-up was killed with all processes that it had started, the next one makes .venv anew."""
    (sandbox.folder / ".venv" / "half").touch()
    os.killpg(slow_setup.pid, signal.SIGKILL)
    slow_setup.wait()
    with (sandbox.folder / ".venv" / ".made-by-make").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # wait until all of them have ended
    for file in (sandbox.folder / ".venv").iterdir():
        if file.is_file() and file.read_text().strip() == str(slow_setup.pid):
            file.write_text(str(os.getpid()))  # in containers another process soon has the same number
    assert sandbox.setup().returncode == 0
    assert sandbox.setup().stdout == ""
    assert sandbox.installed() == ["requirements.txt", "requirements.txt", "."]
    assert not (sandbox.folder / ".venv" / "half").exists()


def test_setup_imports_no_file_of_the_folder(sandbox):
    """A file in the project's folder or on PYTHONPATH that is named like a module changes nothing."""
    sandbox.python("python3")
    for name in ("sitecustomize", "signal", "platform", "ctypes", "fcntl"):
        (sandbox.folder / f"{name}.py").write_text("raise SystemExit('the wrong file')")
    done = sandbox.setup(PYTHONPATH=str(sandbox.folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert sandbox.setup(PYTHON="python3", PYTHONPATH=str(sandbox.folder)).stdout == ""
