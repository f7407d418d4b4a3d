"""The main job in a real browser: sign in, create a run from the form, watch it learn, steer it, stop it."""

import json
import re
from secrets import token_hex
from statistics import fmean
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import sign_in
from tests.support.installation import EMAIL, Installation, wait_until
from tests.support.live_run import LiveRun

pytestmark = [pytest.mark.e2e, pytest.mark.timed, pytest.mark.timeout(420)]

BUDGET = 3


@pytest.mark.expensive(5, "a browser")
def test_sign_in_refuses_a_wrong_password(strangers_page: Page) -> None:
    page = strangers_page
    page.goto("/runs")
    page.get_by_label("Email").fill(EMAIL)
    page.get_by_role("textbox", name="Password").fill("not the password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("The email or the password is wrong.")).to_be_visible()


@pytest.mark.live
@pytest.mark.expensive(160, "the main job: a run that is made, learns, is steered, and is looked at in a browser")
def test_create_watch_steer_and_stop(strangers_page: Page, installation: Installation) -> None:
    page = strangers_page
    sign_in(page)
    run = _create_from_the_form(page, installation)
    run.wait_for("running")
    expect(page.get_by_test_id("run-state").first).to_have_attribute("data-state", "running")
    run.reach(25)
    run.pause()  # nothing trains behind a page that is only looked at
    reward = run.series("critic/score/mean")["mean"]
    assert fmean(reward[20:25]) > fmean(reward[:3]) + 0.2
    _reward_rises_on_the_page(page)

    run.resume()
    expect(page.get_by_test_id("run-state").first).to_have_attribute("data-state", "running")
    _set_thinking_budget(page)
    control = run.controls()[0]
    assert (control["target"], control["value"]) == ("thinking.budget", BUDGET)
    assert control["reason"] == "what does thinking buy?"
    applied = int(control["applied_step"])
    line = page.locator('[data-testid="control-line"][data-target~="thinking.budget"]').first
    expect(line).to_have_attribute("data-step", str(applied))
    run.reach(applied + 3)
    thinking, length = run.series("thinking/max")["mean"], run.series("response_length/mean")["mean"]
    assert max(thinking[: applied - 1]) > BUDGET
    assert max(thinking[applied - 1 :]) == BUDGET
    assert fmean(length[applied - 1 :]) < fmean(length[applied - 6 : applied - 1])
    _effect_is_told(page, run, control["id"])

    page.get_by_test_id("stop").click()
    page.get_by_role("button", name="Stop run").click()
    expect(page.get_by_test_id("run-state").first).to_have_attribute("data-state", "cancelled", timeout=60_000)
    page.reload()
    expect(page.get_by_test_id("run-state").first).to_have_attribute("data-state", "cancelled")
    _every_metric_is_drawn_found_and_hidden(page, run)
    _row_tells_of_the_run(page, run)


def _create_from_the_form(page: Page, installation: Installation) -> LiveRun:
    name = f"Made in the browser {token_hex(3)}"
    page.goto("/runs/new")
    page.get_by_test_id("preset-demo").click()
    _choices_are_told(page)
    page.get_by_label("Name").first.fill(name)
    page.get_by_test_id("create-and-start").click()
    page.wait_for_url(re.compile(r"/runs/run_\w+"))
    return LiveRun(installation, page.url.rpartition("/")[2].partition("?")[0], name)


def _choices_are_told(page: Page) -> None:
    """What stands behind the policy, the datasets and the reward of the form is told below their fields."""
    told = page.get_by_test_id("choice-preview")
    expect(told.filter(has_text=re.compile(r"parameters · [\d,]+ positions"))).to_have_count(1)
    expect(told.filter(has_text="× correct (")).to_have_count(1)
    rows = told.filter(has_text=re.compile(r"^[\d,]+ rows"))
    rows.first.get_by_text("First rows").click()
    expect(rows.first.get_by_role("listitem")).to_have_count(3)


def _reward_rises_on_the_page(page: Page) -> None:
    """The chart's own table shows what the curve shows: rewards, newest first."""
    card = page.locator('section[data-testid^="chart-reward"]').first
    card.get_by_role("button", name="Data table").click()
    rows = card.locator("tbody tr")
    expect(rows.nth(20)).to_be_attached()
    newest = [float(text) for text in card.locator("tbody tr td:nth-child(2)").all_inner_texts() if text.strip("–— ")]
    assert fmean(newest[:5]) > fmean(newest[-3:])
    card.get_by_role("button", name="Data table").click()


def _every_metric_is_drawn_found_and_hidden(page: Page, run: LiveRun) -> None:
    reported = {one["name"] for one in run.api.get(f"/runs/{run.id}/metrics/names")["data"]}
    expect(page.get_by_test_id("more-charts")).to_be_visible()
    legends = page.locator('section[data-testid^="chart-"] button[aria-pressed][title^="Hide "]')
    drawn: set[str] = set()

    def all_are_drawn() -> bool:
        """Charts are drawn near the screen only, so each look is a little further down, and from the end at the top."""
        page.evaluate(
            "scrollTo(0, scrollY + innerHeight < document.documentElement.scrollHeight - 1 ? scrollY + 400 : 0)"
        )
        drawn.update(title.removeprefix("Hide ") for title in legends.evaluate_all("all => all.map(one => one.title)"))
        return reported <= drawn

    wait_until(all_are_drawn, 90, lambda: f"{sorted(reported - drawn)} were not drawn")
    page.evaluate("scrollTo(0, 0)")
    find = page.get_by_label("Find a metric")
    find.fill("learning rate")
    expect(page.get_by_test_id("chart-gradient")).to_be_visible()
    expect(page.get_by_test_id("chart-reward")).to_have_count(0)
    line = page.get_by_test_id("chart-gradient").get_by_title("Hide actor/grad_norm")
    line.click()
    page.wait_for_url(re.compile(r"find=learning.*hide=actor"))
    page.reload()
    expect(page.get_by_title("Show actor/grad_norm")).to_contain_text("hidden")
    page.get_by_role("button", name="Show hidden lines").click()
    find.fill("no such thing")
    expect(page.get_by_text("No metric matches “no such thing”.")).to_be_visible()
    find.press("Escape")
    expect(page.get_by_test_id("chart-reward")).to_be_visible()


def _row_tells_of_the_run(page: Page, run: LiveRun) -> None:
    """A row of the dataset leads to the run that sampled it, and from there to its completions."""
    api = run.api
    rollout = api.get(f"/runs/{run.id}/rollouts")["data"][0]
    name, _, index = rollout["prompt_id"].rpartition(":")
    sources = api.get(f"/runs/{run.id}")["spec"]["data"]["sources"]
    slug, _, number = next(one["dataset"] for one in sources if one["name"] == name).partition("@")
    dataset = next(one for one in api.get("/datasets", limit=200)["data"] if one["slug"] == slug)
    row = api.get(f"/datasets/{dataset['id']}/versions/{number}/rows/{index}")
    assert str(rollout["answer"]) in row["json"]
    page.goto(f"/datasets/{dataset['id']}?version={number}&row={index}")
    told = page.get_by_test_id("row-runs").locator(f'[data-run="{run.id}"]')
    expect(told.get_by_role("link", name=run.name)).to_be_visible()
    told.get_by_role("link", name=re.compile(r"^\d+ completions?$")).click()
    expect(page.get_by_text(f"prompt {rollout['prompt_id']}")).to_be_visible()
    found = api.get(f"/runs/{run.id}/rollouts", prompt_id=rollout["prompt_id"])["data"]
    groups = {(one["step"], one["group_id"]) for one in found}
    expect(page.get_by_test_id("groups-table").locator("tbody tr")).to_have_count(len(groups))
    _every_token(page, run)


def _every_token(page: Page, run: LiveRun) -> None:
    """A sample is two clicks from its tokens; overlays, the worst token and the view are in the address."""
    api = run.api
    # Of a group that is learned from: dead ones are not scored by the learner, and have no gap. A policy that was left
    # alone for long has only dead ones in its newest steps.
    kept = api.get(f"/runs/{run.id}/groups", dead="false", limit=200)["data"]
    groups = [one for one in kept if one["tokens"] and one["worst_gap"]]
    assert groups, f"none of {len(kept)} groups has tokens and a gap: {kept[:2]}"
    group = groups[0]
    page.goto(f"/runs/{run.id}?tab=rollouts&step={group['step']}")
    expect(page.get_by_test_id("kept")).to_contain_text("All groups of the last 20 steps, 4 groups of each earlier one")
    row = page.get_by_label(f"Group {group['group_id']} of step {group['step']}", exact=True)
    row.get_by_role("button", name=re.compile("^Sample 1:")).click()
    tokens = page.get_by_test_id("sample-tokens")
    expect(tokens.get_by_test_id("token-legend")).to_contain_text("Gap")
    tokens.get_by_role("button", name="Next worst token").click()
    page.wait_for_url(re.compile(r"overlay=gap.*token=\d+"))
    expect(tokens.get_by_test_id("token-values")).to_contain_text("log p, learner")
    page.keyboard.press("v")
    page.wait_for_url(re.compile("overlay=version"))
    expect(tokens.get_by_test_id("token-legend")).to_contain_text("Weight version")
    page.reload()
    expect(tokens.get_by_test_id("token-legend")).to_contain_text("Weight version")
    page.keyboard.press("Escape")
    prompt = group["prompt"].strip().splitlines()[0][:40]
    page.get_by_label("Search prompts and completions").fill(prompt)
    page.wait_for_url(re.compile("q="))
    expect(row).to_be_visible()
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as begun:
        page.get_by_role("menuitem", name="JSON Lines, with tokens").click()
    lines = [json.loads(line) for line in begun.value.path().read_text().splitlines()]
    assert {one["step"] for one in lines} == {group["step"]}
    assert all(len(one["token_ids"]) == len(one["texts"]) == one["length"] for one in lines)


def _set_thinking_budget(page: Page) -> None:
    knob = page.get_by_test_id("thinking-budget")
    knob.get_by_role("switch", name="limited").check()
    knob.get_by_label("Thinking budget", exact=True).fill(str(BUDGET))
    knob.get_by_label("Reason for the change").fill("what does thinking buy?")
    knob.get_by_role("button", name="Apply").click()
    progress = page.locator('[data-testid="control-progress"][data-target="thinking.budget"]')
    expect(progress).to_have_attribute("data-state", re.compile("applied|settled"), timeout=30_000)


def _effect_is_told(page: Page, run: LiveRun, control: str) -> None:
    """The flag and the history tell what the budget has done, as the API does."""

    def told() -> Any:
        return run.api.get(f"/runs/{run.id}/controls/{control}/effect")

    wait_until(lambda: told()["status"] == "known", 90, run.story)
    assert told()["targets"][0]["name"] == "thinking/mean"
    run.pause()
    page.locator('[data-testid="control-line"][data-target~="thinking.budget"]').first.click()
    _card_is_known(page.get_by_test_id("flag-card").first)
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Controls", exact=True).click()
    newest = page.get_by_test_id("control-row").first  # first: changes of this run alone
    newest.get_by_title("Show effect").click()
    _card_is_known(page.get_by_test_id("control-effect"))
    page.get_by_role("tab", name="Charts", exact=True).click()
    run.resume()
    expect(page.get_by_test_id("run-state").first).to_have_attribute("data-state", "running")


def _card_is_known(place: Locator) -> None:
    expect(place.get_by_test_id("effect-verdict")).to_have_attribute("data-status", "known", timeout=30_000)
    expect(place.locator('[data-metric="thinking/mean"]').get_by_role("img")).to_be_visible()
