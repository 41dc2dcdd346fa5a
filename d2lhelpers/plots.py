"""The lessons' plots: one colour code, units on the axes, letters that can be read from the back row."""
import contextlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# One colour code everywhere. Okabe and Ito's colours, which colour-blind readers can tell apart.
PYTHON, BLUE, ORANGE, COMMUNICATION = "#8a8a8a", "#0072b2", "#d55e00", "#009e73"
DEVICES = BLUE, ORANGE, "#cc79a7", "#e69f00", "#56b4e9", "#5b4a9b"
FONT = 13
# Copies between devices and the sums of an all-reduce, as the two frameworks name them.
_COMMUNICATION = re.compile(r"Copy[CG]PU2|Memcpy|copy_$|add_n$|ElementwiseSum$|KVStore|nccl|_?all_?(reduce|gather)"
                            r"|_?reduce_scatter|broadcast_$")


def device_colour(device):
    """Return the colour of a device by the first number in its name: "cpu(1)" and "cuda:1" have that of device 1."""
    number = re.search(r"\d+", f"{device} 0").group()
    return DEVICES[int(number) % len(DEVICES)]


def is_communication(operator):
    """Return whether an operator of this name copies between devices, or sums over them."""
    return bool(_COMMUNICATION.match(operator))


def shade(colour, rank):
    """Return `colour` for rank 0, and ever lighter ones for the next ranks."""
    from matplotlib.colors import to_rgb
    light = (0, 0.35, 0.6, 0.78)[min(rank, 3)]
    return tuple(part + (1 - part) * light for part in to_rgb(colour))


@contextlib.contextmanager
def axes(ax, size, xlabel, ylabel=""):
    """Give `ax`, or the axes of a new figure of `size` inches, in the lessons' style; show a new one at the end."""
    import matplotlib.pyplot as plt
    new = ax is None
    if new:
        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.tick_params(labelsize=FONT)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel(xlabel, fontsize=FONT)
    ax.set_ylabel(ylabel, fontsize=FONT)
    yield ax
    if new:
        plt.show()


def bars(values: Mapping[Any, Any], unit: str, ax: "Axes | None" = None, scale: float = 1) -> None:
    """Draw one bar per label, with its number beside it, multiplied by `scale` to be in `unit`.

    `values` maps labels to numbers, or to Measurements and Ratios, which have a whisker over their quartiles.
    """
    spans = [(value.low, value.median, value.high) if hasattr(value, "median") else (value, value, value)
             for value in values.values()]
    middle = [median * scale for _, median, _ in spans]
    below, above = ([abs(span[end] - span[1]) * scale for span in spans] for end in (0, 2))
    with axes(ax, (8, 0.9 + 0.55 * len(values)), unit) as ax:
        drawn = ax.barh([str(label) for label in values], middle, color=BLUE, height=0.6, capsize=5,
                        xerr=[below, above] if any(below + above) else None)
        ax.bar_label(drawn, fmt="%.3g", padding=6, fontsize=FONT)
        ax.invert_yaxis()
        ax.margins(x=0.12)


def curves(points: Mapping[Any, Sequence[tuple[float, float]]], xlabel: str, ylabel: str,
           ax: "Axes | None" = None) -> None:
    """Draw one line per label through its points: `points` maps labels, which may be empty, to lists of (x, y)."""
    with axes(ax, (8, 3.2), xlabel, ylabel) as ax:
        for label, line in points.items():
            ax.plot(*zip(*line, strict=True), color=DEVICES[len(ax.lines) % len(DEVICES)], linewidth=2.5,
                    marker="o" if len(line) < 20 else None, label=str(label) or None)
        if ax.get_legend_handles_labels()[1]:
            ax.legend(fontsize=FONT, frameon=False)
