"""A run and its child laid over each other: the child begins with a checkpoint of its parent, at another rate.

Both are replayed: pages that only look need no run that trains.
"""

import re
from decimal import ROUND_HALF_UP, Decimal
from secrets import token_hex
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.installation import Installation, wait_until
from tests.support.pages import open_wholly
from tests.support.replay import STEPS, events_of, replayed_child, replayed_parent

pytestmark = [pytest.mark.e2e, pytest.mark.timed]
READ = ("frontend/src", "platform/dressage/runs", "platform/dressage/telemetry")
BROWSES = pytest.mark.expensive(10, "looks at replayed runs in a browser", about=READ)

Family = tuple[dict[str, Any], dict[str, Any]]


@pytest.fixture(scope="module")
def family(installation: Installation) -> Family:
    """A run and its child, which are done."""
    parent = replayed_parent(installation)
    return parent, replayed_child(installation, parent)


@BROWSES
def test_a_child_is_laid_over_its_parent(page: Page, family: Family) -> None:
    parent, child = family
    _ticked_runs_are_compared(page, parent, child)
    differences = page.get_by_test_id("differences")
    expect(differences.locator('[data-key="optimizer.learning_rate"] td')).to_have_text(["2e−4", "1e−4"])
    assert differences.locator("tbody tr").count() == 1

    chart = page.get_by_test_id("chart-compare-critic-score-mean")
    chart.get_by_role("button", name="Data table").click()
    steps = chart.locator("tbody tr td:first-child")
    expect(steps).to_have_text([str(step) for step in reversed(range(1, 2 * STEPS + 1))])
    cells = [("–", shown) for shown in reversed(_rewards("child"))] + [
        (shown, "–") for shown in reversed(_rewards("parent"))
    ]
    expect(chart.locator("tbody td:not(:first-child)")).to_have_text([one for row in cells for one in row])
    page.get_by_label("Align forks to parents").click()
    page.wait_for_url(re.compile("lineage=off"))
    expect(steps).to_have_text([str(step) for step in reversed(range(1, STEPS + 1))])

    page.get_by_label(f"Hide {child['name']}").click()
    page.reload()
    hidden = page.locator(f'[data-testid="compared-runs"] [data-run="{child["id"]}"]')
    expect(hidden).to_have_attribute("data-hidden", "true")
    page.get_by_label(f"Remove {child['name']}").click()
    expect(page.get_by_test_id("compared-runs").locator("li")).to_have_count(1)


@BROWSES
def test_the_parent_is_drawn_behind_its_child(page: Page, family: Family) -> None:
    _, child = family
    page.emulate_media(reduced_motion="reduce")  # a chart that moves is another picture at every look
    open_wholly(page, f"/runs/{child['id']}")
    behind = page.get_by_label("Parent overlay")
    expect(behind).to_be_checked()
    canvas = page.get_by_test_id("chart-reward").locator("canvas").first
    expect(canvas).to_be_visible()

    def picture() -> str:
        drawn: str = canvas.evaluate("canvas => canvas.toDataURL()")
        return drawn

    with_parent = picture()
    behind.click()
    page.wait_for_url(re.compile("parent=off"))
    wait_until(lambda: picture() != with_parent, 20, lambda: "the chart is the same without the parent")
    behind.click()
    wait_until(lambda: picture() == with_parent, 20, lambda: "the parent does not come back")
    page.get_by_label("More actions").click()
    page.get_by_role("menuitem", name="Compare with its parent").click()
    expect(page.get_by_test_id("compared-runs").locator("li")).to_have_count(2)


@BROWSES
def test_what_cannot_be_compared_is_told(page: Page, installation: Installation) -> None:
    page.goto("/runs/compare")
    expect(page.get_by_text("Nothing to compare yet")).to_be_visible()
    page.goto("/runs/compare?runs=run_of_nobody,,run_of_nobody")
    expect(page.get_by_text("There is no run run_of_nobody in this team.")).to_have_count(1)
    page.get_by_label("Remove run_of_nobody").click()
    expect(page.get_by_text("Nothing to compare yet")).to_be_visible()
    page.goto(f"/runs/compare?runs={','.join(f'run_{n}' for n in range(25))}")
    expect(page.get_by_text("The address names 25 runs: the first 20 are compared.")).to_be_visible()
    expect(page.get_by_test_id("compared-runs").locator("li")).to_have_count(20)
    page.goto("/runs/compare")
    expect(page.get_by_text("Nothing to compare yet")).to_be_visible()


