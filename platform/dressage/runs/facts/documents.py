"""The JSON documents of runs, controls and checkpoints: the same in responses, events and the live stream."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, cast

from django.conf import settings
from pydantic import Field
from typing_extensions import TypedDict

from dressage.clusters.selectors import known_as
from dressage.common.openapi.document_schema import Moment, OneOf, Stored
from dressage.common.times import iso
from dressage.runs.facts.costs import CostDocument, costs_of
from dressage.runs.facts.findings import findings_of
from dressage.runs.facts.health import HealthDocument, health_document
from dressage.runs.facts.step_times import p95_by_phase, range_left
from dressage.runs.facts.waiting import QueueFacts, WaitingDocument, waiting_document
from dressage.runs.models import Checkpoint, Control, Run
from dressage.runs.states import ACTIVE, ControlState, DesiredState, RunState
from trainer_core.link.events import CheckpointReason, PhaseData
from trainer_core.spec import RunSpec
from trainer_core.spec.base import Boundary
from trainer_core.steering.course import TITLES
from trainer_core.steering.prompt_ledger import LedgerCounts

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations


class ProgressDocument(PhaseData):
    """Current activity of a run."""

    step: int | None
    at: Moment
    """Time of the worker's latest report of it."""
    since: Moment | None
    """Time of its first report; null if an earlier release of the platform received it."""


class ParentDocument(TypedDict):
    """Origin of a run."""

    run: str
    name: str
    checkpoint: str | None
    step: int | None
    continues: bool
    """True for a rewind, which continues at ``step`` + 1."""


class SummaryDocument(TypedDict):
    """Key figures of a run."""

    reward: float | None
    """Mean reward of the last step."""
    eval: float | None
    """Mean score of the last evaluation."""
    loss: float | None
    """Loss of the last step; null for a run that learns from rewards."""
    eval_loss: float | None
    """Mean held-out loss of the last evaluation, in nats per token; null without one."""
    concerns: NotRequired[list[str]]
    """What is wrong with the run as a whole, such as that no step has updated the policy, with what to do; at its end,
    for a finished run. Absent if nothing is."""
    tokens_total: int
    seconds_per_step: float | None
    eta_seconds: float | None
    eta_low_seconds: float | None
    """Lower end of the 80 % interval of the remaining time, if steps continue like the recent ones; null before five
    steps."""
    eta_high_seconds: float | None
    """Upper end of that interval."""
    p95_seconds: dict[str, float]
    """95th percentile of the duration of each phase over the recent steps; empty before five steps."""


class LedgerDocument(LedgerCounts):
    """Fates of all prompts that the run's curriculum has handed out. ``handed_out`` is the sum of the figures behind
    it."""

    step: int
    """The step after which it was counted."""


class LastCheckpointDocument(TypedDict):
    """The newest checkpoint that counts."""

    id: str
    step: int
    created_at: Moment
    reason: str


class PauseDocument(TypedDict):
    """Duration of a pause, and what happens to the run's slot."""

    since: Moment
    """Time at which it paused or, once it has given its slot back, time at which it did so."""
    has_place: bool
    """False once its slot was given back: resuming queues it, and it continues from its checkpoint."""
    gives_place_back_at: Moment | None
    """Time limit for the slot, in the past while the worker saves the run. Null once the slot is given back."""


