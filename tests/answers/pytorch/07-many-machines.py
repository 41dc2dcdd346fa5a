# %% 1 right. Computed, as NumPy's numbers.
import numpy
every = numpy.arange(1, 1001)
answer_1 = [every[(500 / every + failures * (every - 1) / 2).argmin()] for failures in (4, 16)]

# %% 1 right, each line
answer_1 = [16, 8]
# A tensor, and rounded roots.
answer_1 = torch.tensor([(2 * 1000 * 0.5 / failures) ** 0.5 for failures in (4, 16)]).round()
# With names.
answer_1 = {4: 16, 16: 8}

# %% 1 wrong, each line
answer_1 = [15, 8]  # neighbour-costs-less
answer_1 = [17, 8]  # neighbour-costs-less
answer_1 = [15.8, 7.9]  # not-whole
answer_1 = 16  # no-two-numbers
answer_1 = "16 and 8"  # no-two-numbers
answer_1 = [16, 32]  # saves-less-often
answer_1 = [16, 4]  # divided-by-four
# Forgets the second question.
answer_1 = [16, 16]  # wrong-with-sixteen
answer_1 = [16, 7]  # wrong-with-sixteen
# Without the two.
answer_1 = [11, 6]  # lacks-factor-two
# After every step.
answer_1 = [1, 1]  # too-many-saves
answer_1 = [1000, 500]  # too-few-saves
# The failures as if they were four times as rare.
answer_1 = [32, 16]  # too-few-saves
answer_1 = [0, 0]  # out-of-range

# %% 2 given
import copy

# %% 2 right
def pack(job):
    return copy.deepcopy({
        "net": job.net.state_dict(),
        "opt": job.optimizer.state_dict(),
        "schedule": job.schedule.state_dict(),
        "done": job.done,
        "random": torch.get_rng_state(),
    })

def unpack(job, state):
    job.net.load_state_dict(state["net"])
    job.optimizer.load_state_dict(state["opt"])
    job.schedule.load_state_dict(state["schedule"])
    job.done = state["done"]
    torch.set_rng_state(state["random"])

answer_2 = pack, unpack

# %% 2 wrong: later-parameters. The likeliest: right, if nothing happened between packing and storing.
#- return copy.deepcopy({
#+ return {
#- })
#+ }

# %% 2 wrong: later-momentum. Copies the network alone.
#-     return copy.deepcopy({
#-         "net": job.net.state_dict(),
#+     return {
#+         "net": copy.deepcopy(job.net.state_dict()),
#- })
#+ }

# %% 2 wrong: other-random-numbers. A seed instead of the state: right by luck, had the job just begun.
#- "random": torch.get_rng_state(),
#+ "seed": torch.initial_seed(),
#- torch.set_rng_state(state["random"])
#+ torch.manual_seed(state["seed"])

# %% 2 wrong: other-random-numbers
#- "random": torch.get_rng_state(),
#+
#- torch.set_rng_state(state["random"])

# %% 2 wrong: other-batch
#- "done": job.done,
#+
#- job.done = state["done"]

# %% 2 wrong: other-schedule. Right as long as the rate stays what it is: the optimizer's state holds it.
#- "schedule": job.schedule.state_dict(),
#+
#- job.schedule.load_state_dict(state["schedule"])

# %% 2 wrong: other-parameters. The state stays in this process, where another process cannot find it.
#- def pack(job):
#-     return copy.deepcopy({
#+ kept = {}
#+
#+ def pack(job):
#+     kept.update(copy.deepcopy({
#-     })
#+     }))
#+     return {"done": job.done}
#- def unpack(job, state):
#+ def unpack(job, state):
#+     state = kept | state

# %% 2 wrong: state-elsewhere. A place for each of them, in this process.
#- def pack(job):
#-     return copy.deepcopy({
#+ kept = {}
#+
#+ def pack(job):
#+     kept[len(kept)] = copy.deepcopy({
#-     })
#+     })
#+     return {"key": len(kept) - 1}
#- def unpack(job, state):
#+ def unpack(job, state):
#+     state = kept[state["key"]]

# %% 2 wrong: state-elsewhere. The path of a file is not the state: on another host there is none.
#- def pack(job):
#-     return copy.deepcopy({
#+ from secrets import token_hex
#+
#+ def pack(job):
#+     name = str(folder / token_hex())
#+     torch.save({
#-     })
#+     }, name)
#+     return {"path": name}
#- def unpack(job, state):
#+ def unpack(job, state):
#+     state = torch.load(state["path"])

# %% 2 wrong: pack-disturbs. Everybody draws from a new seed, the job that trains on, too.
#- def pack(job):
#+ def pack(job):
#+     torch.manual_seed(7)

# %% 2 wrong: pack-disturbs. The gradients' averages begin anew in the job that trains on.
#-     return copy.deepcopy({
#+     state = copy.deepcopy({
#-     })
#+     })
#+     for each in job.optimizer.state.values():
#+         each["momentum_buffer"].zero_()
#+     return state

# %% 2 wrong: later-momentum. Shallow copies of the dictionaries.
#-     return copy.deepcopy({
#-         "net": job.net.state_dict(),
#-         "opt": job.optimizer.state_dict(),
#+     return {
#+         "net": {name: each.clone() for name, each in job.net.state_dict().items()},
#+         "opt": dict(job.optimizer.state_dict()),
#- })
#+ }

