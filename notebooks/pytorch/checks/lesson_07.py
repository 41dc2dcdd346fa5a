"""The rules of the checks in lesson 07, Many machines, and the job that hangs in its third exercise."""
import time
from datetime import timedelta

import torch
import torch.distributed as dist

from d2lhelpers.exercises import check
from d2lhelpers.process import in_group

LATE, STEP = 2, 3  # the rank that does not come, and the step in which it does not


def check_1(answer):
    """Check the number of steps between two saves: near the best, the cost is flat."""
    def wasted(s):
        return 1000 / s * 0.5 + 4 * (s - 1) / 2

    return check(
        answer,
        (lambda a: type(a) is int and a > 0, "give a whole number of steps"),
        (lambda a: wasted(a) < 1.2 * wasted(16) or a > 16, "so many saves take longer than the steps that they spare"),
        (lambda a: wasted(a) < 1.2 * wasted(16), "each of the four failures repeats half of so many steps"),
        (lambda a: wasted(a) < 1.01 * wasted(16), "near, but not the least: where is the formula's derivative zero?"))


def scatter(function):
    """Call `function` in this rank; return its result, what it should be, and the share of the bytes that it sent."""
    tensor = torch.arange(12.0) * (dist.get_rank() + 1)
    whole, sent = tensor.clone(), []
    dist.all_reduce(whole)

    def counting(send):
        return lambda data, *args, **options: (sent.append(data.nbytes), send(data, *args, **options))[1]

    dist.send, dist.isend = counting(dist.send), counting(dist.isend)
    result = function(tensor)
    return result, whole.chunk(dist.get_world_size())[dist.get_rank()], sum(sent) / tensor.nbytes


def check_2(answer):
    """Check a reduce-scatter in three processes: the parts, and the bytes that each rank sends."""
    ranks = []
    return check(
        answer,
        (callable, "put the function itself, without calling it"),
        (lambda f: ranks.extend(in_group(scatter, f, size=3)) or True, "it fails in one of the processes"),
        (lambda f: all(torch.is_tensor(got) and got.shape == wanted.shape for got, wanted, _ in ranks),
         "each rank returns one part, a third of the tensor"),
        (lambda f: all(torch.equal(got, wanted) for got, wanted, _ in ranks),
         "rank r must return part r of the sum: which part is finished where?"),
        (lambda f: all(abs(sent - 2 / 3) < 1e-9 for *_, sent in ranks),
         "each rank sends two parts of three, with `isend` or `send`, and no more"))


def member():
    """Train as one rank of a job in which one comes too late; return what it logged."""
    rank, group, said = dist.get_rank(), dist.new_group(timeout=timedelta(seconds=2)), []
    try:
        for step in range(6):
            said.append(f"load {step}")
            if (rank, step) == (LATE, STEP):
                time.sleep(5)
                break
            said.append(f"all_reduce {step}")
            dist.all_reduce(torch.ones(8), group=group)
    except RuntimeError as error:
        said.append("ERROR: " + str(error).partition("] ")[2].partition(" [")[0])
    return f"rank {rank}: " + ", ".join(said)


def hang():
    """Return the log of four real processes, one of which does not come to a collective."""
    return "\n".join(in_group(member, size=4, timeout=60))


def check_3(answer, log):
    """Check the rank that never came, and the step."""
    failed = [int(line.split()[1][:-1]) for line in log.splitlines() if "ERROR" in line]
    return check(
        answer,
        (lambda a: isinstance(a, (list, tuple)) and len(a) == 2, "give two numbers, such as (0, 0)"),
        (lambda a: a[0] not in failed, "this rank reports an error, so it was there, and waited"),
        (lambda a: a[0] == LATE, "which rank is the only one without an error?"),
        (lambda a: a[1] == STEP, "in which step did it begin to load, and not come to the all-reduce?"))
