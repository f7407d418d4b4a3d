"""The lifecycle of runs and controls as explicit tables: any transition that is not listed is refused.

draft ─► queued ─► starting ─► running ⇄ paused ─► succeeded | failed | cancelled
           ▲          ▲───────────┴────────┤  lost lease: a new attempt
           ├── suspended ◄─────────────────┘  gave its slot back; a person resumes it from its checkpoint
           └── failed (a person resumes it from its last checkpoint)
"""

from enum import StrEnum

from django.db import models


class RunState(models.TextChoices):
    """State of a run."""

    DRAFT = "draft", "Draft"
    QUEUED = "queued", "Queued"
    STARTING = "starting", "Starting"
    RUNNING = "running", "Running"
    PAUSED = "paused", "Paused"
    SUSPENDED = "suspended", "Suspended: paused, its place given back, its checkpoint safe"
    SUCCEEDED = "succeeded", "Succeeded"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class DesiredState(models.TextChoices):
    """State that users want for a run."""

    RUNNING = "running", "Running"
    PAUSED = "paused", "Paused"
    CANCELLED = "cancelled", "Cancelled"


class By(StrEnum):
    """Actor that may cause a transition."""

    PERSON = "person"
    WORKER = "worker"
    PLATFORM = "platform"


ACTIVE = frozenset({RunState.STARTING, RunState.RUNNING, RunState.PAUSED})
"""States in which an attempt holds (or is about to take) a slot on the cluster."""
FINISHED = frozenset({RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED})

_PERSON, _WORKER, _PLATFORM = frozenset({By.PERSON}), frozenset({By.WORKER}), frozenset({By.PLATFORM})
_ANY_END = _WORKER | _PLATFORM

TRANSITIONS: dict[RunState, dict[RunState, frozenset[By]]] = {
    RunState.DRAFT: {RunState.QUEUED: _PERSON, RunState.CANCELLED: _PERSON},
    RunState.QUEUED: {
        RunState.STARTING: _PLATFORM,
        RunState.FAILED: _PLATFORM,
        RunState.CANCELLED: _PERSON,
    },
    RunState.STARTING: {
        RunState.RUNNING: _WORKER,
        RunState.PAUSED: _WORKER,
        RunState.SUCCEEDED: _WORKER,
        RunState.FAILED: _ANY_END,
        RunState.CANCELLED: _ANY_END,
    },
    RunState.RUNNING: {
        RunState.STARTING: _PLATFORM,
        RunState.PAUSED: _WORKER,
        RunState.SUCCEEDED: _WORKER,
        RunState.FAILED: _ANY_END,
        RunState.CANCELLED: _ANY_END,
    },
    RunState.PAUSED: {
        RunState.STARTING: _PLATFORM,
        RunState.RUNNING: _WORKER,
        RunState.SUSPENDED: _ANY_END,
        RunState.FAILED: _ANY_END,
        RunState.CANCELLED: _ANY_END,
    },
    RunState.SUSPENDED: {
        RunState.QUEUED: _PERSON | _PLATFORM,
        RunState.CANCELLED: _PERSON | _PLATFORM,
    },
    RunState.SUCCEEDED: {},
    RunState.FAILED: {RunState.QUEUED: _PERSON},
    RunState.CANCELLED: {},
}
"""Transitions: from → to → who may cause it."""


class ControlState(models.TextChoices):
    """State of a control."""

    STAGED = "staged", "Staged: waits for its boundary"
    APPLIED = "applied", "Applied: in effect from a step on"
    SETTLED = "settled", "Settled: the first step wholly under it has been learned"
    REJECTED = "rejected", "Rejected by the worker"
    CANCELLED = "cancelled", "Cancelled before it took effect"


CONTROL_TRANSITIONS: dict[ControlState, dict[ControlState, frozenset[By]]] = {
    ControlState.STAGED: {
        ControlState.APPLIED: _WORKER,
        ControlState.SETTLED: _WORKER,
        ControlState.REJECTED: _WORKER,
        ControlState.CANCELLED: _PERSON | _PLATFORM,
    },
    # Back to staged: a new attempt starts before the step at which the control took effect.
    ControlState.APPLIED: {ControlState.SETTLED: _WORKER, ControlState.STAGED: _PLATFORM},
    # Back to applied: a new attempt starts in the middle of its ramp.
    ControlState.SETTLED: {ControlState.STAGED: _PLATFORM, ControlState.APPLIED: _PLATFORM},
    # The platform rejects the rest of a set along with one of its controls. A worker from before there were sets may
    # still apply the rest. Then it is in effect, and the platform reports that.
    ControlState.REJECTED: {ControlState.APPLIED: _WORKER, ControlState.SETTLED: _WORKER},
    # The worker may have applied it just before the cancellation arrived. Then it is in effect, and that is reported.
    ControlState.CANCELLED: {ControlState.APPLIED: _WORKER, ControlState.SETTLED: _WORKER},
}
"""Transitions: from → to → who may cause it."""


def may_move(run_from: str, run_to: str, by: By) -> bool:
    """Whether ``by`` may move a run from one state to the other."""
    return by in TRANSITIONS[RunState(run_from)].get(RunState(run_to), frozenset())


def control_may_move(control_from: str, control_to: str, by: By) -> bool:
    """Whether ``by`` may move a control from one state to the other."""
    return by in CONTROL_TRANSITIONS[ControlState(control_from)].get(ControlState(control_to), frozenset())
