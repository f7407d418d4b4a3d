"""Operations of the lab in a real browser: the cost is told, rows are found, and a version is made without them."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import sign_in, violations

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

ROWS = [
    {"prompt": "How many horses stand in the stable?", "answer": "3"},
    {"prompt": "how many HORSES stand in the stable", "answer": "4"},
    {"prompt": "How many cows stand in the stable?", "answer": "1/2"},
]


def test_duplicates_are_found_and_left_out(page: Page, tmp_path: Path) -> None:
    sign_in(page)
    _upload(page, tmp_path, "Stable sums", ROWS)
    page.get_by_role("tab", name="Lab").click()
    card = page.get_by_test_id("lab-duplicates")
    expect(card).to_contain_text("Nobody has looked for duplicates")
    card.get_by_role("button", name="What will it cost?").click()
    expect(card.get_by_test_id("lab-cost")).to_contain_text("Reads 3 rows")
    card.get_by_role("button", name="Find duplicates").click()
    found = card.get_by_test_id("lab-found")
    expect(found).to_contain_text("One cluster has different gold answers", timeout=60_000)
    expect(found.get_by_role("listitem")).to_contain_text("stable-sums@1 · 2 how many HORSES stand in the stable → 4")

    counted = page.get_by_test_id("lab-statistics")
    counted.get_by_role("button", name="What will it cost?").click()
    counted.get_by_role("button", name="Count").click()
    expect(counted.get_by_label("Kind of answer")).to_contain_text("fraction", timeout=60_000)
    assert violations(page) == []
    found.get_by_role("button", name="Make a version with one of each").click()
    expect(page.get_by_test_id("version-lineage")).to_contain_text("2 rows of 3 (1 removed)")
    expect(page.get_by_label("Rows of stable-sums@2")).to_be_visible()


def test_rows_of_an_evaluation_set_are_found_and_left_out(page: Page, tmp_path: Path) -> None:
    sign_in(page)
    _upload(page, tmp_path, "Kept for tests", [ROWS[0]])
    _upload(page, tmp_path, "Trained on", [*ROWS[1:], {"prompt": "How many sheep?", "answer": "2"}])
    page.get_by_role("tab", name="Lab").click()
    card = page.get_by_test_id("lab-contamination")
    expect(card.get_by_role("button", name="What will it cost?")).to_be_disabled()
    card.get_by_label("Evaluation sets").first.click()
    page.get_by_role("option", name="kept-for-tests@1").click()
    page.keyboard.press("Escape")
    card.get_by_role("button", name="What will it cost?").click()
    expect(card.get_by_test_id("lab-cost")).to_contain_text("Reads 4 rows")
    card.get_by_label("Words of a run").fill("8")
    expect(card.get_by_test_id("lab-cost")).to_have_count(0)
    card.get_by_role("button", name="What will it cost?").click()
    card.get_by_role("button", name="Find contamination").click()
    found = card.get_by_test_id("lab-found")
    expect(found).to_contain_text("1 of the 1 rows of kept-for-tests@1", timeout=60_000)
    expect(found.get_by_role("listitem")).to_contain_text("trained-on@1 · 1 how many HORSES stand in the stable")
    assert violations(page) == []
    found.get_by_role("link", name="Show these rows").click()
    expect(page.get_by_text("how many HORSES stand in the stable")).to_be_visible()
    expect(page.get_by_text("How many sheep?")).to_have_count(0)
    page.go_back()
    page.get_by_role("button", name="Make a version without them").click()
    expect(page.get_by_test_id("version-lineage")).to_contain_text("2 rows of 3 (1 removed)")


def _upload(page: Page, tmp_path: Path, name: str, rows: list[dict[str, str]]) -> None:
    """Upload rows as a new dataset, whose page is open then."""
    file = tmp_path / f"{name}.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    page.goto("/datasets")
    page.get_by_role("button", name="Upload").first.click()
    page.locator('input[type="file"]').set_input_files(str(file))
    page.get_by_label("Name").first.fill(name)
    page.get_by_role("dialog").get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_label(f"Rows of {name.lower().replace(' ', '-')}@1")).to_be_visible(timeout=60_000)
