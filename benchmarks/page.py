"""Writes the page of the races: what the stored figures say, in sentences and charts, for light and dark screens."""
import json
import sys
from collections import namedtuple
from pathlib import Path

import matplotlib.pyplot as plt

from d2lhelpers import plots
from d2lhelpers.benchmark import _seconds

# `ours` is what the others are divided by: a helper of ours, or else a tool of the framework, which may gain or not.
Question = namedtuple("Question", "name heading ours helper")
QUESTIONS = [
    Question("all-reduce in MXNet", "Is our all-reduce as fast as its peers in MXNet?", "our all-reduce", True),
    Question("all-reduce in PyTorch", "Is our all-reduce as fast as its peers in PyTorch?", "our all-reduce", True),
    Question("buckets", "Does one bucket for all gradients save time?", "one bucket", True),
    Question("split", "Is splitting a batch cheap?", "our split_and_load", True),
    Question("helpers", "What do the helpers themselves cost?", "our helpers", True),
    Question("two devices", "Do two devices halve the time?", "two devices", False),
    Question("compiling", "What do hybridize and torch.compile gain?", "compiled code", False),
    Question("two processes", "What do DDP and FSDP2 cost here?", "two processes", False),
]
READING = """\
**How to read the charts.** In a race all contestants took turns. A dot is the median of another's time divided by ours,
round by round, with a line over the middle half of the rounds. Left of the blue line it was faster than ours, right of
it slower. Grey are limits: a copy of the same arrays, the same call on next to nothing (overhead), and the like."""
COLOURS = [plots.ORANGE, plots.COMMUNICATION, *plots.DEVICES[2:]]
SCHEMES = {"light": ("default", "white"), "dark": ("dark_background", "#0d1117")}
LEAST, MOST = 0.25, 8  # ratios outside stand at the edge, with their numbers
NOISE = 0.98  # three quarters of the rounds must lie below
LOST = f"""\
**What we lose.** Peers that took less than {NOISE:g} of our time in at least three quarters of the rounds; their time
divided by ours:"""
UNPAID = """\
**What does not pay here.** Going without a framework's own tool was as clearly faster; the time without it divided by
that with it:"""


def times(ratio):
    """Write a ratio."""
    return f"{ratio:.2f}×" if ratio < 10 else f"{ratio:.0f}×"


def where(record):
    """Write which of a question's cases a record is."""
    return f"{record['panel']}, {record['work']}" if record["panel"] else record["work"]


def faster(record):
    """Return the peers that beat ours by more than the noise, with the medians of their ratios."""
    return {label: median for label, (_, median, high) in record["others"].items()
            if high < NOISE and not label.startswith("limit")}


def told(found):
    """Write pairs of a ratio and its case, of many the least and the greatest."""
    found = [f"{times(ratio)} ({case})" for ratio, case in sorted(found)]
    return f"{found[0]} to {found[-1]}" if len(found) > 4 else ", ".join(found)


def losses(question, records):
    """Return a line for each contestant that beat ours, with the cases in which it did."""
    cases = {}
    for record in records:
        for label, median in faster(record).items():
            cases.setdefault(label, []).append((median, where(record)))
    return [f"- {question.name}: **{label}** in {len(found)} of {len(records)} races, {told(found)}"
            for label, found in cases.items()]


def answer(question, records):
    """Return the sentences that answer a question: who won how often, and the ratios of each contestant."""
    if question.helper:
        count = sum(1 for record in records if faster(record))
        verdict = f"lost {count or 'none'} of {len(records)} races to a peer"
    else:
        count = 0
        for record in records:
            lows = [low for label, (low, _, _) in record["others"].items() if not label.startswith("limit")]
            count += min(lows) > 1
        verdict = f"won {count or 'none'} of {len(records)} races"
    cases = {}
    for record in records:
        for label, (_, median, _) in record["others"].items():
            if not (question.helper and label.startswith("limit")):  # of helpers the chart alone shows them
                cases.setdefault(label, []).append((median, where(record)))
    parts = "; ".join(f"{label} {told(found)}" for label, found in cases.items())
    name = question.ours[0].upper() + question.ours[1:]
    return f"**{name} {verdict}.** Time divided by that of {question.ours}: {parts}."


