"""The JSON documents of runs, controls and checkpoints: the same in answers, in events and on the live stream."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypedDict

from dressage.common.times import iso
from dressage.runs.models import Checkpoint, Control, Run

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations


class RunFacts(TypedDict):
    """Facts that ``selectors.annotated`` adds to a run."""

    queue_ahead: int
    active_runs: int
    slots: int
    lease_age: timedelta | None
    last_checkpoint: dict[str, Any] | None
    parent_name: str | None
    policy_name: str


def control_document(control: Control) -> dict[str, Any]:
    """A control as the API shows it."""
    return {
        "id": control.id,
        "revision": control.revision,
        "change_set": control.change_set,
        "target": control.target,
        "boundary": control.boundary,
        "before": control.before,
        "value": control.value,
        "state": control.state,
        "apply_at": "next" if control.apply_at is None else control.apply_at,
        "reason": control.reason,
        "actor": control.actor.label,
        "created_at": iso(control.created_at),
        "reverts": control.reverts_id,
        "checkpoint": control.checkpoint_id,
        "applied_step": control.applied_step,
        "applied_group": control.applied_group,
        "settled_step": control.settled_step,
        "error": control.error,
    }


def checkpoint_document(checkpoint: Checkpoint) -> dict[str, Any]:
    """A checkpoint as the API shows it."""
    return {
        "id": checkpoint.id,
        "run": checkpoint.run_id,
        "attempt": checkpoint.attempt,
        "step": checkpoint.step,
        "bytes": checkpoint.bytes,
        "manifest_sha256": checkpoint.manifest_sha256,
        "reason": checkpoint.reason,
        "policy_version": checkpoint.policy_version,
        "created_at": iso(checkpoint.created_at),
        "available": checkpoint.available,
    }


def run_document(run: "WithAnnotations[Run, RunFacts]", *, with_spec: bool = True) -> dict[str, Any]:
    """A run as the API shows it. ``run`` comes from ``selectors.runs``, which adds what is computed in the database.

    Args:
        run: annotated with ``queue_ahead``, ``lease_age``, ``active_runs`` and the latest checkpoint.
        with_spec: False leaves out the two specs, which the live stream does not repeat.
    """
    document = {
        "id": run.id,
        "name": run.name,
        "notes": run.notes,
        "state": run.state,
        "desired_state": run.desired_state,
        "state_reason": _reason(run),
        "queue_position": run.queue_ahead + 1 if run.state == "queued" else None,
        "step": run.step,
        "total_steps": run.total_steps,
        "revision": run.revision,
        "attempt": run.attempt,
        "progress": run.progress,
        "policy": run.policy_name,
        "created_at": iso(run.created_at),
        "started_at": iso(run.started_at),
        "finished_at": iso(run.finished_at),
        "created_by": run.created_by,
        "parent": _parent(run),
        "summary": _summary(run),
        "last_checkpoint": run.last_checkpoint,
        "lease_age_s": round(run.lease_age.total_seconds(), 3) if run.lease_age is not None else None,
    }
    return {**document, "spec": run.spec, "effective_spec": run.effective_spec} if with_spec else document


def _reason(run: "WithAnnotations[Run, RunFacts]") -> str:
    if run.state != "queued":
        return run.state_reason
    if run.queue_ahead:
        return f"{run.queue_ahead} {'run is' if run.queue_ahead == 1 else 'runs are'} ahead in the queue."
    return f"Next in the queue; {run.active_runs} of {run.slots} places are taken."


def _parent(run: "WithAnnotations[Run, RunFacts]") -> dict[str, Any] | None:
    if run.parent_id is None:
        return None
    return {
        "run": run.parent_id,
        "name": run.parent_name,
        "checkpoint": run.parent_checkpoint_id,
        "step": run.origin_step,
        "continues": run.continues,
    }


def _summary(run: Run) -> dict[str, Any]:
    pace = run.summary.get("seconds_per_step")
    left = run.total_steps - run.step
    return {
        "reward": run.summary.get("reward"),
        "eval": run.summary.get("eval"),
        "tokens_total": run.tokens_total,
        "seconds_per_step": pace,
        "eta_seconds": pace * left if pace is not None and run.state in ("starting", "running", "paused") else None,
    }
