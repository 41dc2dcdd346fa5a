import contextlib
import functools
import gc
import itertools
import multiprocessing
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

import d2lhelpers
from d2lhelpers.process import forks, free_port, in_fresh_process, in_fresh_processes, in_group, launch
from d2lhelpers.process import guard as guarding
from d2lhelpers.process.calls import StoredCall

FOR_EVER = "import time; print('still here', flush=True); time.sleep(600)"
WITH_CHILD = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', *sys.argv[1:]]); {FOR_EVER}"
needs_torch = pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed")


def python(program, *arguments, **variables):
    """Return the command and the variables with which `launch` runs a Python program."""
    return [sys.executable, "-c", program, *arguments], variables


def running(marker):
    """Return the running processes that have `marker` among their arguments."""
    return [process for process in psutil.process_iter(["cmdline"]) if marker in (process.info["cmdline"] or [])]


def wait_for_processes(number, marker):
    """Wait until `number` processes have `marker` among their arguments; return False if that takes too long."""
    deadline = time.monotonic() + 300  # a loaded machine needs a minute to import PyTorch
    while True:
        right = len(running(marker)) == number
        if right or time.monotonic() > deadline:
            return right
        time.sleep(0.05)


def wait_for_end(numbers):
    """Wait until the processes with these numbers have ended; return False if that takes too long.

    One that has ended may stay as a zombie: in many containers, process 1 does not collect it.
    """
    def runs(number):
        try:
            return psutil.Process(number).status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    deadline = time.monotonic() + 120
    while any(map(runs, numbers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(map(runs, numbers))


@pytest.fixture
def marker(tmp_path):
    """Return an argument that marks the processes of a test, and kill those that are still running afterwards."""
    yield str(tmp_path)
    for process in running(str(tmp_path)):
        with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
            process.kill()


def test_outputs_are_kept_apart():
    """Each process has its own variables, and what it prints comes back unchanged under its name."""
    program = r"import os, sys; print(os.environ['ROLE'], '\r', 'HOME' in os.environ); print('aside', file=sys.stderr)"
    commands = {role: python(program, ROLE=role, HOME=None) for role in "ab"}
    assert launch(commands) == {"a": "a \r False\n", "b": "b \r False\n"}


def test_only_the_lessons_thread_settings_are_inherited(monkeypatch):
    """A fresh process has OMP_NUM_THREADS, which lessons set, but none of the reader's other settings of threads."""
    others = ["MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "OMP_PROC_BIND", "GOMP_SPINCOUNT",
              "KMP_AFFINITY", "MKL_DYNAMIC"]
    for name in [*others, "OMP_NUM_THREADS"]:
        monkeypatch.setenv(name, "3")
    assert in_fresh_process(lambda: [name for name in others if name in os.environ]) == []
    assert in_fresh_process(lambda: os.environ["OMP_NUM_THREADS"]) == "3"
    assert in_fresh_process(lambda: os.environ["MKL_NUM_THREADS"], MKL_NUM_THREADS=2) == "2"


def test_a_command_that_fails_is_named(tmp_path):
    """A failed command is named at once with its exit status, its output comes first, and the others are ended."""
    served = str(tmp_path / "served")
    server = python("import sys, time; print('here', flush=True); open(sys.argv[1], 'w'); time.sleep(600)", served)
    worker = python("import os, sys, time\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.01)\n1 / 0", served)
    start = time.monotonic()
    with pytest.raises(RuntimeError) as caught:
        launch({"server": server, "worker 1": worker}, timeout=100)
    assert time.monotonic() - start < 90  # it has not waited for the limit
    words = str(caught.value)
    assert words.startswith("worker 1 failed with exit status 1; the others were ended\n--- worker 1 printed:\nTrace")
    assert words.index("ZeroDivisionError") < words.index("--- server printed:\nhere")


def test_the_limit_ends_everything(marker):
    """At the time limit, running commands are named and ended with their children, and all output is shown."""
    both = dict.fromkeys("ab", python(WITH_CHILD, FOR_EVER, marker))
    with pytest.raises(TimeoutError, match=r"a and b took more than 5 seconds(?s:.*)still here(?s:.*)c printed:\ndone"):
        launch({**both, "c": python("print('done')")}, timeout=5)
    assert running(marker) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=str)
def test_a_command_that_a_signal_ends_is_named(number):
    """If a signal ends a command, the error says which."""
    with pytest.raises(RuntimeError, match=f"worker failed with signal {number.name}"):
        launch({"worker": python(f"import os; os.kill(os.getpid(), {number:d})")})


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize(("program", "number"), [
    ("process.launch({'worker': ([sys.executable, '-c', *arguments], {})})", 3),  # the guard, the process and its child
    pytest.param("process.in_group(subprocess.run, [sys.executable, '-c', *arguments])", 4,
                 marks=[needs_torch, pytest.mark.slow]),
], ids=["launch", "in_group"])
def test_an_interrupt_ends_everything(marker, program, number, how):
    """Ctrl-C, which reaches a whole group, or killing the kernel ends all processes and their children."""
    program = ("import faulthandler, subprocess, sys\nfrom d2lhelpers import process\n"
               "faulthandler.dump_traceback_later(100, exit=True)  # shows where it hangs\n"
               f"arguments = sys.argv[1:]\n{program}")
    waiting = subprocess.Popen([sys.executable, "-c", program, WITH_CHILD, FOR_EVER, marker], stderr=subprocess.PIPE,
                               start_new_session=True)
    assert wait_for_processes(number + 1, marker)  # one more for the process that waits
    started = [process.pid for process in psutil.Process(waiting.pid).children(recursive=True)]
    (os.killpg if how == signal.SIGINT else os.kill)(waiting.pid, how)
    _, errors = waiting.communicate(timeout=120)
    assert (b"KeyboardInterrupt" in errors) is (how == signal.SIGINT), errors.decode()
    assert wait_for_processes(0, marker)
    assert wait_for_end(started)


def test_a_guard_without_adoption_ends_its_group(marker):
    """Where orphans are not handed to the guard, as on macOS, it ends those of the command's process group."""
    program = ("import psutil, runpy, subprocess, sys; sys.platform = 'darwin'; del sys.argv[0]; "
               "runpy.run_path(sys.argv[0], run_name='__main__')")
    orphan = ["sh", "-c", '"$@" >/dev/null & echo started', "sh", sys.executable, "-c", FOR_EVER, marker]
    guard = subprocess.Popen([sys.executable, "-c", program, guarding.__file__, "", *orphan], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, start_new_session=True)
    assert guard.stdout.read() == b"started\n"
    assert guard.wait() == 0
    assert wait_for_processes(0, marker)
    guard.stdin.close()


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="macOS has os.waitid since Python 3.13")
def test_a_guard_knows_whether_its_child_has_ended():
    """A child has ended as soon as it ends, and still has once its parent has waited for it."""
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    assert not guarding.has_ended(child.pid)
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert guarding.has_ended(child.pid)
    child.wait()
    assert guarding.has_ended(child.pid)


