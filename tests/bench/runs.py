"""Trains a run in an installation and reads what it reported."""

import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.support.installation import Installation, wait_until


@dataclass(frozen=True)
class Report:
    """What a run reported, one entry per step."""

    seconds: list[float]
    """End of each step, counted from the beginning of the first."""
    metrics: list[dict[str, float]]
    start_s: float
    """Seconds from the request to the beginning of the first step, when prompts go to the engines."""


def demo_spec(installation: Installation, steps: int, **changes: Any) -> dict[str, Any]:
    """The demo's spec without evaluation and checkpoints, which the peer does not do either."""
    recipes = installation.api.get("/spec/recipes")["data"]
    spec = next(recipe for recipe in recipes if recipe["name"] == "demo")["spec"]
    spec["schedule"]["steps"] = steps
    spec["evaluation"] = {}
    spec["checkpoint"] = {"every_steps": 10_000}
    for path, value in changes.items():
        node = spec
        *parents, last = path.split("__")
        for key in parents:
            node = node.setdefault(key, {})
        node[last] = value
    return spec


def train(installation: Installation, name: str, spec: dict[str, Any]) -> Report:
    """Train to the end."""
    api = installation.api
    asked = time.time()
    run = api.post("/runs", {"name": name, "spec": spec, "start": True})
    path = f"/runs/{run['id']}"
    final = ("succeeded", "failed", "cancelled")
    # Rarely: each look costs the machine that is measured a hundredth of a second.
    wait_until(lambda: api.get(path)["state"] in final, 1800, lambda: f"{api.get(path)['state_reason']}", every=1.0)
    ended = api.get(path)
    assert ended["state"] == "succeeded", ended["state_reason"]
    events = [event for event in all_events(installation, path) if event["kind"] == "step"]
    ends = [datetime.fromisoformat(event["at"]).timestamp() for event in events]
    start = ends[0] - events[0]["data"]["seconds"]
    return Report([end - start for end in ends], [event["data"]["metrics"] for event in events], start - asked)


def all_events(installation: Installation, path: str) -> list[dict[str, Any]]:
    """Every event of a run, page by page."""
    found: list[dict[str, Any]] = []
    after: dict[str, Any] = {}
    while True:
        page = installation.api.get(f"{path}/events", limit=200, **after)
        found += page["data"]
        if not page["has_more"]:
            return sorted(found, key=lambda event: event["seq"])
        after = {"after": page["next"]}


def time_to(rewards: list[float], seconds: list[float], level: float, window: int = 5) -> float:
    """Seconds until the mean reward of ``window`` steps reaches ``level``; infinity if it never does."""
    for end in range(window, len(rewards) + 1):
        if sum(rewards[end - window : end]) / window >= level:
            return seconds[end - 1]
    return float("inf")
