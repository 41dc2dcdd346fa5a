"""The picture of a Timeline."""
import itertools

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
    from matplotlib.legend_handler import HandlerTuple
    from matplotlib.patches import Patch
    rows = ["Python", *record.devices]
    with_gpu = any(row.startswith(("gpu", "cuda")) for row in rows)
    end = end or record.end or 1.0
    scale, unit = (1e3, "milliseconds") if end < 2 else (1, "seconds")
    width = end * scale
    legend = {}
    groups = _groups(record.operators, label)
    with axes(ax, (10, 1.2 + 0.6 * len(rows)), f"{unit} since the block began") as ax:
        ax.set_label(_text_alternative(record, groups))
        ax.set(xlim=(-0.004 * width, width), ylim=(len(rows) - 0.5, -0.5))
        ax.set_yticks(range(len(rows)), rows)
        ax.spines["left"].set_visible(False)
        for row, share in enumerate(record.utilization.values(), 1):
            ax.text(1.01, row, f"busy {share:.0%}", transform=ax.get_yaxis_transform(), va="center", fontsize=FONT)
        ax.figure.draw_without_rendering()  # now the width of the axes is final
        letter = 0.6 * FONT * ax.figure.dpi / 72 / ax.get_window_extent().width * width

        def blocks(row, spans, colour, **style):
            bars = [(start * scale, (end - start) * scale) for start, end in spans]
            ax.broken_barh(bars, (row - 0.38, 0.76), facecolor=colour, **style)

        blocks(0, [(0, record.returned)], PYTHON, edgecolor=PYTHON, linewidth=2)
        if record.waits:
            blocks(0, record.waits, "white", edgecolor=PYTHON, hatch="////")
            legend["waiting"] = Patch(facecolor="white", edgecolor=PYTHON, hatch="////")
        for communication, name, rank, share, operators in groups:
            patches = []
            written = False
            for row, device in enumerate(rows):
                spans = [(operator.start, operator.end) for operator in operators if operator.device == device]
                if not spans:
                    continue
                colour = PYTHON if with_gpu and device.startswith("cpu") else device_colour(device)
                colour = shade(COMMUNICATION if communication else colour, rank)
                edges = ["white" if (end - start) * scale > letter / 2 else colour for start, end in spans]
                blocks(row, spans, colour, edgecolor=edges, linewidth=0.6)
                wide = [span for span in spans if (span[1] - span[0]) * scale > letter * (len(name) + 0.5)]
                for start, end in wide:
                    ax.text((start + end) / 2 * scale, row, name, ha="center", va="center", fontsize=FONT,
                            color="#222222" if rank else "white")
                written = written or bool(wide)
                patches.append(Patch(color=colour))
            if communication and not written:
                legend["communication"] = Patch(color=COMMUNICATION)
            elif not written and rank < 3 and share > 0.01:
                short = name if len(name) < 30 else f"{name[:28]}…"  # a GPU's kernels have names of 80 letters
                legend[short] = tuple(patches)
        if legend:
            ax.legend(list(legend.values()), list(legend), handler_map={tuple: HandlerTuple(None, pad=0)},
                      loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, frameon=False, fontsize=FONT)


def _text_alternative(record, groups):
    """Return what the picture shows, for readers who cannot see it."""
    said = [f"{device} busy {share:.0%}" for device, share in record.utilization.items()]
    said += [f"overlap of {a} and {b} {record.overlap(a, b):.2f}" for a, b in itertools.pairwise(record.devices)]
    longest = [f"{name} {share:.0%}" for _, name, _, share, _ in groups if share > 0.1]
    said += [f"of all work {', '.join(longest)}"] if longest else []
    said += [f"Python ends at {record.returned * 1e3:,.2f} of {record.end * 1e3:,.2f} ms"]
    return ", ".join([*said, f"waits: {len(record.waits)}"])


def _groups(operators, label):
    """Return (whether it is communication, name, rank by time, share of all time, operators) for each name."""
    groups = {}
    for operator in operators:
        name = (label(operator) if label else operator.name).lstrip("_")  # matplotlib hides what begins with _
        groups.setdefault((is_communication(operator.name), name), []).append(operator)
    seconds = {}
    for group, members in groups.items():
        seconds[group] = sum(operator.end - operator.start for operator in members)
    ranked = sorted(groups, key=seconds.get, reverse=True)
    result = []
    for communication in (False, True):
        names = [name for kind, name in ranked if kind is communication]
        for rank, name in enumerate(names):
            group = communication, name
            share = seconds[group] / sum(seconds.values())
            result.append((communication, name, rank, share, groups[group]))
    return result
