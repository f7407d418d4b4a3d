"""What came of a row in runs: by step and by run, over versions, and to nobody else."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from dressage.datasets.models import Dataset, DatasetVersion
from dressage.runs.models import Run
from dressage.runs.sweep.reconcile import sweep
from dressage.teams.models import Team
from dressage.telemetry.models import Event, RowOutcome
from tests.platform.runs.fixtures import Worker, expire_lease
from tests.platform.telemetry.test_history import rollouts, row

Launch = Callable[..., tuple[Run, Worker]]
UNKNOWN = {"ordinal": None, "fate": None, "reason": None}
"""What workers of earlier releases do not report."""


def outcomes(step: int, **found: tuple[int, int]) -> dict[str, Any]:
    """An event that tells of right and graded samples by prompt, written as ``add_0``."""
    prompts = [
        {
            "prompt_id": name.replace("_", ":"),
            "right": right,
            "graded": graded,
            "reward": right / graded if graded else None,
        }
        for name, (right, graded) in found.items()
    ]
    return {"kind": "outcomes", "step": step, "data": {"prompts": prompts}}


@pytest.fixture
def viewer(api: Callable[..., APIClient]) -> APIClient:
    return api("viewer")


def version_of(run: Run) -> DatasetVersion:
    """The version that the first source draws from."""
    slug, _, number = run.spec["data"]["sources"][0]["dataset"].partition("@")
    return DatasetVersion.objects.get(dataset__team=run.team, dataset__slug=slug, number=int(number))


def history(client: APIClient, version: DatasetVersion, index: int, status: int = 200) -> Any:
    answer = client.get(f"/api/v1/datasets/{version.dataset_id}/versions/{version.number}/rows/{index}/history")
    assert answer.status_code == status, answer.content
    return answer.json()


def test_tries_are_told_by_run_and_step(launch: Launch, viewer: APIClient) -> None:
    run, worker = launch()
    version = version_of(run)
    events = Event.objects.filter(run=run).count()
    worker.sync(
        outcomes(1, add_0=(1, 4), add_1=(4, 4)),
        outcomes(2, add_1=(0, 0)),
        outcomes(3, add_0=(3, 4), more_0=(2, 2)),
        rollouts(3, row("3-0", 0, 1.0) | {"prompt_id": "add:0"}, row("3-1", 0, 1.0) | {"prompt_id": "add:1"}),
    )
    assert Event.objects.filter(run=run).count() == events + 1  # the rollouts; outcomes are no events
    found = history(viewer, version, 0)
    assert found == {
        "runs": [
            {
                "run_id": run.id, "name": "first", "state": "running", "ref": version.ref, "prompt_id": "add:0",
                "groups": 2, "right": 4, "graded": 8, "rollouts": 1,
                "tries": [
                    {"step": 1, "right": 1, "graded": 4, "reward": 0.25, **UNKNOWN},
                    {"step": 3, "right": 3, "graded": 4, "reward": 0.75, **UNKNOWN},
                ],
            },
            {
                "run_id": run.id, "name": "first", "state": "running", "ref": version.ref, "prompt_id": "more:0",
                "groups": 1, "right": 2, "graded": 2, "rollouts": 0,
                "tries": [{"step": 3, "right": 2, "graded": 2, "reward": 1.0, **UNKNOWN}],
            },
        ],
        "has_more": False,
        "unsearched": [],
    }  # fmt: skip
    [other] = history(viewer, version, 1)["runs"]
    assert [one["reward"] for one in other["tries"]] == [1.0, None]
    assert viewer.get(f"/api/v1/runs/{run.id}/rollouts", {"prompt_id": "add:1"}).json()["data"][0]["group_id"] == "3-1"


FATES = [
    {"ordinal": 0, "fate": "trained", "reason": None},
    {"ordinal": 97, "fate": "rejected", "reason": "dynamic_sampling"},
    {"ordinal": 194, "fate": "dropped", "reason": "reward_error"},
]


def test_a_row_has_the_fate_of_each_of_its_groups(launch: Launch, viewer: APIClient) -> None:
    run, worker = launch()
    for step, fate in enumerate(FATES, 1):
        event = outcomes(step, add_0=(1, 4))
        event["data"]["prompts"][0] |= fate
        worker.sync(event)
    [found] = history(viewer, version_of(run), 0)["runs"]
    assert [{key: one[key] for key in UNKNOWN} for one in found["tries"]] == FATES
    assert found["groups"] == 3


def listed(client: APIClient, run: Run, status: int = 200, **query: Any) -> Any:
    answer = client.get(f"/api/v1/runs/{run.id}/prompts", query)
    assert answer.status_code == status, answer.content
    return answer.json()


def test_a_run_lists_the_rows_of_rejected_groups(
    launch: Launch, viewer: APIClient, api: Callable[..., APIClient], other_team: Team
) -> None:
    run, worker = launch()
    worker.steps(1, 2)
    for step in (1, 2):
        event = outcomes(step, add_0=(1, 4), add_1=(4, 4), more_1=(0, 0))
        for prompt, fate in zip(event["data"]["prompts"], FATES, strict=True):
            prompt |= {**fate, "ordinal": fate["ordinal"] + step}
        worker.sync(event)
    found = listed(viewer, run)["data"]
    assert [(one["step"], one["prompt_id"]) for one in found] == [
        (step, prompt) for step in (2, 1) for prompt in ("add:0", "add:1", "more:1")
    ]
    [newer, older] = listed(viewer, run, fate="rejected")["data"]
    assert newer == {
        "id": newer["id"], "step": 2, "attempt": 1, "prompt_id": "add:1", "ordinal": 99,
        "fate": "rejected", "reason": "dynamic_sampling",
        "right": 4, "graded": 4, "reward": 1.0,
    }  # fmt: skip
    assert (older["step"], older["ordinal"]) == (1, 98)
    assert [one["prompt_id"] for one in listed(viewer, run, fate="dropped", step=1)["data"]] == ["more:1"]
    assert listed(viewer, run, fate="trained", step=3)["data"] == []
    first = listed(viewer, run, limit=4)
    assert first["has_more"]
    rest = listed(viewer, run, limit=4, after=first["next"])
    assert [*first["data"], *rest["data"]] == found and not rest["has_more"]
    listed(viewer, run, 422, fate="lost")
    listed(api("viewer", team=other_team), run, 404)


def test_prompts_of_steps_that_were_done_again_are_not_listed(launch: Launch, viewer: APIClient) -> None:
    run, worker = launch()
    worker.steps(1, 2)
    worker.sync(outcomes(2, add_0=(4, 4)))
    expire_lease(run)
    sweep()
    again = Worker(run.id, 2)
    again.state("running")
    again.sync(outcomes(2, add_1=(0, 4)))
    assert [one["prompt_id"] for one in listed(viewer, run)["data"]] == ["add:1"]


@pytest.mark.parametrize("wrong", [{"fate": "lost"}, {"reason": ""}, {"reason": "x" * 121}, {"ordinal": -1}])
def test_fates_that_make_no_sense_are_told_as_an_error(launch: Launch, wrong: dict[str, Any]) -> None:
    run, worker = launch()
    event = outcomes(1, add_0=(1, 4))
    event["data"]["prompts"][0] |= wrong
    worker.sync(event)
    assert not RowOutcome.objects.exists()
    assert "unreadable outcomes event" in Event.objects.filter(run=run, kind="log").latest("seq").data["message"]


def test_rows_that_no_run_has_sampled_have_none(launch: Launch, viewer: APIClient) -> None:
    run, worker = launch()
    worker.sync(outcomes(1, add_1=(1, 4)))
    assert history(viewer, version_of(run), 0) == {"runs": [], "has_more": False, "unsearched": []}
    assert history(viewer, version_of(run), 10**6, status=404)["error"]["code"] == "not_found"


def test_what_was_done_again_counts_once(launch: Launch, viewer: APIClient) -> None:
    run, worker = launch()
    worker.steps(1, 2)
    worker.sync(outcomes(2, add_0=(4, 4)))
    expire_lease(run)
    sweep()
    again = Worker(run.id, 2)
    again.state("running")
    again.sync(outcomes(2, add_0=(0, 4)))
    [found] = history(viewer, version_of(run), 0)["runs"]
    assert [one["right"] for one in found["tries"]] == [0]
    assert RowOutcome.objects.filter(run=run).count() == 2


def test_a_row_is_known_again_in_another_version_by_its_id(
    launch: Launch, viewer: APIClient, api: Callable[..., APIClient]
) -> None:
    run, worker = launch()
    version = version_of(run)
    worker.sync(outcomes(1, add_1=(1, 4)))
    rows = viewer.get(f"/api/v1/datasets/{version.dataset_id}/versions/1/rows").json()["data"]
    body = {"operation": {"name": "filter", "query": {"ids": [rows[1]["id"]]}}}
    made = api("editor").post(f"/api/v1/datasets/{version.dataset_id}/versions/1/derive", body, format="json")
    assert made.status_code == 201, made.content
    child = DatasetVersion.objects.get(dataset=version.dataset_id, number=2)
    [found] = history(viewer, child, 0)["runs"]
    assert (found["ref"], found["prompt_id"], found["right"]) == (version.ref, "add:1", 1)


def test_teams_see_their_own_runs_alone(
    launch: Launch, api: Callable[..., APIClient], other_team: Team, viewer: APIClient
) -> None:
    run, worker = launch()
    version = version_of(run)
    worker.sync(outcomes(1, add_0=(1, 4)))
    history(api("viewer", team=other_team), version, 0, status=404)
    Dataset.objects.filter(pk=version.dataset_id).update(team=other_team)
    version.refresh_from_db()
    assert history(api("viewer", team=other_team), version_of_id(version), 0)["runs"] == []


def version_of_id(version: DatasetVersion) -> DatasetVersion:
    return DatasetVersion.objects.select_related("dataset").get(pk=version.pk)


@pytest.mark.parametrize(
    "prompts", [[], [{"prompt_id": "add", "right": 0, "graded": 0}], [{"prompt_id": "add:-1", "right": 0, "graded": 0}]]
)
def test_outcomes_that_make_no_sense_are_told_as_an_error(launch: Launch, prompts: Any) -> None:
    run, worker = launch()
    worker.sync({"kind": "outcomes", "step": 1, "data": {"prompts": prompts}})
    assert not RowOutcome.objects.exists()
    assert "unreadable outcomes event" in Event.objects.filter(run=run, kind="log").latest("seq").data["message"]


def test_a_row_is_found_by_an_index(launch: Launch) -> None:
    run, _ = launch()
    RowOutcome.objects.bulk_create(
        RowOutcome(run=run, attempt=1, step=n // 50, source="add", row=n, right=1, graded=2) for n in range(5000)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE telemetry_rowoutcome")
    plan = RowOutcome.objects.filter(run=run, source="add", row=17).explain()
    assert "outcome_by_row" in plan
