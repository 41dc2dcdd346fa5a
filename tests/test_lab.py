"""The lessons as a reader has them: `make lab`'s own server, a real browser, Run All."""
import contextlib
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from importlib.util import find_spec

import psutil
import pytest
from playwright.sync_api import TimeoutError
from test_lessons import LESSONS as PATHS
from test_lessons import ROOT

from d2lhelpers.process import free_port

LESSONS = [path.relative_to(ROOT).as_posix() for path in PATHS if find_spec("torch") or path.parent.name != "pytorch"]
TOKEN = "a-token-for-this-test"

# What a person would find wrong with the lesson that is open: errors, warnings, pictures that are not there.
FAULTS = """
() => {
    const faults = [];
    const wrong = ".jp-OutputArea-output[data-mime-type$='error'], .jp-OutputArea-output[data-mime-type$='stderr']";
    for (const each of document.querySelectorAll(wrong)) faults.push(each.innerText.slice(0, 300));
    for (const image of document.querySelectorAll(".jp-Notebook img"))
        if (!image.complete || image.naturalWidth == 0) faults.push(`no picture: ${image.alt || image.src}`);
    return faults;
}
"""
SEEN = """
() => {
    const cells = [...window.jupyterapp.shell.currentWidget.content.widgets].filter(cell => cell.model.type == "code");
    return [document.querySelectorAll(".jp-Notebook img").length,
            cells.filter(cell => cell.model.executionCount > 0).length];
}
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Start `make lab` with settings of its own, which save nothing, and return its address."""
    if not (ROOT / ".venv").exists():
        pytest.skip("there is no .venv, so `make lab` is not how the lessons are opened here")
    settings = tmp_path_factory.mktemp("settings")
    for name, text in {"docmanager-extension/plugin": '{"autosave": false}',
                       "notebook-extension/tracker": '{"windowingMode": "none"}',
                       "apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}'}.items():
        path = settings / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    port = free_port()
    arguments = (f"--no-browser --ServerApp.port={port} --ServerApp.port_retries=0 --IdentityProvider.token={TOKEN} "
                 "--LabApp.expose_app_in_browser=True")
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("MAKE", "D2LHELPERS_", "OMP_", "MXNET_", "PYTEST_"))}
    environment |= {"JUPYTERLAB_SETTINGS_DIR": str(settings), "JUPYTERLAB_WORKSPACES_DIR": str(settings / "workspaces"),
                    "LAB_ARGS": arguments}
    with open(settings / "log", "w") as log:
        make = subprocess.Popen(["make", "lab"], cwd=ROOT, env=environment, stdout=log, stderr=log,
                                start_new_session=True)
    address, deadline = f"http://127.0.0.1:{port}", time.monotonic() + 90
    while "is running at" not in (settings / "log").read_text():
        assert make.poll() is None, (settings / "log").read_text()
        assert time.monotonic() < deadline, (settings / "log").read_text()
        time.sleep(0.2)
    yield address, make.pid
    started = psutil.Process(make.pid).children(recursive=True)
    os.killpg(make.pid, signal.SIGTERM)
    _, left = psutil.wait_procs(started, timeout=30)
    for process in left:
        process.kill()


def test_the_server_is_for_its_reader_alone(lab):
    """Without the token the server refuses, with it it answers; it listens on 127.0.0.1 and nowhere else."""
    address, pid = lab
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(f"{address}/api/contents", timeout=30)
    with urllib.request.urlopen(f"{address}/api/contents?token={TOKEN}", timeout=30) as answer:
        assert answer.status == 200
    processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    listening = set()
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):  # one of make's, which has just ended
            listening |= {connection.laddr.ip for connection in process.net_connections("inet")
                          if connection.status == psutil.CONN_LISTEN}
    assert listening == {"127.0.0.1"}


@pytest.fixture
def page(browser):
    """Open an empty page as wide as a small laptop's."""
    context = browser.new_context(viewport={"width": 1366, "height": 900})
    yield context.new_page()
    context.close()


def open_lesson(page, lab, lesson):
    """Open a lesson in JupyterLab and wait for its kernel."""
    page.goto(f"{lab[0]}/lab/tree/{lesson}?token={TOKEN}&reset")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=90_000)
    page.evaluate("""async () => {
        const panel = window.jupyterapp.shell.currentWidget;
        await panel.context.ready;
        await panel.sessionContext.ready;
        await panel.sessionContext.session.kernel.info;
    }""")


def run_all(page):
    """Run all cells and wait until they have been run; where that takes five minutes, say which one is running."""
    page.evaluate("""() => {
        window.ran = false;
        window.jupyterapp.commands.execute("notebook:run-all-cells").finally(() => { window.ran = true; });
    }""")
    try:
        page.wait_for_function("window.ran", timeout=300_000)
    except TimeoutError:
        running = page.query_selector(".jp-CodeCell:has(.jp-InputPrompt:text('[*]'))")
        state = page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status")
        raise AssertionError(f"the kernel is {state} at\n{running and running.inner_text()}") from None


