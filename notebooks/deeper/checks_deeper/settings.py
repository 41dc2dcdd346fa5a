"""Check the answer to the exercise of the notebook The engine's settings."""
from d2lhelpers.exercises import check


def check_1(answer):
    """Check a function (cores, devices, shared) that returns environment variables, by name."""
    def threads(cores, devices, shared=False):
        return int(answer(cores, devices, shared)["OMP_NUM_THREADS"])

    def policy(cores, devices, shared):
        return str(answer(cores, devices, shared).get("OMP_WAIT_POLICY", "")).lower()

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        ("no-dictionary", lambda settings: isinstance(settings(8, 1, False), dict),
         "return a dictionary: {name of a variable: value}"),
        ("other-variable",
         lambda settings: all(set(settings(8, devices, shared)) <= {"OMP_NUM_THREADS", "OMP_WAIT_POLICY"}
                              for devices in (1, 2) for shared in (False, True)),
         "there is a variable that the task does not ask for"),
        ("no-threads", lambda settings: "OMP_NUM_THREADS" in settings(8, 1, False),
         "how many threads has an operator?"),
        ("idle-cores", lambda _: threads(8, 1) != 1, "one device, one thread: seven of eight cores are idle"),
        ("not-one-per-core", lambda _: threads(8, 1) == 8 and threads(3, 1) == 3, "one device: one thread per core"),
        ("may-deadlock", lambda _: threads(8, 2) == 1 and threads(64, 8) == 1,
         "with several devices and several threads each, two products may wait for each other for ever"),
        ("one-core-wrong", lambda _: threads(1, 1) == 1 and threads(1, 2) == 1, "what if there is one core?"),
        ("spins-on-shared-cores", lambda _: policy(8, 1, True) == "passive",
         "other programs hold the cores: threads that spin keep them from the threads that they wait for"),
        ("passive-alone", lambda _: policy(8, 1, False) != "passive",
         "each thread has a core to itself: nobody has to be woken if threads spin"),
        ("needless-policy", lambda _: policy(8, 1, False) == policy(8, 2, False) == "",
         "leave the policy at its default where the task does not ask for one"),
        ("unknown-policy", lambda _: policy(8, 2, True) == "" or policy(8, 2, True) == "passive",
         "which policies are there?"),
    )
