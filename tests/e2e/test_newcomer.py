"""A newcomer's way in a real browser: a policy from the hub, a dataset as it is, a rehearsal, a run that learns."""

import json
import re
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import yaml
from playwright.sync_api import Page, expect

from tests.support.browser import sign_in
from tests.support.hub_server import HubServer
from tests.support.installation import ROOT, Installation

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(420)]

QUESTION = "{name} has {a} apples and buys {b} more. How many apples does {name} have?"
STEPS = 14


def gsm8k(path: Path) -> Path:
    """Rows as GSM8K has them: a question, and a solution with the answer behind its last four hashes."""
    rows = [
        {
            "question": QUESTION.format(name=name, a=a, b=b),
            "answer": f"{a} + {b} = <<{a}+{b}={a + b}>>{a + b}\n#### {a + b}",
        }
        for name in ("Ann", "Bob", "Carol", "Dan")
        for a in range(2, 10)
        for b in (3, 1200)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_from_the_hub_to_the_chart(
    page: Page, installation: Installation, hub_server: HubServer, tmp_path: Path
) -> None:
    hub_server.add("tiny/starter", ROOT / "demo" / "starter-policy")
    sign_in(page)
    _import(page)
    _upload(page, gsm8k(tmp_path / "train.jsonl"))
    length = {"name": "brief", "weight": 1.0, "grader": {"type": "length_penalty", "free": 1, "full": 32}}
    right = {"name": "right", "weight": 1.0, "grader": {"type": "math"}}
    installation.api.post(
        "/rewards", {"name": "Right and brief", "slug": "right-brief", "definition": {"components": [right, length]}}
    )
    _fill_in(page)
    _rehearse(page)
    page.get_by_test_id("create-and-start").click()
    page.wait_for_url(re.compile(r"/runs/run_\w+"))
    run_id = page.url.rpartition("/")[2].partition("?")[0]
    state = page.get_by_test_id("run-state").first
    expect(state).to_have_attribute("data-state", "succeeded", timeout=240_000)
    found = installation.api.get(f"/runs/{run_id}/metrics", keys="critic/score/mean", x="step", max_points=100)
    reward = found["series"]["critic/score/mean"]["mean"]
    assert len(reward) == STEPS
    assert fmean(reward[-3:]) > fmean(reward[:3]) + 0.1, reward


def _import(page: Page) -> None:
    page.goto("/policies")
    page.get_by_test_id("register-policy").click()
    form = page.get_by_test_id("add-policy-form")
    form.get_by_label("Repository").fill("tiny/starter")
    form.get_by_label("Name").fill("From the hub")
    form.get_by_role("button").last.click()
    card = page.get_by_test_id("policy-card").filter(has_text="From the hub")
    expect(card).to_be_visible(timeout=60_000)
    card.get_by_role("link").first.click()
    expect(page.get_by_text("tiny/starter").first).to_be_visible()


def _upload(page: Page, file: Path) -> None:
    page.goto("/datasets")
    page.get_by_role("button", name="Upload").first.click()
    page.locator('input[type="file"]').set_input_files(str(file))
    page.get_by_label("Name").first.fill("School math")
    page.get_by_role("dialog").get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_text("GSM8K").first).to_be_visible(timeout=60_000)


def _fill_in(page: Page) -> None:
    spec: dict[str, Any] = {
        "policy": {"base": "from-the-hub"},
        "data": {"sources": [{"name": "school", "dataset": "school-math@1", "format": {"suffix": "\n"}}]},
        "reward": {"definition": "right-brief@1"},
        "rollout": {
            "group_size": 8,
            "max_tokens": 32,
            "engine": {"max_model_len": 192, "max_num_seqs": 64, "kv_cache_gib": 0.1},
        },
        "optimizer": {"learning_rate": 1e-3},
        "schedule": {"steps": STEPS, "prompts_per_step": 8},
    }
    page.goto("/runs/new")
    page.get_by_label("Name").first.fill("My first run")
    page.get_by_role("tab", name="YAML / JSON").click()
    page.get_by_role("textbox", name="Spec").fill(yaml.safe_dump(spec))
    page.get_by_role("tab", name="Form").click()
    expect(page.get_by_test_id("create-and-start")).to_be_enabled(timeout=20_000)


def _rehearse(page: Page) -> None:
    page.get_by_test_id("rehearse-start").click()
    rehearsal = page.get_by_test_id("rehearsal")
    expect(rehearsal).to_have_attribute("data-state", "done", timeout=180_000)
    expect(rehearsal.get_by_test_id("signal-share")).to_be_visible()
