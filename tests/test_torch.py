import subprocess
import sys

import numpy as np
import pytest
import torch

import d2lhelpers.torch
from d2lhelpers.torch import allreduce, evaluate_accuracy, load_data, split_and_load

# A machine with a GPU runs the same tests over it as well.
DEVICES = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("size", [10, (1 << 20) + 7])
def test_allreduce_between_devices(device, count, size):
    """Tensors on a device and on the CPU, small and large, are summed right where they are."""
    values = [torch.arange(size) * (i + 1) for i in range(count)]
    total = sum(values)
    data = [value.to(device if i else "cpu") for i, value in enumerate(values)]
    allreduce(data)
    assert [tensor.device for tensor in data[1:]] == [torch.device(device)] * (count - 1)
    assert all(torch.equal(tensor.cpu(), total) for tensor in data)


@pytest.mark.parametrize("size", [5, 700])
def test_allreduce_of_views(size):
    """Transposed, strided and neighbouring views are summed in place, and nothing beside them is touched."""
    base = torch.ones(size, 2 * size)
    rest = torch.ones(size, size)
    data = [base[:, ::2].T, base[:, 1::2].T, rest]
    allreduce(data)
    assert (base == 3).all()
    assert (rest == 3).all()
    line = torch.ones(3 * size)
    allreduce([line[:size], line[size:2 * size]])
    assert line.tolist() == [2.0] * (2 * size) + [1.0] * size


def test_allreduce_of_gradients():
    """Gradients, and parameters, are summed in place, and autograd goes on as before."""
    weights = [torch.ones(4, requires_grad=True) for _ in range(2)]
    for i, weight in enumerate(weights):
        (weight * (i + 1)).sum().backward()
    allreduce([weight.grad for weight in weights])
    allreduce(weights)
    assert [w.grad.tolist() for w in weights] == [[3] * 4] * 2
    assert [w.tolist() for w in weights] == [[2] * 4] * 2
    assert all(w.requires_grad and w.grad_fn is None for w in weights)


def test_allreduce_refuses_views_that_overlap():
    """Views of one memory that overlap in any way are refused, nothing changed, however they came about."""
    for make in (lambda base: [base[:3, :3], base[1:, 1:]], lambda base: [base, base.flip(0), base.T],
                 lambda base: [base[:, 0:2], base[:, 1:3]],
                 lambda base: [torch.from_numpy(base.numpy()[1:]), torch.from_numpy(base.numpy()[:-1])]):
        base = torch.arange(16.0).reshape(4, 4)
        with pytest.raises(ValueError, match=r"array \d shares a part of its memory with array 0"):
            allreduce(make(base))
        assert base.flatten().tolist() == list(range(16))


@pytest.mark.parametrize("make", [
    lambda: torch.ones(1).expand(4), lambda: torch.ones(4).to_sparse(), lambda: inference(),
    lambda: torch.ones(5).as_strided((4,), (0,)), lambda: torch.ones(6).unfold(0, 3, 1),
], ids=["expanded", "sparse", "inference", "strided", "unfolded"])
def test_allreduce_refuses_what_it_cannot_write(make):
    """A tensor that cannot be written element by element is refused by its index, and the others are left alone."""
    first = torch.ones(4)
    with pytest.raises(TypeError, match="item 1 is a Tensor, not a dense PyTorch tensor that can be written"):
        allreduce([first, make()])
    assert (first == 1).all()


def inference():
    """Return a tensor that autograd does not let anyone write."""
    with torch.inference_mode():
        return torch.ones(4)


def test_allreduce_is_as_fast_as_the_textbook_loop():
    """Summing large tensors takes at most twice the time of the loop that adds everything to the first and copies."""
    from d2lhelpers import measure

    data = [torch.ones(1 << 22) for _ in range(3)]

    def textbook():
        for tensor in data[1:]:
            data[0].add_(tensor)
        for tensor in data[1:]:
            tensor.copy_(data[0])

    result = measure({"ours": lambda: allreduce(data), "textbook": textbook}, repeat=9)
    assert result.ratio("ours", "textbook") < 2


@pytest.mark.parametrize("device", DEVICES)
def test_split_puts_parts_on_devices(device):
    """Parts come from tensors and NumPy arrays alike to the device that is named, of their own type."""
    for data in (torch.arange(10), np.arange(10), np.arange(10).astype("float16")):
        parts = split_and_load(data, [device, "cpu"], weights=[7, 3])
        assert [part.device.type for part in parts] == [torch.device(device).type, "cpu"]
        assert [part.tolist() for part in parts] == [list(range(7)), [7, 8, 9]]
    large = torch.arange(10_000_000, device=device)  # what comes from a GPU has arrived before it is read
    assert torch.equal(torch.cat(split_and_load(large, ["cpu", "cpu"])), torch.arange(10_000_000))


def test_a_tensor_with_one_long_axis_is_no_overlap():
    """Axes of length one, whatever their steps, and empty tensors do not make a tensor one that cannot be written."""
    for shape, steps in (((1, 3), (0, 1)), ((3, 1, 1), (1, 0, 3)), ((0, 3), (0, 0)), ((1,), (0,))):
        data = [torch.ones(3).as_strided(shape, steps) for _ in range(2)]
        allreduce([*data, data[0]])
        assert all((tensor == 3).all() for tensor in data)


def test_accuracy_is_measured_in_evaluation_mode():
    """Dropout does nothing while the accuracy is measured, no gradient is recorded, and each layer's mode is kept."""
    frozen = torch.nn.BatchNorm1d(3).eval()
    net = torch.nn.Sequential(torch.nn.Dropout(0.9), frozen, torch.nn.Flatten())
    recorded = []
    net[2].register_forward_hook(lambda module, inputs, output: recorded.append(output.requires_grad))
    batches = [(torch.eye(3).repeat(50, 1), torch.arange(3).repeat(50))]
    assert evaluate_accuracy(batches, net, ["cpu"]) == 1
    assert recorded == [False]
    assert (net.training, net[0].training, frozen.training) == (True, True, False)
    with pytest.raises(ValueError, match="no rows"):
        evaluate_accuracy([], net, ["cpu"])
    assert (net.training, frozen.training) == (True, False)


def test_load_data_fits_the_losses():
    """Images are float32 and labels int64, which cross_entropy takes as they are."""
    images, labels = next(iter(load_data(8, dataset="digits")[0]))
    assert (images.dtype, labels.dtype) == (torch.float32, torch.int64)
    torch.nn.functional.cross_entropy(images.flatten(1)[:, :10], labels)
    assert images.is_pinned() is torch.cuda.is_available()


def test_it_leaves_mxnet_alone():
    """The PyTorch track, a Timeline included, never imports MXNet, and prints nothing of its own."""
    program = """
import sys
import torch
from d2lhelpers.torch import Timeline, allreduce, load_data, measure
with Timeline():
    allreduce([torch.ones(3), torch.ones(3)])
load_data(5, dataset="digits")
assert "mxnet" not in sys.modules
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize("size", [5, 1 << 19])
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("same", [False, True])
def test_the_way_over_several_devices(count, size, same):
    """What several devices do sums right on one device, too: whole or in parts, a tensor given twice included."""
    one = torch.arange(size, dtype=torch.float32)
    data = [one] * count if same else [one * (index + 1) for index in range(count)]
    total = sum(tensor.clone() for tensor in data)
    d2lhelpers.torch._allreduce_apart(data, same)
    assert all(torch.equal(tensor, total) for tensor in data)
