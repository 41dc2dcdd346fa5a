"""Check the answers to the exercises of lesson 04, Automatic parallelism."""
import functools
import itertools
import re

import mxnet
import numpy

from d2lhelpers import Timeline
from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check
from d2lhelpers.messages import say


class _Waits(BaseException):
    """Ends an answer when Python is about to wait for a result."""


def check_1(answer, workspaces):
    """Check for how many of 200 products cpu(1) waits with 64 workspaces, and how many workspaces are enough."""
    def whole(number):
        return float(number) == int(float(number))

    def differs(number):
        return lambda answer: float(answer) != number

    return check(
        answer,
        ("no-whole-number", whole, "give a whole number, a number of products"),
        ("never-waits", differs(0), "how often is each of the 64 used before cpu(1) gets its first one?"),
        ("counts-from-0", differs(136),
         "that is the number of the product, if the first one has number 0: how many have ended then?"),
        ("earlier-user", lambda n: float(n) not in (8, 9, 72, 73),
         "that product had the workspace too, but another one has had it since: who had it last?"),
        ("counts-workspaces", differs(64),
         "that is how many workspaces there are: when is the one of cpu(1)'s first product free?"),
        ("waits-for-all", differs(200), "not for all 200: cpu(1) waits for one workspace, not for the whole of cpu(0)"),
        ("same-share", differs(140),
         "that is seven tenths, as with four workspaces and ten products: does the share stay?"),
        ("other-product", lambda n: float(n) == 200 - 64 + 1,
         "which product of cpu(0) has the same workspace as cpu(1)'s first? Give each product its number"),
        ("no-workspaces", lambda _: workspaces is not ...,
         "that is right. Now the number of workspaces, in place of the second dots"),
        ("workspaces-not-whole", lambda _: whole(workspaces), "the number of workspaces should be a whole number"),
        ("one-too-few", lambda _: float(workspaces) != 200,
         "with 200 workspaces, it still waits for one product: which one?"),
        ("too-few", lambda _: float(workspaces) > 200,
         "with so few workspaces, cpu(1)'s first product gets a used one"),
        ("more-than-needed", lambda _: float(workspaces) == 201,
         "so many are enough, but fewer do: cpu(1)'s first product must not wait. Must every later one have a new "
         "workspace, too?"))


def check_2(answer, theory):
    """Check an order of twenty products in which no device waits; `theory` predicts the end of each."""
    names = ["cpu(0)", "cpu(1)"]
    order = []

    def read(answer):
        order[:] = [str(device) for device in itertools.islice(answer, 21)]  # it may have no end
        return set(order) <= set(names)

    def end():
        return max(product.end for product in theory(4, order))

    return check(
        answer,
        ("no-names", read, 'give a list of names, such as "cpu(0)"'),
        ("not-ten-each", lambda _: [order.count(name) for name in names] == [10, 10], "ten products for each device"),
        ("as-before", lambda _: end() < 17, "one of the devices waits for 7 products of the other, as before"),
        *((f"takes-{time}", lambda _, time=time: end() != time,
           say("it takes {time} units of time, and without any wait 10. Which workspaces do your products get?",
               time=time))
          for time in range(11, 17)))


def check_3(answer, reason, slow, xs):
    """Check a function that returns the products of `slow` and keeps both devices busy, and why `slow` does not."""
    wanted = slow(xs).asnumpy()
    letter = re.sub(r"\W", "", str(reason)).lower()

    seen = []  # the identities of the arrays that the answer returned last

    def products(function, given=None):
        """Return what the function returns as one NumPy array of twenty products, however it is nested."""
        def arrays(result):
            if isinstance(result, (list, tuple)):  # NumPy would read the MXNet arrays in it number by number
                return [array for part in result for array in arrays(part)]
            seen.append(id(result))
            return [result.asnumpy() if hasattr(result, "asnumpy") else numpy.asarray(result)]

        seen.clear()
        result = function(given or list(xs))  # alive until all are seen
        return numpy.concatenate([array.reshape(-1, *wanted.shape[1:]) for array in arrays(result)])

    def matrices(random):
        yield ([mxnet.np.array(random.normal(size=x.shape), dtype="float32", ctx=x.ctx) for x in xs],)

    def overlap(timeline):
        return timeline.overlap(*timeline.devices) if len(timeline.devices) == 2 else 0.0

    @functools.cache
    def recorded(function):
        return Timeline.best(lambda: function(list(xs)), overlap, enough=0.8)

    def computed(function):
        """Return the device of each product that was computed."""
        return [each.device for each in recorded(function).operators if re.search("dot|mul|einsum", each.name)]

    def side_by_side(function):
        return overlap(recorded(function)) > 0.5

    def waits_between(function):
        """Return whether Python waits when some products have been computed and it has not asked for all of them."""
        first, *_, last = recorded(function).operators
        if not any(first.start < end < last.start for _, end in recorded(function).waits):
            return False

        harmless = [end for _, end in recorded(function).waits if end < first.start]  # for an empty queue

        def stop_unless_harmless(wait, *args):
            if not harmless:
                raise _Waits
            harmless.pop()
            return wait(*args)

        names = "MXNDArrayWaitAll", "MXNDArrayWaitToRead", "MXNDArraySyncCopyToCPU"
        library = mxnet.base._LIB
        kept = {name: getattr(library, name) for name in names}
        with Timeline() as asked:
            try:
                for name in names:
                    setattr(library, name, functools.partial(stop_unless_harmless, kept[name]))
                function(list(xs))
            except _Waits:
                pass
            finally:
                for name in names:
                    setattr(library, name, kept[name])
        return sum(bool(re.search("dot|mul|einsum", each.name)) for each in asked.operators) < len(wanted)

    return check(
        answer,
        ("no-function", callable, "give a function, not its result: its name"),
        ("not-twenty", lambda function: products(function).shape == wanted.shape, "return twenty products"),
        ("other-products", lambda function: numpy.allclose(products(function), wanted, rtol=1e-3),
         "the products are not those of `slow`, in its order"),
        ("too-few-calls", lambda function: min(computed(function).count(str(x.ctx)) for x in xs) >= len(wanted) / 2,
         "the products are right, but one of the devices computed fewer than ten products: ten calls for each"),
        ("array-twice", lambda function: len(products(function)) and len(set(seen)) == len(seen),
         "some of the products are one and the same array: each product needs a place of its own"),
        ("python-waits", lambda function: not waits_between(function),
         "the products are right, but Python waits for some of them before it asks for others. `slow` never waits"),
        ("devices-take-turns", side_by_side,
         "the products are right, but the devices still take turns, and not because Python waits. Which arrays does "
         "the engine know, and who writes them?"),
        *Exam(slow, matrices, products, tolerance=1e-4).rules(),
        ("no-letter", lambda _: reason is not ..., "that is right. Now the letter, in place of the second three dots"),
        ("not-a-letter", lambda _: letter in tuple("abcd"), "give one letter, such as \"a\""),
        ("blames-workspaces", lambda _: letter != "a",
         "the letter: each product needs one workspace, and there are 64 workspaces"),
        ("blames-waits", lambda _: letter != "c", "the letter: look at timeline.waits, and at when Python is done"),
        ("blames-one-device", lambda _: letter != "d",
         "the letter: look at a Timeline of `slow`, at the devices that it shows"),
        seconds=20)
