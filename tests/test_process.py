import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import psutil
import pytest

from d2lhelpers.process import in_fresh_process, in_group, launch

FOR_EVER = "import time; print('still here', flush=True); time.sleep(600)"
WITH_CHILD = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', *sys.argv[1:]]); {FOR_EVER}"
needs_torch = pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed")


def python(program, *arguments, **variables):
    """Return what `launch` takes for a Python program."""
    return [sys.executable, "-c", program, *arguments], variables


def there(marker):
    """Return the processes that have `marker` among their arguments."""
    return [process for process in psutil.process_iter(["cmdline"]) if marker in (process.info["cmdline"] or [])]


def becomes(number, marker):
    """Wait until so many processes have `marker` among their arguments, and say whether it comes to that."""
    deadline = time.monotonic() + 30
    while len(there(marker)) != number and time.monotonic() < deadline:
        time.sleep(0.05)
    return len(there(marker)) == number


@pytest.fixture
def marker(tmp_path):
    """Return an argument by which a test's processes are found, and end those that the test has left."""
    yield str(tmp_path)
    for process in there(str(tmp_path)):
        process.kill()


def test_outputs_are_kept_apart():
    """Each process has its own variables, and what each one prints comes back under its name, as it was written."""
    program = r"import os, sys; print(os.environ['ROLE'], '\r', 'HOME' in os.environ); print('aside', file=sys.stderr)"
    commands = {role: python(program, ROLE=role, HOME=None) for role in "ab"}
    assert launch(commands) == {"a": "a \r False\n", "b": "b \r False\n"}


