import contextlib
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from lessons import source_of

from d2lhelpers.torch import allreduce, data_parallel, evaluate_accuracy, lines_that_wait, split_and_load, torch_log

# On a machine with GPUs the same tests run on them as well.
DEVICES = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("size", [10, (1 << 20) + 7])
def test_allreduce_between_devices(device, count, size):
    """Tensors on a device and on the CPU, small and large, are summed correctly in place."""
    places = ["cpu"] + [device] * (count - 1)
    data = [torch.arange(size, device=place) * number for number, place in enumerate(places, start=1)]
    allreduce(data)
    assert [tensor.device for tensor in data] == [torch.device(place) for place in places]
    total = torch.arange(size) * sum(range(count + 1))
    assert all(torch.equal(tensor.cpu(), total) for tensor in data)


@pytest.mark.parametrize("count", [2, 3])
def test_every_device_sums_its_part(count):
    """Tensors that are cut into one part per tensor, as on several devices, are summed correctly, too."""
    data = [torch.arange(10) * (index + 1) for index in range(count)]
    total = sum(data)
    parts = [tensor.tensor_split(count) for tensor in data]
    data_parallel._sum_and_copy(zip(*parts, strict=True))
    assert all(torch.equal(tensor, total) for tensor in data)


@pytest.mark.parametrize(("make", "error", "words"), [
    (lambda: torch.ones(1, 2).expand(3, 2), ValueError, "contiguous"),
    (lambda: torch.ones(3, 4)[:, ::2], ValueError, "contiguous"),
    (lambda: torch.ones(3, 2).to_sparse(), (RuntimeError, ValueError), "contiguous|data pointer|storage"),
    (lambda: torch.ones(3, 2, dtype=torch.bool), ValueError, "torch.bool"),  # add_ would combine them by "or"
])
def test_allreduce_refuses_what_has_no_sum_in_place(make, error, words):
    """Views with gaps or overlaps, sparse tensors and booleans are refused, and nothing is modified."""
    last = make()
    first = torch.ones(3, 2, dtype=last.dtype)
    with pytest.raises(error, match=words):
        allreduce([first, last])
    assert (first == 1).all()


def test_allreduce_of_gradients():
    """Gradients and parameters are summed in place, and autograd notices the change."""
    weights = [torch.ones(4, requires_grad=True) for _ in range(2)]
    for i, weight in enumerate(weights):
        (weight * (i + 1)).sum().backward()
    squares = (weights[0] ** 2).sum()
    allreduce([weight.grad for weight in weights])
    allreduce(weights)
    assert [w.grad.tolist() for w in weights] == [[3] * 4] * 2
    assert [w.tolist() for w in weights] == [[2] * 4] * 2
    for weight in weights:
        assert weight.requires_grad
        assert weight.grad_fn is None
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        squares.backward()


@pytest.mark.parametrize("device", DEVICES)
def test_split_puts_parts_on_devices(device):
    """The parts of tensors and of NumPy arrays are on the devices that are named."""
    for data in (torch.arange(10), np.arange(10), np.arange(10).astype("float16")):
        parts = split_and_load(data, [device, "cpu"], weights=[7, 3])
        assert [part.device.type for part in parts] == [torch.device(device).type, "cpu"]
        assert [part.tolist() for part in parts] == [list(range(7)), [7, 8, 9]]
    places = ["cpu", "meta"]  # a device without data: whatever the machine has, it is another one
    assert [part.device.type for part in split_and_load(torch.arange(4), places)] == places
    large = torch.arange(10_000_000, device=device)  # so large that a copy from a GPU might be read too early
    assert torch.equal(torch.cat(split_and_load(large, ["cpu", "cpu"])), torch.arange(10_000_000))


def test_accuracy_is_measured_in_evaluation_mode():
    """The accuracy is measured without dropout, no gradient is recorded, and each layer keeps its mode."""
    net = torch.nn.Sequential(torch.nn.Dropout(0.9), torch.nn.BatchNorm1d(3).eval(), torch.nn.Flatten())
    recorded = []
    net[2].register_forward_hook(lambda module, inputs, output: recorded.append(output.requires_grad))
    batches = [(torch.eye(3).repeat(50, 1), torch.arange(3).repeat(50))]
    assert evaluate_accuracy(batches, net, ["cpu"]) == 1
    assert recorded == [False]
    assert (net.training, net[0].training, net[1].training) == (True, True, False)
    with pytest.raises(ValueError, match="no rows"):
        evaluate_accuracy([], net, ["cpu"])
    assert net.training


