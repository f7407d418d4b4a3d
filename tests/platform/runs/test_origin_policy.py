"""A run that takes its weights from a checkpoint names the policy that these were trained from."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.policies.models import Policy
from dressage.runs.models import Checkpoint, Run
from dressage.runs.sweep.reconcile import sweep
from dressage.teams.models import AuditEntry, Team
from tests.platform.runs.fixtures import Worker, spec_document

Launch = Callable[..., tuple[Run, Worker]]
Clients = Callable[..., APIClient]

TRAINED = {"architecture": "A", "parameters": 1, "vocab_size": 1, "sha256": "0"}
OTHERS = {
    "architecture": {"architecture": "B", "sha256": "1"},
    "vocabulary": {"vocab_size": 2, "sha256": "1"},
    "tokenizer or weights": {"sha256": "1"},
    "facts alone": {"architecture": "B"},
}
NEVER_TRAINED = "was trained from the policy 'small' (A, vocabulary of 1), and the spec names the policy 'other' ("


@pytest.fixture
def other(team: Team, tmp_path: Path) -> Callable[..., Policy]:
    """``other(**columns)``: a second policy of the team; its files are those of the first unless the columns differ."""

    def make(**columns: Any) -> Policy:
        folder = Path(columns.pop("path", tmp_path / "other"))
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text("{}")
        facts = {"max_position_embeddings": 96, "bytes": 1, "created_by": "x", **TRAINED, **columns}
        return Policy.objects.create(team=team, slug="other", name="Other", path=str(folder), **facts)

    return make


@pytest.fixture
def parent(launch: Launch) -> tuple[Run, Worker]:
    """A run with a checkpoint after step 5, and its worker."""
    run, worker = launch()
    worker.steps(1, 5)
    worker.checkpoint(5)
    return run, worker


def named(base: str = "other") -> dict[str, Any]:
    """A spec that trains the policy ``base``."""
    return spec_document(policy={"base": base})


@pytest.mark.parametrize("columns", OTHERS.values(), ids=OTHERS.keys())
@pytest.mark.parametrize("by_id", [False, True])
def test_a_fork_with_another_policy_is_refused(
    parent: tuple[Run, Worker], other: Callable[..., Policy], api: Clients, settings: Any,
    columns: dict[str, Any], by_id: bool,
) -> None:  # fmt: skip
    run, _ = parent
    other(**columns)
    body = {"spec": named()} | ({"checkpoint": Checkpoint.objects.get().id} if by_id else {})
    audited = AuditEntry.objects.count()
    answer = api("editor").post(f"/api/v1/runs/{run.id}/fork", body, format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "other_policy")
    assert [fault["pointer"] for fault in answer.json()["errors"]] == ["/spec/policy/base"]
    assert NEVER_TRAINED in answer.json()["detail"]
    assert "checkpoint: null" in answer.json()["detail"]
    assert (Run.objects.count(), AuditEntry.objects.count()) == (1, audited)
    assert [folder.name for folder in settings.RUN_ROOT.iterdir()] == [run.id]


@pytest.mark.parametrize("same_folder", [False, True])
def test_another_slug_of_the_same_policy_is_accepted(
    parent: tuple[Run, Worker], other: Callable[..., Policy], api: Clients, nouns: Path, same_folder: bool
) -> None:
    run, _ = parent
    other(**({"path": nouns, "sha256": "1"} if same_folder else {}))
    answer = api("editor").post(f"/api/v1/runs/{run.id}/fork", {"spec": named()}, format="json")
    assert answer.status_code == 201
    assert (answer.json()["spec"]["policy"]["base"], answer.json()["parent"]["step"]) == ("other", 5)


def test_the_base_policy_may_be_another(launch: Launch, other: Callable[..., Policy], api: Clients) -> None:
    """Without a checkpoint, weights come from the named policy itself."""
    run, worker = launch()
    other(sha256="1")
    path = f"/api/v1/runs/{run.id}/fork"
    untrained = api("editor").post(path, {"spec": named()}, format="json")
    worker.steps(1, 5)
    worker.checkpoint(5)
    afresh = api("editor").post(path, {"spec": named(), "checkpoint": None}, format="json")
    assert [one.status_code for one in (untrained, afresh)] == [201, 201]
    assert [one.json()["parent"]["checkpoint"] for one in (untrained, afresh)] == [None, None]


def test_the_checkpoint_of_another_run_decides(
    parent: tuple[Run, Worker], make_run: Callable[..., Run], other: Callable[..., Policy], api: Clients
) -> None:
    other(sha256="1")
    apart = make_run("apart", policy={"base": "other"})
    body = {"checkpoint": Checkpoint.objects.get().id}
    path = f"/api/v1/runs/{apart.id}/fork"
    refused = api("editor").post(path, body, format="json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "other_policy")
    assert NEVER_TRAINED in refused.json()["detail"]
    assert api("editor").post(path, body | {"spec": named("small")}, format="json").status_code == 201


def test_a_policy_that_the_team_lacks_is_called_unknown(parent: tuple[Run, Worker], api: Clients) -> None:
    run, _ = parent
    answer = api("editor").post(f"/api/v1/runs/{run.id}/fork", {"spec": named("none")}, format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "unknown_reference")


def test_a_draft_from_an_earlier_release_does_not_start(
    parent: tuple[Run, Worker], other: Callable[..., Policy], api: Clients, settings: Any
) -> None:
    run, _ = parent
    other(sha256="1")
    settings.MAX_ACTIVE_RUNS = 2
    child = api("editor").post(f"/api/v1/runs/{run.id}/fork", {}, format="json").json()["id"]
    Run.objects.filter(pk=child).update(spec=named(), effective_spec=named())
    answer = api("operator").post(f"/api/v1/runs/{child}/start")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "other_policy")
    assert Run.objects.get(pk=child).state == "draft"


def test_a_run_from_an_earlier_release_resumes(
    parent: tuple[Run, Worker], other: Callable[..., Policy], api: Clients, settings: Any
) -> None:
    run, _ = parent
    other(sha256="1")
    settings.MAX_ACTIVE_RUNS = 2
    operator = api("operator")
    child = operator.post(f"/api/v1/runs/{run.id}/fork", {}, format="json").json()["id"]
    operator.post(f"/api/v1/runs/{child}/start")
    sweep()
    worker = Worker(child, 1)
    worker.state("running")
    worker.steps(1, 2)
    worker.checkpoint(2)
    worker.state("failed", "out of memory")
    Run.objects.filter(pk=child).update(spec=named(), effective_spec=named())
    assert operator.post(f"/api/v1/runs/{child}/resume").status_code == 202
    assert Run.objects.get(pk=child).state == "queued"
