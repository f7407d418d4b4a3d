"""The difficulty band in a real browser, over the pass rates of a real run: dragged, previewed, applied as one."""

import os
import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import fits, sign_in, violations
from tests.support.installation import Installation, wait_until

expect.set_options(timeout=20_000)
pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(300)]

PICTURES = os.environ.get("DRESSAGE_TEST_PICTURES")
LOW, HIGH = "curriculum.min_pass_rate", "curriculum.max_pass_rate"


@pytest.fixture
def run_id(installation: Installation) -> Iterator[str]:
    """A run that stands paused after some steps, so that its pass rates stay as they are."""
    api = installation.api
    recipe = next(one for one in api.get("/spec/recipes")["data"] if one["name"] == "demo")
    band = {"type": "difficulty_band", "min_pass_rate": 0.0, "max_pass_rate": 1.0, "explore": 0.1}
    made = api.post("/runs", {"name": "With a band", "spec": {**recipe["spec"], "curriculum": band}, "start": True})
    run_id: str = made["id"]
    wait_until(lambda: api.get(f"/runs/{run_id}")["step"] >= 3, 180, installation.log_tail)
    api.post(f"/runs/{run_id}/pause")
    wait_until(lambda: api.get(f"/runs/{run_id}")["state"] == "paused", 60, installation.log_tail)
    yield run_id
    api.post(f"/runs/{run_id}/cancel")
    wait_until(lambda: api.get(f"/runs/{run_id}")["state"] == "cancelled", 60, installation.log_tail)


def test_the_band_is_dragged_previewed_and_applied(page: Page, installation: Installation, run_id: str) -> None:
    api = installation.api
    known = api.get(f"/runs/{run_id}/curriculum")
    tried = sum(source["prompts"] - source["untried"] for source in known["pass_rates"]["sources"])
    assert known["pass_rates"]["step"] == api.get(f"/runs/{run_id}")["step"]
    assert 0 < tried == sum(sum(source["bins"]) for source in known["pass_rates"]["sources"])

    sign_in(page)
    _foresees_a_fork(page, installation, run_id)
    page.goto(f"/runs/{run_id}")
    knob = page.get_by_test_id("difficulty")
    low, high = knob.get_by_role("slider", name="Lowest pass rate"), knob.get_by_test_id("band-high")
    expect(knob.get_by_role("img", name=re.compile(f"^Pass rates of {tried} prompts"))).to_be_visible(timeout=30_000)
    before = page.evaluate("document.documentElement.scrollHeight")
    _drag(page, low, 0.3)
    expect(low).to_have_attribute("aria-valuenow", "0.3")
    high.focus()
    for key in ("PageDown", "PageDown", "ArrowLeft", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    expect(high).to_have_attribute("aria-valuenow", "0.89")
    assert page.evaluate("document.documentElement.scrollHeight") <= before + 120  # the reason and its button
    assert api.get(f"/runs/{run_id}/controls")["data"] == []

    wanted = api.post(
        f"/runs/{run_id}/curriculum/preview",
        {"changes": [{"target": LOW, "value": 0.3}, {"target": HIGH, "value": 0.89}]},
    )
    _shows(knob, wanted)
    assert violations(page) == []

    knob.get_by_label("Reason for the change").fill("leave what is mastered")
    knob.get_by_role("button", name="Apply 2 changes").click()
    expect(knob.locator('[data-testid="control-progress"][data-state="staged"]')).to_have_count(2)
    made = api.get(f"/runs/{run_id}/controls")["data"]
    assert {(one["target"], one["value"]) for one in made} == {(LOW, 0.3), (HIGH, 0.89)}
    assert len({one["change_set"] for one in made}) == 1
    api.post(f"/runs/{run_id}/resume")
    progress = knob.locator('[data-testid="control-progress"]')
    for index in range(2):
        expect(progress.nth(index)).to_have_attribute("data-state", re.compile("applied|settled"), timeout=60_000)
    found = api.get(f"/runs/{run_id}/curriculum")
    assert (found["min_pass_rate"], found["max_pass_rate"]) == (0.3, 0.89)
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page)