def test_the_log_of_a_program():
    """A log holds what PyTorch says about the program, without times and places; that of a silent one is empty."""
    def compile_twice():
        double = torch.compile(lambda x: 2 * x, backend="eager")
        for rows in (2, 3):
            double(torch.ones(rows))

    lines = torch_log(compile_twice, "recompiles")
    assert lines[0].startswith("Recompiling function <lambda> in ")
    assert "size mismatch at index 0. expected 2, actual 3" in lines[2]
    assert torch_log(int, "recompiles") == []


ACTS = [
    lambda y: y + 1, lambda y: y.max(), lambda y: y[0], lambda y: y[y.argsort()], lambda y: torch.where(y > 0, y, 0),
    lambda y: y.shape, list, lambda y: torch.tensor([len(y)]), lambda y: torch.nn.utils.clip_grad_norm_([y], 1.0),
    lambda y: y.max().item(), lambda y: float(y.sum()), lambda y: bool(y.any()), lambda y: y.tolist(), np.asarray,
    lambda y: y[y > 0], lambda y: y[None, y > 0], lambda y: y.cpu(), lambda y: torch.where(y > 0),
    lambda y: torch.masked_select(y, y > 0), lambda y: y.nonzero(), torch.unique, lambda y: torch.equal(y, y),
    lambda y: torch.allclose(y, y), lambda y: 1.0 in y, lambda y: max(y[0], y[1]), lambda y: f"{y[0]:.2f}",
    lambda y: torch.tensor([y[0], y[1]])]


@pytest.mark.parametrize("number", range(len(ACTS)))
def test_a_line_waits_if_it_needs_values(number):
    """`lines_that_wait` counts a line exactly if the line cannot run on the device that has no values."""
    act = ACTS[number]
    try:
        act(torch.ones(3, device="meta"))
        needs_values = False
    except (NotImplementedError, RuntimeError, TypeError):
        needs_values = True
    assert bool(lines_that_wait(lambda: act(torch.ones(3)))) is needs_values


def test_the_line_that_waits_is_named():
    """`lines_that_wait` counts by lines, through functions and loops, and leaves out what asks its own counters."""
    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.Adam([weight])

    def positive(tensor):
        return tensor[tensor > 0]

    def work():
        for _ in torch.utils.data.DataLoader([1, 2]):
            weight.sum().backward()
            optimizer.step()
            largest = max(weight[0], -1)  # Python's own max asks which is larger
        print(positive(weight), largest.shape)

    assert lines_that_wait(work) == {
        "largest = max(weight[0], -1)  # Python's own max asks which is larger": 2, "return tensor[tensor > 0]": 1,
        "print(positive(weight), largest.shape)": 1}
    with pytest.raises(ZeroDivisionError):
        lines_that_wait(lambda: 1 / 0)


class RecordingGpu:
    """A stand-in for `torch.cuda` and for its stream that computes; `log` lists what was queued, in order."""

    def __init__(self):
        self.log = []
        self.on = "steps"

    def Stream(self, device):
        return "copies"

    @contextlib.contextmanager
    def stream(self, stream):
        self.on = stream
        yield
        self.on = "steps"

    def current_stream(self, device):
        return self

    def wait_stream(self, stream):
        self.log.append(f"steps wait for {stream}")


class RecordedBatch:
    """A batch of the same stand-in."""

    def __init__(self, number, gpu):
        self.number = number
        self.gpu = gpu

    def to(self, device, non_blocking):
        self.gpu.log.append(f"copy {self.number} on {self.gpu.on}")
        return self

    def record_stream(self, stream):
        assert stream is self.gpu


def test_the_prefetcher_queues_copies_before_steps():
    """On a GPU, the lesson's prefetcher queues each copy on a stream of its own, and before the step before it."""
    gpu = RecordingGpu()
    names = {"torch": SimpleNamespace(cuda=gpu)}
    for part in ("prefetched", "on-stream"):
        exec(source_of("pytorch/03-waiting-threads-and-copies.ipynb", part), names)
    for batch in names["prefetched"]([RecordedBatch(number, gpu) for number in range(3)], names["OnStream"]("cuda")):
        gpu.log.append(f"step {batch.number} on {gpu.on}")
    assert gpu.log == ["copy 0 on copies",
                       "steps wait for copies", "copy 1 on copies", "step 0 on steps",
                       "steps wait for copies", "copy 2 on copies", "step 1 on steps",
                       "steps wait for copies", "step 2 on steps"]