def in_session(*command):
    """Return a command that starts another one in a new session and does not wait for it."""
    return ["sh", "-ec", 'command -v setsid; setsid "$@" &', "sh", *command]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hands orphans to a process that asks for them")
@pytest.mark.parametrize("run", [
    lambda command: launch({"worker": (command, {})}),
    pytest.param(lambda command: in_group(subprocess.run, command), marks=[needs_torch, pytest.mark.slow]),
], ids=["launch", "in_group"])
def test_what_left_its_group_is_ended(marker, run):
    """A grandchild in another session, whose parent has ended, is ended with the command or the rank."""
    run(in_session(sys.executable, "-c", FOR_EVER, marker))
    assert wait_for_processes(0, marker)


def test_a_port_that_is_taken_is_not_given(monkeypatch):
    """A free port is one that no other program has."""
    with socket.socket() as other:
        taken = free_port()
        other.bind(("127.0.0.1", taken))
        draws = itertools.chain([taken - 20_000], range(12_000))
        monkeypatch.setattr("secrets.randbelow", lambda most: next(draws))
        assert free_port() != taken


def test_an_unknown_command_is_named():
    """A command that does not exist is named, and the others are ended."""
    with pytest.raises(RuntimeError, match=r"worker failed(?s:.*)No such file or directory: 'my-tool'"):
        launch({"server": python(FOR_EVER), "worker": (["my-tool"], {})})