def shut_down(page):
    """End the kernels that the page has started."""
    page.evaluate("window.jupyterapp.serviceManager.sessions.shutdownAll()")


def try_the_sliders(page):
    """Move the first slider of each interactive model and return how many of them drew another picture."""
    changed = 0
    for model in page.query_selector_all(".widget-interact"):
        handle = model.query_selector(".noUi-handle")
        before = model.query_selector("img").get_attribute("src")
        handle.scroll_into_view_if_needed()
        handle.focus()
        page.keyboard.press("ArrowRight")
        for _ in range(200):
            picture = model.query_selector("img")
            if picture and picture.get_attribute("src") != before:
                changed += 1
                break
            page.wait_for_timeout(50)
    return changed


@pytest.mark.parametrize("lesson", [LESSONS[0], *(pytest.param(each, marks=pytest.mark.slow) for each in LESSONS[1:])])
def test_run_all(page, lab, lesson):
    """Run All ends without an error, a warning or a missing picture; predictions can be clicked, sliders moved."""
    source = (ROOT / lesson).read_text()
    open_lesson(page, lab, lesson)
    try:
        run_all(page)
        assert page.evaluate(FAULTS) == []
        pictures, cells = page.evaluate(SEEN)
        assert cells == len(re.findall(r'"cell_type": "code"', source))
        assert pictures >= len(re.findall(r'"image/png"', source))
        asked = len(re.findall(r'= predict\(', source))
        questions = page.query_selector_all(".widget-toggle-buttons")
        assert len(questions) == asked
        for question in questions:
            button = question.query_selector("button")
            button.scroll_into_view_if_needed()
            button.click()
            assert "mod-active" in button.get_attribute("class")
        assert try_the_sliders(page) == len(re.findall(r'"play\(', source))
    finally:
        shut_down(page)


def test_a_prediction_stands_beside_the_result(page, lab):
    """In the first lesson a click on an answer is printed beside what came out once the result's cell runs."""
    open_lesson(page, lab, LESSONS[0])
    try:
        run_all(page)
        button = page.query_selector(".widget-toggle-buttons button")
        choice = button.inner_text().strip()
        button.click()
        page.evaluate("""async () => {
            const book = window.jupyterapp.shell.currentWidget.content;
            book.activeCellIndex = book.widgets.findIndex(cell => cell.model.sharedModel.source.includes(".beside("));
            await window.jupyterapp.commands.execute("notebook:run-cell");
        }""")
        page.wait_for_selector(f"text=you predicted: {choice}", timeout=30_000)
    finally:
        shut_down(page)


def test_slides_are_for_the_back_row(page, lab):
    """On live slides of both tracks type grows with the window; a cell runs there, and a prediction can be clicked."""
    slide = "section.present section.present"
    for lesson, width, height, size in ((LESSONS[-1], 1920, 1080, "37.5px"), (LESSONS[0], 1280, 720, "25px")):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{lab[0]}/rise/{lesson}?token={TOKEN}")
        text = page.wait_for_selector(f"{slide} .jp-RenderedMarkdown p", timeout=60_000)
        page.wait_for_function(f"text => getComputedStyle(text).fontSize == '{size}'", arg=text, timeout=30_000)
    button = page.locator(f"{slide} .widget-toggle-buttons button").first
    text.click()
    for _ in range(20):  # cells, from the first to the question
        page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(1000)  # RISE selects a slide's cell half a second after it shows the slide
        if button.is_visible():
            break
    for _ in range(2):  # the first click may only select the cell
        button.click(timeout=30_000)
    page.wait_for_selector(f"{slide} .widget-toggle-buttons button.mod-active", timeout=30_000)


def test_an_error_would_be_seen(page, lab):
    """A cell that fails, one that warns and a picture that is not there are all found by the look at the page."""
    open_lesson(page, lab, LESSONS[0])
    try:
        page.evaluate("""async () => {
            const book = window.jupyterapp.shell.currentWidget.content;
            const code = ["1 / 0", "import sys; print('a warning', file=sys.stderr)",
                          "from IPython.display import HTML; HTML('<img src=none.png alt=none>')"];
            for (const source of code) {
                book.activeCellIndex = 1;
                await window.jupyterapp.commands.execute("notebook:insert-cell-below");
                book.activeCell.model.sharedModel.setSource(source);
                await window.jupyterapp.commands.execute("notebook:run-cell");
            }
        }""")
        page.wait_for_timeout(1000)
        faults = "\\n".join(page.evaluate(FAULTS))
        assert all(word in faults for word in ("ZeroDivisionError", "a warning", "no picture: none")), faults
    finally:
        shut_down(page)
