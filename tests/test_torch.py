import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

import d2lhelpers.torch
from d2lhelpers.torch import Timeline, allreduce, evaluate_accuracy, load_data, split_and_load, synchronize

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


def test_timeline_shows_what_ran():
    """The outermost operators of the block, and no others, are shown in order, within the block's time."""
    x = torch.ones(300, 300)
    x.log()
    with Timeline() as timeline:
        y = torch.nn.functional.linear(x, x).relu()
        (y + 1).sum()
    x.sqrt()
    assert [o.name for o in timeline.operators] == ["linear", "relu", "add", "sum"]
    assert timeline.devices == ["cpu"]
    assert all(0 <= o.start < o.end <= timeline.end for o in timeline.operators)
    assert 0 < timeline.returned <= timeline.end


def test_timeline_has_one_clock(monkeypatch):
    """Where the process is held up while a record begins, Python's row and the operators' still agree."""
    enter = d2lhelpers.torch.record_function.__enter__

    def held_up(self):
        enter(self)
        time.sleep(0.2)

    monkeypatch.setattr(d2lhelpers.torch.record_function, "__enter__", held_up)
    with Timeline() as timeline:
        torch.ones(9).exp()
    assert max(o.end for o in timeline.operators) <= timeline.returned


def test_timeline_on_a_cpu_has_no_queue():
    """Operators on the CPU have ended when Python comes to the end of the block."""
    x = torch.ones(700, 700)
    with Timeline() as timeline:
        for _ in range(5):
            x @ x
    assert len(timeline.operators) == 5
    assert max(o.end for o in timeline.operators) <= timeline.returned + 0.001


def test_timeline_has_a_row_a_thread():
    """What other threads run is shown in rows of their own, and really overlaps where they meet."""
    x = torch.ones(400, 400)
    meet = threading.Barrier(2)

    def work(_):
        meet.wait(20)
        for _ in range(10):
            y = x @ x
        return y

    with ThreadPoolExecutor(2) as pool:
        timeline = Timeline.best(lambda: (list(pool.map(work, range(2))), x.exp()),
                                 lambda record: record.overlap("cpu thread 1", "cpu thread 2"), enough=0.5)
    assert timeline.devices == ["cpu", "cpu thread 1", "cpu thread 2"]
    assert [o.name for o in timeline.operators if o.device == "cpu thread 1"] == ["matmul"] * 10
    assert timeline.overlap("cpu thread 1", "cpu thread 2") > 0.2


def test_timeline_shows_backward():
    """The backward pass is shown by the names that autograd gives its steps."""
    weight = torch.ones(3, 3, requires_grad=True)
    with Timeline() as timeline:
        (weight @ weight).sum().backward()
    names = [o.name for o in timeline.operators]
    assert names.index("matmul") < names.index("SumBackward0") < names.index("MmBackward0")


def test_timeline_can_be_used_many_times():
    """One kernel can record again and again; not one inside another; errors pass through and leave it usable."""
    x = torch.ones(10)
    for count in (1, 3, 2):
        with Timeline() as timeline:
            for _ in range(count):
                x.exp()
        assert [o.name for o in timeline.operators] == ["exp"] * count
    with Timeline() as outer:
        with pytest.raises(RuntimeError, match="already"), Timeline():
            pass
        x.exp()
    assert [o.name for o in outer.operators] == ["exp"]
    with pytest.raises(KeyError), timeline:
        raise KeyError
    assert timeline.operators == []


def test_timeline_reads_a_record_of_gpus():
    """Kernels and copies are shown where they ran, a row a stream if a device has several, and threads who queued."""
    def event(cat, name, ts, dur, **args):
        return {"ph": "X", "cat": cat, "name": name, "tid": args.pop("tid", 7), "ts": ts, "dur": dur, "args": args}

    events = [event("user_annotation", "the block", 1e6, 9e6), event("cpu_op", "aten::mm", 2e6, 1e6),
              event("cpu_op", "aten::empty", 2.1e6, 1e5), event("cpu_op", "aten::add", 3e6, 1e6, tid=8),
              event("kernel", "gemm", 4e6, 2e6, device=0, stream=7),
              event("kernel", "void at::native::(anonymous namespace)::add<float, std::array<char*, 2> >(at::Params)",
                    5e6, 2e6, device=1, stream=7),
              event("gpu_memcpy", "Memcpy PtoP", 7e6, 1e6, fromDevice=0, inDevice=1, toDevice=1, stream=7),
              event("gpu_memcpy", "Memcpy HtoD", 4e6, 1e6, device=0, stream=20)]
    operators, returned = d2lhelpers.torch._operators(events)
    found = [(o.name, o.device, o.start, o.end) for o in operators]
    assert found == [("mm", "cpu", 1, 2), ("add", "cpu thread 1", 2, 3), ("gemm", "cuda:0 stream 7", 3, 5),
                     ("add", "cuda:1", 4, 6), ("Memcpy PtoP", "cuda:1", 6, 7),
                     ("Memcpy HtoD", "cuda:0 stream 20", 3, 4)]
    assert returned == 9


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
def test_timeline_on_a_gpu_shows_the_queue():
    """Python comes to the end of the block long before the GPU has done what it queued; synchronize waits for it."""
    x = torch.ones(8000, 8000, device="cuda")
    x @ x
    synchronize()
    with Timeline() as timeline:
        for _ in range(5):
            x @ x
    assert timeline.devices == ["cpu", "cuda:0"]
    assert timeline.returned < timeline.end / 2
    start = time.perf_counter()
    x @ x
    queued = time.perf_counter() - start
    synchronize()
    assert time.perf_counter() - start > 3 * queued


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