def test_settings_of_threads_stay_behind(monkeypatch):
    """A fresh process takes as many threads as the lesson says, whatever else the reader has set for other programs."""
    settings = ["MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "OMP_PROC_BIND", "OMP_NUM_THREADS"]
    for name in settings:
        monkeypatch.setenv(name, "3")
    assert in_fresh_process(lambda: [os.environ.get(name) for name in settings]) == [None, None, None, None, "3"]
    assert in_fresh_process(lambda: os.environ["MKL_NUM_THREADS"], MKL_NUM_THREADS=2) == "2"


def test_a_command_that_fails_is_named():
    """It is named with its status at once, its own words come first, and the others are ended."""
    with pytest.raises(RuntimeError) as caught:
        launch({"server": python(FOR_EVER), "worker 1": python("import time; time.sleep(2); 1 / 0")}, timeout=100)
    words = str(caught.value)
    assert words.startswith("worker 1 failed with exit status 1; the others were ended\n--- worker 1 printed:\nTrace")
    assert words.index("ZeroDivisionError") < words.index("--- server printed:\nstill here")


def test_the_limit_ends_everything(marker):
    """Past the limit those still running are named, all words are shown, and no process or child of one is left."""
    both = dict.fromkeys("ab", python(WITH_CHILD, FOR_EVER, marker))
    with pytest.raises(TimeoutError, match=r"a and b took more than 5 seconds(?s:.*)still here(?s:.*)c printed:\ndone"):
        launch({**both, "c": python("print('done')")}, timeout=5)
    assert becomes(0, marker)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize(("program", "number"), [
    ("process.launch({'worker': ([sys.executable, '-c', *arguments], {})})", 3),  # the guard, the process and its child
    pytest.param("process.in_group(subprocess.run, [sys.executable, '-c', *arguments])", 4,
                 marks=[needs_torch, pytest.mark.slow]),
], ids=["launch", "in_group"])
def test_an_interrupt_ends_everything(marker, program, number, how):
    """Interrupting the cell that waits, or killing its kernel, leaves neither the processes nor their children."""
    program = f"import subprocess, sys\nfrom d2lhelpers import process\narguments = sys.argv[1:]\n{program}"
    waiting = subprocess.Popen([sys.executable, "-c", program, WITH_CHILD, FOR_EVER, marker], stderr=subprocess.PIPE)
    assert becomes(number + 1, marker)  # and the one that waits
    started = psutil.Process(waiting.pid).children(recursive=True)
    waiting.send_signal(how)
    assert (b"KeyboardInterrupt" in waiting.communicate(timeout=20)[1]) is (how == signal.SIGINT)
    assert becomes(0, marker)
    assert psutil.wait_procs(started, timeout=20)[1] == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hands orphans to a process that asks for them")
def test_what_left_its_group_is_ended(marker):
    """A grandchild in a session of its own, whose parent has ended, is ended with the command."""
    orphan = ["sh", "-ec", 'command -v setsid; setsid "$@" &', "sh", sys.executable, "-c", FOR_EVER, marker]
    launch({"worker": (orphan, {})})
    assert becomes(0, marker)


def test_an_unknown_command_is_named():
    """A command that is not there is named, and the others are ended."""
    with pytest.raises(RuntimeError, match=r"worker failed(?s:.*)No such file or directory: 'my-tool'"):
        launch({"server": python(FOR_EVER), "worker": (["my-tool"], {})})


def test_a_readers_files_do_not_break_it(tmp_path, monkeypatch):
    """A reader's own signal.py in the working folder hides no module of Python, and can be imported as well."""
    for name in ("signal", "subprocess", "tempfile", "threading", "socket", "pickle"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of the reader was imported')")
    (tmp_path / "mine.py").write_text("WORD = 'mine'")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert in_fresh_process(lambda: __import__("mine").WORD) == "mine"


def test_a_function_takes_along_what_it_uses(capsys, monkeypatch):
    """A function within another gives its result and its words with all it uses; variables are set and removed."""
    monkeypatch.setenv("OTHER", "inherited")
    base = 40
    def add(number):
        print("""working
at column 0""")
        return base + number, [os.environ.get(name) for name in ("ENGINE", "HOME", "OTHER")]
    assert in_fresh_process(lambda: add(2), ENGINE="naive", HOME=None) == (42, ["naive", None, "inherited"])
    assert capsys.readouterr().out == "working\nat column 0\n"


def fail():
    """Fail in words."""
    raise KeyError("the word")


@pytest.mark.parametrize(("function", "message"), [
    (fail, r"fail failed with exit status 1(?s:.*)in fail(?s:.*)KeyError: 'the word'"),
    (lambda: (n for n in ()), "cannot pickle 'generator'"),
], ids=["raises", "returns a generator"])
def test_a_failure_is_shown(function, message):
    """A function that fails or returns what cannot be pickled is a RuntimeError that says so."""
    with pytest.raises(RuntimeError, match=message):
        in_fresh_process(function)


@pytest.mark.skipif(not find_spec("mxnet"), reason="mxnet is not installed")
@pytest.mark.slow
def test_mxnet_arrays_and_semantics_travel():
    """Arrays keep their values both ways, NumPy semantics are on if they are on here, a Timeline is whole."""
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
    assert launch({"parent": python(program)})["parent"].startswith("[8.0, 8.0] () {'cpu(")


def summed(how=None):
    """Add up a number from each rank; on rank 1 call `how` before."""
    import torch
    import torch.distributed as dist

    if how and dist.get_rank() == 1:
        how()
    x = torch.tensor([1, 2]) * (dist.get_rank() + 1)
    dist.all_reduce(x)
    return x, [os.environ[name] for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "OMP_NUM_THREADS")]


@needs_torch
@pytest.mark.slow
def test_a_group_works_together(monkeypatch):
    """Each rank knows its number, gets the sum of all, returns tensors, and has one thread, as lessons say."""
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    results = in_group(summed)
    assert [x.tolist() for x, _ in results] == [[3, 6], [3, 6]]
    assert [words for _, words in results] == [[rank, rank, "2", "127.0.0.1", "1"] for rank in "01"]


@needs_torch
@pytest.mark.slow
@pytest.mark.parametrize(("how", "message"), [
    (fail, r"rank 1 failed with exit status 1(?s:.*)KeyError: 'the word'"),
    (lambda: os.kill(os.getpid(), signal.SIGKILL), "rank 1 failed with signal SIGKILL"),
], ids=["raises", "is killed"])
def test_a_rank_that_fails_is_named(how, message):
    """The rank that fails first is named, not one that fails because it waits for it."""
    with pytest.raises(RuntimeError, match=message):
        in_group(summed, how)
