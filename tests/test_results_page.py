import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parent.parent
STORED = ROOT / "benchmarks"
sys.path.insert(0, str(STORED))
import page  # noqa: E402


def page_about(folder, **others):
    """Write the figures of one race, with these ratios of the others, and return the page made from them."""
    records = [{"question": "split", "panel": "MXNet", "work": "256 rows", "seconds": 0.001, "others": others}]
    results = {"machine": "a machine", "minutes": 1, "missing": ["a race: no compiler"], "records": records}
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")
    page.write_page(folder)
    return (folder / "RESULTS.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_small_races_fill_the_page(tmp_path):
    """A few small races, actually run, answer every question on the page; the stored figures do not change."""
    before = (STORED / "results.json").read_bytes()
    done = subprocess.run([sys.executable, STORED / "collect.py", tmp_path], env={**os.environ, "QUICK_RACES": "1"},
                          capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    if find_spec("mxnet") and find_spec("torch"):
        for question in page.QUESTIONS:
            assert question.heading in text
    assert str(ROOT) not in text
    assert (STORED / "results.json").read_bytes() == before


def test_nothing_on_the_page_is_typed_by_hand(tmp_path):
    """The stored page is exactly what is made from the stored figures."""
    (tmp_path / "results.json").write_bytes((STORED / "results.json").read_bytes())
    page.write_page(tmp_path)
    assert (tmp_path / "RESULTS.md").read_text(encoding="utf-8") == (STORED / "RESULTS.md").read_text(encoding="utf-8")


def test_every_question_has_a_chart_for_light_and_for_dark_screens():
    """Each section shows its own stored chart in two colour schemes, and the chart names all contestants."""
    text = (STORED / "RESULTS.md").read_text(encoding="utf-8")
    records = json.loads((STORED / "results.json").read_text(encoding="utf-8"))["records"]
    for question in page.QUESTIONS:
        section = text.partition(f"## {question.heading}\n")[2].partition("\n## ")[0]
        dark, light = re.findall(r'(?:srcset|src)="(charts/[\w-]+\.svg)"', section)
        for picture, scheme in ((dark, "dark"), (light, "light")):
            assert picture.endswith(f"-{scheme}.svg")
            words = " ".join(ElementTree.parse(STORED / picture).getroot().itertext())
            for record in records:
                if record["question"] == question.name:
                    for label in [record["work"], *record["others"]]:
                        assert label in words
            assert page.SCHEMES[scheme][1].replace("white", "#ffffff") in (STORED / picture).read_text(encoding="utf-8")


def test_losses_come_first(tmp_path):
    """The page starts with the peers that are faster by more than the noise, not with limits or other peers."""
    limit = {"limit: a copy": [0.1, 0.1, 0.2]}
    text = page_about(tmp_path, quick=[0.4, 0.5, 0.6], near=[0.8, 0.9, 1.1], slow=[2, 3, 4], **limit)
    first = text.partition("**What could not be measured:**")[0]
    assert text.startswith("# Measured\n\n**What we lose.**")
    assert "**quick** in 1 of 1 races, 0.50× (MXNet, 256 rows)" in first
    for label in ("**near**", "**slow**", "a copy"):
        assert label not in first
    assert "lost 1 of 1 races" in text
    assert "- a race: no compiler" in text


def test_no_loss_is_stated(tmp_path):
    """If no peer is faster, the first lines of the page say that there is none."""
    assert "**What we lose.**" in page_about(tmp_path, slow=[2, 3, 4]).partition("- none\n")[0]
