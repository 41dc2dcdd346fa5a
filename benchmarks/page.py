"""Writes the page of the races from the stored figures: tables, and charts for light and dark screens."""
import json
import re
from pathlib import Path

import matplotlib.pyplot as plt

from d2lhelpers import plots

FASTER = 0.98  # of our time, in three quarters of the rounds
STYLES = {"light": "default", "dark": "dark_background"}
SETTINGS = {
    "font.size": plots.FONT, "xtick.labelsize": "small", "axes.grid": True, "grid.alpha": 0.3,
    "svg.fonttype": "none", "svg.hashsalt": "races",  # text stays text; the same figures give the same file
}
PAGE = """\
# Measured

**What we lose.** "Faster" means: it took less than {faster} of the time of ours, or of the framework's tool that we
tried, in at least three quarters of the rounds.

{lost}

**What could not be measured.**

{missing}

All figures are in [results.json](results.json), which `make benchmark` measured on {machine}

**How to read the rest.** In a race the contestants take turns. In each round, the time of each is divided by the time
of ours. A dot is the median of these ratios, with a line from the lower to the upper quartile: left of 1× it was
faster, right of it slower. Grey dots are limits, such as a copy of the same arrays. The tables have the least and the
greatest median.

{sections}
"""
SECTION = """\
## {question}
| Time, divided by that of {ours} | faster in | least | greatest |
|---|---|---|---|
{table}

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="charts/{name}-dark.svg">
  <img alt="The ratios of all races" src="charts/{name}-light.svg">
</picture>"""


def distinct(rows, column):
    """Return the values in a column, each once."""
    return list(dict.fromkeys(row[column] for row in rows))


def chart(path, rows, style):
    """Draw the ratios of one question, panels side by side."""
    works = distinct(rows, "work")
    others = distinct(rows, "other")
    panels = distinct(rows, "panel")
    colours = dict(zip(others, plots.DEVICES[1:], strict=False))
    colours |= {other: plots.PYTHON for other in others if other.startswith("limit")}
    with plt.style.context([style, SETTINGS]):
        figure, axes = plt.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False, layout="constrained",
                                    figsize=(10, 2 + 0.6 * len(works)))
        axes = dict(zip(panels, axes[0], strict=True))
        for row in rows:
            y = works.index(row["work"]) + 0.16 * (others.index(row["other"]) - len(others) / 2 + 0.5)
            quartiles = [[row["median"] - row["low"]], [row["high"] - row["median"]]]
            axes[row["panel"]].errorbar(row["median"], y, xerr=quartiles, fmt="o", color=colours[row["other"]])
        for panel, ax in axes.items():
            ax.set_title(panel)
            ax.axvline(1, color=plots.BLUE, linewidth=3)
            ax.update_datalim([(0.5, 0), (2, 0)])
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:g}×")
        ax.set(yticks=range(len(works)), yticklabels=works, ylim=(len(works) - 0.5, -0.5))
        figure.supxlabel(f"time, divided by that of {rows[0]['ours']}", fontsize=plots.FONT)
        dots = [plt.Line2D([], [], marker="o", color=colour, label=other) for other, colour in colours.items()]
        figure.legend(handles=dots, loc="outside upper center", ncols=2, frameon=False)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


def ratio(row):
    """Write a ratio and its race."""
    return f"{row['median']:.2f}× ({row['panel']}, {row['work']})"


def calls_from_python(rows):
    """Write how many calls from Python the other takes in these races, and how many ours, if they were counted."""
    counted = [row["calls"] for row in rows if "calls" in row]
    if not counted:
        return ""
    ours, others = zip(*counted, strict=True)
    return f". There it takes {number_of_calls(others)} from Python, ours {number_of_calls(ours)}"


def number_of_calls(counts):
    """Write the least and the greatest of some numbers of calls."""
    least, most = min(counts), max(counts)
    span = f"{most}" if least == most else f"{least} to {most}"
    return f"{span} call" if most == 1 else f"{span} calls"


def write_page(folder):
    """Write RESULTS.md and its charts beside the figures in results.json."""
    about, *rows = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    (folder / "charts").mkdir(exist_ok=True)
    lost, sections = [], []
    for question in distinct(rows, "question"):
        races = [row for row in rows if row["question"] == question]
        ours = races[0]["ours"]
        table = []
        for other in distinct(races, "other"):
            found = [row for row in races if row["other"] == other]
            found.sort(key=lambda row: row["median"])
            faster = [row for row in found if row["high"] < FASTER]
            count = f"{len(faster)} of {len(found)}"
            table.append(f"| {other} | {count} | {ratio(found[0])} | {ratio(found[-1])} |")
            if faster and not other.startswith("limit"):
                lost.append(f"- **{other}** is faster than {ours} in {count} races, at best {ratio(found[0])}"
                            f"{calls_from_python(faster)}")
        name = re.sub(r"\W+", "-", question.lower()).strip("-")
        for scheme, style in STYLES.items():
            chart(folder / "charts" / f"{name}-{scheme}.svg", races, style)
        sections.append(SECTION.format(question=question, ours=ours, table="\n".join(table), name=name))
    text = PAGE.format(faster=FASTER, lost="\n".join(lost or ["- none"]), machine=about["machine"],
                       missing="\n".join(f"- {each}" for each in about["missing"]), sections="\n\n".join(sections))
    (folder / "RESULTS.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_page(Path(__file__).parent)
