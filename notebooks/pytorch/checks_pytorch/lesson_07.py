"""The rules of the checks in lesson 07, Many machines, and the job whose log its third exercise reads."""
import io
import warnings
from copy import deepcopy
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

from d2lhelpers.examine import draw_seed
from d2lhelpers.exercises import check
from d2lhelpers.messages import say
from d2lhelpers.process import in_group

STEPS = 8
LEAST = 3000  # bytes: parameters, momentum and what differs from others in a generator's state, even compressed
ASTRAY, STEP = 2, 3  # the rank that leaves a sum out, and the step in which it does


def check_1(answer):
    """Check how many steps lie between two saves, with four failures and with sixteen: the least cost, exactly."""
    if isinstance(answer, dict):
        answer = list(answer.values())

    def cost(every, failures):
        return 1000 * 0.5 / every + failures * (every - 1) / 2

    def least(failures):
        return min(range(1, 1001), key=lambda every: cost(every, failures))

    def near(every, failures):
        return cost(every, failures) < 1.02 * cost(least(failures), failures)

    return check(
        answer,
        ("no-two-numbers", lambda pair: len([float(each) for each in pair]) == 2, "two numbers, in square brackets"),
        ("not-whole", lambda pair: all(float(each) == int(each) for each in pair),
         "you save after a whole number of steps"),
        ("out-of-range", lambda pair: all(1 <= int(each) <= 1000 for each in pair),
         "between two saves are from 1 to 1,000 steps"),
        ("saves-less-often", lambda pair: pair[1] <= pair[0], "with more failures, do you want to save less often?"),
        ("lacks-factor-two", lambda pair: int(pair[0]) != 11,
         "11 is √(Nc/F). Where is the derivative of the cost zero?"),
        ("too-many-saves", lambda pair: pair[0] > 16 or near(int(pair[0]), 4),
         "with 4 failures: so many saves take longer than the steps that they spare"),
        ("too-few-saves", lambda pair: near(int(pair[0]), 4),
         "with 4 failures: each of them repeats half of so many steps"),
        ("neighbour-costs-less", lambda pair: int(pair[0]) == least(4),
         "with 4 failures: near, but a neighbour of this number costs less"),
        ("divided-by-four", lambda pair: int(pair[1]) != 4,
         "four times as many failures do not divide the steps by four: see the root"),
        ("wrong-with-sixteen", lambda pair: int(pair[1]) == least(16), "right with 4 failures, but not with 16"))


class Job:
    """A training job with dropout, momentum and a schedule; each step has a batch of its own."""

    def __init__(self):
        self.net = nn.Sequential(nn.Linear(8, 16), nn.Dropout(), nn.Linear(16, 1))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimizer, 4, gamma=0.5)
        self.done = 0

    def step(self):
        """Train with the next batch."""
        X = torch.sin(torch.arange(32) + self.done).view(4, 8)
        self.optimizer.zero_grad()
        self.net(X).square().mean().backward()
        self.optimizer.step()
        self.schedule.step()
        self.done += 1


def snapshot(job):
    """Return copies of what a job's next step depends on, by name."""
    momentum = [state.get("momentum_buffer") for state in job.optimizer.state.values()]
    return deepcopy({"parameters": [parameter.detach() for parameter in job.net.parameters()], "momentum": momentum,
                     "rate": [group["lr"] for group in job.optimizer.param_groups],
                     "schedule": job.schedule.last_epoch, "done": job.done, "random": torch.get_rng_state()})


def same(one, other):
    """Return whether two values, or lists of tensors, are equal; sums in the same order are rounded alike."""
    if isinstance(one, list) and len(one) == len(other) and all(map(torch.is_tensor, [*one, *other])):
        return all(torch.equal(mine, theirs) for mine, theirs in zip(one, other, strict=True))
    return torch.equal(one, other) if torch.is_tensor(one) else one == other


def trained(seed, steps):
    """Return a job after some steps, that begins with a seed."""
    torch.manual_seed(seed)
    job = Job()
    for _ in range(steps):
        job.step()
    return job


def interrupt(pack, unpack):
    """Let a job be stored after some steps and train on; return moments of it, and of a new job that goes on there."""
    random = torch.get_rng_state()
    seed = draw_seed()
    steps = 5 + seed % 3
    try:
        undisturbed = snapshot(trained(seed, steps + 6))
        job = trained(seed, 2)
        pack(job)  # a job is packed more than once
        for _ in range(steps - 2):
            job.step()
        stored = snapshot(job)
        state = pack(job)
        for _ in range(6):
            job.step()
        seen = {"stored": stored, "undisturbed": undisturbed, "end": snapshot(job), "state": state, "fault": None}
        file = io.BytesIO()
        try:
            torch.save(state, file)
            seen["bytes"] = file.tell()
            file.seek(0)
            state = torch.load(file)
        except Exception as error:  # whatever it is, torch.save and torch.load cannot handle it
            return {**seen, "fault": error}
        other = trained(seed + 1, 1)  # a generator that has been used
        pack(other)  # what was packed before lies in `state` alone
        other = Job()
        unpack(other, state)
        seen["resumed"] = snapshot(other)
        for _ in range(6):
            other.step()
        return {**seen, "resumed end": snapshot(other)}
    finally:
        torch.set_rng_state(random)


