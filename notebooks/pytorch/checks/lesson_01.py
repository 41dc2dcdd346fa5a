"""Check the answers to the exercises of lesson 01, Compilers and interpreters."""
import torch

from d2lhelpers.exercises import check


def check_1(answer):
    """Check the numbers of loops that the compiler writes for three functions with products and without."""
    return check(
        answer,
        (lambda a: len(a) == 3, "give a list of three numbers in brackets"),
        (lambda a: all(type(n) is int for n in a), "each is a count: a whole number"),
        (lambda a: a[0] == 1, "all operators of the first function are element-wise"),
        (lambda a: a[1] == 2, "a product stays a call of the library, and the ReLU before it must be finished first"),
        (lambda a: a[2] == 2, "how many groups of element-wise operators do the two products leave?"))


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


def count_compilations(prepare, net, serve):
    """Return how often `prepare` compiles the network, and how often serving does; nothing is made faster here."""
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    torch.compiler.reset()
    compiled = prepare(net, backend)
    before = len(graphs)
    serve(compiled)
    return before, len(graphs) - before


def check_3(answer, net, serve):
    """Check a function that compiles a network so that `serve` need not."""
    def right(function):
        def served(compiled):
            answers.extend(serve(compiled))

        answers = []
        count_compilations(function, net, served)
        return torch.allclose(torch.cat(answers), torch.cat(serve(net)), rtol=1e-4, atol=1e-5)

    return check(
        answer,
        (callable, "a function: its name alone, without parentheses"),
        (right, "its network gives other answers"),
        (lambda function: sum(count_compilations(function, net, serve)) > 0,
         "nothing is compiled: hand `backend` on to `torch.compile`"),
        (lambda function: count_compilations(function, net, serve)[0] > 0,
         "nothing is compiled before the first request: the first call compiles"),
        (lambda function: count_compilations(function, net, serve)[1] == 0,
         "serving still compiles: how many rows does the last batch have?"))
