"""Damaged checkpoints: marked, passed over by resumes, and refused by the file's name wherever they are given away."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import TestCase
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.runs.life.services import resume_run, start_run
from dressage.runs.models import Attempt, Checkpoint, Run
from dressage.runs.recovery.branches import fork_run
from dressage.runs.sweep import reconcile
from dressage.teams.models import Team
from dressage.telemetry.models import Event
from tests.platform.runs.fixtures import Worker, expire_lease
from trainer_core.update.saving.manifest import write_manifest

Launch = Callable[..., tuple[Run, Worker]]
CHANGED = "was changed after the checkpoint was written"
FILES = ("config.json", "model.safetensors", "training/optimizer.safetensors")


def save(worker: Worker, step: int) -> Path:
    """Write a checkpoint with a manifest as the learner writes it, and announce it."""
    run = Run.objects.get(pk=worker.run_id)
    folder = run.run_dir / "checkpoints" / f"step-{step:06d}-a{worker.attempt}"
    (folder / "training").mkdir(parents=True)
    for name in FILES:
        (folder / name).write_bytes(f"{{}} {name} {step}".encode())
    data = {
        "path": str(folder), "bytes": 9, "manifest_sha256": write_manifest(folder), "reason": "schedule",
        "control_id": None, "policy_version": step,
    }  # fmt: skip
    worker.sync({"kind": "checkpoint", "step": step, "data": data})
    return folder


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def sweep() -> None:
    with TestCase.captureOnCommitCallbacks(execute=True):
        reconcile.sweep()


def unusable(worker: Worker, folder: Path, fault: str, *, gone: bool = False) -> None:
    """The worker's alert that its checkpoint cannot be used."""
    told = {"path": str(folder), "fault": fault, "gone": gone}
    data = {"level": "error", "title": "A checkpoint cannot be used", "message": "…", "unusable": told}
    worker.sync({"kind": "alert", "data": data})


def alerts(run: Run) -> list[str]:
    found = Event.objects.filter(run_id=run.id, kind="alert").order_by("seq")
    return [event.data["message"] for event in found if event.data.get("code") == "checkpoint_unusable"]


def next_worker(run: Run) -> Worker:
    run.refresh_from_db()
    return Worker(run.id, run.attempt)


@pytest.fixture
def trained(launch: Launch) -> tuple[Run, Worker, dict[int, Path]]:
    """A run after step 12, with checkpoints of steps 5 and 10."""
    run, worker = launch()
    worker.steps(1, 12)
    return run, worker, {step: save(worker, step) for step in (5, 10)}


@pytest.mark.parametrize("harm", ["truncate", "lose", "slip in", "manifest"])
def test_visible_damage_is_passed_over_and_told(
    trained: tuple[Run, Worker, dict[int, Path]], api: Callable[..., APIClient], harm: str
) -> None:
    run, _, folders = trained
    model = folders[10] / "model.safetensors"
    if harm == "truncate":
        truncate(model)
        fault = f"model.safetensors {CHANGED}"
    elif harm == "lose":
        model.unlink()
        fault = "model.safetensors is missing"
    elif harm == "slip in":
        (folders[10] / "odd.bin").touch()
        fault = "odd.bin is not in the manifest"
    else:
        (folders[10] / "manifest.json").write_text("{}")
        fault = f"manifest.json {CHANGED}"
    expire_lease(run)
    sweep()
    run.refresh_from_db()
    assert (run.state, run.attempt, run.step) == ("starting", 2, 5)
    told = f"The checkpoint of step 10 is damaged ({fault}): steps 6 to 12 are done again."
    assert run.state_reason.endswith(told)
    assert alerts(run) == [told]
    listed = api("viewer").get(f"/api/v1/runs/{run.id}/checkpoints").json()["data"]
    assert [(row["step"], row["damaged"], row["damage"]) for row in listed] == [(10, True, fault), (5, False, None)]
    shown = api("viewer").get(f"/api/v1/runs/{run.id}").json()
    assert shown["last_checkpoint"]["step"] == 5
    resume = next_worker(run).get("bundle").json()["resume"]
    assert (resume["step"], resume["path"]) == (5, str(folders[5]))


def test_what_the_worker_finds_damaged_is_passed_over_at_once(trained: tuple[Run, Worker, dict[int, Path]]) -> None:
    run, _, folders = trained
    flip(folders[10] / "model.safetensors")
    expire_lease(run)
    sweep()
    second = next_worker(run)
    assert (run.attempt, run.step) == (2, 10)
    with TestCase.captureOnCommitCallbacks(execute=True):
        unusable(second, folders[10], f"model.safetensors {CHANGED}")
    run.refresh_from_db()
    assert (run.state, run.attempt, run.step) == ("starting", 3, 5)
    assert Attempt.objects.get(run=run, number=2).fenced
    told = f"The checkpoint of step 10 is damaged (model.safetensors {CHANGED}): steps 6 to 12 are done again."
    assert told in run.state_reason and alerts(run) == [told]
    assert Checkpoint.objects.get(step=10).damage == f"model.safetensors {CHANGED}"
    second.sync(status=409)
    third = next_worker(run)
    third.state("running")
    third.steps(6, 40)
    third.state("succeeded", "all steps are done")
    run.refresh_from_db()
    assert (run.state, run.step) == ("succeeded", 40)


