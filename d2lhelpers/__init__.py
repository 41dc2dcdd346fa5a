"""The helpers of the MXNet track; `d2lhelpers.torch` has the same names for PyTorch.

Importing this package loads neither framework: a name's module is loaded when the name is first used.
"""
from importlib import import_module

from .surroundings import begin_notebook

_MODULES = {
    "Benchmark": "benchmark",
    "measure": "benchmark",
    "Timeline": "timeline",
    "configure_engine": "mxnet",
    "devices": "mxnet",
    "allreduce": "mxnet",
    "split_and_load": "mxnet",
    "evaluate_accuracy": "mxnet",
    "load_data": "mxnet",
}
__all__ = list(_MODULES)


def __getattr__(name):
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__():
    return __all__


begin_notebook()
