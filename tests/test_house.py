"""The set-up: its files agree with one another and with what is installed, and a system that cannot have it is told."""
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
LOCK = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
HIDE_TORCH = """
from importlib.machinery import PathFinder
find = PathFinder.find_spec
PathFinder.find_spec = classmethod(
    lambda cls, name, *rest: None if name.split(".")[0] == "torch" else find(name, *rest))
"""
DEPENDENCIES = [*PROJECT["dependencies"], *chain(*PROJECT["optional-dependencies"].values())]


def pins(environment=None):
    """The version of each package that the lock gives in an environment, by name."""
    requirements = [Requirement(line.split(" #")[0]) for line in LOCK]
    applying = [pin for pin in requirements if pin.marker is None or pin.marker.evaluate(environment)]
    names = [canonicalize_name(pin.name) for pin in applying]
    assert len(names) == len(set(names)), f"pinned twice: {sorted({name for name in names if names.count(name) > 1})}"
    return {name: str(pin.specifier).removeprefix("==") for name, pin in zip(names, applying, strict=True)}


# What agrees with what


def test_lock_is_pins():
    """Every line of requirements.txt pins one package to one version and names no address and no path."""
    for line in LOCK:
        assert re.fullmatch(r"[a-z0-9.-]+==[a-z0-9.]+( ; [^#]+?)?\s+# via [^/]+", line), line


@pytest.mark.parametrize("system", ["linux", "darwin"])
@pytest.mark.parametrize("python", ["3.10", "3.11"])
def test_lock_holds_every_dependency(python, system):
    """Every dependency of pyproject.toml, extras and build backend included, is pinned once, within its range."""
    environment = {
        **default_environment(),
        "python_version": python,
        "python_full_version": f"{python}.9",
        "sys_platform": system,
        "platform_system": system.capitalize(),
        "platform_machine": "x86_64",
    }
    pinned = pins(environment)
    for dependency in map(Requirement, DEPENDENCIES + PYPROJECT["build-system"]["requires"]):
        if dependency.marker is None or dependency.marker.evaluate(environment):
            version = pinned.get(canonicalize_name(dependency.name))
            assert version, f"{dependency.name} is not in requirements.txt: make lock"
            assert dependency.specifier.contains(version), f"{dependency} is pinned to {version}: make lock"


def test_installed_is_the_lock():
    """The packages of the running Python are those of requirements.txt, and d2lhelpers is this one."""
    different = {}
    for name, version in {**pins(), PROJECT["name"]: PROJECT["version"]}.items():
        try:
            installed = metadata.version(name).split("+")[0]  # torch says behind a "+" what it was built for
        except metadata.PackageNotFoundError:
            installed = "missing"
        if installed != version:
            different[name] = f"{installed}, not {version}"
    assert not different, different


def test_conda_environment_is_the_lock():
    """environment.yml has a Python that pyproject.toml allows, and installs requirements.txt and this folder."""
    python, pip, by_pip = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    assert SpecifierSet(PROJECT["requires-python"]).contains(python.removeprefix("python="))
    assert pip == "pip"
    assert by_pip == {"pip": ["-r requirements.txt", "-e ."]}


def test_dependencies_have_reasons():
    """Every dependency in pyproject.toml says on its own line what it is for."""
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    for dependency in DEPENDENCIES:
        assert any(re.match(rf'\s*"{re.escape(dependency)}",\s+# .{{10}}', line) for line in lines), dependency


def test_code_is_clean():
    """Ruff has nothing to say about the package, the benchmarks, the editions, the tests and the lessons."""
    folders = ["d2lhelpers", "benchmarks", "editions", "tests", "notebooks"]
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", *folders]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


# The commands


@pytest.fixture
def house(tmp_path):
    """A folder with an awkward name, and a PATH with a few stubs and no Python, for scripts to run in."""

    class House:
        folder = tmp_path / "课程 with spaces"
        log = tmp_path / "log"

        def which(self, name):
            return tmp_path / "bin" / name

        def stub(self, name, script):
            path = self.which(name)
            path.write_text(f"#!/bin/sh\n{script}\n")
            path.chmod(0o755)
            return path

        def python(self, name, change=""):
            """A Python that is the running one after `change`, and that only notes what it would install."""
            changed = tmp_path / f"change-{name}"
            changed.mkdir()
            (changed / "sitecustomize.py").write_text(change)
            return self.stub(name, f'''
                case "$1 $2" in
                    "-m venv")
                        if [ "$3" = --clear ]; then rm -rf .venv; fi
                        mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
                    "-m pip") echo "$@" >>{self.log} && [ ! -e broken ] ;;
                    *) PYTHONPATH={changed} exec {shlex.quote(sys.executable)} "$@" ;;
                esac''')

        def run(self, *command):
            environment = {"PATH": str(tmp_path / "bin"), "LC_ALL": "C.UTF-8"}
            return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=60)

        def setup(self):
            return self.run("/bin/sh", str(self.folder / "setup.sh"))

        def logged(self):
            return self.log.read_text().splitlines() if self.log.exists() else []

    house = House()
    house.folder.mkdir()
    (tmp_path / "bin").mkdir()
    for name in ["setup.sh", "requirements.txt", "pyproject.toml"]:
        shutil.copy(ROOT / name, house.folder)
    for tool in ["bash", "cat", "cksum", "cp", "dirname", "env", "grep", "head", "mkdir", "rm", "sh"]:
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    house.stub("uname", 'case "$1" in -s) echo Linux ;; -m) echo x86_64 ;; esac')
    house.stub("ldd", "echo 'ldd (GNU libc) 2.36'")
    return house