class LiveRunDocument(TypedDict):
    """A run without its specs, as the live stream and lists send it."""

    id: str
    name: str
    notes: str
    state: Annotated[str, OneOf(RunState)]
    desired_state: Annotated[str, OneOf(DesiredState)]
    state_reason: str
    health: HealthDocument
    queue_position: int | None
    """Its position in the team's queue, from 1; null if it is not waiting."""
    waiting: WaitingDocument | None
    """Reason a queued run waits; null in any other state."""
    cluster: str | None
    """The cluster that people chose for it; null: the platform chooses at each start."""
    placed_on: str | None
    """The cluster on which its newest attempt was given a slot; null before its first start."""
    pause: PauseDocument | None
    """Facts about the pause of a paused or suspended run; null in any other state."""
    step: int
    total_steps: int
    revision: int
    """Number of the newest control, to send as ``If-Match`` with the next one."""
    attempt: int
    progress: ProgressDocument | None
    policy: str
    objective: Literal["rl", "sft", "preference"]
    """What the policy learns from: rewards of its samples, completions of rows, or pairs of them."""
    created_at: Moment
    started_at: Moment | None
    finished_at: Moment | None
    created_by: str
    parent: ParentDocument | None
    summary: SummaryDocument
    ledger: LedgerDocument | None
    """Fates of the prompts that it has drawn; null before its first step, and for workers of earlier releases."""
    last_checkpoint: LastCheckpointDocument | None
    lease_age_s: float | None
    """Seconds since the worker's last message."""


class RunDocument(LiveRunDocument):
    """A run."""

    cost: CostDocument
    spec: Annotated[dict[str, Any], Stored(RunSpec)]
    effective_spec: Annotated[dict[str, Any], Stored(RunSpec)]
    """The spec with all applied controls."""


class CreatedRunDocument(RunDocument):
    """A run that was just created."""

    remarks: list[str]
    """What its spec asks for and does not get, such as more prompts a step than its sources have rows."""


class ControlDocument(TypedDict):
    """A change of one field while the run trains."""

    id: str
    revision: int
    change_set: str | None
    """The same for changes that were staged together; null for one that was staged alone."""
    target: str
    boundary: Boundary
    before: Any
    """Any JSON value of the target's type."""
    value: Any
    """Any JSON value of the target's type."""
    state: Annotated[str, OneOf(ControlState)]
    apply_at: Literal["next"] | Annotated[int, Field(ge=1)]
    ramp_steps: int | None
    """Steps over which the value moves from `before` to `value`; null: it takes effect in one step."""
    reason: str
    actor: str
    created_at: Moment
    reverts: str | None
    checkpoint: str | None
    applied_step: int | None
    applied_group: str | None
    settled_step: int | None
    error: str | None


class CheckpointDocument(TypedDict):
    """A saved policy."""

    id: str
    run: str
    attempt: int
    step: int
    bytes: int
    manifest_sha256: str
    reason: CheckpointReason
    policy_version: int
    created_at: Moment
    available: bool
    """False once the worker has deleted the files of an old checkpoint."""
    damaged: bool
    """Whether a file was found to be missing, changed or not listed. No run continues or starts from it."""
    damage: str | None
    """What is wrong, with the name of the file; null if nothing is known to be."""


class RunFacts(TypedDict):
    """Facts that ``selectors.annotated`` adds to a run."""

    queue_facts: QueueFacts | None
    placed_on: str | None
    lease_age: timedelta | None
    last_checkpoint: LastCheckpointDocument | None
    parent_name: str | None
    policy_name: str
    objective_name: str


