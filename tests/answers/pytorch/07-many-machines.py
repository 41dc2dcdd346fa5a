# %% 1 right
answer_1 = [16, 8]

# %% 1 right
# Computed, as NumPy's numbers.
import numpy
every = numpy.arange(1, 1001)
answer_1 = [every[(500 / every + failures * (every - 1) / 2).argmin()] for failures in (4, 16)]

# %% 1 right
# A tensor, and rounded roots.
answer_1 = torch.tensor([(2 * 1000 * 0.5 / failures) ** 0.5 for failures in (4, 16)]).round()

# %% 1 right
# With names.
answer_1 = {4: 16, 16: 8}

# %% 1 wrong: a neighbour of this number costs less
answer_1 = [15, 8]

# %% 1 wrong: a neighbour of this number costs less
answer_1 = [17, 8]

# %% 1 wrong: a whole number
answer_1 = [15.8, 7.9]

# %% 1 wrong: two numbers
answer_1 = 16

# %% 1 wrong: save less often
answer_1 = [16, 32]

# %% 1 wrong: see the root
answer_1 = [16, 4]

# %% 1 wrong: but not with 16
# Forgets the second question.
answer_1 = [16, 16]

# %% 1 wrong: but not with 16
answer_1 = [16, 7]

# %% 1 wrong: the derivative
# Without the two.
answer_1 = [11, 6]

# %% 1 wrong: spare
# After every step.
answer_1 = [1, 1]

# %% 1 wrong: repeats half
answer_1 = [1000, 500]

# %% 1 wrong: repeats half
# The failures as if they were four times as rare.
answer_1 = [32, 16]

# %% 1 wrong: from 1 to 1,000
answer_1 = [0, 0]

# %% 1 wrong: two numbers
answer_1 = "16 and 8"

# %% 2 right
import copy

def pack(job):
    state = {"net": job.net.state_dict(), "opt": job.optimizer.state_dict(), "done": job.done,
             "schedule": job.schedule.state_dict(), "random": torch.get_rng_state()}
    return copy.deepcopy(state)

def unpack(job, state):
    job.net.load_state_dict(state["net"])
    job.optimizer.load_state_dict(state["opt"])
    job.schedule.load_state_dict(state["schedule"])
    job.done = state["done"]
    torch.set_rng_state(state["random"])

answer_2 = pack, unpack

# %% 2 right
# A list of tensors, put back by hand, in square brackets.
def pack(job):
    momentum = [job.optimizer.state[p]["momentum_buffer"].clone() for p in job.net.parameters()]
    return [[p.detach().clone() for p in job.net.parameters()], momentum,
            job.optimizer.param_groups[0]["lr"], job.done, torch.get_rng_state()]

def unpack(job, state):
    parameters, momentum, lr, done, random = state
    for p, value, average in zip(job.net.parameters(), parameters, momentum):
        p.data.copy_(value)
        job.optimizer.state[p]["momentum_buffer"] = average
    job.optimizer.param_groups[0]["lr"] = lr
    job.schedule.last_epoch = done
    job.schedule._last_lr = [lr]
    job.done = done
    torch.set_rng_state(random)

answer_2 = [pack, unpack]

# %% 2 right
# Stored at once, so that nothing can change it: the bytes of a file, in a tensor.
import io

def pack(job):
    file = io.BytesIO()
    torch.save([job.net.state_dict(), job.optimizer.state_dict(), job.schedule.state_dict(), job.done,
                torch.random.get_rng_state()], file)
    return torch.frombuffer(bytearray(file.getvalue()), dtype=torch.uint8)

def unpack(job, state):
    net, optimizer, schedule, job.done, random = torch.load(io.BytesIO(state.numpy().tobytes()))
    job.net.load_state_dict(net)
    job.optimizer.load_state_dict(optimizer)
    job.schedule.load_state_dict(schedule)
    torch.random.set_rng_state(random)

answer_2 = (pack, unpack)

# %% 2 wrong: Does state_dict() return copies
# The likeliest: right, if nothing happened between packing and storing.
def pack(job):
    return {"net": job.net.state_dict(), "opt": job.optimizer.state_dict(), "done": job.done,
            "schedule": job.schedule.state_dict(), "random": torch.get_rng_state()}

