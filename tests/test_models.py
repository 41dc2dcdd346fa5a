import ast
import itertools
import json

import nbformat
import pytest
from test_editions import editions

MODELS = editions.HERE / "site" / "models"
PLACES = json.loads((MODELS / "models.json").read_text(encoding="utf-8"))


def source(lesson, cell_id):
    """Return the text of a lesson's cell."""
    [text] = [cell.source for cell in nbformat.read(editions.LESSONS / lesson, 4).cells if cell.id == cell_id]
    return text


def defined(lesson, cell_id, *names):
    """Return what a lesson's cell defines; with names, run only the statements that define these functions."""
    tree = ast.parse(source(lesson, cell_id))
    if names:
        tree.body = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name in names]
    found = {}
    exec(compile(tree, cell_id, "exec"), found)
    return found


@pytest.fixture
def model(browser):
    """Return a function that computes with a model's function in the browser: all its results for a grid of inputs."""
    page = browser.new_page()

    def computed(name, function, grid):
        for script in ("models", name):
            page.add_script_tag(path=MODELS / f"{script}.js")
        call = "([name, f, grid]) => grid.map(inputs => window.models[name][f](...inputs))"
        return page.evaluate(call, [name, function, list(grid)])

    yield computed
    page.close()


def equal(value):
    """Return an expected value of the model, up to rounding."""
    return pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("lesson", PLACES)
def test_each_model_has_its_place(lesson):
    """The cell that a model follows exists and is for readers; the page gets the model's own script and no other."""
    notebook = editions.read(lesson)
    before = [cell.id for cell in notebook.cells if not editions.has_tag(cell, "instructor")]
    editions.add_model(notebook, editions.Path(lesson))
    place = [cell.id for cell in notebook.cells].index("model-to-play-with")
    assert notebook.cells[place - 1].id in before
    assert notebook.cells[place - 1].id == PLACES[lesson]["after"]
    name = PLACES[lesson]["model"]
    assert notebook.cells[place].source.count(".js") == 2
    assert (MODELS / f"{name}.js").exists()


def test_models_are_small():
    """All scripts and styles of the models together have fewer than 40 kB."""
    assert sum(path.stat().st_size for path in MODELS.iterdir()) < 40_000


@pytest.mark.slow
def test_all_reduce(model):
    """The plans for an all-reduce take the times of "A thousand machines"; a tree of 1,024 machines has 20 rounds."""
    lesson = defined("deeper/a-thousand-machines.ipynb", "model")
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
    from d2lhelpers.torch_pipeline import Pass, idle, replay

    lesson = "pytorch/06-splitting-the-network.ipynb"
    bubble = defined(lesson, "lines", "bubble")["bubble"]
    alive = defined(lesson, "alive-def")["alive"]
    grid = list(itertools.product(["GPipe", "1F1B", "forward only"], range(2, 7), range(1, 17)))
    records = dict(zip(grid, model("pipeline", "schedule", grid), strict=True))
    passes = {plan: [[Pass(*each) for each in stage] for stage in record] for plan, record in records.items()}
    for plan, record in passes.items():
        assert replay(record, {"F": 1, "B": 2}) == record, plan
    shares = [idle(record) for record in passes.values()]
    assert model("pipeline", "idle", [[record] for record in records.values()]) == equal(shares)
    for way, m, cell_id in (("GPipe", 4, "gpipe"), ("1F1B", 4, "f1b1")):
        stages = [" ".join(map(str, stage)) for stage in passes[way, 2, m]]
        assert all(f'"{order}"' in source(lesson, cell_id) for order in stages)
    assert model("pipeline", "bubble", [plan[1:] for plan in grid]) == equal([bubble(*plan[1:]) for plan in grid])
    assert shares == equal([bubble(*plan[1:]) for plan in grid])
    stages = [stage for record in records.values() for stage in record]
    kept = [alive(stage) for record in passes.values() for stage in record]
    assert model("pipeline", "alive", [[stage] for stage in stages]) == kept
    assert '"1F1B", 16] == [4, 3, 2, 1]' in source(lesson, "alive")
    assert [alive(stage) for stage in passes["1F1B", 4, 16]] == [4, 3, 2, 1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Make the pages that have a model, and return their folder; links to other pages lead nowhere."""
    from sphinx.cmd import build

    folder = tmp_path_factory.mktemp("site")
    without_warnings_as_errors = lambda arguments, main=build.build_main: main(  # noqa: E731
        [each for each in arguments if each not in ("-W", "--keep-going")])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "build_main", without_warnings_as_errors)
        patch.setattr(editions, "lessons", lambda solved=True: [editions.Path(lesson) for lesson in PLACES])
        patch.setenv("REPOSITORY", "")
        editions.replace_edition(editions.write_site, folder)
    return folder


@pytest.fixture
def opened(browser, site):
    """Return a function that opens a lesson's page on a phone, and a list of the faults that the page reports."""
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.add_init_script("localStorage.setItem('mode', 'light')")  # without a choice the theme reports an error
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: faults.append(request.url) if request.url.startswith("http") else None)

    def of_ours(message):  # not the theme's fonts, which a page that is opened from disk may not load
        if message.type == "error" and "fontawesome" not in message.text + message.location["url"]:
            faults.append(message.text)

    page.on("console", of_ours)

    def open_page(lesson):
        page.goto((site / lesson).with_suffix(".html").as_uri())
        return page, faults

    yield open_page
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize("lesson", PLACES)
def test_a_model_is_worked_by_keyboard(opened, lesson):
    """From disk each input of a model changes its sentence and its picture's words by one key; nothing is fetched."""
    page, faults = opened(lesson)
    result = page.locator(".model [role=status]")
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
