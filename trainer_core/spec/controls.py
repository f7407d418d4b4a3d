"""Controls: what may change while a run goes, and the spec that results.

A control's target is the dotted path of a field that bears a ``steer`` mark. Members of lists are addressed by their
``name`` (``data.sources.add_sub.weight``) or, where they have none, by their ``type``
(``corrections.truncated_is.ratio_max``).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from pydantic import ValidationError

from trainer_core.spec.base import Boundary, SpecModel
from trainer_core.spec.run import RunSpec


class ControlError(ValueError):
    """A control that cannot be applied; the message tells why and what to do."""


@dataclass(frozen=True)
class Target:
    """One steerable field of a spec with its present value."""

    path: str
    boundary: Boundary
    value: Any
    schema: dict[str, Any]
    """JSON Schema of the field (type, bounds, title, description, unit)."""


def targets(spec: RunSpec) -> list[Target]:
    """Every steerable field of ``spec``, in the order of the document."""
    return list(_walk(spec, ""))


def apply_control(spec: RunSpec, target: str, value: Any) -> RunSpec:
    """``spec`` with ``target`` set to ``value``, validated as a whole.

    Raises:
        ControlError: the target does not exist, may not change in mid-run, or the value makes no valid spec.
    """
    if not any(candidate.path == target for candidate in targets(spec)):
        raise ControlError(_refusal(spec, target))
    if target == "kl.coefficient" and spec.kl.coefficient == 0.0 and value:
        raise ControlError("kl.coefficient: at 0 the run holds no reference policy; fork it to add one")
    document = spec.model_dump(mode="json")
    _assign(document, target.split("."), value)
    try:
        return RunSpec.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ControlError(f"{target}: {first['msg']} (at {where})") from error


@cache
def _properties(model: type[SpecModel]) -> dict[str, Any]:
    """The model's part of the JSON Schema: that of a whole run spec takes long to make."""
    properties: dict[str, Any] = model.model_json_schema()["properties"]
    return properties


def _walk(node: object, path: str) -> Iterator[Target]:
    if isinstance(node, SpecModel):
        properties = _properties(type(node))
        for name, info in type(node).model_fields.items():
            child = getattr(node, name)
            here = f"{path}.{name}" if path else name
            extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
            if "steer" in extra:
                yield Target(here, cast(Boundary, extra["steer"]), child, properties[name])
            else:
                yield from _walk(child, here)
    elif isinstance(node, tuple):
        for child in node:
            if isinstance(child, SpecModel):
                yield from _walk(child, f"{path}.{_key(child.model_dump())}")


def _key(member: dict[str, Any]) -> str | None:
    return member.get("name") or member.get("type")


def _assign(node: Any, parts: list[str], value: Any) -> None:
    head, rest = parts[0], parts[1:]
    if isinstance(node, list):
        _assign(next(member for member in node if _key(member) == head), rest, value)
    elif rest:
        _assign(node[head], rest, value)
    else:
        node[head] = value


def _refusal(spec: RunSpec, target: str) -> str:
    known = ", ".join(candidate.path for candidate in targets(spec))
    if target.split(".")[0] in RunSpec.model_fields:
        return f"{target} cannot change while the run goes; fork the run to change it. Steerable here: {known}"
    return f"there is no field {target}. Steerable here: {known}"
