"""The rules of the checks in lesson 01, Compilers and interpreters."""
import torch

from d2lhelpers.exercises import check


def check_1(answer):
    """Check a function of a tensor that adds one if its sum is above zero, and subtracts one if not."""
    up, mixed = torch.ones(3), torch.tensor([3.0, -1.0, -1.0])
    down = -up
    return check(
        answer,
        (callable, "put the function itself, without calling it"),
        (lambda f: torch.equal(f(up), up + 1), "try it on a positive sum"),
        (lambda f: torch.equal(f(down), down - 1), "try it on a negative sum"),
        (lambda f: torch.equal(f(mixed), mixed + 1), "the sum decides for all elements at once"),
        (_one_graph, "`fullgraph=True` refuses an `if` on a value: which operator chooses between two tensors?"))


def _one_graph(function):
    graphs = []

    def recorder(graph, inputs):
        graphs.append(graph)
        return graph.forward

    torch.compiler.reset()
    torch.compile(function, backend=recorder, fullgraph=True)(torch.ones(3))
    return len(graphs) == 1


def check_2(answer, net):
    """Check an exported program of `net` that takes any number of rows."""
    def agrees(program, rows):
        data = torch.randn(rows, 512)
        return torch.allclose(program.module()(data), net(data), rtol=1e-4, atol=1e-5)

    return check(
        answer,
        (lambda program: isinstance(program, torch.export.ExportedProgram),
         "what `export` returns, not its module and not the network"),
        (lambda program: agrees(program, 3) and agrees(program, 64),
         "the number of rows is still a constant: which argument of `export` names an axis?"),
        (lambda program: agrees(program, 1), "one row is a number of rows, too"))


def check_3(answer, first, second):
    """Check the seconds of a first call that found the folder filled, against a first and a second call without it."""
    return check(
        answer,
        (lambda seconds: type(seconds) is float, "a number of seconds, as a float"),
        (lambda seconds: seconds > 10 * second, "that is a second call: time the first one"),
        (lambda seconds: seconds < first,
         "did the process find the folder? Does the clock start after the import of PyTorch?"))
