"""A real Chromium in front of the installation."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, StorageState, expect, sync_playwright

from tests.support.browser import new_session, start_chromium
from tests.support.installation import Installation, wait_until

# Engine, learner, web tier and browser share two cores with another process of tests: what is late is not missing.
expect.set_options(timeout=20_000)
ACTIVE = {"queued", "starting", "running", "paused", "suspended"}
"""States of a run that may train, now or later."""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium. For all browser tests, and no longer: the driver's event loop must be gone when other tests of this
    process start their own."""
    with sync_playwright() as playwright, pytest.MonkeyPatch.context() as patch:
        # While the driver's event loop runs, Django must not take these tests for asynchronous callers.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = start_chromium(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def session(browser: Browser, installation: Installation) -> StorageState:
    """A session of the first admin, for contexts that nobody has to sign in to."""
    return new_session(browser, installation.url)


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
def page(browser: Browser, installation: Installation, session: StorageState) -> Iterator[Page]:
    """The first admin's browser at 1440 px; errors on the page fail the test."""
    with _watched_page(browser, installation, session) as page:
        yield page


@pytest.fixture
def strangers_page(browser: Browser, installation: Installation) -> Iterator[Page]:
    """As ``page``, and nobody is signed in."""
    with _watched_page(browser, installation, None) as page:
        yield page


@contextmanager
def _watched_page(browser: Browser, installation: Installation, session: StorageState | None) -> Iterator[Page]:
    size = {"width": 1440, "height": 900}
    context = browser.new_context(base_url=installation.url, viewport=size, storage_state=session)
    context.set_default_timeout(60_000)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == []
