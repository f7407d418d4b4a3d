"""Rewards in a real browser: the bench with flips and probes, the rubric editor, and re-scoring of rollouts."""

import json
import re
from collections.abc import Iterator
from secrets import token_hex
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.installation import Installation
from tests.support.judge_endpoint import JudgeServer
from tests.support.replay import GROUP, PROMPTS, events_of, replayed_parent

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timed,
    pytest.mark.expensive(
        18,
        "a browser, and a worker of the bench",
        about=(
            "frontend/src",
            "platform/dressage/bench",
            "platform/dressage/cluster_jobs",
            "platform/dressage/jobs",
            "platform/dressage/rewards",
            "platform/dressage/telemetry",
            "trainer_core/rewards",
            "worker/jobs/bench",
            "worker/rewards",
            "worker/scoring",
            "worker/judge",
            "worker/sandbox",
        ),
    ),
]

RIGHT = {"name": "right", "weight": 1.0, "grader": {"type": "numeric"}}
SHORT = """
def grade(sample, item):
    if "furlong" in item["prompt"]:
        raise ValueError("no such unit")
    return float(len(sample["output_text"]) < 40)
"""
RIGHT_AND_SHORT = [
    {**RIGHT, "weight": 0.4},
    {"name": "short", "weight": 0.6, "grader": {"type": "python", "source": SHORT}},
]
LONG = "I add the two numbers, first the ones and then the tens, and so the sum is 24"
SAMPLES = [
    {"output_text": "24", "item": {"prompt": "12+12=", "answer": "24"}},
    {"output_text": LONG, "item": {"prompt": "20+4=", "answer": "24"}},
    {"output_text": "25", "item": {"prompt": "23+1=", "answer": "24"}},
    {"output_text": "8", "item": {"prompt": "furlongs of a mile", "answer": "8"}},
]
ITEMS = ("correct", "brief")


@pytest.fixture
def reward(installation: Installation) -> dict[str, Any]:
    """Version 1 pays for the right number, version 2 more for a short answer."""
    api = installation.api
    made = api.post("/rewards", {"name": f"Right and short {token_hex(3)}", "definition": {"components": [RIGHT]}})
    api.post(
        f"/rewards/{made['id']}/versions", {"definition": {"components": RIGHT_AND_SHORT}, "note": "short answers pay"}
    )
    found: dict[str, Any] = api.get(f"/rewards/{made['id']}")
    return found


@pytest.fixture
def judge(installation: Installation) -> Iterator[tuple[JudgeServer, str]]:
    """A judge of the team that finds every criterion met, and its slug."""
    slug = f"lenient-{token_hex(3)}"
    server = JudgeServer(lambda body: _all_met(body["messages"][-1]["content"]))
    endpoint = installation.api.post(
        "/judge-endpoints", {"name": "Lenient", "slug": slug, "base_url": server.url, "model": "judge"}
    )
    assert "api_key" not in endpoint
    yield server, slug
    server.close()


def test_bench_shows_two_versions_side_by_side(page: Page, installation: Installation, reward: dict[str, Any]) -> None:
    slug = reward["slug"]
    page.goto(f"/rewards/{reward['id']}?tab=bench")
    _choose(page, page.get_by_test_id("bench-first"), f"{slug}@1")
    _choose(page, page.get_by_test_id("bench-second"), f"{slug}@2 · short answers pay")
    page.get_by_role("button", name="Paste many as JSON Lines").click()
    page.get_by_test_id("bench-lines").fill("\n".join(json.dumps(sample) for sample in SAMPLES))
    page.get_by_role("button", name="Use samples 4").click()
    page.get_by_role("button", name="Score 4 samples").click()
    _done(page, installation)

    rows = page.locator('[data-testid="bench-row"]:not([data-probe])')
    expect(rows).to_have_count(4)
    assert [row.get_attribute("data-flip") for row in rows.all()] == [None, "lost", "gained", "unclear"]
    expect(rows.nth(1)).to_contain_text("right 1")
    expect(rows.nth(1)).to_contain_text("short 0")
    expect(page.get_by_test_id("flip-count")).to_have_text("3 changed verdicts")
    expect(page.get_by_test_id("bench-flags")).to_contain_text("An empty output earns 0.6")
    flagged = page.locator('[data-testid="bench-row"][data-flagged][data-probe="empty"]')
    expect(flagged.first).to_contain_text("probe: empty")

    page.get_by_text("Changed verdicts 3", exact=True).click()
    expect(page.get_by_test_id("bench-row")).to_have_count(3)
    page.get_by_test_id("bench-row").last.click()
    drawer = page.get_by_test_id("bench-sample")
    expect(drawer.get_by_test_id("bench-error")).to_contain_text("no such unit")
    drawer.get_by_text("Traceback", exact=True).click()
    expect(drawer.get_by_test_id("bench-traceback")).to_contain_text("ValueError: no such unit")
    page.keyboard.press("Escape")
    page.reload()  # the job and the filter are in the address
    expect(page.get_by_test_id("bench-row")).to_have_count(3)


