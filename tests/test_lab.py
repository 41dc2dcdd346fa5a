import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
import venv
from pathlib import Path
from urllib.parse import urlsplit

import playwright.sync_api
import psutil
import pytest
from lessons import INSTALLED, ROOT, each_kind

from conftest import port_for_a_kernel
from editions.browser import new_page

pytestmark = [pytest.mark.slow, pytest.mark.one_job]
# What a person would find wrong with the lesson that is open: errors, warnings and missing pictures.
FAULTS = """() => {
    const all = selector => [...document.querySelectorAll(".jp-Notebook " + selector)];
    const said = all(".jp-OutputArea-output").filter(each => /error$|stderr$/.test(each.dataset.mimeType));
    const lost = all("img").filter(image => !image.complete || !image.naturalWidth);
    return [...said.map(each => each.innerText.slice(0, 300)), ...lost.map(each => `no picture: ${each.alt}`)];
}"""


def accepts_connections(address):
    """Return whether a server listens at `address`."""
    parts = urlsplit(address)
    with socket.socket() as client:
        return client.connect_ex((parts.hostname, parts.port)) == 0


def project(folder):
    """Make a copy of the project in which `make lab` can run; its .venv has the packages that the tests have."""
    folder.mkdir()
    shutil.copy(ROOT / "Makefile", folder)
    venv.create(folder / ".venv", symlinks=True)
    for name in ("etc", "share"):  # of Jupyter
        (folder / ".venv" / name).symlink_to(Path(sys.prefix, name))
    [own] = folder.glob(".venv/lib/*/site-packages")
    (own / "project.pth").write_text(f"{sysconfig.get_path('purelib')}\n{folder}\n")
    for part in ("d2lhelpers", "editions", "notebooks"):  # JupyterLab would not find the slides' style through a link
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "setup.sh").write_text("# nothing to set up\n")
    return folder


@contextlib.contextmanager
def make_lab(project, settings, *arguments, **variables):
    """Run `make lab` with these Jupyter settings; yield the address that it prints, the token and the process."""
    plugins = {"docmanager-extension/plugin": '{"autosave": false}',
               "notebook-extension/tracker": '{"windowingMode": "none"}'}
    for name, text in plugins.items():
        path = settings / "lab" / "user-settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    others = "MAKE", "D2LHELPERS_", "OMP_", "MXNET_", "TORCHINDUCTOR_", "PYTEST_", "JUPYTER"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(others) and name != "IN"}
    environment["JUPYTER_CONFIG_DIR"] = str(settings)
    environment["LAB_ARGS"] = "--no-browser --LabApp.expose_app_in_browser=True "
    environment["LAB_ARGS"] += f"--ServerApp.port={port_for_a_kernel(None, '127.0.0.1')}"
    log = settings / "log"
    deadline = time.monotonic() + 600
    with log.open("w") as file, subprocess.Popen(["make", "lab", *arguments], cwd=project, env=environment | variables,
                                                 stdout=file, stderr=file, start_new_session=True) as make:
        try:
            def wait_until(done):
                while not done():
                    assert make.poll() is None, log.read_text()
                    assert time.monotonic() < deadline, log.read_text()
                    time.sleep(0.2)

            wait_until(lambda: "Use Control-C" in log.read_text())
            printed = re.search(r"(http://\S+)\?token=(\w+)", log.read_text())
            assert printed, log.read_text()
            address, token = printed.groups()
            wait_until(lambda: accepts_connections(address))  # Jupyter prints its address before it listens there
            yield address, token, psutil.Process(make.pid)
        finally:
            if make.poll() is None:
                started = psutil.Process(make.pid).children(recursive=True)
                os.killpg(make.pid, signal.SIGTERM)
                for process in psutil.wait_procs(started, timeout=30)[1]:
                    with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
                        process.kill()


def ask(address, token=None, **options):
    """Return the status and the text of a server's answer to a request, which uses no proxy and may have a token."""
    headers = {"Authorization": f"token {token}"} if token else {}
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(address, headers=headers, **options), timeout=300) as answer:
            return answer.status, answer.read().decode()
    except urllib.request.HTTPError as error:
        return error.code, ""


# Settings that open a server to everybody in every way that Jupyter knows, and a module that makes tokens empty.
OPEN = """
from jupyter_server.auth import IdentityProvider, User
class Anyone(IdentityProvider):
    token = ""
    auth_enabled = False
    def get_user(self, handler):
        return User("anyone")
c.ServerApp.ip = c.LabApp.ip = "0.0.0.0"
c.ServerApp.identity_provider_class = Anyone
c.ServerApp.token = c.IdentityProvider.token = c.PasswordIdentityProvider.token = ""
c.ServerApp.password = c.PasswordIdentityProvider.hashed_password = ""
c.ServerApp.allow_remote_access = c.ServerApp.disable_check_xsrf = True
c.ServerApp.root_dir = "/"
c.ServerApp.default_url = c.LabApp.default_url = "/tree"
"""
NO_TOKEN = "import secrets, binascii\nsecrets.token_hex = lambda size: ''\nbinascii.hexlify = lambda data: b''\n"


