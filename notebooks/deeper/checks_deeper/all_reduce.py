"""Check the answer to the exercise of the notebook What an all-reduce sends."""
import torch
import torch.distributed as dist

from d2lhelpers.exercises import check
from d2lhelpers.messages import say
from d2lhelpers.process import in_group

LIMIT = 25  # seconds for one group: far more than a right answer takes


def scatter(function):
    """Call `function` in this rank; return its result, the whole sum, and the share of the bytes that it sent."""
    tensor = torch.arange(12.0) * (dist.get_rank() + 1)
    whole = tensor.clone()
    sent = []
    dist.all_reduce(whole)
    send = dist.ProcessGroup.send

    def counting(group, tensors, *where):
        sent.extend(each.nbytes for each in tensors)
        return send(group, tensors, *where)

    dist.ProcessGroup.send = counting
    try:
        result = function(tensor)
    finally:
        dist.ProcessGroup.send = send
    return (result.clone() if torch.is_tensor(result) else None), whole, sum(sent) / whole.nbytes


def last_line(error):
    """Return the line of a message that says what a process raised."""
    lines = [line.strip() for line in str(error).splitlines() if "Error" in line]
    return lines[-1] if lines else str(error).splitlines()[0]


def run(function, size):
    """Return what the ranks of a group found out, and what went wrong, in words."""
    try:
        return in_group(scatter, function, size=size, timeout=LIMIT), ""
    except TimeoutError:
        return [], "waits"
    except RuntimeError as error:
        return [], last_line(error)


def check_1(answer):
    """Check a reduce-scatter in three processes and in two: the parts, and the bytes that each rank sends."""
    ranks, fault, pair, second_fault = [], "", [], ""
    if callable(answer):
        ranks, fault = run(answer, 3)
        if not fault:
            pair, second_fault = run(answer, 2)

    def right(found, shift=0):
        n = len(found)
        return all(torch.equal(got.reshape(-1), whole.chunk(n)[(rank + shift) % n])
                   for rank, (got, whole, _) in enumerate(found))

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        ("rank-waits", lambda _: fault != "waits",
         say("it did not end within {seconds} seconds: what does each rank wait for?", seconds=LIMIT)),
        ("rank-raises", lambda _: not fault, say("in one of three processes it failed: {fault}", fault=fault)),
        ("no-tensor", lambda _: all(got is not None for got, *_ in ranks), "it must return a tensor on every rank"),
        ("whole-tensor", lambda _: not all(got.numel() == 12 for got, *_ in ranks),
         "each rank returns the whole tensor: of three ranks, each keeps a third"),
        ("other-size", lambda _: all(got.numel() == 4 for got, *_ in ranks),
         "each of three ranks returns a third of the tensor"),
        ("next-part", lambda _: not right(ranks, 1), "rank r returns part r + 1 of the sum"),
        ("other-tensor", lambda _: right(ranks),
         "rank r must return part r of the sum over all ranks: yours is another tensor"),
        ("no-message", lambda _: any(sent for *_, sent in ranks),
         "right, but no message was sent: build it from messages"),
        ("sends-whole-tensor", lambda _: all(sent < 1.99 for *_, sent in ranks),
         "right, but a rank sends its whole tensor to everyone"),
        ("other-bytes", lambda _: all(abs(sent - 2 / 3) < 1e-9 for *_, sent in ranks),
         "right, but not every rank sends two parts of three, and no more"),
        ("fails-on-two", lambda _: not second_fault and len(pair) == 2, "right on three ranks, but it fails on two"),
        ("wrong-on-two", lambda _: right(pair) and all(sent == 0.5 for *_, sent in pair),
         "right on three ranks, but not on two"))
