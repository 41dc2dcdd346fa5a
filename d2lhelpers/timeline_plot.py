"""The picture of a Timeline."""
import itertools
from typing import NamedTuple

from .plots import COMMUNICATION, FONT, PYTHON, axes, device_colour, is_communication, shade


def draw_all(records, label=None):
    """Draw several Timelines one above the other: see `Timeline.plot_all`."""
    import matplotlib.pyplot as plt
    end = max(record.end for record in records.values())
    heights = [1.5 + 0.6 * len(record.devices) for record in records.values()]
    _, panels = plt.subplots(len(records), figsize=(10, 0.6 + sum(heights)), height_ratios=heights, squeeze=False,
                             layout="constrained")
    for panel, (title, record) in zip(panels[:, 0], records.items(), strict=True):
        draw(record, panel, label, end)
        legend = panel.get_legend()
        panel.set_title(title, loc="left", fontsize=FONT, fontweight="bold", pad=2.2 * FONT if legend else FONT / 2)
    for panel in panels[:-1, 0]:
        panel.set_xlabel("")
    plt.show()


def draw(record, ax=None, label=None, end=None):
    """Draw the Timeline `record`: see `Timeline.plot`. The axis ends at `end` seconds, or where the record does."""
    picture = _Picture(record, end or record.end or 1.0)
    groups = _groups(record.operators, label)
    with axes(ax, (10, 1.2 + 0.6 * len(picture.rows)), f"{picture.unit} since the block began") as ax:
        ax.set_label(_text_alternative(record, groups))
        picture.draw_rows(ax)
        picture.draw_python()
        for group in groups:
            picture.draw_group(group)
        picture.draw_legend()


class _Group(NamedTuple):
    """The operators of one name. `rank` is 0 for the longest time among communication, or among all the others."""

    name: str
    communication: bool
    rank: int
    share: float  # of the time of all operators
    operators: list


