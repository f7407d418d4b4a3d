"""Home: what needs attention, and only of the caller's team."""

from collections.abc import Callable
from typing import Any

from django.utils import timezone
from rest_framework.test import APIClient

from dressage.common.times import iso
from dressage.runs.models import Run
from dressage.teams.models import Team
from tests.platform.runs.fixtures import Worker
from tests.platform.runs.test_guard_acts import MESSAGE, alert, guards

Launch = Callable[..., tuple[Run, Worker]]


def home(client: APIClient) -> dict[str, Any]:
    answer = client.get("/api/v1/home")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_a_team_without_runs(nouns: Any, api: Callable[..., APIClient]) -> None:
    found = home(api("viewer"))
    assert found["has_runs"] is False
    assert [found[part] for part in ("attention", "running", "queued", "approvals", "checkpoints")] == [[]] * 5
    assert [policy["name"] for policy in found["policies"]] == ["Small"]
    spend = found["spend"]
    assert (spend["tokens"], spend["gpu_hours"], spend["place_hours"]) == (0, 0.0, 0.0)


def test_what_runs_waits_and_needs_attention(
    launch: Launch, make_run: Callable[..., Run], api: Callable[..., APIClient], settings: Any
) -> None:
    settings.MAX_ACTIVE_RUNS = 3
    well, steady = launch("well")
    steady.at = iso(timezone.now())  # spend is that of the last seven days
    steady.steps(1, 5)
    steady.checkpoint(4)
    ill, worker = launch("ill", guards=guards("alert"))
    worker.sync(alert("acts", 12))
    held, stopped = launch("held", guards=guards("pause"))
    stopped.sync(alert("acts", 5, "pause"))
    stopped.state("paused", f"{MESSAGE} (step 5)", step=5)
    waiting = make_run("waiting", start=True)
    found = home(api("viewer"))
    assert found["has_runs"] is True
    assert {(one["run"]["id"], one["why"], one["text"]) for one in found["attention"]} == {
        (ill.id, "finding", f"{MESSAGE} (step 12)"),
        (held.id, "paused", f"{MESSAGE} (step 5)"),
    }
    assert {run["id"] for run in found["running"]} == {well.id, ill.id}
    assert [(run["id"], run["queue_position"]) for run in found["queued"]] == [(waiting.id, 1)]
    assert found["queued"][0]["waiting"]["text"]
    assert [(one["run_name"], one["step"]) for one in found["checkpoints"]] == [("well", 4)]
    assert found["spend"]["tokens"] == 50
    assert found["spend"]["place_hours"] > 0


def test_a_failed_run_comes_first_and_a_person_s_pause_needs_nobody(
    launch: Launch, api: Callable[..., APIClient], settings: Any
) -> None:
    settings.MAX_ACTIVE_RUNS = 3
    _, quiet = launch("quiet")
    quiet.sync({"kind": "state", "data": {"state": "paused", "reason": "asked to pause", "by_request": True}})
    _, ill = launch("ill", guards=guards("alert"))
    ill.sync(alert("acts", 12))
    _, broken = launch("broken")
    broken.state("failed", "the disk is full")
    found = home(api("viewer"))
    assert {one["run"]["name"]: one["text"] for one in found["attention"]} == {
        "broken": "the disk is full",
        "ill": f"{MESSAGE} (step 12)",
    }


def test_other_teams_see_nothing_of_it(launch: Launch, api: Callable[..., APIClient], other_team: Team) -> None:
    _, worker = launch("ours", guards=guards("alert"))
    worker.sync(alert("acts", 12))
    found = home(api("admin", team=other_team))
    assert found["has_runs"] is False and found["attention"] == [] and found["policies"] == []
    assert len(home(api("viewer"))["attention"]) == 1
