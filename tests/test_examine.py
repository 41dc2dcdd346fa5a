import random
import re
from fractions import Fraction
from importlib.util import find_spec

import numpy as np
import pytest

from d2lhelpers import examine, exercises
from d2lhelpers.examine import Exam, shown
from d2lhelpers.exercises import check
from d2lhelpers.plain import difference, plain


def add(numbers, more):
    """Add to each number."""
    return [each + more for each in numbers]


def sums(random):
    """Yield arguments of `add`."""
    for size in (1, 0, 4):
        yield list(random.integers(-9, 9, size=size)), int(random.integers(1, 9))


MEMORY = []


def once(numbers, more):
    """Be right every second time alone."""
    MEMORY.append(more)
    return add(numbers, more) if len(MEMORY) % 2 else []


def kept(numbers, more, result=[]):  # noqa: B006
    """Return the same list again and again."""
    result[:] = add(numbers, more)
    return result


def kept_late(numbers, more, results={}):  # noqa: B006
    """Return a list that the next call empties."""
    for each in results.values():
        each.clear()
    results[len(results)] = add(numbers, more)
    return [*results.values()][-1]


def empties(numbers, more):
    """Take the numbers out of the caller's list."""
    return [numbers.pop(0) + more for _ in range(len(numbers))]


def seeds(numbers, more):
    """Set the seed of random numbers."""
    random.seed(1)
    return add(numbers, more)


class Anything(list):
    """A list that equals everything."""

    def __eq__(self, other):
        return True


@pytest.mark.parametrize(("answer", "rule", "words"), [
    (add, "", "right"),
    (lambda numbers, more: tuple(np.float32(each + more) for each in numbers), "", "right"),
    (lambda numbers, more: np.array(numbers, dtype=float) + more, "", "right"),
    (lambda numbers, more: (each + more for each in numbers), "", "right"),
    (lambda numbers, more: [*numbers, more], "wrong-result", r"called with numbers = .*, it gives \[.*, \d\]"),
    (lambda numbers, more: numbers[1] + more if numbers else [], "raises", r"IndexError.* Hint: called with numbers"),
    (lambda numbers, more: Anything([1]), "wrong-result", "where .* is right .seed "),
    (once, "wrong-again", "called again with"),
    (kept_late, "changes-result", "it changes what it returned before"),
    (kept, "", "right"),
    (empties, "wrong-effect", r"called with numbers = \[-?\d\], more = \d, it leaves numbers as \[\] where"),
    (seeds, "changes-surroundings", "it changes the seed of random numbers, and leaves it so"),
])
def test_an_exam_finds_each_kind_of_fault(capsys, answer, rule, words):
    """What is wrong, wrong the second time, or changed on the way is named; what is right in meaning is right."""
    random.seed(1)
    assert check(answer, *Exam(add, sums).rules()) is not bool(rule)
    assert exercises.broken == rule
    assert re.search(words, capsys.readouterr().out)


def test_a_seed_that_was_shown_draws_the_same_cases(capsys, monkeypatch):
    """Cases are drawn anew each time, unless the seed is set that a hint has shown."""
    def wrong(numbers, more):
        return [each - more for each in numbers]

    printed = set()
    for _ in range(9):
        check(wrong, *Exam(add, sums).rules())
        printed.add(capsys.readouterr().out)
    assert len(printed) > 1
    last = printed.pop()
    monkeypatch.setattr(examine, "seed", int(re.search(r"seed (\d+)", last)[1]))
    check(wrong, *Exam(add, sums).rules())
    assert capsys.readouterr().out == last


def test_a_fault_of_the_check_is_not_the_readers(capsys):
    """If a reference fails, that is raised under the check's own name, not as an error of the answer."""
    def broken_reference(numbers, more):
        raise KeyError("reference")

    def answer(numbers, more):
        return add(numbers, more)

    answer.__module__ = "__main__"
    assert not check(answer, *Exam(broken_reference, sums).rules())
    assert "It raised KeyError('reference'). Hint: the check cannot use" in capsys.readouterr().out


def test_an_object_of_a_new_class_is_no_answer(capsys):
    """An object whose class the reader wrote cannot stand for a number; a subclass of a number is that number."""
    equal = type("Equal", (), {"__eq__": lambda *_: True, "__module__": "__main__"})
    assert not check(equal(), ("one", lambda x: x == 1, "one"))
    assert exercises.broken == "own-type"
    number = type("Number", (float,), {"__eq__": lambda *_: True, "__module__": "__main__"})
    assert not check(number(2), ("one", lambda x: x == 1, "one"))
    assert exercises.broken == "one"


def test_plain_values():
    """Subclasses lose their class, arrays are copied, and numbers are equal whatever holds them."""
    array = np.arange(3)
    copy = plain(array)
    array[0] = 5
    assert copy.tolist() == [0, 1, 2]
    assert type(plain(Anything([1]))) is list
    assert type(plain(np.float32(1))) is float
    assert difference(plain([1, 2]), plain(np.array([1.0, 2.0]))) is None
    assert difference([[1], [2, 3]], [[1], [2, 4]]) == ((1,), [2, 3], [2, 4])
    many = np.arange(20.0).reshape(2, 10)
    assert difference({"a": many}, {"a": many + (many == 13)}) == (("a", 1, 3), 13.0, 14.0)
    for one, two in [(-np.inf, np.inf), (np.nan, 0.0), (1.0, 1 + 2e-5), ("1", 1), (None, 0), ("a", "b"),
                     ({1: 2}, {1: 2, 3: 4}), ({1: 2}, 2), (2, {1: 2})]:
        assert difference(one, two)
        assert difference(two, two) is None
    assert difference(1.0, 1 + 2e-5, 1e-4) is None
    assert plain(Fraction(1, 4)) == 0.25
    few = np.zeros(12)
    assert difference(few, few + 1)[0] == ()  # of few numbers all are shown, of many the one that differs most
    assert difference(np.zeros(13), np.ones(13))[0] == (0,)


