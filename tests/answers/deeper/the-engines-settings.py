# %% 1 right
def answer_1(cores, devices, shared):
    variables = {"OMP_NUM_THREADS": cores if devices == 1 else 1}
    if shared:
        variables["OMP_WAIT_POLICY"] = "passive"
    return variables

# %% 1 right
# As text, and no policy where no operator has threads that wait.
def answer_1(cores, devices, shared):
    if devices > 1:
        return {"OMP_NUM_THREADS": "1"}
    policy = {"OMP_WAIT_POLICY": "PASSIVE"} if shared else {}
    return {"OMP_NUM_THREADS": str(cores), **policy}

# %% 1 wrong: wait for each other for ever
# The cores shared out: each device its own.
def answer_1(cores, devices, shared):
    variables = {"OMP_NUM_THREADS": max(1, cores // devices)}
    if shared:
        variables["OMP_WAIT_POLICY"] = "passive"
    return variables

# %% 1 wrong: wait for each other for ever
# As many threads as cores, always.
answer_1 = lambda cores, devices, shared: {"OMP_NUM_THREADS": cores}

# %% 1 wrong: cores are idle
# Safe, and slow.
answer_1 = lambda cores, devices, shared: {"OMP_NUM_THREADS": 1}

# %% 1 wrong: one thread per core
# A core is left for Python.
answer_1 = lambda cores, devices, shared: {"OMP_NUM_THREADS": cores - 1 if devices == 1 else 1}

# %% 1 wrong: nobody has to be woken
# Always passive.
def answer_1(cores, devices, shared):
    return {"OMP_NUM_THREADS": cores if devices == 1 else 1, "OMP_WAIT_POLICY": "passive"}

# %% 1 wrong: threads that spin keep them
# The wrong way round.
def answer_1(cores, devices, shared):
    variables = {"OMP_NUM_THREADS": cores if devices == 1 else 1}
    if not shared:
        variables["OMP_WAIT_POLICY"] = "passive"
    return variables

# %% 1 wrong: threads that spin keep them
answer_1 = lambda cores, devices, shared: {"OMP_NUM_THREADS": cores if devices == 1 else 1}

# %% 1 wrong: leave the policy at its default
def answer_1(cores, devices, shared):
    return {"OMP_NUM_THREADS": cores if devices == 1 else 1,
            "OMP_WAIT_POLICY": "passive" if shared else "active"}

# %% 1 wrong: does not ask for
# Two workers per device, to be quicker.
def answer_1(cores, devices, shared):
    return {"OMP_NUM_THREADS": cores if devices == 1 else 1, "MXNET_CPU_WORKER_NTHREADS": 2}

# %% 1 wrong: return a dictionary
answer_1 = lambda cores, devices, shared: cores if devices == 1 else 1

# %% 1 wrong: give a function
answer_1 = {"OMP_NUM_THREADS": 1}

# %% 1 wrong: still running
def answer_1(cores, devices, shared):
    while shared or not shared:
        cores += 1