@pytest.mark.expensive(
    24,
    "writes a report in a browser",
    about=("frontend/src", "platform/dressage/reports", "platform/dressage/chart_views"),
)
def test_a_report_is_made_of_a_comparison(page: Page, installation: Installation, family: Family) -> None:
    parent, child = family
    page.goto(f"/runs/compare?runs={parent['id']},{child['id']}&smooth=0.4&find=critic/score/mean")
    page.get_by_role("button", name="Create report").click()
    page.wait_for_url(re.compile(r"/reports/report_\w+\?edit=on"))
    editor, address = page.get_by_test_id("editor"), page.url.partition("?")[0]
    expect(editor.locator("[data-block]")).to_have_count(4)
    page.get_by_label("Report title").fill("Half the rate")
    page.get_by_label("Text in Markdown").fill("# Finding\n\n- **half** is enough: $x^2$\n\n<b>raw</b>")
    expect(editor.get_by_role("heading", name="Finding", level=2)).to_be_visible()

    page.get_by_label("Delete block 4, what differs").click()
    expect(editor.locator("[data-block]")).to_have_count(3)
    page.get_by_role("button", name="Undo deletion").click()
    page.get_by_label("Move block 4, what differs", exact=True).press("ArrowUp")
    page.get_by_label("Duplicate block 1, text").click()
    kinds = [one.get_attribute("data-block") for one in editor.locator("[data-block]").all()]
    assert kinds == ["text", "text", "chart", "spec", "evaluations"]
    page.get_by_label("Delete block 2, text").click()
    page.get_by_label("Add sample").click()
    expect(page.get_by_text("Block 5: choose a sample.")).to_be_visible()
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    page.get_by_label("Delete block 5, sample").click()
    page.reload()  # the draft outlives it
    expect(page.get_by_label("Report title")).to_have_value("Half the rate")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("All changes saved.")).to_be_visible()

    page.get_by_role("button", name="Done").click()
    report = page.get_by_test_id("report")
    expect(report.locator("math")).to_have_count(1)
    expect(report.get_by_text("<b>raw</b>")).to_be_visible()
    expect(report.locator('[data-key="optimizer.learning_rate"] td')).to_have_text(["2e−4", "1e−4"])
    chart = report.get_by_test_id("chart-compare-critic-score-mean")
    chart.get_by_role("button", name="Data table").click()
    expect(chart.locator("tbody tr")).to_have_count(2 * STEPS)
    page.evaluate(
        "() => { window.print = () => { document.body.dataset.canvases = document.querySelectorAll('canvas').length } }"
    )
    page.set_viewport_size({"width": 1000, "height": 300})  # its charts are far from the screen
    chart.get_by_role("button", name="Data table").click()
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    page.get_by_role("button", name="Print").click()
    expect(page.locator("body")).to_have_attribute("data-canvases", "1")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_label("More actions").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Export as Markdown").click()
    exported = download.value.path().read_text()
    assert "| optimizer.learning_rate | 2e−4 | 1e−4 |" in exported
    assert "$x^2$\n\n\\<b>raw\\</b>\n" in exported
    _others_save_and_a_run_goes(page, installation, address.rpartition("/")[2])


def _others_save_and_a_run_goes(page: Page, installation: Installation, report_id: str) -> None:
    """Somebody else is quicker, with a run that nobody has and a chart that is as it was before all steps."""
    api, path = installation.api, f"/reports/{report_id}"
    theirs = f"Theirs {token_hex(3)}"
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Report title").fill("A third of the rate")
    now = api.get(path)
    blocks = now["content"]["blocks"]
    chart = next(block for block in blocks if block["type"] == "chart")
    assert (chart["metrics"], chart["smooth"]) == (["critic/score/mean"], 0.4)
    gone = {"id": "run_of_nobody", "name": "Of before"}
    frozen = {**chart, "id": "frozen", "as_of": "2020-01-01T00:00:00Z", "runs": [*chart["runs"], gone]}
    body = {"title": theirs, "content": {"blocks": [*blocks, frozen]}}
    assert api.patch(path, body, **{"If-Match": f'"{now["revision"]}"'})["revision"] == now["revision"] + 1
    page.get_by_role("button", name="Save", exact=True).click()
    conflict = page.get_by_test_id("conflict")
    expect(conflict).to_contain_text(f"has saved revision {now['revision'] + 1}")
    assert api.get(path)["title"] == theirs, "nothing is written over unseen"
    conflict.get_by_role("button", name="Continue with mine").click()
    page.get_by_label("Add chart").click()  # the platform fills in what a new block leaves out, which is no change
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("All changes saved.")).to_be_visible()
    assert api.get(path)["title"] == "A third of the rate"

    page.goto(f"{path}?revision={now['revision'] + 1}")
    last = page.get_by_test_id("report").locator("[data-block]").last
    expect(last).to_contain_text("The run “Of before” (run_of_nobody) is no longer in this team.")
    expect(last).to_contain_text("Frozen at 1 Jan 2020")
    expect(last).to_contain_text("No points yet")
    # The page has had this title all the time: the answer says that the report has it again.
    with page.expect_response(lambda answer: answer.request.method != "GET" and path in answer.url):
        page.get_by_role("button", name="Restore this revision").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(theirs)
    page.goto("/reports")
    page.get_by_test_id("reports").get_by_role("link", name=theirs).click()
    _it_is_deleted_while_it_is_written(page, installation, path, theirs)


def _it_is_deleted_while_it_is_written(page: Page, installation: Installation, path: str, title: str) -> None:
    kept = f"Not to be lost {token_hex(3)}"
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Report title").fill(kept)
    installation.api.delete(path)
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_test_id("deleted").get_by_role("button", name="Save as new report").click()
    expect(page.get_by_label("Report title")).to_have_value(kept)
    assert not page.url.partition("?")[0].endswith(path)
    page.goto(path)
    expect(page.get_by_test_id("deleted")).to_have_count(0)
    titles = [report["title"] for report in installation.api.get("/reports")["data"]]
    assert (kept in titles, title in titles) == (True, False)


def _rewards(journal: str) -> list[str]:
    """The rewards of a recorded run's steps as the console writes them: with four decimals, rounded up at half."""
    found = [event["data"]["metrics"]["critic/score/mean"] for event in events_of(journal, "step")]
    return [f"{Decimal(reward).quantize(Decimal('0.0001'), ROUND_HALF_UP).normalize():f}" for reward in found]


def _ticked_runs_are_compared(page: Page, *runs: dict[str, Any]) -> None:
    page.goto("/runs")
    for run in runs:
        page.get_by_label(f"Compare {run['name']}").check()
    page.get_by_role("link", name=f"Compare {len(runs)}").click()
    page.wait_for_url(re.compile(",|%2C".join(run["id"] for run in runs)))
    expect(page.get_by_test_id("compared-runs").locator("li")).to_have_count(len(runs))
