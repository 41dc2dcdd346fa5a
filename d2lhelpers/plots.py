"""The lessons' plots: one colour code, units on the axes, text that can be read from the back row."""
import contextlib
import re
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from . import moved

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# One colour code everywhere. Most are Okabe and Ito's colours, which colour-blind readers can tell apart.
PYTHON = "#8a8a8a"
BLUE = "#0072b2"
ORANGE = "#d55e00"
COMMUNICATION = "#009e73"
DEVICES = BLUE, ORANGE, "#cc79a7", "#e69f00", "#56b4e9", "#5b4a9b"
FONT = 13
# The names that the two frameworks give to copies between devices and to the sums of an all-reduce.
_COMMUNICATION = re.compile(r"Copy[CG]PU2|Memcpy|copy_$|add_n$|ElementwiseSum$|KVStore|nccl|_?all_?(reduce|gather)"
                            r"|_?reduce_scatter|broadcast_$")


def device_colour(device):
    """Return the colour for the first number in a device's name: "cpu(1)" and "cuda:1" have that of device 1."""
    number = re.search(r"\d+", f"{device} 0").group()  # 0 if the name has no number
    return DEVICES[int(number) % len(DEVICES)]


def is_communication(operator):
    """Return whether an operator of this name copies between devices or sums over them."""
    return bool(_COMMUNICATION.match(operator))


def shade(colour, rank):
    """Return `colour` for rank 0, and a lighter colour for each rank after it."""
    from matplotlib.colors import to_rgb
    light = (0, 0.35, 0.6, 0.78)[min(rank, 3)]
    return tuple(part + (1 - part) * light for part in to_rgb(colour))


@contextlib.contextmanager
def axes(ax, size, xlabel, ylabel=""):
    """Yield `ax`, or the axes of a new figure of `size` inches, in the lessons' style; show a new figure at the end."""
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
    """Draw one bar per label with its number beside it; numbers are multiplied by `scale`, and are then in `unit`.

    `values` maps labels to numbers, or to Measurements and Ratios, whose bars have a whisker that spans the quartiles.
    Lesson: 01-imperative-and-symbolic.
    """
    middle, below, above = [], [], []
    for value in values.values():
        low, median, high = value, value, value
        if hasattr(value, "median"):
            low, median, high = value.low, value.median, value.high
        middle.append(median * scale)
        below.append(abs(low - median) * scale)
        above.append(abs(high - median) * scale)
    whiskers = [below, above] if any(below + above) else None
    with axes(ax, (8, 0.9 + 0.55 * len(values)), unit) as ax:
        labels = [str(label) for label in values]
        drawn = ax.barh(labels, middle, color=BLUE, height=0.6, capsize=5, xerr=whiskers)
        ax.bar_label(drawn, fmt="%.3g", padding=6, fontsize=FONT)
        ax.invert_yaxis()
        ax.margins(x=0.12)
        ax.xaxis.get_major_locator().set_params(integer=all(isinstance(width, int) for width in middle))


def curves(points: Mapping[Any, Sequence[tuple[float, float]]], xlabel: str, ylabel: str,
           ax: "Axes | None" = None) -> None:
    """Draw one line per label through its points: `points` maps labels, which may be empty, to lists of (x, y).

    Lesson: 01-imperative-and-symbolic.
    """
    with axes(ax, (8, 3.2), xlabel, ylabel) as ax:
        for label, line in points.items():
            colour = DEVICES[len(ax.lines) % len(DEVICES)]
            marker = "o" if len(line) < 20 else None
            ax.plot(*zip(*line, strict=True), color=colour, linewidth=2.5, marker=marker, label=str(label) or None)
        if ax.get_xscale() == "linear":
            places = [x for line in points.values() for x, _ in line]
            ax.xaxis.get_major_locator().set_params(integer=all(isinstance(x, int) for x in places))
        if ax.get_legend_handles_labels()[1]:
            ax.legend(fontsize=FONT, frameon=False)


def text_alternative(figure: "Figure") -> str:
    """Return what a figure shows, for readers who cannot see it: for each of its axes their label, or bars and lines.

    The label of axes is what `ax.set_label` was given; it is not drawn. Lesson: 00-start-here.

    >>> from matplotlib.figure import Figure
    >>> figure = Figure()
    >>> curves({"eager": [(1, 2.5), (2, 5)]}, "layers", "ms", figure.subplots())
    >>> text_alternative(figure)
    'ms over layers: eager 1 → 2.5, 2 → 5'
    """
    panels = []
    for ax in figure.axes:
        title = ax.get_title(loc="left") or ax.get_title()
        shown = ax.get_label() or "; ".join(_describe_bars(ax) + _describe_lines(ax))
        panels.append(": ".join(text for text in (title, shown) if text))
    return ". ".join(panels)


def _describe_bars(ax):
    """Return for each set of bars their unit, and the name and number of each bar."""
    from matplotlib.container import BarContainer
    described = []
    for bars in ax.containers:
        if not isinstance(bars, BarContainer):
            continue
        if bars.orientation == "horizontal":
            unit = ax.get_xlabel()
            axis = ax.yaxis
            places = [bar.get_y() + bar.get_height() / 2 for bar in bars]
        else:
            unit = ax.get_ylabel()
            axis = ax.xaxis
            places = [bar.get_x() + bar.get_width() / 2 for bar in bars]
        said = []
        for name, value in zip(_names_of_places(axis, places), bars.datavalues, strict=True):
            said.append(f"{name} {_number(value)}")
        described.append(_after(unit, ", ".join(said)))
    return described


def _names_of_places(axis, places):
    """Return for each place on an axis the label of its tick, or where there is no tick its number."""
    labels = {}
    for place, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True):
        labels[place] = label.get_text()
    rounded = [round(place, 6) for place in places]
    return [labels.get(place, _number(place)) for place in rounded]


def _describe_lines(ax):
    """Return for each line its name and points; before the first one stands what the axes show."""
    from matplotlib.container import ErrorbarContainer
    whiskers = []
    for container in ax.containers:
        if isinstance(container, ErrorbarContainer):
            _, caps, _ = container
            whiskers += caps
    described = [_describe_line(line) for line in ax.lines if line not in whiskers]
    described = [text for text in described if text]
    if described:
        both = " over ".join(name for name in (ax.get_ylabel(), ax.get_xlabel()) if name)
        described[0] = _after(both, described[0])
    return described


def _describe_line(line):
    """Return a line's name and points; of many points the first, the last, and those with the least and the most."""
    points = list(zip(*line.get_data(), strict=True))
    said = [f"{_number(x)} → {_number(y)}" for x, y in points]
    named = not line.get_label().startswith("_")
    if len(points) < 3 and not named:
        return ""  # a line that marks a place
    if len(points) > 8:
        heights = [y for _, y in points]
        low = said[heights.index(min(heights))]
        high = said[heights.index(max(heights))]
        said = [f"from {said[0]} to {said[-1]} in {len(points)} points", f"lowest {low}", f"highest {high}"]
    text = ", ".join(said)
    return f"{line.get_label()} {text}" if named else text


def _after(heading, text):
    """Return a text after its heading, if it has one."""
    return f"{heading}: {text}" if heading else text


def _number(value):
    """Return a number as text, with three digits or as a whole one; other values, such as names, unchanged."""
    if not isinstance(value, Real):
        return str(value)
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e9 else f"{value:.3g}"


def __getattr__(name):
    return moved.look_up(name, __name__)
