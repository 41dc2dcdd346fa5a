import subprocess
import sys
from pathlib import Path

import pytest

from d2lhelpers.benchmark import Comparison, Measurement

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import run  # noqa: E402


@pytest.mark.slow
def test_the_smallest_benchmark_writes_its_table(tmp_path):
    """The quick run measures every kind of row, prints the table and writes it where it is told, not over the whole."""
    output, results = tmp_path / "results.md", ROOT / "benchmarks" / "RESULTS.md"
    before = results.read_bytes()
    command = [sys.executable, str(ROOT / "benchmarks" / "run.py"), "--quick", "--output", str(output)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert result.returncode == 0, result.stderr
    assert result.stdout == output.read_text(encoding="utf-8") + "\n"
    for word in ("cores of", "mxnet 1.9.1", "KVStore device", *["gloo"] * run.TORCH, "gluon.utils", "in one bucket",
                 "product", "LeNet from scratch", "hybridized", "Benchmark blocks", "Timeline", "import d2lhelpers"):
        assert word in result.stdout, word
    assert str(ROOT) not in result.stdout
    assert results.read_bytes() == before


@pytest.mark.parametrize(("peer", "limit", "reached"), [(2.0, 0.5, [True, True]), (0.9, 0.3, [False, False])])
def test_a_goal_is_reached_or_not(peer, limit, reached):
    """A line says of each goal whether it was reached: the fastest peer counts, and the limit is no peer."""
    times = Comparison({label: Measurement([time] * 3) for label, time in
                        {"ours": 1.0, "slow": 9.0, "peer": peer, "limit": limit}.items()})
    line = run.line("work", times, {"fastest peer": 0.95, "limit": 0.4})
    assert [each for _, each in line["goals"]] == reached
    assert f"| {'yes' if reached[0] else '**no**'}<br>" in run.table([line])