def check_2(answer):
    """Check two functions that store a job and bring it back: it must go on as if nothing had happened."""
    seen = {}

    def run(pair):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a schedule warns of an optimizer that it does not know
            seen.update(interrupt(*pair))
        return True

    def back(what):
        return lambda _: same(seen["resumed"][what], seen["stored"][what])

    def of_the_moment(what):
        return lambda _: not seen["resumed"][what] or not same(seen["resumed"][what], seen["end"][what])

    later = say("are those of a later moment: while you store them, the job trains on. Does state_dict() return "
                "copies?")
    return check(
        answer,
        ("no-two-functions", lambda pair: len(pair) == 2 and all(map(callable, pair)),
         "two functions, in round brackets: pack and unpack"),
        ("fails", run, "it fails when a job is packed after a few steps, stored, loaded, and unpacked into a new job"),
        ("nothing-packed", lambda _: seen["state"] is not None, "pack returns nothing"),
        ("not-storable", lambda _: seen["fault"] is None,
         "torch.save or torch.load refuses what pack returns: store tensors, numbers and dictionaries, not objects"),
        ("pack-disturbs", lambda _: all(same(seen["end"][each], seen["undisturbed"][each]) for each in seen["end"]),
         "the job that trains on after `pack` trains differently than without it: does `pack` change anything?"),
        ("later-parameters", of_the_moment("parameters"), say("the parameters {later}", later=later)),
        ("other-parameters", back("parameters"), "the new job's parameters are not those that were packed"),
        ("lost-momentum", lambda _: len(seen["resumed"]["momentum"]) == 4,
         "the new job's momentum begins at zero again"),
        ("later-momentum", of_the_moment("momentum"), say("the averages of the gradients {later}", later=later)),
        ("other-momentum", back("momentum"), "the new job's momentum is not the one that was packed"),
        ("other-batch", back("done"), "the new job begins with another batch: how many steps are done?"),
        ("other-schedule", back("schedule"), "the new job's learning rate will fall in the wrong step"),
        ("other-rate", back("rate"), "the new job's learning rate is not the one that was packed"),
        ("other-random-numbers", back("random"),
         "the new job drops other numbers: where does dropout take its random numbers from?"),
        ("old-optimizer-scheduled", lambda _: same(seen["resumed end"]["rate"], seen["end"]["rate"]),
         "all is back, but later the learning rate is another one: which optimizer's rate does the schedule lower?"),
        ("trains-differently", lambda _: same(seen["resumed end"]["parameters"], seen["end"]["parameters"]),
         "all is back, but the job trains differently: does its optimizer still change its network's parameters?"),
        ("state-elsewhere", lambda _: seen["bytes"] > LEAST,
         "what `pack` returns is smaller than what a job must know: on another host there is nothing else"))


def member():
    """Train as one rank of a job in which one leaves a sum out; return what it logged."""
    rank = dist.get_rank()
    group = dist.new_group(timeout=timedelta(seconds=2))
    said = []
    try:
        for step in range(STEPS):
            said.append(f"load {step}")
            if (rank, step) != (ASTRAY, STEP):
                said.append(f"all_reduce {step}")
                dist.all_reduce(torch.ones(8), group=group)
        said.append("done")
    except RuntimeError:
        said.append("ERROR: no answer")
    return f"rank {rank}: " + ", ".join(said)


def hang():
    """Return the log of four real processes, one of which leaves a collective out.

    If other programs hold a rank up for two seconds, the others give up too early: then all begin again.
    """
    for _ in range(5):
        lines = in_group(member, size=4, timeout=60)
        if [rank for rank, line in enumerate(lines) if "ERROR" not in line] == [ASTRAY]:
            break
    return "\n".join(lines)


def check_3(answer, log):
    """Check the rank that left a sum out, and the step."""
    failed = [rank for rank, line in enumerate(log.splitlines()) if "ERROR" in line]

    def number(value):
        return int(value) if int(value) == float(value) else -1

    return check(
        answer,
        ("no-two-numbers", lambda pair: not isinstance(pair, str) and len([float(each) for each in pair]) == 2,
         "give two numbers, such as (0, 0)"),
        ("waiting-rank", lambda pair: number(pair[0]) not in failed,
         "this rank reports an error: it was there, and waited"),
        ("no-such-rank", lambda pair: number(pair[0]) == ASTRAY, "there is no such rank in the log"),
        ("no-such-step", lambda pair: 0 <= number(pair[1]) < STEPS, say("the steps are 0 to {last}", last=STEPS - 1)),
        ("last-step", lambda pair: number(pair[1]) != STEPS - 1,
         "in the last step the others wait, because there is one sum too few. Where was it left out?"),
        ("took-part", lambda pair: number(pair[1]) == STEP, "this rank took part in a sum in this step"))
