"""What browser tests do on many pages."""

import os
import shutil
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Playwright, StorageState, expect

from tests.support.installation import EMAIL, PASSWORD, ROOT, wait_until

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"


# Without these flags a headless Chromium calls its maker's hosts, which closed networks refuse many times over.
FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
FLAGS += ["--no-first-run", "--disable-quic", "--disable-gpu"]


def start_chromium(playwright: Playwright) -> Browser:
    """The machine's Chromium, without a window."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    assert chromium, "no Chromium was found: install it, or set CHROMIUM=/path/to/chromium"
    return playwright.chromium.launch(executable_path=chromium, args=FLAGS)


def new_session(browser: Browser, url: str) -> StorageState:
    """A session of the first admin, opened over the API: contexts that are given it are signed in from the start."""
    context = browser.new_context(base_url=url)
    context.request.get("/api/v1/session", fail_on_status_code=True)  # for the token that the next request must carry
    context.request.post(
        "/api/v1/session",
        data={"email": EMAIL, "password": PASSWORD},
        headers={"X-CSRFToken": _cookies(context)["csrftoken"]},
        fail_on_status_code=True,
    )
    state = context.storage_state()
    context.close()
    return state


def sign_in(page: Page) -> None:
    """As the first admin, unless the page's context has a session already; ends on the list of runs."""
    page.goto("/runs")
    if "sessionid" not in _cookies(page.context):
        page.get_by_label("Email").fill(EMAIL)
        page.get_by_role("textbox", name="Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
    # A password costs processor time by intent, and other tests keep a machine busy by intent, too.
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible(timeout=60_000)


def fits(page: Page) -> None:
    """Require that nothing is wider than the screen, once the page has followed a change of its size."""
    is_wide = "document.documentElement.scrollWidth > window.innerWidth"
    wait_until(lambda: not page.evaluate(is_wide), 20, lambda: "something is wider than the screen")


def violations(page: Page) -> list[str]:
    """What axe-core finds, one line per rule with the first place."""
    page.evaluate(AXE.read_text())  # not as a script tag, which the content security policy refuses
    rules: list[dict[str, Any]] = page.evaluate("axe.run().then(result => result.violations)")
    return [f"{rule['id']}: {rule['help']} at {rule['nodes'][0]['target']}" for rule in rules]


def _cookies(context: BrowserContext) -> dict[str, str]:
    return {cookie["name"]: cookie["value"] for cookie in context.cookies()}
