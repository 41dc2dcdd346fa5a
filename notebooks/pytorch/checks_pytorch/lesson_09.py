"""Check the answers to the exercises of lesson 09, Serving a transformer."""
import numpy as np
import torch

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check
from d2lhelpers.torch.work import count_work

from .serving_09 import cache_exam, drawn, network, serving_exam, truth, use_cache

FUNCTION = "give a function: its name alone, without parentheses"
NETWORKS = (80, 64, 8, 8192, 1), (32, 32, 8, 4096, 1000), (4, 6, 2, 384, 7)  # layers, heads, kv_heads, width, tokens


def answer(net, caches, request, count):
    """Return `count` new tokens: the answer to a request whose tokens go on from `caches`."""
    scores = net(request, caches)
    found = []
    for _ in range(count):
        token = scores[:, -1:].argmax(-1)
        found.append(token)
        scores = net(token, caches)
    return torch.cat(found, dim=1)


def check_1(answer, users):
    """Check the bytes of a cache under grouped-query attention, and how many conversations fit."""
    def right(layers, heads, kv_heads, width, tokens):
        return 4 * layers * kv_heads * (width // heads) * tokens

    def differs(wrong):
        """Return a rule: the answer is not what a certain mistake would give for all networks."""
        return lambda f: any(abs(float(f(*sizes)) - wrong(*sizes)) > 0.5 for sizes in NETWORKS)

    def agrees(f, sizes):
        return abs(float(f(*sizes)) - right(*sizes)) < 0.5

    def cases(random):
        yield 1, 1, 1, 2, 1
        for _ in range(3):
            kv_heads, shared, head = random.integers(1, 9, 3).tolist()
            heads = kv_heads * shared
            yield int(random.integers(1, 99)), heads, kv_heads, heads * 16 * head, int(random.integers(1, 9999))

    def fits(compare):
        return lambda _: all(compare(float(found), most) for found, most in zip(users, (66, 8), strict=True))

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("four-byte-numbers", differs(lambda *sizes: 2 * right(*sizes)), "a number of 16 bits takes how many bytes?"),
        ("half-the-bytes", differs(lambda *sizes: right(*sizes) / 2),
         "that is half. Do you count both, keys and values, and are these numbers, not bytes?"),
        ("all-query-heads", differs(lambda layers, heads, kv_heads, width, tokens: 4 * layers * width * tokens),
         "that has a key and a value for every query head"),
        ("one-layer", differs(lambda layers, heads, kv_heads, width, tokens: right(1, heads, kv_heads, width, tokens)),
         "that is the cache of one layer"),
        ("one-token", differs(lambda layers, heads, kv_heads, width, tokens: right(layers, heads, kv_heads, width, 1)),
         "that is the cache of one token"),
        ("head-too-wide",
         differs(lambda layers, heads, kv_heads, width, tokens: 4 * layers * kv_heads * width * tokens),
         "a key of one head is not as wide as the whole network"),
        ("no-network-right", lambda f: any(agrees(f, sizes) for sizes in NETWORKS),
         "how many numbers does one token leave in one layer?"),
        ("one-network-right", lambda f: all(agrees(f, sizes) for sizes in NETWORKS),
         "right for one network, but not for the sizes of another"),
        *Exam(right, cases, tolerance=1e-9).rules(),
        ("no-users", lambda _: users is not ...,
         "the function is right. Now the two numbers, in place of the second three dots"),
        ("no-two-numbers", lambda _: len(users) == 2,
         "the function is right, but there are two numbers of conversations"),
        ("numbers-swapped", lambda _: float(users[0]) >= float(users[1]),
         "more keys and values leave less room: the other way round"),
        ("users-not-whole", lambda _: all(float(each) == int(each) for each in users),
         "a number of conversations is whole"),
        ("too-many-users", fits(lambda found, most: found <= most),
         "one of the two numbers: so many do not fit beside the weights"),
        ("too-few-users", fits(lambda found, most: found == most),
         "one of the two numbers: more fit beside the weights"),
    )


