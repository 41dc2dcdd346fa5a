"""What a stranger's code can do while it is graded, and what it cannot: attacks on the sandbox, and its limits."""
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import psutil
import pytest

from editions.grading import feedback, limited, runs, sandbox

ROOT = Path(__file__).parents[1]
LIMITS = runs.RunLimits(seconds=25, memory=0.6)
CHECK = "print('WORD', 1.0)"
pytestmark = [pytest.mark.slow, pytest.mark.one_job]


@pytest.fixture(scope="module", params=["isolated", "limits only"])
def place(request, tmp_path_factory):
    """Return a place for runs, with bubblewrap or without."""
    if request.param == "isolated" and sandbox.fault():
        assert not os.environ.get("CI") or shutil.which("bwrap")  # containers may forbid what it does
        pytest.skip(sandbox.fault().shown())
    lessons = tmp_path_factory.mktemp("lessons")
    (lessons / "checks_x").mkdir()
    (lessons / "checks_x" / "__init__.py").write_text("value = 1\n")
    with runs.prepared(lessons, request.param == "isolated") as place:
        yield place


class Attack(NamedTuple):
    """A cell, and how its run ends: the reason in words, or "" if the cell after it is run."""

    source: str
    ends: str


ATTACKS = {
    "hangs": Attack("while True: pass", "still running after 25 seconds"),
    "eats memory": Attack("a = []\nfor _ in range(10): a.append(bytearray(10**8))\nimport time; time.sleep(5)",
                          "more than 0.6 GB of memory"),
    "eats memory without a name": Attack(
        "import os, time\na = os.memfd_create('a')\nfor _ in range(800): os.write(a, bytes(10**6))\ntime.sleep(5)",
        "more than 0.6 GB of memory"),
    "starts processes": Attack("import subprocess, time\nfor _ in range(60): subprocess.Popen(['sleep', '60'])\n"
                               "time.sleep(5)", "more than 40 processes"),
    "forks for ever": Attack("import os, time\nwhile True:\n    os.fork()\n    time.sleep(0.05)", "more than"),
    "fills the disk": Attack(
        "import os, time\nfor name in 'ab':\n    file = open(os.path.expanduser('~/../kernel/') + name, 'wb')\n"
        "    for _ in range(600): file.write(bytes(10**6))\ntime.sleep(5)", "wrote more than 1 GB"),
    "leaves at once": Attack("import os; os._exit(0)", "its process was ended"),
    "floods": Attack("for _ in range(200): print('x' * 50_000)", ""),
    "deletes its files": Attack("import os, shutil; shutil.rmtree(os.path.expanduser('~'))", ""),
    "exits": Attack("exit()\nraise SystemExit", ""),
    "closes its output": Attack("import os\nos.close(1); os.close(2)", ""),
}
AT_EACH_PUSH = "starts processes", "eats memory without a name", "leaves at once"  # the others once a week


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[] if name in AT_EACH_PUSH else pytest.mark.weekly) for name in ATTACKS])
def test_a_submission_that_misbehaves(name, place, monkeypatch):
    """A run that hangs, grows, multiplies, floods or dies ends with a clear reason, and leaves no process behind."""
    watch = sandbox.watch
    folders = []
    monkeypatch.setattr(sandbox, "watch", lambda *given: folders.append(given[3]) or watch(*given))
    source, ends = ATTACKS[name]
    found, why = runs.run([source, CHECK], ".", place, LIMITS)
    assert ends in (why.shown() if why else "")
    assert bool(why) is bool(ends)
    assert bool(found[-1]) is not bool(ends)
    assert not found[0] or len(str(found[0])) < 9 * runs.MAX_TEXT_CHARS
    assert not left_behind(*folders)


