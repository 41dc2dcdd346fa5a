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
import collect  # noqa: E402
import page  # noqa: E402

from d2lhelpers.process import in_fresh_process  # noqa: E402

WHITE = "fill: #ffffff"
BLACK = "fill: #000000"  # SVG's default, so charts do not name it


def page_about(folder, **others):
    """Write the figures of one race, with these quartiles of the others, and return the page made from them."""
    race = {"question": "Is splitting cheap?", "panel": "MXNet", "work": "256 rows", "ours": "our split", "seconds": 1}
    rows = [{**race, "other": other, "low": low, "median": median, "high": high}
            for other, (low, median, high) in others.items()]
    about = {"machine": "a machine", "missing": ["a race: no compiler"]}
    (folder / "results.json").write_text(json.dumps([about, *rows]), encoding="utf-8")
    page.write_page(folder)
    return (folder / "RESULTS.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.weekly
def test_every_race_works(tmp_path):
    """One round of every race, actually run, answers all questions; the stored figures do not change."""
    before = (STORED / "results.json").read_bytes()
    done = subprocess.run([sys.executable, STORED / "collect.py", tmp_path], env={**os.environ, "QUICK_RACES": "1"},
                          capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    if find_spec("mxnet") and find_spec("torch"):
        for question, *_ in collect.QUESTIONS:
            assert f"## {question}\n" in text
        missing = text.partition("**What could not be measured.**")[2].partition("All figures")[0]
        assert not [line for line in missing.splitlines() if "races_" in line and "compiled" not in line], done.stderr
    assert str(ROOT) not in text
    assert (STORED / "results.json").read_bytes() == before


def test_a_race_that_fails_is_named(tmp_path, monkeypatch):
    """A race that fails is on the page with its reason, and the figures of the others are stored."""
    (tmp_path / "races_here.py").write_text(
        "from collect import race\n"
        "def some():\n    return race('here', 'nothing', {'ours': float, 'theirs': int}, 3)\n"
        "def none():\n    raise ValueError('on purpose')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(collect, "QUESTIONS", [("None?", "races_here", "none"), ("Some?", "races_here", "some")])
    monkeypatch.setattr(sys, "argv", ["collect.py", str(tmp_path / "results")])
    collect.main()
    text = (tmp_path / "results" / "RESULTS.md").read_text(encoding="utf-8")
    assert "- races_here none: ValueError: on purpose\n" in text
    assert "## Some?\n| Time, divided by that of ours |" in text
    _, row = json.loads((tmp_path / "results" / "results.json").read_text(encoding="utf-8"))
    assert (row["question"], row["ours"], row["other"]) == ("Some?", "ours", "theirs")
    assert 0 < row["low"] <= row["median"] <= row["high"]


def test_nothing_on_the_page_is_typed_by_hand(tmp_path):
    """The stored page is exactly what is made from the stored figures."""
    (tmp_path / "results.json").write_bytes((STORED / "results.json").read_bytes())
    page.write_page(tmp_path)
    assert (tmp_path / "RESULTS.md").read_text(encoding="utf-8") == (STORED / "RESULTS.md").read_text(encoding="utf-8")


def test_every_question_has_a_chart_for_light_and_for_dark_screens():
    """Each section shows its own stored chart in two colour schemes, and the chart names all contestants."""
    text = (STORED / "RESULTS.md").read_text(encoding="utf-8")
    _, *rows = json.loads((STORED / "results.json").read_text(encoding="utf-8"))
    for question in {question for question, *_ in collect.QUESTIONS}:
        section = text.partition(f"## {question}\n")[2].partition("\n## ")[0]
        dark, light = re.findall(r'(?:srcset|src)="(charts/[\w-]+\.svg)"', section)
        for picture, scheme in ((dark, "dark"), (light, "light")):
            assert picture.endswith(f"-{scheme}.svg")
            root = ElementTree.parse(STORED / picture).getroot()
            background = root.find(".//*[@id='patch_1']/{*}path").get("style", BLACK)
            assert background == {"dark": BLACK, "light": WHITE}[scheme]
            assert (WHITE in root.find(".//{*}text").get("style")) == (scheme == "dark")
            words = " ".join(root.itertext())
            for row in rows:
                if row["question"] == question:
                    assert all(row[column] in words for column in ("panel", "work", "ours", "other"))


def test_losses_come_first(tmp_path):
    """The page starts with the peers that are faster by more than the noise, not with limits or other peers."""
    limit = {"limit: a copy": [0.1, 0.1, 0.2]}
    text = page_about(tmp_path, quick=[0.4, 0.5, 0.6], near=[0.8, 0.9, 1.1], slow=[2, 3, 4], **limit)
    first = text.partition("**What could not be measured.**")[0]
    assert text.startswith("# Measured\n\n**What we lose.**")
    assert "- **quick** is faster than our split in 1 of 1 races, at best 0.50× (MXNet, 256 rows)\n" in first
    for label in ("**near**", "**slow**", "a copy"):
        assert label not in first
    assert "| near | 0 of 1 | 0.90× (MXNet, 256 rows) | 0.90× (MXNet, 256 rows) |" in text
    assert "- a race: no compiler\n" in text


def test_the_calls_of_a_faster_peer_are_named(tmp_path):
    """Where calls were counted, a loss names those of the peer and ours, in the races that the peer won."""
    about = {"machine": "a machine", "missing": ["none"]}
    race = {"question": "Fast?", "panel": "MXNet", "work": "4 kB", "ours": "ours", "seconds": 1, "other": "peer"}
    won = {**race, "low": 0.4, "median": 0.5, "high": 0.6}
    drawn = {**race, "low": 1, "median": 1, "high": 1, "calls": [50, 60]}
    rows = [{**won, "calls": [2, 1]}, {**won, "calls": [8, 1]}, drawn]
    for other, calls in (("slow starter", [1, 3]), ("uncounted", None)):
        rows.append({**won, "other": other} | ({"calls": calls} if calls else {}))
    (tmp_path / "results.json").write_text(json.dumps([about, *rows]), encoding="utf-8")
    page.write_page(tmp_path)
    lines = [line.partition("4 kB)")[2] for line in (tmp_path / "RESULTS.md").read_text(encoding="utf-8").splitlines()
             if line.startswith("- **")]
    assert lines == [". There it takes 1 call from Python, ours 2 to 8 calls",
                     ". There it takes 3 calls from Python, ours 1 call", ""]


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mxnet") is None or find_spec("d2l") is None, reason="the races in MXNet need both")
def test_calls_are_counted_as_a_timeline_counts_them():
    """The calls from Python of our all-reduce and of a KVStore are as many as a Timeline shows, one for a KVStore."""
    def counts():
        import mxnet
        import races_mxnet

        from d2lhelpers.counters import count_calls
        data = [mxnet.np.zeros(5, ctx=device) for device in races_mxnet.BOTH]
        works = [lambda: races_mxnet.allreduce(data), races_mxnet.by_store("device", [data])]
        return [(races_mxnet.count_calls(work), count_calls(work)) for work in works]

    (ours, shown), (store, shown_of_store) = in_fresh_process(counts, PYTHONPATH=str(STORED))
    assert ours == shown == 2
    assert store == shown_of_store == 1


def test_no_loss_is_stated(tmp_path):
    """If no peer is faster, the first lines of the page say that there is none."""
    first = page_about(tmp_path, slow=[2, 3, 4]).partition("**What could not be measured.**")[0]
    assert first.endswith("\n\n- none\n\n")
