"""Check the answer to the exercise of the notebook Speculative decoding."""
import numpy as np
import torch

from d2lhelpers.examine import Exam, draw_seed
from d2lhelpers.exercises import check
from d2lhelpers.plain import difference, plain

TOLERANCE = 1e-6  # of probabilities: those computed in float32 are right, too


def share(weights):
    """Return weights as probabilities."""
    return weights / weights.sum()


def accept(p, q, guesses, luck):
    """Return how many guesses are kept, and the probabilities of the next token: the right answer."""
    kept = before_first(False, passes(p, q, guesses, luck))
    return kept, share(torch.relu(p[kept] - q[kept])) if kept < len(q) else p[kept]


def before_first(value, values):
    """Return how many values there are before the first that is `value`; all if there is none."""
    return values.index(value) if value in values else len(values)


def passes(p, q, guesses, luck):
    """Return for each guess whether it passes, whatever becomes of the others."""
    rows = torch.arange(len(guesses))
    return (luck * q[rows, guesses] < p[rows, guesses]).tolist()


def drawn(random, gamma, tokens):
    """Return probabilities of both networks at so many places, with guesses and random numbers."""
    p = torch.from_numpy(random.dirichlet(np.ones(tokens), gamma + 1))
    q = torch.from_numpy(random.dirichlet(np.ones(tokens), gamma)).reshape(gamma, tokens)
    return p, q, guessed(random, q), torch.from_numpy(random.random(gamma))


def guessed(random, q):
    """Return one token per row, drawn from the row."""
    return torch.tensor([int(random.choice(len(row), p=row)) for row in q.numpy()], dtype=torch.long)


def near(p, q):
    """Return a draft's probabilities, nearer to the target's than `q`."""
    return 0.8 * p[:-1] + 0.2 * q


def cases(random):
    """Yield arguments: no guess, one, a draft that is the target, one that is never right, and others."""
    yield drawn(random, 0, 3)
    yield drawn(random, 1, 2)
    for gamma, tokens in (2, 2), (3, 4), (7, 40), (int(random.integers(2, 7)), int(random.integers(3, 9))):
        p, q, guesses, luck = drawn(random, gamma, tokens)
        yield p, q, guesses, luck
        yield p, near(p, q), guessed(random, near(p, q)), luck
    p, q, _, luck = drawn(random, int(random.integers(6, 10)), 7)
    yield p.clone(), p[:-1].clone(), guessed(random, p[:-1]), luck  # all are kept
    even = torch.arange(7) % 2 == 0
    rows = torch.arange(len(luck))
    other_q = drawn(random, len(luck), 7)[1]
    often = guessed(random, other_q)
    limits = (p[rows, often] / other_q[rows, often]).clamp(max=0.99)
    for factor in 0.9999, 1.0001:  # random numbers just below the ratios, and just above
        yield p.clone(), other_q.clone(), often.clone(), limits * factor
    odd_p, even_q = [each / each.sum(1, keepdim=True) for each in (p * ~even, q * even)]
    yield odd_p, even_q, guessed(random, even_q), luck  # none is
    for place in 5, len(q) - 1:  # all before this one are
        mixed_p, mixed_q = p.clone(), p[:-1].clone()
        mixed_p[place], mixed_q[place] = odd_p[place], even_q[place]
        yield mixed_p, mixed_q, guessed(random, mixed_q), luck


def more_cases(random):
    """Return the cases with at least one guess, and many others."""
    return [case for case in cases(random) if len(case[2])] + [drawn(random, 4, 6) for _ in range(40)]


def number_kept(function, *arguments):
    """Return how many guesses an answer keeps."""
    return function(*arguments)[0]