def _foresees_a_fork(page: Page, installation: Installation, run_id: str) -> None:
    """Other groups and filters are foreseen from what is stored, and a fork begins with them."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"/runs/{run_id}")
    page.get_by_test_id("open-controls").click()
    page.get_by_test_id("batch-forecast").click()
    shown = page.locator('[data-figure="dead"] td')
    expect(shown).to_be_visible()
    fits(page)
    _picture(page, "fork-phone")

    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_test_id("batch-forecast").click()
    now = installation.api.get(f"/runs/{run_id}")["effective_spec"]
    size = now["rollout"]["group_size"] * 2
    filters = [*now["filters"], {"type": "truncated"}]
    changes = [{"target": "rollout.group_size", "value": size}, {"target": "filters", "value": filters}]
    wanted = installation.api.post(f"/runs/{run_id}/batch/preview", {"changes": changes})
    assert wanted["outcomes"]["groups"] > 0 and wanted["stored"]["groups"] > 0
    page.get_by_label("Group size to foresee").fill(str(size))
    page.get_by_role("switch", name="Completions cut off at max tokens").click()
    # Rounded as JavaScript does it: up at half.
    shares = [Decimal(100 * side["dead_share"]["value"]) for side in (wanted["now"], wanted["draft"])]
    dead = [f"{share.quantize(Decimal('0.1'), ROUND_HALF_UP)} %" for share in shares]
    expect(shown).to_contain_text(" → ".join(dict.fromkeys(dead)))
    expect(page.get_by_test_id("batch-preview").get_by_role("listitem")).to_have_text(wanted["assumptions"])
    assert violations(page) == []
    _picture(page, "fork-desk")
    page.get_by_role("link", name="Fork with these").click()
    expect(page).to_have_url(re.compile(f"fork={run_id}"))
    expect(page.locator('[data-pointer="rollout/group_size"] input')).to_have_value(str(size))
    page.get_by_role("tab", name="As API").click()
    expect(page.get_by_role("tabpanel", name="As API")).to_contain_text('"truncated"')
    page.goto(f"/runs/{run_id}")
    expect(page.get_by_label("Group size to foresee")).to_have_value(str(size))
    page.get_by_role("button", name="Discard").click()


def _picture(page: Page, name: str) -> None:
    """Take a picture of the forecast, where whoever runs the tests wants to look at it."""
    if PICTURES:
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.get_by_test_id("batch-forecast").scroll_into_view_if_needed()
            page.screenshot(path=f"{PICTURES}/{name}-{scheme}.png")
            page.get_by_test_id("batch-preview").get_by_role("listitem").last.scroll_into_view_if_needed()
            page.screenshot(path=f"{PICTURES}/{name}-{scheme}-end.png")
        page.emulate_media(color_scheme=None)


def _drag(page: Page, handle: Locator, rate: float) -> None:
    """Hold a handle and pull it to a pass rate, in several moves."""
    handle.scroll_into_view_if_needed()
    box, plot = handle.bounding_box(), handle.locator("..").bounding_box()
    assert box is not None and plot is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(plot["x"] + rate * plot["width"], plot["y"] + 30, steps=8)
    page.mouse.up()


def _shows(knob: Locator, wanted: dict[str, Any]) -> None:
    """The figures on the screen are those of the preview."""
    preview = knob.get_by_test_id("band-preview")
    for now, draft in zip(wanted["now"]["sources"], wanted["draft"]["sources"], strict=True):
        row = preview.locator(f'tr[data-source="{now["name"]}"]')
        inside = [f"{one['inside']:,}" for one in (now, draft)]
        expect(row.locator("td").first).to_have_text(" → ".join(dict.fromkeys(inside)))
    dead = [f"{100 * side['dead_share']:.1f} %" for side in (wanted["now"], wanted["draft"])]
    expect(knob.get_by_test_id("band-dead")).to_have_text(" → ".join(dict.fromkeys(dead)))
