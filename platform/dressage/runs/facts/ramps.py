"""Ramps of a run's controls: values that move with its steps. The worker moves them; the platform computes the same."""

from typing import Any, cast

from dressage.runs.models import Control, Run
from dressage.runs.states import ControlState
from trainer_core.link.commands import Ramp, RampUnderWay
from trainer_core.spec import Change, ControlError, RunSpec, apply_controls
from trainer_core.spec.base import Boundary
from trainer_core.spec.ramps import ramp_value


def value_at(control: Control, step: int | None) -> Any:
    """Value of a control's field in ``step``; None returns its final value."""
    if control.ramp_steps is None or control.applied_step is None or step is None:
        return control.value
    before, value = cast(float, control.before), cast(float, control.value)
    return ramp_value(before, value, control.ramp_steps, step - control.applied_step + 1)


def command_part(control: Control) -> dict[str, Ramp]:
    """``{ramp: …}`` of the command to a worker; empty for a control without a ramp."""
    if control.ramp_steps is None:
        return {}
    return {"ramp": Ramp(before=control.before, steps=control.ramp_steps)}


def under_way(run: Run) -> list[Control]:
    """Controls whose values are still moving, oldest first."""
    ramps = run.controls.filter(state=ControlState.APPLIED, ramp_steps__isnull=False)
    return list(ramps.order_by("applied_step", "revision"))


def ends(run: Run) -> list[Change]:
    """Final values of the ramps in progress. If a field has several, the newest counts."""
    return list({control.target: control.value for control in under_way(run)}.items())


def follow(run: Run) -> None:
    """Update the moving values in the effective spec to those of the step after the run's last one."""
    spec = RunSpec.model_validate(run.effective_spec)
    changed = spec
    for control in under_way(run):
        try:
            changed = apply_controls(changed, [(control.target, value_at(control, run.step + 1))])
        except ControlError:
            continue  # the worker also leaves it unchanged, and reports so
    if changed != spec:
        run.effective_spec = changed.model_dump(mode="json")
        run.save(update_fields=["effective_spec", "updated_at"])


def settle(run: Run, control: Control) -> None:
    """Enter the final value of a ramp into the effective spec, unless a later control of its field has replaced it."""
    if control.ramp_steps is None:
        return
    in_effect = (ControlState.APPLIED, ControlState.SETTLED)
    if run.controls.filter(target=control.target, state__in=in_effect, revision__gt=control.revision).exists():
        return
    try:
        spec = apply_controls(RunSpec.model_validate(run.effective_spec), [(control.target, control.value)])
    except ControlError:
        return  # the worker has reported that the value stays unchanged
    run.effective_spec = spec.model_dump(mode="json")
    run.save(update_fields=["effective_spec", "updated_at"])


def carried_on(run: Run) -> tuple[RampUnderWay, ...]:
    """The ramps that an attempt continues."""
    controls = under_way(run)
    boundaries = _boundaries(controls)
    return tuple(
        RampUnderWay(
            control_id=control.id,
            revision=control.revision,
            target=control.target,
            before=control.before,
            value=control.value,
            steps=control.ramp_steps or 1,
            boundary=boundaries[control.change_set or control.id],
            first_step=control.applied_step or 0,
        )
        for control in {control.target: control for control in controls}.values()
    )


def _boundaries(controls: list[Control]) -> dict[str, Boundary]:
    """The boundary at which each change set moves: the latest boundary of its fields."""
    found: dict[str, Boundary] = {}
    for control in controls:
        name = control.change_set or control.id
        if found.get(name) != "optimizer_step":
            found[name] = "optimizer_step" if control.boundary == "optimizer_step" else "group_dispatch"
    return found
