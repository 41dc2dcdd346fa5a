# %% 1 right. Counted as a loop over pages would; the result is a tensor.
def answer_1(budget, prompt, same, size, count):
    computed = 0
    while computed + size <= same and computed + size < prompt:
        computed += size
    cost = prompt - computed
    cost += count - 1
    return torch.tensor(budget / cost, dtype=torch.float64)

# %% 1 right. Exact fractions, and the time per user first.
from fractions import Fraction
def answer_1(budget, prompt, same, size, count):
    pages = min(same // size, (prompt - 1) // size)
    return 1 / (Fraction(prompt - pages * size + count - 1) / budget)

# %% 1 wrong, each line
answer_1 = lambda budget, prompt, same, size, count: budget / (prompt - same // size * size + count)  # last-token-computed
answer_1 = lambda budget, prompt, same, size, count: budget / (prompt + count - 1)  # nothing-shared
answer_1 = lambda budget, prompt, same, size, count: budget / (prompt - same + count - 1)  # parts-of-pages
answer_1 = lambda budget, prompt, same, size, count: budget / (prompt - same // size * size)  # prompt-alone
answer_1 = lambda budget, prompt, same, size, count: budget / (count - 1)  # answer-alone
answer_1 = lambda budget, prompt, same, size, count: (prompt - same // size * size + count - 1) / budget  # upside-down
# One token stays pending, even if the whole prompt is known.
answer_1 = lambda budget, prompt, same, size, count: budget / max(1, prompt - same // size * size + count - 1)  # wrong-result
# Right by luck: pages of 16 tokens.
answer_1 = lambda budget, prompt, same, size, count: budget / (prompt - min(same, prompt - 1) // 16 * 16 + count - 1)  # wrong-result
# A page too many, which is not full.
answer_1 = lambda budget, prompt, same, size, count: budget / max(1, prompt - -(-same // size) * size + count - 1)  # wrong-result
# Whole units of time for each user.
answer_1 = lambda budget, prompt, same, size, count: budget // (prompt - min(same, prompt - 1) // size * size + count - 1)  # wrong-result
# Passes of a user alone, and not tokens.
answer_1 = lambda budget, prompt, same, size, count: 1 / (-(-(prompt - min(same, prompt - 1) // size * size) // budget) + count - 1)  # wrong-result
# A page that ends with the common tokens is full, too.
answer_1 = lambda budget, prompt, same, size, count: budget / (prompt - max(0, same - 1) // size * size + count - 1)  # wrong-result
# More than one user may come per unit of time.
answer_1 = lambda budget, prompt, same, size, count: min(1, budget / (prompt - min(same, prompt - 1) // size * size + count - 1))  # wrong-result
answer_1 = lambda budget, prompt, same, size, count: 0.64  # wrong-result
answer_1 = 0.64  # no-function

# %% 2 right. Sorted: whoever has begun comes first, otherwise in order; the sort keeps the order of equals.
def answer_2(users, budget):
    work = []
    for user in sorted(users, key=lambda user: not user.times):
        count = min(budget, user.pending)
        if count > 0:
            work.append((user, count))
            budget -= count
    return work

# %% 2 right. Yields, and knows the decoding users by their number of tokens.
def answer_2(users, budget):
    waiting = []
    for user in users:
        if len(user.times) >= 1:
            budget -= 1
            yield user, 1
        else:
            waiting.append(user)
    while waiting and budget:
        user = waiting.pop(0)
        count = min(user.pending, budget)
        budget -= count
        yield user, count

# %% 2 right. Token by token, and the decoding users last.
from collections import Counter
def answer_2(users, budget):
    begun = [user for user in users if user.times]
    wishes = [user for user in users if not user.times for _ in range(user.pending)]
    return list(Counter(wishes[:budget - len(begun)]).items()) + [(user, user.pending) for user in begun]

# %% 2 wrong: no-token. Prompts for which nothing is left are in the pass, with no token; the engine fails.
def answer_2(users, budget):
    work = [(user, 1) for user in users if user.times]
    left = budget - len(work)
    for user in users:
        if not user.times:
            count = min(user.pending, left)
            work.append((user, count))
            left -= count
    return work

# %% 2 wrong: changes-users. Sorts the engine's own list, and so loses the order for all passes.
def answer_2(users, budget):
    users.sort(key=lambda user: not user.times)
    return budgeted(users, budget)

# %% 2 wrong: stops-an-answer. The lesson's own.
def answer_2(users, budget):
    return budgeted(users, budget)

# %% 2 wrong: out-of-order. Those with the fewest pending tokens first: short prompts overtake long ones.
def answer_2(users, budget):
    return budgeted(sorted(users, key=lambda user: user.pending), budget)

# %% 2 wrong: out-of-order. One pending token is taken for an answer that has begun.
def answer_2(users, budget):
    return budgeted(sorted(users, key=lambda user: user.pending != 1), budget)

# %% 2 wrong: over-budget. Decoding users do not count.
def answer_2(users, budget):
    work = [(user, 1) for user in users if user.times]
    return work + budgeted([user for user in users if not user.times], budget)

# %% 2 wrong: over-budget. Each prompt gets as much as the budget.
def answer_2(users, budget):
    return [(user, min(user.pending, budget)) for user in users]

# %% 2 wrong: budget-unused. One prompt at a time, although its last part may be short; an eighth of the budget at most.
def answer_2(users, budget):
    work = [(user, 1) for user in users if user.times]
    prompts = [user for user in users if not user.times]
    left = min(budget - len(work), 4)
    return work + budgeted(prompts[:1], left)

# %% 2 wrong: budget-unused. One prompt at a time: what is left when it ends is lost.
def answer_2(users, budget):
    work = [(user, 1) for user in users if user.times]
    prompts = [user for user in users if not user.times]
    return work + budgeted(prompts[:1], budget - len(work))

# %% 2 wrong: budget-unused. No prompt while anybody decodes.
def answer_2(users, budget):
    work = [(user, 1) for user in users if user.times]
    return work or budgeted(users, budget)

# %% 2 wrong: stops-an-answer. Right for the first users that it sees, and for those alone.
known = []
def answer_2(users, budget):
    known[:] = known or users
    work = [(user, 1) for user in users if user.times]
    return work + budgeted([user for user in users if not user.times and user in known], budget - len(work))

# %% 2 wrong: wrong-result. Prompts from behind.
def answer_2(users, budget):
    work = [(user, 1) for user in users if user.times]
    rest = [user for user in users if not user.times]
    return work + budgeted(rest[:1] + rest[:0:-1], budget - len(work))

# %% 2 wrong: over-budget. A prompt gets one token at least.
def answer_2(users, budget):
    work = [(user, 1) for user in users if user.times]
    left = budget - len(work)
    for user in users:
        if not user.times:
            count = max(1, min(user.pending, left))
            work.append((user, count))
            left -= count
    return work

# %% 2 wrong: endless
def answer_2(users, budget):
    while True:
        pass

# %% 2 wrong: no-function
answer_2 = [1, 2]

# %% 3 right. The same, but only the pages that this pass fills are looked at.
class Later(Pages):
    def make_room(self, request, tokens):
        first = request.computed // self.size
        if not super().make_room(request, tokens):
            return False
        end = request.computed + tokens
        for number, page in enumerate(request.pages):
            stop = (number + 1) * self.size
            if number >= first and stop <= end and tuple(request.tokens[:stop]) not in self.known:
                self.known[tuple(request.tokens[:stop])] = page
        return True

answer_3 = Later

# %% 3 right. `remember` does it already, if it is told how far this pass gets.
class Ahead(Pages):
    def make_room(self, request, tokens):
        fits = super().make_room(request, tokens)
        if fits:
            request.computed += tokens
            self.remember(request)
            request.computed -= tokens
        return fits

def answer_3(*arguments, **options):
    return Ahead(*arguments, **options)

# %% 3 right. The newest page of two equal ones is known.
class Newest(Pages):
    def make_room(self, request, tokens):
        fits = super().make_room(request, tokens)
        if fits:
            for stop in range(self.size, request.computed + tokens + 1, self.size):
                self.known[tuple(request.tokens[:stop])] = request.pages[stop // self.size - 1]
        return fits

    def remember(self, request):
        pass

answer_3 = Newest

# %% 3 right. Notes how far each page is filled, and looks only for full ones.
class Filled(EarlyPages):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.until = {}

    def make_room(self, request, tokens):
        fits = super().make_room(request, tokens)
        if fits:
            end = request.computed + tokens
            for number, page in list(enumerate(request.pages))[request.computed // self.size:]:
                self.until[page] = min(self.size, end - number * self.size)
        return fits

    def share(self, request):
        known = self.known
        self.known = {start: page for start, page in known.items() if self.until.get(page) == self.size}
        super().share(request)
        self.known = known

answer_3 = Filled

# %% 3 wrong: shares-later. The lesson's own.
answer_3 = Pages

# %% 3 wrong: wrong-tokens. The mistake itself.
answer_3 = EarlyPages

# %% 3 wrong: wrong-tokens. All but the last page, which may be full or not: the one before it may be still empty.
class Last(Pages):
    def make_room(self, request, tokens):
        fits = super().make_room(request, tokens)
        for number, page in enumerate(request.pages if fits else []):
            if (number + 1) * self.size <= len(request.tokens):
                self.known.setdefault(tuple(request.tokens[:(number + 1) * self.size]), page)
        return fits

answer_3 = Last

# %% 3 wrong: shares-later. What was computed before this pass.
class Before(Pages):
    def make_room(self, request, tokens):
        fits = super().make_room(request, tokens)
        for number in range(request.computed // self.size if fits else 0):
            self.known.setdefault(tuple(request.tokens[:(number + 1) * self.size]), request.pages[number])
        return fits

answer_3 = Before

# %% 3 wrong: wrong-result. Found by the tokens of the page alone, whatever was before.
class OwnTokens(Pages):
    def make_room(self, request, tokens):
        fits = super().make_room(request, tokens)
        for number in range((request.computed + tokens) // self.size if fits else 0):
            end = (number + 1) * self.size
            self.known.setdefault(tuple(request.tokens[end - self.size:end]), request.pages[number])
        return fits

    def share(self, request):
        for end in range(request.computed + self.size, len(request.tokens), self.size):
            page = self.known.get(tuple(request.tokens[end - self.size:end]))
            if page is None or len(request.pages) * self.size != request.computed:
                return
            if not self.users[page]:
                self.free.remove(page)
            self.users[page] += 1
            request.pages.append(page)
            request.computed = end

answer_3 = OwnTokens

# %% 3 wrong: wrong-result. Nobody counts who uses a page: it is free as soon as the first one is done.
class NoCount(Pages):
    def make_room(self, request, tokens):
        fits = super().make_room(request, tokens)
        for number in range((request.computed + tokens) // self.size if fits else 0):
            self.known.setdefault(tuple(request.tokens[:(number + 1) * self.size]), request.pages[number])
        return fits

    def share(self, request):
        before = list(self.users)
        super().share(request)
        self.users = [max(1, count) if now else count for count, now in zip(before, self.users)]

    def give_back(self, request):
        for page in request.pages:
            if page not in self.free:
                self.users[page] = 0
                self.free.append(page)
        request.pages = []
        request.computed = 0

answer_3 = NoCount

# %% 3 wrong: shares-later. Right tokens, because nothing is ever shared.
class Alone(Pages):
    def share(self, request):
        pass

answer_3 = Alone

# %% 3 wrong: wrong-result. Only the first page is known early.
class First(Pages):
    def make_room(self, request, tokens):
        fits = super().make_room(request, tokens)
        if fits and request.computed + tokens >= self.size:
            self.known.setdefault(tuple(request.tokens[:self.size]), request.pages[0])
        return fits

answer_3 = First

# %% 3 wrong: wrong-result. A token too few: a page of which one place is empty.
class Early(Pages):
    def make_room(self, request, tokens):
        fits = super().make_room(request, tokens)
        for number in range(min((request.computed + tokens + 1) // self.size, len(request.pages)) if fits else 0):
            self.known.setdefault(tuple(request.tokens[:(number + 1) * self.size]), request.pages[number])
        return fits

answer_3 = Early

# %% 3 wrong: wrong-result. A token too many: the page that ends with this pass is full.
class Late(Pages):
    def make_room(self, request, tokens):
        fits = super().make_room(request, tokens)
        for number in range((request.computed + tokens - 1) // self.size if fits else 0):
            self.known.setdefault(tuple(request.tokens[:(number + 1) * self.size]), request.pages[number])
        return fits

answer_3 = Late

# %% 3 wrong: wrong-result. Prompts that are read in pieces fill pages, too.
class Whole(Pages):
    def make_room(self, request, tokens):
        fits = super().make_room(request, tokens)
        for number in range(len(request.tokens) // self.size if tokens == len(request.tokens) else 0 if fits else 0):
            self.known.setdefault(tuple(request.tokens[:(number + 1) * self.size]), request.pages[number])
        return fits

answer_3 = Whole

# %% 3 wrong: wrong-result. Pages of this piece, and not of the text.
class Piece(Pages):
    def make_room(self, request, tokens):
        fits = super().make_room(request, tokens)
        for number in range(tokens // self.size if fits else 0):
            self.known.setdefault(tuple(request.tokens[:(number + 1) * self.size]), request.pages[number])
        return fits

answer_3 = Piece

# %% 3 wrong: wrong-result. A piece that is as long as a page may still end within one.
class Long(Pages):
    def make_room(self, request, tokens):
        fits = super().make_room(request, tokens)
        for number in range(min(len(request.tokens) // self.size, len(request.pages)) if tokens >= self.size else 0 if fits else 0):
            self.known.setdefault(tuple(request.tokens[:(number + 1) * self.size]), request.pages[number])
        return fits

answer_3 = Long

# %% 3 wrong: wrong-result. Known although there was no room, so that nothing fills it.
class NoRoom(Pages):
    def make_room(self, request, tokens):
        fits = super().make_room(request, tokens)
        for number in range(min((request.computed + tokens) // self.size, len(request.pages))):
            self.known.setdefault(tuple(request.tokens[:(number + 1) * self.size]), request.pages[number])
        return fits

answer_3 = NoRoom

# %% 3 wrong: wrong-result. Written anew, without the line that forgets pages which get another user.
class Unforgotten(Pages):
    def make_room(self, request, tokens):
        end = request.computed + tokens
        missing = -(-end // self.size) - len(request.pages)
        if missing > len(self.free):
            return False
        for _ in range(missing):
            page = self.free.pop(0)
            self.users[page] = 1
            request.pages.append(page)
        for number in range(end // self.size):
            self.known.setdefault(tuple(request.tokens[:(number + 1) * self.size]), request.pages[number])
        return True

answer_3 = Unforgotten

# %% 3 wrong: no-class
answer_3 = "a page that is half full"