def unpack(job, state):
    job.net.load_state_dict(state["net"])
    job.optimizer.load_state_dict(state["opt"])
    job.schedule.load_state_dict(state["schedule"])
    job.done = state["done"]
    torch.set_rng_state(state["random"])

answer_2 = pack, unpack

# %% 2 wrong: the averages of the gradients are those of a later moment
# Copies the network alone.
import copy

def pack(job):
    return {"net": copy.deepcopy(job.net.state_dict()), "opt": job.optimizer.state_dict(), "done": job.done,
            "schedule": job.schedule.state_dict(), "random": torch.get_rng_state()}

def unpack(job, state):
    job.net.load_state_dict(state["net"])
    job.optimizer.load_state_dict(state["opt"])
    job.schedule.load_state_dict(state["schedule"])
    job.done = state["done"]
    torch.set_rng_state(state["random"])

answer_2 = pack, unpack

# %% 2 wrong: momentum begins at zero
# The lazy answer.
import copy

def pack(job):
    return copy.deepcopy(job.net.state_dict())

def unpack(job, state):
    job.net.load_state_dict(state)

answer_2 = pack, unpack

# %% 2 wrong: momentum begins at zero
# A new optimizer for the new job.
import copy

def pack(job):
    return copy.deepcopy({"net": job.net.state_dict(), "done": job.done, "lr": job.schedule.get_last_lr()[0]})

def unpack(job, state):
    job.net.load_state_dict(state["net"])
    job.optimizer = torch.optim.SGD(job.net.parameters(), lr=state["lr"], momentum=0.9)
    job.done = state["done"]

answer_2 = pack, unpack

# %% 2 wrong: begins with another batch
import copy

def pack(job):
    return copy.deepcopy({"net": job.net.state_dict(), "opt": job.optimizer.state_dict(),
                          "schedule": job.schedule.state_dict(), "random": torch.get_rng_state()})

def unpack(job, state):
    job.net.load_state_dict(state["net"])
    job.optimizer.load_state_dict(state["opt"])
    job.schedule.load_state_dict(state["schedule"])
    torch.set_rng_state(state["random"])

answer_2 = pack, unpack

# %% 2 wrong: fall in the wrong step
# Right as long as the rate stays what it is: the optimizer's state holds it.
import copy

def pack(job):
    return copy.deepcopy({"net": job.net.state_dict(), "opt": job.optimizer.state_dict(), "done": job.done,
                          "random": torch.get_rng_state()})

def unpack(job, state):
    job.net.load_state_dict(state["net"])
    job.optimizer.load_state_dict(state["opt"])
    job.done = state["done"]
    torch.set_rng_state(state["random"])

answer_2 = pack, unpack

# %% 2 wrong: where does dropout take
import copy

def pack(job):
    return copy.deepcopy({"net": job.net.state_dict(), "opt": job.optimizer.state_dict(), "done": job.done,
                          "schedule": job.schedule.state_dict()})

def unpack(job, state):
    job.net.load_state_dict(state["net"])
    job.optimizer.load_state_dict(state["opt"])
    job.schedule.load_state_dict(state["schedule"])
    job.done = state["done"]

answer_2 = pack, unpack

# %% 2 wrong: where does dropout take
# A seed instead of the state: right by luck, had the job just begun.
import copy

def pack(job):
    return copy.deepcopy({"net": job.net.state_dict(), "opt": job.optimizer.state_dict(), "done": job.done,
                          "schedule": job.schedule.state_dict(), "seed": torch.initial_seed()})

def unpack(job, state):
    job.net.load_state_dict(state["net"])
    job.optimizer.load_state_dict(state["opt"])
    job.schedule.load_state_dict(state["schedule"])
    job.done = state["done"]
    torch.manual_seed(state["seed"])

answer_2 = pack, unpack

# %% 2 wrong: not objects
# The whole job.
import copy

def pack(job):
    return copy.deepcopy(job)

def unpack(job, state):
    job.__dict__.update(state.__dict__)

answer_2 = pack, unpack

# %% 2 wrong: not objects
import copy

def pack(job):
    return {"net": copy.deepcopy(job.net), "done": job.done}

