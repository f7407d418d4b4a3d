"""Effect of controls on the spec. Controls of one change set count together or not at all."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q, QuerySet

from dressage.runs.facts.ramps import value_at
from dressage.runs.models import Control, Run
from dressage.runs.states import ControlState
from trainer_core.spec import ControlError, RunSpec, apply_controls

IN_EFFECT = (ControlState.APPLIED, ControlState.SETTLED)


def staged_spec(run: Run) -> RunSpec:
    """The spec as it will be once all staged controls are in effect."""
    spec = RunSpec.model_validate(run.effective_spec)
    for together in by_set(run.controls.filter(state=ControlState.STAGED).order_by("revision")):
        try:
            spec = _with(spec, together)
        except ControlError:
            continue  # it may never take effect: the worker will reject it, and report why
    return spec


def spec_with(document: dict[str, Any], controls: Iterable[Control], step: int | None = None) -> RunSpec:
    """A spec with controls that were valid in this order. Raises ControlError if they are not.

    Ramps count with their value in ``step``; None: with their final value.
    """
    spec = RunSpec.model_validate(document)
    for together in by_set(controls):
        spec = _with(spec, together, step)
    return spec


def by_set(controls: Iterable[Control]) -> list[list[Control]]:
    """Each change set as a list, at the position of its first member. A control without a set is a list of its own."""
    sets: dict[str, list[Control]] = {}
    for control in controls:
        sets.setdefault(control.change_set or control.id, []).append(control)
    return list(sets.values())


def members(control: Control) -> QuerySet[Control]:
    """The controls that were staged together with ``control``, including itself."""
    alone = Q(pk=control.pk)
    together = alone if control.change_set is None else alone | Q(change_set=control.change_set)
    return Control.objects.filter(together, run=control.run_id).order_by("revision")


def _with(spec: RunSpec, together: list[Control], step: int | None = None) -> RunSpec:
    return apply_controls(spec, [(control.target, value_at(control, step)) for control in together])
