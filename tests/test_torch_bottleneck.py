"""Tests of what `d2lhelpers.torch.bottleneck` counts and clocks."""
import io
import time

import pytest
import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader

from d2lhelpers.machine import MachineLimits
from d2lhelpers.torch import bottleneck
from d2lhelpers.torch.bottleneck import Breakdown, find_bottleneck, plot_parts, training_flops
from d2lhelpers.torch.gpt import GPT
from d2lhelpers.torch.work import count_work

MACHINE = MachineLimits("example", peak=1e15, bandwidth=1e15, dispatch=1e-9)


class Slow:
    """A data set of three numbers, each of which takes a while: it sleeps, or it computes."""

    def __init__(self, sleep):
        self.sleep = sleep

    def __len__(self):
        return 3

    def __getitem__(self, index):
        end = time.thread_time() + 0.05
        if self.sleep:
            time.sleep(0.05)
        while not self.sleep and time.thread_time() < end:
            pass
        return index


@pytest.mark.parametrize(("layers", "width", "length"), [(1, 32, 16), (3, 64, 40)])
def test_a_step_takes_what_the_formula_says(layers, width, length):
    """The formula holds for a GPT's step; counted is besides at most the scores that attention computes again."""
    net = GPT(vocabulary=11, width=width, heads=2, layers=layers)
    weights = sum(layer.weight.numel() for layer in net.modules() if isinstance(layer, torch.nn.Linear))
    ids = torch.zeros(2, length, dtype=torch.long)
    formula = training_flops(weights, layers, width, length, rows=2)
    flops = count_work(lambda: F.cross_entropy(net(ids).flatten(0, 1), ids.flatten()).backward()).flops
    again = 2 * layers * width * length * ids.numel()
    assert flops in (formula, formula + again)


def test_bytes_and_calls():
    """A view is a call, but moves nothing; an expanded tensor has the bytes that it has in memory."""
    x = torch.ones(1000)
    assert count_work(lambda: x.view(10, 100)) == (0, 0, 1)
    assert count_work(lambda: x[:1].expand(1000).sum()).bytes < 4100
    assert count_work(lambda: x.exp()) == (0, 8000, 1)


@pytest.mark.parametrize("sleep", [True, False])
def test_a_loader_feeds_and_does_not_wait(sleep):
    """Time in a DataLoader is feeding, whether it sleeps there or computes; what waits beside it is waiting."""
    def work():
        for _ in DataLoader(Slow(sleep), batch_size=1):
            time.sleep(0.01)

    start = time.perf_counter()
    found = find_bottleneck(work, MACHINE)
    passed = time.perf_counter() - start
    assert found.bound_by == "feeding"
    assert found.feeding > 0.14
    assert found.waiting >= 0.03
    assert found.feeding <= found.seconds <= passed
    assert found.processor > (0 if sleep else 0.14)


@pytest.mark.parametrize(("told", "seconds"), [("7 2000000000 9", 2), ("", 0), (None, 0)])
def test_time_without_a_core_is_known_where_the_system_tells_it(told, seconds, monkeypatch):
    """Linux counts the nanoseconds for which a thread was ready but did not run; where nothing is told, it is none."""
    def opened(path, encoding):
        if told is None:
            raise FileNotFoundError(path)
        return io.StringIO(told)

    monkeypatch.setattr(bottleneck, "open", opened, raising=False)
    assert bottleneck._run_queue_wait() == seconds


def test_both_times_are_of_one_moment(monkeypatch):
    """If another program has the processor between the two clocks, both are read again."""
    told = iter([0, 5, 5, 5])
    monkeypatch.setattr(bottleneck, "_run_queue_wait", lambda: next(told))
    before = time.perf_counter()
    assert before <= bottleneck._unqueued_time() + 5 <= time.perf_counter()


def test_the_largest_part_binds():
    """Each part is a count over what the machine can do."""
    x = torch.ones(64, 64)
    for slow in ("peak", "bandwidth", "dispatch"):
        machine = MACHINE._replace(**{slow: 1e3 if slow != "dispatch" else 100})
        bound_by = {"peak": "arithmetic", "bandwidth": "memory", "dispatch": "overhead"}[slow]
        assert find_bottleneck(lambda: x @ x, machine).bound_by == bound_by


@pytest.mark.parametrize("names", [["slow"], ["slow", "fast", "faster"]])
def test_a_bar_shows_the_share_of_each_part(names):
    """A bar has five parts, of which waiting alone is hatched; a legend above names each; all fits on a slide."""
    from matplotlib import pyplot as plt
    found = {name: Breakdown(30, 10, 1, 2, 3, 4, 10, None) for name in names}
    plot_parts(found)
    ax = plt.gca()
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([0.05, 0.1, 0.15, 0.2, 0.5] * len(names))
    assert [bar.get_x() for bar in ax.patches] == pytest.approx([0, 0.05, 0.15, 0.3, 0.5] * len(names))
    assert [bool(bar.get_hatch()) for bar in ax.patches] == [True, False, False, False, False] * len(names)
    said = "waiting 5%, feeding 10%, overhead 15%, memory 20%, arithmetic 50%"
    assert ax.get_label() == "; ".join(f"{name}: {said}" for name in names)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(found["slow"].parts)
    assert not ax.get_legend().get_frame_on()
    assert ax.figure.get_figwidth() <= 10
    legend, bars = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert bars.y1 <= legend.y0 < legend.y1 < bars.y1 + bars.height  # close to them
    assert all(bar.get_height() < 1 for bar in ax.patches)  # they do not touch
    plt.close()
