"""What `torch.compile` writes: an empty folder, its programs, their steps, its log; and when its graphs run."""
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


def empty_cache() -> tempfile.TemporaryDirectory:
    """Let PyTorch's compiler keep all that it writes in a new, empty folder, and return the folder.

    Call it before PyTorch is imported, which reads these settings once. The compiler then works in this process, one
    program at a time, without trying the processor, and prepares headers only if that is set. Fresh processes that this
    one starts use the same folder; they find its programs there unless multiprocessing was imported before PyTorch.
    Lesson: pytorch/01-compilers-and-interpreters.
    """
    folder = tempfile.TemporaryDirectory()
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder.name, "compiled")
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    os.environ.setdefault("TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS", "0")
    os.environ["TORCHINDUCTOR_VEC_ISA_OK"] = "1"
    return folder


def programs() -> list[str]:
    """Return the texts of all programs that the compiler has written into its folder, oldest first.

    Lesson: pytorch/01-compilers-and-interpreters.

    >>> folder = empty_cache()
    >>> programs()
    []
    """
    files = sorted(Path(os.environ["TORCHINDUCTOR_CACHE_DIR"]).rglob("*.py"), key=os.path.getmtime)
    return [file.read_text(encoding="utf-8") for file in files]


def steps(program: str) -> list[str]:
    r"""Return what a program that the compiler wrote for a CPU calls, in order: products, and loops of its own.

    The name of a loop begins with `cpp_`. Lesson: pytorch/01-compilers-and-interpreters.

    >>> steps("    extern_kernels.addmm(bias, x, weight, out=buf0)\n    cpp_fused_relu_0(buf0)\n")
    ['addmm', 'cpp_fused_relu_0']
    """
    return re.findall(r"^ +(?:extern_kernels\.)?(addmm|mm|cpp_\w+)\(", program, re.MULTILINE)


def graph_log(order: list) -> Callable[..., Any]:
    """Return a backend for `torch.compile` that appends "forward" or "backward" to `order` each time a graph has run.

    The graphs run as they are, operator by operator, so that no compiler for C++ is needed. The list may be one that
    hooks append to, too. Lesson: deeper/a-ddp-of-your-own.

    >>> import torch
    >>> order = []
    >>> double = torch.compile(lambda x: 2 * x, backend=graph_log(order))
    >>> double(torch.ones(3, requires_grad=True)).sum().backward()
    >>> order
    ['forward', 'backward']
    """
    from torch._dynamo.backends.common import aot_autograd  # not above: both import PyTorch
    from torch._functorch.aot_autograd import make_boxed_func

    def noting(name):
        def compile_nothing(graph, inputs):
            def run(*arguments):
                results = graph(*arguments)
                order.append(name)
                return results
            return make_boxed_func(run)
        return compile_nothing

    return aot_autograd(fw_compiler=noting("forward"), bw_compiler=noting("backward"))


def torch_log(function: Callable[[], object], logs: str) -> list[str]:
    """Call `function` in a fresh process with TORCH_LOGS=`logs`; return what PyTorch logs, without times and places.

    `logs` names logs, with commas between them, such as "recompiles,graph_breaks"; TORCH_LOGS=help lists them. The rest
    is as in `d2lhelpers.process.in_fresh_process`. Lesson: pytorch/02-where-graphs-break.

    >>> import torch
    >>> def twice(x):
    ...     return torch.compile(lambda x: 2 * x, backend="eager")(x)
    >>> [line for line in torch_log(lambda: twice(torch.ones(3)), "graph_code") if "return" in line]
    ['        return (mul,)']
    """
    from ..process import in_fresh_process  # not above: it imports multiprocessing, which must not precede PyTorch
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "log")
        file.touch()  # in case the function does not import PyTorch
        in_fresh_process(function, timeout=300, TORCH_LOGS=logs, TORCH_LOGS_OUT=file)  # a loaded machine is slow
        text = file.read_text(encoding="utf-8")
    # A line is "V1125 20:58:49.057000 12576 torch/_dynamo/guards.py:5396] [0/1] [__recompiles] Recompiling function f".
    return [re.sub(r"^[A-Z]\d{4} \S+ \d+ \S+?:\d+\] ?(\[\S*?\] ?)*", "", line) for line in text.splitlines()]
