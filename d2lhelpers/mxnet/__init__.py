"""The helpers of the MXNet track, which `d2lhelpers` hands on.

Each module is loaded when one of its names is first used, and none imports MXNet before `configure_engine` can run.
"""
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for editors, which do not call __getattr__
    from .data_parallel import allreduce, configure_engine, devices, evaluate_accuracy, load_data, split_and_load
    from .timeline import Timeline
    from .waits import lines_that_wait

__all__ = ["Timeline", "allreduce", "configure_engine", "devices", "evaluate_accuracy", "lines_that_wait", "load_data",
           "split_and_load"]
_MODULES = {"Timeline": ".timeline", "lines_that_wait": ".waits"}  # others: .data_parallel


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_MODULES.get(name, ".data_parallel"), __name__), name)


def __dir__():
    return __all__
