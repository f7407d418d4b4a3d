"""Every endpoint of runs and telemetry against every role, against strangers, and against another team's ids."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from django.apps import apps
from django.db.models import Model
from django.urls import get_resolver
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.common.roles import Role
from dressage.common.scopes import Scope
from dressage.policies.access.services import set_credentials
from dressage.runs.models import Checkpoint, CheckpointExport, Control, Run
from dressage.teams.models import Team, User, UserSession
from dressage.telemetry.models import Rollout
from tests.platform.bodies import check_bodies
from tests.platform.common.test_scopes import check_scope
from tests.platform.openapi import check_declared, document, documented_paths
from tests.platform.queries import check_queries
from tests.platform.retries import WITHOUT_KEY, check_retry
from tests.platform.rows import Digest, digests
from tests.platform.runs.fixtures import Worker, spec_document
from tests.platform.slips import check_slips
from tests.support.about import PLATFORM
from tests.trainer_core.planning.rates_for_planning import BY_HAND

SPEC = spec_document()
RATES = {**BY_HAND, "lengths": {"type": "empirical", "tokens": [20]}}


@dataclass(frozen=True)
class Operation:
    """One endpoint, the least role that may use it, and what it answers to that role."""

    method: str
    path: str
    role: str
    status: int
    body: Any = None
    also: tuple[Scope, ...] = ()
    """Further scopes, of the nouns whose data it shows."""


DATASET = {"kind": "completions", "into": {"name": "Answers"}, "min_reward": 0.0}
CONTROL = {"target": "rollout.temperature", "value": 0.5}
OPERATIONS = [
    Operation("GET", "runs", "viewer", 200),
    Operation("POST", "runs", "editor", 201, {"name": "n", "spec": SPEC}),
    Operation("GET", "runs/by-id", "viewer", 200),
    Operation("GET", "runs/{run}", "viewer", 200),
    Operation("PATCH", "runs/{run}", "editor", 200, {"name": "n"}),
    Operation("POST", "runs/{run}/start", "operator", 202),
    Operation("POST", "runs/{run}/pause", "operator", 202),
    Operation("POST", "runs/{run}/resume", "operator", 202),
    Operation("POST", "runs/{run}/cancel", "operator", 202),
    # The run of these tests stands running; test_suspended.py has one that is paused.
    Operation("POST", "runs/{run}/release", "operator", 409),
    Operation("POST", "runs/{run}/measure-noise", "operator", 409),
    Operation("POST", "runs/{run}/checkpoint", "operator", 202),
    Operation("POST", "runs/{run}/fork", "editor", 201, {}),
    Operation("GET", "runs/{run}/targets", "viewer", 200),
    Operation("GET", "runs/{run}/controls", "viewer", 200),
    Operation("POST", "runs/{run}/controls", "operator", 202, CONTROL),
    Operation("POST", "runs/{run}/controls/{control}/cancel", "operator", 409),
    Operation("POST", "runs/{run}/controls/{control}/revert", "operator", 202, {}),
    Operation("POST", "runs/{run}/controls/{control}/rewind", "editor", 201, {}),
    Operation("GET", "runs/{run}/controls/{control}/effect", "viewer", 200),
    Operation("GET", "runs/{run}/incidents", "viewer", 200),
    Operation("GET", "runs/{run}/curriculum", "viewer", 200),
    # The run of these tests has no band; test_curriculum_api.py has one that has.
    Operation("POST", "runs/{run}/curriculum/preview", "viewer", 409, {"changes": []}),
    # The run of these tests has stored no groups; test_batch_preview_api.py has one that has.
    Operation("POST", "runs/{run}/batch/preview", "viewer", 409, {"changes": []}),
    Operation("GET", "runs/{run}/checkpoints", "viewer", 200),
    Operation("GET", "checkpoints/{checkpoint}/download", "viewer", 200),
    # The checkpoint of these tests has no weights; test_team_weights.py has one that becomes a policy.
    Operation("POST", "checkpoints/{checkpoint}/policy", "editor", 409, {"name": "n"}),
    Operation("POST", "checkpoints/{checkpoint}/exports", "editor", 201, {"address": "s3://models/b"}),
    Operation("GET", "checkpoint-exports", "viewer", 200),
    Operation("GET", "checkpoint-exports/{export}", "viewer", 200),
    Operation("POST", "checkpoint-exports/{export}/cancel", "editor", 200),
    # The export of these tests has not failed.
    Operation("POST", "checkpoint-exports/{export}/retry", "editor", 409),
    Operation("GET", "clusters", "viewer", 200),
    Operation("GET", "teams/current/gpu-hours", "viewer", 200),
    Operation("GET", "spec/schema", "viewer", 200),
    Operation("GET", "spec/recipes", "viewer", 200),
    Operation("POST", "spec/validate", "viewer", 200, {"spec": SPEC}),
    Operation("POST", "spec/plan", "viewer", 200, {"spec": SPEC, "gpus": 4, "rates": RATES}),
    # The policy of these tests has no weights; test_cluster_plan_api.py has one that has.
    Operation("POST", "spec/plan/clusters", "viewer", 422, {"spec": SPEC}),
    Operation("GET", "runs/{run}/metrics", "viewer", 200),
    Operation("GET", "runs/{run}/metrics/names", "viewer", 200),
    Operation("GET", "metrics", "viewer", 200),
    Operation("GET", "metrics/names", "viewer", 200),
    Operation("GET", "runs/{run}/events", "viewer", 200),
    Operation("GET", "runs/{run}/prompts", "viewer", 200),
    Operation("GET", "runs/{run}/rollouts", "viewer", 200),
    Operation("GET", "runs/{run}/rollouts/kept", "viewer", 200),
    # No rollouts are stored here; test_rollout_dataset.py has some.
    Operation("POST", "runs/{run}/rollouts/dataset", "editor", 422, DATASET, (Scope.RUNS_READ,)),
    Operation("GET", "runs/{run}/rollouts/export", "viewer", 200),
    # The run of these tests kept no trace; telemetry/test_traces.py has one that did.
    Operation("GET", "runs/{run}/rollouts/{rollout}/tokens", "viewer", 404),
    Operation("GET", "runs/{run}/groups", "viewer", 200),
]
ROW_HISTORY = "rows/<int:index>/history"
"""What runs tell of a row is asked for below its dataset; common/operations.py has that."""
BY_NAME = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda o: f"{o.method} {o.path}")


@pytest.fixture
def ids(launch: Callable[..., tuple[Run, Worker]], api: Callable[..., APIClient]) -> dict[str, str]:
    """A running run with a control in effect, a checkpoint before it, an export of that and a rollout."""
    run, worker = launch()
    body = {"target": "thinking.budget", "value": 10}
    api("operator").post(f"/api/v1/runs/{run.id}/controls", body, format="json", headers={"If-Match": "0"})
    control = Control.objects.get()
    worker.steps(1, 3)
    worker.sync(applied=[{"control_id": control.id, "state": "applied", "step": 4}])
    worker.checkpoint(3, reason="before_control", control_id=control.id)
    rollout = str(Rollout.objects.filter(run=run).values_list("pk", flat=True).first() or "1")
    checkpoint = Checkpoint.objects.get()
    keys = {"access_key_id": "team", "secret_access_key": "secret"}
    set_credentials(run.team, Actor("user", "usr_1", "Ada"), "bucket", keys)
    export = CheckpointExport.objects.create(
        team=run.team, checkpoint=checkpoint, address="s3://models/a", created_by="Ada", actor={}
    )
    objects = {"run": run, "control": control, "checkpoint": checkpoint, "export": export}
    return {name: one.id for name, one in objects.items()} | {"rollout": rollout}


def needed(path: str) -> dict[str, str]:
    """What a GET has to say."""
    keys = {"keys": "critic/score/mean"} if path.endswith("metrics") else {}
    return {**keys, "runs": "run_1,run_2"} if path.startswith(("metrics", "runs/by-id")) else keys


def call(client: APIClient, operation: Operation, ids: dict[str, str]) -> Any:
    path = "/api/v1/" + operation.path.format(**ids)
    if operation.method == "GET":
        return client.get(path, needed(operation.path))
    method = getattr(client, operation.method.lower())
    return method(path, operation.body, format="json", headers={"If-Match": "1"})


def snapshot(without: tuple[type[Model], ...] = (), hidden: tuple[str, ...] = ()) -> list[Digest]:
    models = {model for label in ("runs", "telemetry", "teams") for model in apps.get_app_config(label).get_models()}
    return digests(models - {UserSession, *without}, hidden)


def test_the_list_is_complete() -> None:
    found = set()
    for include in get_resolver().url_patterns:
        for pattern in getattr(include, "url_patterns", ()):
            view = getattr(pattern.callback, "cls", None)
            if view is None or not view.__module__.startswith(("dressage.runs", "dressage.monitoring")):
                continue
            path = str(pattern.pattern).replace("<str:", "{").replace("_id>", "}")
            if path.endswith(ROW_HISTORY):
                continue
            names = ("get", "post", "put", "patch", "delete")
            found |= {(name.upper(), path) for name in names if hasattr(view, name) and not path.startswith("link/")}
    assert found == {(operation.method, operation.path) for operation in OPERATIONS}


def test_every_operation_is_documented() -> None:
    ours = {"clusters", "runs", "controls", "checkpoints", "spec", "telemetry"}
    count = 0
    for path, methods in documented_paths().items():
        if path.endswith(ROW_HISTORY.replace("<int:index>", "{index}")):
            continue
        for method, operation in methods.items():
            if set(operation["tags"]) & ours or "/runs/{run_id}/" in path:
                count += 1
                assert operation["description"], (path, method)
                assert operation["operationId"].isidentifier(), (path, method)
                assert {"401", "403"} <= set(operation["responses"]), (path, method)
    assert count == len(OPERATIONS)
    assert not [path for path in documented_paths() if "/link/" in path]


@pytest.mark.expensive(4, "walks over many requests", about=PLATFORM)
@BY_NAME
def test_roles(api: Callable[..., APIClient], ids: dict[str, str], operation: Operation) -> None:
    for role in Role:  # from the least: a refusal changes nothing, so the next role meets the same state
        client = api(role)
        before = snapshot()
        response = call(client, operation, ids)
        check_declared("/api/v1/" + operation.path.replace("}", "_id}"), operation.method, response)
        if role.covers(Role(operation.role)):
            assert response.status_code == operation.status, response.content
            return
        assert (response.status_code, response.json()["error"]["code"]) == (403, "permission_denied")
        assert snapshot() == before


@pytest.mark.expensive(3, "walks over many requests", about=PLATFORM)
def test_strangers_and_other_teams(
    api: Callable[..., APIClient], anonymous: APIClient, ids: dict[str, str], other_team: Team
) -> None:
    client = api("admin", team=other_team)
    before = snapshot()
    for operation in OPERATIONS:  # one test: none of them may change anything
        assert call(anonymous, operation, ids).status_code == 401, operation
        if "{" in operation.path:
            for wanted in (ids, dict.fromkeys(ids, "nothing")):
                response = call(client, operation, wanted)
                assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found"), operation
        elif operation.method == "GET":
            text = call(client, operation, ids).content.decode()
            assert not [value for value in ids.values() if "_" in value and value in text], operation
        elif not operation.path.startswith("spec/plan"):  # plans look up no dataset and no reward
            # What a spec names is looked up in the caller's own team, which has none of it.
            pointers = {error["pointer"] for error in call(client, operation, ids).json()["errors"]}
            assert pointers == {
                "/spec/policy/base",
                "/spec/data/sources/0/dataset",
                "/spec/data/sources/1/dataset",
                "/spec/reward/definition",
            }
        assert snapshot() == before, operation


def test_ids_of_another_run_are_not_found(
    api: Callable[..., APIClient], ids: dict[str, str], make_run: Callable[..., Run]
) -> None:
    mixed = {**ids, "run": make_run("other").id}
    operator = api("operator")
    for operation in OPERATIONS:
        if "{control}" in operation.path:
            assert call(operator, operation, mixed).status_code == 404


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if one.method != "GET"], ids=lambda o: o.path)
def test_a_body_that_is_no_object_is_no_fault_of_ours(
    api: Callable[..., APIClient], ids: dict[str, str], operation: Operation
) -> None:
    check_bodies(api("admin"), operation.method, "/api/v1/" + operation.path.format(**ids))


@pytest.mark.parametrize("body", [None, 3, "x", "changes", [], ["changes"]])
def test_a_control_is_an_object(api: Callable[..., APIClient], ids: dict[str, str], body: Any) -> None:
    client, path = api("operator"), f"/api/v1/runs/{ids['run']}/controls"
    before = snapshot()
    answer = client.post(path, json.dumps(body), content_type="application/json", headers={"If-Match": "1"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid")
    assert snapshot() == before


@pytest.mark.expensive(9, "walks over many requests", about=PLATFORM)
def test_what_a_query_may_not_hold_is_refused(api: Callable[..., APIClient], ids: dict[str, str]) -> None:
    client = api("admin")
    before = without_sign_ins()
    for path in (one.path for one in OPERATIONS if one.method == "GET" and one.status == 200):
        documented = documented_paths()["/api/v1/" + path.replace("}", "_id}")]["get"]
        assert check_queries(client, "/api/v1/" + path.format(**ids), documented, needed(path)) > 0
        assert without_sign_ins() == before, path


@pytest.mark.expensive(5, "walks over many requests", about=PLATFORM)
@BY_NAME
def test_a_token_needs_the_scope(team: Team, ids: dict[str, str], operation: Operation) -> None:
    check_scope(team, operation, lambda client: call(client, operation, ids), without_uses)


def without_uses() -> list[Digest]:
    """All rows; a token's last use is no change."""
    return snapshot(hidden=("last_used_at", "last_used_address"))


