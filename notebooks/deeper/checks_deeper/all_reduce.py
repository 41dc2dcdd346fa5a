"""Check the answer to the exercise of the notebook What an all-reduce sends."""
import torch
import torch.distributed as dist

from d2lhelpers.attempts import Attempt
from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check
from d2lhelpers.torch.collectives import count_collectives


def scatter(function, tensor=None):
    """Call `function` in this rank; return its result, the whole sum, and the share of the bytes that it sent."""
    tensor = torch.arange(12.0) * (dist.get_rank() + 1) if tensor is None else tensor
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


def reduce_scatter(tensor):
    """Return this rank's part of the sum, of messages straight to the owners: a right answer."""
    rank, size = dist.get_rank(), dist.get_world_size()
    parts = tensor.chunk(size)
    others = [other for other in range(size) if other != rank]
    sending = [dist.isend(parts[other].clone(), other) for other in others]
    total = parts[rank].clone()
    for other in others:
        received = torch.empty_like(total)
        dist.recv(received, other)
        total += received
    for each in sending:
        each.wait()
    return total


def tensors(random):
    """Yield whole numbers in tensors of as many parts as there are ranks, with one number in a part, and with more."""
    for length in 1, int(random.integers(2, 7)), int(random.integers(7, 30)):
        numbers = random.integers(-99, 99, size=(dist.get_world_size(), dist.get_world_size() * length))
        yield (torch.from_numpy(numbers[dist.get_rank()]).float(),)


def use(function, tensor):
    """Return this rank's part, the share of the bytes that it sent, and the collectives that it called."""
    (part, _, sent), counts = count_collectives(scatter, function, tensor)
    return part.flatten(), sent, counts


def check_1(answer):
    """Check a reduce-scatter in three processes and in two: the parts, and the bytes that each rank sends."""
    attempt = Attempt(3)

    def right(shift=0):
        found = attempt.results
        n = len(found)
        return all(torch.equal(got.reshape(-1), whole.chunk(n)[(rank + shift) % n])
                   for rank, (got, whole, _) in enumerate(found))

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        *attempt.rules(scatter, answer),
        ("no-tensor", lambda _: all(got is not None for got, *_ in attempt.results),
         "it must return a tensor on every rank"),
        ("whole-tensor", lambda _: not all(got.numel() == 12 for got, *_ in attempt.results),
         "each rank returns the whole tensor: of three ranks, each keeps a third"),
        ("other-size", lambda _: all(got.numel() == 4 for got, *_ in attempt.results),
         "each of three ranks returns a third of the tensor"),
        ("next-part", lambda _: not right(1), "rank r returns part r + 1 of the sum"),
        ("other-tensor", lambda _: right(),
         "rank r must return part r of the sum over all ranks: yours is another tensor"),
        ("no-message", lambda _: any(sent for *_, sent in attempt.results),
         "right, but no message was sent: build it from messages"),
        ("sends-whole-tensor", lambda _: all(sent < 1.99 for *_, sent in attempt.results),
         "right, but a rank sends its whole tensor to everyone"),
        ("other-bytes", lambda _: all(abs(sent - 2 / 3) < 1e-9 for *_, sent in attempt.results),
         "right, but not every rank sends two parts of three, and no more"),
        *Exam(reduce_scatter, tensors, use).rules_on_ranks(answer, 2, 3),
        seconds=20)
