"""Operations of the lab in a real browser: the cost is told, rows are found, and a version is made without them."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import fits, violations
from tests.support.installation import ROOT, Installation
from tests.support.judge_endpoint import JudgeServer

pytestmark = [pytest.mark.e2e, pytest.mark.timed]
LAB = (
    "frontend/src",
    "platform/dressage/cluster_jobs",
    "platform/dressage/datasets",
    "platform/dressage/jobs",
    "platform/dressage/lab",
    "platform/dressage/rewards",
    "trainer_core/datasets",
    "worker/judge",
)
SERVED = (
    *LAB,
    "platform/dressage/profiles",
    "platform/dressage/serving",
    "worker/cluster",
    "worker/engine",
    "worker/jobs",
    "worker/link",
    "worker/rollout",
)
JOBS = pytest.mark.expensive(30, "jobs of the lab, each in a process of its own, and a browser", about=LAB)

PICTURES = os.environ.get("DRESSAGE_TEST_PICTURES")
"""Folder for pictures of the pages."""
BOXED = "Answer with a number in \\boxed{}, and with nothing else."
ROWS = [
    {"prompt": "How many horses stand in the stable?", "answer": "3"},
    {"prompt": "how many HORSES stand in the stable", "answer": "4"},
    {"prompt": "How many cows stand in the stable?", "answer": "1/2"},
]


@pytest.mark.expensive(41, "three jobs of the lab, each in a process of its own, and a browser", about=LAB)
def test_duplicates_are_found_and_left_out(page: Page, tmp_path: Path) -> None:
    slug = _slug_of(_upload(page, tmp_path, "Stable sums", ROWS))
    page.get_by_role("tab", name="Lab").click()
    card = page.get_by_test_id("lab-duplicates")
    expect(card).to_contain_text("Not checked for duplicates yet")
    card.get_by_role("button", name="Estimate cost").click()
    expect(card.get_by_test_id("lab-cost")).to_contain_text("Reads 3 rows")
    card.get_by_role("button", name="Find duplicates").click()
    found = card.get_by_test_id("lab-found")
    expect(found).to_contain_text("One cluster has different gold answers", timeout=60_000)
    expect(found.get_by_role("listitem")).to_contain_text(f"{slug}@1 · 2 how many HORSES stand in the stable → 4")

    counted = page.get_by_test_id("lab-statistics")
    counted.get_by_role("button", name="Estimate cost").click()
    counted.get_by_role("button", name="Compute statistics").click()
    expect(counted.get_by_label("Answer type")).to_contain_text("fraction", timeout=60_000)
    assert violations(page) == []
    found.get_by_role("button", name="Create a version with one of each").click()
    expect(page.get_by_test_id("version-lineage")).to_contain_text("2 rows of 3 (1 removed)")
    expect(page.get_by_label(f"Rows of {slug}@2")).to_be_visible()


@JOBS
def test_rows_of_an_evaluation_set_are_found_and_left_out(page: Page, tmp_path: Path) -> None:
    kept = _slug_of(_upload(page, tmp_path, "Kept for tests", [ROWS[0]]))
    rows = [*ROWS[1:], {"prompt": "How many sheep?", "answer": "2"}]
    trained = _slug_of(_upload(page, tmp_path, "Trained on", rows))
    page.get_by_role("tab", name="Lab").click()
    card = page.get_by_test_id("lab-contamination")
    expect(card.get_by_role("button", name="Estimate cost")).to_be_disabled()
    card.get_by_label("Evaluation sets").first.click()
    page.get_by_role("option", name=f"{kept}@1").click()
    page.keyboard.press("Escape")
    card.get_by_role("button", name="Estimate cost").click()
    expect(card.get_by_test_id("lab-cost")).to_contain_text("Reads 4 rows")
    card.get_by_label("N-gram length, words").fill("8")
    expect(card.get_by_test_id("lab-cost")).to_have_count(0)
    card.get_by_role("button", name="Estimate cost").click()
    card.get_by_role("button", name="Find contamination").click()
    found = card.get_by_test_id("lab-found")
    expect(found).to_contain_text(f"1 of the 1 rows of {kept}@1", timeout=60_000)
    expect(found.get_by_role("listitem")).to_contain_text(f"{trained}@1 · 1 how many HORSES stand in the stable")
    assert violations(page) == []
    found.get_by_role("link", name="Show rows").click()
    expect(page.get_by_text("how many HORSES stand in the stable")).to_be_visible()
    expect(page.get_by_text("How many sheep?")).to_have_count(0)
    page.go_back()
    page.get_by_role("button", name="Create a version without them").click()
    expect(page.get_by_test_id("version-lineage")).to_contain_text("2 rows of 3 (1 removed)")


@JOBS
def test_rows_are_judged_and_a_person_agrees(page: Page, tmp_path: Path, judge: str) -> None:
    rows = [{"prompt": f"How many horses are {number} horses?", "answer": f"{number}"} for number in range(6)]
    _upload(page, tmp_path, "Judged sums", rows)
    page.get_by_role("tab", name="Lab").click()
    card = page.get_by_test_id("lab-quality")
    expect(card.get_by_role("button", name="Estimate cost")).to_be_disabled()
    card.get_by_label("Model").first.click()
    page.get_by_role("option", name=judge).click()
    card.get_by_role("button", name="Estimate cost").click()
    expect(card.get_by_test_id("lab-cost")).to_contain_text("about 6 rows")
    card.get_by_role("button", name="Score rows").click()
    found = card.get_by_test_id("lab-found")
    expect(found.get_by_role("img")).to_have_accessible_name("Scores of 6 rows; 3 are below 50 %", timeout=60_000)
    lowest = found.get_by_role("region", name="Lowest scores")
    expect(lowest).to_contain_text("6 of the lowest rows are among the rows to mark")
    expect(lowest.get_by_role("listitem")).to_have_count(0)
    picture(page, "lab-quality-unmarked")
    expect(found).to_contain_text("No rows marked yet")
    found.get_by_role("button", name="Mark rows").click()
    marking = found.get_by_test_id("lab-marking")
    for number in range(1, 7):
        expect(marking).to_contain_text(f"Row {number} of 6, {number - 1} marked")
        assert "%" not in marking.inner_text()
        even = any(f"are {one} horses" in marking.inner_text() for one in (0, 2, 4))
        marking.get_by_role("button", name="Good" if even else "Bad").click()
    expect(marking).to_contain_text("6 marked")
    picture(page, "lab-quality-marking")
    found.get_by_role("button", name="Show the agreement").click()
    expect(found).to_contain_text("agrees on 100 % of 6 rows (95 %: 61 % to 100 %), κ 1.00 (1.00 to 1.00)")
    expect(lowest.get_by_role("listitem").first).to_contain_text("clear 0 %: It is an odd one.")
    expect(lowest).not_to_contain_text("among the rows to mark")
    assert violations(page) == []
    picture(page, "lab-quality")
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page)
    picture(page, "lab-quality-narrow")
    page.set_viewport_size({"width": 1440, "height": 900})
    found.get_by_role("link", name="Show rows below").click()
    expect(page.get_by_text("How many horses are 1 horses?")).to_be_visible()
    expect(page.get_by_text("How many horses are 2 horses?")).to_have_count(0)
    page.go_back()
    page.get_by_role("button", name="Create a version of the 3 rows from 50 %").click()
    expect(page.get_by_test_id("version-lineage")).to_contain_text("3 rows of 6 (3 removed)")


@JOBS
def test_variations_are_written_verified_and_undone(page: Page, tmp_path: Path, writer: str) -> None:
    rows = [{"prompt": _stable(number), "answer": f"{2 * number}"} for number in (11, 23)]
    taken, elsewhere = _upload(page, tmp_path, "Told anew", rows), f"Told elsewhere {token_hex(3)}"
    slug = _slug_of(taken)
    page.get_by_role("tab", name="Lab").click()
    card = page.get_by_test_id("lab-synthesis")
    expect(card).to_contain_text("No variations yet")
    card.get_by_label("Model").first.click()
    page.get_by_role("option", name=writer).first.click()
    card.get_by_label("Variations").fill("1")
    card.get_by_text("More options").click()
    card.get_by_label("Answer format").fill(BOXED)
    card.get_by_label("Result").first.click()
    page.get_by_role("option", name="A new dataset").click()
    card.get_by_label("Name of the new dataset").fill(taken)
    assert violations(page) == []
    picture(page, "lab-synthesis-form")
    card.get_by_role("button", name="Estimate cost").click()
    expect(card).to_contain_text(f"There is already a dataset '{slug}'.")
    card.get_by_label("Name of the new dataset").fill(elsewhere)
    card.get_by_role("button", name="Estimate cost").click()
    expect(card.get_by_test_id("lab-cost")).to_contain_text("about 2 rows")
    card.get_by_role("button", name="Write variations").click()
    found = card.get_by_test_id("lab-found")
    expect(found.get_by_role("region", name="Kept variations")).to_contain_text("100 % correct", timeout=60_000)
    found.get_by_role("heading", name="Rejected variations").click()
    refused = found.get_by_role("region", name="Rejected variations").get_by_role("listitem")
    expect(refused).to_have_count(1)
    expect(refused).to_contain_text("It lacks 23 and has 24, which its source lacks.")
    assert violations(page) == []
    picture(page, "lab-synthesis")
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page)
    picture(page, "lab-synthesis-narrow")
    page.set_viewport_size({"width": 1440, "height": 900})
    found.get_by_role("link", name=f"Open {_slug_of(elsewhere)}@1 with 3 rows").click()
    expect(page.get_by_test_id("version-lineage")).to_contain_text(f"{slug}@1")
    expect(page.get_by_text("There are 11 ponies together with 11 horses")).to_be_visible()
    page.go_back()
    found.get_by_role("button", name="Undo: delete version and notes").click()
    expect(card).to_contain_text("The last job produced no notes")
    expect(page.get_by_text(f"{_slug_of(elsewhere)}@1")).to_have_count(0)


@pytest.mark.live
@pytest.mark.expensive(61, "two policies sample, each with an engine", about=SERVED)
@pytest.mark.timeout(600)
def test_two_policies_sort_the_rows_in_stages(page: Page, tmp_path: Path, installation: Installation) -> None:
    starter = next(one for one in installation.api.get("/policies")["data"] if one["slug"] == "starter")
    stronger = f"Stronger {token_hex(3)}"
    installation.api.post("/policies", {"name": stronger, "path": starter["path"]})
    files = [ROOT / "demo" / "data" / f"gsm8k-{kind}.jsonl" for kind in ("add-sub", "mul")]
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()[:6]]
    name, right = _upload(page, tmp_path, "Sums in stages", rows), f"Just right {token_hex(3)}"
    slug = _slug_of(name)
    page.get_by_role("tab", name="Lab").click()
    card = page.get_by_test_id("goldilocks")
    expect(card).to_contain_text("Not run yet")
    card.get_by_text("Stage one only").click()
    _choose(page, card, "First policy", starter["name"])
    _choose(page, card, "Reward", "calculation@1")
    for field, value in (("Samples per row", "4"), ("Longest prompt", "64"), ("Longest answer", "32")):
        card.get_by_label(field).fill(value)
    card.get_by_label("Apply the chat template").uncheck()
    card.get_by_role("slider", name="Band of stage one: lower edge").press("ArrowLeft")
    expect(card).to_contain_text("Keeps pass rates from 0 % to 95 %.")
    card.get_by_role("button", name="Estimate cost").click()
    expect(card.get_by_test_id("goldilocks-cost")).to_contain_text("Stage one, starter: 48 to 48 samples of 12 rows")
    assert violations(page) == []
    picture(page, "goldilocks-form")
    card.get_by_role("button", name="Start stage one").click()
    expect(card.get_by_test_id("goldilocks-progress")).to_contain_text("Stage one of 1, starter")
    picture(page, "goldilocks-working")
    found = card.get_by_test_id("goldilocks-found")
    expect(found).to_contain_text(re.compile(r"[1-9]\d* of 12 rows"), timeout=240_000)
    expect(found.get_by_test_id("goldilocks-next")).to_contain_text(f"{slug}@2")
    assert violations(page) == []
    picture(page, "goldilocks-stage-one")

    found.get_by_role("button", name="Continue with stage two").click()
    _choose(page, card, "Second policy", stronger)
    _choose(page, card, "Result", "A new dataset")
    expect(card.get_by_label("Name of the new dataset")).to_have_value(f"{name} in the band")
    card.get_by_label("Name of the new dataset").fill(right)
    card.get_by_role("button", name="Estimate cost").click()
    cost = card.get_by_test_id("goldilocks-cost")
    expect(cost).to_contain_text("Stage one, starter: reuses a stored profile of 48 samples at no cost.")
    expect(cost).to_contain_text("48 to 48 samples of 12 rows")
    picture(page, "goldilocks-stage-two-form")
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page)
    picture(page, "goldilocks-narrow")
    page.set_viewport_size({"width": 1440, "height": 900})
    card.get_by_role("button", name="Start both stages").click()
    expect(card.get_by_test_id("goldilocks-progress")).to_contain_text("Stage two of 2, stronger")
    made = found.get_by_role("link", name=f"Open {_slug_of(right)}@1")
    expect(made).to_be_visible(timeout=240_000)
    expect(found).to_contain_text("Stage one, starter (stored profile)")
    assert violations(page) == []
    picture(page, "goldilocks-found")
    made.click()
    expect(page.get_by_test_id("version-lineage")).to_contain_text(f"Goldilocks in two stages of {slug}@1")
    page.go_back()
    found.get_by_role("button", name="Undo: delete version and notes").click()
    expect(found).to_contain_text(f"Open {slug}@2")
    expect(page.get_by_text(f"{_slug_of(right)}@1")).to_have_count(0)


@pytest.mark.expensive(11, "a browser in front of the installation", about=LAB)
def test_answers_are_made_whole(page: Page, tmp_path: Path) -> None:
    rows = [
        {"prompt": "How many?", "answer": "$1{,}234$"},
        {"prompt": "Which part?", "answer": "\\frac{6}{8}"},
        {"prompt": "How long?", "answer": "2.5"},
    ]
    slug = _slug_of(_upload(page, tmp_path, "Whole sums", rows))
    page.get_by_role("button", name="Filter, split or rewrite").click()
    form = page.get_by_role("dialog")
    form.get_by_text("Whole-number answers").click()
    expect(form.get_by_label("If the answer is a fraction m/n, ask for m + n")).to_be_checked()
    form.get_by_label("Added below the prompt of these rows").fill("Give m + n.")
    form.get_by_role("button", name="Preview").click()
    expect(form.get_by_test_id("derive-preview")).to_contain_text("2 rows of 3 (1 removed, 2 changed)")
    assert violations(page) == []
    picture(page, "whole-answers")
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page)
    picture(page, "whole-answers-narrow")
    page.set_viewport_size({"width": 1440, "height": 900})
    form.get_by_role("button", name="Create").click()
    expect(page.get_by_test_id("version-lineage")).to_contain_text(f"Whole-number answers of {slug}@1: 2 rows of 3")
    expect(page.get_by_text("Give m + n.")).to_be_visible()


@pytest.mark.live
@pytest.mark.expensive(40, "serves a policy twice", about=SERVED)
@pytest.mark.timeout(600)
def test_a_policy_of_the_cluster_is_asked(page: Page, tmp_path: Path, own: str) -> None:
    """The cluster serves it for the job: once to continue rows, once to make vectors of them."""
    rows = [{"prompt": _stable(number), "answer": f"{2 * number}"} for number in (11, 23)]
    rows = [*rows, {"prompt": "How many?", "answer": "1"}, rows[0]]
    slug = _slug_of(_upload(page, tmp_path, "Asked at home", rows))
    page.get_by_role("tab", name="Lab").click()
    card = page.get_by_test_id("lab-memorisation")
    expect(card).to_contain_text("No model tested on this version yet.")
    _choose(page, card, "Model", f"{own} (policy starter, on the cluster)")
    card.get_by_label("Shown to the model").fill("50")
    card.get_by_label("Continuation of at least").fill("5")
    card.get_by_role("button", name="Estimate cost").click()
    expect(card.get_by_test_id("lab-cost")).to_contain_text("about 4 rows")
    card.get_by_role("button", name="Test rows").click()
    expect(card).to_contain_text(re.compile("Waiting for the cluster|The cluster is starting the model"))
    picture(page, "lab-memorisation-starting")
    found = card.get_by_test_id("lab-found")
    expect(found.get_by_role("region", name="Largest overlaps").get_by_role("listitem")).to_have_count(
        3, timeout=240_000
    )
    expect(found).to_contain_text("0 (0 %)")
    assert violations(page) == []
    picture(page, "lab-memorisation")

    alike = page.get_by_test_id("lab-paraphrases")
    _choose(page, alike, "Model", f"{own} (policy starter, on the cluster)")
    alike.get_by_role("button", name="Estimate cost").click()
    alike.get_by_role("button", name="Find paraphrases").click()
    clusters = alike.get_by_role("list", name="Largest clusters")
    expect(clusters).to_contain_text(f"{slug}@1 · 4 A stable has 11 horses", timeout=240_000)
    expect(clusters).not_to_contain_text("23 horses")
    expect(alike).to_contain_text("Of 1,000 random pairs of rows")
    assert violations(page) == []
    picture(page, "lab-paraphrases")
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page)
    picture(page, "lab-paraphrases-narrow")
    page.set_viewport_size({"width": 1440, "height": 900})
    alike.get_by_role("button", name="Create a version with one of each").click()
    expect(page.get_by_test_id("version-lineage")).to_contain_text("3 rows of 4 (1 removed)")


@pytest.fixture
def own(installation: Installation) -> str:
    """Name of an endpoint at which the cluster serves the starter policy."""
    name = f"Own {token_hex(3)}"
    installation.api.post("/judge-endpoints", {"name": name, "policy": "starter", "model": "starter"})
    return name


@pytest.fixture
def judge(installation: Installation) -> Iterator[str]:
    """Name of a judge that likes rows with even numbers."""

    def say(body: dict[str, Any]) -> str:
        found = re.search(r"are (\d+) horses", body["messages"][-1]["content"])
        assert found
        score, reason = (1, "It is an odd one.") if int(found[1]) % 2 else (5, "")
        return json.dumps({"verdicts": [{"criterion": number, "reason": reason, "score": score} for number in (1, 2)]})

    server = JudgeServer(say)
    name = f"Even {token_hex(3)}"
    installation.api.post("/judge-endpoints", {"name": name, "base_url": server.url, "model": "judge"})
    yield name
    server.close()


def _stable(number: int) -> str:
    return f"A stable has {number} horses and {number} ponies. How many animals stand in the stable?"


@pytest.fixture
def writer(installation: Installation) -> Iterator[str]:
    """Name of a model that tells questions about stables anew, one of them with another number, and solves them.

    It solves only what asks for the answer as ``BOXED`` does.
    """

    def say(body: dict[str, Any]) -> str:
        found = re.search(r"(\d+) horses", body["messages"][-1]["content"])
        assert found
        number = int(found[1])
        if "variations of a question" not in body["messages"][0]["content"]:
            right = BOXED in body["messages"][-1]["content"]
            return f"Twice as many: \\boxed{{{2 * number}}}." if right else "I was not told how to answer."
        number += number == 23
        told = f"There are {number} ponies together with {number} horses; give the count of all of them."
        return json.dumps({"variations": [told]})

    server = JudgeServer(say)
    name = f"Writer {token_hex(3)}"
    installation.api.post("/judge-endpoints", {"name": name, "base_url": server.url, "model": "writer"})
    yield name
    server.close()


def picture(page: Page, name: str) -> None:
    """Take a picture, where whoever runs the tests wants to look at the pages."""
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/{name}.png", full_page=True)
        page.emulate_media(color_scheme="dark")
        page.screenshot(path=f"{PICTURES}/{name}-dark.png", full_page=True)
        page.emulate_media(color_scheme="light")


def _choose(page: Page, card: Locator, field: str, option: str) -> None:
    """Choose one of a list."""
    card.get_by_label(field, exact=True).first.click()
    page.get_by_role("option", name=option, exact=True).click()


def _upload(page: Page, tmp_path: Path, name: str, rows: list[dict[str, str]]) -> str:
    """Upload rows as a new dataset, whose page is open then. Returns its name, which begins with ``name``."""
    name = f"{name} {token_hex(3)}"
    file = tmp_path / f"{name}.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    page.goto("/datasets")
    page.get_by_role("button", name="Upload").first.click()
    page.locator('input[type="file"]').set_input_files(str(file))
    page.get_by_label("Name").first.fill(name)
    page.get_by_role("dialog").get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_label(f"Rows of {_slug_of(name)}@1")).to_be_visible(timeout=60_000)
    return name


def _slug_of(name: str) -> str:
    return name.lower().replace(" ", "-")