def test_make_lists_every_target():
    """`make` alone names every target of the Makefile, each with what it does, and does nothing else."""
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.M)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    output = subprocess.run(["make"], cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    assert re.findall(r"^make (\w+) +\w.{9}", output, flags=re.M) == targets
    assert len(output.splitlines()) == len(targets) > 5


@pytest.mark.parametrize("missing", ["", "make", "libgomp1", "libquadmath0", "chromium", "python3-venv"])
def test_ci_is_make_test(house, missing):
    """.ci/run installs just the Debian packages that are missing, then leaves it to `make test` and its exit status."""
    (house.folder / ".ci").mkdir()
    script = shutil.copy(ROOT / ".ci" / "run", house.folder / ".ci")
    house.python("python3", "import sys; sys.modules['ensurepip'] = None" if missing == "python3-venv" else "")
    house.stub("id", "echo 0")
    house.stub("dpkg-query", f'[ "$4" != "{missing}" ] && echo installed')
    house.stub("apt-get", f'echo apt-get "$@" >>{house.log}')
    house.stub("make", f'echo make "$@" >>{house.log}; exit 7')
    assert house.run("bash", str(script)).returncode == 7
    install = ["apt-get update", f"apt-get install --yes --no-install-recommends {missing}"] if missing else []
    assert house.logged() == [*install, "make test ARGS=-m ''"]  # every test, the slow ones as well


def test_workflow_is_ci_run():
    """The workflow runs .ci/run, in time, with a Python that pyproject.toml allows."""
    job = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]["test"]
    pythons = [step["with"]["python-version"] for step in job["steps"] if "setup-python" in step.get("uses", "")]
    assert job["steps"][-1] == {"run": "bash .ci/run"}
    assert 0 < job["timeout-minutes"] <= 120
    assert [SpecifierSet(PROJECT["requires-python"]).contains(python) for python in pythons] == [True]


# Systems that cannot have MXNet: the name of a command, what it does here, and what the user is told to do.
NO_LIBGOMP = """
import ctypes
real = ctypes.CDLL
def CDLL(name, *rest):
    if name == "libgomp.so.1":
        raise OSError(name)
    return real(name, *rest)
ctypes.CDLL = CDLL
"""
UV = """
echo uv "$@" >>{log} && mkdir -p .venv/bin && cp "$(dirname "$0")/{python}" .venv/bin/python
"""
MAC = "import ensurepip, platform, sys, venv; sys.platform = 'darwin'; platform.machine = lambda: "
APPLE = 'case "$1" in -s) echo Darwin ;; -m) echo arm64 ;; esac'
SYSTEMS = {
    "Windows": ("uname", "echo MINGW64_NT-10.0-19045", "WSL 2"),
    "BSD": ("uname", "echo FreeBSD", "use Linux or macOS"),
    "musl": ("ldd", "echo 'musl libc (x86_64)' >&2; exit 1", "use a Linux with glibc"),
    "Apple silicon": ("uname", APPLE, "CONDA_SUBDIR=osx-64 conda env"),
}
PYTHONS = {
    "3.12": ("import sys; sys.version_info = (3, 12, 1, 'final', 0)", "install uv"),
    "no venv": ("import sys; sys.modules['ensurepip'] = None", f"apt-get install python3.{sys.version_info[1]}-venv"),
    "no libgomp": (NO_LIBGOMP, "apt-get install libgomp1 libquadmath0"),
}


def assert_told(house, remedy):
    """Set-up said one line with the remedy on stderr, and made and installed nothing."""
    result = house.setup()
    assert result.returncode != 0
    assert remedy in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""
    assert not (house.folder / ".venv").exists()
    assert not [line for line in house.logged() if "pip" in line]


@pytest.mark.parametrize("system", SYSTEMS)
def test_setup_refuses_system(house, system):
    """A system without an MXNet 1.9.1 is told where there is one, even where a Python and uv are present."""
    command, script, remedy = SYSTEMS[system]
    house.stub(command, script)
    house.python("python3", MAC + "'arm64'")
    house.stub("uv", UV.format(log=house.log, python="python3"))
    assert_told(house, remedy)


@pytest.mark.parametrize("python", PYTHONS)
def test_setup_refuses_python(house, python):
    """Where Python cannot run MXNet or make a .venv, or MXNet's libraries are missing, set-up says what to install."""
    change, remedy = PYTHONS[python]
    house.python("python3", change)
    assert_told(house, remedy)


