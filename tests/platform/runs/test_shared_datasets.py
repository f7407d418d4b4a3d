"""Runs on rows of another team: they pin them, they outlive the end of the share, and tell the owner no names."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.bench.samples import dataset_samples
from dressage.bench.sources import FromDataset
from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.datasets import services
from dressage.datasets.models import Dataset, DatasetShare
from dressage.profiles.services import version_of
from dressage.runs.life.services import create_run, pause_run, start_run
from dressage.runs.models import Run
from dressage.runs.sweep import reconcile
from dressage.teams.models import Team
from tests.platform.runs.fixtures import Worker, furnish, spec_document
from trainer_core.spec import RunSpec

CONTENT = b'{"prompt": "1+1=", "answer": 2}\n{"prompt": "1+2=", "answer": 3}\n'


@pytest.fixture
def lent(db: None, settings: Any, tmp_path: Path, team: Team, other_team: Team, api: Callable[..., APIClient],
         monkeypatch: pytest.MonkeyPatch) -> Dataset:  # fmt: skip
    """A dataset of ``other_team`` that ``team`` reads as ``lent``."""
    settings.RUN_ROOT = tmp_path / "runs"
    settings.DATASET_ROOT = tmp_path / "datasets"
    monkeypatch.setattr(reconcile, "link_answers", lambda: True)
    furnish(team, Actor("user", "usr_test", "test@example.com"), tmp_path / "policy")
    owner, guest = api("admin", team=other_team), api("admin")
    actor = Actor("user", owner.user.id, owner.user.email)
    made = services.create_dataset(other_team, actor, name="Own", file=BytesIO(CONTENT), size=len(CONTENT))
    services.create_version(made, actor, file=BytesIO(CONTENT + CONTENT), size=2 * len(CONTENT))
    link = owner.post(f"/api/v1/datasets/{made.id}/shares", {}, format="json").json()["link"]
    secret = link.rpartition("/")[2]
    answer = guest.post(f"/api/v1/dataset-offers/{secret}/accept", {"slug": "lent"}, format="json")
    assert answer.status_code == 201
    made.owner = owner  # type: ignore[attr-defined]
    return made


def spec() -> RunSpec:
    document = spec_document()
    for part in ("data", "evaluation"):
        for source in document.get(part, {}).get("sources", ()):
            source["dataset"] = "lent@1"
    return RunSpec.model_validate(document)


def revoke(dataset: Dataset) -> None:
    path = f"/api/v1/datasets/{dataset.id}/shares/{DatasetShare.objects.get().id}"
    assert dataset.owner.delete(path).status_code == 204  # type: ignore[attr-defined]


def begin(team: Team, actor: Actor) -> tuple[Run, Worker]:
    run = create_run(team, actor, name="private plan", spec=spec(), start=True)
    reconcile.sweep()
    run.refresh_from_db()
    worker = Worker(run.id, run.attempt)
    worker.state("running")
    return run, worker


def test_a_run_pins_what_it_reads_and_tells_no_names(team: Team, other_team: Team, actor: Actor, lent: Dataset) -> None:
    run, _ = begin(team, actor)
    owner = lent.owner  # type: ignore[attr-defined]
    for path in (f"/api/v1/datasets/{lent.id}/versions/1", f"/api/v1/datasets/{lent.id}"):
        answer = owner.delete(path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "dataset_in_use")
        assert answer.json()["detail"].startswith("It is needed by a run of the team 'Stable'.")
        assert answer.json()["pins"] == [
            {"kind": "run", "id": "", "name": "Stable", "state": "running", "ref": "own@1"}
        ]
        assert run.id not in answer.content.decode() and "private" not in answer.content.decode()
    assert owner.delete(f"/api/v1/datasets/{lent.id}/versions/2").status_code == 204  # which nobody reads
    revoke(lent)
    assert owner.delete(f"/api/v1/datasets/{lent.id}").status_code == 409  # the run goes on with it
    Run.objects.update(state="cancelled")
    assert owner.delete(f"/api/v1/datasets/{lent.id}").status_code == 204


def test_what_has_begun_outlives_the_share(team: Team, actor: Actor, lent: Dataset) -> None:
    run, worker = begin(team, actor)
    revoke(lent)
    found = worker.get("datasets/lent@1")
    assert (found.status_code, b"".join(found.streaming_content)[:4]) == (200, b"PAR1")
    worker.get("datasets/lent@2", status=404)
    assert worker.get("bundle").json()["datasets"]["lent@1"]["rows"] == 2
    pause_run(team, actor, run.id)
    with pytest.raises(Problem) as refused:
        create_run(team, actor, name="next", spec=spec(), start=False)
    assert (refused.value.code, refused.value.errors[0]["pointer"]) == (
        "unknown_reference",
        "/spec/data/sources/0/dataset",
    )


def test_a_draft_does_not_begin_once_the_share_has_ended(team: Team, actor: Actor, lent: Dataset) -> None:
    draft = create_run(team, actor, name="draft", spec=spec(), start=False)
    revoke(lent)
    with pytest.raises(Problem) as refused:
        start_run(team, actor, draft.id)
    assert refused.value.code == "unknown_reference"
    draft.refresh_from_db()
    assert draft.state == "draft"


def test_jobs_of_a_guest(team: Team, actor: Actor, lent: Dataset, api: Callable[..., APIClient]) -> None:
    editor = api("editor")
    rehearsal = {"spec": spec().model_dump(mode="json"), "prompts": 1, "samples": 1}
    assert editor.post("/api/v1/rehearsals", rehearsal, format="json").status_code in (201, 202)
    found = lent.owner.delete(f"/api/v1/datasets/{lent.id}/versions/1").json()  # type: ignore[attr-defined]
    assert [(pin["kind"], pin["id"], pin["name"]) for pin in found["pins"]] == [("rehearsal", "", "Stable")]
    _, samples = dataset_samples(team, FromDataset(dataset="lent@1", rows=[1]))
    assert samples[0]["item"]["answer"] == 3
    document = spec().model_dump(mode="json")
    document["evaluation"]["sources"] = []
    document["data"]["sources"] = document["data"]["sources"][:1]
    with pytest.raises(Problem) as refused:  # it would write notes beside rows of others
        version_of(team, RunSpec.model_validate(document))
    assert refused.value.code == "shared_dataset"
    revoke(lent)
    with pytest.raises(Problem):
        dataset_samples(team, FromDataset(dataset="lent@1", rows=[1]))
