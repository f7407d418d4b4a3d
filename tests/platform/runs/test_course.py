"""Runs that go wrong as a whole: health, summary, reason and incidents say so, and other runs' do not."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.runs.models import Run
from tests.platform.runs.fixtures import Worker

Launch = Callable[..., tuple[Run, Worker]]
Api = Callable[..., APIClient]
KINDS = {"no update": "no_signal", "collapse": "collapse", "answers cut": "length"}


def alert(name: str, step: int, state: str = "acts", severity: str = "error") -> dict[str, Any]:
    level = "info" if state == "calm" else severity
    news = {"guard": name, "state": state, "severity": severity, "since": 1}
    told = {"level": level, "title": name, "message": f"{name}: 100% of it. Do this.", "metric": "critic/score/mean"}
    return {"kind": "alert", "step": step, "data": {**told, "value": 1.0, "guard": news}}


@pytest.mark.parametrize("name", list(KINDS))
def test_a_run_that_went_wrong_does_not_end_as_if_all_were_well(launch: Launch, api: Api, name: str) -> None:
    run, worker = launch()
    viewer = api("viewer")
    worker.steps(1, 3)
    worker.sync(alert(name, 3))
    worker.state("succeeded", f"all steps are done. {name}: 100% of it. Do this.")
    shown = viewer.get(f"/api/v1/runs/{run.id}").json()
    assert (shown["state"], shown["health"]["state"]) == ("succeeded", "error")
    assert [one["guard"] for one in shown["health"]["findings"]] == [name]
    assert shown["summary"]["concerns"] == [f"{name}: 100% of it. Do this."]
    assert "100% of it. Do this." in shown["state_reason"]
    (incident,) = viewer.get(f"/api/v1/runs/{run.id}/incidents").json()["data"]
    assert (incident["kind"], incident["state"], incident["severity"]) == (KINDS[name], "open", "error")
    assert "100% of it" in incident["cause"]


def test_what_is_over_is_no_concern_and_guards_of_users_are_none(launch: Launch, api: Api) -> None:
    run, worker = launch()
    worker.steps(1, 3)
    worker.sync(alert("answers cut", 2), alert("my own", 2), alert("answers cut", 3, "calm"))
    shown = api("viewer").get(f"/api/v1/runs/{run.id}").json()
    assert [one["guard"] for one in shown["health"]["findings"]] == ["my own"]
    assert "concerns" not in shown["summary"]
