"""The reader's machine and settings: what there is, what takes a lesson's effects away, how a notebook shows plots."""
import logging
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
    "jax": [
        ("JAX_DISABLE_JIT", ["", "0", "false"], "jax.jit returns the function as it is"),
        ("JAX_CPU_ENABLE_ASYNC_DISPATCH", ["", "1", "true"], "Python waits for each program on a CPU"),
    ],
}


def usable_cores():
    """Return how many cores this process may use, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def conflicting_settings(*kinds):
    """Return a sentence for each setting of this process that takes away what lessons show or prove.

    `kinds` are keys of SETTINGS: "any", "mxnet", "torch" or "jax".

    >>> os.environ["TORCH_COMPILE_DISABLE"] = "1"
    >>> conflicting_settings("torch")
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


def kernel_shell():
    """Return the IPython shell if this process is the kernel of a notebook, else None."""
    if "IPython" not in sys.modules:
        return None
    shell = sys.modules["IPython"].get_ipython()
    return shell if hasattr(shell, "kernel") else None


def print_conflicting_settings(*kinds):
    """Print each conflicting setting if this process is a notebook's kernel, so that they precede the first claim."""
    if kernel_shell():
        for sentence in conflicting_settings(*kinds):
            print(f"Take note: {sentence}. Unset it and restart the kernel, or this lesson fails or proves nothing.")


def prepare_notebook(dpi: int | None = None) -> None:
    """Set how this notebook shows results, and print settings that take away what the lesson shows.

    A cell shows only the value of its last line. Plots are drawn inline in matplotlib's own style, because a reader's
    MPLBACKEND could make them vanish and a matplotlibrc could change their size and fonts; each gets a text
    alternative. `dpi` sets their dots per inch: a notebook with many plots stays small with fewer. Outside a notebook
    nothing happens. Lesson: 00-start-here.
    """
    shell = kernel_shell()
    if not shell:
        return
    import matplotlib
    matplotlib.rcdefaults()
    shell.run_line_magic("matplotlib", "inline")
    if dpi:
        matplotlib.rcParams |= {"figure.dpi": dpi, "text.hinting": "native", "text.hinting_factor": 1}
    describe_plots(shell.display_formatter.formatters["image/png"])
    shell.ast_node_interactivity = "last_expr"
    logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)  # no CUDA compiler is no error here
    print_conflicting_settings("any", *(name for name in ("mxnet", "torch", "jax") if name in sys.modules))


def describe_plots(formatter):
    """Let IPython's formatter of pictures give each plot a text alternative, which says what it shows."""
    from matplotlib.figure import Figure

    from .plots import text_alternative
    draw = formatter.for_type(Figure)

    def draw_and_describe(figure):
        drawn = draw(figure)
        picture, about = drawn if isinstance(drawn, tuple) else (drawn, {})
        return picture and (picture, {**about, "alt": text_alternative(figure)})

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
