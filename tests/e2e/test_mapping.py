"""A table of no known shape in a real browser: mapped on the screen, uploaded, and known the next time."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import fits, sign_in, violations

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

LANDS = (("France", "Paris", "Seine"), ("Italy", "Rome", "Tiber"), ("Egypt", "Cairo", "Nile"))


def table(path: Path, lands: tuple[tuple[str, ...], ...]) -> Path:
    path.write_text("\n".join(["land,town,river", *(",".join(land) for land in lands)]) + "\n")
    return path


def test_an_unknown_table_is_mapped_and_known_the_next_time(page: Page, tmp_path: Path) -> None:
    sign_in(page)
    page.goto("/datasets")
    page.get_by_role("button", name="Upload").first.click()
    dialog = page.get_by_role("dialog")
    dialog.locator('input[type="file"]').set_input_files(table(tmp_path / "capitals.csv", LANDS))
    expect(dialog.get_by_test_id("mapping-editor")).to_be_visible()
    dialog.get_by_label("What becomes of land").select_option("prompt")
    dialog.get_by_label("What becomes of town").select_option("answer")
    dialog.get_by_label("What becomes of river").select_option("left_out")
    rows = dialog.get_by_test_id("preview-rows")
    dialog.get_by_role("textbox", name="Prompt").fill("The capital of {land")
    expect(dialog.get_by_text("that is not closed")).to_be_visible()
    dialog.get_by_role("textbox", name="Prompt").fill("What is the capital of {land}?")
    expect(rows).to_contain_text("What is the capital of Egypt?")
    expect(rows).not_to_contain_text("Nile")
    dialog.get_by_label("Keep this mapping as").fill("Capitals")
    dialog.get_by_role("button", name="Keep", exact=True).click()
    expect(page.get_by_text("The mapping Capitals is kept.")).to_be_visible()
    page.get_by_role("alert").get_by_role("button").click()
    dialog.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_test_id("version-origin")).to_contain_text("Mapped by hand", timeout=30_000)
    assert violations(page) == []

    page.goto("/datasets")
    page.get_by_role("button", name="Upload").first.click()
    dialog.locator('input[type="file"]').set_input_files(table(tmp_path / "more.csv", LANDS[:1]))
    expect(dialog).to_contain_text("The columns are those of the mapping Capitals, which is used.")
    expect(rows).to_contain_text("What is the capital of France?")
    page.set_viewport_size({"width": 390, "height": 800})
    fits(page)
    dialog.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_test_id("version-origin")).to_contain_text("What is the capital of {land}?", timeout=30_000)
