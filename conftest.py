"""The engine and the data as the lessons take them, in every process that runs tests and in the kernels it starts."""
import os
import shutil
import signal
import sys
from importlib.util import find_spec

import pytest
from hypothesis import settings

from d2lhelpers import configure_engine

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as for a run in the background, and for all that it would start
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.pop("D2LHELPERS_DATASET", None)
os.environ["D2LHELPERS_WIDGETS"] = "0"
configure_engine(devices=2)
settings.register_profile("house", deadline=None, max_examples=60, derandomize=True)  # no result hangs on the machine
settings.load_profile("house")

if find_spec("torch") is None and not (sys.platform == "linux" and os.environ.get("CI")):
    collect_ignore = ["d2lhelpers/torch.py", "notebooks/pytorch",
                      "notebooks/scripts/ddp_worker.py", "tests/test_torch.py", "tests/test_ddp_worker.py"]


@pytest.fixture(scope="module")
def browser():
    """Return the system's Chromium, without a window; tests that need it are skipped without one, but not in CI."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not path:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("there is no Chromium here: apt-get install chromium")
    quiet = ["--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--no-first-run"]  # it asks nobody for anything by itself
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=quiet, chromium_sandbox=os.geteuid() != 0)
        yield chromium
        chromium.close()