def test_a_readers_files_do_not_break_it(tmp_path, monkeypatch):
    """A reader's own signal.py does not hide Python's, and other modules in the working folder can be imported."""
    for name in ("signal", "subprocess", "tempfile", "threading", "socket", "pickle"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of the reader was imported')")
    (tmp_path / "mine.py").write_text("WORD = 'mine'")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert in_fresh_process(lambda: __import__("mine").WORD) == "mine"


def test_a_function_takes_along_what_it_uses(capsys, monkeypatch):
    """A nested function takes along all that it uses, its result and output come back; variables are set or removed."""
    monkeypatch.setenv("OTHER", "inherited")
    base = 40
    def add(number):
        print("""working
at column 0""")
        return base + number, [os.environ.get(name) for name in ("ENGINE", "HOME", "OTHER")]
    assert in_fresh_process(lambda: add(2), ENGINE="naive", HOME=None) == (42, ["naive", None, "inherited"])
    assert capsys.readouterr().out == "working\nat column 0\n"


def test_calls_side_by_side():
    """Calls are plain tuples: each function gets its arguments and its variables; the results come back by name."""
    def read(name, end):
        return os.environ[name] + end

    calls = {word: (read, ["WORD", "!"], {"WORD": word}) for word in ("one", "two")}
    assert in_fresh_processes(calls) == {"one": "one!", "two": "two!"}


def fail():
    """Raise an exception with a message."""
    raise KeyError("the word")


@pytest.mark.parametrize(("function", "message"), [
    (fail, r"fail failed with exit status 1\n--- fail printed:\nTrace(?s:.*)in fail(?s:.*)KeyError: 'the word'"),
    (functools.partial(functools.partial(fail)), "fail failed with exit status 1"),
    (lambda: (n for n in ()), "cannot pickle 'generator'"),
    (sys.exit, "exit ended its process without a result"),
    (functools.partial(os._exit, 0), "_exit ended its process without a result"),
], ids=["raises", "is partial", "returns a generator", "exits", "exits at once"])
def test_a_failure_is_shown(function, message):
    """A function that fails, ends its process or returns what cannot be pickled raises a RuntimeError that says so."""
    with pytest.raises(RuntimeError, match=message):
        in_fresh_process(function)


@pytest.mark.skipif(not find_spec("mxnet"), reason="mxnet is not installed")
@pytest.mark.slow
def test_mxnet_arrays_and_semantics_are_passed_on():
    """Arrays keep their values in both directions, NumPy semantics are inherited, a Timeline comes back complete."""
    program = """
from d2lhelpers import Timeline, process
from mxnet import cpu, np, npx
npx.set_np()
xs = [np.ones((2, 2), ctx=cpu(i)) for i in range(2)]
def double():
    with Timeline() as timeline:
        ys = [2 * x.as_in_ctx(cpu(i)) for i, x in enumerate(xs)]
    return ys, np.array(3).shape, timeline
ys, shape, timeline = process.in_fresh_process(double)
print([float(y.sum()) for y in ys], shape, {each.device for each in timeline.operators if "mul" in each.name})
"""
    assert launch({"parent": python(program)}, timeout=300)["parent"].startswith("[8.0, 8.0] () {'cpu(")


def summed(fail=None):
    """Sum a tensor over all ranks; rank 1 first calls `fail`, if it is given."""
    import torch
    import torch.distributed as dist

    if fail and dist.get_rank() == 1:
        fail()
    x = torch.tensor([1, 2]) * (dist.get_rank() + 1)
    dist.all_reduce(x)
    return x, [os.environ[name] for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "OMP_NUM_THREADS")]


@needs_torch
@pytest.mark.slow
def test_a_group_works_together(monkeypatch):
    """Each rank knows its number, gets the sum over all ranks, returns tensors, and has one thread."""
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    results = in_group(summed)
    assert [x.tolist() for x, _ in results] == [[3, 6], [3, 6]]
    assert [variables for _, variables in results] == [[rank, rank, "2", "127.0.0.1", "1"] for rank in "01"]


