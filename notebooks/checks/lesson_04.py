"""The rules of the checks in lesson 04, automatic parallelism."""
import numpy
from mxnet import np

from d2lhelpers import Timeline
from d2lhelpers.exercises import check


def check_1(answer):
    """Check a function that multiplies each matrix of a stack by itself, in a handful of operators."""
    stack, seen = np.random.uniform(size=(200, 16, 16)), {}

    def runs(pack):
        pack(stack).wait_to_read()  # warm-up
        with Timeline() as timeline:
            seen["result"] = pack(stack)
        seen["operators"] = len(timeline.operators)
        return seen["result"].shape == stack.shape

    def right_values(_):
        alone = [np.dot(stack[i], stack[i]).asnumpy() for i in (0, 77, 199)]
        return numpy.allclose(seen["result"].asnumpy()[[0, 77, 199]], alone, rtol=1e-4)

    return check(
        answer,
        (callable, "give a function, not its result: its name, or a lambda"),
        (runs, "the result has the shape of the stack: each matrix times itself, not times every other"),
        (right_values, "the shape is right, the values are not: multiply rows by columns, not element by element"),
        (lambda _: seen["operators"] < 10, "the values are right, but there is still one operator per matrix"))


def check_2(answer, exchange, choice):
    """Check the devices that carry the copies in `exchange`, two of `choice`."""
    seen = {}

    def copies_in_time(timeline):
        products = [operator for operator in timeline.operators if operator.name == "dot"]
        copies = [operator for operator in timeline.operators if operator.name == "concatenate"]
        return sum(copy.start < products[-1].start for copy in copies) / len(copies)

    def runs(carriers):
        timeline = Timeline.best(lambda: exchange(carriers), copies_in_time, enough=0.8)
        products_on = {operator.device for operator in timeline.operators if operator.name == "dot"}
        seen["behind products"] = sum(str(device) in products_on for device in carriers)
        seen["in time"] = copies_in_time(timeline)
        return True

    return check(
        answer,
        (lambda pair: isinstance(pair, (list, tuple)) and len(pair) == 2,
         "a list of two devices, such as [choice[0], choice[1]]"),
        (lambda pair: all(device in choice for device in pair), "use only devices from choice: cpu(0), cpu(1), cpu(2)"),
        (lambda pair: runs(pair) and seen["behind products"] < 2,
         "the queues of both devices are full of their own products, and the copies must wait behind them"),
        (lambda _: seen["behind products"] < 1,
         "better: one of them has nothing else to do, but the other has products of its own"),
        (lambda _: seen["in time"] >= 0.5, "few copies began before the last product"))
