"""Moves runs between states. Nothing else writes ``Run.state``."""

from typing import Any

from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem, conflict, not_found
from dressage.runs.facts.control_events import record_control_event
from dressage.runs.models import CheckpointRequest, Control, Run
from dressage.runs.states import FINISHED, By, ControlState, DesiredState, RunState, may_move
from dressage.teams.models import Team
from dressage.telemetry.events import append_event
from trainer_core.link.events import ASKED_TO_PAUSE

MAX_REASON = 2000


class TransitionRefused(Problem):
    """409: the lifecycle does not allow this step from the current state."""

    def __init__(self, run: Run, to: RunState, by: By) -> None:
        detail = f"The run is {run.state}; the {by.value} cannot make it {to.value}."
        super().__init__(409, "Conflict", detail, code="wrong_state", extra={"state": run.state})


def locked(run_id: str, team: Team | None = None) -> Run:
    """The run, with its row locked until the transaction ends. Raises a 404 problem."""
    runs = Run.objects.select_for_update(of=("self",)).filter(pk=run_id)
    run = (runs if team is None else runs.for_team(team)).first()
    if run is None:
        raise not_found("run")
    return run


def transition(
    run: Run,
    to: RunState,
    *,
    by: By,
    actor: Actor,
    reason: str = "",
    detail: str | None = None,
    step: int | None = None,
) -> None:
    """Move a locked run to another state, write the event, and clean up after an end.

    Raises:
        TransitionRefused: the table has no such step; nothing was changed.
    """
    before = run.state
    if not may_move(before, to, by):
        raise TransitionRefused(run, to, by)
    now = timezone.now()
    shown = _with_reason_of_pause(run, reason) if to == RunState.SUSPENDED else reason
    changes: dict[str, Any] = {"state": to, "state_reason": shown[:MAX_REASON], "updated_at": now}
    changes |= {
        "paused_at": now if to == RunState.PAUSED else None,
        "release_asked_at": None,
        "suspended_at": now if to == RunState.SUSPENDED else None,
    }
    if to == RunState.QUEUED:
        changes |= {"queued_at": now, "finished_at": None, "desired_state": DesiredState.RUNNING, "desired_since": now}
    elif to == RunState.STARTING and run.started_at is None:
        changes["started_at"] = now
    elif to == RunState.SUSPENDED:
        changes["progress"] = None
    elif to in FINISHED:
        changes |= {"finished_at": now, "progress": None}
    # Compare-and-set, although the row is locked: this also refuses a caller that forgot the lock.
    if not Run.objects.filter(pk=run.pk, state=before).update(**changes):
        raise conflict("The run has changed in the meantime. Try again.", code="wrong_state")
    for name, value in changes.items():
        setattr(run, name, value)
    data = {"from": before, "to": to, "actor": actor.label, "reason": reason[:MAX_REASON]}
    append_event(run, "state", data if detail is None else {**data, "detail": detail}, step=step)
    if to in FINISHED:
        _close(run, now)
    elif to == RunState.SUSPENDED:
        _end_attempt(run, now)


def follow_wish(run: Run) -> None:
    """Move a suspended run to the state that users requested while it was being suspended."""
    actor = Actor.system("platform")
    if run.desired_state == DesiredState.CANCELLED:
        transition(run, RunState.CANCELLED, by=By.PLATFORM, actor=actor, reason="cancelled")
    elif run.desired_state == DesiredState.RUNNING:
        transition(
            run, RunState.QUEUED, by=By.PLATFORM, actor=actor, reason="resumed while its slot was being released"
        )


def _with_reason_of_pause(run: Run, reason: str) -> str:
    """The reason of a suspension, appended to that of the run's own pause, which people need before they resume it."""
    own = run.state_reason.rstrip()
    if own in ("", ASKED_TO_PAUSE):
        return reason
    own = own[: MAX_REASON - len(reason) - 2]
    return f"{own} {reason}" if own.endswith((".", "!", "?")) else f"{own}. {reason}"


def _close(run: Run, now: Any) -> None:
    """Close everything that can no longer happen: open controls and requests."""
    CheckpointRequest.objects.filter(run=run, closed_at=None).update(closed_at=now)
    _end_attempt(run, now)
    for control in Control.objects.filter(run=run, state=ControlState.STAGED).order_by("revision"):
        control.state = ControlState.CANCELLED
        control.error = "The run ended before it took effect."
        control.save(update_fields=["state", "error"])
        record_control_event(run, control)


def _end_attempt(run: Run, now: Any) -> None:
    run.attempts.filter(number=run.attempt, ended_at=None).update(ended_at=now, end_reason=run.state)
