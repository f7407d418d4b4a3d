"""A newcomer's way in a real browser: a policy from the hub, a dataset as it is, a rehearsal, a run that learns."""

import json
import os
import re
from pathlib import Path
from secrets import token_hex
from statistics import fmean
from typing import Any

import pytest
import yaml
from playwright.sync_api import Locator, Page, expect

from tests.support.hub_server import HubServer
from tests.support.installation import ROOT, Installation

pytestmark = [pytest.mark.e2e, pytest.mark.timed, pytest.mark.timeout(600)]

SHARED = Path(os.environ.get("SHARED_DATA", ROOT.parent / "shared" / "data"))
EXCERPT = ROOT / "tests" / "data" / "references" / "gsm8k" / "test.jsonl"
LONGEST = 1_152
"""Tokens of a sequence: the longest question has 985 characters, and the starter policy reads them one by one."""
STEPS = 14


def gsm8k() -> Path:
    """GSM8K as it is published: the whole file where it stands beside the checkout, and else its rows in the tests."""
    whole = SHARED / "gsm8k" / "train.jsonl"
    return whole if whole.is_file() else EXCERPT


@pytest.mark.live
@pytest.mark.expensive(
    102,
    "a rehearsal and a run of a policy and a dataset that were brought in in a browser",
    about=(
        "frontend/src",
        "platform/dressage/datasets",
        "platform/dressage/imports",
        "platform/dressage/policies",
        "platform/dressage/rehearsals",
        "platform/dressage/runs",
        "trainer_core/datasets",
        "trainer_core/prompting",
        "worker",
    ),
)
def test_from_the_hub_to_the_chart(page: Page, installation: Installation, hub_server: HubServer) -> None:
    own = token_hex(3)
    hub_server.add(f"tiny/starter-{own}", ROOT / "demo" / "starter-policy")
    _import(page, own)
    _upload(page, gsm8k(), own)
    length = {"name": "brief", "weight": 1.0, "grader": {"type": "length_penalty", "free": 1, "full": 32}}
    right = {"name": "right", "weight": 1.0, "grader": {"type": "math"}}
    reward = {"name": f"Correct and brief {own}", "slug": f"right-brief-{own}"}
    installation.api.post("/rewards", {**reward, "definition": {"components": [right, length]}})
    _fill_in(page, own)
    _rehearse(page)
    page.get_by_test_id("create-and-start").click()
    page.wait_for_url(re.compile(r"/runs/run_\w+"))
    run_id = page.url.rpartition("/")[2].partition("?")[0]
    state = page.get_by_test_id("run-state").first
    expect(state).to_have_attribute("data-state", "succeeded", timeout=360_000)
    found = installation.api.get(f"/runs/{run_id}/metrics", keys="critic/score/mean", x="step", max_points=100)
    reward = found["series"]["critic/score/mean"]["mean"]
    assert len(reward) == STEPS
    assert fmean(reward[-3:]) > fmean(reward[:3]) + 0.1, reward


@pytest.mark.expensive(
    12,
    "two imports in a browser",
    about=("frontend/src", "platform/dressage/datasets", "platform/dressage/imports", "trainer_core/datasets"),
)
def test_datasets_come_from_the_hub(page: Page, hub_server: HubServer) -> None:
    own = token_hex(3)
    rows = [{"question": f"What is {n} + 1?", "answer": f"#### {n + 1}"} for n in range(4)]
    text = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    shards = {f"main/train-0000{part}-of-00002.jsonl": text for part in range(2)}
    odd = {"odd.jsonl": b'{"q": "What is 1 + 1?", "a": "2"}\n{"q": "What is 1 + 2?", "a": "3"}\n'}
    hub_server.add_dataset(f"tiny/sums-{own}", shards, licence="mit")
    hub_server.add_dataset(f"tiny/odd-{own}", odd)
    _import_dataset(page, f"sums-{own}")
    _import_by_mapping(page, f"odd-{own}")


