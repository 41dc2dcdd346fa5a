"""The helpers of the PyTorch track: those of `d2lhelpers`, for tensors. On a GPU, measure with sync=synchronize.

Importing this package does not import PyTorch: each module is loaded when one of its names is first used.
"""
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for editors, which do not call __getattr__
    from ..benchmark import Benchmark, measure
    from .compiled import torch_log
    from .data_parallel import allreduce, devices, evaluate_accuracy, load_data, split_and_load
    from .timeline import Timeline
    from .waits import lines_that_wait, synchronize

__all__ = ["Benchmark", "Timeline", "allreduce", "devices", "evaluate_accuracy", "lines_that_wait", "load_data",
           "measure", "split_and_load", "synchronize", "torch_log"]
_MODULES = {"Benchmark": "..benchmark", "measure": "..benchmark", "Timeline": ".timeline", "torch_log": ".compiled",
            "lines_that_wait": ".waits", "synchronize": ".waits"}  # others: .data_parallel


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_MODULES.get(name, ".data_parallel"), __name__), name)


def __dir__():
    return __all__