@pytest.mark.parametrize(("ip", "attempts"), [
    ("127.0.0.1", ["settings"]), ("127.0.0.1", ["files"]), ("127.0.0.1", ["variables"]),
    pytest.param("127.0.0.2", ["settings", "files", "variables"], marks=pytest.mark.skipif(
        sys.platform != "linux", reason="127.0.0.2 stands for another address of this machine, but not here")),
], ids=str)
def test_the_server_is_for_its_reader_alone(tmp_path, ip, attempts):
    """Whatever is set, the lab listens only on 127.0.0.1 or IP, and asks for a token that no other user sees."""
    folder = project(tmp_path / "project")
    settings = tmp_path / "settings"
    settings.mkdir()
    variables = {}
    if "settings" in attempts:
        for name in ("jupyter", "jupyter_server", "jupyter_lab", "jupyter_notebook"):
            (settings / f"{name}_config.py").write_text(OPEN)
        (settings / "jupyter_server_config.json").write_text('{"IdentityProvider": {"token": ""}}')
        variables["JUPYTER_CONFIG_PATH"] = str(settings)
    if "files" in attempts:
        for place in (folder, folder / "editions", folder / "editions" / "lab"):
            (place / "secrets.py").write_text("token_hex = lambda size: ''")
            for name in ("jupyterlab", "signal", "nbformat"):
                (place / f"{name}.py").write_text("raise SystemExit('the wrong file')")
    if "variables" in attempts:
        (tmp_path / "sitecustomize.py").write_text(NO_TOKEN)
        (tmp_path / "usercustomize.py").write_text(NO_TOKEN)
        variables |= {"PYTHONPATH": str(tmp_path), "JUPYTER_TOKEN": "known", "http_proxy": "http://127.0.0.1:9",
                      "JUPYTER_SERVER_ALLOW_UNAUTHENTICATED_ACCESS": "true"}
    arguments = [] if ip == "127.0.0.1" else [f"IP={ip}"]
    with make_lab(folder, settings, *arguments, **variables) as (address, token, make):
        contents = f"http://{urlsplit(address).netloc}/api/contents"
        kernels = f"http://{urlsplit(address).netloc}/api/kernels"
        for wrong in (None, "known", "0" * len(token)):
            assert ask(contents, wrong)[0] == 403
            assert ask(kernels, wrong, data=b"{}")[0] == 403
        status, answer = ask(contents, token)
        assert status == 200
        assert "notebooks" in [each["name"] for each in json.loads(answer)["content"]]
        listening = set()
        for process in make.children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
                listening |= {each.laddr.ip for each in process.net_connections() if each.status == psutil.CONN_LISTEN}
        assert listening == {ip}
        assert not [each.info["cmdline"] for each in psutil.process_iter(["cmdline"]) if token in str(each.info)]


def opens_first_lesson(folder, place, address, token):
    """Assert that a lab's address opens the first lesson in a place of the project."""
    first = urlsplit(address).path.removeprefix("/lab/tree/")
    assert first == INSTALLED[0].file.replace("notebooks", place)
    assert (folder / first).exists()
    assert ask(address, token)[0] == 200


@pytest.mark.parametrize(("arguments", "place"), [
    ([], "my-lessons"), (["LESSONS=stored", "IN=zh"], "build/stored-zh")], ids=str)
def test_the_address_leads_to_the_first_lesson(tmp_path, arguments, place):
    """The printed address opens the reader's copy of the first lesson, or with IN=zh the Chinese one."""
    (tmp_path / "settings").mkdir()
    folder = project(tmp_path / "project")
    with make_lab(folder, tmp_path / "settings", *arguments) as (address, token, _):
        opens_first_lesson(folder, place, address, token)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=str)
def test_a_kernel_has_the_readers_variables_and_ends(tmp_path, number):
    """A kernel has the reader's variables, also Python's own, but not the token; it ends with the lab, by Ctrl-C, too.

    So does it if the lab gets SIGTERM.
    """
    (tmp_path / "settings").mkdir()
    variables = {"D2LHELPERS_DATASET": "digits", "PYTHONPATH": str(tmp_path), "JUPYTER_PREFER_ENV_PATH": "1"}
    with make_lab(project(tmp_path / "project"), tmp_path / "settings", "LESSONS=stored", **variables) as started:
        address, token, make = started
        assert ask(f"http://{urlsplit(address).netloc}/api/kernels", token, data=b"{}")[0] == 201
        children = make.children(recursive=True)
        numbers = {each.pid for each in children}
        [kernel] = [each for each in psutil.process_iter(["cmdline"])
                    if each.pid in numbers and "ipykernel_launcher" in (each.info["cmdline"] or [])]
        environment = kernel.environ()
        assert variables.items() <= environment.items()
        assert token not in str(environment)
        os.killpg(make.pid, number)
        assert psutil.wait_procs([make, *children], timeout=300)[1] == []