def test_setup_needs_a_python(house):
    """Where the only Python is a shim with nothing behind it, set-up says how to get one, not what the shim says."""
    house.stub("python3.11", "echo 'pyenv: python3.11: command not found' >&2; exit 127")
    assert_told(house, "install uv")


def test_setup_looks_at_libraries_with_uv(house):
    """A Python from uv is asked for MXNet's libraries too, and what uv made is removed where one is missing."""
    house.python("absent-from-the-list", NO_LIBGOMP)
    house.stub("uv", UV.format(log=house.log, python="absent-from-the-list"))
    assert_told(house, "apt-get install libgomp1 libquadmath0")


def test_setup_installs_once(house):
    """Set-up installs the lock, then the project by itself, as pip is configured; a second run does nothing."""
    house.python("python3.11")
    first = house.setup()
    assert (first.returncode, first.stderr) == (0, "")
    assert len(first.stdout.splitlines()) == 1
    install = "-m pip install --disable-pip-version-check --quiet"
    once = [f"{install} -r requirements.txt", f"{install} --no-deps --no-build-isolation --editable ."]
    assert house.logged() == once
    second = house.setup()
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    assert house.logged() == once


def test_setup_takes_the_python_it_is_told(house):
    """The Python that PYTHON names is asked before those on the PATH."""
    house.python("python3.11", "raise SystemExit('asked the one on the PATH')")
    chosen = house.python("mine").rename(house.folder / "my python")
    result = house.run("env", f"PYTHON={chosen}", "/bin/sh", "setup.sh")
    assert (result.returncode, result.stderr) == (0, "")


def test_setup_goes_through_rosetta(house):
    """On Apple silicon set-up takes an x86_64 Python where one is present, past one that is not."""
    house.stub("uname", APPLE)
    house.python("python3.11", MAC + "'arm64'")
    house.python("python3.10", MAC + "'x86_64'")
    assert house.setup().returncode == 0
    assert (house.folder / ".venv" / "bin" / "python").read_text() == house.which("python3.10").read_text()


def test_setup_uses_uv(house):
    """Where there is no suitable Python and uv is present, uv makes .venv, with pip in it."""
    house.python("absent-from-the-list")
    house.stub("uv", UV.format(log=house.log, python="absent-from-the-list"))
    assert house.setup().returncode == 0
    assert house.logged()[0] == "uv venv --quiet --seed --python 3.11 .venv"
    assert len(house.logged()) == 3


def test_setup_starts_over_after_a_failure(house):
    """An installation that failed half-way is not taken for a whole one: the next run starts over."""
    house.python("python3")
    (house.folder / "broken").touch()
    assert house.setup().returncode != 0
    left = house.folder / ".venv" / "left-over"
    left.touch()
    (house.folder / "broken").unlink()
    assert house.setup().returncode == 0
    assert not left.exists()
    assert len(house.logged()) == 3


def test_setup_follows_the_lock(house):
    """A changed lock is installed into the .venv that is there, so that what the user added to it stays."""
    house.python("python3")
    house.setup()
    added = house.folder / ".venv" / "added"
    added.touch()
    with (house.folder / "requirements.txt").open("a") as lock:
        lock.write("colorama==0.4.6\n")
    assert house.setup().returncode == 0
    assert added.exists()
    assert len(house.logged()) == 4


def test_setup_follows_the_folder(house):
    """In a folder that was moved or copied, whose .venv still points at the old one, set-up starts over."""
    house.python("python3")
    house.setup()
    house.folder = house.folder.rename(house.folder.parent / "moved")
    left = house.folder / ".venv" / "left-over"
    left.touch()
    assert house.setup().returncode == 0
    assert not left.exists()


def collected(folder, *paths, **variables):
    """Collect the tests in `paths`, without PyTorch, and return how that ended and what it printed."""
    (folder / "sitecustomize.py").write_text(HIDE_TORCH)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "CI"))}
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "--collect-only", "-q", *paths]
    done = subprocess.run(command, env=environment | variables, cwd=ROOT, capture_output=True, text=True, timeout=200)
    return done.returncode, done.stdout


def test_without_torch_its_track_is_left_out(tmp_path):
    """Where there is no PyTorch, as on macOS, its tests and lessons are left out and all of MXNet's stay."""
    status, names = collected(tmp_path)
    assert status == 0, names
    assert "tests/test_tracks.py::test_devices[mxnet-np]" in names
    assert "notebooks/07-many-machines.ipynb::Cell 0" in names
    left = {line for line in names.splitlines() if "torch" in line and "test_house" not in line}
    assert all(line.startswith(("tests/test_editions.py::", "tests/test_lessons.py::")) for line in left), left


@pytest.mark.skipif(sys.platform != "linux", reason="there is PyTorch for Linux alone")
def test_without_torch_ci_fails(tmp_path):
    """In CI on Linux PyTorch's track is never left out: without it the run fails."""
    status, words = collected(tmp_path, "tests/test_torch.py", "--maxfail=1", CI="1")
    assert status != 0
    assert "No module named 'torch'" in words
