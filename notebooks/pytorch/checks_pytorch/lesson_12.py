"""Check the answers to the exercises of lesson 12, A serving engine."""
from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check
from d2lhelpers.torch.engine import Pages

from .engine_12 import pages_exam, policy_exam, run_policy, serve

FUNCTION = "give a function: its name alone, without parentheses"
SERVERS = (16, 64, 48, 16, 9), (32, 100, 40, 16, 20), (8, 33, 32, 16, 5)  # budget, prompt, same, size, count


def check_1(answer):
    """Check how many users can come per unit of time before the queue grows without end."""
    def right(budget, prompt, same, size, count):
        return budget / (prompt - min(same, prompt - 1) // size * size + count - 1)

    def differs(wrong):
        """Return a rule: the answer is not what a certain mistake would give for all servers."""
        return lambda f: any(abs(float(f(*server)) - wrong(*server)) > 1e-9 for server in SERVERS)

    def cases(random):
        yield 16, 16, 16, 16, 1
        yield 1, 1, 0, 16, 1
        yield 64, 20, 16, 16, 2  # many users per unit of time, and the first tokens end where a page ends
        for _ in range(5):
            budget, prompt, size, count = (int(each) for each in random.integers((1, 1, 1, 1), (64, 200, 33, 99)))
            yield budget, prompt, int(random.integers(0, prompt + 1)), size, count

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("last-token-computed", differs(lambda budget, prompt, same, size, count:
         budget / (prompt - min(same, prompt - 1) // size * size + count)), "who computes the keys of the last token?"),
        ("nothing-shared", differs(lambda budget, prompt, same, size, count: budget / (prompt + count - 1)),
         "that is right if no page is shared"),
        ("parts-of-pages", differs(lambda budget, prompt, same, size, count: budget / (prompt - same + count - 1)),
         "a page that is not full is not shared"),
        ("prompt-alone", differs(lambda budget, prompt, same, size, count:
         budget / max(1, prompt - min(same, prompt - 1) // size * size)), "the tokens of the answer cost, too"),
        ("answer-alone", differs(lambda budget, prompt, same, size, count: budget / max(1, count - 1)),
         "and the prompt?"),
        ("upside-down", differs(lambda *server: 1 / right(*server)), "that is the time per user"),
        *Exam(right, cases).rules())


def check_2(answer):
    """Check a policy that gives each user whose answer has begun a token in every pass."""
    def within(policy):
        work = run_policy(policy, [(0, 9, 3), (0, 9, 3), (0, 2, 5)], 4)
        return all(sum(count for _, count in each["decode"] + each["prompts"]) <= 4 for each in work)

    def every_pass(policy):  # the second one's answer begins in pass 0; the first one comes in pass 1
        work = run_policy(policy, [(1, 20, 2), (0, 2, 4)], 4)
        return all(each["decode"] for each in work[1:4])

    def not_wasted(policy):
        users = [(0, 30, 2), (0, 30, 2), (0, 30, 2)]
        work = run_policy(policy, users, 8)
        return all(sum(count for _, count in each["decode"] + each["prompts"]) == 8 for each in work[:10])

    def in_order(policy):  # a short prompt stands behind a long one
        first = run_policy(policy, [(0, 9, 2), (0, 1, 2)], 4)[0]
        return first["prompts"] == [(0, 4)]

    def some_token(policy):
        first = run_policy(policy, [(0, 9, 2), (0, 1, 2)], 4)[0]
        return all(count > 0 for _, count in first["prompts"])

    def left_alone(policy):
        return all(each["unchanged"] for each in run_policy(policy, [(1, 9, 2), (0, 1, 5)], 4))

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("over-budget", within, "some pass has more tokens than the budget"),
        ("stops-an-answer", every_pass, "a prompt of 20 tokens comes first in importance, while another user's answer "
         "has begun: is that user in every pass?"),
        ("budget-unused", not_wasted, "three prompts are waiting, and some of the budget stays unused"),
        ("no-token", some_token, "a user is in a pass without a token: leave it out, the engine cannot compute that"),
        ("out-of-order", in_order, "among prompts, the order of `users` counts"),
        ("changes-users", left_alone, "it changes the list `users`, which the engine goes on using"),
        *policy_exam().rules())


def check_3(answer):
    """Check pages that may be shared in the pass that fills them."""
    prompt = [each * each % 397 for each in range(40)]

    def twice(make, most, seed=0):
        return serve(make, seed, (32, 16, most), [(0, prompt, 9), (0, prompt, 9)])

    def shares(make):
        return twice(make, 100)["computed"] < twice(Pages, 100)["computed"]

    def right_tokens(make):
        return all(twice(make, 8, seed)["tokens"] == twice(Pages, 8, seed)["tokens"] for seed in range(4))

    return check(
        answer,
        ("no-class", callable, "give a class, or a function that is called as a class is"),
        ("wrong-tokens", right_tokens, "two users have one question, and 8 tokens each per pass: they get other tokens "
         "than alone. Which places of its pages does the second one read, and who has written them?"),
        ("shares-later", shares, "two users with one question come at the same moment: both compute all of it"),
        *pages_exam().rules(), seconds=10)
