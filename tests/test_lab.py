import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import psutil
import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
LESSONS = [path.relative_to(ROOT).as_posix() for pattern in ("notebooks/*.ipynb", "notebooks/[!.]*/*.ipynb")
           for path in sorted(ROOT.glob(pattern)) if find_spec("torch" if path.parts[-2] == "pytorch" else "mxnet")]

# What a person would find wrong with the lesson that is open: errors, warnings, pictures that are not there.
FAULTS = """() => {
    const all = selector => [...document.querySelectorAll(".jp-Notebook " + selector)];
    const said = all(".jp-OutputArea-output").filter(each => /error$|stderr$/.test(each.dataset.mimeType));
    const lost = all("img").filter(image => !image.complete || !image.naturalWidth);
    return [...said.map(each => each.innerText.slice(0, 300)), ...lost.map(each => `no picture: ${each.alt}`)];
}"""


def answers(address):
    """Say whether a server listens at `address`."""
    with socket.socket() as tried:
        return tried.connect_ex((urlsplit(address).hostname, urlsplit(address).port)) == 0


@contextlib.contextmanager
def make_lab(folder, *arguments):
    """Run `make lab` for a user whose Jupyter settings are in `folder`; yield its port, its token and its process."""
    if not (ROOT / ".venv").exists():
        pytest.skip("there is no .venv, so `make lab` is not how the lessons are opened here")
    for name, text in {"docmanager-extension/plugin": '{"autosave": false}',
                       "notebook-extension/tracker": '{"windowingMode": "none"}'}.items():
        path = folder / "lab" / "user-settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("MAKE", "D2LHELPERS_", "OMP_", "MXNET_", "PYTEST_", "JUPYTER"))}
    environment["JUPYTER_CONFIG_DIR"] = str(folder)
    environment["LAB_ARGS"] = "--no-browser --ServerApp.port=0 --LabApp.expose_app_in_browser=True"
    log, deadline = folder / "log", time.monotonic() + 90
    command = ["make", "lab", "LESSONS=stored", *arguments]
    with log.open("w") as file, subprocess.Popen(command, cwd=ROOT, env=environment, stdout=file, stderr=file,
                                                 start_new_session=True) as make:
        try:
            def wait_until(done):
                while not done():
                    assert make.poll() is None, log.read_text()
                    assert time.monotonic() < deadline, log.read_text()
                    time.sleep(0.2)

            wait_until(lambda: "Use Control-C" in log.read_text())
            address, token = (re.search(what, log.read_text())[1] for what in (r"(http://[\d.]+:\d+/)", r"token=(\w+)"))
            wait_until(lambda: answers(address))  # Jupyter prints its address before it listens there
            yield address, token, psutil.Process(make.pid)
        finally:
            started = psutil.Process(make.pid).children(recursive=True)
            os.killpg(make.pid, signal.SIGTERM)
            for process in psutil.wait_procs(started, timeout=30)[1]:
                process.kill()


@pytest.mark.parametrize("ip", ["127.0.0.1", pytest.param("127.0.0.2", marks=pytest.mark.skipif(
    sys.platform != "linux", reason="127.0.0.2 stands for another address of this machine, but not here"))])
def test_the_server_is_for_its_reader_alone(tmp_path, ip):
    """The server listens on 127.0.0.1, or where IP says, and then needs a token even if the user's settings do not."""
    arguments = [] if ip == "127.0.0.1" else [f"IP={ip}"]
    (tmp_path / "jupyter_server_config.py").write_text("c.IdentityProvider.token = ''" if arguments else "")
    with make_lab(tmp_path, *arguments) as (address, token, make):
        with pytest.raises(urllib.request.HTTPError, match="403"):
            urllib.request.urlopen(f"{address}api/contents", timeout=30)
        assert urllib.request.urlopen(f"{address}api/contents?token={token}", timeout=30).status == 200
        listening = set()
        for process in make.children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
                listening |= {each.laddr.ip for each in process.net_connections() if each.status == psutil.CONN_LISTEN}
        assert listening == {ip}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Start `make lab`, and return the address of a page in it, for a path."""
    with make_lab(tmp_path_factory.mktemp("settings")) as (address, token, _):
        yield lambda path: f"{address}{path}?token={token}"


@pytest.fixture
def page(browser):
    """Open an empty page as wide as a small laptop's."""
    page = browser.new_context(viewport={"width": 1366, "height": 900}).new_page()
    page.set_default_timeout(90_000)
    yield page
    page.context.close()


