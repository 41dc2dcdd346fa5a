import os
import signal
import subprocess
import sys
import time

import pytest

from d2lhelpers.process import in_fresh_process


def add(a, b):
    """Add, where nothing of this module is known."""
    import os

    print("working")
    return {"sum": a + b, "engine": os.environ.get("MXNET_ENGINE_TYPE"), "home": os.environ.get("HOME")}


def twice(a):
    """Call a function that was sent along."""
    return add(a, a)["sum"]


def fail():
    """Fail in words."""
    raise KeyError("the word")


def hang(path):
    """Start a child that never ends, leave both processes' numbers in a file, and never end either."""
    import os
    import subprocess
    import sys
    import time

    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with open(path + ".part", "w") as file:
        file.write(f"{os.getpid()} {child.pid}")
    os.rename(path + ".part", path)
    print("on my way", flush=True)
    time.sleep(600)


def running(number):
    """Say whether a process is there and has not ended."""
    try:
        with open(f"/proc/{number}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(path):
    """Say whether both processes whose numbers are in the file end within ten seconds."""
    numbers = [int(number) for number in path.read_text().split()]
    deadline = time.monotonic() + 10
    while any(running(number) for number in numbers) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(running(number) for number in numbers)


def test_it_returns_the_result_and_prints(capsys, monkeypatch):
    """The result comes back, what was printed is printed, variables are set, removed and inherited."""
    monkeypatch.setenv("MXNET_ENGINE_TYPE", "Other")
    result = in_fresh_process(add, 1, 2, MXNET_ENGINE_TYPE="NaiveEngine", HOME=None)
    assert result == {"sum": 3, "engine": "NaiveEngine", "home": None}
    assert capsys.readouterr().out == "working\n"
    assert in_fresh_process(add, 1, 2)["engine"] == "Other"


def test_it_sends_along_what_is_needed():
    """Functions and lines in `needs` can be used there, and without them the failure is the process's own."""
    assert in_fresh_process(twice, 4, needs=[add]) == 8
    assert in_fresh_process(twice, 4, needs=["def add(a, b):", "    return {'sum': a * b}"]) == 16
    with pytest.raises(RuntimeError, match=r"twice failed(?s:.*)NameError: name 'add'"):
        in_fresh_process(twice, 4)


def test_a_failure_is_shown():
    """A function that fails is a RuntimeError with the traceback of its own process."""
    with pytest.raises(RuntimeError, match=r"fail failed in its own process:(?s:.*)KeyError: 'the word'"):
        in_fresh_process(fail)


def test_the_limit_ends_everything(tmp_path):
    """Past the limit it is a TimeoutError with what was printed, and neither the process nor its child is left."""
    with pytest.raises(TimeoutError, match=r"hang took more than 3 seconds(?s:.*)on my way"):
        in_fresh_process(hang, str(tmp_path / "numbers"), timeout=3)
    assert gone(tmp_path / "numbers")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupt_ends_everything(tmp_path, how):
    """Interrupting the cell that waits, or killing its kernel, leaves neither the process nor its child."""
    path = tmp_path / "numbers"
    program = f"from test_process import *\nin_fresh_process(hang, {str(path)!r})"
    waiting = subprocess.Popen([sys.executable, "-c", program], cwd=os.path.dirname(__file__), stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    waiting.send_signal(how)
    assert (b"KeyboardInterrupt" in waiting.communicate(timeout=20)[1]) is (how == signal.SIGINT)
    assert gone(path)
