"""What only shows once someone has done something on a page: a name, a path, and what they do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.pictures.word_sums import SUMS, say
from tests.support.installation import Installation, wait_until
from tests.support.judge_endpoint import JudgeServer

ITEMS = [
    {"name": "clear", "description": "The question can be understood in one way.", "weight": 2},
    {"name": "lifelike", "description": "It tells of something that happens.", "weight": 1},
]


@dataclass(frozen=True, slots=True)
class Scene:
    """A page, and what is done on it before it is shown."""

    path: str
    show: Callable[[Page], None]


def scenes(installation: Installation, model: JudgeServer) -> dict[str, Scene]:
    """All by their name; what they show is made in the installation. ``model`` answers whatever is asked there."""
    model.say = say
    run = next(one["id"] for one in installation.api.get("/runs")["data"] if one["state"] == "succeeded")
    lab = f"/datasets/{_sums(installation, model)}?version=1&tab=lab"
    return {
        "group size and filters": Scene(f"/runs/{run}", _forecast),
        "paraphrases": Scene(lab, partial(_found, "lab-paraphrases")),
        "memorisation": Scene(lab, partial(_found, "lab-memorisation")),
        "goldilocks": Scene(lab, _try_in_stages),
        "quality of rows": Scene(lab, partial(_found, "lab-quality")),
        "synthesis": Scene(lab, _choose),
        "variations": Scene(lab, partial(_found, "lab-synthesis")),
    }


def _sums(installation: Installation, model: JudgeServer) -> str:
    """A dataset whose rows a model has judged, which someone has marked, compared, continued and written anew."""
    api = installation.api
    dataset: str = api.upload("Word sums", SUMS)["id"]
    named = {"name": "Small instruct", "slug": "small-instruct", "base_url": model.url, "model": "instruct-4b"}
    api.post("/judge-endpoints", {**named, "price_prompt": 0.1, "price_completion": 0.4})
    judged = _done(installation, dataset, {"kind": "quality", "endpoint": "small-instruct", "items": ITEMS})
    drawn = api.get(f"/lab-jobs/{judged}/marks")["rows"]
    marks = [{"row": one["index"], "word": "bad" if one["index"] % 5 == 0 else "good"} for one in drawn]
    api.put(f"/lab-jobs/{judged}/marks", {"marks": marks})
    asked = {"endpoint": "small-instruct"}
    _done(installation, dataset, {"kind": "paraphrases", "same_numbers": False, "threshold": 0.8, **asked})
    _done(installation, dataset, {"kind": "memorisation", "shown": 0.5, "least_rest": 5, **asked})
    _done(installation, dataset, {"kind": "synthesis", "endpoint": "small-instruct", "sample": 12})
    return dataset


def _done(installation: Installation, dataset: str, operation: dict[str, Any]) -> str:
    api = installation.api
    job: str = api.post(f"/datasets/{dataset}/versions/1/lab", {"operation": operation})["job"]["id"]
    wait_until(lambda: api.get(f"/lab-jobs/{job}")["state"] == "done", 120, installation.log_tail)
    return job


def _forecast(page: Page) -> None:
    """A draft of twice the group size, beside the run as it is."""
    opener = page.get_by_test_id("open-controls")
    if opener.is_visible():
        opener.click()
    page.get_by_test_id("batch-forecast").click()
    size = page.get_by_label("Group size to preview")
    size.fill(str(2 * int(size.input_value())))
    page.get_by_role("switch", name="Completions truncated at max tokens").click(force=True)
    expect(page.get_by_role("link", name="Fork with these")).to_be_visible()
    expect(page.locator('[data-testid="batch-preview"][data-settled="true"]')).to_be_visible()
    page.get_by_test_id("batch-forecast").evaluate("shown => shown.scrollIntoView({block: 'start'})")


def _choose(page: Page) -> None:
    """The choices of a synthesis, with its cost."""
    card = page.get_by_test_id("lab-synthesis")
    card.get_by_label("Model").first.click()
    page.get_by_role("option", name="Small instruct").first.click()
    card.get_by_label("Result").first.click()
    page.get_by_role("option", name="A new dataset").click()
    card.get_by_text("More options").click()
    card.get_by_role("button", name="Run again").click()
    expect(card.get_by_test_id("lab-cost")).to_be_visible()
    _to_top(card)


def _try_in_stages(page: Page) -> None:
    """The choices of a first stage, with its cost."""
    card = page.get_by_test_id("goldilocks")
    card.get_by_text("Stage one only").click()
    for label in ("First policy", "Reward"):
        card.get_by_label(label).first.click()
        page.get_by_role("option").first.click()
    card.get_by_label("Longest prompt").fill("64")
    card.get_by_label("Longest answer").fill("64")
    card.get_by_label("Result").first.click()
    page.get_by_role("option", name="A new dataset").click()
    card.get_by_role("button", name="Estimate cost").click()
    expect(card.get_by_test_id("goldilocks-cost")).to_be_visible()
    _to_top(card)


def _found(card: str, page: Page) -> None:
    _to_top(page.get_by_test_id(card).get_by_test_id("lab-found"))


def _to_top(shown: Locator) -> None:
    """Below the bar that stays at the top."""
    expect(shown).to_be_visible()
    shown.evaluate("shown => { shown.scrollIntoView({block: 'start'}); window.scrollBy(0, -64); }")