def left_behind(folder):
    """Return all processes whose home is in a folder, except those that have ended."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("HOME", "").startswith(str(folder)) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


BY_HANDLE = """
import ctypes, os
class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_uint), ("type", ctypes.c_int), ("inode", ctypes.c_ulonglong)]
libc = ctypes.CDLL(None, use_errno=True)
opened = libc.open_by_handle_at(os.open(os.path.expanduser("~"), 0), ctypes.byref(Handle(8, 1, 2)), 0)
print(opened, os.strerror(ctypes.get_errno()))
"""


def test_a_submission_is_isolated(place, tmp_path, capfd):
    """A run sees no file, process, socket or server of ours, has no rights, and writes only what lies in memory."""
    if not place.isolated:
        pytest.skip("limits only")
    server = socket.create_server(("127.0.0.1", 0))
    local = socket.socket(socket.AF_UNIX)
    local.bind(str(tmp_path / "socket"))
    local.listen()
    (tmp_path / "secret").write_text("secret")
    tmp_path.chmod(0o777)  # open to any account
    ours = subprocess.Popen(["sleep", "98.765"])
    told = {
        "parent": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)",
        "processes": "import glob\nprint(any('98.765' in open(p).read() for p in glob.glob('/proc/[0-9]*/cmdline')))",
        "write": f"open({str(tmp_path / 'new')!r}, 'w')",
        "project": f"print(os.listdir({str(ROOT)!r})); open({str(ROOT / 'd2lhelpers' / 'new')!r}, 'w')",
        "secret": f"print(open({str(tmp_path / 'secret')!r}).read())",
        "net": f"import socket; socket.create_connection({server.getsockname()!r}, 2)",
        "local": f"socket.socket(socket.AF_UNIX).connect({str(tmp_path / 'socket')!r})",
        "handle": BY_HANDLE,
        "rights": "print(*[l for l in open('/proc/self/status') if l.startswith(('Cap', 'NoNew'))])",
        "user": "import subprocess; print(subprocess.run(['unshare', '-Ur', 'true'], capture_output=True).returncode)",
        "system": "for name in ('/new', '/dev/new', '/usr/new', '/proc/sysrq-trigger', '/proc/sys/vm/swappiness'):\n"
                  "    try: open(name, 'w'); print('written', name)\n    except OSError as e: print(type(e))",
        "screen": "import sys\nos.write(sys.stdout._original_stdstream_copy, b'[1/1] eve: 3 of 3')",
        "mounts": f"print({str(tmp_path)!r} in open('/proc/self/mountinfo').read())",
        "check": CHECK}
    found, why = runs.run([*told.values()], ".", place, LIMITS)
    shown = dict(zip(told, map(feedback.text_of, found), strict=True))
    ours.kill()
    ours.wait()
    assert why is None
    assert shown["parent"] == ""
    assert shown["processes"] == "False"
    assert "FileNotFoundError" in shown["write"]
    assert not (tmp_path / "new").exists()
    assert "notebooks" not in shown["project"]
    assert "Read-only" in shown["project"]
    assert "FileNotFoundError" in shown["secret"]
    assert "ConnectionRefusedError" in shown["net"]
    assert "FileNotFoundError" in shown["local"]
    assert shown["handle"].startswith("-1")
    assert {line.split()[1] for line in shown["rights"].splitlines()} == {16 * "0", "1"}
    assert shown["user"] not in ("", "0")
    assert "written" not in shown["system"]
    assert capfd.readouterr().out == ""
    assert shown["mounts"] == "False"
    assert shown["check"].startswith("WORD")


HONEST = {
    "beside": "open('notes.txt', 'w').write('1'); print(open('notes.txt').read())",
    "elsewhere": "import os, tempfile; here = os.getcwd(); os.chdir(tempfile.mkdtemp())\n"
                 "import checks_x; print(checks_x.value)",
    "home": "open(os.path.expanduser('~/a'), 'w').write('1'); tempfile.mkdtemp(); print(1)",
    "shared memory": "from multiprocessing.shared_memory import SharedMemory; m = SharedMemory(create=True, size=9)\n"
                     "print(1); m.close(); m.unlink()",
    "a command": "!echo 1",
}


def test_what_an_honest_submission_needs_works(place):
    """A run may write beside its notebook, go to another folder, share memory between processes and call commands."""
    found, why = runs.run([*HONEST.values()], ".", place, LIMITS)
    assert why is None
    assert [feedback.text_of(each) for each in found] == ["1"] * len(HONEST)


def test_checks_are_read_only(place):
    """A run can change none of the files that examine it."""
    if not place.isolated:
        pytest.skip("limits only")
    source = "import os\nfor name in ('checks_x/__init__.py', 'checks_x/new'):\n    open(name, 'a')"
    found, _ = runs.run([source, "os.rename('checks_x', 'other')"], ".", place, LIMITS)
    assert ["Read-only" in feedback.text_of(found[0]), "OSError" in feedback.text_of(found[1])] == [True, True]


def test_file_systems_in_memory_have_a_size(place):
    """What a run may write in memory ends at its limit of memory, in each of the folders that it may write."""
    if not place.isolated:
        pytest.skip("limits only")
    source = "import shutil\nprint(*[round(shutil.disk_usage(p).total / 1e9, 1) for p in ('/tmp', '/dev/shm', '.')])"
    found, _ = runs.run([source], ".", place, LIMITS)
    assert feedback.text_of(found[0]) == "0.6 0.6 0.6"


def test_how_many_threads_a_run_may_have(monkeypatch):
    """The limit of an account is what it has now, and a fixed number more."""
    stranger = SimpleNamespace(num_threads=lambda: 9, uids=lambda: SimpleNamespace(real=os.getuid() + 1))
    monkeypatch.setattr(psutil, "process_iter", lambda: [psutil.Process(), stranger])
    assert sandbox.threads() - psutil.Process().num_threads() == sandbox.MAX_TASKS >= 300


def test_roots_processes_have_limits(monkeypatch):
    """What root grades may start no more threads and take no more memory than its limits, which the system enforces."""
    if os.geteuid() or sandbox.fault():
        pytest.skip("this account is not root, or the system cannot isolate")
    monkeypatch.setattr(sandbox, "MAX_TASKS", 20)
    commands = {"for i in $(seq 40); do sleep 1 & done; wait": False,
                f"exec {sys.executable} -c 'bytes(10**8) * 3'": (sandbox.GROUPS / "memory").is_dir() or None}
    for command, kills in commands.items():
        with sandbox.control_groups(10**8) as groups:
            join = "".join(f"echo $$ > {group}/cgroup.procs; " for group in groups)
            ended = subprocess.run(["sh", "-c", join + command], capture_output=True, text=True)
            assert kills in (None, sandbox.ran_out_of_memory(groups))
        assert "fork" in ended.stderr or ended.returncode == -9 or kills is None
        assert not any(group.exists() for group in groups)


def test_memory_is_counted_once():
    """Memory without a name is counted, and what processes share is counted once when it matters."""
    own = [psutil.Process()]
    before = sandbox.memory_of(own, Path("/tmp"), 0)
    unnamed = os.memfd_create("a")
    os.write(unnamed, bytes(5 * 10**7))
    assert 4.5e7 < sandbox.memory_of(own, Path("/tmp"), 0) - before < 9e7
    os.close(unnamed)
    resident = sandbox.memory_of(own, Path("/tmp"), 10**15)
    assert sandbox.memory_of(own, Path("/tmp"), 0) < resident == pytest.approx(own[0].memory_info().rss, rel=0.2)


def test_what_a_file_takes_on_the_disk(tmp_path):
    """A file counts with the blocks that it takes, and with nothing if it has gone since it was listed."""
    (tmp_path / "file").write_bytes(bytes(9000))
    assert 9000 <= sandbox.size_of(tmp_path / "file") < 10**6
    assert sandbox.size_of(tmp_path / "gone") == 0


def test_without_bubblewrap_it_says_what_to_install(monkeypatch):
    """Where bubblewrap is missing or refused, the reason names the package or what it said."""
    sandbox.fault.cache_clear()
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    assert "install the package bubblewrap" in sandbox.fault().shown()
    monkeypatch.undo()
    sandbox.fault.cache_clear()
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: "bwrap")
    monkeypatch.setattr(sandbox, "command", lambda *_: ["sh", "-c", "echo no map >&2; exit 1"])
    assert sandbox.fault().shown().endswith("cannot isolate here: no map")
    sandbox.fault.cache_clear()


def test_a_flood_is_shortened():
    """Of many outputs and of a long text the beginning and the end are kept."""
    assert runs.few([*range(40)]) == [*range(40)]
    assert runs.few([*range(41)]) == [*range(20), *range(21, 41)]
    fits = runs.MAX_TEXT_CHARS * "ab"
    assert runs.shortened(fits) == fits
    longer = runs.shortened(f"1{fits}2")
    assert (longer[0], longer[-1], len(longer)) == ("1", "2", len(fits) + len("\n[...]\n"))


def test_a_run_that_sends_nothing_is_told(place, monkeypatch):
    """Of a run whose process ends before it has sent anything, no cell has outputs, and the remark says so."""
    monkeypatch.setattr(runs, "execute", print)
    outputs, why = runs.run(["1"], Path(), place, runs.RunLimits())
    assert (outputs, why.shown()) == ([[]], "its process was ended")


@pytest.mark.parametrize(("call", "why"), [
    ((time.sleep, 9), "took more than 1 seconds to read"), ((bytearray, 10**9), "takes more than 0.5 GB"),
    ((int, "x"), "could not be read (ValueError: invalid literal"), ((os._exit, 0), "the process that read it ended")],
    ids=str)
def test_a_call_ends_at_its_limits(call, why):
    """A call in a process of its own ends at limits of time and memory; how it ended is said in words."""
    with pytest.raises(limited.Refused) as refused:
        limited.call(*call, seconds=1 if call[0] is time.sleep else 60, memory=0.5)
    assert why in refused.value.remark.shown()


def test_a_call_returns_what_the_function_returns():
    """Without a fault, a call returns what the function does."""
    assert limited.call(sorted, [2, 1]) == [1, 2]
