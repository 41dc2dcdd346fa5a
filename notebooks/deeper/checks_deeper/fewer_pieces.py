"""Check the answer to the exercise of the notebook Fewer pieces."""
import torch

from d2lhelpers.exercises import check


def check_1(answer, clipped):
    """Check a function that gives what `clipped` gives, and becomes one graph whatever the values."""
    torch.manual_seed(0)
    direction = torch.randn(3, 5)
    direction /= direction.norm()

    def same(f, size):
        with torch.compiler.set_stance("force_eager"):
            gradient = size * direction
            return torch.allclose(f(gradient), clipped(size * direction), atol=1e-6)

    def keeps_argument(f):
        gradient = 7 * direction
        with torch.compiler.set_stance("force_eager"):
            f(gradient)
        return torch.equal(gradient, 7 * direction)

    def graphs_of(f):
        """Return how many graphs two calls make, with a large and with a small norm."""
        graphs = []

        def recorder(graph, inputs):
            graphs.append(graph)
            return graph.forward

        torch.compiler.reset()
        compiled = torch.compile(f, backend=recorder)
        for size in (3, 0.3):
            compiled(size * direction)
        return len(graphs)

    return check(
        answer,
        ("no-function", lambda f: callable(f) and not isinstance(f, torch.Tensor),
         "put the function itself, without calling it"),
        ("norm-not-one", lambda f: all(same(f, size) for size in (3, 1.5, 40)), "a norm above 1 does not become 1"),
        ("short-gradient-changed", lambda f: all(same(f, size) for size in (0.3, 0.9)),
         "a gradient with a norm below 1 should stay as it is"),
        ("zeros-fail", lambda f: same(f, 0), "try a tensor of zeros"),
        ("changes-argument", keeps_argument, "it gives the right result, but it changes its argument, too"),
        ("no-graph", lambda f: graphs_of(f) > 0, "the backend gets no graph at all: nothing of it is compiled"),
        ("several-graphs", lambda f: graphs_of(f) == 1, "it becomes more than one graph: which line asks for a value?"))