@torch.no_grad()
def check_2(answer, net):
    """Check a cache that has room for a number of tokens, and never copies what it holds; `net` is in float64."""
    generator = torch.Generator().manual_seed(9)
    heads = net.blocks[0].attention.heads
    size = net.tokens.embedding_dim // heads
    made = {}

    def fresh(tokens):
        return torch.randn(2, heads, tokens, size, generator=generator, dtype=torch.float64)

    def make(_):
        made["cache"] = answer(16)
        return all(hasattr(made["cache"], name) for name in ("append", "length"))

    def first(_):
        """Append eight tokens."""
        made["given"] = fresh(8), fresh(8)
        made["found"] = made["cache"].append(*(each.clone() for each in made["given"]))
        return len(made["found"]) == 2

    def second(_):
        """Append a ninth."""
        ninth = fresh(1), fresh(1)
        made["given"] = [torch.cat(pair, dim=2) for pair in zip(made["given"], ninth, strict=True)]
        made["found"] = made["cache"].append(*(each.clone() for each in ninth))
        return True

    def tokens(compare):
        return lambda _: all(compare(found.shape[2], given.shape[2]) for found, given in
                             zip(made["found"], made["given"], strict=True))

    def equal(_):
        return all(torch.equal(found, given) for found, given in zip(made["found"], made["given"], strict=True))

    def grows(_):
        return int(made["cache"].length) == made["given"][0].shape[2]

    def same_scores(_):
        ids = torch.randint(net.tokens.num_embeddings, (2, 16), generator=generator)
        caches = [answer(16) for _ in net.blocks]
        parts = [net(ids[:, :6], caches)]
        for place in range(6, 16):
            parts.append(net(ids[:, place:place + 1], caches))
        return (torch.cat(parts, dim=1) - net(ids)).abs().max() < 1e-9

    def each_token(_):
        """Append as many tokens as there is room for, one by one."""
        cache = answer(16)
        made["returned"] = [cache.append(fresh(1), fresh(1)) for _ in range(16)]
        return True

    def stays(_):
        """Return whether all that was returned lies in the memory of the first, in a larger cache, too."""
        cache = answer(40)
        larger = [cache.append(fresh(1), fresh(1)) for _ in range(40)]
        return all(len({each[half].untyped_storage().data_ptr() for each in found}) == 1
                   for found in (made["returned"], larger) for half in (0, 1))

    def small(_):
        """Return whether the memory is no larger than the room."""
        memory = {each.untyped_storage().data_ptr(): each.untyped_storage().nbytes() for each in made["returned"][-1]}
        return sum(memory.values()) < 1.5 * sum(each.nbytes for each in made["returned"][-1])

    def on_device(_):
        """Return whether it works where the keys are: on a device that needs no memory."""
        found = answer(4).append(*torch.empty(2, 1, 2, 3, 4, device="meta"))
        return all(each.device.type == "meta" for each in found)

    def moved(held, room):
        """Return the bytes that are moved to append one token to so many, in a cache with so much room."""
        cache = answer(room)
        cache.append(fresh(held), fresh(held))
        token = fresh(1)
        return count_work(lambda: cache.append(token, token)).bytes

    def takes_any(_):
        keys, values = torch.ones(2, 3, heads + 1, 2, 5)  # three rows, in float32
        return answer(4).append(keys, values)[0].dtype == torch.float32

    def refuses(_):
        return use_cache(answer, 16, [(fresh(16), fresh(16)), (fresh(1), fresh(1))])[1][0] == "an error"

    def shape(which):
        """Return the rules for how many tokens the first or the second `append` returns."""
        return (
            (f"{which}-empty-places", tokens(lambda found, given: found <= given),
             "`append` returns more than it was given: attention would look at places that are still empty"),
            (f"{which}-tokens-missing", tokens(lambda found, given: found >= given),
             "`append` returns keys and values of all tokens so far, not only part of them"),
        )

    return check(
        answer,
        ("no-class", callable, "give a class, or a function that makes a cache: called with the room, it returns one"),
        ("no-append", make, "what it makes has no `append` or no `length`"),
        ("length-not-zero", lambda _: int(made["cache"].length) == 0,
         "the length of an empty cache is 0, whatever room it has: the GPT takes the next token's place from it"),
        ("no-two-tensors", first, "`append` returns two tensors"),
        *shape("first"),
        ("other-type", lambda _: all(found.dtype == torch.float64 for found in made["found"]),
         "it returns numbers of another type than it was given"),
        ("length-stays", grows, "eight tokens were appended, but its length does not grow to 8"),
        ("other-values", equal, "what it returns are not those of all tokens so far"),
        ("second-append-fails", second, "it failed at the ninth token"),
        *shape("second"),
        ("second-other-values", equal, "after a second append, what it returns are not those of all tokens so far"),
        ("second-length-stays", grows, "nine tokens were appended, but its length does not grow to 9"),
        ("refuses-too-early", each_token, "there is room for 16 tokens, but it fails before the sixteenth is in"),
        ("shared-buffer", same_scores,
         "alone it is right, but with one per block the scores are wrong: do they share what they hold?"),
        ("fixed-shape", takes_any, "right for two rows in float64, but not for three rows in float32"),
        ("copies-tokens", lambda _: moved(200, 256) <= 1.5 * moved(8, 256),
         "one token moves more bytes the more there are: it still copies what it holds"),
        ("copies-room", lambda _: moved(8, 256) <= 1.5 * moved(8, 16),
         "one token moves more bytes the more room there is: it copies even the empty places"),
        ("takes-memory-again", stays, "it takes new memory as tokens come: what it returned first lies elsewhere"),
        ("too-much-memory", small, "it takes more memory than its room needs"),
        ("other-device", on_device,
         "its memory is not on the device of the keys: try tensors on the device \"meta\", which need none"),
        ("silent-overflow", refuses, "a token for which there was no room was lost without an error"),
        *cache_exam().rules(),
    )


@torch.no_grad()
def check_3(answer):
    """Check a server whose requests share a system prompt that is computed once."""
    net = network(3)
    count = 8
    made = {}
    system, *requests = drawn(np.random.default_rng(4), 24, 5, 7, 2)

    def run(_):
        made["right"] = truth(net, system, requests, count)
        made["work"] = count_work(lambda: made.update(found=answer(net, system, list(requests), count))).flops
        return len(made["found"]) == len(requests)

    def right(which):
        return torch.equal(torch.as_tensor(made["found"][which]).flatten(), made["right"][which].flatten())

    weights = sum(each.weight.numel() for each in net.modules() if isinstance(each, torch.nn.Linear))
    tokens = system.shape[1] + sum(request.shape[1] + count for request in requests)
    budget = 1.45 * 2 * weights * tokens           # with attention; the wasteful ones need twice as much

    return check(
        answer,
        ("no-function", callable, FUNCTION),
        ("answers-missing", run, "it returns as many answers as requests"),
        ("other-token-count", lambda _: all(torch.as_tensor(each).numel() == count for each in made["found"]),
         "an answer is one tensor of new tokens, `count` of them"),
        ("first-wrong", lambda _: right(0), "not even the first answer is that of the system prompt and the request"),
        ("second-wrong", lambda _: right(1), "the first answer is right, the second is not"),
        ("third-wrong", lambda _: right(2), "two requests are right, the third is not"),
        ("prompt-recomputed", lambda _: made["work"] < budget,
         "all answers are right, but the system prompt is computed again, and was to be computed once"),
        *serving_exam().rules(),
    )