@pytest.fixture
def opened(page, lab):
    """Return a function that opens a lesson and waits for its kernel; afterwards the kernel is ended."""
    def open_lesson(lesson):
        page.goto(lab(f"lab/tree/{lesson}") + "&reset")
        page.wait_for_selector(".jp-Notebook .jp-CodeCell")
        page.evaluate("""async () => {
            const { context, sessionContext } = jupyterapp.shell.currentWidget;
            await Promise.all([context.ready, sessionContext.ready]);
            await sessionContext.session.kernel.info;
        }""")
        return page

    yield open_lesson
    page.evaluate("jupyterapp.serviceManager.sessions.shutdownAll()")


def run_all(page):
    """Run all cells, and wait until they have been run."""
    page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells').finally(() => { window.ran = true; })")
    page.wait_for_function("window.ran", timeout=900_000)


def test_the_first_page_asks_nothing(page, lab):
    """The first page is the first lesson: no dialog, no question about news, and nothing asked of other machines."""
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(lab(""))
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    page.wait_for_timeout(5000)  # JupyterLab asks about news a second after all is there
    assert [each.inner_text() for each in page.query_selector_all(".jp-Dialog, .Toastify__toast")] == []
    assert [url for url in asked if not url.startswith(("http://127.0.0.1:", "data:", "blob:"))] == []


@pytest.mark.parametrize("lesson", LESSONS)
def test_run_all(opened, lesson):
    """Run All ends without an error, a warning or a missing picture; predictions can be clicked, sliders moved."""
    page = opened(lesson)
    run_all(page)
    assert page.evaluate(FAULTS) == []
    code = [cell.source for cell in nbformat.read(ROOT / lesson, as_version=4).cells if cell.cell_type == "code"]
    counts = page.evaluate("""jupyterapp.shell.currentWidget.content.widgets.filter(
        cell => cell.model.type == "code").map(cell => cell.model.executionCount)""")
    assert counts == [*range(1, len(code) + 1)]
    questions = page.query_selector_all(".widget-toggle-buttons")
    assert len(questions) == "\n".join(code).count("= predict(")
    for question in questions:
        question.query_selector("button").click()
        assert question.query_selector("button.mod-active")
    models = page.query_selector_all(".widget-interact")
    assert len(models) == sum(source.startswith("play(") or "\nplay(" in source for source in code)
    for model in models:
        before = model.query_selector("img").get_attribute("src")
        model.query_selector(".noUi-handle").focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("([model, old]) => ![undefined, old].includes(model.querySelector('img')?.src)",
                               arg=[model, before])


def test_slides_are_for_the_back_row(page, lab):
    """On live slides of both tracks type grows with the window; a cell runs there, and a prediction can be clicked."""
    slide = "section.present section.present"
    for lesson, width, height, size in ((LESSONS[-1], 1920, 1080, "37.5px"), (LESSONS[0], 1280, 720, "25px")):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(lab(f"rise/{lesson}"))
        text = page.wait_for_selector(f"{slide} .jp-RenderedMarkdown p")
        page.wait_for_function(f"text => getComputedStyle(text).fontSize == '{size}'", arg=text)
    button = page.locator(f"{slide} .widget-toggle-buttons button").first
    text.click()
    for _ in range(20):  # cells, from the first to the question
        page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(1000)  # RISE selects a slide's cell half a second after it shows the slide
        page.locator(".jp-InputPrompt", has_text="[*]").first.wait_for(state="detached")
        if button.is_visible():
            break
    for _ in range(2):  # the first click may only select the cell
        button.click()
    page.wait_for_selector(f"{slide} .widget-toggle-buttons button.mod-active")


def test_an_error_would_be_seen(opened):
    """A cell that fails, one that warns and a picture that is not there are all found by the look at the page."""
    page = opened(LESSONS[0])
    page.evaluate("""() => {
        const book = jupyterapp.shell.currentWidget.content;
        book.activeCellIndex = book.widgets.findIndex(cell => cell.model.type == "code");
        book.activeCell.model.sharedModel.setSource("import sys, IPython.display as d; sys.stderr.write('a warning')\\n"
            + "d.display(d.HTML('<img src=none.png alt=none>')); 1 / 0");
        jupyterapp.commands.execute("notebook:run-cell");
    }""")
    page.wait_for_selector("text=ZeroDivisionError")
    faults = str(page.evaluate(FAULTS))
    assert all(word in faults for word in ("ZeroDivisionError", "a warning", "no picture: none"))
