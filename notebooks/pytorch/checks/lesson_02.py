"""The rules of the checks in lesson 02, Where graphs break."""
import torch

from d2lhelpers.exercises import check


def count_graphs(function, calls, **options):
    """Return how many graphs there are after each call of `function`, compiled; `calls` lists its arguments."""
    graphs, counts = [], []

    def recorder(graph, inputs):
        graphs.append(graph)
        return graph.forward

    torch.compiler.reset()
    compiled = torch.compile(function, backend=recorder, **options)
    for arguments in calls:
        compiled(*arguments)
        counts.append(len(graphs))
    return counts


def check_1(answer, function, calls):
    """Check how many graphs there are after each of the calls, which are made here."""
    counts = count_graphs(function, calls)
    return check(
        answer,
        (lambda a: isinstance(a, (list, tuple)) and len(a) == len(counts), f"give a list of {len(counts)} numbers"),
        (lambda a: a[:2] == counts[:2], "the first two calls are alike: is anything compiled in the second?"),
        (lambda a: a[2] == counts[2], "the third call brings another size: is the first graph static?"),
        (lambda a: a[3] == counts[3], "the fourth call: for which sizes does the second graph hold?"),
        (lambda a: a[4] == counts[4], "the fifth call: a string is a constant of the graph"),
        (lambda a: a[5] == counts[5], "the sixth call: is there a graph for this string, and any size?"),
        (lambda a: list(a) == counts, "the last call: one row is a case of its own"))


def check_2(answer):
    """Check the letters of the line that breaks the graph, and of the one that has it compiled anew."""
    return check(
        answer,
        (lambda a: isinstance(a, (list, tuple)) and len(a) == 2 and set(a) <= set("abcdef"),
         "give two letters from a to f, such as (\"a\", \"b\")"),
        (lambda a: a[0] != "c", "argmax and == give tensors: does Python look at their values?"),
        (lambda a: a[0] == "d", "which line needs the value of a tensor? `explain` names it"),
        (lambda a: a[1] == "e", "which object is longer in the next step? Print the reasons for recompiling"))


def check_3(answer, positions):
    """Check a function that gives what `positions` gives, and is compiled once for all lengths."""
    lengths = [7, 2, 3, 40, 11, 5, 19]
    inputs = [torch.randn(length, 8) for length in lengths]
    return check(
        answer,
        (callable, "put the function itself, without calling it"),
        (lambda f: all(torch.allclose(f(x), positions(x), atol=1e-5) for x in inputs),
         "uncompiled, it does not give what the original gives"),
        (lambda f: count_graphs(f, [(x,) for x in inputs], dynamic=True)[-1] == 1,
         "it is compiled more than once: does Python still loop over the length?"))


def check_4(answer):
    """Check the numbers of graphs of a training step whose learning rate changes: as a float, as a tensor."""
    return check(
        answer,
        (lambda a: isinstance(a, (list, tuple)) and len(a) == 2, "give two numbers, such as (1, 1)"),
        (lambda a: a[1] == 2, "the tensor's value is no guard: how many graphs had the step in section 7?"),
        (lambda a: a[0] > a[1], "a float is a constant of the first graph: is it the same in the second step?"),
        (lambda a: a[0] == 3, "section 2: how many graphs did five different floats cost?"))
