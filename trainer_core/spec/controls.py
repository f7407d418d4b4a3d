"""Controls: what may change while a run goes, and the spec that results.

A control's target is the dotted path of a field that bears a ``steer`` mark. Members of lists are addressed by their
``name`` (``data.sources.add_sub.weight``) or, where they have none, by their ``type``
(``corrections.truncated_is.ratio_max``).
"""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from trainer_core.spec.rules.stages import overruled
from trainer_core.spec.run import RunSpec
from trainer_core.spec.steerable import Target, assign, walk

Change = tuple[str, Any]
"""A target and its new value."""


class ControlError(ValueError):
    """A control that cannot be applied; the message tells why and what to do."""

    def __init__(self, message: str, index: int = 0) -> None:
        """
        Args:
            message: names the target.
            index: position of the change at fault among those that were to be applied together.
        """
        super().__init__(message)
        self.index = index


def targets(spec: RunSpec) -> list[Target]:
    """Every steerable field of ``spec``, in the order of the document, but for those that its stages replace."""
    replaced = overruled(spec)
    return [target for target in walk(spec) if target.path not in replaced]


def apply_control(spec: RunSpec, target: str, value: Any) -> RunSpec:
    """``spec`` with ``target`` set to ``value``, validated as a whole.

    Raises:
        ControlError: the target does not exist, may not change in mid-run, or the value makes no valid spec.
    """
    return apply_controls(spec, [(target, value)])


def apply_controls(spec: RunSpec, changes: Sequence[Change]) -> RunSpec:
    """``spec`` with all of ``changes`` or none; only the document that results is validated, not the steps to it.

    Raises:
        ControlError: a target does not exist, is named twice or may not change in mid-run, or the values together
            make no valid spec. Its ``index`` names the change at fault.
    """
    known = {candidate.path for candidate in targets(spec)}
    named: set[str] = set()
    for index, (target, value) in enumerate(changes):
        if target not in known:
            raise ControlError(_refusal(spec, target), index)
        if target in named:
            raise ControlError(f"{target} is changed twice in one set; keep one of the two", index)
        if target == "kl.coefficient" and spec.kl.coefficient == 0.0 and value:
            raise ControlError("kl.coefficient: at 0 the run has no reference policy; fork it to add one", index)
        named.add(target)
    try:
        return _changed(spec, changes)
    except ValidationError as error:
        index = next(iter(_in_steps(spec, changes)[1]), 0)
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ControlError(f"{changes[index][0]}: {first['msg']} (at {where})", index) from error


def valid_order(spec: RunSpec, changes: Sequence[Change]) -> list[int]:
    """Indices of ``changes`` in an order in which each leaves a valid spec, for who applies them one by one.

    Where no such order exists, those that fit nowhere come last. ``apply_controls`` accepts the changes.
    """
    if len(changes) == 1:
        return [0]
    done, left = _in_steps(spec, changes)
    return done + left


def _changed(spec: RunSpec, changes: Sequence[Change]) -> RunSpec:
    document = spec.model_dump(mode="json")
    for target, value in changes:
        assign(document, target.split("."), value)
    return RunSpec.model_validate(document)


def _in_steps(spec: RunSpec, changes: Sequence[Change]) -> tuple[list[int], list[int]]:
    """(indices that can be applied one after the other, those that no order makes valid)."""
    done: list[int] = []
    left = list(range(len(changes)))
    while left:
        for index in left:
            try:
                spec = _changed(spec, [changes[index]])
            except ValidationError:
                continue
            done.append(index)
            left.remove(index)
            break
        else:
            break
    return done, left


def _refusal(spec: RunSpec, target: str) -> str:
    known = ", ".join(candidate.path for candidate in targets(spec))
    if (instead := overruled(spec).get(target)) is not None:
        return f"{target} has no effect: every stage has its own. Steer {instead}. Steerable here: {known}"
    if target.split(".")[0] in RunSpec.model_fields:
        return f"{target} cannot change while the run is active; fork the run to change it. Steerable here: {known}"
    return f"there is no field {target}. Steerable here: {known}"
