"""What browser tests do on many pages."""

from playwright.sync_api import Page, expect

from tests.support.installation import EMAIL, PASSWORD


def sign_in(page: Page) -> None:
    """As the first admin; ends on the list of runs."""
    page.goto("/runs")
    page.get_by_label("Email").fill(EMAIL)
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
