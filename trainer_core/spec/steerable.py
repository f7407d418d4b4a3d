"""Steerable fields of a spec: those that bear a ``steer`` mark, with their dotted paths."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from pydantic import BaseModel, TypeAdapter

from trainer_core.spec.base import Boundary, SpecModel


@dataclass(frozen=True)
class Target:
    """One steerable field of a spec with its present value."""

    path: str
    boundary: Boundary
    value: Any
    schema: dict[str, Any]
    """JSON Schema of the field (type, bounds, title, description, unit)."""


def walk(node: object, path: str = "") -> Iterator[Target]:
    """Every field below ``node`` that bears a ``steer`` mark, in the order of the document."""
    if isinstance(node, SpecModel):
        properties = _properties(type(node))
        for name in node.members:
            info, child = type(node).model_fields[name], getattr(node, name)
            here = f"{path}.{name}" if path else name
            extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
            if "steer" in extra:
                yield Target(here, cast(Boundary, extra["steer"]), _plain(child), properties[name])
            else:
                yield from walk(child, here)
    elif isinstance(node, tuple):
        for child in node:
            if isinstance(child, SpecModel):
                yield from walk(child, f"{path}.{_key(child.model_dump())}")


def assign(node: Any, parts: list[str], value: Any) -> None:
    """Set the field at a path of a document."""
    head, rest = parts[0], parts[1:]
    if isinstance(node, list):
        assign(next(member for member in node if _key(member) == head), rest, value)
    elif rest:
        assign(node[head], rest, value)
    else:
        node[head] = value


def check_value(spec: SpecModel, path: str, value: Any) -> None:
    """Check a value against the part of the spec that holds the field; what other parts say of it is not asked.

    Raises:
        ValidationError: the field cannot have the value.
    """
    section = path.split(".")[0]
    document = {section: spec.model_dump(mode="json", include={section})[section]}
    assign(document, path.split("."), value)
    _adapter(type(spec), section).validate_python(document[section])


@cache
def _adapter(model: type[SpecModel], section: str) -> TypeAdapter[Any]:
    kind: Any = model.model_fields[section].annotation
    return TypeAdapter(kind)


@cache
def _properties(model: type[SpecModel]) -> dict[str, Any]:
    """The model's part of the JSON Schema: that of a whole run spec takes long to make."""
    properties: dict[str, Any] = model.model_json_schema()["properties"]
    return properties


def _plain(value: Any) -> Any:
    """A value as JSON can carry it."""
    if isinstance(value, tuple) and any(isinstance(one, BaseModel) for one in value):
        return [_plain(one) for one in value]
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value


def _key(member: dict[str, Any]) -> str | None:
    return member.get("name") or member.get("type")
