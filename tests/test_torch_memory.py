"""What LiveBytes counts: each new memory once, until it is freed."""
import torch
from torch import nn

from d2lhelpers.torch.memory import LiveBytes


def test_views_and_results_in_place_are_not_new():
    """A view, and an operator that writes into its argument, add no bytes."""
    with LiveBytes() as memory:
        whole = torch.zeros(1000)
        whole.view(10, 100)[2:].add_(1)
    assert memory.live == memory.peak == 4000


def test_an_operator_gets_its_options():
    """Inside the block an operator does what its options say, such as the type of what it makes."""
    with LiveBytes() as memory:
        doubles = torch.ones(3, dtype=torch.float64)
    assert memory.live == doubles.nbytes == 24


def test_what_was_there_before_does_not_count():
    """Tensors made before the block are not counted, not even when they are changed or looked at from another side."""
    net = nn.Linear(100, 100)
    with LiveBytes() as memory:
        net.weight.t()
        net.weight.detach().mul_(2)
    assert memory.peak == 0


def test_activations_live_until_the_backward_pass():
    """What a forward pass keeps for the backward pass counts, although no name in Python refers to it."""
    rows = torch.randn(50, 100, requires_grad=True)
    with LiveBytes() as memory:
        memory.mark("forward")
        loss = (rows.exp() * 2).sum()
        assert memory.made == {"forward": 4 * 50 * 100 + 4}
        memory.mark("backward")
        loss.backward()
    assert memory.made == {"forward": 4, "backward": rows.grad.nbytes}
    assert memory.curve[memory.peak_at - 1]["forward"] >= 4 * 50 * 100
    assert memory.peak == max(memory.peaks.values()) == memory.peaks["backward"]


def test_the_end_is_noticed_after_the_block():
    """Bytes that were made in the block stop counting when they are freed after it."""
    with LiveBytes() as memory:
        numbers = torch.ones(10)
    assert memory.live == 40
    del numbers
    assert memory.live == 0


def test_the_peak_is_the_first_moment_of_the_most_bytes():
    """Of equal moments the first is the peak; a tensor without elements has no bytes."""
    with LiveBytes() as memory:
        torch.empty(0)
        assert (memory.peaks, memory.peak_at) == ({"": 0}, 0)
        for _ in range(2):
            torch.empty(5)
    assert memory.peak_at == 1


def test_a_phase_without_operators_has_no_mark():
    """Of two marks with nothing between them, the second counts; a phase may come again."""
    with LiveBytes() as memory:
        memory.mark("a")
        memory.mark("b")
        kept = [torch.ones(1)]
        memory.mark("a")
        kept.append(torch.ones(2))
        memory.mark("b")
        kept.append(torch.ones(3))
    assert memory.marks == [(0, "b"), (1, "a"), (2, "b")]
    assert memory.made == {"b": 16, "a": 8}


def test_the_plot_shows_each_phase_in_its_colour():
    """The plot has one area per phase that made something, a line at each mark, and a legend to the right of it."""
    from matplotlib import pyplot as plt
    with LiveBytes() as memory:
        memory.mark("first")
        kept = [torch.ones(250_000)]
        memory.mark("second")
        kept.append(torch.ones(500_000))
    _, ax = plt.subplots()
    memory.plot(ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["first", "second"]
    assert len(ax.collections) == 2
    assert len(ax.lines) == 2
    assert ax.get_label() == "at most 3 MB alive, when 1 of 2 operators had run; at most in first 1, in second 3"
    assert ax.dataLim.y1 == 3
    assert {y for x, y in ax.collections[1].get_paths()[0].vertices if x == 0} == {1}  # it has no height yet
    plot, legend = ax.get_window_extent(), ax.get_legend().get_window_extent()
    assert legend.x0 >= plot.x1
    assert legend.y1 <= plot.y1
    plt.close()
