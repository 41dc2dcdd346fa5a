import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from d2lhelpers.process import free_port, in_fresh_process, launch


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
    assert in_fresh_process(twice, 4, needs=[add]) == in_fresh_process(twice, 4, needs=add) == 8
    assert in_fresh_process(twice, 4, needs=["def add(a, b):", "    return {'sum': a * b}"]) == 16
    with pytest.raises(RuntimeError, match=r"twice failed(?s:.*)NameError: name 'add'"):
        in_fresh_process(twice, 4)


def test_a_failure_is_shown():
    """A function that fails is a RuntimeError with the traceback of its own process."""
    with pytest.raises(RuntimeError, match=r"fail failed with exit status 1(?s:.*)KeyError: 'the word'"):
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


def python(program, **variables):
    """Return what `launch` takes for a Python program."""
    return [sys.executable, "-c", program], variables


FOR_EVER = "import time; print('still here', flush=True); time.sleep(600)"


def test_outputs_are_kept_apart():
    """Processes run side by side, each with its own variables, and what each prints comes back under its name."""
    program = "import os, sys; print(os.environ['ROLE'], 'HOME' in os.environ); print('a remark', file=sys.stderr)"
    commands = {role: python(program, ROLE=role, HOME=None) for role in "ab"}
    assert launch(commands) == {"a": "a False\n", "b": "b False\n"}
    assert launch({}) == {}


def test_they_run_side_by_side():
    """Two processes that wait for each other's word both end, which one after another they could not."""
    with socket.create_server(("127.0.0.1", free_port())) as server:
        port = server.getsockname()[1]
    hear = f"import socket; print(socket.create_server(('127.0.0.1', {port})).accept()[0].recv(9))"
    say = f"""
import socket, time
for attempt in range(500):
    try:
        socket.create_connection(("127.0.0.1", {port})).send(b"hello")
        break
    except ConnectionRefusedError:
        time.sleep(0.02)
"""
    assert launch({"server": python(hear), "worker": python(say)})["server"] == "b'hello'\n"


def test_one_that_fails_is_named():
    """The one that fails is named with its status and its own words, the others are ended and theirs are shown too."""
    start = time.monotonic()
    with pytest.raises(RuntimeError) as caught:
        launch({"server": python(FOR_EVER), "worker 1": python("import time; time.sleep(1); 1 / 0")}, timeout=100)
    words = str(caught.value)
    assert words.startswith("worker 1 failed with exit status 1; the others were ended\n--- worker 1 printed:\nTrace")
    assert words.index("ZeroDivisionError") < words.index("--- server printed:\nstill here")
    assert time.monotonic() - start < 50


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV"])
def test_a_signal_is_named(name):
    """A process that a signal ended, as one killed from outside, is reported with the signal's name."""
    program = f"import os, signal; os.kill(os.getpid(), signal.{name})"
    with pytest.raises(RuntimeError, match=f"worker failed with signal {name}\n"):
        launch({"worker": python(program)})


def test_those_that_run_past_the_limit_are_named():
    """Past the limit those still running are named, not those that ended, and the words of all are shown."""
    with pytest.raises(TimeoutError, match=r"a and b took more than 2 seconds(?s:.*)still here(?s:.*)c printed:\ndone"):
        launch({"a": python(FOR_EVER), "b": python(FOR_EVER), "c": python("print('done')")}, timeout=2)


def test_an_unknown_command_starts_nothing(tmp_path):
    """A command that is not there is named before any other is started."""
    with pytest.raises(FileNotFoundError, match="worker cannot start: there is no command 'no-such-command' here"):
        launch({"server": python(f"open({str(tmp_path / 'started')!r}, 'w')"), "worker": (["no-such-command"], {})})
    assert not (tmp_path / "started").exists()


def test_a_command_is_sought_where_its_own_path_says(tmp_path):
    """A command that only the PATH among its variables leads to is found."""
    (tmp_path / "my-tool").write_text("#!/bin/sh\necho found\n")
    (tmp_path / "my-tool").chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    assert launch({"tool": (["my-tool"], {"PATH": path})}) == {"tool": "found\n"}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hands orphans to a process that asks for them")
def test_what_left_its_group_is_ended(tmp_path):
    """A grandchild in a session of its own, whose parent has ended, is ended with the command."""
    path = tmp_path / "numbers"
    orphan = f"""
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
open({str(path)!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
"""
    launch({"worker": python(orphan)})
    assert gone(path)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), None, "5"])
def test_a_limit_that_is_none_starts_nothing(tmp_path, timeout):
    """A time limit that would never come, or has passed, is refused by name before anything is started."""
    with pytest.raises(ValueError, match=f"timeout={timeout!r}, but a number of seconds above zero"):
        launch({"worker": python(f"open({str(tmp_path / 'started')!r}, 'w')")}, timeout)
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("wrong", [("ls", {}), ([], {}), (None, {}), (["ls"], None), (["ls"], ["HOME"])], ids=str)
def test_what_is_no_command_starts_nothing(tmp_path, wrong):
    """A command that is text, empty or has no mapping of variables is refused by its name before any is started."""
    with pytest.raises(TypeError, match=r"worker cannot start: it is .*, not a list of strings"):
        launch({"server": python(f"open({str(tmp_path / 'started')!r}, 'w')"), "worker": wrong})
    assert not (tmp_path / "started").exists()


def leave():
    """End the process before anything can be returned."""
    import os

    os._exit(0)


def test_huge_and_odd_arguments_arrive():
    """Arguments of several megabytes, NaN, and text with quotes, line ends and other scripts come back as they went."""
    text = "'\"\\\n\0 пример 例 \ud800" + "x" * 5_000_000
    same, odd = in_fresh_process(both, text, float("nan"))
    assert same == text
    assert odd != odd


def both(a, b):
    """Return what came."""
    return a, b


TYPED = {}
exec("def without_source(): pass", TYPED)


@pytest.mark.parametrize(("function", "arguments", "message"), [
    (add, [{1}, 2], "the arguments of add are not what JSON can hold: .*set"),
    (lambda: 1, [], "cannot be sent as source text"),
    (print, ["a"], "cannot be sent as source text"),
    (None, [], "None cannot be sent as source text"),
    (TYPED["without_source"], [], "without_source, or what it needs, cannot be sent: could not get source code"),
], ids=["a set", "a lambda", "built in", "None", "no source"])
def test_what_cannot_be_sent_is_refused(function, arguments, message):
    """A function without source text, and arguments that JSON cannot hold, are refused with what to give."""
    with pytest.raises(TypeError, match=message):
        in_fresh_process(function, *arguments)


def test_a_process_that_leaves_is_named():
    """A function that ends its own process returned nothing: a RuntimeError that says so, not a missing file."""
    with pytest.raises(RuntimeError, match="leave ended its process itself"):
        in_fresh_process(leave)
    with pytest.raises(RuntimeError, match=r"give_a_set failed(?s:.*)not JSON serializable"):
        in_fresh_process(give_a_set)


def give_a_set():
    """Return what JSON cannot hold."""
    return {1}


def test_a_free_port_can_be_taken():
    """The port is one that can be listened on, and several calls in a row do not run out of them."""
    for _ in range(20):
        with socket.create_server(("127.0.0.1", free_port())):
            pass