def test_what_is_shown_of_a_value():
    """Twelve numbers and seventy letters are shown, more are cut; of arrays only the shape is left."""
    assert shown(np.zeros(12)) == str([0.0] * 12)
    assert shown(np.zeros(13)) == "an array of 13"
    assert shown("a" * 68) == repr("a" * 68)
    assert shown("a" * 99) == f"'{'a' * 69} …"


def test_arguments_without_names(capsys):
    """A function of any number of arguments is examined like others: all are shown, and all must stay as they were."""
    def total(first, *others):
        return first + sum(map(sum, others))

    def clears(first, *others):
        result = total(first, *others)
        others[-1].clear()
        return result

    def cases(random):
        yield 1, [2], [3]

    def use(function, *arguments):
        return function(*arguments)

    for options in {}, {"use": use}:
        assert check(lambda one, *others: one + sum(each[0] for each in others), *Exam(total, cases, **options).rules())
        assert not check(lambda one, *others: one, *Exam(total, cases, **options).rules())
        assert "argument 1 = 1, argument 2 = [2], argument 3 = [3], it gives 1 where 6" in capsys.readouterr().out
        assert not check(clears, *Exam(total, cases, **options).rules())
        assert exercises.broken == "wrong-effect"


def test_a_use_names_its_arguments(capsys):
    """Where a reference has other arguments than the cases, hints name them as what uses it does."""
    def length_after(make, items, more):
        return len(make(items)) + more

    assert not check(lambda items: [], *Exam(list, lambda random: [([5], 1)], use=length_after).rules())
    assert "called with items = [5], more = 1, it gives 1 where 2 is right" in capsys.readouterr().out


@pytest.mark.skipif(not find_spec("torch"), reason="PyTorch is not installed")
def test_tensors_as_plain_values():
    """Of tensors only the numbers count: those of any float are floats of 64 bits, whole numbers stay whole."""
    import torch
    for kind in torch.float16, torch.bfloat16, torch.float64:
        assert plain(torch.ones(2, dtype=kind)).dtype == np.float64
    assert plain(torch.ones(2, dtype=torch.int32)).dtype == np.int32
    assert type(plain(torch.tensor(2))) is int


def test_a_gluon_network_as_a_plain_value():
    """Of a network, parameters that have values are compared, those that are not made yet cannot be."""
    mx = pytest.importorskip("mxnet")
    net = mx.gluon.nn.Sequential()
    net.add(mx.gluon.nn.Dense(2, in_units=3), mx.gluon.nn.Dense(1))
    net.initialize()
    assert list(plain(net)["parameters"]) == ["0.weight", "0.bias", "1.bias"]


@pytest.mark.skipif(not find_spec("torch"), reason="PyTorch is not installed")
def test_an_exam_sees_what_happens_to_a_network():
    """Parameters, gradients, mode and the optimizer's settings are compared; what is free is not."""
    import torch

    def cases(random):
        torch.manual_seed(int(random.integers(1000)))
        net = torch.nn.Linear(2, 1)
        yield net, torch.optim.SGD(net.parameters(), lr=0.1), torch.ones(3, 2)

    def step(net, optimizer, X):
        optimizer.zero_grad()
        net(X).mean().backward()
        optimizer.step()

    def change(line):
        def changed(net, optimizer, X):
            step(net, optimizer, X)
            exec(line, {"torch": torch}, {"net": net, "optimizer": optimizer, "X": X})
        return changed

    effects = "net.eval()", "X.zero_()", "net.weight.data += 1", "optimizer.param_groups[0]['lr'] *= 0.5"
    around = "torch.rand(1)", "torch.set_grad_enabled(False)"
    wanted = {"": "", "net.zero_grad()": ""} | dict.fromkeys(effects, "wrong-effect")
    for line, rule in (wanted | dict.fromkeys(around, "changes-surroundings")).items():
        try:
            check(change(line), *Exam(step, cases, free=["gradients"]).rules())
        finally:
            torch.set_grad_enabled(True)
        assert exercises.broken == rule, line
    check(change("net.zero_grad()"), *Exam(step, cases).rules())
    assert exercises.broken == "wrong-effect"


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("torch"), reason="PyTorch is not installed")
def test_an_exam_on_ranks(capsys):
    """On several ranks an answer is compared on each; what it raises there, and waiting in vain, are found, too."""
    import torch
    import torch.distributed as dist

    def cases(random):
        every = random.normal(size=(dist.get_world_size(), 3))
        yield torch.tensor(every[dist.get_rank()]), every

    def total(mine, every):
        return every.sum(0)

    def right(mine, every):
        mine = mine.clone()
        dist.all_reduce(mine)
        return mine

    def in_place(mine, every):
        dist.all_reduce(mine)
        return mine

    def of_two(mine, every):
        other = mine.clone()
        dist.all_reduce(other)
        return other if dist.get_world_size() == 2 else mine

    def fails(mine, every):
        raise ValueError("no")

    calls = []

    def wrong_later_on_rank_0(mine, every):
        calls.append(mine)
        return every.sum(0) if dist.get_rank() == 0 and len(calls) == 1 else mine

    for answer, rule in {right: "", in_place: "wrong-effect", of_two: "wrong-result", fails: "rank-raises",
                         wrong_later_on_rank_0: "wrong-result"}.items():
        check(answer, *Exam(total, cases).rules_on_ranks(answer, 2, 3))
        assert exercises.broken == rule, answer
    assert "ValueError: no" in capsys.readouterr().out
