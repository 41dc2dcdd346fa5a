import subprocess
import sys
from pathlib import Path

import pytest

from d2lhelpers.benchmark import Comparison, Measurement

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import run  # noqa: E402


def test_the_smallest_benchmark_writes_its_table(tmp_path):
    """The quick run measures every kind of row, prints the table and writes it with the machine, and names no path."""
    output = tmp_path / "results.md"
    command = [sys.executable, str(ROOT / "benchmarks" / "run.py"), "--quick", "--output", str(output)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert result.returncode == 0, result.stderr
    text = output.read_text(encoding="utf-8")
    assert result.stdout == text + "\n"
    for word in ("cores of", "GB of memory", "mxnet 1.9.1", "KVStore device", *["gloo"] * run.TORCH, "gluon.utils",
                 "limit", "in one bucket", "product", "LeNet from scratch", "hybridized", "Benchmark blocks",
                 "Timeline", "import d2lhelpers"):
        assert word in text, word
    assert str(ROOT) not in text
    assert str(Path.home()) not in text


def test_a_part_does_not_replace_the_table():
    """A run of some rows prints them, and leaves the whole table as it is."""
    results = ROOT / "benchmarks" / "RESULTS.md"
    before = results.read_bytes()
    command = [sys.executable, str(ROOT / "benchmarks" / "run.py"), "--quick", "--only", "imports"]
    assert "import d2lhelpers" in subprocess.run(command, capture_output=True, text=True, timeout=100).stdout
    assert results.read_bytes() == before


@pytest.mark.parametrize(("peer", "limit", "reached"), [(2.0, 0.5, [True, True]), (0.9, 0.3, [False, False])])
def test_a_goal_is_reached_or_not(peer, limit, reached):
    """A line says of each goal whether it was reached: the fastest peer counts, and the limit is none."""
    times = Comparison({"ours": Measurement([1.0] * 3), "slow": Measurement([9.0] * 3), "peer": Measurement([peer] * 3),
                        "limit": Measurement([limit] * 3)})
    line = run.line("work", times, {"fastest peer": 0.95, "limit": 0.4})
    assert [each for _, each in line["goals"]] == reached
    assert line["beside"][1] == f"peer {peer:.2f}× ({peer:.2f}× to {peer:.2f}×)"
    assert f"| {'yes' if reached[0] else '**no**'}<br>" in run.table([line])
