import ast
import itertools
import json
import random
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from lessons import source_of

from editions import browser as browsers
from editions import folders, lessons, translations
from editions.site import book, pages

MODELS = pages.SOURCE / "models"
PLACES = json.loads((MODELS / "models.json").read_text(encoding="utf-8"))
SKIP = -1  # the last button opens a model without a prediction


def functions(text, /, *names, **given):
    """Return what a text defines; with names, run only the definitions of these functions. It may use what is given."""
    tree = ast.parse(text)
    if names:
        tree.body = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name in names]
    exec(compile(tree, "lesson", "exec"), given)
    return given


@pytest.fixture
def model(browser):
    """Return a function that computes with a model's function in the browser: all its results for a grid of inputs."""
    page = browsers.new_page(browser)

    def computed(name, function, grid):
        for script in ("models", name):
            page.add_script_tag(path=MODELS / f"{script}.js")
        call = "([name, f, grid]) => JSON.stringify(JSON.parse(grid).map(inputs => window.models[name][f](...inputs)))"
        return json.loads(page.evaluate(call, [name, function, json.dumps(list(grid))]))  # as a text: many numbers

    yield computed
    page.close()


def contrast(colour, other):
    """Return the contrast of two colours, such as #0072b2, from 1 to 21, as WCAG 2.2 defines it."""
    def luminance(text):
        shares = [int(text[place:place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
        return np.dot(linear, [0.2126, 0.7152, 0.0722])

    darker, lighter = sorted(map(luminance, (colour, other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize(("theme", "page"), [("light", "#ffffff"), ("dark", "#14181e")])
def test_colours_can_be_seen(theme, page):
    """In the light and in the dark each colour of a model has the contrast that text needs to the theme's page: 4.5."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    rules = re.findall(r"([^{}]*)\{([^{}]*--blue:[^{}]*)\}", (MODELS / "models.css").read_text(encoding="utf-8"))
    [rule] = [rule for where, rule in rules if ('"dark"' in where) == (theme == "dark")]
    colours = re.findall(r"--(\w+): (#\w{6});", rule)
    assert len(colours) == 5
    assert [name for name, colour in colours if contrast(colour, page) < 4.5] == []


def equal(value):
    """Return an expected value of the model, up to rounding."""
    return pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("lesson", PLACES)
def test_each_model_has_its_place(lesson):
    """The cell that a model follows exists and is for readers; the page gets the model's own script and no other."""
    notebook = lessons.read(lesson)
    before = [cell.id for cell in notebook.cells if not lessons.has_tag(cell, "instructor")]
    book.add_model(notebook, Path(lesson))
    place = [cell.id for cell in notebook.cells].index("model-to-play-with")
    assert notebook.cells[place - 1].id in before
    assert notebook.cells[place - 1].id == PLACES[lesson]["after"]
    name = PLACES[lesson]["model"]
    assert notebook.cells[place].source.count(".js") == 2
    assert (MODELS / f"{name}.js").exists()


def test_models_are_small():
    """A page with a model loads less than 20 kB for it; a page without one loads nothing."""
    models = {place["model"] for place in PLACES.values()}
    assert {path.stem for path in MODELS.glob("*.js")} == {"models", *models}
    for name in models:
        assert sum((MODELS / each).stat().st_size for each in ("models.js", "models.css", f"{name}.js")) < 20_000
    page = nbformat.v4.new_notebook()
    book.add_model(page, Path("01-imperative-and-symbolic.ipynb"))
    assert page.cells == []


@pytest.mark.slow
def test_all_reduce(model):
    """The plans for an all-reduce take the times of "A thousand machines"; a tree of 1,024 machines has 20 rounds."""
    lesson = functions(source_of("deeper/a-thousand-machines.ipynb", "model"))
    grid = list(itertools.product([1e3, 1e7, 1e9], [2, 3, 8, 1000, 1024], [1.25e8, 5e10], [0, 2e-6], [1e-6, 25e-6]))
    for name, plan in {"oneServer": "star_time", "servers": "shared_time", "ring": "ring_time"}.items():
        assert model("all-reduce", name, grid) == equal([lesson[plan](*inputs) for inputs in grid])
    # cell `shapes-notes`: a binary tree of 1,024 has 20 rounds, in which each node sends the whole array
    rounds = {2: 2, 3: 4, 8: 6, 1000: 20, 1024: 20}
    trees = [rounds[k] * (P / link + each + latency) for P, k, link, each, latency in grid]
    assert model("all-reduce", "tree", grid) == equal(trees)


@pytest.mark.slow
def test_pipeline(model):
    """A pipeline's passes run in the orders that lesson 06 asserts, at the times of `replay`; all is counted alike."""
    from d2lhelpers.torch.pipeline import Pass, bubble_fraction, replay

    lesson = "pytorch/06-splitting-the-network.ipynb"
    bubble = functions(source_of(lesson, "lines"), "bubble")["bubble"]
    alive = functions(source_of(lesson, "alive-def"))["alive"]
    grid = list(itertools.product(["GPipe", "1F1B", "forward only"], range(2, 7), range(1, 17)))
    records = dict(zip(grid, model("pipeline", "schedule", grid), strict=True))
    passes = {plan: [[Pass(*each) for each in stage] for stage in record] for plan, record in records.items()}
    for plan, record in passes.items():
        assert replay(record, {"F": 1, "B": 2}) == record, plan
    shares = [bubble_fraction(record) for record in passes.values()]
    assert model("pipeline", "idle", [[record] for record in records.values()]) == equal(shares)
    for way, m, cell_id in (("GPipe", 4, "gpipe"), ("1F1B", 4, "f1b1")):
        stages = [" ".join(map(str, stage)) for stage in passes[way, 2, m]]
        assert all(f'"{order}"' in source_of(lesson, cell_id) for order in stages)
    assert model("pipeline", "bubble", [plan[1:] for plan in grid]) == equal([bubble(*plan[1:]) for plan in grid])
    assert shares == equal([bubble(*plan[1:]) for plan in grid])
    stages = [stage for record in records.values() for stage in record]
    kept = [alive(stage) for record in passes.values() for stage in record]
    assert model("pipeline", "alive", [[stage] for stage in stages]) == kept
    assert '"1F1B", 16] == [4, 3, 2, 1]' in source_of(lesson, "alive")
    assert [alive(stage) for stage in passes["1F1B", 4, 16]] == [4, 3, 2, 1]


@pytest.mark.slow
def test_schedules_with_smaller_bubbles(model):
    """Newer schedules have the orders that PyTorch plans, or the deeper notebook's solution; all is counted alike."""
    from torch.distributed.pipelining import (
        ScheduleInterleaved1F1B,
        ScheduleInterleavedZeroBubble,
        ScheduleZBVZeroBubble,
    )

    from d2lhelpers.torch.pipeline import Pass, bubble_fraction, count_slots, planned_order

    def zb_h2(devices, parts):
        order = functions(source_of("deeper/schedules-with-smaller-bubbles.ipynb", "solution-1"))["zb_h2"]
        names = [order(rank, devices, parts) for rank in range(devices)]
        return [[Pass(each[0], int(each[1:]), 0, 0, rank) for each in passes] for rank, passes in enumerate(names)]

    def planned(way, devices, parts):
        """Return an order, or None where PyTorch, or the exercise, has no plan for so many micro-batches."""
        if way == "ZB-H2":
            return zb_h2(devices, parts) if parts >= 2 * devices - 1 else None
        schedule, stages = {"interleaved": (ScheduleInterleaved1F1B, 2), "ZB-H1": (ScheduleInterleavedZeroBubble, 1),
                            "ZB-V": (ScheduleZBVZeroBubble, 2)}[way]
        try:
            return planned_order(schedule, devices, parts, stages)
        except ValueError:
            return None

    grid = list(itertools.product(["interleaved", "ZB-H1", "ZB-H2", "ZB-V"], range(2, 7), range(1, 17)))
    compared = set()
    for plan, record in zip(grid, model("pipeline", "schedule", grid), strict=True):
        passes = [[Pass(*each) for each in device] for device in record]
        counts = count_slots(passes)
        assert counts.record == passes, plan
        assert model("pipeline", "idle", [[record]]) == equal([bubble_fraction(passes)])
        assert model("pipeline", "alive", [[device] for device in record]) == counts.alive
        order = planned(*plan)
        if order is not None:
            assert [[each._replace(start=0, end=0) for each in device] for device in passes] == order, plan
            compared.add(plan)
    assert len(compared) > 200


@pytest.mark.slow
def test_roofline(model):
    """What limits an operator is what `MachineLimits` says; they are read from what it prints, or from numbers."""
    from d2lhelpers.machine import MachineLimits

    work = list(itertools.product([10, 64e6, 2e9, 1e15], [80, 12e6, 512e6, 1e12]))
    for machine in (MachineLimits("cpu", 1e11, 2e10, 2e-5), MachineLimits("cuda:0", 6.7e13, 3.35e12, 4e-6)):
        limits = {"peak": machine.peak, "bandwidth": machine.bandwidth, "dispatch": machine.dispatch}
        names, seconds = zip(*model("roofline", "regime", [[*each, limits] for each in work]), strict=True)
        assert list(names) == [machine.regime(*each)[0] for each in work]
        assert list(seconds) == equal([machine.regime(*each)[1] for each in work])
        for text in (repr(machine), f"{machine.bandwidth / 1e9} {machine.peak / 1e9}, {machine.dispatch * 1e6}"):
            assert model("roofline", "limitsIn", [[text]]) == [equal(limits)]
        roofs = [each / machine._replace(dispatch=0).regime(each, 1)[1] for each in (0.1, 1e-3, 7, 1e4)]
        assert model("roofline", "roof", [[each, limits] for each in (0.1, 1e-3, 7, 1e4)]) == equal(roofs)
    assert model("roofline", "limitsIn", [["no numbers"], ["12"], ["0 0"]]) == [None] * 3


@pytest.mark.slow
def test_sharding(model):
    """A rank holds the bytes of lesson 05: of its solution with momentum, and of the claimed shares with AdamW."""
    lesson = "pytorch/05-sharding.ipynb"
    per_rank = functions(source_of(lesson, "solution-1"), "per_rank")["per_rank"]
    grid = list(itertools.product([1e6, 8e9], [1, 2, 3, 1024]))
    found = model("sharding", "memory", [[P, N, 4] for P, N in grid])
    assert [list(map(sum, ways)) for ways in found] == [equal(per_rank(P, N)) for P, N in grid]
    shares = ast.literal_eval(re.search("shares = ({.*?})", source_of(lesson, "table-claim"))[1])
    [found] = model("sharding", "memory", [[1e9, 2, 8]])
    assert [sum(way) / 16e9 for way in found] == equal(list(shares.values()))
    assert [[size / 1e9 for size in way] for way in found] == [[4, 4, 8], [4, 4, 4], [4, 2, 4], [2, 2, 4]]


@pytest.mark.slow
def test_checkpoints(model):
    """Saves and failures cost what the formula of lesson 07 and its check say, and least at the square root."""
    rules = (lessons.FOLDER / "pytorch" / "checks_pytorch" / "lesson_07.py").read_text(encoding="utf-8")
    cost = functions(rules, "cost")["cost"]
    grid = list(itertools.product([1, 2, 16, 1000], [1, 4, 16]))
    found = model("checkpoints", "cost", [[every, 1000, 0.5, failures, 0] for every, failures in grid])
    assert found == equal([cost(*each) for each in grid])
    text = source_of("pytorch/07-many-machines.ipynb", "cost-read")
    assert "*N* *c* / *s* + *F* (*s* − 1) / 2." in text
    assert "least at *s* = √(2 *N* *c* / *F*)" in text
    assert model("checkpoints", "cost", [[50, 1e4, 2, 10, 20]]) == equal([1e4 * 2 / 50 + 10 * 49 / 2 + 10 * 20])
    assert model("checkpoints", "best", [[1000, 0.5, 4], [1e5, 2, 3]]) == equal([250**0.5, (2e5 * 2 / 3) ** 0.5])


@pytest.mark.slow
def test_queue(model):
    """Calls take the times of lesson 03's two formulas, and end then in the schedule that is drawn."""
    lesson = functions(source_of("03-asynchronous-computation.ipynb", "predicted"))
    grid = list(itertools.product([1, 20, 500], [1, 20, 300], [0, 40], [1, 2, 200]))
    for name, function in {"waitingEach": "waiting_each", "waitingOnce": "waiting_once"}.items():
        expected = [lesson[function](*inputs) for inputs in grid]
        assert model("queue", name, grid) == equal(expected)
        drawn = model("queue", "calls", [[*inputs, name == "waitingEach"] for inputs in grid])
        assert [calls[-1][2] + inputs[2] for calls, inputs in zip(drawn, grid, strict=True)] == equal(expected)


@pytest.mark.slow
def test_workspaces(model):
    """Products run when the theory of lesson 04 says, and as many are waited for, in any order."""
    from d2lhelpers.timeline import Operator

    lesson = "04-automatic-parallelism.ipynb"
    theory = functions(source_of(lesson, "theory"), "theory", Operator=Operator)["theory"]
    waited_for = functions(source_of(lesson, "naive"), "waited_for")["waited_for"]
    names = ["all of cpu(0) first", "five and five", "two and two", "alternately"]
    orders = model("workspaces", "orderOf", [[name, count] for name in names for count in (1, 7, 10)])
    assert orders[2] == [0] * 10 + [1] * 10
    assert orders[-1] == [0, 1] * 10
    grid = list(itertools.product([1, 3, 4, 8, 64], orders))
    expected = [theory(workspaces, [f"cpu({device})" for device in order]) for workspaces, order in grid]
    found = model("workspaces", "theory", grid)
    assert found == [[[int(each.device[4]), each.start, each.end] for each in operators] for operators in expected]
    assert model("workspaces", "waitedFor", [[products] for products in found]) == list(map(waited_for, expected))


@pytest.mark.slow
def test_loader(model):
    """A batch comes as often as the formula of lesson 03 says, in the long run of the drawn schedule, too."""
    grid = list(itertools.product([0, 1, 2, 3, 4], [5, 100], [20, 50, 500]))
    text = source_of("pytorch/03-waiting-threads-and-copies.ipynb", "worker")
    expected = [functions(text, "formula", load_seconds=load, train_seconds=train)["formula"](workers)
                for workers, load, train in grid]
    assert model("loader", "period", grid) == equal(expected)
    drawn = model("loader", "schedule", [[*inputs, 132] for inputs in grid])
    assert [(batches[-1][3] - batches[-121][3]) / 120 for batches in drawn] == equal(expected)  # 120: any worker's turn
    for batches in drawn:
        assert all(ready <= begin for _, _, ready, begin, _ in batches)
        assert all(one[4] <= two[3] for one, two in itertools.pairwise(batches))


@pytest.mark.slow
def test_engine(model, monkeypatch):
    """The users of lesson 12 are served as by its engine: the same passes and pages, and the same figures."""
    from d2lhelpers.torch import engine as engines
    from d2lhelpers.torch.gpt import GPT

    lesson = "pytorch/12-a-serving-engine.ipynb"
    given = {"random": random, "np": np, "pairwise": itertools.pairwise, "text": np.arange(10_000), "results": {},
             "AT_ONCE": engines.AT_ONCE, "Request": engines.Request}
    for cell_id, *names in (("requests",), ("policies",), ("budget",), ("promise",), ("figures", "figures"),
                            ("room", "filled")):
        given |= functions(source_of(lesson, cell_id), *names, **given)
    policies = {1: given["one_after_another"], 8: given["batch_by_batch"], 24: given["continuous"]}
    new = itertools.count(10_000)  # no token of an answer is like another, so pages are alike where prompts are
    monkeypatch.setattr(engines, "run", lambda net, pages, work: [next(new) for _ in work])
    net = GPT(vocabulary=2, width=2, heads=1, layers=1)

    def served(batch, most, number, size, sharing, every):
        """Let the lesson's engine serve its users, of whom a pass takes `most` tokens, as `budgeted` does."""
        def policy(users):
            chosen = [user for user, _ in policies[batch](users)]
            return given["budgeted"](chosen, most)

        users = given["draw"]()
        for user in users:
            user.arrival = user.arrival * every / 3
        engine = engines.Engine(net, engines.Pages(net, number, size, sharing), policy)
        engine.serve(users)
        return engine, users

    memory = [(2048 // size, size) for size in (4, 16, 64, 256)]
    grid = [(batch, *rest) for batch in policies for rest in [
        *((most, *pages, True, 3) for most in (4, 16, 4000) for pages in memory),
        *((most, number, 16, sharing, every) for most, number in ((16, 20), (4000, 13), (16, 13), (16, 12))
          for sharing in (True, False) for every in (0, 4))]]
    found = model("engine", "serve", grid)
    complete = []
    for inputs, record in zip(grid, found, strict=True):
        engine, users = served(*inputs)
        number_of = {user: number for number, user in enumerate(users)}
        passes = [[each.start, each.end, [[number_of[user], count, count > 1 or each.end <= user.times[0]]
                                          for user, count in each.work], each.filled, each.reserved]
                  for each in engine.passes]
        assert record["passes"] == passes, inputs
        assert record["left"] == sum(not user.finished for user in users), inputs
        if not record["left"]:
            assert record["users"] == [[user.arrival, given["first_token"](user), given["longest_gap"](user),
                                        user.times[-1]] for user in users]
            given["results"][inputs] = engine, users, 0
            gap, kept = given["figures"](inputs)
            median = np.median([given["first_token"](user) for user in users])
            complete.append((record, [len(passes), engine.time, median, gap, kept, given["filled"](inputs)]))
    assert 0 < len(complete) < len(grid)
    counted = model("engine", "figures", [[record] for record, _ in complete])
    assert counted == [equal(figures) for _, figures in complete]
    lessons_own = {"one after another": (1, 4000, 8, 256, False, 3), "batch by batch": (8, 4000, 8, 256, False, 3),
                   "continuous": (24, 4000, 8, 256, False, 3), "pages": (24, 4000, 128, 16, False, 3),
                   "sharing": (24, 4000, 128, 16, True, 3), "budget": (24, 16, 128, 16, True, 3),
                   "few pages": (24, 16, 20, 16, True, 3)}
    printed = "".join(output.text for cell in lessons.read(lesson).cells for output in cell.get("outputs", [])
                      if output.output_type == "stream")
    for name, record in zip(lessons_own, model("engine", "serve", lessons_own.values()), strict=True):
        [(passes, end, first, gap, kept, _)] = model("engine", "figures", [[record]])
        assert f"{name}: {passes} passes, all done at {end:.0f}" in printed
        assert f"{name}: first token {first:.1f} (median), longest gap {gap:.1f}, kept {kept}" in printed


def regime(model, operations, size, *limits):
    """Return what limits an operator, and its least time, with limits in GB/s, Gflop/s and µs."""
    bandwidth, peak, dispatch = limits
    limits = {"bandwidth": bandwidth * 1e9, "peak": peak * 1e9, "dispatch": dispatch * 1e-6}
    return model("roofline", "regime", [[operations, size, limits]])[0]


def idle(model, *plan):
    """Return the share of waiting in a pipeline's schedule, in percent."""
    return 100 * model("pipeline", "idle", [model("pipeline", "schedule", [plan])])[0]


def roofline_of_lesson_00(model):
    """Return the milliseconds of 1/8 operation per byte, as the question says, and of 16 times as many."""
    before, after = (regime(model, each * 500e6 / 8, 500e6, 20, 100, 20)[1] * 1e3 for each in (1, 16))
    assert before == equal(25)
    return after


def roofline_of_pytorch_00(model):
    """Return the milliseconds of 1/8 operation per byte, as the question says, and of 16 times as many."""
    before, after = (regime(model, each * 500e6 / 8, 500e6, 10, 100, 1.5)[1] * 1e3 for each in (1, 16))
    assert before == equal(50)
    return after


def queue(model):
    """Return how many times as fast one wait is as 200."""
    [each], [once] = (model("queue", name, [[20, 50, 50, 200]]) for name in ("waitingEach", "waitingOnce"))
    return each / once


def workspaces(model):
    """Return when the last product ends."""
    [order] = model("workspaces", "orderOf", [["five and five", 10]])
    return max(end for _, _, end in model("workspaces", "theory", [[4, order]])[0])


def ring_of_64(model):
    """Return what takes longer on the ring: its bytes alone, or all that bandwidth without limit leaves."""
    link = 10e9 / 8
    bytes_alone, rounds_alone = model("all-reduce", "ring", [[1e6, 64, link, 0, 0], [0, 64, link, 2e-6, 25e-6]])
    return "bandwidth" if bytes_alone > rounds_alone else "latency"


def plans_of_1024(model):
    """Return the fastest of the plans."""
    names = {"one server": "oneServer", "a server beside each worker": "servers", "the ring": "ring",
             "the tree": "tree"}
    seconds = {name: model("all-reduce", plan, [[1e5, 1024, 10e9 / 8, 2e-6, 25e-6]]) for name, plan in names.items()}
    return min(seconds, key=seconds.get)


def ring_of_1024(model):
    """Return the milliseconds on a ring; two machines take those that the question says."""
    two, many = model("all-reduce", "ring", [[1e7, k, 10e9 / 8, 2e-6, 25e-6] for k in (2, 1024)])
    assert 1e3 * two == pytest.approx(8, rel=0.01)
    return 1e3 * many


def zero_bubble(model):
    """Return the share of waiting on six devices; on four it is what the question says."""
    assert f"{idle(model, 'ZB-V', 4, 8):.1f}" == "5.9"
    return idle(model, "ZB-V", 6, 8)


def six_devices(model):
    """Return the share in which six devices are idle; two are for a fifth of the time."""
    assert idle(model, "GPipe", 2, 4) == equal(20)
    share = idle(model, "GPipe", 6, 4)
    return {20: "a fifth of the time", 33: "a third of the time"}.get(
        round(share), "more than half of the time" if share > 50 else share)


def twice_as_many(model):
    """Return the share of waiting of twice as many devices and micro-batches as the question has."""
    assert idle(model, "1F1B", 3, 8) == equal(20)
    return idle(model, "1F1B", 6, 16)


def loop_of_three(model):
    """Return the milliseconds for which the loop waits for a batch."""
    return model("loader", "period", [[3, 200, 50]])[0] - 50


def least_sharding(model):
    """Return the first way that fits."""
    [ways] = model("sharding", "memory", [[13e9, 8, 8]])
    names = [None, "the optimizer's state (ZeRO-1)", "gradients, too (ZeRO-2)", "parameters, too (FSDP)"]
    return next(name for name, sizes in zip(names, ways, strict=True) if sum(sizes) <= 80e9)


def saves(model):
    """Return how long all saves take beside the steps that run twice, where both together cost least."""
    [best] = model("checkpoints", "best", [[20000, 5, 20]])
    both, no_failures = model("checkpoints", "cost", [[best, 20000, 5, 20, 0], [best, 20000, 5, 0, 0]])
    ratio = no_failures / (both - no_failures)
    near = {0.1: "a tenth of the time of the steps that run twice", 1: "about as long as the steps that run twice",
            10: "ten times as long as the steps that run twice"}
    return next(text for value, text in near.items() if ratio == pytest.approx(value, rel=0.1))


def budget(model):
    """Return to how many of the 24 users both promises are kept; a smaller budget keeps those of the question."""
    small, large = model("engine", "figures", [[each] for each in model(
        "engine", "serve", [[24, most, 128, 16, 1, 3] for most in (16, 64)])])
    assert small[4] == 23
    assert large[0] < small[0]
    return large[4]


# The right answer to the question before each model: one of its choices, or a number that one choice has.
ANSWERS = {
    "00-start-here.ipynb": roofline_of_lesson_00,
    "03-asynchronous-computation.ipynb": queue,
    "04-automatic-parallelism.ipynb": workspaces,
    "07-many-machines.ipynb": ring_of_64,
    "deeper/a-thousand-machines.ipynb": plans_of_1024,
    "deeper/schedules-with-smaller-bubbles.ipynb": zero_bubble,
    "deeper/three-ways-to-split.ipynb": six_devices,
    "deeper/what-an-all-reduce-sends.ipynb": ring_of_1024,
    "pytorch/00-start-here.ipynb": roofline_of_pytorch_00,
    "pytorch/03-waiting-threads-and-copies.ipynb": loop_of_three,
    "pytorch/05-sharding.ipynb": least_sharding,
    "pytorch/06-splitting-the-network.ipynb": twice_as_many,
    "pytorch/07-many-machines.ipynb": saves,
    "pytorch/10-find-the-bottleneck.ipynb": lambda model: regime(model, 80e3, 20e3, 15, 90, 1.5)[0],
    "pytorch/12-a-serving-engine.ipynb": budget,
}


def is_answer(choice, answer):
    """Return whether a choice is an answer, or has its number up to a tenth."""
    number = re.search(r"\d[\d.]*", choice)
    if isinstance(answer, str) or not number:
        return choice == answer
    return float(number[0]) == pytest.approx(answer, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("lesson", PLACES)
def test_one_choice_is_right(model, lesson):
    """Of two to four choices before a model, just the one that is said to be right is so by the model."""
    place = PLACES[lesson]
    answer = ANSWERS[lesson](model)
    assert 2 <= len(place["choices"]) <= 4
    assert [is_answer(choice, answer) for choice in place["choices"]] == [
        number == place["right"] for number in range(len(place["choices"]))], answer


@pytest.mark.slow
@pytest.mark.parametrize("language", [None, *translations.TAGS])
@pytest.mark.parametrize("lesson", PLACES)
def test_a_model_answers_its_question(browser, tmp_path, lesson, language):
    """Without scripts all texts and the model's sentence are shown, which it says, too, once a choice has opened it."""
    translation = translations.Translation(language)
    notebook = lessons.read(lesson)
    book.add_model(notebook, Path(lesson), translation)
    [source] = [cell.source for cell in notebook.cells if cell.id == "model-to-play-with"]
    page = browsers.new_page(browser)
    page.set_content(source)
    place = PLACES[lesson]
    stored = [translation("models", "model", text) for text in (
        place["question"], *place["choices"], place["result"], place["end"])]
    assert [line for line in page.inner_text(".model").splitlines() if line] == stored
    book.write_words_of_models(tmp_path, translation)
    for script in (tmp_path / "words.js", MODELS / "models.js", MODELS / f"{place['model']}.js"):
        page.add_script_tag(path=script)
    page.add_style_tag(path=MODELS / "models.css")
    page.locator(".model button").nth(place["right"]).click()
    page.wait_for_selector(".model-result:not(:empty)")
    predicted, said = page.locator(".model [role=status]").all_inner_texts()
    assert said == translation("models", "model", place["result"])
    assert predicted == translation("models", "model", "You predicted: {0}.").replace("{0}", stored[place["right"] + 1])
    page.close()


@pytest.mark.slow
def test_a_model_opens_after_a_prediction(opened):
    """One key on a choice opens the model, and says what was predicted; another one changes nothing; skipping works."""
    lesson = "07-many-machines.ipynb"
    page, faults = opened(lesson, choice=None)
    first, second, skip = page.locator(".model button").all()
    inside = page.locator(".model :is(input, select, .model-result, svg, .model-end)").all()
    predicted, result = page.locator(".model [role=status]").all()
    assert not any(each.is_visible() for each in inside)
    page.emulate_media(media="print")
    assert all(each.is_visible() for each in inside)
    page.emulate_media(media="screen")
    first.focus()
    page.keyboard.press("Tab")
    assert second.evaluate("each => each === document.activeElement")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.closest('.model')")  # what is closed is not walked through
    assert second.get_attribute("aria-expanded") == "false"
    second.press("Enter")
    assert predicted.inner_text() == "You predicted: latency."
    first.click()
    assert predicted.inner_text() == "You predicted: latency."
    assert {each.get_attribute("aria-expanded") for each in (first, second, skip)} == {"true"}
    assert all(each.is_visible() for each in inside)
    page, faults = opened(lesson)  # another visit remembers nothing
    assert predicted.inner_text() == ""
    assert "latency is the bottleneck" in result.inner_text()
    assert faults == []


@pytest.mark.slow
def test_limits_can_be_pasted(opened):
    """What a reader pastes changes the roofline at once; a text without limits is told so, and nothing fails."""
    page, faults = opened("00-start-here.ipynb")
    page.fill(".model textarea", "cpu:\nmemory 14.4 GB/s\narithmetic 86.4 Gflop/s\none dispatch 1.4 µs\n")
    assert "bends at 6 operations per byte" in page.inner_text(".model-result")
    assert "86.4 Gflop/s" in page.get_attribute(".model svg", "aria-label")
    page.fill(".model textarea", "<b>fast</b>")
    assert "no limits in your text" in page.inner_text(".model-result")
    assert faults == []


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Make the pages that have a model, each with its title and one more cell, and without links."""
    from sphinx.cmd import build

    folder = tmp_path_factory.mktemp("site")
    build_main, read = build.build_main, lessons.read

    def build_with_warnings(arguments):
        return build_main([each for each in arguments if each not in ("-W", "--keep-going")])

    def shortened(lesson, translation=translations.ENGLISH):
        notebook = read(lesson, translation)
        kept = notebook.cells[0].id, PLACES[lesson.as_posix()]["after"]
        notebook.cells = [cell for cell in notebook.cells if cell.id in kept]
        for cell in notebook.cells:
            cell.source = re.sub(r"\]\([^)]*\)", "]", cell.source)
        return notebook

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "build_main", build_with_warnings)
        patch.setattr(lessons, "read", shortened)
        patch.setattr(lessons, "paths", lambda solved=True: [Path(lesson) for lesson in PLACES])
        patch.setenv("REPOSITORY", "")
        folders.replace(pages.write_site, folder)
    return folder


@pytest.fixture
def opened(browser, site):
    """Return a function that opens a lesson's page and its model on a phone; it also returns the page's faults."""
    page = browsers.new_page(browser, viewport={"width": 390, "height": 844})
    page.add_init_script("localStorage.setItem('mode', 'light')")  # without a choice the theme reports an error
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: faults.append(request.url) if request.url.startswith("http") else None)

    def of_ours(message):  # not the theme's fonts, which a page that is opened from disk may not load
        if message.type == "error" and "fontawesome" not in message.text + message.location["url"]:
            faults.append(message.text)

    page.on("console", of_ours)

    def open_page(lesson, choice=SKIP):
        page.goto((site / lesson).with_suffix(".html").as_uri())
        if choice is not None:
            page.locator(".model button").nth(choice).click()
            page.wait_for_selector(".model-result:not(:empty)")
        return page, faults

    yield open_page
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize("lesson", PLACES)
def test_a_model_is_worked_by_keyboard(opened, lesson):
    """From disk each input of a model changes its sentence and its picture's words by one key; nothing is fetched."""
    page, faults = opened(lesson)
    result = page.locator(".model-result[role=status]")
    picture = page.locator(".model svg[role=img]")
    for each in page.locator(".model :is(input, select)").all():
        assert page.locator(f"label[for={each.get_attribute('id')}]").inner_text()
        before = result.inner_text(), picture.get_attribute("aria-label")
        last = each.evaluate("each => each.selectedIndex == each.length - 1 || each.value == each.max")
        each.focus()
        page.keyboard.press("ArrowLeft" if last else "ArrowRight")
        after = result.inner_text(), picture.get_attribute("aria-label")
        assert before[1] != after[1]
        assert before[0] != after[0] or each.evaluate("each => each.localName") == "select"
        assert page.locator(".model tbody tr").count() > 1
    assert faults == []


@pytest.mark.slow
@pytest.mark.parametrize("lesson", PLACES)
def test_a_model_fits_a_phone(opened, lesson):
    """At 390 pixels no part of a model is wider than its frame, and no text of its picture is cut or too small."""
    page, faults = opened(lesson)
    page.locator(".model summary").click()
    found = page.evaluate("""() => {
        const frame = document.querySelector(".model").getBoundingClientRect();
        const picture = document.querySelector(".model svg").getBoundingClientRect();
        const outside = (each, limit) => [...each.getClientRects()].some(
            ({left, right}) => left < limit.left - 1 || right > limit.right + 1);
        const small = each => parseFloat(getComputedStyle(each).fontSize) < 14;
        const all = selector => [...document.querySelectorAll(selector)];
        return [
            document.documentElement.scrollWidth > 390 && "the page is too wide",
            ...all(".model *:not(.model-table *)").map(each => outside(each, frame) && `outside: ${each.outerHTML}`),
            ...all(".model text").map(each => outside(each, picture) && `cut: ${each.outerHTML}`),
            ...all(".model text, .model label, .model td").map(each => small(each) && `small: ${each.outerHTML}`),
        ].filter(Boolean); }""")
    assert found == []
    assert faults == []