def draw(ax, records, looks):
    """Draw the races of one panel: a row per work, a dot per contestant."""
    works = {}
    for record in records:
        ours = "" if record["panel"] else f"\n{_seconds(record['seconds'])}"  # there is room beside a single panel
        works.setdefault(record["work"], record["work"] + ours)
    labels = list(looks)
    for record in records:
        for label, span in record["others"].items():
            low, median, high = (min(max(value, LEAST), MOST) for value in span)
            y = list(works).index(record["work"]) + 0.7 * ((labels.index(label) + 0.5) / len(labels) - 0.5)
            ax.plot([low, high], [y, y], color=looks[label]["color"], linewidth=2, zorder=2)
            ax.plot(median, y, **looks[label], clip_on=False, zorder=3)
            if not LEAST <= span[1] <= MOST:
                side, gap = ("left", 1.12) if median == LEAST else ("right", 1 / 1.12)
                ax.text(median * gap, y, times(span[1]), ha=side, va="center", fontsize=plots.FONT - 3, zorder=4,
                        bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1})
    ax.axvline(1, color=plots.BLUE, linewidth=3, zorder=1)
    ax.set(xscale="log", xlim=(LEAST, MOST), ylim=(len(works) - 0.5, -0.5), title=records[0]["panel"])
    ax.set_xticks([0.5, 1, 2, 4], ["½×", "1×", "2×", "4×"])
    ax.set_xticks([], minor=True)
    ax.set_yticks(range(len(works)), works.values())
    for edge in range(1, len(works)):
        ax.axhline(edge - 0.5, color=plots.PYTHON, linewidth=0.5)


def chart(path, question, records, style, background):
    """Draw a question's races, one panel beside the other, as an SVG."""
    panels = {}
    for record in records:
        panels.setdefault(record["panel"], []).append(record)
    labels = list(dict.fromkeys(label for record in records for label in record["others"]))
    colours, greys, looks = iter(COLOURS), iter("sD"), {}
    for label in labels:
        if label.startswith("limit"):
            looks[label] = {"color": plots.PYTHON, "marker": next(greys), "markersize": 6}
        else:
            looks[label] = {"color": next(colours), "marker": "o", "markersize": 7}
    rows = max(len({record["work"] for record in panel}) for panel in panels.values())
    settings = {"svg.fonttype": "none", "svg.hashsalt": "races", "font.size": plots.FONT,
                "figure.facecolor": background, "axes.facecolor": background, "savefig.facecolor": background}
    with plt.style.context([style, settings]):
        figure, axes = plt.subplots(1, len(panels), sharey=True, squeeze=False, layout="constrained",
                                    figsize=(10, 1.5 + rows * (0.3 + 0.12 * len(labels))))
        for ax, panel in zip(axes[0], panels.values(), strict=True):
            with plots.axes(ax, None, ""):
                draw(ax, panel, looks)
        figure.supxlabel(f"← faster | time, divided by that of {question.ours} | slower →", fontsize=plots.FONT)
        handles = [plt.Line2D([], [], color=plots.BLUE, linewidth=3, label=question.ours)]
        handles += [plt.Line2D([], [], label=label, **look) for label, look in looks.items()]
        figure.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


def write_page(folder):
    """Write RESULTS.md and its charts beside the figures in results.json."""
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    (folder / "charts").mkdir(exist_ok=True)
    lost, unpaid, sections = [], [], []
    for question in QUESTIONS:
        records = [record for record in results["records"] if record["question"] == question.name]
        if not records:
            continue
        (lost if question.helper else unpaid).extend(losses(question, records))
        name, said = question.name.lower().replace(" ", "-"), answer(question, records)
        for scheme, (style, background) in SCHEMES.items():
            chart(folder / "charts" / f"{name}-{scheme}.svg", question, records, style, background)
        sections.append(f"## {question.heading}\n{said}\n\n<picture>\n"
                        f'  <source media="(prefers-color-scheme: dark)" srcset="charts/{name}-dark.svg">\n'
                        f'  <img alt="{question.heading} A dot for each ratio" src="charts/{name}-light.svg">\n'
                        "</picture>")
    missing = [f"- {each}" for each in [*results["missing"], "GPUs: all races run on the CPU"]]
    text = ["# Measured", LOST, "\n".join(lost or ["- none"]), UNPAID, "\n".join(unpaid or ["- nothing"]),
            "**What could not be measured:**", "\n".join(missing),
            f"All of this is computed from [results.json](results.json), which `make benchmark` measured in "
            f"{results['minutes']} minutes on {results['machine']}", READING, *sections]
    (folder / "RESULTS.md").write_text("\n\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_page(Path(sys.argv[1] if sys.argv[1:] else Path(__file__).parent))