def test_if_all_are_damaged_the_run_fails_and_names_them(
    trained: tuple[Run, Worker, dict[int, Path]], team: Team, actor: Actor
) -> None:
    run, _, folders = trained
    kept = {step: shutil.copytree(folder, folder.with_name(f"kept-{step}")) for step, folder in folders.items()}
    truncate(folders[5] / "model.safetensors")
    flip(folders[10] / "config.json")
    expire_lease(run)
    sweep()
    unusable(next_worker(run), folders[10], f"config.json {CHANGED}")
    run.refresh_from_db()
    assert (run.state, run.attempt) == ("failed", 2)
    assert run.state_reason.startswith(
        f"No whole checkpoint is left: the checkpoint of step 10 is damaged (config.json {CHANGED}); "
        f"the checkpoint of step 5 is damaged (model.safetensors {CHANGED})."
    )
    assert not Attempt.objects.filter(run=run, resume_step=0, number__gt=1).exists()

    resume_run(team, actor, run.id)
    sweep()
    unusable(next_worker(run), folders[10], f"config.json {CHANGED}")
    run.refresh_from_db()
    assert (run.state, run.attempt) == ("failed", 3), "verified again, and found as damaged as before"

    shutil.copy(kept[10] / "config.json", folders[10])
    resume_run(team, actor, run.id)
    sweep()
    run.refresh_from_db()
    assert (run.state, run.attempt, run.step) == ("starting", 4, 10), "the file was put back"
    assert Checkpoint.objects.get(step=10).damage == ""


def test_a_folder_that_is_gone_is_a_lost_attempt(trained: tuple[Run, Worker, dict[int, Path]]) -> None:
    run, _, folders = trained
    expire_lease(run)
    sweep()
    second = next_worker(run)
    shutil.rmtree(folders[10])
    unusable(second, folders[10], "the folder does not exist any more", gone=True)
    run.refresh_from_db()
    assert (run.state, run.attempt, run.step) == ("starting", 3, 5)
    assert str(folders[10]) in run.state_reason
    assert "The checkpoint of step 10 is no longer on the disk: steps 6 to 12 are done again." in run.state_reason
    assert Checkpoint.objects.get(step=10).damage == ""


def test_a_path_outside_the_run_is_not_believed(trained: tuple[Run, Worker, dict[int, Path]]) -> None:
    run, worker, _ = trained
    unusable(worker, Path("/etc"), "passwd is missing")
    run.refresh_from_db()
    assert (run.state, run.attempt) == ("running", 1)
    assert "An unreadable alert event" in Event.objects.filter(run_id=run.id, kind="log").latest("seq").data["message"]


def test_a_damaged_origin_fails_the_child(
    trained: tuple[Run, Worker, dict[int, Path]], team: Team, actor: Actor, settings: Any
) -> None:
    settings.MAX_ACTIVE_RUNS = 2
    run, *_ = trained
    child = fork_run(team, actor, run.id)
    start_run(team, actor, child.id)
    sweep()
    worker = next_worker(child)
    policy = worker.get("bundle").json()["policy"]
    assert policy["path"] == str(child.origin_path)
    assert policy["manifest_sha256"] == child.origin_manifest_sha256 != ""
    unusable(worker, child.origin_path, f"model.safetensors {CHANGED}")
    child.refresh_from_db()
    assert child.state == "failed"
    assert child.state_reason.startswith(
        f"The checkpoint from which the run starts is damaged: model.safetensors {CHANGED}."
    )


def read(response: Any) -> bytes:
    return b"".join(response.streaming_content)


@pytest.mark.parametrize("harm", [flip, truncate, Path.unlink])
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_checkpoint_is_not_given_away(
    trained: tuple[Run, Worker, dict[int, Path]], api: Callable[..., APIClient], harm: Callable[[Path], None], name: str
) -> None:
    run, _, folders = trained
    editor, newest = api("editor"), Checkpoint.objects.get(step=10)
    download = f"/api/v1/checkpoints/{newest.id}/download"
    assert read(editor.get(download)), "whole: it is sent, and its hashes are known from now on"
    kept = (folders[10] / name).read_bytes()
    harm(folders[10] / name)
    fork = {"checkpoint": newest.id}
    for answer in (editor.get(download), editor.post(f"/api/v1/runs/{run.id}/fork", fork, format="json")):
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "checkpoint_damaged")
        assert name in answer.json()["detail"] and str(folders[10]) not in answer.json()["detail"]
    assert Run.objects.count() == 1
    newest.refresh_from_db()
    assert newest.damage.startswith(name)

    latest = editor.post(f"/api/v1/runs/{run.id}/fork", {}, format="json").json()
    assert latest["parent"]["step"] == 5, "the newest whole one"
    (folders[10] / name).write_bytes(kept)
    assert read(editor.get(download))
    newest.refresh_from_db()
    assert newest.damage == "", "the file was put back"


def test_a_fork_of_damaged_checkpoints_alone_is_refused(
    trained: tuple[Run, Worker, dict[int, Path]], api: Callable[..., APIClient]
) -> None:
    run, _, folders = trained
    for folder in folders.values():
        flip(folder / "model.safetensors")
    answer = api("editor").post(f"/api/v1/runs/{run.id}/fork", {}, format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "checkpoint_damaged")
    assert "model.safetensors" in answer.json()["detail"]
    assert Run.objects.count() == 1, "it does not begin with the base policy instead"


def test_an_export_of_what_is_known_to_be_damaged_is_refused(
    trained: tuple[Run, Worker, dict[int, Path]], api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dressage.runs.export.exporting.bucket_credentials", lambda team: object())
    newest = Checkpoint.objects.get(step=10)
    Checkpoint.objects.update(damage=f"model.safetensors {CHANGED}")
    body = {"address": "s3://models/trained"}
    answer = api("editor").post(f"/api/v1/checkpoints/{newest.id}/exports", body, format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "checkpoint_damaged")
    assert "model.safetensors" in answer.json()["detail"]
