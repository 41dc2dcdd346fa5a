"""Functions in fresh processes, ranks of a process group, and commands side by side."""
from .fresh import free_port, in_fresh_process, in_fresh_processes, launch
from .ranks import in_group

__all__ = ["free_port", "in_fresh_process", "in_fresh_processes", "in_group", "launch"]