def die_unnoticed():
    """Kill this process while its guard is stopped for a second, as on a busy machine."""
    guard = os.getppid()
    subprocess.Popen(["sh", "-c", f"while sleep 1; do kill -CONT {guard}; done"])
    os.kill(guard, signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGKILL)


@needs_torch
@pytest.mark.slow
@pytest.mark.parametrize(("fail", "message"), [
    (fail, r"rank 1 failed with exit status 1(?s:.*)KeyError: 'the word'"),
    (lambda: os.kill(os.getpid(), signal.SIGKILL), "rank 1 failed with signal SIGKILL"),
    pytest.param(die_unnoticed, "rank 1 failed with signal SIGKILL",
                 marks=pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks the ranks")),
    (lambda: sys.exit(3), "rank 1 failed with exit status 3"),
    (sys.exit, r"rank 1 failed with exit status 1(?s:.*)rank 1 printed:\nThe function ended its process without a res"),
    (lambda: os._exit(0), r"rank 1 failed(?s:.*)rank 1 printed:\nThe function ended its process without a result"),
], ids=["raises", "is killed", "is killed unnoticed", "exits with a status", "exits", "exits at once"])
def test_a_rank_that_fails_is_named(fail, message):
    """The rank that fails first is named, not one that fails because it waits for the first."""
    with pytest.raises(RuntimeError, match=message):
        in_group(summed, fail)


@needs_torch
@pytest.mark.slow
def test_the_rank_that_is_named_has_said_why(tmp_path):
    """A rank that is named is not ended before it has printed its error, even if another one fails meanwhile."""
    class Slow(Exception):
        def __str__(self):
            (tmp_path / "printing").touch()
            time.sleep(1)
            return "the reason"

    def fail():
        import torch.distributed as dist
        if dist.get_rank() == 1:
            raise Slow
        while not (tmp_path / "printing").exists():
            time.sleep(0.01)
        raise KeyError

    with pytest.raises(RuntimeError, match=r"rank 1 failed with exit status 1(?s:.*)Slow: the reason"):
        in_group(fail)


def run_file(path, **variables):
    """Run a Python file of the reader in its own folder; return its output, its errors and its exit status."""
    done = subprocess.run([sys.executable, path], cwd=path.parent, env={**os.environ, **variables},
                          capture_output=True, text=True, timeout=300)
    return done.stdout, done.stderr, done.returncode


@needs_torch
@pytest.mark.slow
def test_the_first_rank_that_fails_is_named_even_late(tmp_path):
    """If all ranks have failed by the time the caller looks, the error still names the one that failed first."""
    (tmp_path / "late.py").write_text("""
import os, signal, threading, time
from d2lhelpers.process import in_group

def fail(caller):
    import torch.distributed as dist
    dist.barrier()
    rank = dist.get_rank()
    if rank == 1:
        os.kill(caller, signal.SIGSTOP)
        threading.Thread(target=time.sleep, args=[1.5]).start()  # the process cannot end before
    else:
        time.sleep(1)
    if rank == 2:
        time.sleep(1)
        os.kill(caller, signal.SIGCONT)
    raise KeyError(rank)

in_group(fail, os.getpid(), size=3)
""")
    _, errors, _ = run_file(tmp_path / "late.py")
    assert "RuntimeError: rank 1 failed with exit status 1; the others were" in errors


@needs_torch
@pytest.mark.slow
def test_a_rank_has_the_callers_current_environment(tmp_path, monkeypatch, capsys):
    """A rank has the caller's current variables, folder and module path, even a relative one; its output is printed."""
    def look():
        print("seen\r")
        names = ["WORD", "HOME", "MKL_NUM_THREADS", "PYTHONPATH"]
        return [os.environ.get(name) for name in names], os.getcwd(), __import__("mine").WORD

    in_group(len, "ab")
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "mine.py").write_text("WORD = 'mine'")
    monkeypatch.setattr(sys, "path", [*sys.path, "modules"])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORD", "now")
    monkeypatch.setenv("MKL_NUM_THREADS", "3")
    monkeypatch.delenv("HOME")
    assert in_group(look) == [(["now", None, None, os.environ.get("PYTHONPATH")], str(tmp_path), "mine")] * 2
    assert capsys.readouterr().out == "seen\r\n" * 2


