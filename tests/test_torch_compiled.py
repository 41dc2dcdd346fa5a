"""What `torch.compile` wrote is found again, in order, and read."""
import os
from pathlib import Path

from d2lhelpers.torch.compiled import empty_cache, programs, steps


def test_programs_are_those_of_the_new_folder(monkeypatch):
    """The compiler's settings name an empty folder; its programs are returned oldest first, and go with the folder."""
    for name in ("CACHE_DIR", "COMPILE_THREADS", "VEC_ISA_OK"):
        monkeypatch.setenv(f"TORCHINDUCTOR_{name}", "of others")
    monkeypatch.setenv("TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS", "1")  # as the tests have it
    folder = empty_cache()
    assert os.environ["TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS"] == "1"
    cache = Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])
    assert cache.is_relative_to(folder.name)
    assert programs() == []
    for number, name in enumerate(("z", "a")):
        (cache / name).mkdir(parents=True)
        (cache / name / "program.py").write_text(name)
        (cache / name / "loop.cpp").write_text("not a program")
        os.utime(cache / name / "program.py", (number, number))
    assert programs() == ["z", "a"]
    folder.cleanup()
    assert programs() == []


def test_steps_are_products_and_loops():
    """A program's steps are its products and its own loops, in order; allocations and comments are none."""
    program = """
    # addmm(not, a, call)
    buf0 = empty_strided_cpu((1, 256), (256, 1), torch.float32)
    extern_kernels.addmm(arg1_1, arg2_1, arg0_1, alpha=1, beta=1, out=buf0)
    cpp_fused_relu_0(buf1)
    extern_kernels.mm(buf1, arg3_1, out=buf2)
    del buf1
"""
    assert steps(program) == ["addmm", "cpp_fused_relu_0", "mm"]
