"""Base of every part of a run spec: strictness, documentation in the schema, and the steering marks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, model_validator

Boundary = Literal["group_dispatch", "optimizer_step"]
"""When a control takes effect: at the next dispatched prompt group, or at the next optimizer step. Listed as they come
within a step."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice on one method, for the console and the method reference."""

    when: str
    """When to use it: a sentence or two."""
    watch: tuple[str, ...]
    """Names of metrics that tell whether it works; ``<source>`` is replaced by the names of a run's sources."""


class SpecModel(BaseModel):
    """Base of all spec members: unknown keys are refused, values are immutable, docstrings reach the JSON Schema."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False, protected_namespaces=()
    )
    advice: ClassVar[Advice | None] = None
    """When to use what the model chooses; every model with a formula has it."""

    @property
    def members(self) -> tuple[str, ...]:
        """Names of the fields that count; a model may leave out some that another of its fields makes meaningless."""
        return tuple(type(self).model_fields)

    @model_validator(mode="before")
    @classmethod
    def _tell_booleans_from_numbers(cls, given: Any) -> Any:
        """Python counts ``True`` as 1, the JSON Schema does not: as a word it is refused where a number belongs."""
        if not isinstance(given, Mapping):
            return given
        words = {
            name: _spelt(given[name], kinds)
            for name, member in cls.model_fields.items()
            if name in given and _is_number(kinds := _kinds(member.annotation))
        }
        return {**given, **words} if words else given


def _kinds(annotation: Any) -> set[Any]:
    """Types that an annotation is made of, at any depth."""
    inner = get_args(annotation)
    return set().union(*map(_kinds, inner)) if inner and get_origin(annotation) is not Literal else {annotation}


def _is_number(kinds: set[Any]) -> bool:
    return bool not in kinds and (int in kinds or float in kinds)


def _spelt(given: Any, kinds: set[Any]) -> Any:
    """``given`` with its booleans as words, those in lists and by name too."""
    if isinstance(given, bool):
        return str(given).lower()
    if isinstance(given, list | tuple):
        return [_spelt(one, kinds) for one in given]
    if isinstance(given, Mapping) and not any(isinstance(kind, type) and issubclass(kind, BaseModel) for kind in kinds):
        return {name: _spelt(one, kinds) for name, one in given.items()}
    return given


def field(
    default: Any = ...,
    *,
    unit: str | None = None,
    steer: Boundary | None = None,
    widget: str | None = None,
    **kwargs: Any,
) -> Any:
    """A documented field.

    Args:
        default: the default value; omitted means required.
        unit: shown beside the input ("tokens", "share", "prompts").
        steer: set when the value may change while the run goes; names the boundary at which it is applied.
        widget: a hint for the console's form ("dataset", "reward", "policy", "python", "slider").
        kwargs: passed to ``pydantic.Field`` (bounds and so on).
    """
    marks: dict[str, Any] = {"unit": unit, "steer": steer, "widget": widget}
    extra = {key: value for key, value in marks.items() if value is not None}
    return Field(default, json_schema_extra=extra or None, **kwargs)


def method_doc(title: str, formula: str, source: str) -> ConfigDict:
    """Model configuration that carries a method's title, formula and source into the JSON Schema."""
    return ConfigDict(title=title, json_schema_extra={"formula": formula, "source": source})
