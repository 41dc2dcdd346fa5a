"""What a reader's machine and settings do to a lesson: what there is, what takes a proof away, where pictures go."""
import os
import re
import subprocess
import sys
from importlib.util import find_spec

# Settings that take away what lessons show, by framework: the variable, its harmless values, and what others do.
_ONE_CORE = "threads are bound to cores, so those that should work side by side may share one"
SETTINGS = {
    "any": [
        ("OMP_PROC_BIND", ["", "false"], _ONE_CORE),
        ("GOMP_CPU_AFFINITY", [""], _ONE_CORE),
        ("KMP_AFFINITY", ["", "none", "disabled"], _ONE_CORE),
    ],
    "mxnet": [
        ("MXNET_ENGINE_TYPE", ["", "threadedengineperdevice"], "another engine runs the operators (with NaiveEngine "
         "Python waits for each one: nothing is asynchronous, nothing runs in parallel)"),
    ],
    "torch": [
        ("TORCH_COMPILE_DISABLE", ["", "0"], "torch.compile returns the function as it is"),
        ("TORCHDYNAMO_DISABLE", ["", "0"], "torch.compile returns the function as it is"),
        ("PYTORCH_JIT", ["", "1"], "torch.jit.script returns the function as it is"),
        ("CUDA_LAUNCH_BLOCKING", ["", "0"], "Python waits for each operator on a GPU"),
    ],
}


def usable_cores():
    """Return how many cores this process may use, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def obstacles(*kinds):
    """Return a sentence for each setting of this process that takes away what lessons show or prove.

    `kinds` are keys of SETTINGS: "any", "mxnet" or "torch".

    >>> os.environ["TORCH_COMPILE_DISABLE"] = "1"
    >>> obstacles("torch")
    ['TORCH_COMPILE_DISABLE=1: torch.compile returns the function as it is']
    >>> del os.environ["TORCH_COMPILE_DISABLE"]
    """
    found = []
    if "any" in kinds and sys.flags.optimize:
        found.append("PYTHONOPTIMIZE or -O: Python skips every assertion, so the lessons prove nothing")
    for kind in kinds:
        for name, harmless, effect in SETTINGS[kind]:
            value = os.environ.get(name, "")
            if value.lower() not in harmless:
                found.append(f"{name}={value}: {effect}")
    return found


def notebook():
    """Return the IPython shell of the notebook that this process is the kernel of, or None."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell if hasattr(shell, "kernel") else None


def name_obstacles(kind):
    """Print the obstacles of a kind if this is a notebook's kernel: it happens before a lesson's first claim."""
    if notebook():
        for sentence in obstacles(kind):
            print(f"Take note: {sentence}. Unset it and restart, or this lesson fails or proves nothing.")


def begin_notebook():
    """Prepare a notebook's kernel, when it first imports the package: name obstacles, and show what the lessons show.

    A reader's MPLBACKEND would make pictures vanish, and a matplotlibrc change their size and letters: the lessons
    draw inline, in matplotlib's own style. A cell shows the value of its last line alone.
    """
    if shell := notebook():
        import matplotlib
        matplotlib.rcdefaults()
        shell.run_line_magic("matplotlib", "inline")
        shell.ast_node_interactivity = "last_expr"
        name_obstacles("any")


def mxnet_fault():
    """Return "" if this machine can load MXNet, or else what it lacks: another process tries it."""
    found = find_spec("mxnet")
    if not found:
        return "it is not installed"
    library = os.path.join(os.path.dirname(found.origin), "libmxnet.so")
    load = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    tried = subprocess.run([sys.executable, "-S", "-c", load, library], capture_output=True, text=True)
    return tried.stderr.strip().rpartition("OSError: ")[2]


def compiler_fault():
    """Compile a function with PyTorch, and return "" if that works here, or else why it does not, in a line.

    Nothing less will do: a compiler may lack Python's headers, and the system may refuse to load what it has written.
    It takes some seconds. Lesson: pytorch/01-compilers-and-interpreters.
    """
    import torch
    try:
        torch.compile(lambda x: x + 1)(torch.ones(1))
    except Exception as error:  # what is wrong with a compiler comes as an error of any type
        said = str(error).strip() or repr(error)
        compilers_own = re.search(r"\berror: (.+)", said)
        return compilers_own[1] if compilers_own else said.splitlines()[0]
    return ""
