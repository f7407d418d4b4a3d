"""One place, two teams: a paused run gives the place back, the other team's trains in it, and the first goes on."""

from typing import Any

import pytest

from tests.chaos.test_kill import demo_spec
from tests.support.installation import PASSWORD, Api, Installation, wait_until

pytestmark = [pytest.mark.chaos, pytest.mark.slow, pytest.mark.timeout(420)]

STEPS = 32
"""Enough that a run on a busy machine does not end before it hears that it is to stand still."""
SECOND = "second@example.com"
MAKE_SECOND_TEAM = f"""
import os
from django.core.management import call_command
from dressage.supervisor.management.commands import demo
os.environ["DRESSAGE_ADMIN_EMAIL"], demo.TEAM = {SECOND!r}, "Second"
call_command("demo", no_run=True)
"""


def test_a_paused_run_lets_another_team_train_and_loses_nothing(installation: Installation) -> None:
    first, second = installation.api, Api(installation.url)
    installation.shell(MAKE_SECOND_TEAM)
    second.sign_in(SECOND, PASSWORD)

    def begin(api: Api, name: str, steps: int) -> str:
        return str(
            api.post("/runs", {"name": name, "spec": demo_spec(installation, steps, "async"), "start": True})["id"]
        )

    def wait_for(api: Api, run: str, *states: str) -> dict[str, Any]:
        def story() -> str:
            now = api.get(f"/runs/{run}")
            return f"{now['state']} step {now['step']} {now['state_reason']}\n{installation.log_tail()}"

        wait_until(lambda: api.get(f"/runs/{run}")["state"] in states, 120, story)
        found: dict[str, Any] = api.get(f"/runs/{run}")
        return found

    own = begin(first, "gives its place back", STEPS)
    wait_until(lambda: first.get(f"/runs/{own}")["step"] >= 1, 120, installation.log_tail)
    first.post(f"/runs/{own}/pause")
    theirs = begin(second, "waits for it", 2)
    stood = wait_for(first, own, "paused")["step"]
    assert second.get(f"/runs/{theirs}")["state_reason"] == (
        "Waiting for a place: 1 of 1 taken by 1 run of other teams; 1st in your queue."
    )
    first.post(f"/runs/{own}/release")
    suspended = wait_for(first, own, "suspended")
    assert (suspended["step"], suspended["pause"]["has_place"]) == (stood, False)
    assert suspended["last_checkpoint"]["step"] == stood
    assert wait_for(second, theirs, "succeeded", "failed")["state"] == "succeeded"

    first.post(f"/runs/{own}/resume")
    ended = wait_for(first, own, "succeeded", "failed")
    assert (ended["state"], ended["step"], ended["attempt"]) == ("succeeded", STEPS, 2), ended["state_reason"]
    chart = first.get(f"/runs/{own}/metrics", keys="critic/score/mean", x="step", max_points=10_000)
    series = chart["series"]["critic/score/mean"]
    assert (series["x"], series["raw_count"]) == (list(range(1, STEPS + 1)), STEPS)
    told = first.get(f"/runs/{own}/events", kind="step", limit=200)["data"]
    assert sorted(event["step"] for event in told) == list(range(1, STEPS + 1)), "each step was learned once"
