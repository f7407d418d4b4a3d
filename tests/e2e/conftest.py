"""A real Chromium in front of the installation."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.support.browser import FLAGS
from tests.support.installation import Installation, wait_until

# Engine, learner, web tier and browser share two cores with another process of tests: what is late is not missing.
expect.set_options(timeout=20_000)
ACTIVE = {"queued", "starting", "running", "paused", "suspended"}
"""States of a run that may train, now or later."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium. For one module, because the driver's event loop must be gone when other tests start their own."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    assert chromium, "no Chromium was found: install it, or set CHROMIUM=/path/to/chromium"
    # The threaded driver runs an event loop; Django must not take that for an asynchronous caller.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(scope="module", autouse=True)
def nothing_goes_on(installation: Installation) -> Iterator[None]:
    """Cancels what a module leaves behind, a failed test's run above all: it would train on beside later tests."""
    yield
    api = installation.api
    left = [run["id"] for run in api.get("/runs", limit=200)["data"] if run["state"] in ACTIVE]
    for run_id in left:
        api.post(f"/runs/{run_id}/cancel")
    wait_until(lambda: not ({api.get(f"/runs/{one}")["state"] for one in left} & ACTIVE), 120, installation.log_tail)


@pytest.fixture
def page(browser: Browser, installation: Installation) -> Iterator[Page]:
    """A fresh profile at 1440 px; errors on the page fail the test."""
    context = browser.new_context(base_url=installation.url, viewport={"width": 1440, "height": 900})
    context.set_default_timeout(60_000)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == []
