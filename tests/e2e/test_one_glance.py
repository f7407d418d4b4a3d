"""A live run at one glance, steered by schedules, and exact after twelve seconds without a network."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.browser import sign_in, violations
from tests.support.installation import Installation, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]

OFFLINE_S = 12
PHONE = {"width": 390, "height": 844}
KEYS = ("critic/score/mean", "response_length/mean", "actor/entropy", "timing_s/step")


@pytest.fixture(scope="module")
def run_id(installation: Installation) -> str:
    """A run that goes on for as long as these tests do."""
    api = installation.api
    recipes = api.get("/spec/recipes")["data"]
    spec = next(recipe for recipe in recipes if recipe["name"] == "demo")["spec"]
    spec["schedule"]["steps"] = 2000
    found: str = api.post("/runs", {"name": "At one glance", "spec": spec, "start": True})["id"]
    wait_until(lambda: _run(installation, found)["step"] >= 8, 180, installation.log_tail)
    return found


def test_six_charts_stand_on_a_desk_and_two_on_a_phone(
    page: Page, browser: Browser, installation: Installation, run_id: str
) -> None:
    _open(page, run_id)
    page.screenshot(path="/tmp/shot-desk.png")
    assert _charts_in_sight(page, 900) >= 6
    strip = page.get_by_test_id("phase-strip")
    expect(strip).to_contain_text("p95")
    expect(strip).to_contain_text(" to ")
    box = strip.bounding_box()
    assert box is not None and box["height"] <= 48, "one line"
    assert _top(page.get_by_test_id("timeline")) > 900, "below the charts"

    phone: Any = {"viewport": PHONE, "reduced_motion": "reduce"}
    context = browser.new_context(base_url=installation.url, **phone)
    small = context.new_page()
    sign_in(small)
    _open(small, run_id)
    small.screenshot(path="/tmp/shot-phone.png")
    bar = small.get_by_test_id("open-controls").bounding_box()
    assert bar is not None
    assert _charts_in_sight(small, bar["y"]) >= 2
    assert small.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert violations(small) == []
    context.close()


def test_a_flag_opens_from_the_keyboard_and_reverts_what_one_gesture_did(
    page: Page, installation: Installation, run_id: str
) -> None:
    spec = _run(installation, run_id)["effective_spec"]
    rate, temperature = spec["optimizer"]["learning_rate"], spec["rollout"]["temperature"]
    changes = {"optimizer.learning_rate": rate / 2, "rollout.temperature": temperature * 0.9}
    body = {"changes": [{"target": target, "value": value} for target, value in changes.items()], "reason": "slower"}
    revision = _run(installation, run_id)["revision"]
    installation.api.post(f"/runs/{run_id}/controls", body, **{"If-Match": f'"{revision}"'})
    _open(page, run_id)
    flag = page.locator('[data-testid="control-line"][data-target~="rollout.temperature"]').last
    expect(flag).to_be_visible(timeout=60_000)
    flag.focus()
    page.keyboard.press("Enter")
    card = page.get_by_test_id("flag-card").first
    expect(card).to_contain_text("Learning rate")
    expect(card).to_contain_text("Sampling temperature")
    expect(card).to_contain_text("“slower”")
    assert violations(page) == []
    expect(card.get_by_role("link", name="Fork")).to_be_visible()
    expect(card.get_by_role("button", name="Rewind")).to_be_visible()
    card.get_by_role("button", name="Revert").press("Enter")

    def is_back() -> bool:
        now = _run(installation, run_id)["effective_spec"]
        return bool((now["optimizer"]["learning_rate"], now["rollout"]["temperature"]) == (rate, temperature))

    wait_until(is_back, 60, installation.log_tail)
    made = installation.api.get(f"/runs/{run_id}/controls")["data"][:2]
    assert len({control["change_set"] for control in made}) == 1, "both were set back together"


def test_a_draft_outlives_the_page_and_a_ramp_moves_step_by_step(
    page: Page, installation: Installation, run_id: str
) -> None:
    _open(page, run_id)
    knob = page.get_by_test_id("learning-rate")
    before = _run(installation, run_id)["effective_spec"]["optimizer"]["learning_rate"]
    knob.get_by_label("Learning rate", exact=True).fill(str(before * 3))
    knob.get_by_label("Reason for the change").fill("warm up")
    page.reload()
    expect(knob.get_by_text("Kept from before, not sent yet.")).to_be_visible()
    knob.get_by_label("When it counts").select_option("ramp")
    knob.get_by_label("Steps of the ramp").fill("10")
    knob.get_by_label("Steps of the ramp").press("Enter")
    progress = knob.get_by_test_id("control-progress")
    expect(progress).to_have_attribute("data-state", "settled", timeout=90_000)
    expect(knob.get_by_text("Kept from before, not sent yet.")).to_have_count(0)
    control = installation.api.get(f"/runs/{run_id}/controls")["data"][0]
    assert (control["target"], control["ramp_steps"], control["reason"]) == ("optimizer.learning_rate", 10, "warm up")
    first = control["applied_step"]
    assert control["settled_step"] >= first + 9
    wait_until(lambda: _run(installation, run_id)["step"] >= first + 11, 60, installation.log_tail)
    series = _series(installation, run_id, "actor/lr")
    seen = [series[step] for step in range(first - 1, first + 11)]
    expected = [before * (1 + 2 * min(number, 10) / 10) for number in range(12)]
    assert seen == pytest.approx(expected)
    assert _run(installation, run_id)["effective_spec"]["optimizer"]["learning_rate"] == pytest.approx(before * 3)


def test_twelve_seconds_without_a_network_leave_every_point_exact(
    page: Page, installation: Installation, run_id: str
) -> None:
    _open(page, run_id)
    knob = page.get_by_test_id("learning-rate")
    page.context.set_offline(True)
    expect(page.get_by_test_id("phase-strip")).to_have_attribute("data-stale", "true")
    value = _run(installation, run_id)["effective_spec"]["optimizer"]["learning_rate"]
    knob.get_by_label("Learning rate", exact=True).fill(str(value * 2))
    expect(knob.get_by_role("button", name="Not sent: no connection")).to_be_disabled()
    expect(page.get_by_test_id("pause")).to_be_disabled()
    begun = _run(installation, run_id)["step"]
    page.wait_for_timeout(OFFLINE_S * 1000)  # the outage itself
    assert _run(installation, run_id)["step"] > begun, "the run went on"
    revision = _run(installation, run_id)["revision"]
    page.context.set_offline(False)
    expect(page.get_by_test_id("phase-strip")).not_to_have_attribute("data-stale", "true", timeout=30_000)
    expect(knob.get_by_role("button", name="Apply")).to_be_enabled()
    knob.get_by_role("button", name="Discard").click()
    assert _run(installation, run_id)["revision"] == revision, "nothing was sent later"
    installation.api.post(f"/runs/{run_id}/pause")
    wait_until(lambda: _run(installation, run_id)["state"] == "paused", 60, installation.log_tail)
    last = _run(installation, run_id)["step"]
    expect(page.get_by_test_id("step")).to_have_text(f"{last:,}", timeout=20_000)
    for name in KEYS:
        points = _series(installation, run_id, name)
        assert sorted(points) == list(range(1, last + 1))
        drawn = _table(page, name)
        assert [step for step, _ in drawn] == list(range(last, last - len(drawn), -1)), f"a gap or a double in {name}"
        assert drawn[-1][0] < begun, "the points of the outage, and those before"
        assert [value for _, value in drawn] == pytest.approx(
            [points[step] for step, _ in drawn],
            rel=1e-3,
            abs=6e-5,  # as many digits as are shown
        ), name
    installation.api.post(f"/runs/{run_id}/cancel")


def _open(page: Page, run_id: str) -> None:
    if page.url == "about:blank":
        sign_in(page)
    page.goto(f"/runs/{run_id}")
    expect(page.get_by_test_id("chart-reward")).to_be_visible(timeout=30_000)


def _run(installation: Installation, run_id: str) -> dict[str, Any]:
    found: dict[str, Any] = installation.api.get(f"/runs/{run_id}")
    return found


def _series(installation: Installation, run_id: str, name: str) -> dict[int, float]:
    answer = installation.api.get(f"/runs/{run_id}/metrics", keys=name, x="step", max_points=2000)["series"][name]
    return dict(zip(answer["x"], answer["mean"], strict=True))


def _charts_in_sight(page: Page, below: float) -> int:
    """Charts that stand above the fold as a whole."""
    cards = page.locator('section[data-testid^="chart-"]')
    expect(cards.nth(5)).to_be_attached()
    boxes = [card.bounding_box() for card in cards.all()[:8]]
    return sum(box is not None and box["y"] >= 0 and box["y"] + box["height"] <= below for box in boxes)


def _top(place: Locator) -> float:
    box = place.bounding_box()
    assert box is not None
    return box["y"]


def _table(page: Page, name: str) -> list[tuple[int, float]]:
    """What the chart of a metric has drawn, newest step first, as its own table tells it."""
    title = f"Hide {name}"
    card = page.locator('section[data-testid^="chart-"]').filter(has=page.locator(f'button[title="{title}"]')).first
    place = card.locator('button[title^="Hide "]').evaluate_all(
        "(all, title) => all.findIndex(one => one.title === title)", title
    )
    card.get_by_role("button", name="Data table").click()
    rows = card.locator("tbody tr").evaluate_all("all => all.map(row => [...row.cells].map(cell => cell.innerText))")
    card.get_by_role("button", name="Data table").click()
    number = str.maketrans({"−": "-", ",": None})
    return [(int(cells[0].translate(number)), float(cells[1 + place].translate(number))) for cells in rows]