@pytest.fixture(scope="module")
def stored_lab(tmp_path_factory):
    """Start `make lab LESSONS=stored`, and return the project's folder, the printed address, and the token."""
    folder = project(tmp_path_factory.mktemp("lab") / "project")
    with make_lab(folder, tmp_path_factory.mktemp("settings"), "LESSONS=stored") as (address, token, _):
        yield folder, address, token


@pytest.fixture(scope="module")
def lab(stored_lab):
    """Return a function that gives the address of a path in the lab."""
    _, address, token = stored_lab
    return lambda path: f"http://{urlsplit(address).netloc}/{path}?token={token}"


def test_the_address_leads_to_the_stored_lesson(stored_lab):
    """With LESSONS=stored the printed address opens the stored lesson."""
    folder, address, token = stored_lab
    opens_first_lesson(folder, "notebooks", address, token)


@pytest.fixture
def page(tab):
    """Return the page of this file's tests, as wide as a small laptop's: JupyterLab is quicker where it was before."""
    tab.set_viewport_size({"width": 1366, "height": 900})
    return tab


@pytest.fixture
def opened(page, lab):
    """Return a function that opens a lesson and waits for its kernel; afterwards end the kernel."""
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
    """Run all cells, and wait until they have run."""
    page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells').finally(() => { window.ran = true; })")
    page.wait_for_function("window.ran", timeout=900_000, polling=500)  # ms; else it would draw all the time
    page.wait_for_function("[...document.querySelectorAll('.jp-Notebook img')].every(each => each.complete)")


def wait_for(page, selector, number):
    """Wait until a page has so many widgets, which appear some time after their cells have run; return them."""
    page.wait_for_function("([selector, number]) => document.querySelectorAll(selector).length == number",
                           arg=[selector, number])
    return page.query_selector_all(selector)


def test_the_first_page_asks_nothing(browser, lab):
    """The first page shows a lesson without a dialog or a question about news, and contacts no other machine."""
    page = new_page(browser)  # where JupyterLab has never been
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(lab(""))
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    page.wait_for_timeout(5000)  # JupyterLab asks about news a second after the page is complete
    assert [each.inner_text() for each in page.query_selector_all(".jp-Dialog, .Toastify__toast")] == []
    assert [url for url in asked if not url.startswith(("http://127.0.0.1:", "data:", "blob:"))] == []
    page.close()


@pytest.mark.parametrize("lesson", each_kind())
def test_run_all(opened, lesson):
    """Run All ends without errors, warnings or missing pictures; predictions can be clicked and sliders moved."""
    page = opened(lesson.file)
    run_all(page)
    assert page.evaluate(FAULTS) == []
    code = [cell.source for cell in lesson.code]
    counts = page.evaluate("""jupyterapp.shell.currentWidget.content.widgets.filter(
        cell => cell.model.type == "code").map(cell => cell.model.executionCount)""")
    assert counts == [*range(1, len(code) + 1)]
    questions = wait_for(page, ".widget-toggle-buttons", "\n".join(code).count("= predict("))
    for question in questions:
        question.query_selector("button").click()
        assert question.query_selector("button.mod-active")
    models = [source for source in code if re.search(r"^sliders\(", source, re.MULTILINE)]
    for model in wait_for(page, ".widget-interact", len(models)):
        before = model.wait_for_selector("img").get_attribute("src")
        model.query_selector(".noUi-handle").focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("([model, old]) => ![undefined, old].includes(model.querySelector('img')?.src)",
                               arg=[model, before])


def test_live_slides_can_be_read_and_used(page, lab):
    """Live slides begin at the top, with a margin; the type grows with the window, cells run, a vote can be clicked."""
    slide = "section.present section.present"
    for lesson, width, height, size in ((INSTALLED[-1], 1920, 1080, "37.5px"), (INSTALLED[0], 1280, 720, "25px")):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(lab(f"rise/{lesson.file}"))
        text = page.wait_for_selector(f"{slide} .jp-RenderedMarkdown p")
        page.wait_for_function(f"text => getComputedStyle(text).fontSize == '{size}'", arg=text)
        assert text.bounding_box()["x"] > width / 20
        assert page.locator(slide).bounding_box()["y"] < height / 20
    asked = page.locator(f"{slide} .jp-CodeCell", has_text="predict(")
    button = page.locator(f"{slide} .widget-toggle-buttons button").first
    text.click()
    for _ in range(60):  # cells, from the first to the question; a busy machine may lose a key
        there = asked.count()
        page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(1000)  # RISE selects a slide's cell half a second after it shows the slide
        page.locator(".jp-InputPrompt", has_text="[*]").first.wait_for(state="detached")
        if there:
            with contextlib.suppress(playwright.sync_api.TimeoutError):
                button.wait_for(timeout=30_000)
                break
    for _ in range(2):  # the first click may only select the cell
        button.click()
    page.wait_for_selector(f"{slide} .widget-toggle-buttons button.mod-active")


def test_faults_on_a_page_are_found(opened):
    """The search for faults on a page finds an error, a warning and a missing picture."""
    page = opened(INSTALLED[0].file)
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
