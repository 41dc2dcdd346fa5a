"""Check the answer to the exercise of the notebook The engine's settings."""
from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check

THREADS, POLICY = "OMP_NUM_THREADS", "OMP_WAIT_POLICY"


def right_settings(cores, devices, shared):
    """Return the right variables; where operators have one thread, no thread waits, and the policy can be left out."""
    variables = {THREADS: cores if devices == 1 else 1}
    return variables | {POLICY: "passive"} if shared else variables


def settings_of(function, *case):
    """Return what a function sets: numbers as numbers, and no policy where it makes no difference."""
    found = {name: int(value) if name == THREADS else str(value).lower() for name, value in function(*case).items()}
    *_, shared = case
    if shared and found.get(THREADS) == 1 and found.get(POLICY) == "passive":
        del found[POLICY]
    return found


def some_machines(random):
    """Yield cores, devices and whether they are shared, each with each."""
    for cores in 1, int(random.integers(2, 8)), int(random.integers(65, 200)):
        for devices in 1, 2, 3, int(random.integers(4, 9)):
            for shared in False, True:
                yield cores, devices, shared


def check_1(answer):
    """Check a function (cores, devices, shared) that returns environment variables, by name."""
    def threads(cores, devices, shared=False):
        return int(answer(cores, devices, shared)[THREADS])

    def policy(cores, devices, shared):
        return str(answer(cores, devices, shared).get(POLICY, "")).lower()

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        ("no-dictionary", lambda settings: isinstance(settings(8, 1, False), dict),
         "return a dictionary: {name of a variable: value}"),
        ("other-variable",
         lambda settings: all(set(settings(8, devices, shared)) <= {THREADS, POLICY}
                              for devices in (1, 2) for shared in (False, True)),
         "there is a variable that the task does not ask for"),
        ("no-threads", lambda settings: all(THREADS in settings(8, 1, shared) for shared in (False, True)),
         "how many threads has an operator?"),
        ("idle-cores", lambda _: threads(8, 1) != 1, "one device, one thread: seven of eight cores are idle"),
        ("not-one-per-core", lambda _: threads(8, 1) == 8 and threads(3, 1) == 3, "one device: one thread per core"),
        ("may-deadlock",
         lambda _: all(threads(8, 2, shared) == threads(64, 8, shared) == 1 for shared in (False, True)),
         "with several devices and several threads each, two products may wait for each other for ever"),
        ("spins-on-shared-cores", lambda _: policy(8, 1, True) == "passive",
         "other programs hold the cores: threads that spin keep them from the threads that they wait for"),
        ("passive-alone", lambda _: policy(8, 1, False) != "passive",
         "each thread has a core to itself: nobody has to be woken if threads spin"),
        ("needless-policy", lambda _: policy(8, 1, False) == policy(8, 2, False) == "",
         "leave the policy at its default where the task does not ask for one"),
        *Exam(right_settings, some_machines, settings_of).rules(),
    )
