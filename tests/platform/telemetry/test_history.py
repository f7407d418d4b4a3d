"""Events and rollouts: order, filters, paging, superseded ones apart."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.runs.models import Run
from dressage.runs.sweep.reconcile import sweep
from dressage.teams.models import Team
from dressage.telemetry.documents import WITHHELD
from tests.platform.runs.fixtures import Worker, expire_lease
from tests.platform.tokens import bearer, token_of

Launch = Callable[..., tuple[Run, Worker]]


def row(group: str, sample: int, reward: float | None, source: str = "add", length: int = 3) -> dict[str, Any]:
    return {
        "group_id": group, "sample": sample, "prompt_id": "p", "source": source, "prompt": "q", "completion": "c",
        "answer": {"any": 1}, "reward": reward, "reward_parts": {"a": 1.0}, "reward_error": None, "advantage": None,
        "excluded": "zero_advantage", "finish_reason": "stop", "length": length, "thinking_tokens": 1,
        "budget_hit": True, "control_revision": 2, "policy_versions": [3],
    }  # fmt: skip


def rollouts(step: int, *rows: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "rollouts", "step": step, "data": {"rows": list(rows)}}


def test_rollouts(launch: Launch, api: Callable[..., APIClient]) -> None:
    run, worker = launch()
    worker.sync(
        rollouts(1, row("1-0", 0, 0.0), row("1-0", 1, 1.0, length=9), row("1-1", 0, None, "more")),
        rollouts(2, row("2-0", 0, 0.5), row("2-0", 1, 0.5)),
    )
    viewer = api("viewer")

    def read(**query: Any) -> list[tuple[str, int, float | None]]:
        found, after = [], None
        while True:
            parameters = {**query, "limit": 2, **({"after": after} if after else {})}
            page = viewer.get(f"/api/v1/runs/{run.id}/rollouts", parameters).json()
            found += [(rollout["group_id"], rollout["sample"], rollout["reward"]) for rollout in page["data"]]
            after = page["next"]
            if not page["has_more"]:
                return found

    newest_first = [("2-0", 0, 0.5), ("2-0", 1, 0.5), ("1-0", 0, 0.0), ("1-0", 1, 1.0), ("1-1", 0, None)]
    assert read() == newest_first
    assert read(step=1) == newest_first[2:]
    assert read(source="more") == [("1-1", 0, None)]
    assert read(group_id="1-0", order="-reward") == [("1-0", 1, 1.0), ("1-0", 0, 0.0)]
    assert read(order="reward") == [
        ("1-1", 0, None),
        ("1-0", 0, 0.0),
        ("2-0", 0, 0.5),
        ("2-0", 1, 0.5),
        ("1-0", 1, 1.0),
    ]
    assert read(order="-length")[0] == ("1-0", 1, 1.0)
    assert read(min_reward=0.5, order="reward") == [("2-0", 0, 0.5), ("2-0", 1, 0.5), ("1-0", 1, 1.0)]
    first = viewer.get(f"/api/v1/runs/{run.id}/rollouts").json()["data"][0]
    assert (first["answer"], first["reward_parts"], first["policy_versions"]) == ({"any": 1}, {"a": 1.0}, [3, 3])
    for bad in ({"step": "x"}, {"order": "mood"}, {"after": "x"}, {"min_reward": "x"}, {"limit": "0"}):
        assert viewer.get(f"/api/v1/runs/{run.id}/rollouts", bad).status_code == 422


def explained(reason: str | None) -> dict[str, Any]:
    return {"a": {"weight": 0.5, "reason": reason}}


def test_graders_reasons_stay_with_their_rollout(launch: Launch, api: Callable[..., APIClient]) -> None:
    run, worker = launch()
    told = {**row("1-0", 1, 0.5), "explanation": explained("Reads “24”.")}
    long = {**row("1-0", 2, 0.5), "explanation": explained("x" * 5000)}
    worker.sync(rollouts(1, row("1-0", 0, 0.0), told, long))
    address = f"/api/v1/runs/{run.id}/rollouts"
    found = [one["explanation"] for one in api("viewer").get(address).json()["data"]]
    assert found[:2] == [None, explained("Reads “24”.")], "a worker of before tells none"
    assert len(found[2]["a"]["reason"]) == 600
    assert found[2]["a"]["reason"].endswith("x… [cut: 5000 characters]")
    exported = api("viewer").get(f"{address}/export").getvalue().decode().splitlines()
    assert [json.loads(line)["explanation"] for line in exported] == found


def test_a_token_that_may_not_see_rows_and_rewards_gets_no_reasons(launch: Launch, team: Team) -> None:
    run, worker = launch()
    worker.sync(rollouts(1, {**row("1-0", 0, 1.0), "explanation": explained("the hidden gold is 24")}))
    address = f"/api/v1/runs/{run.id}/rollouts"
    for scopes in (["runs:read"], ["runs:read", "datasets:read"], ["runs:read", "rewards:read"]):
        program = bearer(token_of(team, scopes=scopes)[1])
        answer = program.get(address)
        assert answer.json()["data"][0]["explanation"] == explained(WITHHELD)
        assert "hidden gold" not in answer.content.decode()
        assert "hidden gold" not in program.get(f"{address}/export").getvalue().decode()
    program = bearer(token_of(team, scopes=["runs:read", "datasets:write", "rewards:read"])[1])
    assert program.get(address).json()["data"][0]["explanation"] == explained("the hidden gold is 24")


def test_superseded_rollouts(launch: Launch, api: Callable[..., APIClient]) -> None:
    run, first = launch()
    first.steps(1, 2)
    first.sync(rollouts(2, row("2-0", 0, 0.0)))
    first.checkpoint(2)
    first.sync(rollouts(3, row("3-0", 0, 0.0)))
    expire_lease(run)
    sweep()
    Worker(run.id, 2).sync(rollouts(3, row("3-0", 0, 1.0)))
    path = f"/api/v1/runs/{run.id}/rollouts"
    viewer = api("viewer")
    now = [(rollout["step"], rollout["attempt"]) for rollout in viewer.get(path).json()["data"]]
    assert now == [(3, 2), (2, 1)]
    ghosts = viewer.get(path, {"superseded": "1"}).json()["data"]
    assert [(rollout["step"], rollout["attempt"]) for rollout in ghosts] == [(3, 1)]


def test_events(launch: Launch, api: Callable[..., APIClient]) -> None:
    run, worker = launch()
    worker.steps(1, 4)
    worker.sync({"kind": "alert", "step": 4, "data": {"level": "warn", "title": "t", "message": "m", "value": "NaN"}})
    viewer, path = api("viewer"), f"/api/v1/runs/{run.id}/events"
    everything = viewer.get(path).json()
    assert [event["seq"] for event in everything["data"]] == list(range(9, 0, -1))
    assert [event["kind"] for event in everything["data"]][::-1] == ["state"] * 4 + ["step"] * 4 + ["alert"]
    assert everything["data"][0]["data"] == {
        "level": "warn", "title": "t", "message": "m", "metric": None, "value": "NaN"
    }  # fmt: skip
    page = viewer.get(path, {"limit": 4, "after": 8}).json()
    assert ([event["seq"] for event in page["data"]], page["has_more"], page["next"]) == ([7, 6, 5, 4], True, "4")
    forward = viewer.get(path, {"order": "asc", "after": 7}).json()
    assert ([event["seq"] for event in forward["data"]], forward["next"]) == ([8, 9], None)
    kinds = viewer.get(path, {"kind": "alert,state", "limit": 2}).json()
    assert [event["seq"] for event in kinds["data"]] == [9, 4]
    assert viewer.get(path, {"after": "x"}).status_code == 422


@pytest.mark.parametrize("kind", ["", "nothing", "log,", "log,nothing"])
def test_a_kind_that_there_is_not(make_run: Callable[..., Run], api: Callable[..., APIClient], kind: str) -> None:
    answer = api("viewer").get(f"/api/v1/runs/{make_run().id}/events", {"kind": kind})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/kind")