def test_rubric_editor_makes_versions_that_a_judge_scores(
    page: Page, installation: Installation, judge: tuple[JudgeServer, str]
) -> None:
    server, slug = judge
    page.goto("/rewards/new")
    page.get_by_role("textbox", name="Name").first.fill(f"Asks {slug}")
    grader = page.get_by_label("Grader", exact=True).first
    _choose(page, grader, "Rubric")
    editor = page.get_by_test_id("rubric-editor")
    for name in ITEMS:
        editor.get_by_test_id("add-item").click()
        _fill_item(editor.get_by_test_id("rubric-item").last, name, f"The answer is {name}.", "2")
    editor.get_by_test_id("add-pitfall").click()
    _fill_item(editor.get_by_test_id("rubric-item").last, "invents", "The answer invents facts.", "-1")
    expect(editor.get_by_test_id("rubric-total")).to_have_text("3 items · positive weights 4")
    expect(editor.get_by_text("1 pitfall")).to_be_visible()
    expect(editor.get_by_test_id("prompt-preview")).to_contain_text("1. correct: The answer is correct.")

    editor.get_by_role("button", name="Duplicate: brief").click()
    editor.get_by_role("button", name="Delete: brief_2").click()
    editor.get_by_role("textbox", name="Description of brief").press("Alt+ArrowUp")
    names = [item.get_attribute("data-name") for item in editor.get_by_test_id("rubric-item").all()]
    assert names == ["brief", "correct", "invents"]
    expect(editor.get_by_role("textbox", name="Description of brief")).to_be_focused()
    editor.get_by_role("textbox", name="Endpoint", exact=True).fill(slug)
    page.get_by_test_id("save-reward").click()
    page.wait_for_url(re.compile(r"/rewards/rwd_\w+"))

    expect(page.get_by_role("tab", name="Definition")).to_be_visible()  # no longer the form of a new reward
    weight = page.get_by_role("textbox", name="Weight of correct")
    expect(weight).to_have_value("2")
    weight.fill("6")
    page.get_by_test_id("save-reward").click()
    expect(page.get_by_test_id("definition-diff")).to_contain_text("items.correct.weight")
    expect(page.get_by_test_id("definition-diff")).to_contain_text("2 → 6")
    page.get_by_role("textbox", name="Note").fill("being right counts more")
    page.get_by_test_id("confirm-save").click()
    expect(page.get_by_text("being right counts more")).to_be_visible()
    page.get_by_role("tab", name="Versions").click()
    expect(page.get_by_test_id("reward-versions")).to_contain_text("items.correct.weight")

    page.get_by_role("tab", name="Bench").click()
    page.get_by_test_id("bench-probes").uncheck()
    page.get_by_test_id("start-bench").click()
    _done(page, installation)
    # Met everything, the pitfall too: (6 + 2 − 1) / 8.
    expect(page.get_by_test_id("bench-row").first).to_contain_text("0.875")  # first: rows of this job alone
    expect(page.get_by_test_id("bench-judge")).to_contain_text("3, 0 from the cache")
    assert len(server.requests) == 3


@pytest.fixture(scope="module")
def run(installation: Installation) -> str:
    """A run with rollouts of six steps, of which the first is kept as a whole."""
    return str(replayed_parent(installation)["id"])


