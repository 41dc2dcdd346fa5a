# %% 1 right. As text, and no policy where no operator has threads that wait.
def answer_1(cores, devices, shared):
    if devices > 1:
        return {"OMP_NUM_THREADS": "1"}
    policy = {"OMP_WAIT_POLICY": "PASSIVE"} if shared else {}
    return {"OMP_NUM_THREADS": str(cores), **policy}

# %% 1 wrong: spins-on-shared-cores. The wrong way round.
def answer_1(cores, devices, shared):
    variables = {"OMP_NUM_THREADS": cores if devices == 1 else 1}
    if not shared:
        variables["OMP_WAIT_POLICY"] = "passive"
    return variables

# %% 1 right
#- if not shared:
#+ if shared:

# %% 1 wrong: may-deadlock. The cores shared out: each device its own.
#-     variables = {"OMP_NUM_THREADS": cores if devices == 1 else 1}
#-     if not shared:
#+     variables = {"OMP_NUM_THREADS": max(1, cores // devices)}
#+     if shared:

# %% 1 wrong: endless
def answer_1(cores, devices, shared):
    while shared or not shared:
        cores += 1

# %% 1 wrong, each line
# Always passive.
answer_1 = lambda cores, devices, shared: {"OMP_NUM_THREADS": cores if devices == 1 else 1, "OMP_WAIT_POLICY": "passive"}  # passive-alone
answer_1 = lambda cores, devices, shared: {"OMP_NUM_THREADS": cores if devices == 1 else 1, "OMP_WAIT_POLICY": "passive" if shared else "active"}  # needless-policy
# Two workers per device, to be quicker.
answer_1 = lambda cores, devices, shared: {"OMP_NUM_THREADS": cores if devices == 1 else 1, "MXNET_CPU_WORKER_NTHREADS": 2}  # other-variable
# As many threads as cores, always.
answer_1 = lambda cores, devices, shared: {"OMP_NUM_THREADS": cores}  # may-deadlock
# Safe, and slow.
answer_1 = lambda cores, devices, shared: {"OMP_NUM_THREADS": 1}  # idle-cores
# A core is left for Python.
answer_1 = lambda cores, devices, shared: {"OMP_NUM_THREADS": cores - 1 if devices == 1 else 1}  # not-one-per-core
answer_1 = lambda cores, devices, shared: {"OMP_NUM_THREADS": cores if devices == 1 else 1}  # spins-on-shared-cores
answer_1 = lambda cores, devices, shared: cores if devices == 1 else 1  # no-dictionary
answer_1 = {"OMP_NUM_THREADS": 1}  # no-function

# %% 1 wrong: may-deadlock. Other programs matter alone: where they run, the threads are forgotten.
def answer_1(cores, devices, shared):
    if shared:
        return {"OMP_NUM_THREADS": cores, "OMP_WAIT_POLICY": "passive"}
    return {"OMP_NUM_THREADS": cores if devices == 1 else 1}

# %% 1 wrong: no-threads
#- return {"OMP_NUM_THREADS": cores, "OMP_WAIT_POLICY": "passive"}
#+ return {"OMP_WAIT_POLICY": "passive"}

# %% 1 wrong: wrong-result
#- return {"OMP_NUM_THREADS": cores, "OMP_WAIT_POLICY": "passive"}
#+ return {"OMP_NUM_THREADS": 1, "OMP_WAIT_POLICY": "passive"}

# %% 1 wrong: wrong-result
#-     return {"OMP_NUM_THREADS": cores if devices == 1 else 1}
#+     return {"OMP_NUM_THREADS": cores if devices % 2 else 1}
#- return {"OMP_NUM_THREADS": cores, "OMP_WAIT_POLICY": "passive"}
#+ return {"OMP_NUM_THREADS": cores if devices % 2 else 1, "OMP_WAIT_POLICY": "passive"}

# %% 1 right. The policy where there is more than one thread.
def answer_1(cores, devices, shared):
    threads = cores if devices < 2 else 1
    variables = {"OMP_NUM_THREADS": f"{threads}"}
    if shared and threads > 1:
        variables.update(OMP_WAIT_POLICY="Passive")
    return variables

# %% 1 wrong: wrong-result
#- threads = cores if devices < 2 else 1
#+ threads = min(cores, 64) if devices < 2 else 1

# %% 1 wrong: wrong-result
#- if shared and threads > 1:
#+ if shared and threads > 7:
