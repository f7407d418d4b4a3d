"""Code that comes when it is wanted: the search, and the tabs of a run, after a network that was away as well."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import sign_in
from tests.support.installation import Installation

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timed,
    pytest.mark.expensive(9, "a browser in front of the installation", about=("frontend",)),
]


def test_the_search_opens_by_its_keys_and_finds(page: Page) -> None:
    sign_in(page)
    came = "performance.getEntriesByType('resource').filter(one => /CommandPalette/.test(one.name)).length"
    assert page.evaluate(came) == 0
    page.keyboard.press("Control+k")
    field = page.get_by_label("Search", exact=True)
    expect(field).to_be_focused()
    field.fill("datasets")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Datasets")
    expect(field).to_have_count(0)
    page.keyboard.press("Control+k")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(field).to_have_count(0)
    page.get_by_role("button", name=re.compile("Search or jump to")).click()
    expect(field).to_be_focused()


def test_a_tab_whose_code_did_not_come_is_there_once_it_does(page: Page, installation: Installation) -> None:
    api = installation.api
    spec = api.get("/spec/recipes")["data"][0]["spec"]
    run = api.post("/runs", {"name": "A draft whose code comes late", "spec": spec, "start": False})["id"]
    page.goto(f"/runs/{run}")
    page.route("**/assets/CheckpointsTab-*.js", lambda route: route.abort())
    page.get_by_role("tab", name="Checkpoints").click()
    again = page.get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    page.unroute("**/assets/CheckpointsTab-*.js")
    # It asks again by itself; a click would meet a button that may just go.
    expect(page.get_by_role("tabpanel", name="Checkpoints")).to_contain_text("No checkpoints yet")
    expect(again).to_have_count(0)