def test_rollouts_of_a_run_are_one_click_from_the_bench(page: Page, installation: Installation, run: str) -> None:
    page.goto(f"/runs/{run}?tab=rollouts")
    page.get_by_test_id("groups-table").get_by_role("checkbox").first.check()  # first: rows of this run alone
    page.get_by_role("button", name=f"Re-score {GROUP}…").click()
    page.get_by_test_id("rescore-go").click()
    page.wait_for_url(re.compile(r"/rewards/rwd_\w+\?.*tab=bench"))
    expect(page.get_by_test_id("bench-samples")).to_contain_text(f"{GROUP} of at most 200")
    page.get_by_test_id("start-bench").click()
    _done(page, installation)
    rows = page.locator('[data-testid="bench-row"]:not([data-probe])')
    expect(rows).to_have_count(GROUP)
    expect(page.get_by_test_id("bench-table")).to_contain_text("In the run")
    told = page.get_by_test_id("rescored")
    expect(told).to_contain_text(re.compile(rf"Samples that change\s*0 of {GROUP}"))
    told.get_by_test_id("rescored-row").first.click()  # first: rows of this job alone
    expect(page.get_by_test_id("reward-parts").locator("li").first).to_be_visible()


def test_all_that_fit_a_filter_are_scored_under_a_draft(page: Page, installation: Installation, run: str) -> None:
    api = installation.api
    never = {"components": [{"name": "never", "grader": {"type": "regex", "pattern": "no answer says this"}}]}
    other = api.post("/rewards", {"name": f"Never {token_hex(3)}", "definition": never})
    page.goto(f"/runs/{run}?tab=rollouts&step=1")
    first = page.get_by_test_id("groups-table").get_by_role("row").nth(1)
    first.get_by_role("cell").nth(1).click()  # its middle is a sample's cell, which opens tokens
    parts = page.get_by_test_id("sample-0").get_by_test_id("reward-parts")
    expect(parts.locator("li").first).to_contain_text(re.compile(r"×.*="))
    assert parts.locator("li div").nth(1).inner_text(), "the grader tells its reason"
    page.keyboard.press("Escape")
    page.get_by_test_id("rescore").click()
    expect(page.get_by_label("All that match the filters")).to_be_checked()
    _choose(page, page.get_by_role("combobox", name="Reward"), other["name"])
    page.get_by_test_id("rescore-go").click()
    page.wait_for_url(re.compile(rf"/rewards/{other['id']}\?.*tab=bench"))
    expect(page.get_by_test_id("bench-matching")).to_contain_text("All stored groups that match step 1")
    page.get_by_test_id("start-bench").click()
    _done(page, installation)
    metrics = events_of("parent", "step")[0]["data"]["metrics"]
    count = PROMPTS * GROUP
    right, dead = metrics["critic/score/mean"] * count, metrics["groups/zero_advantage_share"] * PROMPTS
    told = page.get_by_test_id("rescored")
    expect(told).to_contain_text(re.compile(rf"Samples that change\s*{right:.0f} of {count}"))
    expect(told).to_contain_text(re.compile(rf"Groups without signal\s*{dead:.0f} → {PROMPTS} of {PROMPTS}"))


def _choose(page: Page, select: Locator, option: str) -> None:
    select.click()
    page.get_by_role("option", name=option, exact=True).click()


def _fill_item(item: Locator, name: str, description: str, weight: str) -> None:
    item.get_by_role("textbox", name=re.compile("^Name of item")).fill(name)
    item.get_by_role("textbox", name=re.compile("^Weight of")).fill(weight)
    item.get_by_role("textbox", name=re.compile("^Description of")).fill(description)


def _done(page: Page, installation: Installation) -> None:
    job = page.get_by_test_id("bench-job")
    expect(job).to_have_attribute("data-state", re.compile("done|failed"), timeout=120_000)
    assert job.get_attribute("data-state") == "done", f"{job.inner_text()}\n{installation.log_tail()}"


def _all_met(question: str) -> str:
    size = len(re.findall(r"^\d+\. ", question.rpartition("Criteria:\n")[2], re.MULTILINE))
    return json.dumps({"verdicts": [{"criterion": n + 1, "reason": "it is", "met": True} for n in range(size)]})
