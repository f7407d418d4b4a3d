"""A reward version in the shadow of a live run, promoted in a real browser: from then on it trains."""

import re
from collections.abc import Iterator
from secrets import token_hex
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import sign_in
from tests.support.installation import Installation, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(420)]

RIGHT = {"name": "right", "weight": 1.0, "grader": {"type": "numeric"}}
THREE_FOLD = {"components": [{**RIGHT, "weight": 3.0}], "success_threshold": 2.0}
"""Says the same as the reward that trains, on another scale."""


@pytest.fixture
def run(installation: Installation) -> Iterator[tuple[str, str]]:
    """A run that trains on version 1 with version 2 in its shadow, and the reward's slug."""
    api = installation.api
    reward = api.post("/rewards", {"name": f"Right {token_hex(3)}", "definition": {"components": [RIGHT]}})
    api.post(f"/rewards/{reward['id']}/versions", {"definition": THREE_FOLD, "note": "threefold"})
    spec = next(recipe["spec"] for recipe in api.get("/spec/recipes")["data"] if recipe["name"] == "demo")
    slug = reward["slug"]
    spec["reward"] = {**spec["reward"], "definition": f"{slug}@1", "shadow": [f"{slug}@2"]}
    spec["schedule"] = {**spec["schedule"], "steps": 500}
    made = api.post("/runs", {"name": "With a shadow", "spec": spec, "start": True})["id"]
    yield made, slug
    api.post(f"/runs/{made}/cancel")
    wait_until(lambda: api.get(f"/runs/{made}")["state"] == "cancelled", 60, installation.log_tail)


def test_a_shadow_is_promoted_in_mid_run(page: Page, installation: Installation, run: tuple[str, str]) -> None:
    run_id, slug = run

    def highest() -> list[float]:
        answer: dict[str, Any] = installation.api.get(f"/runs/{run_id}/metrics", keys="critic/score/max", x="step")
        return list(answer["series"].get("critic/score/max", {}).get("mean", []))

    sign_in(page)
    page.goto(f"/runs/{run_id}")
    shadow = page.locator(f'[data-testid="shadow"][data-ref="{slug}@2"]')
    expect(shadow).to_contain_text("agrees 100 %", timeout=120_000)
    shadow.get_by_test_id("promote").click()
    expect(shadow).to_contain_text("to be promoted")
    page.get_by_label("Reason for the change").fill("agrees, on a wider scale")
    page.get_by_role("button", name="Apply").click()
    progress = page.locator('[data-testid="control-progress"][data-target="reward.definition"]')
    expect(progress).to_have_attribute("data-state", re.compile("applied|settled"), timeout=60_000)
    expect(shadow).to_contain_text("trains")

    control = installation.api.get(f"/runs/{run_id}/controls")["data"][0]
    assert (control["value"], control["reason"]) == (f"{slug}@2", "agrees, on a wider scale")
    wait_until(lambda: highest()[-1:] == [3.0], 120, installation.log_tail)
    assert set(highest()[: control["applied_step"] - 1]) <= {0.0, 1.0}
    line = page.locator('[data-testid="control-line"][data-target~="reward.definition"]').first
    expect(line).to_have_attribute("data-step", str(control["applied_step"]))
