"""Query parameters: each view declares those of its operations once, for parsing and for the OpenAPI document.

Undeclared parameters are refused, and so are values that make no sense: a mistyped filter would otherwise return
everything. A parameter that may be omitted then has the value ``default``.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar

from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter

from dressage.common.api.errors import FieldError
from dressage.common.api.problems import Problem, invalid
from trainer_core.spec.faults import join

_DIGITS = 19
"""Digits of PostgreSQL's largest integer. Longer numbers are not even parsed, since that takes time."""
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)

_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]", re.ASCII)


class Unfit(ValueError):
    """A value that the parameter does not accept; the message says what it accepts."""


@dataclass(frozen=True, kw_only=True)
class Parameter(ABC):
    """One parameter of the query."""

    name: str
    description: str = ""
    default: Any = None
    required: bool = False
    code: str = "invalid"
    """Name of the problem, for programs."""

    type: ClassVar[dict[str, Any]] = {"type": "string"}

    @abstractmethod
    def read(self, text: str) -> Any:
        """The value. Raises Unfit."""

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the value."""
        return self.type if self.default is None else {**self.type, "default": self.default}

    def documented(self) -> OpenApiParameter:
        """The parameter as the OpenAPI document has it."""
        return OpenApiParameter(self.name, self.schema(), required=self.required, description=self.description)


@dataclass(frozen=True, kw_only=True)
class Whole(Parameter):
    """A whole number, digits only."""

    least: int = 0
    most: int = 2**31 - 1
    what: str = ""
    """What it is, if its bounds mean nothing to people, such as "the seq of an event"."""

    def read(self, text: str) -> int:
        digits = text.isascii() and text.isdigit() and len(text) <= _DIGITS
        if not digits or not self.least <= int(text) <= self.most:
            raise Unfit(self.what or f"a whole number from {self.least} to {self.most}")
        return int(text)

    def schema(self) -> dict[str, Any]:
        bounds = {"type": "integer", "minimum": self.least, "maximum": self.most}
        return bounds if self.default is None else {**bounds, "default": self.default}


@dataclass(frozen=True, kw_only=True)
class Number(Parameter):
    """A finite number."""

    type: ClassVar[dict[str, Any]] = {"type": "number", "format": "double"}

    def read(self, text: str) -> float:
        value = float(text) if len(text) <= 64 and _NUMBER.fullmatch(text) else math.nan
        if not math.isfinite(value):
            raise Unfit("a finite number")
        return value


@dataclass(frozen=True, kw_only=True)
class Flag(Parameter):
    """``true`` or ``false``, also as ``1`` and ``0``."""

    default: Any = False
    type: ClassVar[dict[str, Any]] = {"type": "boolean"}

    def read(self, text: str) -> bool:
        value = {"true": True, "1": True, "false": False, "0": False}.get(text.lower())
        if value is None:
            raise Unfit("true or false")
        return value


@dataclass(frozen=True, kw_only=True)
class Choice(Parameter):
    """One of several words."""

    choices: Sequence[str]

    def read(self, text: str) -> str:
        if text not in self.choices:
            raise Unfit(f"one of {', '.join(self.choices)}")
        return text

    def schema(self) -> dict[str, Any]:
        return {**super().schema(), "enum": list(self.choices)}


@dataclass(frozen=True, kw_only=True)
class Words(Parameter):
    """Words, separated by commas, each at most once. With ``choices``, only these."""

    choices: Sequence[str] = ()
    longest: int = 160
    most: int = 64

    def read(self, text: str) -> tuple[str, ...]:
        words = tuple(dict.fromkeys(text.split(",")))
        if not 1 <= len(words) <= self.most or not all(_is_text(word, self.longest) for word in words):
            raise Unfit(f"1 to {self.most} values, separated by commas")
        if self.choices and not set(words) <= set(self.choices):
            raise Unfit(f"values from {', '.join(self.choices)}, separated by commas")
        return words


@dataclass(frozen=True, kw_only=True)
class Text(Parameter):
    """Any non-empty text."""

    longest: int = 200

    def read(self, text: str) -> str:
        if not _is_text(text, self.longest):
            raise Unfit(f"a text of 1 to {self.longest} characters")
        return text

    def schema(self) -> dict[str, Any]:
        return {**super().schema(), "minLength": 1, "maxLength": self.longest}


@dataclass(frozen=True, kw_only=True)
class Time(Parameter):
    """A point in time with its offset from UTC, in RFC 3339."""

    type: ClassVar[dict[str, Any]] = {"type": "string", "format": "date-time"}

    def read(self, text: str) -> datetime:
        try:
            value = datetime.fromisoformat(text) if len(text) <= 40 and _TIME.match(text) else None
            if value is None or value.tzinfo is None:
                raise ValueError
            return value.astimezone(UTC)  # PostgreSQL accepts no offset of 16 hours or more
        except (ValueError, OverflowError):
            raise Unfit("a time with its offset, such as 2026-11-22T12:00:00Z") from None


@dataclass(frozen=True)
class Query:
    """The parameters of one operation, by name."""

    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    @classmethod
    def of(cls, *parameters: Parameter) -> "Query":
        return cls({parameter.name: parameter for parameter in parameters})

    def read(self, given: QueryDict) -> dict[str, Any]:
        """A value for each parameter, whether given or omitted.

        Raises:
            Problem: 422 that names an unknown or repeated parameter, a value that is not accepted, or a missing
                parameter.
        """
        unknown = [name for name in given if name not in self.parameters]
        if unknown:
            raise self._unknown(unknown)
        return {name: self._value(parameter, given.getlist(name)) for name, parameter in self.parameters.items()}

    def _value(self, parameter: Parameter, texts: list[str]) -> Any:
        name = parameter.name
        if not texts:
            if parameter.required:
                raise invalid(f"/{name}", f"{name} is required.", code=parameter.code)
            return parameter.default
        if len(texts) > 1:
            raise invalid(f"/{name}", f"{name} is given {len(texts)} times; give it once.", code=parameter.code)
        try:
            return parameter.read(texts[0])
        except Unfit as error:
            raise invalid(f"/{name}", f"{name} must be {error}.", code=parameter.code) from error

    def _unknown(self, names: list[str]) -> Problem:
        takes = f"it takes {', '.join(self.parameters)}" if self.parameters else "it accepts none"
        errors = [
            FieldError(pointer=join(name[:80]), detail=f"There is no query parameter {name[:80]!r} here; {takes}.")
            for name in names[:10]
        ]
        return Problem(422, "Invalid request", errors[0]["detail"], errors=errors, code="unknown_parameter")


def _is_text(text: str, longest: int) -> bool:
    """Whether PostgreSQL can store it: no NUL, no halves of characters."""
    return 0 < len(text) <= longest and "\0" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)


NOTHING = Query()