def check_1(answer):
    """Check a function that keeps drawn guesses, and returns their number and the next token's probabilities."""
    random = np.random.default_rng(draw_seed())
    asked = [drawn(random, 4, 6) for _ in range(40)]
    for p, _, _, luck in asked[:8]:
        asked.append((p, p[:-1].clone(), guessed(random, p[:-1]), luck))  # all are kept
    right = [accept(*case)[0] for case in asked]
    given = []
    returned = []

    def is_pair(_):
        """Ask in all cases; return whether each gives a whole number and as many probabilities as there are tokens."""
        for case in asked:
            returned.append(answer(*[each.clone() for each in case]))
            number, left = plain(returned[-1])
            given.append((number, np.asarray(left, dtype=float)))
        return all(number == int(number) >= 0 and left.shape == (6,) for number, left in given)

    def numbers(luck=None):
        """Return how many guesses the answer keeps in all cases if it is asked again, perhaps with other luck."""
        found = []
        for p, q, guesses, own in asked:
            chosen = own.clone() if luck is None else torch.full_like(own, luck)
            found.append(plain(answer(p.clone(), q.clone(), guesses.clone(), chosen))[0])
        return found

    def number_is_not(mistake):
        """Return a rule: the numbers of guesses are not all those of a mistake."""
        return lambda _: [number for number, _ in given] != [mistake(*case) for case in asked]

    def with_ratio(ratio):
        """Return the mistake of comparing another ratio with the random number."""
        def kept(p, q, guesses, luck):
            rows = torch.arange(len(guesses))
            return before_first(False, (luck < ratio(p[rows, guesses], q[rows, guesses])).tolist())
        return kept

    def left_is_not(mistake):
        """Return a rule: where a guess is rejected, the probabilities are not those of a mistake."""
        def rule(_):
            for (p, q, guesses, _), (_, left), kept in zip(asked, given, right, strict=True):
                if kept < 4 and difference(left, plain(mistake(p, q, kept, guesses)), TOLERANCE):
                    return True
            return False
        return rule

    def without(p, q, kept, guesses):
        left = p[kept].clone()
        left[guesses[kept]] = 0
        return share(left)

    def after_all(_):
        """Return whether the probabilities are right where all guesses are kept."""
        for gamma in range(1, 5):
            p, _, guesses, luck = drawn(random, gamma, 6)
            if difference(plain(answer(p, p[:-1].clone(), guesses, luck)[1]), plain(p[-1]), TOLERANCE):
                return False
        return True

    return check(
        answer,
        ("no-function", callable, "give a function: its name alone, without parentheses"),
        ("no-pair", is_pair, "it returns a number of guesses, and a probability for each token"),
        ("not-repeatable", lambda _: numbers() == [number for number, _ in given],
         "called again with the same arguments, it keeps another number of guesses"),
        ("one-buffer", lambda _: all(difference(plain(now)[1], left) is None for now, (_, left) in
                                     zip(returned, given, strict=True)),
         "when it is called again, it changes what it returned before"),
        ("keeps-all", number_is_not(lambda *case: 4), "it keeps every guess"),
        ("keeps-none", number_is_not(lambda *case: 0), "it keeps no guess"),
        ("ignores-luck", lambda _: numbers(luck=0.0) != numbers(luck=0.9999), "whatever `luck` is, it keeps as many"),
        ("counts-later-guesses", number_is_not(lambda *case: sum(passes(*case))),
         "after which tokens did the draft make the guesses that come after a rejected one?"),
        ("all-or-nothing", number_is_not(lambda *case: 4 * all(passes(*case))),
         "a guess that is rejected says nothing about those before it"),
        ("counts-new-token", number_is_not(lambda *case: accept(*case)[0] + 1),
         "that is how many tokens the call gives: the last of them is no guess"),
        ("one-too-many", number_is_not(lambda *case: min(accept(*case)[0] + 1, 4)),
         "a guess that is rejected does not count as kept"),
        ("ratio-upside-down", number_is_not(with_ratio(lambda p, q: q / p)),
         "it rejects guesses that the draft underrates, and keeps those that it overrates"),
        ("luck-upside-down", number_is_not(lambda *case: before_first(True, passes(*case))),
         "it keeps a guess where it is to be rejected"),
        ("ignores-q", number_is_not(with_ratio(lambda p, q: p)), "it matters, too, how likely the draft's guess was"),
        *Exam(accept, more_cases, number_kept).rules(),
        ("next-from-p", left_is_not(lambda p, q, kept, _: p[kept]),
         "where a guess is rejected, tokens get another chance that were kept often enough as guesses"),
        ("next-from-q", left_is_not(lambda p, q, kept, _: q[kept]),
         "where a guess is rejected, these are the draft's probabilities"),
        ("without-rejected", left_is_not(without), "other tokens, too, were kept as guesses already: how often?"),
        ("what-q-has-more", left_is_not(lambda p, q, kept, _: share(torch.relu(q[kept] - p[kept]))),
         "where a guess is rejected, these are the tokens that come too often already"),
        ("any-difference", left_is_not(lambda p, q, kept, _: share((p[kept] - q[kept]).abs())),
         "where a guess is rejected, some of these tokens come too often already"),
        ("softmax-again", left_is_not(lambda p, q, kept, _: torch.relu(p[kept] - q[kept]).softmax(0)),
         "where a guess is rejected, even a token that comes often enough already gets a chance"),
        ("other-row", left_is_not(lambda p, q, kept, _: share(torch.relu(p[kept + 1] - q[min(kept + 1, 3)]))),
         "where a guess is rejected, the next token comes in its place, not after it"),
        ("last-row", left_is_not(lambda p, q, kept, _: share(torch.relu(p[kept] - q[3]))),
         "where a guess is rejected, the draft's probabilities at that place count, not those at the last one"),
        ("all-kept", after_all, "where all guesses are kept, these are not the next token's probabilities"),
        ("not-probabilities", lambda _: all(left.min() > -TOLERANCE and abs(left.sum() - 1) < 6 * TOLERANCE
                                            for _, left in given),
         "what it returns are no probabilities: is one negative, or their sum not 1?"),
        *Exam(accept, cases, tolerance=TOLERANCE).rules(),
    )
