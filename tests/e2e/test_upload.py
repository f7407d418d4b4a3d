"""Uploads in a real browser: GSM8K as it is, what a refusal tells, and what differs between two versions."""

import csv
import json
from pathlib import Path
from secrets import token_hex

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import violations

pytestmark = [pytest.mark.e2e, pytest.mark.timed]

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


@pytest.mark.expensive(
    14, "7,473 rows through a browser", about=("frontend/src", "platform/dressage/datasets", "trainer_core/datasets")
)
def test_gsm8k_in_its_own_size_is_read_as_it_is(page: Page, tmp_path: Path) -> None:
    name = f"Whole school math {token_hex(3)}"
    slug = name.lower().replace(" ", "-")
    upload(page, gsm8k(tmp_path / "train.jsonl"), name, slug)
    search_and_edit(page, slug)


def upload(page: Page, file: Path, name: str, slug: str) -> None:
    """Send the file, and look at what the console tells of it."""
    page.goto("/datasets")
    page.get_by_role("button", name="Upload").first.click()
    page.locator('input[type="file"]').set_input_files(str(file))
    page.get_by_label("Name").first.fill(name)
    page.get_by_role("dialog").get_by_role("button", name="Upload", exact=True).click()
    origin = page.get_by_test_id("version-origin")
    expect(origin).to_contain_text("GSM8K", timeout=60_000)
    expect(origin).to_contain_text("numbers without commas")
    expect(page.get_by_text(f"{ROWS:,}").first).to_be_visible()
    first = page.get_by_label(f"Rows of {slug}@1").get_by_role("row").nth(1)
    expect(first).to_contain_text("Ann has 2 apples and buys 300 more. How many apples does Ann have?")
    expect(first).to_contain_text("302")
    assert violations(page) == []


def search_and_edit(page: Page, slug: str) -> None:
    """Find rows by words and by their answer, look at one beside the list, and change it in a new version."""
    page.get_by_role("textbox", name="Words in the prompt or the chat").fill('"Ann has 2 apples"')
    rows = page.get_by_label(f"Rows of {slug}@1")
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
    page.get_by_role("button", name="Save as new version").click()
    changed = page.get_by_label(f"Rows of {slug}@2").get_by_role("row").nth(1)
    expect(changed).to_contain_text("Ann has 2 apples and buys 12345678901234567890 more.")


@pytest.mark.expensive(
    13, "two uploads in a browser", about=("frontend/src", "platform/dressage/datasets", "trainer_core/datasets")
)
def test_a_refusal_tells_each_row_and_two_versions_are_compared(page: Page, tmp_path: Path) -> None:
    mark = token_hex(3)
    rows = [
        json.dumps({"id": f"s{number}", "prompt": f"{number}+1=", "answer": str(number + 1)}) for number in range(304)
    ]
    faulty = [*rows]
    faulty[300], faulty[302] = '{"prompt": ""}', '{"prompt": "1+1=",'
    name, slug = f"Plus one {mark}", f"plus-one-{mark}"
    dialog = choose(page, tmp_path, name, faulty)
    dialog.get_by_role("button", name="Upload", exact=True).click()
    faults = dialog.get_by_test_id("row-faults")
    expect(faults).to_contain_text("2 rows are invalid. Nothing was stored.", timeout=60_000)
    expect(faults.get_by_role("row")).to_have_count(2)
    expect(faults.get_by_role("row").first).to_contain_text("line 301")  # first: faults of this file alone
    expect(faults.get_by_role("row").last).to_contain_text("line 303")
    assert violations(page) == []
    with page.expect_download() as download:
        faults.get_by_role("link", name="Download all 2 as CSV").click()
    with open(download.value.path(), encoding="utf-8", newline="") as file:
        told = list(csv.DictReader(file))
    assert [(one["unit"], one["number"]) for one in told] == [("line", "301"), ("line", "303")]
    shown = [row.get_by_role("cell").last.inner_text() for row in faults.get_by_role("row").all()]
    assert [one["fault"] for one in told] == shown
    page.goto("/datasets")
    expect(page.get_by_text(name)).to_have_count(0)

    choose(page, tmp_path, name, rows).get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_label(f"Rows of {slug}@1")).to_be_visible(timeout=60_000)
    changed = [*rows[:300], json.dumps({"id": "s300", "prompt": "300+1=", "answer": "three hundred and one"})]
    changed += [*rows[302:], json.dumps({"id": "new", "prompt": "7+1=?", "answer": "8"})]
    page.get_by_role("button", name="Upload new version").click()
    dialog = page.get_by_role("dialog")
    dialog.locator('input[type="file"]').set_input_files(written(tmp_path, changed))
    dialog.get_by_role("button", name="Upload version 2", exact=True).click()
    expect(page.get_by_label(f"Rows of {slug}@2")).to_be_visible(timeout=60_000)
    page.get_by_test_id("version-menu").click()
    page.get_by_role("menuitem", name="With version 1").click()
    difference = page.get_by_test_id("version-diff")
    expect(difference).to_contain_text("1 added, 1 removed, 1 changed, 302 equal", timeout=60_000)
    expect(difference.get_by_role("article", name="added new")).to_contain_text("7+1=?")
    expect(difference.get_by_role("article", name="removed s301")).to_contain_text("301+1=")
    other = difference.get_by_role("article", name="changed s300")
    expect(other.locator("del")).to_have_text("301")
    expect(other.locator("ins")).to_have_text("three hundred and one")
    expect(page.get_by_role("menu")).to_have_count(0)  # it fades
    assert violations(page) == []


def choose(page: Page, tmp_path: Path, name: str, lines: list[str]) -> Locator:
    """Choose a file of these lines for a new dataset. Returns the dialog."""
    page.goto("/datasets")
    page.get_by_role("button", name="Upload").first.click()
    dialog = page.get_by_role("dialog")
    dialog.locator('input[type="file"]').set_input_files(written(tmp_path, lines))
    dialog.get_by_label("Name").first.fill(name)
    return dialog


def written(tmp_path: Path, lines: list[str]) -> str:
    """Path of a file of these lines."""
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines))
    return str(file)
