"""One live run in a real browser: at one glance, steered, guarded, promoted, by two people and through an outage.

The run trains while a test waits for its steps and stands still while a test looks at a page.
"""

import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from secrets import token_hex
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, StorageState, expect

from tests.support.browser import fits, sign_in, violations
from tests.support.installation import Installation, wait_until
from tests.support.live_run import LiveRun, demo_spec
from tests.support.run_page import charts_in_sight, drag, points_drawn, shows_band, top

ABOUT = ("frontend/src", "platform/dressage", "worker", "trainer_core")
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.live,
    pytest.mark.timed,
    pytest.mark.timeout(420),
    pytest.mark.expensive(45, "a live run that trains some steps, and a browser", about=ABOUT),
]

KEYS = ("critic/score/mean", "response_length/mean", "actor/entropy")
DESK: Any = {"width": 1440, "height": 900}
PHONE: Any = {"width": 390, "height": 844}
RIGHT = {"name": "right", "weight": 1.0, "grader": {"type": "numeric"}}
THREE_FOLD = {"components": [{**RIGHT, "weight": 3.0}], "success_threshold": 2.0}
"""Gives the same reward as the one that trains, on another scale."""
SLOWER = {
    "name": "always",
    "metric": "groups/count",
    "max": 0.0,
    "severity": "error",
    "action": "change",
    "change": {"target": "optimizer.learning_rate", "multiply": 0.5},
}
LOW, HIGH = "curriculum.min_pass_rate", "curriculum.max_pass_rate"
RATE = "optimizer.learning_rate"


@pytest.fixture(scope="module")
def shared(installation: Installation) -> Iterator[LiveRun]:
    """A run with a difficulty band that leaves nothing out, and the version of its reward that is in the shadow."""
    api = installation.api
    reward = api.post("/rewards", {"name": f"Right {token_hex(3)}", "definition": {"components": [RIGHT]}})
    api.post(f"/rewards/{reward['id']}/versions", {"definition": THREE_FOLD, "note": "threefold"})
    spec, slug = demo_spec(api), reward["slug"]
    spec["curriculum"] = {"type": "difficulty_band", "min_pass_rate": 0.0, "max_pass_rate": 1.0, "explore": 0.1}
    spec["reward"] |= {"definition": f"{slug}@1", "shadow": [f"{slug}@2"]}
    spec["schedule"]["steps"] = 2000
    run = LiveRun.start(installation, "At one glance", spec)
    run.reach(8)
    yield run
    run.end()


@pytest.fixture
def run(shared: LiveRun) -> Iterator[LiveRun]:
    """The shared run, which stands still before and after a test."""
    shared.pause()
    yield shared
    shared.pause()


def test_six_charts_stand_on_a_desk_and_two_on_a_phone(
    page: Page, browser: Browser, session: StorageState, run: LiveRun
) -> None:
    run.resume()
    _open(page, run)
    strip = page.get_by_test_id("phase-strip")
    expect(strip).to_contain_text("p95")
    expect(strip).to_contain_text(" to ")
    with run.held():
        assert charts_in_sight(page, 900) >= 6
        box = strip.bounding_box()
        assert box is not None and box["height"] <= 48, "one line"
        assert top(page.get_by_test_id("timeline")) > 900, "below the charts"

        context = browser.new_context(
            base_url=run.installation.url, viewport=PHONE, reduced_motion="reduce", storage_state=session
        )
        context.set_default_timeout(60_000)
        small = context.new_page()
        _open(small, run)
        bar = small.get_by_test_id("open-controls").bounding_box()
        assert bar is not None
        assert charts_in_sight(small, bar["y"]) >= 2
        fits(small)
        assert violations(small) == []
        context.close()


def test_the_tour_ends_with_a_steered_run(page: Page, run: LiveRun) -> None:
    _open(page, run)
    page.get_by_test_id("take-tour").click()
    tour = page.get_by_test_id("tour")
    for step in range(1, 5):
        expect(tour).to_contain_text(f"Step {step} of 6")
        expect(page.locator('[data-tour="here"]')).to_be_visible()
        tour.get_by_role("button", name="Next").click()
    assert violations(page) == []
    before = run.now()["revision"]
    knob = page.get_by_test_id("thinking-budget")
    knob.get_by_label("Thinking budget", exact=True).fill("12")
    knob.get_by_role("button", name="Apply", exact=True).click()
    expect(tour).to_contain_text("Step 6 of 6")
    assert run.now()["revision"] == before + 1
    tour.get_by_role("button", name="Done").click()
    expect(tour).to_have_count(0)
    expect(page.get_by_test_id("take-tour")).to_have_count(0)


