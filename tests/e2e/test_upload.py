"""A dataset of GSM8K's own size in a real browser: sent as it is, mapped at sight, shown with its rows."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import sign_in, violations

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

QUESTION = "{name} has {a} {thing} and buys {b} more. How many {thing} does {name} have?"
NAMES = ("Ann", "Bob", "Carol", "Dan", "Eve", "Frank", "Grace")
THINGS = ("apples", "books", "coins", "pens")
ROWS, BYTES = 7_473, 4_166_206
"""Of GSM8K's train.jsonl."""


def gsm8k(path: Path) -> Path:
    """A file of GSM8K's size: questions, and solutions with the answer behind their last four hashes."""
    width = BYTES // ROWS
    rows = []
    for number in range(ROWS):
        name, thing = NAMES[number % len(NAMES)], THINGS[number % len(THINGS)]
        a, b = 2 + number % 97, (3 + number % 89) * (100 if number % 5 == 0 else 1)
        steps = f"{name} has {a}+{b} = <<{a}+{b}={a + b}>>{a + b} {thing}.\n#### {a + b:,}"
        row = {"question": QUESTION.format(name=name, thing=thing, a=a, b=b), "answer": steps}
        filler = f"{name} counts all {thing}.\n"
        row["answer"] = filler * ((width - len(json.dumps(row))) // (len(filler) + 1)) + steps
        rows.append(row)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_gsm8k_in_its_own_size_is_read_as_it_is(page: Page, tmp_path: Path) -> None:
    sign_in(page)
    upload(page, gsm8k(tmp_path / "train.jsonl"))
    search_and_edit(page)


def upload(page: Page, file: Path) -> None:
    """Send the file, and look at what the console tells of it."""
    page.goto("/datasets")
    page.get_by_role("button", name="Upload").first.click()
    page.locator('input[type="file"]').set_input_files(str(file))
    page.get_by_label("Name").first.fill("Whole school math")
    page.get_by_role("dialog").get_by_role("button", name="Upload", exact=True).click()
    origin = page.get_by_test_id("version-origin")
    expect(origin).to_contain_text("GSM8K", timeout=60_000)
    expect(origin).to_contain_text("numbers without commas")
    expect(page.get_by_text(f"{ROWS:,}").first).to_be_visible()
    first = page.get_by_label("Rows of whole-school-math@1").get_by_role("row").nth(1)
    expect(first).to_contain_text("Ann has 2 apples and buys 300 more. How many apples does Ann have?")
    expect(first).to_contain_text("302")
    assert violations(page) == []


def search_and_edit(page: Page) -> None:
    """Find rows by words and by their answer, look at one beside the list, and change it in a new version."""
    page.get_by_role("textbox", name="Words in the prompt or the chat").fill('"Ann has 2 apples"')
    rows = page.get_by_label("Rows of whole-school-math@1")
    expect(page.get_by_role("status").filter(has_text="of 7,473 rows")).to_have_text("3 of 7,473 rows")
    page.get_by_role("button", name="Filters").click()
    page.get_by_role("textbox", name="Answer").fill("302")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="of 7,473 rows")).to_have_text("1 of 7,473 rows")
    page.keyboard.press("Escape")
    rows.focus()
    page.keyboard.press("Enter")
    panel = page.get_by_test_id("row-panel")
    expect(panel.get_by_role("region", name="user, message 1")).to_contain_text("Ann has 2 apples and buys 300 more.")
    assert violations(page) == []
    panel.get_by_role("button", name="Edit").click()
    text = page.get_by_role("textbox", name="The row as JSON")
    text.fill(text.input_value().replace("buys 300 more", "buys 12345678901234567890 more"))
    page.get_by_role("button", name="Save as a new version").click()
    changed = page.get_by_label("Rows of whole-school-math@2").get_by_role("row").nth(1)
    expect(changed).to_contain_text("Ann has 2 apples and buys 12345678901234567890 more.")
