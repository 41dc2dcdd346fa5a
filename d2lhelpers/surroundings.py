"""The reader's machine and settings: what there is, what takes a lesson's effects away, how pictures are drawn."""
import os
import re
import subprocess
import sys
from importlib.util import find_spec

# Settings that take away what lessons show, by framework: the variable, its harmless values, the effect of any other.
_ONE_CORE = "threads are bound to cores, so threads that should run in parallel may share a core"
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
    """Return the IPython shell if this process is the kernel of a notebook, else None."""
    if "IPython" not in sys.modules:
        return None
    shell = sys.modules["IPython"].get_ipython()
    return shell if hasattr(shell, "kernel") else None


def name_obstacles(kind):
    """Print the obstacles of one kind if this process is a notebook's kernel, so that they precede the first claim."""
    if notebook():
        for sentence in obstacles(kind):
            print(f"Take note: {sentence}. Unset it and restart the kernel, or this lesson fails or proves nothing.")


def begin_notebook():
    """Prepare a notebook's kernel when the package is first imported: print obstacles, and set how results are shown.

    A reader's MPLBACKEND could make pictures vanish, and a matplotlibrc could change their size and fonts, so the
    lessons draw inline, in matplotlib's own style. A cell shows only the value of its last line.
    """
    if shell := notebook():
        import matplotlib
        matplotlib.rcdefaults()
        shell.run_line_magic("matplotlib", "inline")
        describe_pictures(shell.display_formatter.formatters["image/png"])
        shell.ast_node_interactivity = "last_expr"
        name_obstacles("any")


def describe_pictures(formatter):
    """Let IPython's formatter of pictures give each plot a text alternative, which says what it shows."""
    from matplotlib.figure import Figure

    from .plots import in_words
    draw = formatter.for_type(Figure)

    def draw_and_describe(figure):
        drawn = draw(figure)
        picture, about = drawn if isinstance(drawn, tuple) else (drawn, {})
        return picture and (picture, {**about, "alt": in_words(figure)})

    if draw:  # not with a reader's own settings for pictures, such as SVG
        formatter.for_type(Figure, draw_and_describe)


def mxnet_fault():
    """Return "" if this machine can load MXNet, or else what is missing. Another process tries to load it."""
    found = find_spec("mxnet")
    if not found:
        return "it is not installed"
    library = os.path.join(os.path.dirname(found.origin), "libmxnet.so")
    load = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    tried = subprocess.run([sys.executable, "-S", "-c", load, library], capture_output=True, text=True)
    return tried.stderr.strip().rpartition("OSError: ")[2]


def compiler_fault():
    """Compile a function with PyTorch; return "" if that works on this machine, or else the reason in one line.

    Finding a compiler is not enough: it may lack Python's headers, or the system may refuse to load what it has built.
    This takes some seconds. Lesson: pytorch/01-compilers-and-interpreters.
    """
    import torch
    try:
        torch.compile(lambda x: x.exp())(torch.ones(1))
    except Exception as error:  # PyTorch reports a compiler's faults with many types of error
        message = str(error).strip() or repr(error)
        compiler_error = re.search(r"\berror: (.+)", message)
        return compiler_error[1] if compiler_error else message.splitlines()[0]
    return ""
