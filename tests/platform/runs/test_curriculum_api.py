"""The curriculum of a run as the API tells it: pass rates by source, and the preview of a draft band."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.runs.models import Control, Run
from dressage.teams.models import Team
from dressage.telemetry.models import Event
from tests.platform.runs.fixtures import Worker
from trainer_core.steering.curriculum.histogram import source_rates
from worker.loop.reporting.pass_rates import pass_rates_data

Launch = Callable[..., tuple[Run, Worker]]
BAND = {"type": "difficulty_band", "min_pass_rate": 0.0, "max_pass_rate": 1.0, "explore": 0.0}
PARTS = {"curriculum": BAND, "rollout": {"group_size": 2}, "schedule": {"prompts_per_step": 4}}
HISTOGRAM = [source_rates("add", 100, [0.0] * 20 + [0.5] * 60), source_rates("more", 50, [1.0] * 50)]
"""Weights are 1 and 1/2."""


def tell(worker: Worker, step: int = 0, **more: Any) -> None:
    worker.sync({"kind": "pass_rates", "step": step, "data": {**pass_rates_data(HISTOGRAM).wire(), **more}})


def ask(client: APIClient, run: Run, changes: list[tuple[str, Any]], status: int = 200) -> Any:
    body = {"changes": [{"target": target, "value": value} for target, value in changes]}
    answer = client.post(f"/api/v1/runs/{run.id}/curriculum/preview", body, format="json")
    assert answer.status_code == status, answer.content
    return answer.json()


@pytest.fixture
def viewer(api: Callable[..., APIClient]) -> APIClient:
    return api("viewer")


def test_pass_rates_are_told_by_source(launch: Launch, viewer: APIClient) -> None:
    run, worker = launch(**PARTS)
    before = viewer.get(f"/api/v1/runs/{run.id}/curriculum").json()
    assert before["pass_rates"] is None
    assert before["why"] == "The run's worker has not reported pass rates yet: wait until the run is running."
    assert ask(viewer, run, [], status=409)["error"]["code"] == "no_pass_rates"
    tell(worker, 0, colour="red")
    tell(worker, 3)
    found = viewer.get(f"/api/v1/runs/{run.id}/curriculum").json()
    rates = found.pop("pass_rates")
    assert found == {
        "type": "difficulty_band", "stage": None, "group_size": 2, "min_pass_rate": 0.0, "max_pass_rate": 1.0,
        "target_pass_rate": None, "why": None,
    }  # fmt: skip
    assert (rates["step"], rates["at"]) == (3, "2026-11-21T06:00:00.000Z")
    assert rates["sources"] == [
        {"name": "add", "prompts": 100, "untried": 20, "bins": [20, *[0] * 9, 60, *[0] * 9]},
        {"name": "more", "prompts": 50, "untried": 0, "bins": [*[0] * 19, 50]},
    ]
    assert "colour" not in Event.objects.filter(kind="pass_rates").earliest("seq").data


def test_a_draft_is_compared_with_what_is_in_force(launch: Launch, viewer: APIClient) -> None:
    run, worker = launch(**PARTS)
    tell(worker)
    count = Event.objects.count()
    same = ask(viewer, run, [])
    assert same["now"] == same["draft"]
    assert [source["share"] for source in same["now"]["sources"]] == pytest.approx([2 / 3, 1 / 3])
    # Of "add", 20 are dead for sure, 60 one in two, and 20 as those 80 are on average.
    add = (20 * 1.0 + 60 * 0.5 + 20 * (20 + 30) / 80) / 100
    assert same["now"]["dead_share"] == pytest.approx(2 / 3 * add + 1 / 3)
    draft = ask(viewer, run, [("curriculum.min_pass_rate", 0.01), ("curriculum.max_pass_rate", 0.99)])["draft"]
    assert [source["inside"] for source in draft["sources"]] == [80, 0]
    assert draft["empty"] == ["more"]
    assert draft["sources"][0]["untried"] == pytest.approx(2 / 3 * 20 / 80)
    assert draft["sources"][0]["bins"][10] == pytest.approx(2 / 3 * 60 / 80)
    assert draft["sources"][1]["bins"][19] == pytest.approx(1 / 3)  # it falls back to what lies outside
    alone = ask(viewer, run, [("curriculum.max_pass_rate", 0.99), ("data.sources.more.weight", 0.0)])["draft"]
    assert [source["share"] for source in alone["sources"]] == [1.0, 0.0]
    assert alone["empty"] == []
    assert (Event.objects.count(), Control.objects.count()) == (count, 0)


def test_what_is_staged_is_part_of_the_draft(launch: Launch, api: Callable[..., APIClient], viewer: APIClient) -> None:
    run, worker = launch(**PARTS)
    tell(worker)
    body = {"target": "curriculum.min_pass_rate", "value": 0.01}
    api("operator").post(f"/api/v1/runs/{run.id}/controls", body, format="json", headers={"If-Match": "0"})
    found = ask(viewer, run, [])
    assert [[source["inside"] for source in found[which]["sources"]] for which in ("now", "draft")] == [
        [100, 50], [80, 50],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ([("curriculum.explore", 0.1), ("curriculum.min_pass_rate", 1.5)], "/changes/1"),
        ([("curriculum.max_pass_rate", 0.5), ("curriculum.min_pass_rate", 0.6)], "/changes/1"),
        ([("curriculum.decay", 0.1)], "/changes/0"),
        ([("data.sources.add.weight", 0.0), ("data.sources.more.weight", 0.0)], "/changes/1"),
    ],
)
def test_drafts_that_could_not_be_staged_are_refused(
    launch: Launch, viewer: APIClient, changes: list[tuple[str, Any]], pointer: str
) -> None:
    run, worker = launch(**PARTS)
    tell(worker)
    problem = ask(viewer, run, changes, status=422)
    assert (problem["error"]["code"], problem["errors"][0]["pointer"]) == ("control_refused", pointer)


def test_goldilocks_is_refused_where_no_prompt_is_left(launch: Launch, viewer: APIClient) -> None:
    run, worker = launch(**{**PARTS, "curriculum": {"type": "goldilocks", "min_pass_rate": 0.0, "max_pass_rate": 1.0}})
    tell(worker)
    problem = ask(viewer, run, [("curriculum.max_pass_rate", 0.99)], status=422)
    assert "no prompt of the source 'more' is in the band" in problem["detail"]
    assert problem["errors"][0]["pointer"] == "/changes"


@pytest.mark.parametrize(
    ("curriculum", "why"),
    [
        ({"type": "uniform"}, "does not choose prompts by their pass rate"),
        ({"type": "goldilocks", "columns": ["a", "b"]}, "two pass rates"),
    ],
)
def test_why_a_run_has_no_pass_rates(launch: Launch, viewer: APIClient, curriculum: dict[str, Any], why: str) -> None:
    run, _ = launch(curriculum=curriculum)
    assert why in viewer.get(f"/api/v1/runs/{run.id}/curriculum").json()["why"]
    assert why in ask(viewer, run, [], status=409)["detail"]


def test_a_target_is_told_and_has_no_preview(launch: Launch, viewer: APIClient) -> None:
    run, worker = launch(**{**PARTS, "curriculum": {"type": "difficulty_target", "target_pass_rate": 0.4}})
    tell(worker)
    found = viewer.get(f"/api/v1/runs/{run.id}/curriculum").json()
    assert (found["target_pass_rate"], found["min_pass_rate"]) == (0.4, None)
    assert found["pass_rates"]["sources"][0]["prompts"] == 100
    assert ask(viewer, run, [], status=409)["error"]["code"] == "no_band"


def test_the_band_and_the_mixture_are_those_of_the_stage(launch: Launch, viewer: APIClient) -> None:
    first = {
        "name": "warm",
        "sources": [{"name": "add"}],
        "band": {"max_pass_rate": 0.4},
        "gate": {"type": "steps", "steps": 2},
    }
    second = {"name": "wide", "band": {"min_pass_rate": 0.45}}
    run, worker = launch(**{**PARTS, "data": {"stages": [first, second]}})
    tell(worker, 0, stage="warm")
    told = viewer.get(f"/api/v1/runs/{run.id}/curriculum").json()
    assert (told["stage"], told["min_pass_rate"], told["max_pass_rate"]) == ("warm", 0.0, 0.4)
    found = ask(
        viewer, run, [("data.stages.warm.band.max_pass_rate", 0.5), ("data.stages.wide.band.max_pass_rate", 0.6)]
    )
    assert [source["inside"] for source in found["now"]["sources"]] == [40, 0]
    assert [source["inside"] for source in found["draft"]["sources"]] == [100, 0]
    assert [source["share"] for source in found["draft"]["sources"]] == [1.0, 0.0]
    tell(worker, 2, stage="wide")
    found = ask(viewer, run, [("data.stages.warm.band.max_pass_rate", 0.5)])
    assert found["now"] == found["draft"]
    assert [source["inside"] for source in found["now"]["sources"]] == [80, 50]


@pytest.mark.parametrize(
    "wrong",
    [{"sources": []}, {"sources": [{"name": "a", "prompts": 1, "untried": 0, "cells": [[801, 1]]}]}, {"sources": None}],
)
def test_pass_rates_that_make_no_sense_are_logged(launch: Launch, viewer: APIClient, wrong: dict[str, Any]) -> None:
    run, worker = launch(**PARTS)
    tell(worker, 0, **wrong)
    assert "An unreadable pass_rates event" in Event.objects.get(kind="log").data["message"]
    assert viewer.get(f"/api/v1/runs/{run.id}/curriculum").json()["pass_rates"] is None


def test_another_team_sees_nothing(launch: Launch, api: Callable[..., APIClient], other_team: Team) -> None:
    run, worker = launch(**PARTS)
    tell(worker)
    stranger = api("admin", team=other_team)
    assert stranger.get(f"/api/v1/runs/{run.id}/curriculum").status_code == 404
    assert ask(stranger, run, [], status=404)["error"]["code"] == "not_found"