class _Picture:
    """The picture of a Timeline while it is being drawn; `draw_rows` comes first.

    `legend` has, by name, the styles of what has no name in the picture itself.
    """

    def __init__(self, record, end):
        self.record = record
        self.end = end
        self.rows = ["Python", *record.devices]
        self.with_gpu = any(row.startswith(("gpu", "cuda")) for row in self.rows)
        self.scale, self.unit = (1e3, "milliseconds") if end < 2 else (1, "seconds")
        self.legend = {}

    def draw_rows(self, ax):
        """Name the rows, write how busy each device was, and measure in seconds how wide a letter is."""
        self.ax = ax
        width = self.end * self.scale
        ax.set(xlim=(-0.004 * width, width), ylim=(len(self.rows) - 0.5, -0.5))
        ax.set_yticks(range(len(self.rows)), self.rows)
        ax.spines["left"].set_visible(False)
        for row, share in enumerate(self.record.utilization.values(), 1):
            ax.text(1.01, row, f"busy {share:.0%}", transform=ax.get_yaxis_transform(), va="center", fontsize=FONT)
        ax.figure.draw_without_rendering()  # now the width of the axes is final
        letter_in_pixels = 0.6 * FONT * ax.figure.dpi / 72
        self.letter = letter_in_pixels / ax.get_window_extent().width * self.end

    def draw_python(self):
        """Draw until when Python ran, and when it waited."""
        self.draw_blocks(0, [(0, self.record.returned)], facecolor=PYTHON, edgecolor=PYTHON, linewidth=2)
        if self.record.waits:
            hatched = {"facecolor": "white", "edgecolor": PYTHON, "hatch": "////"}
            self.draw_blocks(0, self.record.waits, **hatched)
            self.legend["waiting"] = [hatched]

    def draw_group(self, group):
        """Draw the blocks of a group; if its name fits into none of them, the legend has it."""
        colours = []
        named = False
        for row, device in enumerate(self.rows):
            spans = [(operator.start, operator.end) for operator in group.operators if operator.device == device]
            if spans:
                colour = self.colour(group, device)
                edges = ["white" if end - start > self.letter / 2 else colour for start, end in spans]
                self.draw_blocks(row, spans, facecolor=colour, edgecolor=edges, linewidth=0.6)
                named = self.write_name(group, row, spans) or named
                colours.append(colour)
        if not named:
            self.add_to_legend(group, colours)

    def colour(self, group, device):
        """Return the colour of a group's blocks on a device."""
        if group.communication:
            return shade(COMMUNICATION, group.rank)
        # Beside a GPU, rows of the CPU show who queued the kernels; those of threads show what Python loaded.
        if device.startswith("thread") or (self.with_gpu and device.startswith("cpu")):
            return shade(PYTHON, group.rank)
        return shade(device_colour(device), group.rank)

    def draw_blocks(self, row, spans, **style):
        """Draw a block in a row for each (start, end)."""
        bars = [(start * self.scale, (end - start) * self.scale) for start, end in spans]
        self.ax.broken_barh(bars, (row - 0.38, 0.76), **style)

    def write_name(self, group, row, spans):
        """Write the name of a group into its blocks that are wide enough, and return whether there is one."""
        needed = self.letter * (len(group.name) + 0.5)
        wide = [(start, end) for start, end in spans if end - start > needed]
        colour = "#222222" if group.rank else "white"
        for start, end in wide:
            middle = (start + end) / 2 * self.scale
            self.ax.text(middle, row, group.name, ha="center", va="center", fontsize=FONT, color=colour)
        return bool(wide)

    def add_to_legend(self, group, colours):
        """Add a group to the legend: the colour of communication, or of other groups the three with the most time."""
        if group.communication:
            self.legend["communication"] = [{"color": COMMUNICATION}]
        elif group.rank < 3 and group.share > 0.01:
            name = group.name
            short = name if len(name) < 30 else f"{name[:28]}…"  # a GPU's kernels have names of 80 letters
            self.legend[short] = [{"color": colour} for colour in colours]

    def draw_legend(self):
        """Draw the legend above the rows, if it has entries."""
        from matplotlib.legend_handler import HandlerTuple
        from matplotlib.patches import Patch
        if not self.legend:
            return
        patches = [tuple(Patch(**style) for style in styles) for styles in self.legend.values()]
        self.ax.legend(patches, list(self.legend), handler_map={tuple: HandlerTuple(None, pad=0)},
                       loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, frameon=False, fontsize=FONT)


def _text_alternative(record, groups):
    """Return what the picture shows, for readers who cannot see it."""
    said = [f"{device} busy {share:.0%}" for device, share in record.utilization.items()]
    for one, other in itertools.pairwise(record.devices):
        said.append(f"overlap of {one} and {other} {record.overlap(one, other):.2f}")
    longest = [f"{group.name} {group.share:.0%}" for group in groups if group.share > 0.1]
    if longest:
        said.append(f"of all work {', '.join(longest)}")
    said.append(f"Python ends at {record.returned * 1e3:,.2f} of {record.end * 1e3:,.2f} ms")
    said.append(f"waits: {len(record.waits)}")
    return ", ".join(said)


def _groups(operators, label):
    """Return the groups of operators: communication after all others, each kind in the order of rank."""
    members = {}
    for operator in operators:
        name = (label(operator) if label else operator.name).lstrip("_")  # matplotlib hides what begins with _
        members.setdefault((is_communication(operator.name), name), []).append(operator)
    seconds = {}
    for key, found in members.items():
        seconds[key] = sum(operator.end - operator.start for operator in found)
    total = sum(seconds.values()) or 1.0  # operators may be shorter than the clock can tell
    groups = []
    for communication in (False, True):
        keys = [key for key in sorted(members, key=seconds.get, reverse=True) if key[0] is communication]
        for rank, key in enumerate(keys):
            groups.append(_Group(key[1], communication, rank, seconds[key] / total, members[key]))
    return groups
