"""Whether a value fits a JSON Schema: ``jsonschema``'s validator, with what takes more than polynomial time, or the
square of it, done otherwise. It tells whether there is an error, not which ones."""

import json
from collections.abc import Iterator
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator, ValidationError, validators  # type: ignore[import-untyped]
from referencing import Registry

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders.text.pattern import found

_UNDER_WAY = object()
_known: ContextVar[dict[tuple[int, int], object] | None] = ContextVar("known", default=None)
"""Outcomes of one validation: whether the value (by its id) fits the schema with a reference (by its id)."""
_reference = Draft202012Validator.VALIDATORS["$ref"]


def fits(schema: str, value: Any) -> bool:
    """Whether ``value`` fits the schema, which is given as JSON.

    Raises:
        GraderError: a pattern takes too long, or a reference leads to itself without end.
    """
    token = _known.set(None if '"$dynamicRef"' in schema else {})  # what that means depends on where one comes from
    try:
        return bool(_validator(schema).is_valid(value))
    finally:
        _known.reset(token)


def first_fault(schema: Any) -> str | None:
    """The first fault of ``schema`` as a schema of draft 2020-12, or None."""
    error = next(_Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema), None)
    return None if error is None else str(error.message)


def _ref(validator: Any, reference: str, value: Any, schema: Any) -> Iterator[ValidationError]:
    """Follows a reference once for each part of the value: several ways to the same question get the same answer."""
    known = _known.get()
    if known is None:
        yield from _reference(validator, reference, value, schema)
        return
    question = (id(schema), id(value))
    if question in known:
        if known[question] is _UNDER_WAY:
            raise GraderError(f"the schema's reference {reference!r} leads back to itself without end")
        if known[question] is False:
            yield ValidationError("does not fit")
        return
    known[question] = _UNDER_WAY
    error = next(iter(_reference(validator, reference, value, schema)), None)
    known[question] = error is None
    if error is not None:
        yield error


def _pattern(validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(value, "string") and not found(pattern, value):
        yield ValidationError("does not match")


def _unique_items(validator: Any, unique: bool, value: Any, schema: Any) -> Iterator[ValidationError]:
    """Compares by hashes: the library compares objects pair by pair."""
    if unique and validator.is_type(value, "array"):
        seen = set()
        for item in value:
            if (key := _key(item)) in seen:
                yield ValidationError(f"{value!r} has non-unique elements" if len(value) < 10 else "items are equal")
                return
            seen.add(key)


def _key(value: Any) -> Any:
    """A value that can be hashed, and is equal for what JSON Schema calls equal: 1 and 1.0, but not true and 1."""
    if isinstance(value, dict):
        return "object", frozenset((name, _key(item)) for name, item in value.items())
    if isinstance(value, list):
        return "array", tuple(map(_key, value))
    return type(value) if value is None or isinstance(value, bool) else None, value


_Validator = validators.extend(Draft202012Validator, {"$ref": _ref, "pattern": _pattern, "uniqueItems": _unique_items})


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    return _Validator(json.loads(schema), registry=Registry())
