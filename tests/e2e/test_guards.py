"""Guards in a real browser: one acts on a run that trains, its badge says so, people edit it, and Home tells."""

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import fits, sign_in, violations
from tests.support.installation import Installation, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(420)]

SLOWER = {
    "name": "always",
    "metric": "groups/count",
    "max": 0.0,
    "severity": "error",
    "action": "change",
    "change": {"target": "optimizer.learning_rate", "multiply": 0.5},
}
PICTURES = os.environ.get("DRESSAGE_TEST_PICTURES")
"""Folder for pictures of what is looked at; none by default."""


def picture(page: Page, name: str) -> None:
    if PICTURES:
        page.screenshot(path=str(Path(PICTURES) / f"{name}.png"))


def test_a_guard_acts_is_edited_live_and_stands_on_home(page: Page, installation: Installation) -> None:
    api = installation.api
    spec = next(recipe for recipe in api.get("/spec/recipes")["data"] if recipe["name"] == "demo")["spec"]
    spec["guards"] = [*spec.get("guards", []), SLOWER]
    spec["schedule"]["steps"] = 400
    rate = spec["optimizer"]["learning_rate"]
    run_id = api.post("/runs", {"name": "Guarded", "spec": spec, "start": True})["id"]

    def controls() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = api.get(f"/runs/{run_id}/controls")["data"]
        return found

    # The learning rate is halved by the guard, through the worker and back.
    wait_until(lambda: any(one["state"] == "settled" for one in controls()), 180, installation.log_tail)
    (control,) = controls()
    assert (control["actor"], control["before"], control["value"]) == ("guard:always", rate, rate / 2)
    assert "groups/count is" in control["reason"]

    sign_in(page)
    expect(page.get_by_test_id("runs-table").get_by_test_id("run-health").first).to_contain_text("always since step 1")
    picture(page, "list-desk")
    for width, height in ((1440, 900), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto("/")
        attention = page.get_by_test_id("home-attention")
        expect(attention.get_by_role("link", name="Guarded")).to_be_visible()
        expect(attention.get_by_test_id("run-health").first).to_have_attribute("data-state", "error")
        expect(page.get_by_test_id("home-running").get_by_role("link", name="Guarded")).to_be_visible()
        expect(page.get_by_test_id("home-spend")).to_contain_text("Tokens trained on")
        fits(page)
        assert violations(page) == []
        picture(page, f"home-{width}")

    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"/runs/{run_id}")
    expect(page.get_by_test_id("run-health").first).to_contain_text("always since step 1")
    expect(page.get_by_test_id("incidents-open")).to_be_visible()
    page.get_by_test_id("run-health").get_by_role("link").click()
    incident = page.locator('[data-testid="incident"][data-kind="guard"]')
    expect(incident).to_contain_text("always: a guard objects")
    expect(incident.get_by_test_id("incident-figure").first).to_contain_text("Groups")
    page.mouse.move(5, 500)
    expect(page.get_by_role("tooltip")).to_have_count(0)
    assert violations(page) == []
    picture(page, "incidents-desk")
    incident.get_by_text("1 objection").click()
    incident.get_by_role("button", name="Guard always").click()
    card = page.get_by_test_id("guards-card")
    guard = card.locator('[data-guard="always"]')
    guard.get_by_role("button").first.click()
    expect(guard.get_by_test_id("guard-picture")).to_contain_text("Would have acted at step 1.")
    picture(page, "run-desk")
    guard.get_by_role("button", name="Mute for 50 steps").click()
    card.get_by_test_id("apply-guards").click()
    wait_until(lambda: controls()[0]["target"] == "guards" and controls()[0]["state"] == "settled", 60)
    assert controls()[0]["value"][-1]["muted_until"] > 50
    wait_until(lambda: api.get(f"/runs/{run_id}")["health"]["state"] == "ok", 60, installation.log_tail)
    expect(page.get_by_test_id("run-health")).to_have_count(0)
    api.post(f"/runs/{run_id}/cancel", {})
