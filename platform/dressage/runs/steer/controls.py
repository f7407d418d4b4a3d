"""Changes to staged controls: cancel, revert, stage again. The run's row is locked for each change."""

from django.db import transaction
from django.db.models import Q

from dressage.common.actors import Actor
from dressage.common.api.problems import conflict, not_found
from dressage.runs.facts.control_events import record_control_event
from dressage.runs.life.lifecycle import locked
from dressage.runs.models import Control, Run
from dressage.runs.states import By, ControlState, control_may_move
from dressage.runs.steer.change_sets import IN_EFFECT, members, spec_with
from dressage.runs.steer.staging import control_facts, stage_control
from dressage.teams.models import Team
from dressage.teams.services import record_audit


@transaction.atomic
def cancel_control(team: Team, actor: Actor, run_id: str, control_id: str) -> Control:
    """Cancel a staged control, along with its whole set.

    Raises:
        Problem: 409 if it is no longer staged, or another control of its set is already in effect.
    """
    run = locked(run_id, team)
    control = _control(run, control_id)
    if control.state == ControlState.CANCELLED:
        return control
    if not control_may_move(control.state, ControlState.CANCELLED, By.PERSON):
        raise conflict(f"The control is {control.state}; revert it instead.", code="wrong_state")
    if members(control).filter(state__in=IN_EFFECT).exists():
        raise conflict("Its change set is already in effect; revert it instead.", code="wrong_state")
    cancelled = list(members(control).filter(state=ControlState.STAGED))
    for member in cancelled:
        member.state = ControlState.CANCELLED
        member.save(update_fields=["state"])
        record_control_event(run, member, run.step)
    if control.change_set is None:
        facts = {"run": run.id, "target": control.target, "value": control.value, "revision": control.revision}
        record_audit(team, actor, "control.cancel", "control", control.id, before=facts)
    else:
        facts = {"run": run.id, "changes": [control_facts(member) for member in cancelled]}
        record_audit(team, actor, "control.cancel", "change_set", control.change_set, before=facts)
    return next(member for member in cancelled if member.pk == control.pk)


@transaction.atomic
def revert_control(
    team: Team, actor: Actor, run_id: str, control_id: str, *, revision: int | None = None, reason: str = ""
) -> Control:
    """Restore the value from before a control, as a new control. What the weights have learned remains.

    Raises:
        Problem: as ``stage_control``; 409 if the control never took effect.
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
    """Stage again, for the same steps, controls that took effect after ``resume_step``, where a new attempt continues.

    The same holds for earlier ones of a set that is not entirely in effect: a set counts as a whole.
    """
    lost = Q(state__in=IN_EFFECT, applied_step__gt=resume_step)
    in_part = run.controls.filter(lost | Q(state=ControlState.STAGED)).exclude(change_set=None)
    torn = Q(state__in=IN_EFFECT, change_set__in=in_part.values("change_set"))
    for control in list(run.controls.filter(lost | torn).order_by("revision")):
        control.state, control.apply_at = ControlState.STAGED, control.applied_step
        control.applied_step = control.applied_group = control.applied_policy_version = control.settled_step = None
        control.save()
        record_control_event(run, control, resume_step)
    kept = list(run.controls.filter(state__in=IN_EFFECT).order_by("applied_step", "revision"))
    for control in kept:
        if control.ramp_steps is not None and (control.settled_step or 0) > resume_step:
            control.state, control.settled_step = ControlState.APPLIED, None
            control.save(update_fields=["state", "settled_step"])
            record_control_event(run, control, resume_step)
    run.effective_spec = spec_with(run.spec, kept, resume_step + 1).model_dump(mode="json")
    run.save(update_fields=["effective_spec", "updated_at"])


def _control(run: Run, control_id: str) -> Control:
    control = Control.objects.filter(run=run, pk=control_id).first()
    if control is None:
        raise not_found("control")
    return control
