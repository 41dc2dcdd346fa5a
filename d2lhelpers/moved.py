"""Names of earlier versions, for one release: earlier copies of lessons still run, and a warning says what to write.

Modules that still exist ask `look_up` for names that they no longer have. For modules that do not, there is a finder at
the end of Python's list, which is asked only for what nobody else finds.
"""
import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

MODULES = {  # by an earlier module: the modules that have its names now
    "exercises": ["exercises", "attempts"],
    "machine": ["machine", "counters"],
    "mxnet_timeline": ["mxnet.timeline", "mxnet.waits"],
    "parts": ["partition"],
    "plots": ["plots"],
    "surroundings": ["environment"],
    "torch_collectives": ["torch.collectives"],
    "torch_compiled": ["torch.compiled"],
    "torch_gpt": ["torch.gpt"],
    "torch_jobs": ["torch.jobs"],
    "torch_memory": ["torch.memory"],
    "torch_messages": ["torch.collectives"],
    "torch_needs": ["torch.bottleneck"],
    "torch_pipeline": ["torch.pipeline"],
    "torch_sharding": ["torch.sharding"],
    "torch_timeline": ["torch.timeline", "torch.waits"],
    "torch_work": ["torch.work"],
    "words": ["messages"],
}
NAMES = {  # by an earlier name: the present one
    "RankError": "Broken",
    "Limits": "MachineLimits",
    "Needs": "Breakdown",
    "begin_notebook": "prepare_notebook",
    "describe_pictures": "describe_plots",
    "holds": "state_mb",
    "idle": "bubble_fraction",
    "in_words": "text_alternative",
    "kept": "saved_activations_mb",
    "meant": "match_number",
    "name_obstacles": "print_conflicting_settings",
    "needs": "find_bottleneck",
    "notebook": "kernel_shell",
    "obstacles": "conflicting_settings",
    "part_sizes": "partition_sizes",
    "play": "sliders",
    "resident": "live_tensors_mb",
    "unmet": "missed",
    "watch": "trace_fsdp_step",
    "whole": "full_parameters",
}


class EarlierModules:
    """Finds and loads the modules of MODULES, and `checks`, which has another name in each folder of lessons now."""

    def find_spec(self, name, path=None, target=None):
        """Return the spec of a module that there was in an earlier version, or None."""
        return ModuleSpec(name, self, is_package=name == "checks") if successors(name) else None

    def create_module(self, spec):
        """Let Python make the module."""

    def exec_module(self, module):
        """Let the module look up its names where they are now."""
        module.__getattr__ = lambda name: look_up(name, module.__name__)


def successors(module):
    """Return the names of the modules that have what an earlier module had."""
    package, _, rest = module.partition(".")
    if package == __package__:
        return [f"{package}.{new}" for new in MODULES.get(rest, [])]
    if package == "checks":
        for folder in (folder for place in sys.path for folder in sorted(Path(place).glob("checks_*"))):
            new = ".".join([folder.name, *filter(None, [rest])])
            if find_spec(new):
                return [new]
    return []


def look_up(name, module):
    """Return what an earlier version of `module` called `name`, and warn that it has another name now.

    Raises:
        AttributeError: There was no such name.
    """
    for new_module in successors(module) if not name.startswith("__") else ():
        new_name = NAMES.get(name, name)
        found = vars(import_module(new_module)).get(new_name)
        if found is not None:
            warnings.warn(f"{module}.{name} is now {new_module}.{new_name}; the old name goes with the next release",
                          FutureWarning, stacklevel=3)
            return found
    raise AttributeError(f"module {module!r} has no attribute {name!r}")


def let_earlier_imports_work():
    """Let imports of earlier modules lead to the present ones."""
    sys.meta_path.append(EarlierModules())
