"""Duplicates in a real browser: the cost is told, they are found, and a version is made with one of each."""

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
    file = tmp_path / "stable.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    sign_in(page)
    page.goto("/datasets")
    page.get_by_role("button", name="Upload").first.click()
    page.locator('input[type="file"]').set_input_files(str(file))
    page.get_by_label("Name").first.fill("Stable sums")
    page.get_by_role("dialog").get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_label("Rows of stable-sums@1")).to_be_visible(timeout=60_000)

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
