"""Controls: staged by people, applied by the worker at their boundary. The run's row is locked for each change."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction

from dressage.common.actors import Actor
from dressage.common.problems import Problem, conflict, invalid, not_found
from dressage.runs import references
from dressage.runs.documents import control_document
from dressage.runs.lifecycle import locked
from dressage.runs.models import Control, Run
from dressage.runs.states import ACTIVE, By, ControlState, RunState, control_may_move
from dressage.teams.models import Team
from dressage.teams.services import record_audit
from dressage.telemetry.events import append_event
from trainer_core.spec import ControlError, RunSpec, apply_control, targets

STEERABLE = ACTIVE | {RunState.QUEUED}
IN_EFFECT = (ControlState.APPLIED, ControlState.SETTLED)


def record_control_event(run: Run, control: Control, step: int | None = None) -> None:
    """A control has changed: an event with its whole document."""
    append_event(run, "control", {"control": control_document(control)}, step=step)


def staged_spec(run: Run) -> RunSpec:
    """The spec as it will be once every staged control is in effect."""
    spec = RunSpec.model_validate(run.effective_spec)
    for control in run.controls.filter(state=ControlState.STAGED).order_by("revision"):
        try:
            spec = apply_control(spec, control.target, control.value)
        except ControlError:
            continue  # its turn may never come: the worker will reject it, and tell why
    return spec


@transaction.atomic
def stage_control(
    team: Team,
    actor: Actor,
    run_id: str,
    *,
    revision: int,
    target: str,
    value: Any,
    apply_at: int | None = None,
    reason: str = "",
    reverts: Control | None = None,
) -> Control:
    """Stage a change of one field.

    Args:
        team: the caller's.
        actor: who changes it.
        run_id: the run.
        revision: what the caller has seen last (``If-Match``).
        target: dotted path, such as ``thinking.budget``.
        value: its new value.
        apply_at: step; None means at the next occasion.
        reason: the actor's own words.
        reverts: the control whose old value this brings back.

    Raises:
        Problem: 412 when someone else was quicker, with their changes; 409 when the run cannot be steered in its
            state; 422 for a target or value that makes no valid spec, a step that is past, or a reward that the team
            lacks or cannot run.
    """
    run = locked(run_id, team)
    _require_steerable(run)
    _require_revision(run, revision)
    if apply_at is not None and not run.step < apply_at <= run.total_steps:
        raise invalid("/apply_at", f"apply_at must be a step from {run.step + 1} to {run.total_steps}.")
    spec = staged_spec(run)
    known = {candidate.path: candidate for candidate in targets(spec)}
    try:
        changed = apply_control(spec, target, value)
    except ControlError as error:
        raise invalid("/value" if target in known else "/target", str(error), code="control_refused") from error
    _require_rewards(team, target, changed)
    stored = next(candidate.value for candidate in targets(changed) if candidate.path == target)
    if stored == known[target].value:
        raise invalid("/value", f"{target} is {stored!r} already.", code="no_change")
    run.revision += 1
    run.save(update_fields=["revision", "updated_at"])
    control = Control.objects.create(
        run=run,
        revision=run.revision,
        target=target,
        boundary=known[target].boundary,
        before=known[target].value,
        value=stored,
        apply_at=apply_at,
        reason=reason,
        actor_kind=actor.kind,
        actor_id=actor.id,
        actor_name=actor.name,
        reverts=reverts,
    )
    record_control_event(run, control, run.step)
    record_audit(
        team,
        actor,
        "control.revert" if reverts else "control.stage",
        "control",
        control.id,
        before={"run": run.id, "target": target, "value": control.before},
        after={"run": run.id, "target": target, "value": control.value, "revision": control.revision},
        reason=reason,
    )
    return control


@transaction.atomic
def cancel_control(team: Team, actor: Actor, run_id: str, control_id: str) -> Control:
    """Take back a staged control. Raises a 409 problem when it is no longer staged."""
    run = locked(run_id, team)
    control = _control(run, control_id)
    if control.state == ControlState.CANCELLED:
        return control
    if not control_may_move(control.state, ControlState.CANCELLED, By.PERSON):
        raise conflict(f"The control is {control.state}; revert it instead.", code="wrong_state")
    control.state = ControlState.CANCELLED
    control.save(update_fields=["state"])
    record_control_event(run, control, run.step)
    facts = {"run": run.id, "target": control.target, "value": control.value, "revision": control.revision}
    record_audit(team, actor, "control.cancel", "control", control.id, before=facts)
    return control


@transaction.atomic
def revert_control(
    team: Team, actor: Actor, run_id: str, control_id: str, *, revision: int | None = None, reason: str = ""
) -> Control:
    """Bring back the value from before a control, as a new control. What the weights have learned, they keep.

    Raises:
        Problem: as ``stage_control``; 409 when the control never took effect.
    """
    run = locked(run_id, team)
    control = _control(run, control_id)
    if control.state not in IN_EFFECT:
        raise conflict(f"The control is {control.state}: there is nothing to revert.", code="wrong_state")
    return stage_control(
        team,
        actor,
        run_id,
        revision=run.revision if revision is None else revision,
        target=control.target,
        value=control.before,
        reason=reason or f"reverts revision {control.revision}",
        reverts=control,
    )


def restage(run: Run, resume_step: int) -> None:
    """A new attempt goes on from ``resume_step``: later controls take effect again, at the step at which they did."""
    undone = run.controls.filter(state__in=IN_EFFECT, applied_step__gt=resume_step).order_by("revision")
    for control in undone:
        control.state, control.apply_at = ControlState.STAGED, control.applied_step
        control.applied_step = control.applied_group = control.applied_policy_version = control.settled_step = None
        control.save()
        record_control_event(run, control, resume_step)
    kept = run.controls.filter(state__in=IN_EFFECT).order_by("applied_step", "revision")
    run.effective_spec = spec_with(run.spec, kept).model_dump(mode="json")
    run.save(update_fields=["effective_spec", "updated_at"])


def spec_with(document: dict[str, Any], controls: Iterable[Control]) -> RunSpec:
    """A spec with controls that were valid in this order."""
    spec = RunSpec.model_validate(document)
    for control in controls:
        spec = apply_control(spec, control.target, control.value)
    return spec


def _control(run: Run, control_id: str) -> Control:
    control = Control.objects.filter(run=run, pk=control_id).first()
    if control is None:
        raise not_found("control")
    return control


def _require_steerable(run: Run) -> None:
    if run.state == RunState.DRAFT:
        raise conflict("The run has not been started: fork it with another spec instead.", code="wrong_state")
    if run.state not in STEERABLE:
        raise conflict(f"The run is {run.state}: fork it to go on with another value.", code="wrong_state")


def _require_rewards(team: Team, target: str, changed: RunSpec) -> None:
    """What a changed reward names must be there now: the worker could only stop over it later."""
    if not target.startswith("reward."):
        return
    found = references.resolve(team, changed).errors
    errors = [error for error in found if error["pointer"].startswith(("/spec/reward/", "/spec/advantage/"))]
    if errors:
        raise invalid("/value", errors[0]["detail"], code="unknown_reference")


def _require_revision(run: Run, seen: int) -> None:
    if seen == run.revision:
        return
    others = [control_document(control) for control in run.controls.filter(revision__gt=seen).order_by("revision")]
    who = f"; {others[-1]['actor']} changed {others[-1]['target']} to {others[-1]['value']!r}" if others else ""
    raise Problem(
        412,
        "Precondition failed",
        f"The run is at revision {run.revision}, not {seen}{who}.",
        code="stale_revision",
        extra={"revision": run.revision, "changes": others},
    )
