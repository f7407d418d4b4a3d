"""Acknowledgements of controls by workers. They are repeated until acknowledged, so each report must be idempotent."""

from collections.abc import Iterable

from dressage.runs.facts import ramps
from dressage.runs.facts.control_events import record_control_event
from dressage.runs.models import Control, Run
from dressage.runs.states import By, ControlState, control_may_move
from dressage.runs.steer.change_sets import IN_EFFECT, members, spec_with
from trainer_core.link.commands import Applied
from trainer_core.spec import ControlError

_NEVERTHELESS: dict[str, str] = {
    ControlState.CANCELLED: "The cancellation arrived when it was already in effect.",
    ControlState.REJECTED: "In effect without the rest of its set, of which the worker refused a part. Upgrade the"
    " cluster's workers: newer ones reject such a set as a whole.",
}
"""The note on a control that took effect although it was in this state, by state."""


def acknowledge(run: Run, reports: Iterable[Applied]) -> bool:
    """Process the reports, in order. Returns whether anything changed."""
    found = list(reports)
    controls = Control.objects.filter(run=run).in_bulk([report.control_id for report in found])
    changed = False
    for report in found:
        if (control := controls.get(report.control_id)) is not None and _take(run, control, report):
            changed = True
            if control.state == ControlState.REJECTED:
                _reject_set(run, control, report, controls)
    return changed


def _take(run: Run, control: Control, report: Applied) -> bool:
    to = ControlState(report.state)
    if not control_may_move(control.state, to, By.WORKER):
        return False  # repeated, or about a control that has been staged again since
    was = control.state
    if to == ControlState.REJECTED:
        control.error = report.error or "The worker refused it without a reason."
    else:
        if was not in IN_EFFECT:
            control.applied_step, control.applied_group = report.step, report.group
            control.applied_policy_version = report.policy_version
            control.error = _NEVERTHELESS.get(was)
            _put_in_effect(run, control)
        if to == ControlState.SETTLED:
            control.settled_step = report.step
            ramps.settle(run, control)
    control.state = to
    control.save()
    record_control_event(run, control, report.step)
    return True


def _reject_set(run: Run, rejected: Control, report: Applied, known: dict[str, Control]) -> None:
    """Reject the rest of a set along with one of its controls: a set takes effect as a whole or not at all."""
    for member in members(rejected).filter(state=ControlState.STAGED):
        control = known.get(member.pk, member)
        control.state, control.error = ControlState.REJECTED, rejected.error
        control.save(update_fields=["state", "error"])
        record_control_event(run, control, report.step)


def _put_in_effect(run: Run, control: Control) -> None:
    """Enter the control into the effective spec, along with those of its set that the worker has reported before.

    A part of a set may give an invalid spec. In that case it is entered with the next report of the set.
    """
    others = members(control).exclude(pk=control.pk)
    told = list(others.filter(state__in=IN_EFFECT))
    for together in ([*told, control], [control]) if told else ([control],):
        try:
            run.effective_spec = spec_with(run.effective_spec, together, control.applied_step).model_dump(mode="json")
        except ControlError as error:
            fault = error
        else:
            run.save(update_fields=["effective_spec", "updated_at"])
            return
    if not others.filter(state=ControlState.STAGED).exists():
        # The worker has accepted it, and its report about its own state counts.
        control.error = f"In effect, although the platform finds: {fault}"