def unpack(job, state):
    job.net = state["net"]

answer_2 = pack, unpack

# %% 2 wrong: does its optimizer still change
# A new network, which the optimizer does not know.
import copy

def pack(job):
    state = {"net": job.net.state_dict(), "opt": job.optimizer.state_dict(), "done": job.done,
             "schedule": job.schedule.state_dict(), "random": torch.get_rng_state()}
    return copy.deepcopy(state)

def unpack(job, state):
    job.net = copy.deepcopy(job.net)
    job.net.load_state_dict(state["net"])
    job.optimizer.load_state_dict(state["opt"])
    job.schedule.load_state_dict(state["schedule"])
    job.done = state["done"]
    torch.set_rng_state(state["random"])

answer_2 = pack, unpack

# %% 2 wrong: which optimizer's rate
# A new optimizer with the old state; the schedule still lowers the rate of the one before.
import copy

def pack(job):
    state = {"net": job.net.state_dict(), "opt": job.optimizer.state_dict(), "done": job.done,
             "schedule": job.schedule.state_dict(), "random": torch.get_rng_state()}
    return copy.deepcopy(state)

def unpack(job, state):
    job.net.load_state_dict(state["net"])
    job.optimizer = torch.optim.SGD(job.net.parameters(), lr=0.1, momentum=0.9)
    job.optimizer.load_state_dict(state["opt"])
    job.schedule.load_state_dict(state["schedule"])
    job.done = state["done"]
    torch.set_rng_state(state["random"])

answer_2 = pack, unpack

# %% 2 wrong: parameters are not those
# The state stays in this process, where another process cannot find it.
import copy
kept = {}

def pack(job):
    kept.update(copy.deepcopy({"net": job.net.state_dict(), "opt": job.optimizer.state_dict(),
                               "schedule": job.schedule.state_dict(), "random": torch.get_rng_state()}))
    return {"done": job.done}

def unpack(job, state):
    job.net.load_state_dict(kept["net"])
    job.optimizer.load_state_dict(kept["opt"])
    job.schedule.load_state_dict(kept["schedule"])
    job.done = state["done"]
    torch.set_rng_state(kept["random"])

answer_2 = pack, unpack

# %% 2 wrong: pack returns nothing
def pack(job):
    torch.save(job.net.state_dict(), folder / "packed.pt")

def unpack(job, state):
    job.net.load_state_dict(torch.load(folder / "packed.pt"))

answer_2 = pack, unpack

# %% 2 wrong: parameters are not those
# unpack does nothing.
answer_2 = (lambda job: {"done": job.done}), (lambda job, state: None)

# %% 2 wrong: two functions
answer_2 = lambda job: job.net.state_dict()

# %% 2 wrong: it fails when
# The arguments in the wrong order.
answer_2 = (lambda job: job.net.state_dict()), (lambda state, job: job.net.load_state_dict(state))

# %% 2 wrong: still running
def pack(job):
    while job.done < 8:
        pass
    return job.net.state_dict()

answer_2 = pack, lambda job, state: None

# %% 3 right
answer_3 = (2, 3)

# %% 3 right
# From the log.
for line in log.splitlines():
    for step in range(8):
        if f"load {step}" in line and f"all_reduce {step}" not in line:
            answer_3 = [int(line[5]), step]

# %% 3 right
answer_3 = torch.tensor([2, 3])

# %% 3 wrong: one sum too few
# Where the others wait.
answer_3 = (2, 7)

# %% 3 wrong: reports an error
answer_3 = (0, 7)

# %% 3 wrong: reports an error
# The numbers swapped.
answer_3 = (3, 2)

# %% 3 wrong: took part
# The step after, in which its order differs.
answer_3 = (2, 4)

# %% 3 wrong: took part
# The step before.
answer_3 = (2, 2)

# %% 3 wrong: two numbers
answer_3 = 2

# %% 3 wrong: two numbers
answer_3 = "2, step 3"

# %% 3 wrong: two numbers
answer_3 = ("rank 2", 3)

# %% 3 wrong: no such rank
answer_3 = (4, 3)

# %% 3 wrong: the steps are
answer_3 = (2, 8)
