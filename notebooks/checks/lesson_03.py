"""Check the answers to the exercises of lesson 03, Asynchronous computation."""
from d2lhelpers import Timeline
from d2lhelpers.exercises import check


def check_1(answer, two_stages):
    """Check a function that waits for the first of the two results of `two_stages`, and not for the second."""
    finished = []

    def products_done(wait):  # 4 products make the first result, 4 more the second
        with Timeline() as timeline:
            wait(*two_stages())
        return sum(o.name == "dot" and o.end < timeline.returned for o in timeline.operators)

    return check(
        answer,
        (callable, "give a function, not its result: its name, or lambda i, f: …"),
        (lambda wait: finished.append(min(products_done(wait) for _ in range(4))) is None,
         "it takes two arrays, and has to run without an error"),
        (lambda wait: finished[0] > 2, "Python was back before the intermediate values were there: nobody waited"),
        (lambda wait: finished[0] < 8, "Python was back only when the final values were there: what did it wait for?"),
    )


def check_2(answer):
    """Check a model of n calls with a wait after every k-th, against schedules played call by call."""
    def played(t1, t2, t3, n, k):
        python = device = 0
        for call in range(1, n + 1):
            python += t1
            device = max(python, device) + t2
            if call % k == 0:
                python = device = device + t3
        return python

    def right(total, *case):
        return abs(total(*case) / played(*case) - 1) < 1e-9

    return check(
        answer,
        (callable, "give a function, not its result: its name, or lambda t1, t2, t3, n, k: …"),
        (lambda total: right(total, 2, 5, 3, 12, 1), "with k = 1 it is n (t1 + t2 + t3)"),
        (lambda total: right(total, 2, 5, 3, 12, 12), "with k = n it is the model with one wait at the end"),
        (lambda total: right(total, 2, 5, 3, 12, 4),
         "how many groups are there, and what does one group of k calls take, its own wait included?"),
        (lambda total: right(total, 5, 2, 3, 12, 4) and right(total, 4, 4, 0, 100, 5),
         "right where t2 > t1; and if Python is the slower one?"),
    )


def check_3(answer, slow, epoch):
    """Check functions that replace some of `slow` so that `epoch` never waits, yet computes the same gradients."""
    def waits(functions):
        with Timeline() as timeline:
            epoch(**functions)
        return len(timeline.waits)

    def gradients(clip, scale):  # short ones are kept, long ones are scaled
        from mxnet import np

        grads = [np.full((3,), scale), np.full((2, 2), -scale)]
        clip(grads)
        return [float(grad.sum()) for grad in grads]

    def same(functions):
        clips = slow["clip"], functions.get("clip", slow["clip"])
        return all(abs(a - b) <= 1e-5 * abs(a) for scale in (1e-4, 10.0)
                   for a, b in zip(*(gradients(clip, scale) for clip in clips), strict=True))

    return check(
        answer,
        (lambda new: isinstance(new, dict) and new and new.keys() <= slow.keys() and all(map(callable, new.values())),
         'give a dictionary from names of functions to new functions, such as {"read": my_read}'),
        (lambda new: waits(slow | new) < waits(slow),
         "Python still waits in each step: draw a Timeline, and try the functions one by one"),
        (lambda new: waits(slow | new) == 0, "better, but Python still waits somewhere"),
        (same, "clip must leave short gradients as they are, and scale long ones to the limit, as before"),
    )