@needs_torch
@pytest.mark.slow
def test_a_rank_takes_the_variables_that_are_given():
    """PyTorch is imported with the variables that are given, even after a group without them; None removes one."""
    def look():
        import torch.distributed as dist
        return dist.get_debug_level().name, os.environ.get("HOME")

    in_group(len, "ab")
    assert in_group(look, TORCH_DISTRIBUTED_DEBUG="INFO", HOME=None) == [("INFO", None)] * 2


@needs_torch
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere ranks are not forked")
def test_a_rank_collects_its_own_garbage_alone():
    """A collection in a rank looks at what the rank has made, not at the modules that were imported before the fork."""
    def tracked():
        return len(gc.get_objects())

    assert max(in_group(tracked)) < 1000  # PyTorch alone makes hundreds of thousands


@needs_torch
@pytest.mark.slow
def test_ranks_that_take_too_long_are_named(marker):
    """At the time limit ranks and their children are ended; the error names the ranks and shows what they printed."""
    def stay():
        subprocess.run([sys.executable, "-c", FOR_EVER, marker])

    words = r"^rank 0 and rank 1 took more than 15 seconds(?s:.*)rank 1 printed:\nstill here"
    with pytest.raises(TimeoutError, match=words):
        in_group(stay, timeout=15)
    assert running(marker) == []


@needs_torch
@pytest.mark.slow
def test_no_rank_leaves_before_the_others():
    """A rank whose function has returned stays until the functions of all other ranks have."""
    def stay():
        import torch.distributed as dist
        numbers = [None, None]
        dist.all_gather_object(numbers, os.getpid())
        if dist.get_rank() == 1:
            time.sleep(1)
        return [psutil.pid_exists(number) for number in numbers]

    assert in_group(stay)[1] == [True, True]


@needs_torch
@pytest.mark.slow
def test_a_readers_program_is_run_once(tmp_path):
    """A script without `if __name__ == "__main__"` runs once; its processes end, and no setting is changed."""
    (tmp_path / "script.py").write_text("""
import multiprocessing, os, signal, sys, tempfile
import psutil
from d2lhelpers.process import in_group

def settings():
    return [dict(os.environ), os.getcwd(), list(sys.path), tempfile.gettempdir(), sys.modules["__main__"].__file__,
            multiprocessing.get_start_method(allow_none=True)]

def in_rank():
    return multiprocessing.get_start_method(allow_none=True), len(signal.pthread_sigmask(signal.SIG_BLOCK, []))

before = settings()
print("once", in_group(in_rank))
print(settings() == before)
print(*[child.pid for child in psutil.Process().children(recursive=True)])
""")
    output, errors, status = run_file(tmp_path / "script.py")
    assert (errors, status) == ("", 0)
    once, same, last = output.splitlines()
    assert (once, same) == ("once [(None, 0), (None, 0)]", "True")
    numbers = [int(number) for number in last.split()]
    assert numbers
    assert wait_for_end(numbers)


@needs_torch
@pytest.mark.slow
def test_ranks_start_as_the_lessons_say(tmp_path):
    """A rank uses one thread, whatever the reader has set, and imports modules from the caller's path."""
    shutil.copytree(Path(d2lhelpers.__file__).parent, tmp_path / "copy" / "d2lhelpers",
                    ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "script.py").write_text("""
import sys
sys.path.insert(0, "copy")
from d2lhelpers.process import in_group

def look():
    import torch, d2lhelpers
    return torch.get_num_threads(), d2lhelpers.__file__[-27:]

print(in_group(look))
""")
    printed = f"{[(1, 'copy/d2lhelpers/__init__.py')] * 2}\n"
    variables = {"PYTHONPATH": "", "OMP_NUM_THREADS": "3", "MKL_NUM_THREADS": "3"}
    assert run_file(tmp_path / "script.py", **variables) == (printed, "", 0)


