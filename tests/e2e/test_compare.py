"""A run and its child laid over each other: the child begins with a checkpoint of its parent, at another rate."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import sign_in
from tests.support.installation import Installation, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(420)]

STEPS = 6


def test_a_child_is_laid_over_its_parent(page: Page, installation: Installation) -> None:
    parent, child = _parent_and_child(installation)
    sign_in(page)
    _ticked_runs_are_compared(page, parent, child)
    differences = page.get_by_test_id("differences")
    expect(differences.locator('[data-key="optimizer.learning_rate"] td')).to_have_text(["2e−4", "1e−4"])
    assert differences.locator("tbody tr").count() == 1

    chart = page.get_by_test_id("chart-compare-critic-score-mean")
    chart.get_by_role("button", name="Data table").click()
    steps = chart.locator("tbody tr td:first-child")
    expect(steps).to_have_text([str(step) for step in reversed(range(1, 2 * STEPS + 1))])
    page.get_by_label("Children go on where their parents were").click()
    page.wait_for_url(re.compile("lineage=off"))
    expect(steps).to_have_text([str(step) for step in reversed(range(1, STEPS + 1))])

    page.get_by_label(f"Hide {child['name']}").click()
    page.reload()
    hidden = page.locator(f'[data-testid="compared-runs"] [data-run="{child["id"]}"]')
    expect(hidden).to_have_attribute("data-hidden", "true")
    page.get_by_label(f"Leave {child['name']} out").click()
    expect(page.get_by_test_id("compared-runs").locator("li")).to_have_count(1)


def test_the_parent_is_drawn_behind_its_child(page: Page, installation: Installation) -> None:
    _, child = _parent_and_child(installation)
    sign_in(page)
    page.goto(f"/runs/{child['id']}")
    behind = page.get_by_label("Parent behind")
    expect(behind).to_be_checked()
    canvas = page.get_by_test_id("chart-reward").locator("canvas").first
    expect(canvas).to_be_visible()
    page.wait_for_load_state("networkidle")

    def picture() -> str:
        drawn: str = canvas.evaluate("canvas => canvas.toDataURL()")
        return drawn

    with_parent = picture()
    behind.click()
    page.wait_for_url(re.compile("parent=off"))
    wait_until(lambda: picture() != with_parent, 20, lambda: "the chart is the same without the parent")
    behind.click()
    wait_until(lambda: picture() == with_parent, 20, lambda: "the parent does not come back")
    page.get_by_label("More about this run").click()
    page.get_by_role("menuitem", name="Compare with its parent").click()
    expect(page.get_by_test_id("compared-runs").locator("li")).to_have_count(2)


def test_what_cannot_be_compared_is_told(page: Page, installation: Installation) -> None:
    sign_in(page)
    page.goto("/runs/compare")
    expect(page.get_by_text("Nothing to compare yet")).to_be_visible()
    page.goto("/runs/compare?runs=run_of_nobody,,run_of_nobody")
    expect(page.get_by_text("There is no run run_of_nobody in this team.")).to_have_count(1)
    page.get_by_label("Leave run_of_nobody out").click()
    expect(page.get_by_text("Nothing to compare yet")).to_be_visible()
    page.goto(f"/runs/compare?runs={','.join(f'run_{n}' for n in range(25))}")
    expect(page.get_by_text("The address names 25 runs: the first 20 are compared.")).to_be_visible()
    expect(page.get_by_test_id("compared-runs").locator("li")).to_have_count(20)
    page.goto("/runs/compare")
    expect(page.get_by_text("Nothing to compare yet")).to_be_visible()


def _parent_and_child(installation: Installation) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two runs that are done, made by the first test that asks for them."""
    api = installation.api
    made = {run["name"]: run["id"] for run in api.get("/runs")["data"]}
    if "Half the rate" in made:
        return api.get(f"/runs/{made['Parent of two']}"), api.get(f"/runs/{made['Half the rate']}")
    spec = next(one["spec"] for one in api.get("/spec/recipes")["data"] if one["name"] == "demo")
    spec["schedule"] |= {"steps": STEPS}
    parent = _done(installation, api.post("/runs", {"name": "Parent of two", "spec": spec, "start": True})["id"])
    assert parent["effective_spec"]["optimizer"]["learning_rate"] == 2e-4
    spec["optimizer"] |= {"learning_rate": 1e-4}
    child = api.post(f"/runs/{parent['id']}/fork", {"name": "Half the rate", "spec": spec})["id"]
    api.post(f"/runs/{child}/start")
    return parent, _done(installation, child)


def _done(installation: Installation, run_id: str) -> dict[str, Any]:
    def document() -> dict[str, Any]:
        found: dict[str, Any] = installation.api.get(f"/runs/{run_id}")
        return found

    def is_over() -> bool:
        assert document()["state"] not in ("failed", "paused"), installation.log_tail()
        return document()["state"] == "succeeded"

    wait_until(is_over, 180, installation.log_tail)
    return document()


def _ticked_runs_are_compared(page: Page, *runs: dict[str, Any]) -> None:
    page.goto("/runs")
    for run in runs:
        page.get_by_label(f"Compare {run['name']}").check()
    page.get_by_role("link", name=f"Compare {len(runs)}").click()
    page.wait_for_url(re.compile(",|%2C".join(run["id"] for run in runs)))
    expect(page.get_by_test_id("compared-runs").locator("li")).to_have_count(len(runs))
