"""The picture of what an engine did, pass by pass: `plot_passes`."""
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..plots import BLUE, FONT, PYTHON, axes, shade
from .engine import Engine, Request

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_passes(engine: Engine, requests: Sequence[Request], ax: "Axes | None" = None) -> None:
    """Draw a row per user: hatched while it waits, dark while its prompt is read, light while its answer grows.

    The requests are those that the engine has served, drawn in their order. Lesson: pytorch/12-a-serving-engine.
    """
    waiting, prompt, answer = ({request: [] for request in requests} for _ in range(3))
    for request in requests:
        waiting[request].append((request.arrival, request.times[-1] - request.arrival))
    for each in engine.passes:
        for request, count in each.work:
            reads = count > 1 or each.end <= request.times[0]
            (prompt if reads else answer)[request].append((each.start, each.end - each.start))
    styles = {"waiting": (waiting, {"facecolor": "white", "edgecolor": PYTHON, "hatch": "////"}),
              "prompt": (prompt, {"facecolor": BLUE}), "answer": (answer, {"facecolor": shade(BLUE, 2)})}
    with axes(ax, (9, 4), "time, in readings of the weights", "users") as ax:
        for label, (spans, style) in styles.items():
            for row, request in enumerate(requests):
                ax.broken_barh(spans[request], (row - 0.4, 0.8), linewidth=0, label=None if row else label, **style)
        ax.invert_yaxis()
        ax.set_yticks([])
        ax.label_outer()  # of panels one above the other, only the lowest names the axis
        ax.legend(ncols=3, fontsize=FONT, frameon=False, loc="lower right", bbox_to_anchor=(1, 1))
        ax.set_label(f"{len(requests)} users, {len(engine.passes)} passes, all done at {engine.time:.0f}")
