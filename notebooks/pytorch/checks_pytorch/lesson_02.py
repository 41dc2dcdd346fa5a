"""The rules of the checks in lesson 02, Where graphs break."""
import torch

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check
from d2lhelpers.messages import say

LENGTHS = [7, 2, 3, 30, 11, 19, 230]
LONG = 20_011
LONGER = 2_000_000  # for answers that need no loop


def positions(x):
    """Do what `positions` of exercise 3 does: the reader's own may have been changed."""
    waves = [torch.sin(torch.tensor(0.1 * row)) for row in range(len(x))]
    return x + torch.stack(waves).reshape(-1, 1)


def with_waves(x):
    """Add the waves to all rows at once: the right answer to exercise 3."""
    return x + torch.sin(0.1 * torch.arange(len(x))).reshape(-1, 1)


def rows_and_columns(random):
    """Yield few rows and many, of one column and of several."""
    for rows, columns in (2, 1), (3, 4), (int(random.integers(40, 90)), int(random.integers(2, 20))), (300, 8):
        yield (torch.from_numpy(random.normal(size=(rows, columns))).float().requires_grad_(),)


def use_uncompiled(function, x):
    """Return what the function gives, uncompiled, and the gradient."""
    with torch.compiler.set_stance("force_eager"), torch.enable_grad():
        y = function(x)
        return y, torch.autograd.grad(y.square().sum(), x)[0] if y.requires_grad else None


def count_graphs(function, calls, **options):
    """Return how many graphs there are after each call of `function`, compiled; `calls` lists its arguments."""
    graphs = []
    counts = []

    def recorder(graph, inputs):
        graphs.append(graph)
        return graph.forward

    torch.compiler.reset()
    compiled = torch.compile(function, backend=recorder, **options)
    for arguments in calls:
        compiled(*arguments)
        counts.append(len(graphs))
    return counts


def numbers(answer):
    """Return the numbers in an answer: a list, a tuple, a tensor or an array of them, or of texts."""
    return [float(number) for number in answer]


def letters(answer):
    """Return the letters in an answer, in order: a pair of them, or a text such as "a, b"."""
    return [letter for part in answer for letter in part.lower() if letter.isalpha()]


def check_1(answer, function, calls):
    """Check how many graphs there are after each of the calls, which are made here."""
    counts = count_graphs(function, calls)
    return check(
        answer,
        ("not-seven-numbers", lambda a: len(numbers(a)) == len(counts),
         say("give seven numbers, such as {example}", example=[1] * len(counts))),
        ("wrong-first-two", lambda a: numbers(a)[:2] == counts[:2],
         "the first two calls are alike: how many graphs are there after both?"),
        ("wrong-third", lambda a: numbers(a)[2] == counts[2],
         "the third call brings another size: what does the first graph hold of it?"),
        ("wrong-fourth", lambda a: numbers(a)[3] == counts[3],
         "the fourth call: PyTorch keeps its graph for 4 rows, but for which sizes is the one that 6 rows brought?"),
        ("wrong-fifth", lambda a: numbers(a)[4] == counts[4],
         "the fifth call: what has become of the if in each of the two graphs?"),
        ("wrong-sixth", lambda a: numbers(a)[5] == counts[5],
         "the sixth call: what did PyTorch know of the rows when it compiled in the fifth?"),
        ("wrong-last", lambda a: numbers(a) == counts, "the last call: is there anything special about its size?"))


def check_2(answer):
    """Check the letters of the line that breaks the graph, and of the one that has it compiled anew."""
    return check(
        answer,
        ("not-two-letters",
         lambda a: not isinstance(a, set) and len(letters(a)) == 2 and set(letters(a)) <= set("abcdef"),
         'give two letters from a to f, such as ("a", "b")'),
        ("swapped", lambda a: letters(a) != ["e", "d"], "these are the two lines, but which of them does which?"),
        ("compares-tensors", lambda a: letters(a)[0] != "c",
         "argmax and == give tensors: does Python look at their values?"),
        ("wrong-break", lambda a: letters(a)[0] == "d", "the first letter: `explain` reports another line"),
        ("wrong-recompilation", lambda a: letters(a)[1] == "e",
         "the second letter: what that line leaves behind is the same in every call. What is not?"))


def check_3(answer):
    """Check a function that gives what `positions` gives, and is compiled once for all lengths."""
    torch.manual_seed(0)
    inputs = [torch.randn(length, 8) for length in LENGTHS]
    counts = []

    def same(f, x):
        with torch.compiler.set_stance("force_eager"):
            return torch.allclose(f(x.clone()), positions(x), atol=1e-3)  # 0.1 * row, in float32

    def takes(length):
        def rule(f):
            with torch.compiler.set_stance("force_eager"):
                return f(torch.zeros(length, 8)).shape == (length, 8)
        return rule

    def keeps_argument(f):
        x = inputs[0].clone()
        with torch.compiler.set_stance("force_eager"):
            f(x)
        return torch.equal(x, inputs[0])

    def is_compiled(f):
        counts[:] = count_graphs(f, [(x,) for x in inputs], dynamic=True)
        return counts[-1] > 0

    return check(
        answer,
        ("no-function", lambda f: callable(f) and not isinstance(f, torch.Tensor),
         "put the function itself, without calling it"),
        ("other-values", lambda f: all(same(f, x) for x in inputs),
         "uncompiled, it does not give what the original gives"),
        ("limited-rows", takes(LONG),
         "the original takes any length: try yours with more rows than it has been made for"),
        ("changes-argument", keeps_argument, "it gives the right result, but it changes its argument, too"),
        ("not-compiled", is_compiled, "it is not compiled at all: the backend got no graph"),
        ("graph-breaks", lambda f: counts[0] == 1, "it is compiled in more than one piece: which line ends the first?"),
        ("graph-per-length", lambda f: len(set(counts)) < len(counts),
         "it brings a new graph for every length: what in it does Python compute anew, row by row or from "
         "the length?"),
        ("asks-for-length", lambda f: counts[-1] == 1,
         "it is compiled again for some lengths: where does it ask for the length?"),
        ("loops-when-long", lambda f: count_graphs(f, [(inputs[0],), (torch.randn(900, 8),)], dynamic=True)[-1] == 1,
         "it is compiled again for 900 rows: where does it ask for the length?"),
        ("table-too-short", takes(LONGER),
         "the original takes any length: try yours with more rows than it has been made for"),
        *Exam(with_waves, rows_and_columns, use_uncompiled, tolerance=1e-4).rules())


def check_4(answer):
    """Check the numbers of graphs of a training step whose learning rate changes: as a float, as a tensor."""
    return check(
        answer,
        ("not-two-numbers", lambda a: len(numbers(a)) == 2, "give two numbers, such as (1, 1)"),
        ("swapped", lambda a: numbers(a) != [2, 3],
         "is it not the other way round: which of the two has its value guarded?"),
        ("wrong-for-tensor", lambda a: numbers(a)[1] == 2,
         "the second of your numbers: how many graphs had the step in section 5, and is a tensor's value guarded?"),
        ("too-few-for-float", lambda a: numbers(a)[0] > 2,
         "the first of your numbers is too small: what becomes of a float in the first graph?"),
        ("too-many-for-float", lambda a: numbers(a)[0] == 3,
         "the first of your numbers is too large: what does PyTorch do with a float that has changed before?"))
