"""Check the answer to the exercise of the notebook A network without its class."""
import torch

from d2lhelpers.exercises import check


def check_1(answer, net):
    """Check an exported program of `net` that takes any number of rows."""
    def run(program, rows):
        return program.module()(torch.randn(rows, 512))

    def takes(program, *counts):
        """Return whether the program accepts each of these numbers of rows."""
        try:
            return all(run(program, count) is not None for count in counts)
        except (AssertionError, RuntimeError, ValueError):  # a guard of the program failed
            return False

    def agrees(program):
        data = torch.randn(3, 512)
        return torch.allclose(program.module()(data), net(data), rtol=1e-4, atol=1e-5)

    def is_unbounded(program):
        return all(values.upper > 2**40 for values in program.range_constraints.values())

    some = 2, 3, 7, 64
    return check(
        answer,
        ("module-not-program",
         lambda program: isinstance(program, torch.export.ExportedProgram) or not callable(program),
         "it is the network, or a module made of a program. The answer is what `export` itself returns"),
        ("no-program", lambda program: isinstance(program, torch.export.ExportedProgram),
         "the answer is what `export` returns"),
        ("other-input", lambda program: any(takes(program, count) for count in (1, *some)),
         "it does not take rows of 512 numbers"),
        ("one-row-alone", lambda program: any(takes(program, count) for count in some) or not takes(program, 1),
         "it takes one row, and no other number of rows"),
        ("another-constant", lambda program: sum(takes(program, count) for count in some) > 1,
         "its number of rows is still a constant, only another one"),
        ("refuses-one-row", lambda program: takes(program, 1), "it refuses one row, and one is a number of rows, too"),
        ("bounded", is_unbounded, "it has a largest number of rows: *any* number was asked for"),
        ("refuses-some-rows", lambda program: takes(program, *some, 65, 1000), "it refuses some numbers of rows"),
        ("other-answers", agrees, "it takes any number of rows, but its answers are not those of `net`"))
