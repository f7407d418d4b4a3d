"""The main job in a real browser: sign in, create a run from the form, watch it learn, steer it, stop it."""

import re
from statistics import fmean
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import sign_in
from tests.support.installation import EMAIL, Installation, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(420)]

BUDGET = 3


def test_sign_in_refuses_a_wrong_password(page: Page) -> None:
    page.goto("/runs")
    page.get_by_label("Email").fill(EMAIL)
    page.get_by_role("textbox", name="Password").fill("not the password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("The email or the password is wrong.")).to_be_visible()


def test_create_watch_steer_and_stop(page: Page, installation: Installation) -> None:
    sign_in(page)
    run_id = _create_from_the_form(page)

    def metrics() -> dict[str, list[float]]:
        return _metrics(installation, run_id)

    expect(page.get_by_test_id("run-state").first).to_have_attribute("data-state", "running", timeout=120_000)
    wait_until(lambda: len(metrics()["critic/score/mean"]) >= 25, 180, installation.log_tail)
    reward = metrics()["critic/score/mean"]
    assert fmean(reward[20:25]) > fmean(reward[:3]) + 0.2
    _reward_rises_on_the_page(page)

    _set_thinking_budget(page)
    applied = _applied_step(installation, run_id)
    line = page.locator('[data-testid="control-line"][data-target="thinking.budget"]').first
    expect(line).to_have_attribute("data-step", str(applied))
    wait_until(lambda: len(metrics()["thinking/max"]) >= applied + 3, 60, installation.log_tail)
    seen = metrics()
    assert max(seen["thinking/max"][: applied - 1]) > BUDGET
    assert max(seen["thinking/max"][applied - 1 :]) == BUDGET
    assert fmean(seen["response_length/mean"][applied - 1 :]) < fmean(
        seen["response_length/mean"][applied - 6 : applied - 1]
    )

    page.get_by_test_id("stop").click()
    page.get_by_role("button", name="Stop the run").click()
    expect(page.get_by_test_id("run-state").first).to_have_attribute("data-state", "cancelled", timeout=60_000)
    page.reload()
    expect(page.get_by_test_id("run-state").first).to_have_attribute("data-state", "cancelled")


def _create_from_the_form(page: Page) -> str:
    page.goto("/runs/new")
    page.get_by_test_id("preset-demo").click()
    page.get_by_label("Name").first.fill("Made in the browser")
    page.get_by_test_id("create-and-start").click()
    page.wait_for_url(re.compile(r"/runs/run_\w+"))
    return page.url.rpartition("/")[2].partition("?")[0]


def _reward_rises_on_the_page(page: Page) -> None:
    """The chart's own table shows what the curve shows: rewards, newest first."""
    card = page.locator('section[data-testid^="chart-reward"]').first
    card.get_by_role("button", name="Data table").click()
    rows = card.locator("tbody tr")
    expect(rows.nth(20)).to_be_attached()
    newest = [float(text) for text in card.locator("tbody tr td:nth-child(2)").all_inner_texts() if text.strip("–— ")]
    assert fmean(newest[:5]) > fmean(newest[-3:])
    card.get_by_role("button", name="Data table").click()


def _set_thinking_budget(page: Page) -> None:
    knob = page.get_by_test_id("thinking-budget")
    knob.get_by_role("switch", name="limited").check()
    knob.get_by_label("Thinking budget", exact=True).fill(str(BUDGET))
    knob.get_by_label("Reason for the change").fill("what does thinking buy?")
    knob.get_by_role("button", name="Apply").click()
    progress = page.locator('[data-testid="control-progress"][data-target="thinking.budget"]')
    expect(progress).to_have_attribute("data-state", re.compile("applied|settled"), timeout=30_000)


def _applied_step(installation: Installation, run_id: str) -> int:
    control = installation.api.get(f"/runs/{run_id}/controls")["data"][0]
    assert (control["target"], control["value"]) == ("thinking.budget", BUDGET)
    assert control["reason"] == "what does thinking buy?"
    return int(control["applied_step"])


def _metrics(installation: Installation, run_id: str) -> dict[str, list[float]]:
    keys = "critic/score/mean,response_length/mean,thinking/max"
    answer: dict[str, Any] = installation.api.get(f"/runs/{run_id}/metrics", keys=keys, x="step", max_points=2000)
    return {key: answer["series"].get(key, {}).get("mean", []) for key in keys.split(",")}
