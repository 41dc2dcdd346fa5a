"""The helpers of the MXNet track; `d2lhelpers.torch` has the same names for PyTorch.

Importing this package loads neither framework: each module is loaded when one of its names is first used.
"""
from importlib import import_module
from typing import TYPE_CHECKING

from .surroundings import begin_notebook

if TYPE_CHECKING:  # for editors, which do not call __getattr__
    from .benchmark import Benchmark, measure
    from .mxnet import allreduce, configure_engine, devices, evaluate_accuracy, load_data, split_and_load
    from .mxnet_timeline import Timeline

__version__ = "2.0.0"
__all__ = ["Benchmark", "Timeline", "allreduce", "configure_engine", "devices", "evaluate_accuracy", "load_data",
           "measure", "split_and_load"]
_MODULES = {"Benchmark": "benchmark", "measure": "benchmark", "Timeline": "mxnet_timeline"}  # others: mxnet


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    module = _MODULES.get(name, "mxnet")
    return getattr(import_module(f"{__name__}.{module}"), name)


def __dir__():
    return __all__


begin_notebook()
