"""A headless Chromium for the tests of pages; they skip where none is installed.

``make test-browser`` installs the driver. Chromium itself is the system's: Debian and Ubuntu have a
package ``chromium``. SKLEARN_MRMP_CHROMIUM names another program.
"""

import os
import shutil

import pytest

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium():
    given = os.environ.get("SKLEARN_MRMP_CHROMIUM")
    found = [given] if given else [shutil.which(name) for name in _NAMES]
    return next((path for path in found if path), None)


@pytest.fixture(scope="session")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium is installed")
    with api.sync_playwright() as driver:
        # A new folder for the user's data is made, and removed, by the driver.
        chromium = driver.chromium.launch(executable_path=program, args=FLAGS, headless=True)
        yield chromium
        chromium.close()


class OpenPage:
    """A page in the browser, and what it complained about or asked for."""

    def __init__(self, browser, path):
        self.context = browser.new_context(viewport={"width": 1300, "height": 900})
        self.page = self.context.new_page()
        self.complaints, self.requests = [], []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._note)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def _note(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def assert_quiet(self, path):
        assert self.complaints == []
        assert self.requests == [path.as_uri()]


@pytest.fixture
def open_page(browser):
    opened = []

    def open_(path):
        opened.append((OpenPage(browser, path), path))
        return opened[-1][0].page

    yield open_
    for page, path in opened:
        page.assert_quiet(path)
        page.context.close()