def test_what_a_body_may_not_hold_is_refused(api: Callable[..., APIClient], ids: dict[str, str]) -> None:
    client = api("admin")
    for operation in OPERATIONS:  # one test: none of them may change anything
        if operation.method == "GET":
            continue
        documented = documented_paths()["/api/v1/" + operation.path.replace("}", "_id}")][operation.method.lower()]

        def send(body: Any, operation: Operation = operation) -> Any:
            return call(client, replace(operation, body=body), ids)

        assert check_slips(document(), documented, operation.body, send, without_sign_ins)


@pytest.mark.parametrize(
    "operation",
    # Those that are refused here are sent twice in test_a_staged_control_is_cancelled_once and test_team_weights.py.
    [o for o in OPERATIONS if o.method == "POST" and f"/api/v1/{o.path}" not in WITHOUT_KEY and o.status < 300],
    ids=lambda operation: operation.path,
)
def test_a_retry_gets_the_first_answer(
    api: Callable[..., APIClient], ids: dict[str, str], operation: Operation
) -> None:
    client = api("admin")
    check_retry(client, lambda: call(client, operation, ids), without_sign_ins)


def test_a_staged_control_is_cancelled_once(api: Callable[..., APIClient], ids: dict[str, str]) -> None:
    client = api("admin")
    path = f"/api/v1/runs/{ids['run']}/controls"
    staged = client.post(path, CONTROL, format="json", headers={"If-Match": "1"}).json()["id"]
    check_retry(client, lambda: client.post(f"{path}/{staged}/cancel", format="json"), without_sign_ins)
    assert Control.objects.get(pk=staged).state == "cancelled"


def without_sign_ins() -> list[Digest]:
    return snapshot(without=(User,))


def test_starting_at_creation_needs_an_operator(api: Callable[..., APIClient], nouns: object) -> None:
    body = {"name": "n", "spec": SPEC, "start": True}
    refused = api("editor").post("/api/v1/runs", body, format="json")
    assert (refused.status_code, Run.objects.count()) == (403, 0)
    assert api("operator").post("/api/v1/runs", body, format="json").json()["state"] == "queued"
