"""Run a lesson's function in a process of its own: for another setting of the engine, or for no setting at all."""
import contextlib
import inspect
import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap

_CALL = """
import json, os, signal, sys, threading, time
_arguments, _answer, _parent = sys.argv[1:]
def _end_with_parent():
    while os.getppid() == int(_parent):
        time.sleep(0.5)
    os.killpg(0, signal.SIGKILL)
threading.Thread(target=_end_with_parent, daemon=True).start()
_result = {name}(*json.loads(_arguments))
with open(_answer, "w", encoding="utf-8") as _file:
    json.dump(_result, _file)
"""


def in_fresh_process(function, *arguments, needs=(), timeout=120, **environment):
    """Call `function(*arguments)` in a fresh Python process and return its result.

    An engine reads its settings once, when it starts, so an experiment with other settings needs another process.

    Parameters
    ----------
    function : function
        It is sent as source text, so it imports for itself whatever it uses.
    *arguments
        Passed to it; like its result they must be what JSON can hold.
    needs : functions or lines of Python, optional
        Sent along, before `function`: what it calls, and what these in turn rely on.
    timeout : float
        Seconds after which the process, and whatever it has started, is ended.
    **environment
        Environment variables to set; None removes one that this process has.

    What it prints is printed here. Raises TimeoutError past the limit and RuntimeError if the function fails, both
    with the process's own words. However it ends, by an interrupt or with the kernel itself, no process stays behind.

    Lesson: 04-automatic-parallelism.

    >>> def which_engine():
    ...     import os
    ...     return os.environ["MXNET_ENGINE_TYPE"]
    >>> in_fresh_process(which_engine, MXNET_ENGINE_TYPE="NaiveEngine")
    'NaiveEngine'
    """
    source = "\n".join(each if isinstance(each, str) else textwrap.dedent(inspect.getsource(each))
                       for each in (*needs, function))
    variables = {**os.environ, **environment}
    with tempfile.TemporaryDirectory() as folder:
        answer = os.path.join(folder, "answer.json")
        program = source + _CALL.format(name=function.__name__)
        process = subprocess.Popen(
            [sys.executable, "-c", program, json.dumps(arguments), answer, str(os.getpid())],
            env={name: str(value) for name, value in variables.items() if value is not None},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
            start_new_session=True)  # a group of its own, which can be ended whole
        try:
            printed, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            _end(process)
            printed, errors = process.communicate()
            raise TimeoutError(f"{function.__name__} took more than {timeout} seconds in its own process and was "
                               f"ended; until then it printed:\n{printed}{errors}") from None
        finally:
            _end(process)
        print(printed, end="")
        if process.returncode:
            raise RuntimeError(f"{function.__name__} failed in its own process:\n{errors}")
        with open(answer, encoding="utf-8") as file:
            return json.load(file)


def _end(process):
    """End a process and all that it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # the latter is macOS's word for "ended already"
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
