"""What `torch.compile` writes: an empty place for it, its programs, and the steps of a program."""
import os
import re
import tempfile
from pathlib import Path


def empty_cache() -> tempfile.TemporaryDirectory:
    """Let PyTorch's compiler keep all that it writes in a new, empty folder, and return the folder.

    Call it before PyTorch is imported, which reads these settings once. The compiler then works in this process, one
    program at a time, without trying the processor or preparing headers. Fresh processes that this one starts use the
    same folder. Lesson: pytorch/01-compilers-and-interpreters.
    """
    folder = tempfile.TemporaryDirectory()
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder.name, "compiled")
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    os.environ["TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS"] = "0"
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
