"""Decisions on proposed rubric items in a real browser: accepted as edited, retired, and taken back."""

import re
from secrets import token_hex
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import fits
from tests.support.installation import Installation
from tests.support.replay import STEPS, replayed_parent

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timed,
    pytest.mark.expensive(15, "decides on proposals in a browser", about=("frontend/src", "platform/dressage/rewards")),
]

ITEM = {"name": "correct", "description": "The answer is right.", "weight": 2}
LONG = "supercalifragilistic" * 10
PROPOSED = ("cites", "guesses", LONG)


@pytest.fixture
def reward(installation: Installation) -> dict[str, Any]:
    """A reward with a rubric of one item, for which a run proposes three more."""
    api, mark = installation.api, token_hex(3)
    judge = {"name": "House judge", "slug": f"house-{mark}", "base_url": "http://127.0.0.1:9/v1", "model": "judge"}
    api.post("/judge-endpoints", judge)
    grader = {"type": "rubric", "items": [ITEM], "endpoint": judge["slug"]}
    definition = {"components": [{"name": "quality", "grader": grader}]}
    made: dict[str, Any] = api.post("/rewards", {"name": f"Proposed {mark}", "definition": definition})
    found = [_proposed(name) for name in PROPOSED]
    data = {"component": "quality", "proposals": found, "reward_version": f"{made['slug']}@1"}
    replayed_parent(installation, {"kind": "rubric_proposals", "step": STEPS, "data": data})
    return made


def _proposed(name: str) -> dict[str, Any]:
    """A proposal as a worker tells it."""
    return {
        "name": name, "description": f"It {name}.", "weight": 2, "prompt_id": "add:0", "prompt_text": "1+1=",
        "better": "1+1 is 2", "worse": "2", "better_reward": 1, "worse_reward": 0.5, "reason": "It tells them apart.",
    }  # fmt: skip


def test_proposals_are_accepted_as_edited_retired_and_taken_back(
    page: Page, installation: Installation, reward: dict[str, Any]
) -> None:
    page.goto(f"/rewards/{reward['id']}?tab=proposals")
    expect(page.get_by_role("tab", name="Proposals 3")).to_be_visible()
    expect(_proposal(page, LONG)).to_be_visible()
    fits(page)
    accepted_at: list[str] = []
    page.on("request", lambda request: request.url.endswith("/accept") and accepted_at.append(request.url))

    cites = _proposal(page, "cites")
    cites.get_by_role("button", name="Edit").click()
    cites.get_by_role("textbox", name="Name").fill("correct")
    cites.get_by_test_id("accept-proposal").click()
    expect(cites).to_contain_text("The rubric already has an item 'correct'")
    cites.get_by_role("textbox", name="Name").fill("cites a source")
    cites.get_by_role("textbox", name="Weight").fill("-3")
    cites.get_by_role("textbox", name=re.compile("^Reason for the decision")).fill("sources matter")
    accepted_at.clear()
    cites.get_by_test_id("accept-proposal").dblclick()
    expect(page.get_by_test_id("proposal")).to_have_count(2)
    assert len(accepted_at) == 1
    assert _items(installation, reward) == {"correct": 2, "cites a source": -3}

    for name in ("guesses", LONG):
        _proposal(page, name).get_by_test_id("retire-proposal").click()
    expect(page.get_by_text("No open proposals")).to_be_visible()

    states = page.get_by_role("radiogroup", name="State of the proposals")
    states.get_by_text("Accepted", exact=True).click()
    accepted = _proposal(page, "cites")
    expect(accepted).to_contain_text("sources matter")
    accepted.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_text("No accepted proposals")).to_be_visible()
    assert _items(installation, reward) == {"correct": 2}
    states.get_by_text("Retired", exact=True).click()
    expect(page.get_by_test_id("proposal")).to_have_count(3)


def _proposal(page: Page, name: str) -> Locator:
    return page.get_by_role("article", name=f"Proposal {name}")


def _items(installation: Installation, reward: dict[str, Any]) -> dict[str, float]:
    """Names and weights in the newest version."""
    definition = installation.api.get(f"/rewards/{reward['id']}")["latest_version"]["definition"]
    return {item["name"]: item["weight"] for item in definition["components"][0]["grader"]["items"]}