def control_document(control: Control) -> ControlDocument:
    """A control as the API shows it."""
    return {
        "id": control.id,
        "revision": control.revision,
        "change_set": control.change_set,
        "target": control.target,
        "boundary": cast(Boundary, control.boundary),
        "before": control.before,
        "value": control.value,
        "state": control.state,
        "apply_at": "next" if control.apply_at is None else control.apply_at,
        "ramp_steps": control.ramp_steps,
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


def checkpoint_document(checkpoint: Checkpoint) -> CheckpointDocument:
    """A checkpoint as the API shows it."""
    return {
        "id": checkpoint.id,
        "run": checkpoint.run_id,
        "attempt": checkpoint.attempt,
        "step": checkpoint.step,
        "bytes": checkpoint.bytes,
        "manifest_sha256": checkpoint.manifest_sha256,
        "reason": cast(CheckpointReason, checkpoint.reason),
        "policy_version": checkpoint.policy_version,
        "created_at": iso(checkpoint.created_at),
        "available": checkpoint.available,
        "damaged": checkpoint.damage != "",
        "damage": checkpoint.damage or None,
    }


def run_documents(runs: "Sequence[WithAnnotations[Run, RunFacts]]") -> list[RunDocument]:
    """Runs as the API shows them. They must come from ``selectors.runs``, which adds facts computed in the database."""
    return [
        cast(
            RunDocument,
            {**live_run_document(run), "cost": cost, "spec": run.spec, "effective_spec": run.effective_spec},
        )
        for run, cost in zip(runs, costs_of(runs), strict=True)
    ]


def live_run_document(run: "WithAnnotations[Run, RunFacts]") -> LiveRunDocument:
    """A run without its specs. Lists omit the specs, and the live stream does not repeat them."""
    waiting = None if run.queue_facts is None else waiting_document(run.queue_facts)
    return {
        "id": run.id,
        "name": run.name,
        "notes": run.notes,
        "state": run.state,
        "desired_state": run.desired_state,
        "state_reason": run.state_reason if waiting is None else waiting["text"],
        "health": health_document(run),
        "queue_position": None if waiting is None else waiting["position"],
        "waiting": waiting,
        "cluster": run.cluster or None,
        "placed_on": None if run.placed_on is None else known_as(run.placed_on),
        "pause": _pause(run),
        "step": run.step,
        "total_steps": run.total_steps,
        "revision": run.revision,
        "attempt": run.attempt,
        "progress": None if run.progress is None else cast(ProgressDocument, {"since": None, **run.progress}),
        "policy": run.policy_name,
        "objective": cast(Literal["rl", "sft", "preference"], run.objective_name),
        "created_at": iso(run.created_at),
        "started_at": iso(run.started_at),
        "finished_at": iso(run.finished_at),
        "created_by": run.created_by,
        "parent": _parent(run),
        "summary": _summary(run),
        "ledger": run.summary.get("ledger"),
        "last_checkpoint": run.last_checkpoint,
        "lease_age_s": round(run.lease_age.total_seconds(), 3) if run.lease_age is not None else None,
    }


def _pause(run: Run) -> PauseDocument | None:
    if run.suspended_at is not None:
        return {"since": iso(run.suspended_at), "has_place": False, "gives_place_back_at": None}
    if run.paused_at is None:
        return None
    until = run.release_asked_at or run.paused_at + timedelta(seconds=settings.PAUSE_KEEPS_PLACE_S)
    return {"since": iso(run.paused_at), "has_place": True, "gives_place_back_at": iso(until)}


def _parent(run: "WithAnnotations[Run, RunFacts]") -> ParentDocument | None:
    if run.parent_id is None or run.parent_name is None:
        return None
    return {
        "run": run.parent_id,
        "name": run.parent_name,
        "checkpoint": run.parent_checkpoint_id,
        "step": run.origin_step,
        "continues": run.continues,
    }


def _summary(run: Run) -> SummaryDocument:
    pace, times = run.summary.get("seconds_per_step"), run.summary.get("times", {})
    left = run.total_steps - run.step
    expected = range_left(times, left) if run.state in ACTIVE else None
    concerns = [one["message"] for one in findings_of(run) if one["guard"] in TITLES]
    summary: SummaryDocument = {
        "reward": run.summary.get("reward"),
        "eval": run.summary.get("eval"),
        "loss": run.summary.get("loss"),
        "eval_loss": run.summary.get("eval_loss"),
        "tokens_total": run.tokens_total,
        "seconds_per_step": pace,
        "eta_seconds": pace * left if pace is not None and run.state in ACTIVE else None,
        "eta_low_seconds": None if expected is None else expected[0],
        "eta_high_seconds": None if expected is None else expected[1],
        "p95_seconds": p95_by_phase(times),
    }
    if concerns:
        summary["concerns"] = concerns
    return summary
