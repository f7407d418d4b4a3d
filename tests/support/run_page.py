"""What browser tests read on the page of a run, and do there with the mouse."""

from typing import Any

from playwright.sync_api import Locator, Page, expect


def charts_in_sight(page: Page, below: float) -> int:
    """Charts that stand above the fold as a whole."""
    cards = page.locator('section[data-testid^="chart-"]')
    expect(cards.nth(5)).to_be_attached()
    boxes = [card.bounding_box() for card in cards.all()[:8]]
    return sum(box is not None and box["y"] >= 0 and box["y"] + box["height"] <= below for box in boxes)


def top(place: Locator) -> float:
    """Distance from the upper edge of the screen, in pixels."""
    box = place.bounding_box()
    assert box is not None
    return box["y"]


def points_drawn(page: Page, metric: str) -> list[tuple[int, float]]:
    """(step, value) of what the chart of a metric has drawn, newest first, as its own table shows it."""
    title = f"Hide {metric}"
    card = page.locator('section[data-testid^="chart-"]').filter(has=page.locator(f'button[title="{title}"]')).first
    card = page.get_by_test_id(card.get_attribute("data-testid") or "")  # its legend goes where the table comes
    place = card.locator('button[title^="Hide "]').evaluate_all(
        "(all, title) => all.findIndex(one => one.title === title)", title
    )
    card.get_by_role("button", name="Data table").click()
    rows = card.locator("tbody tr").evaluate_all("all => all.map(row => [...row.cells].map(cell => cell.innerText))")
    card.get_by_role("button", name="Data table").click()
    number = str.maketrans({"−": "-", ",": None})
    drawn = [(cells[0].translate(number), cells[1 + place].translate(number)) for cells in rows]
    # At step 0 stands what was evaluated before the first.
    return [(int(step), float("nan" if value == "–" else value)) for step, value in drawn if int(step) > 0]


def drag(page: Page, handle: Locator, share: float) -> None:
    """Hold a handle of a histogram and pull it to a share of the width, in several moves."""
    handle.scroll_into_view_if_needed()
    box, plot = handle.bounding_box(), handle.locator("..").bounding_box()
    assert box is not None and plot is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(plot["x"] + share * plot["width"], plot["y"] + 30, steps=8)
    page.mouse.up()


def shows_band(knob: Locator, wanted: dict[str, Any]) -> None:
    """The figures of the difficulty band on the screen are those of the preview that the API gives."""
    preview = knob.get_by_test_id("band-preview")
    for now, draft in zip(wanted["now"]["sources"], wanted["draft"]["sources"], strict=True):
        row = preview.locator(f'tr[data-source="{now["name"]}"]')
        inside = [f"{one['inside']:,}" for one in (now, draft)]
        expect(row.locator("td").first).to_have_text(" → ".join(dict.fromkeys(inside)))
    dead = [f"{100 * side['dead_share']:.1f} %" for side in (wanted["now"], wanted["draft"])]
    expect(knob.get_by_test_id("band-dead")).to_have_text(" → ".join(dict.fromkeys(dead)))
