"""Base of all messages: leniency with unknown keys, numbers that JSON cannot write, and how they become JSON."""

import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, ValidationError

_SPELLED = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_REVEAL = "reveal"


class Message(BaseModel):
    """Base: further keys are left out, not refused, so that peers of different ages can talk."""

    model_config = ConfigDict(extra="ignore", frozen=True, protected_namespaces=(), use_attribute_docstrings=True)

    def wire(self) -> dict[str, Any]:
        """The message as JSON-able data: the keys that were given, secrets in clear. For the link alone."""
        return self.model_dump(mode="json", exclude_unset=True, context={_REVEAL: True})


def reveals(context: Any) -> bool:
    """Whether a message is written for the link, which carries secrets in clear."""
    return isinstance(context, Mapping) and context.get(_REVEAL) is True


def first_fault(error: ValidationError) -> tuple[str, str]:
    """Place and message of the first fault of a message: ``("spec.rollout", "leaves no room for a prompt")``."""
    first = error.errors(include_url=False)[0]
    return ".".join(str(part) for part in first["loc"]) or "its top level", first["msg"]


def _read_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("a number is needed")
    if isinstance(value, str):
        if value not in _SPELLED:
            raise ValueError("the only non-finite numbers are NaN, Infinity and -Infinity")
        return _SPELLED[value]
    return value


def spelled(value: float) -> float | str:
    """The number, or the word for what JSON cannot write: NaN, Infinity or -Infinity."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")


def read_spelled(value: Any) -> float | None:
    """The number that was stored as JSON can write it; None for what is none."""
    try:
        return float(_read_number(value))
    except ValueError:
        return None


Number = Annotated[float, BeforeValidator(_read_number), PlainSerializer(spelled, when_used="json-unless-none")]
"""A JSON number, or one of the words for what JSON cannot write."""
Count = Annotated[int, Field(ge=0, lt=2**31)]
Name = Annotated[str, Field(min_length=1, max_length=160)]
