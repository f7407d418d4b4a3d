"""A table of no known shape in a real browser: mapped on the screen, uploaded, and known the next time."""

from pathlib import Path
from secrets import token_hex

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import fits, violations

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timed,
    pytest.mark.expensive(
        8,
        "a browser in front of the installation",
        about=("frontend/src", "platform/dressage/datasets", "trainer_core/datasets"),
    ),
]

LANDS = (("France", "Paris", "Seine"), ("Italy", "Rome", "Tiber"), ("Egypt", "Cairo", "Nile"))


def table(path: Path, columns: tuple[str, ...], lands: tuple[tuple[str, ...], ...]) -> Path:
    path.write_text("".join(f"{','.join(row)}\n" for row in (columns, *lands)))
    return path


def test_an_unknown_table_is_mapped_and_known_the_next_time(page: Page, tmp_path: Path) -> None:
    mark = token_hex(3)
    # No other table of the installation has these columns.
    land, town, river = columns = (f"land_{mark}", f"town_{mark}", f"river_{mark}")
    page.goto("/datasets")
    page.get_by_role("button", name="Upload").first.click()
    dialog = page.get_by_role("dialog")
    dialog.locator('input[type="file"]').set_input_files(table(tmp_path / f"capitals-{mark}.csv", columns, LANDS))
    expect(dialog.get_by_test_id("mapping-editor")).to_be_visible()
    dialog.get_by_label(f"Target of {land}").select_option("prompt")
    dialog.get_by_label(f"Target of {town}").select_option("answer")
    dialog.get_by_label(f"Target of {river}").select_option("left_out")
    rows = dialog.get_by_test_id("preview-rows")
    dialog.get_by_role("textbox", name="Prompt").fill(f"The capital of {{{land}")
    expect(dialog.get_by_text("that is not closed")).to_be_visible()
    question = f"What is the capital of {{{land}}}?"
    dialog.get_by_role("textbox", name="Prompt").fill(question)
    expect(rows).to_contain_text("What is the capital of Egypt?")
    expect(rows).not_to_contain_text("Nile")
    dialog.get_by_label("Save mapping as").fill(f"Capitals {mark}")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text(f"Mapping Capitals {mark} saved.")).to_be_visible()
    page.get_by_role("alert").get_by_role("button").click()
    dialog.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_test_id("version-origin")).to_contain_text("Mapped manually", timeout=30_000)
    assert violations(page) == []

    page.goto("/datasets")
    page.get_by_role("button", name="Upload").first.click()
    more = table(tmp_path / f"more-{mark}.csv", columns, LANDS[:1])
    dialog.locator('input[type="file"]').set_input_files(more)
    expect(dialog).to_contain_text(f"The columns match the mapping Capitals {mark}, which is used.")
    expect(rows).to_contain_text("What is the capital of France?")
    page.set_viewport_size({"width": 390, "height": 800})
    fits(page)
    dialog.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_test_id("version-origin")).to_contain_text(question, timeout=30_000)
