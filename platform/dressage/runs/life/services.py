"""Services of users' actions on runs: create, start, pause, resume, cancel, ask for a checkpoint, rename."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from dressage.clusters import selectors as clusters
from dressage.clusters.selectors import cluster_names
from dressage.clusters.sizes import too_large
from dressage.common.actors import Actor
from dressage.common.api.problems import conflict, invalid
from dressage.runs.enqueue import enqueue_reconcile
from dressage.runs.life.lifecycle import locked, transition
from dressage.runs.models import CheckpointRequest, Run
from dressage.runs.needs import references
from dressage.runs.needs.choice import reservation_of
from dressage.runs.states import ACTIVE, FINISHED, By, DesiredState, RunState
from dressage.teams.models import Team
from dressage.teams.services import record_audit
from dressage.telemetry.events import append_event
from trainer_core.spec import RunSpec

QUOTA = Actor.system("gpu-hours")


@transaction.atomic
def create_run(
    team: Team,
    actor: Actor,
    *,
    name: str,
    spec: RunSpec,
    start: bool = False,
    cluster: str | None = None,
    **origin: Any,
) -> Run:
    """Make a draft run and, with ``start``, queue it.

    Args:
        team: the owner.
        actor: who creates it.
        name: what people call it.
        spec: valid in itself; its references are resolved here.
        start: queue it at once; then files behind the references must exist as well, and a cluster that can hold it.
        cluster: name of the cluster that it shall train on; None leaves it to the platform.
        origin: ``parent``, ``parent_checkpoint`` and so on of a child run.

    Raises:
        Problem: 422 with a pointer to each reference that stands for nothing in this team, and for a cluster that is
            none. Nothing is made.
    """
    references.hold(team, spec)
    references.require(team, spec, new=True)
    require_cluster(cluster)
    document = spec.model_dump(mode="json")
    run = Run.objects.create(
        team=team,
        name=name,
        cluster=cluster or "",
        spec=document,
        effective_spec=document,
        total_steps=spec.schedule.steps,
        created_by=actor.label,
        **origin,
    )
    append_event(run, "state", {"from": None, "to": RunState.DRAFT, "actor": actor.label, "reason": ""})
    parent = origin.get("parent")
    facts = {"name": name, "spec": document, "parent": parent.id if parent else None}
    if cluster is not None:
        facts["cluster"] = cluster
    record_audit(team, actor, "run.create", "run", run.id, after=facts)
    if start:
        start_run(team, actor, run.id)
        run.refresh_from_db()
    return run


@transaction.atomic
def update_run(team: Team, actor: Actor, run_id: str, changes: dict[str, Any]) -> Run:
    """Change name, notes, or, while it holds no place and has not ended for good, the cluster; null is any.

    Raises:
        Problem: 404; 409 for the cluster of a run that holds a place or has ended; 422 for a cluster that is none.
    """
    run = locked(run_id, team)
    if "cluster" in changes:
        require_cluster(changes["cluster"])
        changes = {**changes, "cluster": changes["cluster"] or ""}
        if changes["cluster"] != run.cluster:
            _require_movable(run, changes["cluster"])
    before = {name: getattr(run, name) for name in changes}
    if before != changes:
        for name, value in changes.items():
            setattr(run, name, value)
        run.save(update_fields=[*changes, "updated_at"])
        append_event(run, "run", {"changed": sorted(changes), "actor": actor.label})
        record_audit(team, actor, "run.update", "run", run.id, before=before, after=changes)
    return run


@transaction.atomic
def start_run(team: Team, actor: Actor, run_id: str) -> None:
    """Queue a draft. Starting what is queued or active already is the same as once.

    Raises:
        Problem: 409 for a finished run, and for one that gave its place back, which is resumed instead; 422 when a
            reference or a file behind it is gone, and the draft stays.
    """
    run = locked(run_id, team)
    if run.state == RunState.QUEUED or run.state in ACTIVE:
        return
    if run.state in FINISHED:
        raise conflict(f"The run is {run.state}: fork it, or resume it if it failed.", code="wrong_state")
    if run.state == RunState.SUSPENDED:
        raise conflict("The run is paused and gave its place back: resume it.", code="wrong_state")
    _queue(run, actor, "started", "run.start")


@transaction.atomic
def pause_run(team: Team, actor: Actor, run_id: str) -> None:
    """Ask the worker to stand still after its step."""
    run = locked(run_id, team)
    if run.state == RunState.SUSPENDED:
        return
    if run.state not in ACTIVE or run.desired_state == DesiredState.CANCELLED:
        raise conflict(f"{_situation(run)}: it cannot be paused.", code="wrong_state")
    _desire(run, actor, DesiredState.PAUSED, "run.pause")


@transaction.atomic
def resume_run(team: Team, actor: Actor, run_id: str) -> None:
    """Let a paused run go on. One without a place, suspended or failed, is queued and goes on from its checkpoint."""
    run = locked(run_id, team)
    if run.state == RunState.FAILED:
        _queue(run, actor, "resumed after its failure", "run.resume")
    elif run.state == RunState.SUSPENDED:
        _queue(run, actor, "resumed", "run.resume")
    elif run.state in ACTIVE and run.desired_state != DesiredState.CANCELLED:
        _desire(run, actor, DesiredState.RUNNING, "run.resume")
    else:
        raise conflict(f"{_situation(run)}: it cannot be resumed.", code="wrong_state")


@transaction.atomic
def release_place(team: Team, actor: Actor, run_id: str) -> None:
    """Ask a paused run to save itself and give its place back now. Asking again is the same as once.

    Raises:
        Problem: 409 for a run that does not stand paused, or shall go on or end. Nothing is changed.
    """
    run = locked(run_id, team)
    if run.state == RunState.SUSPENDED:
        return
    if run.state != RunState.PAUSED or run.desired_state != DesiredState.PAUSED:
        raise conflict(f"{_situation(run)}: only a paused run gives its place back.", code="wrong_state")
    if run.release_asked_at is None:
        ask_for_place(run, actor.label, timezone.now())
        record_audit(team, actor, "run.release", "run", run.id)


def pause_for_quota(run: Run, why: str, now: datetime) -> None:
    """Have a locked, active run stand still and give its place back as soon as it does, because its quota is used up.

    Who runs it is told once.
    """
    if run.desired_state == DesiredState.RUNNING:
        _desire(run, QUOTA, DesiredState.PAUSED, "run.pause")
        append_event(run, "alert", {"level": "warn", "title": "GPU hours are used up", "message": why}, step=run.step)
    if run.state == RunState.PAUSED and run.desired_state == DesiredState.PAUSED and run.release_asked_at is None:
        ask_for_place(run, "The platform", now)


def ask_for_place(run: Run, who: str, now: datetime) -> None:
    """Have the worker of a locked, paused run save and end; it is told with every sync until it has."""
    run.release_asked_at = now
    run.save(update_fields=["release_asked_at", "updated_at"])
    message = f"{who} asks the run to save itself and give its place back."
    append_event(run, "log", {"level": "info", "message": message}, step=run.step)


@transaction.atomic
def measure_noise(team: Team, actor: Actor, run_id: str) -> None:
    """Have the noise between engine and learner measured again by the run's next attempt. Asking again is as once.

    Weights that are read back must be as published before it is measured, whoever asks.

    Raises:
        Problem: 409 for a run that does not stand still, and for one without a checkpoint, which measures it anyway.
            Nothing is changed.
    """
    run = locked(run_id, team)
    if run.state not in (RunState.PAUSED, RunState.SUSPENDED, RunState.FAILED):
        message = f"{_situation(run)}: the noise is measured again only where a run stands still. Pause it first."
        raise conflict(message, code="wrong_state")
    if not run.has_begun:
        raise conflict("The run has no checkpoint yet: it measures the noise whenever it starts.", code="wrong_state")
    if run.noise_asked_at == run.attempt:
        return
    before, run.noise_asked_at = run.noise_asked_at, run.attempt
    run.save(update_fields=["noise_asked_at", "updated_at"])
    message = (
        f"{actor.label} asks for the noise between engine and learner to be measured again when the run goes on with "
        "new engines."
    )
    append_event(run, "log", {"level": "info", "message": message}, step=run.step)
    facts = {"noise_asked_at": before}, {"noise_asked_at": run.noise_asked_at}
    record_audit(team, actor, "run.measure_noise", "run", run.id, *facts)


@transaction.atomic
def cancel_run(team: Team, actor: Actor, run_id: str) -> None:
    """End a run: at once while it waits, after the worker has let go of it otherwise."""
    run = locked(run_id, team)
    if run.state == RunState.CANCELLED:
        return
    if run.state in FINISHED:
        raise conflict(f"The run is {run.state} already.", code="wrong_state")
    if run.state in ACTIVE:
        _desire(run, actor, DesiredState.CANCELLED, "run.cancel")
        return
    transition(run, RunState.CANCELLED, by=By.PERSON, actor=actor, reason="cancelled")
    record_audit(team, actor, "run.cancel", "run", run.id)


@transaction.atomic
def request_checkpoint(team: Team, actor: Actor, run_id: str) -> CheckpointRequest:
    """Ask the worker for a checkpoint after its step. One open wish is enough for all."""
    run = locked(run_id, team)
    if run.state not in ACTIVE:
        raise conflict(f"{_situation(run)}: there is nothing to save.", code="wrong_state")
    waiting = run.checkpoint_requests.filter(closed_at=None).first()
    if waiting is not None:
        return waiting
    wish = CheckpointRequest.objects.create(run=run, actor=actor.label)
    message = f"{actor.label} asks for a checkpoint."
    append_event(run, "log", {"level": "info", "message": message}, step=run.step)
    record_audit(team, actor, "run.checkpoint", "run", run.id)
    return wish


def require_cluster(name: str | None) -> None:
    """Require that the installation has a cluster of that name; None is any. Raises a 422 problem."""
    names = cluster_names()
    if name is not None and name not in names:
        raise invalid("/cluster", f"There is no cluster {name!r} here; there is {', '.join(names)}.")


def _require_movable(run: Run, cluster: str) -> None:
    if run.state in ACTIVE or run.state in (RunState.SUCCEEDED, RunState.CANCELLED):
        raise conflict(
            f"{_situation(run)}: its cluster can be changed only while it holds no place.", code="wrong_state"
        )
    if run.state == RunState.QUEUED:
        _require_room(cluster, run.spec)


def _require_room(cluster: str, spec: Mapping[str, Any]) -> None:
    """Refuse what no cluster that comes into question can ever hold. Raises a 422 problem."""
    among = [size for size in clusters.sizes({}) if cluster in ("", size.name)]
    sentence = too_large(reservation_of(spec), among)
    if sentence is not None:
        raise invalid("/spec/parallelism", sentence, code="too_large")


def _queue(run: Run, actor: Actor, reason: str, action: str) -> None:
    spec = RunSpec.model_validate(run.spec)
    references.hold(run.team, spec)
    references.require_files(run.team, spec, new=not run.has_begun)
    require_cluster(run.cluster or None)
    _require_room(run.cluster, run.spec)
    if run.origin_manifest_sha256 and not (run.origin_path / "manifest.json").is_file():
        raise conflict("The checkpoint that this run begins from is gone from the disk.", code="checkpoint_gone")
    transition(run, RunState.QUEUED, by=By.PERSON, actor=actor, reason=reason)
    record_audit(run.team, actor, action, "run", run.id)
    enqueue_reconcile()


def _desire(run: Run, actor: Actor, desired: DesiredState, action: str) -> None:
    if run.desired_state == desired:
        return
    before, run.desired_state, run.desired_since = run.desired_state, desired, timezone.now()
    run.release_asked_at = None
    run.save(update_fields=["desired_state", "desired_since", "release_asked_at", "updated_at"])
    append_event(run, "desired", {"from": before, "to": desired, "actor": actor.label}, step=run.step)
    facts = {"desired_state": before}, {"desired_state": desired}
    record_audit(run.team, actor, action, "run", run.id, *facts)


def _situation(run: Run) -> str:
    if run.state in ACTIVE and run.desired_state == DesiredState.CANCELLED:
        return "The run is being cancelled"
    return f"The run is {run.state}"
