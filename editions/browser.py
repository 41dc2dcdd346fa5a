"""The system's Chromium, in which decks, site and lessons are looked at and printed."""
import contextlib
import shutil


@contextlib.contextmanager
def chromium():
    """Start the system's Chromium, without a window and without requests of its own.

    Raises:
        RuntimeError: There is no Chromium, or it or Playwright does not start.
    """
    from playwright.sync_api import Error, sync_playwright

    path = (shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
            or shutil.which("Google Chrome", path="/Applications/Google Chrome.app/Contents/MacOS"))
    if not path:
        raise RuntimeError("there is no Chromium here: apt-get install chromium")
    quiet = ["--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--no-first-run"]
    with contextlib.ExitStack() as stack:
        try:
            playwright = stack.enter_context(sync_playwright())
        except Exception as error:  # Playwright's own program lacks a library, for example
            raise RuntimeError(f"Playwright does not start here: {error!r}") from error
        try:
            browser = playwright.chromium.launch(executable_path=path, args=quiet, timeout=300_000)
        except Error as error:  # such as a stub that only says how to install it
            raise RuntimeError(f"{path} does not start here: {error.message.splitlines()[0]}") from error
        yield browser
        browser.close()


def new_page(browser, **options):
    """Return a new page of a browser, in which everything may take five minutes, as it does on a busy machine."""
    page = browser.new_page(**options)
    page.context.set_default_timeout(300_000)
    return page
