"""The helpers of the MXNet track; `d2lhelpers.torch` has the same names for PyTorch.

Importing this package loads neither framework: each module is loaded when one of its names is first used.
"""
from importlib import import_module
from typing import TYPE_CHECKING

from . import moved

if TYPE_CHECKING:  # for editors, which do not call __getattr__
    from .benchmark import Benchmark, measure
    from .mxnet import (
        Timeline,
        allreduce,
        configure_engine,
        devices,
        evaluate_accuracy,
        lines_that_wait,
        load_data,
        split_and_load,
    )

__version__ = "3.0.0"
__all__ = ["Benchmark", "Timeline", "allreduce", "configure_engine", "devices", "evaluate_accuracy", "lines_that_wait",
           "load_data", "measure", "split_and_load"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    module = "benchmark" if name in ("Benchmark", "measure") else "mxnet"
    return getattr(import_module(f"{__name__}.{module}"), name)


def __dir__():
    return __all__


moved.let_earlier_imports_work()