def test_the_band_is_dragged_previewed_and_applied(page: Page, run: LiveRun) -> None:
    known = run.api.get(f"/runs/{run.id}/curriculum")
    tried = sum(source["prompts"] - source["untried"] for source in known["pass_rates"]["sources"])
    assert known["pass_rates"]["step"] == run.step
    assert 0 < tried == sum(sum(source["bins"]) for source in known["pass_rates"]["sources"])
    earlier = run.controls()

    _open(page, run)
    knob = page.get_by_test_id("difficulty")
    low, high = knob.get_by_role("slider", name="Minimum pass rate"), knob.get_by_test_id("band-high")
    expect(knob.get_by_role("img", name=re.compile(f"^Pass rates of {tried} prompts"))).to_be_visible(timeout=30_000)
    before = page.evaluate("document.documentElement.scrollHeight")
    drag(page, low, 0.3)
    expect(low).to_have_attribute("aria-valuenow", "0.3")
    high.focus()
    for key in ("PageDown", "PageDown", "ArrowLeft", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    expect(high).to_have_attribute("aria-valuenow", "0.89")
    assert page.evaluate("document.documentElement.scrollHeight") <= before + 120  # the reason and its button
    assert run.controls() == earlier

    changes = [{"target": LOW, "value": 0.3}, {"target": HIGH, "value": 0.89}]
    shows_band(knob, run.api.post(f"/runs/{run.id}/curriculum/preview", {"changes": changes}))
    assert violations(page) == []

    knob.get_by_label("Reason for the change").fill("leave what is mastered")
    knob.get_by_role("button", name="Apply 2 changes").click()
    expect(knob.locator('[data-testid="control-progress"][data-state="staged"]')).to_have_count(2)
    made = [one for one in run.controls() if one not in earlier]
    assert {(one["target"], one["value"]) for one in made} == {(LOW, 0.3), (HIGH, 0.89)}
    assert len({one["change_set"] for one in made}) == 1
    run.resume()
    progress = knob.locator('[data-testid="control-progress"]')
    for index in range(2):
        expect(progress.nth(index)).to_have_attribute("data-state", re.compile("applied|settled"), timeout=60_000)
    found = run.api.get(f"/runs/{run.id}/curriculum")
    assert (found["min_pass_rate"], found["max_pass_rate"]) == (0.3, 0.89)
    page.set_viewport_size(PHONE)
    fits(page)


def test_a_fork_is_foreseen_from_what_is_stored(page: Page, run: LiveRun) -> None:
    """Other groups and filters are foreseen from what is stored, and a fork begins with them."""
    page.set_viewport_size(PHONE)
    _open(page, run)
    page.get_by_test_id("open-controls").click()
    page.get_by_test_id("batch-forecast").click()
    shown = page.locator('[data-figure="dead"] td')
    expect(shown).to_be_visible()
    fits(page)

    page.set_viewport_size(DESK)
    page.get_by_test_id("batch-forecast").click()
    now = run.now()["effective_spec"]
    size = now["rollout"]["group_size"] * 2
    filters = [*now["filters"], {"type": "truncated"}]
    changes = [{"target": "rollout.group_size", "value": size}, {"target": "filters", "value": filters}]
    wanted = run.api.post(f"/runs/{run.id}/batch/preview", {"changes": changes})
    assert wanted["outcomes"]["groups"] > 0 and wanted["stored"]["groups"] > 0
    page.get_by_label("Group size to preview").fill(str(size))
    page.get_by_role("switch", name="Completions truncated at max tokens").click()
    # Rounded as JavaScript does it: up at half.
    shares = [Decimal(100 * side["dead_share"]["value"]) for side in (wanted["now"], wanted["draft"])]
    dead = [f"{share.quantize(Decimal('0.1'), ROUND_HALF_UP)} %" for share in shares]
    expect(shown).to_contain_text(" → ".join(dict.fromkeys(dead)))
    expect(page.get_by_test_id("batch-preview").get_by_role("listitem")).to_have_text(wanted["assumptions"])
    assert violations(page) == []
    page.get_by_role("link", name="Fork with these").click()
    expect(page).to_have_url(re.compile(f"fork={run.id}"))
    expect(page.locator('[data-pointer="rollout/group_size"] input')).to_have_value(str(size))
    page.get_by_role("tab", name="As API").click()
    expect(page.get_by_role("tabpanel", name="As API")).to_contain_text('"truncated"')
    page.goto(f"/runs/{run.id}")
    expect(page.get_by_label("Group size to preview")).to_have_value(str(size))
    page.get_by_role("button", name="Discard").click()


def test_a_shadow_is_promoted_in_mid_run(page: Page, run: LiveRun) -> None:
    [reference] = run.now()["effective_spec"]["reward"]["shadow"]
    _open(page, run)
    shadow = page.locator(f'[data-testid="shadow"][data-ref="{reference}"]')
    expect(shadow).to_contain_text("agrees 100 %")
    shadow.get_by_test_id("promote").click()
    expect(shadow).to_contain_text("to be promoted")
    page.get_by_label("Reason for the change").fill("agrees, on a wider scale")
    page.get_by_role("button", name="Apply").click()
    progress = page.locator('[data-testid="control-progress"][data-target="reward.definition"]')
    expect(progress).to_have_attribute("data-state", "staged")
    run.resume()
    expect(progress).to_have_attribute("data-state", re.compile("applied|settled"), timeout=60_000)
    expect(shadow).to_contain_text("training")

    control = run.controls()[0]
    assert (control["value"], control["reason"]) == (reference, "agrees, on a wider scale")
    wait_until(lambda: run.series("critic/score/max")["mean"][-1] == 3.0, 120, run.story)
    assert set(run.series("critic/score/max")["mean"][: control["applied_step"] - 1]) <= {0.0, 1.0}
    line = page.locator('[data-testid="control-line"][data-target~="reward.definition"]').first
    expect(line).to_have_attribute("data-step", str(control["applied_step"]))


@pytest.fixture
def guarded(run: LiveRun) -> Iterator[LiveRun]:
    """The shared run under a guard that has acted, between two steps; without it afterwards."""
    before = run.now()["effective_spec"]
    run.steer("guards", [*before["guards"], SLOWER])
    run.resume()
    # The learning rate is halved by the guard, through the worker and back.
    acted = "guard:always"
    wait_until(
        lambda: any(one["actor"] == acted and one["state"] == "settled" for one in run.controls()), 180, run.story
    )
    [control] = [one for one in run.controls() if one["actor"] == acted]
    rate = before["optimizer"]["learning_rate"]
    assert (control["target"], control["before"], control["value"]) == (RATE, rate, rate / 2)
    assert "groups/count is" in control["reason"]
    yield run
    run.steer("guards", before["guards"])


def test_a_guard_acts_is_edited_live_and_stands_on_home(page: Page, guarded: LiveRun) -> None:
    run = guarded
    [finding] = run.now()["health"]["findings"]
    since = f"always since step {finding['since']}"
    page.goto("/runs")
    with run.held():
        row = page.get_by_test_id("runs-table").get_by_role("row").filter(has_text=run.name)
        expect(row.get_by_test_id("run-health")).to_contain_text(since)
        for screen in (DESK, PHONE):
            page.set_viewport_size(screen)
            page.goto("/")
            attention = page.get_by_test_id("home-attention")
            expect(attention.get_by_role("link", name=run.name)).to_be_visible()
            health = attention.get_by_test_id("run-health").filter(has=page.locator(f'a[href*="{run.id}"]'))
            expect(health).to_have_attribute("data-state", "error")
            expect(page.get_by_test_id("home-running").get_by_role("link", name=run.name)).to_be_visible()
            expect(page.get_by_test_id("home-spend")).to_contain_text("Tokens trained on")
            fits(page)
            assert violations(page) == []
    run.pause()

    page.set_viewport_size(DESK)
    page.goto(f"/runs/{run.id}")
    expect(page.get_by_test_id("run-health").first).to_contain_text(since)  # first: this run's page
    expect(page.get_by_test_id("incidents-open")).to_be_visible()
    page.get_by_test_id("run-health").get_by_role("link").click()
    incident = page.locator('[data-testid="incident"][data-kind="guard"]').filter(
        has_text="always: a guard is violated"
    )
    expect(incident).to_be_visible()
    expect(incident.get_by_test_id("incident-figure").first).to_contain_text("Groups")
    page.mouse.move(5, 500)
    expect(page.get_by_role("tooltip")).to_have_count(0)
    assert violations(page) == []
    incident.get_by_text("1 guard or alert").click()
    incident.get_by_role("button", name="Guard always").click()
    card = page.get_by_test_id("guards-card")
    guard = card.locator('[data-guard="always"]')
    guard.get_by_role("button").first.click()
    expect(guard.get_by_test_id("guard-picture")).to_contain_text("Would have acted at step 1.")
    guard.get_by_role("button", name="Mute for 50 steps").click()
    card.get_by_test_id("apply-guards").click()
    wait_until(lambda: run.controls()[0]["target"] == "guards" and run.controls()[0]["state"] == "staged", 60)
    run.resume()
    wait_until(lambda: run.controls()[0]["target"] == "guards" and run.controls()[0]["state"] == "settled", 60)
    assert run.controls()[0]["value"][-1]["muted_until"] > 50
    wait_until(lambda: run.now()["health"]["state"] == "ok", 60, run.story)
    expect(page.get_by_test_id("run-health")).to_have_count(0)


def test_of_two_who_turn_one_knob_at_once_the_slower_sees_both_values_first(
    page: Page, browser: Browser, run: LiveRun
) -> None:
    _open(page, run)
    context = browser.new_context(base_url=run.installation.url, viewport=DESK)
    context.set_default_timeout(60_000)
    other = context.new_page()
    sign_in(other)
    _open(other, run)
    rate = run.now()["effective_spec"]["optimizer"]["learning_rate"]
    earlier = len(run.controls())

    def values() -> list[Any]:
        """Those that the two have set, oldest first."""
        made = run.controls()[: len(run.controls()) - earlier]
        return [one["value"] for one in reversed(made) if one["target"] == RATE]

    knobs = {one: one.get_by_test_id("learning-rate") for one in (page, other)}
    for one, factor in ((page, 2), (other, 3)):
        knobs[one].get_by_label("Learning rate", exact=True).fill(f"{rate * factor:g}")
    knobs[other].get_by_role("button", name="Apply", exact=True).click()
    conflict = page.get_by_test_id("control-conflict")
    expect(conflict).to_contain_text("Someone else has changed this too")
    assert values() == [pytest.approx(3 * rate)], "nothing of the slower draft was sent"
    conflict.get_by_role("button", name="Apply mine over theirs").click()
    expect(conflict).to_have_count(0)
    wait_until(lambda: len(values()) == 2, 60, run.story)
    assert values() == [pytest.approx(3 * rate), pytest.approx(2 * rate)]
    run.resume()
    expect(knobs[other]).to_contain_text(f"now {2 * rate:.0e}".replace("e-0", "e-"))
    context.close()


@pytest.mark.expensive(120, "a live run, two servers that start again, and a browser", about=ABOUT)
def test_web_redis_and_network_go_away_and_open_pages_are_right_after_it(page: Page, run: LiveRun) -> None:
    installation = run.installation
    _open(page, run)
    listed = page.context.new_page()
    listed.goto("/runs")
    first = run.step
    run.resume()
    for victim in ("dressage.asgi", "redis-server"):
        installation.kill(victim)
        wait_until(lambda: _answers(installation), 90, installation.log_tail)
        run.train(3)
    page.context.set_offline(True)
    expect(page.get_by_test_id("phase-strip")).to_have_attribute("data-stale", "true", timeout=60_000)
    run.train(3)
    page.context.set_offline(False)
    expect(page.get_by_test_id("phase-strip")).not_to_have_attribute("data-stale", "true", timeout=60_000)

    last = run.pause()["step"]
    expect(page.get_by_test_id("step")).to_have_text(f"{last:,}", timeout=60_000)
    for name in KEYS:
        series = run.series(name)
        points = dict(zip(series["x"], series["mean"], strict=True))
        assert sorted(points) == list(range(1, last + 1))
        drawn = points_drawn(page, name)
        assert [step for step, _ in drawn] == list(range(last, last - len(drawn), -1)), f"a gap or a double in {name}"
        assert drawn[-1][0] < first, "the points of the outages, and those before"
        shown = pytest.approx([points[step] for step, _ in drawn], rel=1e-3, abs=6e-5)  # as many digits as are shown
        assert [value for _, value in drawn] == shown, f"{name}: nan where the page has no point"
    row = listed.get_by_test_id("runs-table").get_by_role("row").filter(has_text=run.name)
    expect(row).to_contain_text(f"{last:,} / 2,000", timeout=60_000)
    expect(row).to_contain_text("paused")


def _answers(installation: Installation) -> bool:
    try:
        installation.api.get("/session")
    except (httpx.HTTPError, AssertionError):
        return False
    return True


def _open(page: Page, run: LiveRun) -> None:
    page.goto(f"/runs/{run.id}")
    expect(page.get_by_test_id("chart-reward")).to_be_visible(timeout=30_000)
