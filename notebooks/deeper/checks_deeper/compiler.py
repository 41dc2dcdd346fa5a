"""Check the answer to the exercise of the notebook A compiler in forty lines."""
import ast

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check

TWICE = [("e", "a + b"), ("f", "c + d"), ("e", "a + c"), ("g", "e + d")]  # e is computed twice
CHAIN = [("p", "a + b"), ("q", "p + 1"), ("r", "q + p"), ("s", "a + 2")]  # r needs q, which needs p
ITSELF = [("n", "a + 1"), ("m", "b"), ("n", "n + n"), ("n", "n + a")]


def lines_needed(lines, result):
    """Return the lines that a result needs: from the last one on, those whose name is read later."""
    read, kept = _names_in(result), []
    for name, expression in reversed(lines):
        if name in read:
            read = read - {name} | _names_in(expression)
            kept.insert(0, (name, expression))
    return kept


def _names_in(expression):
    return {node.id for node in ast.walk(ast.parse(expression)) if isinstance(node, ast.Name)}


def some_programs(random):
    """Yield programs, at first the shortest ones; some of their names are parts of others."""
    names = "a", "b", "x", "xx", "ab", "a1"

    def expression():
        one, other = random.choice(names, 2)
        return str(random.choice(["7", one, f"{one}.{other}", f"{one} * 2", f"{one} + {other}", f"{other}({one})"]))

    for size in range(25):
        pool = [(str(random.choice(names)), expression()) for _ in range(size // 2 + 1)]
        yield [pool[number] for number in random.integers(len(pool), size=size)], expression()


def check_1(answer):
    """Check a function (lines, result) that returns the lines that the result needs, in their order."""
    def kept(lines, result):
        """Return the numbers of the lines that the answer keeps, in its order."""
        given = list(lines)
        return [lines.index(tuple(line)) for line in answer(given, result)]

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        ("returns-nothing", lambda needed: needed(list(TWICE), "g") is not None,
         "it returns nothing: return the lines that are kept"),
        ("no-pairs", lambda _: all(tuple(line) in TWICE for line in answer(list(TWICE), "g")),
         "return lines as they were given: pairs of a name and an expression"),
        ("argument-computed", lambda _: not kept(CHAIN, "a"),
         "for the result `a` no line is needed: `a` is an argument"),
        ("reversed", lambda _: kept(CHAIN, "r + 1") != [3, 2, 1, 0] and kept(CHAIN, "r + 1") != [2, 1, 0],
         "the lines are in reverse: q must be computed before r"),
        ("dead-line-kept", lambda _: 3 not in kept(CHAIN, "r + 1"),
         "for r + 1 it keeps s = a + 2, which no line and no result reads"),
        ("needs-not-followed", lambda _: kept(CHAIN, "r + 1") != [2],
         "r reads q and p: a line that is needed makes other lines needed"),
        ("chain-wrong", lambda _: kept(CHAIN, "r + 1") == [0, 1, 2], "for r + 1 a line is missing, or is there twice"),
        ("dead-reader-counts", lambda _: kept(CHAIN, "s") == [3],
         "for s it keeps lines that only r needs: reading by a line that is dead does not count"),
        ("overwritten-line-kept", lambda _: kept(TWICE, "g") != [0, 2, 3],
         "g reads the second e: who reads the first one?"),
        ("other-lines", lambda _: kept(TWICE, "g") == [2, 3], "for g, it keeps what is not needed, or drops what is"),
        ("old-value-lost", lambda _: kept(ITSELF, "n") == [0, 2, 3],
         "a line can read the old value of the name that it sets: n = n + a needs the n before it"),
        ("one-name-alone", lambda _: kept(ITSELF, "m + n") == [0, 1, 2, 3],
         "the result may be an expression that reads several names"),
        ("equal-lines-kept", lambda f: len(list(f([("e", "a + b"), ("e", "a + b")], "e"))) == 1,
         "of two equal lines the first one is dead"),
        *Exam(lines_needed, some_programs).rules(),
    )