def _import(page: Page, own: str) -> None:
    page.goto("/policies")
    page.get_by_test_id("register-policy").click()
    form = page.get_by_test_id("add-policy-form")
    form.get_by_label("Repository").fill(f"tiny/starter-{own}")
    form.get_by_label("Name").fill(f"From Hugging Face {own}")
    form.get_by_role("button").last.click()
    card = page.get_by_test_id("policy-card").filter(has_text=f"From Hugging Face {own}")
    expect(card).to_be_visible(timeout=60_000)
    card.get_by_role("link").first.click()
    expect(page.get_by_text(f"tiny/starter-{own}").first).to_be_visible()


def _import_dataset(page: Page, name: str) -> None:
    form = _listed(page, f"tiny/{name}")
    expect(form.get_by_label("Config and split")).to_contain_text("main / train: 2 files")
    expect(form.get_by_text("Licence: mit")).to_be_visible()
    form.get_by_label("Review the rows").uncheck()
    form.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("link", name=name, exact=True).click(timeout=60_000)
    expect(page.get_by_test_id("version-origin")).to_contain_text(f"tiny/{name} @ ", timeout=30_000)
    expect(page.get_by_test_id("version-origin")).to_contain_text("main / train")


def _import_by_mapping(page: Page, name: str) -> None:
    """Rows of no known shape wait, and nothing is stored before a person has said what they are."""
    form = _listed(page, f"tiny/{name}")
    form.get_by_role("button", name="Import", exact=True).click()
    card = page.get_by_test_id("dataset-import").filter(has_text=name)
    expect(card).to_have_attribute("data-state", "waiting", timeout=60_000)
    expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)
    card.get_by_role("button", name="Review rows").click()
    reading = page.get_by_test_id("import-reading")
    expect(reading).to_contain_text("What is 1 + 1?", timeout=30_000)
    page.keyboard.press("Escape")
    card.get_by_role("button", name="Cancel").click()
    expect(card).to_have_count(0, timeout=30_000)


def _listed(page: Page, repository: str) -> Locator:
    page.goto("/datasets")
    page.get_by_test_id("upload-dataset").first.click()
    page.get_by_text("From Hugging Face", exact=True).click()
    form = page.get_by_test_id("import-form")
    form.get_by_label("Hugging Face dataset").fill(repository)
    form.get_by_role("button", name="List files").click()
    return form


def _upload(page: Page, file: Path, own: str) -> None:
    page.goto("/datasets")
    page.get_by_role("button", name="Upload").first.click()
    page.locator('input[type="file"]').set_input_files(str(file))
    page.get_by_label("Name").first.fill(f"School math {own}")
    page.get_by_role("dialog").get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_role("heading", name=f"School math {own}")).to_be_visible(timeout=60_000)
    expect(page.get_by_test_id("version-origin")).to_contain_text("GSM8K")


def _fill_in(page: Page, own: str) -> None:
    spec: dict[str, Any] = {
        "policy": {"base": f"from-hugging-face-{own}"},
        "data": {"sources": [{"name": "school", "dataset": f"school-math-{own}@1", "format": {"suffix": "\n"}}]},
        "reward": {"definition": f"right-brief-{own}@1"},
        "rollout": {
            "group_size": 8,
            "max_tokens": 32,
            "temperature": 2.0,  # else one answer in 500 ends by itself, and there is nothing to tell answers apart by
            "engine": {"max_model_len": LONGEST, "max_num_seqs": 64, "kv_cache_gib": 0.1},
        },
        "optimizer": {"learning_rate": 1e-3},
        "schedule": {"steps": STEPS, "prompts_per_step": 8},
    }
    page.goto("/runs/new")
    page.get_by_label("Name").first.fill(f"My first run {own}")
    page.get_by_role("tab", name="YAML / JSON").click()
    page.get_by_role("textbox", name="Spec").fill(yaml.safe_dump(spec))
    page.get_by_role("tab", name="Form").click()
    expect(page.get_by_test_id("create-and-start")).to_be_enabled(timeout=20_000)


def _rehearse(page: Page) -> None:
    page.get_by_test_id("rehearse-start").click()
    rehearsal = page.get_by_test_id("rehearsal")
    expect(rehearsal).to_have_attribute("data-state", "done", timeout=180_000)
    expect(rehearsal.get_by_test_id("signal-share")).to_be_visible()
