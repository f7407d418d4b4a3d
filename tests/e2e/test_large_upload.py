"""A file in parts in a real browser: the network is cut, the page is loaded anew, and the upload goes on."""

from pathlib import Path
from secrets import token_hex

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.support.browser import violations

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timed,
    pytest.mark.expensive(
        23,
        "19 MiB through a browser",
        about=("frontend/src", "platform/dressage/datasets", "platform/dressage/imports", "trainer_core/datasets"),
    ),
]

PARTS = "**/api/v1/dataset-uploads/*"
ROWS = 2_000


def large(path: Path) -> Path:
    """A file of three parts."""
    filler = "so it goes, " * 800
    with path.open("w") as file:
        for number in range(ROWS):
            file.write(f'{{"prompt": "{number}+1= {filler}", "answer": "{number + 1}"}}\n')
    assert 2 * (8 << 20) < path.stat().st_size < 3 * (8 << 20)
    return path


def test_an_upload_goes_on_after_a_lost_network_and_a_reload(page: Page, tmp_path: Path) -> None:
    name = f"sums-{token_hex(3)}.jsonl"
    file, sent = large(tmp_path / name), 0
    state = f"8.0 MiB of {file.stat().st_size / 2**20:.1f} MiB"

    def one_part(route: Route) -> None:
        nonlocal sent
        if route.request.method == "PATCH" and sent == 1:
            route.abort("internetdisconnected")
            return
        sent += route.request.method == "PATCH"
        route.continue_()

    page.route(PARTS, one_part)
    send(page, file)
    transfer = page.get_by_test_id("transfer")
    expect(transfer).to_have_attribute("data-phase", "waiting")
    expect(transfer).to_contain_text(state)
    page.unroute(PARTS)
    page.reload()
    parts: list[Request] = []
    page.on("request", lambda request: parts.append(request) if request.method == "PATCH" else None)
    page.get_by_role("button", name="Upload").first.click()
    expect(page.get_by_test_id("unfinished-uploads")).to_contain_text(f"{name}: {state}")
    send(page, file)
    expect(page.get_by_test_id("version-origin")).to_contain_text(name, timeout=120_000)
    expect(page.get_by_text(f"{ROWS:,}").first).to_be_visible()
    assert violations(page) == []
    assert [request.headers["upload-offset"] for request in parts] == [str(8 << 20), str(16 << 20)]


def send(page: Page, file: Path) -> None:
    page.goto("/datasets")
    page.get_by_role("button", name="Upload").first.click()
    page.locator('input[type="file"]').set_input_files(str(file))
    page.get_by_label("Name").first.fill(f"Large {file.stem}")
    expect(page.get_by_test_id("file-preview")).to_be_visible()  # it moves what is below it
    page.get_by_role("dialog").get_by_role("button", name="Upload", exact=True).click()