# %% 2 wrong: other-rate. The settings are those of a new job.
#-     job.optimizer.load_state_dict(state["opt"])
#+     job.optimizer.load_state_dict(state["opt"] | {"param_groups": job.optimizer.state_dict()["param_groups"]})

# %% 2 wrong: old-optimizer-scheduled
# A new optimizer with the old state; the schedule still lowers the rate of the one before.
#- def unpack(job, state):
#+ def unpack(job, state):
#+     job.optimizer = torch.optim.SGD(job.net.parameters(), lr=0.1, momentum=0.9)

# %% 2 wrong: trains-differently. A new network, which the optimizer does not know.
#- def unpack(job, state):
#+ def unpack(job, state):
#+     job.net = copy.deepcopy(job.net)

# %% 2 right. Stored at once, so that nothing can change it: the bytes of a file, in a tensor.
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

# %% 2 right. A list of tensors, put back by hand, in square brackets.
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

# %% 2 wrong: other-momentum. A place for each average, and zero in it.
#- job.optimizer.state[p]["momentum_buffer"] = average
#+ job.optimizer.state[p]["momentum_buffer"] = torch.zeros_like(average)

# %% 2 wrong: other-parameters. Trains again: right for one seed, and for one number of steps.
def pack(job):
    return {"done": job.done}

def unpack(job, state):
    torch.manual_seed(1)
    job.__init__()
    for _ in range(state["done"]):
        job.step()

answer_2 = pack, unpack

# %% 2 wrong: lost-momentum. A new optimizer for the new job.
def pack(job):
    return copy.deepcopy({"net": job.net.state_dict(), "done": job.done, "lr": job.schedule.get_last_lr()[0]})

def unpack(job, state):
    job.net.load_state_dict(state["net"])
    job.optimizer = torch.optim.SGD(job.net.parameters(), lr=state["lr"], momentum=0.9)
    job.done = state["done"]

answer_2 = pack, unpack

# %% 2 wrong: not-storable
#-     return copy.deepcopy({"net": job.net.state_dict(), "done": job.done, "lr": job.schedule.get_last_lr()[0]})
#+     return {"net": copy.deepcopy(job.net), "done": job.done}
#-     job.net.load_state_dict(state["net"])
#-     job.optimizer = torch.optim.SGD(job.net.parameters(), lr=state["lr"], momentum=0.9)
#-     job.done = state["done"]
#+     job.net = state["net"]

# %% 2 wrong: nothing-packed
def pack(job):
    torch.save(job.net.state_dict(), folder / "packed.pt")

answer_2 = pack, lambda job, state: job.net.load_state_dict(torch.load(folder / "packed.pt"))

# %% 2 wrong: endless
def pack(job):
    while job.done < 8:
        pass
    return job.net.state_dict()

answer_2 = pack, lambda job, state: None

# %% 2 wrong: other-parameters. Stores only once.
first = []

def pack(job):
    if not first:
        first.append(copy.deepcopy([job.net.state_dict(), job.optimizer.state_dict(), job.schedule.state_dict(), job.done,
                                    torch.get_rng_state()]))
    return first[0]

def unpack(job, state):
    job.net.load_state_dict(state[0])
    job.optimizer.load_state_dict(state[1])
    job.schedule.load_state_dict(state[2])
    job.done = state[3]
    torch.set_rng_state(state[4])

answer_2 = pack, unpack

# %% 2 wrong, each line
# unpack does nothing.
answer_2 = (lambda job: {"done": job.done}), (lambda job, state: None)  # other-parameters
# The lazy answer.
answer_2 = (lambda job: copy.deepcopy(job.net.state_dict())), (lambda job, state: job.net.load_state_dict(state))  # lost-momentum
# The whole job.
answer_2 = copy.deepcopy, (lambda job, state: job.__dict__.update(state.__dict__))  # not-storable
answer_2 = lambda job: job.net.state_dict()  # no-two-functions
# The arguments in the wrong order.
answer_2 = (lambda job: job.net.state_dict()), (lambda state, job: job.net.load_state_dict(state))  # fails

# %% 3 right. From the log.
for line in log.splitlines():
    for step in range(8):
        if f"load {step}" in line and f"all_reduce {step}" not in line:
            answer_3 = [int(line[5]), step]

# %% 3 right, each line
answer_3 = (2, 3)
answer_3 = torch.tensor([2, 3])

# %% 3 wrong, each line
# Where the others wait.
answer_3 = (2, 7)  # last-step
answer_3 = (0, 7)  # waiting-rank
# The numbers swapped.
answer_3 = (3, 2)  # waiting-rank
# The step after, in which its order differs.
answer_3 = (2, 4)  # took-part
# The step before.
answer_3 = (2, 2)  # took-part
answer_3 = 2  # no-two-numbers
answer_3 = "2, step 3"  # no-two-numbers
answer_3 = ("rank 2", 3)  # no-two-numbers
answer_3 = (4, 3)  # no-such-rank
answer_3 = (2, 8)  # no-such-step
