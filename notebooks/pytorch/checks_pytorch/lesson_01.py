"""Check the answers to the exercises of lesson 01, Compilers and interpreters."""
import copy
import functools

import torch

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check

ROWS = 200  # requests
BATCH = 32


def check_1(answer):
    """Check the numbers of loops that the compiler writes for three functions with products and without."""
    mistakes = {
        (4, 3, 4): ("counts-operators", "that is how many operators run eagerly"),
        (4, 2, 2): ("nothing-fused", "that counts each element-wise operator on its own, as if nothing were fused"),
        (1, 3, 4): ("counts-products-too", "that counts the products, too: does the compiler write a loop for them?"),
        (0, 1, 2): ("counts-products", "that counts the products, not the loops"),
        (1, 1, 1): ("one-per-function",
                    "that is one loop per function. Which operators of the second one would it hold, and could they "
                    "run one right after the other?"),
    }

    def counts(answer):
        return tuple(float(count) for count in answer)

    return check(
        answer,
        ("not-three-numbers", lambda a: len(counts(a)) == 3, "give a list of three numbers in brackets"),
        ("not-counts", lambda a: all(count >= 0 and count % 1 == 0 for count in counts(a)),
         "each is a count: a whole number"),
        *((name, lambda a, mistake=mistake: counts(a) != mistake, hint) for mistake, (name, hint) in mistakes.items()),
        ("wrong-first", lambda a: counts(a)[0] == 1,
         "the first number: which of its operators can be finished number by number?"),
        ("wrong-second", lambda a: counts(a)[1] == 2,
         "the second number: what must be finished before the product can begin, and what can only begin after it?"),
        ("wrong-third", lambda a: counts(a)[2] == 2,
         "the third number: go through it as the second, from the inside out"))


def serve_and_count(prepare, net, serve):
    """Return what `serve` answers, and three counts: graphs made by `prepare`, made by `serve`, and run by `serve`.

    The backend runs each graph as it is: nothing is made faster here.
    """
    graphs = []
    runs = []

    def backend(graph, inputs):
        def run(*args):
            runs.append(graph)
            return graph.forward(*args)

        graphs.append(graph)
        return run

    torch.compiler.reset()
    try:
        with torch._dynamo.config.patch(assume_static_by_default=True):  # an answer that was ended may have changed it
            prepared = prepare(net, backend)
            before = len(graphs)
            runs.clear()
            answers = serve(prepared)
    finally:
        torch.compiler.set_stance("default")
    return answers, {"before": before, "during": len(graphs) - before, "runs": len(runs)}


def check_2(answer, net):
    """Check a function that compiles a network so that the server need not."""
    requests = torch.randn(ROWS, 512, generator=torch.Generator().manual_seed(2))

    def serve(compiled):  # as in the lesson; the reader's own may have been changed
        return [compiled(batch) for batch in requests.split(BATCH)]

    def networks(random):
        """Yield a network as the lesson's, with other numbers."""
        other = copy.deepcopy(net).train().requires_grad_()  # the answer has had `net` already
        for each in other.parameters():
            each.data = torch.from_numpy(random.normal(size=each.shape) / each.shape[-1] ** 0.5).float()
        yield (other,)

    def use(function, network):
        return [each.clone() for each in serve_and_count(function, network, serve)[0]]

    exam = Exam(lambda net, backend: torch.compile(net, backend=backend, dynamic=True), networks, use, 1e-4, ["seeds"])

    @functools.cache
    def counted(function):
        return serve_and_count(function, net, serve)[1]

    def makes_a_network(function):
        return callable(function(net, lambda graph, inputs: graph.forward))

    def right(function):
        answers, _ = serve_and_count(function, net, serve)
        return torch.allclose(torch.cat(answers), torch.cat(serve(net)), rtol=1e-4, atol=1e-5)

    def compiles(function):
        counts = counted(function)
        return counts["before"] + counts["during"] > 0

    return check(
        answer,
        ("no-function", lambda function: callable(function) and not isinstance(function, torch.nn.Module),
         "a function such as `prepare`: its name alone, without parentheses"),
        ("no-network", makes_a_network, "it should take a network and a backend, and return a network"),
        ("other-answers", right, "its network gives other answers, or none"),
        ("nothing-compiled", compiles, "nothing is compiled with `backend`"),
        ("not-in-advance", lambda function: counted(function)["before"] > 0,
         "nothing is compiled before the first request: what does `torch.compile` do until there is a call?"),
        ("compiled-never-runs", lambda function: counted(function)["runs"] > 0,
         "something is compiled, but what your function returns never runs it"),
        ("compiles-while-serving", lambda function: counted(function)["during"] == 0,
         "one of the answers still has to wait for a compilation: what is not as in the calls before, the number of "
         "rows, or whether gradients are on?"),
        ("some-uncompiled", lambda function: counted(function)["runs"] >= len(serve(net)),
         "nothing compiles any more, but at least one of the batches is not answered by compiled code"),
        ("batch-in-pieces", lambda function: counted(function)["runs"] < 2 * len(serve(net)),
         "nothing compiles any more, but a batch is cut in pieces: each of them costs a call, and that is slower"),
        *exam.rules(),
        seconds=20)
