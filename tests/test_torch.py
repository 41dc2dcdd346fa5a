import numpy as np
import pytest
import torch

import d2lhelpers.torch
from d2lhelpers.torch import allreduce, evaluate_accuracy, split_and_load, torch_log

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
    d2lhelpers.torch._sum_and_copy(zip(*parts, strict=True))
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
