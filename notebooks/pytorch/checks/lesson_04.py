"""The rules of the checks in lesson 04, Data parallelism."""
import copy

import torch
from ddp_worker import lenet, loader
from torch import distributed, nn

from d2lhelpers.exercises import check
from d2lhelpers.torch import split_and_load


def _batch(rows):
    """Return images and labels, the same in every call."""
    generator = torch.Generator().manual_seed(0)
    return torch.rand(rows, 1, 28, 28, generator=generator), torch.arange(rows) % 10


def _apart(one, other):
    """Return the largest difference between the parameters of two networks."""
    pairs = zip(one.parameters(), other.parameters(), strict=True)
    return max((a - b).detach().abs().max().item() for a, b in pairs)


def _watched(net):
    """Return `net` inside DistributedDataParallel, and a list in which it notes what is ready and what is sent."""
    events = []

    def note(state, bucket):
        events.append("sent")
        done = torch.futures.Future()
        done.set_result(bucket.buffer())
        return done

    ddp = nn.parallel.DistributedDataParallel(net)
    ddp.register_comm_hook(None, note)
    for parameter in net.parameters():
        parameter.register_post_accumulate_grad_hook(lambda _: events.append("ready"))
    return ddp, events


def check_1(answer):
    """Check a function that adds up the gradients of four parts and sends them once."""
    X, y = _batch(64)
    parts, found = list(zip(X.chunk(4), y.chunk(4), strict=True)), {"rows": []}
    net = lenet()
    whole = copy.deepcopy(net)
    nn.functional.cross_entropy(whole(X), y).backward()
    truth = torch.cat([each.grad.ravel() for each in whole.parameters()])

    def run(function):
        net.register_forward_hook(lambda net, inputs, _: found["rows"].append(len(inputs[0])))
        ddp, found["events"] = _watched(net)
        function(ddp, parts)
        return all(each.grad is not None for each in net.parameters())

    def equal(factor):
        gradients = torch.cat([each.grad.ravel() for each in net.parameters()])
        return torch.allclose(gradients, factor * truth, atol=1e-5)

    mine = not distributed.is_initialized()
    if mine:
        distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        return check(
            answer,
            (callable, "a function: its name alone, without parentheses"),
            (run, "a parameter has no gradient: has each part had its backward pass?"),
            (lambda _: not equal(len(parts)),
             "the gradients are too large: each part's loss is a mean over its own rows"),
            (lambda _: equal(1), "not the gradients of the whole batch: have all parts been added up?"),
            (lambda _: max(found["rows"]) == len(parts[0][0]),
             "more rows at once than fit into memory: one part at a time"),
            (lambda _: "sent" in found["events"], "right, but nothing was sent: the other processes never see it"),
            (lambda _: found["events"].count("sent") == 1,
             "right, but sent more than once: which of the messages could be spared?"),
            (lambda _: found["events"][-1] == "sent", "sent once, but too early: more was added after it was sent"))
    finally:
        if mine:
            distributed.destroy_process_group()


def check_2(answer):
    """Check a function of rows, all rows and processes that returns the factor of a process's mean loss."""
    X, y = _batch(63)
    start, cross_entropy = lenet(), nn.functional.cross_entropy

    def step(net, loss):
        loss.backward()
        torch.optim.SGD(net.parameters(), 0.1).step()
        return net

    def same_step(*weights):
        net, k = copy.deepcopy(start), len(weights)
        parts = zip(*[split_and_load(each, ["cpu"] * k, weights) for each in (X, y)], strict=True)
        losses = [answer(len(rows), len(X), k) * cross_entropy(net(rows), labels) for rows, labels in parts]
        whole = copy.deepcopy(start)
        return _apart(step(net, sum(losses) / k), step(whole, cross_entropy(whole(X), y))) < 1e-5

    return check(
        answer,
        (callable, "a function: its name alone, without parentheses"),
        (lambda factor: factor(45, 63, 2) > 0, "the function returns a number above zero"),
        (lambda factor: factor(45, 63, 2) > factor(18, 63, 2),
         "a row of the small part still counts for more than one of the large part"),
        (lambda factor: abs(factor(32, 64, 2) - 1) < 1e-9,
         "parts of equal size were right before: they need no other factor than one"),
        (lambda _: same_step(5, 2), "the step with 45 and 18 rows is not that of one device"),
        (lambda _: same_step(4, 2, 1), "good for two processes, but not for three"))


def check_sizes_2(answer):
    """Check a list of the numbers of rows that `DistributedSampler` gives two processes of seven rows."""
    return check(
        answer,
        (lambda sizes: [type(size) for size in sizes] == [int, int], "a list of two whole numbers"),
        (lambda sizes: sizes[0] == sizes[1],
         "with fewer rows, one process would be missing in the other's last all-reduce"),
        (lambda sizes: sum(sizes) >= 7, "no row is left out"),
        (lambda sizes: list(sizes) == [len(loader(range(7), 2, rank, 2, 0).sampler) for rank in (0, 1)],
         "more rows than it takes"))


def check_3(answer, hand_step):
    """Check a function that makes a layer which normalizes, and does not notice that a batch was split."""
    X, y = _batch(63)
    inputs = 5 + 3 * lenet()[0](X).detach()

    def normalizes(make):
        outputs = make()(inputs)
        return abs(outputs.mean()) < 0.1 and abs(outputs.std() - 1) < 0.1

    def same_step(make):
        convolution, *rest = lenet()
        net = nn.Sequential(convolution, make(), *rest)
        [alone], copies = (hand_step(net, X, y, ["cpu"] * k) for k in (1, 2))
        return all(_apart(alone, each) < 1e-5 for each in copies)

    return check(
        answer,
        (lambda make: callable(make) and not isinstance(make, nn.Module),
         "a function that makes the layer, not the layer"),
        (lambda make: isinstance(make(), nn.Module), "what it returns is no layer"),
        (lambda make: make() is not make(), "a new layer in each call, please"),
        (lambda make: make()(inputs).shape == inputs.shape, "outputs of another shape than the inputs"),
        (normalizes, "what comes out does not have mean zero and deviation one"),
        (same_step, "two parts still differ from one: which rows share a mean?"))
