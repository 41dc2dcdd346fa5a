"""Check the answer to the exercise of the notebook Fewer pieces."""
import torch

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check


def gradients(random):
    """Yield gradients of one number, of a bias, of a layer and of a convolution, long and short, and zeros."""
    for shape in (1,), (4,), (2, 3), (3, 2, 2, 2):
        for norm in 0, random.uniform(0.1, 0.9), random.uniform(1.1, 20), random.uniform(1e4, 1e5):
            numbers = random.normal(size=shape)
            yield (torch.from_numpy(numbers * norm / (numbers ** 2).sum() ** 0.5).float(),)


def use(function, gradient):
    """Call the function, without compiling it."""
    with torch.compiler.set_stance("force_eager"):
        return function(gradient)


def check_1(answer, clipped):
    """Check a function that gives what `clipped` gives, and becomes one graph whatever the values."""
    torch.manual_seed(0)
    direction = torch.randn(3, 5)
    direction /= direction.norm()

    def same(f, size):
        with torch.compiler.set_stance("force_eager"):
            gradient = size * direction
            return torch.allclose(f(gradient).double(), clipped(size * direction).double(), atol=1e-6)

    def has_type(f):
        with torch.compiler.set_stance("force_eager"):
            return all(getattr(f(direction.to(kind, copy=True)), "dtype", None) == kind
                       for kind in (torch.float32, torch.float64))

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
        ("other-type", has_type, "the result has another type than the gradient, or is no tensor"),
        ("norm-not-one", lambda f: all(same(f, size) for size in (3, 1.5, 40)), "a norm above 1 does not become 1"),
        ("short-gradient-changed", lambda f: all(same(f, size) for size in (0.3, 0.9)),
         "a gradient with a norm below 1 should stay as it is"),
        ("zeros-fail", lambda f: same(f, 0), "try a tensor of zeros"),
        ("changes-argument", keeps_argument, "it gives the right result, but it changes its argument, too"),
        ("no-graph", lambda f: graphs_of(f) > 0, "the backend gets no graph at all: nothing of it is compiled"),
        ("several-graphs", lambda f: graphs_of(f) == 1, "it becomes more than one graph: which line asks for a value?"),
        *Exam(lambda gradient: gradient / gradient.norm().clamp(min=1), gradients, use).rules())