@needs_torch
@pytest.mark.slow
def test_a_long_folder_for_temporary_files(tmp_path):
    """A group works even if TMPDIR is too long for the address of a socket."""
    (tmp_path / "script.py").write_text("from d2lhelpers.process import in_group\nprint(in_group(len, 'ab'))")
    folder = tmp_path / ("t" * 120)
    folder.mkdir()
    assert run_file(tmp_path / "script.py", TMPDIR=str(folder)) == ("[2, 2]\n", "", 0)


@needs_torch
@pytest.mark.slow
def test_a_readers_files_do_not_break_the_fork_server(tmp_path):
    """A reader's own signal.py in the working folder hides Python's neither from the ranks nor from their server."""
    for name in ("signal", "selectors", "subprocess", "tempfile", "threading", "socket", "pickle", "ast", "colorsys"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of the reader was imported')")
    (tmp_path / "mine.py").write_text("WORD = 'mine'")
    program = f"""
import os, sys
from d2lhelpers.process import in_group
os.chdir({str(tmp_path)!r})
sys.path.insert(0, "")
print(in_group(lambda: __import__("mine").WORD + str(__import__("colorsys").ONE_THIRD)[:3]))
"""
    assert launch({"script": python(program)}, timeout=300) == {"script": "['mine0.3', 'mine0.3']\n"}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks the ranks")
@needs_torch
@pytest.mark.slow
def test_a_fork_server_that_cannot_start_is_reported(tmp_path):
    """If the process from which ranks are forked cannot start, the error says so, and its output is shown."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nif 'forkserver' in str(sys.orig_argv): sys.exit('no')")
    (tmp_path / "script.py").write_text("from d2lhelpers.process import in_group\nin_group(len, 'ab')")
    search = [str(tmp_path)]
    if os.environ.get("PYTHONPATH"):
        search.append(os.environ["PYTHONPATH"])
    _, errors, status = run_file(tmp_path / "script.py", PYTHONPATH=os.pathsep.join(search))
    assert status == 1
    assert "SystemExit: no" in errors
    assert "RuntimeError: The process from which ranks are forked has ended" in errors


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks the ranks")
@pytest.mark.parametrize("error", [EOFError, BrokenPipeError, ConnectionResetError])
def test_a_fork_server_that_has_ended_is_reported(error, tmp_path, monkeypatch):
    """Whichever way the connection to the fork server is lost, the error says so, and no setting is changed."""
    def start(fork):
        raise error

    def settings():
        return sys.modules["__main__"], multiprocessing.get_start_method(allow_none=True)

    monkeypatch.setattr(multiprocessing.get_context("forkserver").Process, "start", start)
    before = settings()
    with pytest.raises(RuntimeError, match="ranks are forked has ended"):
        forks.start_fork("rank 0", StoredCall(tmp_path / "0", {}), None)
    assert settings() == before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks the ranks")
@needs_torch
@pytest.mark.slow
def test_a_group_works_after_interrupts(tmp_path, marker):
    """Ctrl-C, first while PyTorch is imported, then while ranks work, ends only its cell, without other output."""
    (tmp_path / "script.py").write_text("""
import subprocess, sys
from d2lhelpers.process import in_group
for _ in range(2):
    try:
        in_group(subprocess.run, sys.argv[1:])
    except KeyboardInterrupt:
        print("interrupted", flush=True)
print(in_group(len, "ab"))
""")
    in_own_session = ["sh", "-ec", 'setsid "$@" & wait', "sh", sys.executable, "-c", FOR_EVER, marker]
    command = [sys.executable, tmp_path / "script.py", *in_own_session]
    waiting = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    def children():
        return [each.info for each in psutil.process_iter(["ppid", "cmdline"]) if each.info["ppid"] == waiting.pid]

    while "forkserver" not in str(children()):
        assert waiting.poll() is None
        time.sleep(0.01)
    time.sleep(0.1)
    os.killpg(waiting.pid, signal.SIGINT)
    assert waiting.stdout.readline() == b"interrupted\n"
    assert wait_for_processes(5, marker)  # a shell and its child in each of two ranks, and the process that waits
    os.killpg(waiting.pid, signal.SIGINT)
    assert waiting.communicate(timeout=300) == (b"interrupted\n[2, 2]\n", b"")
    assert wait_for_processes(0, marker)
