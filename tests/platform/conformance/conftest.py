"""Someone of each role in a team that has one of everything, and its ids by the names of the paths' parameters."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.common.roles import Role
from dressage.datasets.models import Dataset
from dressage.runs.life.services import create_run
from dressage.runs.models import Checkpoint, CheckpointExport, Control
from dressage.runs.sweep import reconcile
from dressage.teams.models import Membership, Team, User, UserSession
from dressage.teams.two_factor.models import Passkey
from dressage.telemetry.models import Rollout
from tests.platform.common.population import populate
from tests.platform.runs.fixtures import Worker, furnish, spec_document
from tests.platform.runs.test_link import ROW
from tests.support.hub_server import HubServer
from trainer_core.spec import RunSpec

ROLES = (Role.VIEWER, Role.EDITOR, Role.ADMIN)
"""Who asks: one who reads, one who makes things, one who may do everything."""
PLACES = {"number": 1, "index": 0}
"""What every team has under the same value: a first version, and a first row in it."""
NAMED = ("secret", "name")
"""Parameters of paths that are no ids."""


@dataclass(frozen=True)
class Place:
    """A team with one of everything."""

    ids: dict[str, Any]
    """``{"run_id": …, "number": 1, …}``: a value for every path parameter of the OpenAPI document."""
    callers: dict[Role, APIClient]
    strangers: dict[Role, APIClient]
    """Of another team, in which nothing is."""


@pytest.fixture(autouse=True)
def without_flask(monkeypatch: pytest.MonkeyPatch) -> None:
    """Schemathesis looks for applications of Flask's wherever it can be imported, and over Flask's proxies an engine's
    start in the same process would stumble."""
    monkeypatch.setitem(sys.modules, "flask", None)


@pytest.fixture
def place(
    db: None, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub_server: HubServer
) -> Iterator[Place]:
    """Made once for a walk over all operations, each of whose requests is undone."""
    settings.HUB_ENDPOINT = hub_server.url
    settings.RUN_ROOT = tmp_path / "runs"
    monkeypatch.setattr(reconcile, "link_answers", lambda: True)
    team, actor = Team.objects.create(name="Stable", slug="stable"), Actor("user", "usr_test", "test@example.com")
    rivals = Team.objects.create(name="Rivals", slug="rivals")
    people = {role: _member(team, role) for role in Role}
    furnish(team, actor, tmp_path / "policy")
    ids = _run(team, actor, people[Role.OPERATOR])
    Dataset.objects.update(slug="trained-on")  # the name is wanted by the next
    ids |= populate(team, actor, Membership.objects.get(user=_member(team, Role.VIEWER).user))
    callers = {role: people[role] for role in ROLES}
    ids["job"] = ids.pop("judged")  # of the two jobs of the lab the one whose answers have more in them
    # A session of the one who edits, noted with the first request.
    assert callers[Role.EDITOR].get("/api/v1/session").status_code == 200
    ids["session"] = UserSession.objects.get(user=callers[Role.EDITOR].user).id
    owner = people[Role.OPERATOR].user
    ids["passkey"] = Passkey.objects.create(
        user=owner, name="Phone", credential_id="x", public_key=b"x", sign_count=0
    ).id
    # Requests keep the test's connection, and with it what is not committed. Django's own client, used above, sees to
    # that by itself, and leaves things as they were.
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield Place(
        ids={name if name in NAMED else f"{name}_id": value for name, value in ids.items()} | PLACES,
        callers=callers,
        strangers={role: _member(rivals, role) for role in ROLES},
    )
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def _member(team: Team, role: Role) -> APIClient:
    client = APIClient()
    client.user = User.objects.create_user(f"{role}-{User.objects.count()}@example.com", "correct horse battery")
    Membership.objects.create(team=team, user=client.user, role=role)
    client.force_login(client.user)
    return client


def _run(team: Team, actor: Actor, operator: APIClient) -> dict[str, str]:
    """A running run with a control in effect and a checkpoint before it."""
    run = create_run(team, actor, name="first", spec=RunSpec.model_validate(spec_document()), start=True)
    reconcile.sweep()
    run.refresh_from_db()
    worker = Worker(run.id, run.attempt)
    worker.state("running")
    body = {"target": "thinking.budget", "value": 10}
    operator.post(f"/api/v1/runs/{run.id}/controls", body, format="json", headers={"If-Match": "0"})
    control = Control.objects.get()
    worker.steps(1, 3)
    worker.sync(applied=[{"control_id": control.id, "state": "applied", "step": 4}])
    worker.checkpoint(3, reason="before_control", control_id=control.id)
    worker.sync({"kind": "rollouts", "step": 1, "data": {"rows": [ROW]}})
    rollout = str(Rollout.objects.get().id)
    checkpoint = Checkpoint.objects.get()
    export = CheckpointExport.objects.create(
        team=team, checkpoint=checkpoint, address="s3://models/a", created_by="Ada", actor={}
    )
    objects = {"run": run, "control": control, "checkpoint": checkpoint, "export": export}
    return {name: one.id for name, one in objects.items()} | {"rollout": rollout}
