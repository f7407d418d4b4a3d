"""Services for users' actions on runs: create, start, pause, resume, cancel, request a checkpoint, rename."""

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
from dressage.runs.needs import objective, origin_policy, references, reward_versions
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
    """Create a draft run and, with ``start``, queue it.

    Args:
        team: the owner.
        actor: who creates it.
        name: display name.
        spec: valid in itself; its references are resolved here.
        start: queue it immediately; its files and a cluster that can hold it must then exist, too.
        cluster: name of the cluster that it should train on; None leaves it to the platform.
        origin: ``parent``, ``parent_checkpoint`` and so on of a child run.

    Raises:
        Problem: 422 with a pointer to each reference that does not exist in this team, and for an unknown cluster.
            Nothing is created.
    """
    references.hold(team, spec)
    references.require(team, spec, new=True, begun=bool(origin.get("continues")))
    reward_versions.record_judges(team, spec)
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
    """Change name, notes or, unless the run holds a slot or has ended for good, the cluster; null means any.

    Raises:
        Problem: 404; 409 for the cluster of a run that holds a slot or has ended; 422 for an unknown cluster.
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
    """Queue a draft. Starting a run that is already queued or active changes nothing.

    Raises:
        Problem: 409 for a finished run, and for one that gave its slot back, which must be resumed instead; 422 if a
            reference or one of its files is gone. The draft then remains.
    """
    run = locked(run_id, team)
    if run.state == RunState.QUEUED or run.state in ACTIVE:
        return
    if run.state in FINISHED:
        raise conflict(f"The run is {run.state}: fork it, or resume it if it failed.", code="wrong_state")
    if run.state == RunState.SUSPENDED:
        raise conflict("The run is preempted: resume it.", code="wrong_state")
    _queue(run, actor, "started", "run.start")


@transaction.atomic
def pause_run(team: Team, actor: Actor, run_id: str) -> None:
    """Ask the worker to pause after its step."""
    run = locked(run_id, team)
    if run.state == RunState.SUSPENDED:
        return
    if run.state not in ACTIVE or run.desired_state == DesiredState.CANCELLED:
        raise conflict(f"{_situation(run)}: it cannot be paused.", code="wrong_state")
    _desire(run, actor, DesiredState.PAUSED, "run.pause")


@transaction.atomic
def resume_run(team: Team, actor: Actor, run_id: str) -> None:
    """Let a paused run continue. A suspended or failed one is queued and continues from its checkpoint."""
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
    """Ask a paused run to save itself and give its slot back now. Repeating the request changes nothing.

    Raises:
        Problem: 409 for a run that is not paused, or has been asked to continue or end. Nothing is changed.
    """
    run = locked(run_id, team)
    if run.state == RunState.SUSPENDED:
        return
    if run.state != RunState.PAUSED or run.desired_state != DesiredState.PAUSED:
        raise conflict(f"{_situation(run)}: only a paused run can release its slot.", code="wrong_state")
    if run.release_asked_at is None:
        ask_for_place(run, actor.label, timezone.now())
        record_audit(team, actor, "run.release", "run", run.id)


def pause_for_quota(run: Run, why: str, now: datetime) -> None:
    """Pause a locked, active run because its quota is used up. It gives its slot back as soon as it has paused.

    The user is notified once.
    """
    if run.desired_state == DesiredState.RUNNING:
        _desire(run, QUOTA, DesiredState.PAUSED, "run.pause")
        append_event(run, "alert", {"level": "warn", "title": "GPU hours are used up", "message": why}, step=run.step)
    if run.state == RunState.PAUSED and run.desired_state == DesiredState.PAUSED and run.release_asked_at is None:
        ask_for_place(run, "The platform", now)


def ask_for_place(run: Run, who: str, now: datetime) -> None:
    """Have the worker of a locked, paused run save and end. The worker is told with every sync until it has done so."""
    run.release_asked_at = now
    run.save(update_fields=["release_asked_at", "updated_at"])
    message = f"{who} requested a checkpoint and the release of the run's slot."
    append_event(run, "log", {"level": "info", "message": message}, step=run.step)


@transaction.atomic
def measure_noise(team: Team, actor: Actor, run_id: str) -> None:
    """Have the run's next attempt measure the noise between engine and learner again. Repeating it changes nothing.

    The weights that are read back must equal the published ones before it is measured.

    Raises:
        Problem: 409 for a run without engines, for one that is neither paused, suspended nor failed, and for one
            without a checkpoint, which measures it anyway. Nothing is changed.
    """
    run = locked(run_id, team)
    if objective.kind_of(run.effective_spec) != "rl":
        raise conflict("The run learns from rows: it has no engine whose numerics could differ.", code="no_samples")
    if run.state not in (RunState.PAUSED, RunState.SUSPENDED, RunState.FAILED):
        message = (
            f"{_situation(run)}: the numerics noise can be recalibrated only while a run is paused. Pause it first."
        )
        raise conflict(message, code="wrong_state")
    if not run.has_begun:
        raise conflict(
            "The run has no checkpoint yet: it calibrates the numerics noise whenever it starts.", code="wrong_state"
        )
    if run.noise_asked_at == run.attempt:
        return
    before, run.noise_asked_at = run.noise_asked_at, run.attempt
    run.save(update_fields=["noise_asked_at", "updated_at"])
    message = f"{actor.label} requested a recalibration of the numerics noise when the run continues with new engines."
    append_event(run, "log", {"level": "info", "message": message}, step=run.step)
    facts = {"noise_asked_at": before}, {"noise_asked_at": run.noise_asked_at}
    record_audit(team, actor, "run.measure_noise", "run", run.id, *facts)


@transaction.atomic
def cancel_run(team: Team, actor: Actor, run_id: str) -> None:
    """Cancel a run: immediately while it waits, otherwise once its worker has stopped."""
    run = locked(run_id, team)
    if run.state == RunState.CANCELLED:
        return
    if run.state in FINISHED:
        raise conflict(f"The run is already {run.state}.", code="wrong_state")
    if run.state in ACTIVE:
        _desire(run, actor, DesiredState.CANCELLED, "run.cancel")
        return
    transition(run, RunState.CANCELLED, by=By.PERSON, actor=actor, reason="cancelled")
    record_audit(team, actor, "run.cancel", "run", run.id)


@transaction.atomic
def request_checkpoint(team: Team, actor: Actor, run_id: str) -> CheckpointRequest:
    """Ask the worker for a checkpoint after its step. An open request serves all users."""
    run = locked(run_id, team)
    if run.state not in ACTIVE:
        raise conflict(f"{_situation(run)}: there is nothing to save.", code="wrong_state")
    waiting = run.checkpoint_requests.filter(closed_at=None).first()
    if waiting is not None:
        return waiting
    wish = CheckpointRequest.objects.create(run=run, actor=actor.label)
    message = f"{actor.label} requested a checkpoint."
    append_event(run, "log", {"level": "info", "message": message}, step=run.step)
    record_audit(team, actor, "run.checkpoint", "run", run.id)
    return wish


def require_cluster(name: str | None) -> None:
    """Require that the installation has a cluster of that name; None means any. Raises a 422 problem."""
    names = cluster_names()
    if name is not None and name not in names:
        raise invalid("/cluster", f"There is no cluster {name!r}; choose from {', '.join(names)}.")


def _require_movable(run: Run, cluster: str) -> None:
    if run.state in ACTIVE or run.state in (RunState.SUCCEEDED, RunState.CANCELLED):
        raise conflict(
            f"{_situation(run)}: its cluster can be changed only while it holds no slot.", code="wrong_state"
        )
    if run.state == RunState.QUEUED:
        _require_room(cluster, run.spec)


def _require_room(cluster: str, spec: Mapping[str, Any]) -> None:
    """Refuse a spec that no eligible cluster can ever hold. Raises a 422 problem."""
    among = [size for size in clusters.sizes({}) if cluster in ("", size.name)]
    sentence = too_large(reservation_of(spec), among)
    if sentence is not None:
        raise invalid("/spec/parallelism", sentence, code="too_large")


def _queue(run: Run, actor: Actor, reason: str, action: str) -> None:
    spec = RunSpec.model_validate(run.spec)
    references.hold(run.team, spec)
    references.require_files(run.team, spec, new=not run.has_begun, begun=run.attempt > 0)
    origin = run.parent_checkpoint
    if origin is not None and not run.has_begun:
        origin_policy.require_same(run.team, spec, origin.base, origin.step)
    require_cluster(run.cluster or None)
    _require_room(run.cluster, run.spec)
    if run.origin_manifest_sha256 and not (run.origin_path / "manifest.json").is_file():
        raise conflict("The checkpoint that this run starts from is no longer on the disk.", code="checkpoint_gone")
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
