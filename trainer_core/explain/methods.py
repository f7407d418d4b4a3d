"""Every method that a spec names, with formula, source, parameters and what to watch."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from trainer_core.spec import RunSpec
from trainer_core.spec.base import Advice, SpecModel


@dataclass(frozen=True, slots=True)
class Method:
    """One chosen method."""

    path: str
    """Path of its place in the spec, such as ``corrections.0``."""
    title: str
    formula: str
    source: str
    parameters: dict[str, Any]
    """Its own fields, defaults included; nested methods apart."""
    when: str
    """Advice on when to use it."""
    watch: tuple[str, ...]
    """Metrics that tell whether it works."""


def methods(spec: RunSpec) -> tuple[Method, ...]:
    """Methods in the order of the spec's fields."""
    return tuple(_walk(spec, ()))


def _walk(value: Any, path: tuple[str, ...]) -> Iterator[Method]:
    if isinstance(value, BaseModel):
        extra = value.model_config.get("json_schema_extra")
        if isinstance(extra, dict) and "formula" in extra and not _is_off(value):
            advice = getattr(value, "advice", None) or Advice("", ())
            yield Method(
                path=".".join(path),
                title=str(value.model_config.get("title")),
                formula=str(extra["formula"]),
                source=str(extra["source"]),
                parameters=_parameters(value),
                when=advice.when,
                watch=advice.watch,
            )
        for name in value.members if isinstance(value, SpecModel) else type(value).model_fields:
            yield from _walk(getattr(value, name), (*path, name))
    elif isinstance(value, tuple):
        for index, member in enumerate(value):
            yield from _walk(member, (*path, str(index)))


def _is_off(method: BaseModel) -> bool:
    """A penalty of weight 0 is part of every spec; it does nothing."""
    return getattr(method, "coefficient", None) == 0.0


def _parameters(method: BaseModel) -> dict[str, Any]:
    document = method.model_dump(mode="json")
    return {name: value for name, value in document.items() if name != "type" and not isinstance(value, dict | list)}
