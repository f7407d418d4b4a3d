"""A live run at one glance, two people in front of it, and what open pages show of it after an outage."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.browser import fits, sign_in, violations
from tests.support.installation import Installation, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]

KEYS = ("critic/score/mean", "response_length/mean", "actor/entropy")
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def run_id(installation: Installation) -> Iterator[str]:
    """A run that goes on for as long as these tests do, and no longer."""
    api = installation.api
    recipes = api.get("/spec/recipes")["data"]
    spec = next(recipe for recipe in recipes if recipe["name"] == "demo")["spec"]
    spec["schedule"]["steps"] = 2000
    found: str = api.post("/runs", {"name": "At one glance", "spec": spec, "start": True})["id"]
    wait_until(lambda: _run(installation, found)["step"] >= 8, 180, installation.log_tail)
    yield found
    api.post(f"/runs/{found}/cancel")


def test_six_charts_stand_on_a_desk_and_two_on_a_phone(
    page: Page, browser: Browser, installation: Installation, run_id: str
) -> None:
    _open(page, run_id)
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
    bar = small.get_by_test_id("open-controls").bounding_box()
    assert bar is not None
    assert _charts_in_sight(small, bar["y"]) >= 2
    fits(small)
    assert violations(small) == []
    context.close()


def test_the_tour_ends_with_a_steered_run(page: Page, installation: Installation, run_id: str) -> None:
    _open(page, run_id)
    page.get_by_test_id("take-tour").click()
    tour = page.get_by_test_id("tour")
    for step in range(1, 5):
        expect(tour).to_contain_text(f"Step {step} of 6")
        expect(page.locator('[data-tour="here"]')).to_be_visible()
        tour.get_by_role("button", name="Next").click()
    assert violations(page) == []
    before = _run(installation, run_id)["revision"]
    knob = page.get_by_test_id("thinking-budget")
    knob.get_by_label("Thinking budget", exact=True).fill("12")
    knob.get_by_role("button", name="Apply", exact=True).click()
    expect(tour).to_contain_text("Step 6 of 6")
    assert _run(installation, run_id)["revision"] == before + 1
    tour.get_by_role("button", name="Done").click()
    expect(tour).to_have_count(0)
    expect(page.get_by_test_id("take-tour")).to_have_count(0)


def test_of_two_who_turn_one_knob_at_once_the_slower_sees_both_values_first(
    page: Page, browser: Browser, installation: Installation, run_id: str
) -> None:
    _open(page, run_id)
    context = browser.new_context(base_url=installation.url, viewport={"width": 1440, "height": 900})
    context.set_default_timeout(60_000)
    other = context.new_page()
    _open(other, run_id)
    rate = _run(installation, run_id)["effective_spec"]["optimizer"]["learning_rate"]
    knobs = {one: one.get_by_test_id("learning-rate") for one in (page, other)}
    for one, factor in ((page, 2), (other, 3)):
        knobs[one].get_by_label("Learning rate", exact=True).fill(f"{rate * factor:g}")
    knobs[other].get_by_role("button", name="Apply", exact=True).click()
    conflict = page.get_by_test_id("control-conflict")
    expect(conflict).to_contain_text("Someone else has changed this too")
    assert _values(installation, run_id) == [pytest.approx(3 * rate)], "nothing of the slower draft was sent"
    conflict.get_by_role("button", name="Apply mine over theirs").click()
    expect(conflict).to_have_count(0)
    wait_until(lambda: len(_values(installation, run_id)) == 2, 60, installation.log_tail)
    assert _values(installation, run_id) == [pytest.approx(3 * rate), pytest.approx(2 * rate)]
    expect(knobs[other]).to_contain_text(f"now {2 * rate:.0e}".replace("e-0", "e-"))
    context.close()


def _values(installation: Installation, run_id: str) -> list[Any]:
    """Values of the learning rate that people have set, oldest first."""
    controls = installation.api.get(f"/runs/{run_id}/controls")["data"]
    return [one["value"] for one in reversed(controls) if one["target"] == "optimizer.learning_rate"]


def test_web_redis_and_network_go_away_and_open_pages_are_right_after_it(
    page: Page, installation: Installation, run_id: str
) -> None:
    _open(page, run_id)
    listed = page.context.new_page()
    listed.goto("/runs")
    first = _run(installation, run_id)["step"]
    for victim in ("dressage.asgi", "redis-server"):
        installation.kill(victim)
        wait_until(lambda: _answers(installation), 90, installation.log_tail)
        _goes_on(installation, run_id)
    page.context.set_offline(True)
    expect(page.get_by_test_id("phase-strip")).to_have_attribute("data-stale", "true", timeout=60_000)
    _goes_on(installation, run_id)
    page.context.set_offline(False)
    expect(page.get_by_test_id("phase-strip")).not_to_have_attribute("data-stale", "true", timeout=60_000)

    installation.api.post(f"/runs/{run_id}/pause")
    wait_until(lambda: _run(installation, run_id)["state"] == "paused", 120, installation.log_tail)
    last = _run(installation, run_id)["step"]
    expect(page.get_by_test_id("step")).to_have_text(f"{last:,}", timeout=60_000)
    for name in KEYS:
        points = _series(installation, run_id, name)
        assert sorted(points) == list(range(1, last + 1))
        drawn = _table(page, name)
        assert [step for step, _ in drawn] == list(range(last, last - len(drawn), -1)), f"a gap or a double in {name}"
        assert drawn[-1][0] < first, "the points of the outages, and those before"
        shown = pytest.approx([points[step] for step, _ in drawn], rel=1e-3, abs=6e-5)  # as many digits as are shown
        assert [value for _, value in drawn] == shown, f"{name}: nan where the page has no point"
    row = listed.get_by_test_id("runs-table").get_by_role("row").filter(has_text="At one glance")
    expect(row).to_contain_text(f"{last:,} / 2,000", timeout=60_000)
    expect(row).to_contain_text("paused")


def _answers(installation: Installation) -> bool:
    try:
        installation.api.get("/session")
    except (httpx.HTTPError, AssertionError):
        return False
    return True


def _goes_on(installation: Installation, run_id: str) -> None:
    """The run reports steps that were made after this was asked."""
    begun = _run(installation, run_id)["step"]
    wait_until(lambda: _run(installation, run_id)["step"] >= begun + 3, 120, installation.log_tail)


def _series(installation: Installation, run_id: str, name: str) -> dict[int, float]:
    answer = installation.api.get(f"/runs/{run_id}/metrics", keys=name, x="step", max_points=2000)["series"][name]
    return dict(zip(answer["x"], answer["mean"], strict=True))


def _table(page: Page, name: str) -> list[tuple[int, float]]:
    """What the chart of a metric has drawn, newest step first, as its own table tells it."""
    title = f"Hide {name}"
    card = page.locator('section[data-testid^="chart-"]').filter(has=page.locator(f'button[title="{title}"]')).first
    card = page.get_by_test_id(card.get_attribute("data-testid") or "")  # its legend goes where the table comes
    place = card.locator('button[title^="Hide "]').evaluate_all(
        "(all, title) => all.findIndex(one => one.title === title)", title
    )
    card.get_by_role("button", name="Data table").click()
    rows = card.locator("tbody tr").evaluate_all("all => all.map(row => [...row.cells].map(cell => cell.innerText))")
    card.get_by_role("button", name="Data table").click()
    number = str.maketrans({"−": "-", ",": None})
    drawn = [(cells[0].translate(number), cells[1 + place].translate(number)) for cells in rows]
    # At step 0 stands what was evaluated before the first.
    return [(int(step), float("nan" if value == "–" else value)) for step, value in drawn if int(step) > 0]


def _open(page: Page, run_id: str) -> None:
    if page.url == "about:blank":
        sign_in(page)
    page.goto(f"/runs/{run_id}")
    expect(page.get_by_test_id("chart-reward")).to_be_visible(timeout=30_000)


def _run(installation: Installation, run_id: str) -> dict[str, Any]:
    found: dict[str, Any] = installation.api.get(f"/runs/{run_id}")
    return found


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
