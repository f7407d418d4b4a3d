"""Reads the gold answer of a dataset row."""

from collections.abc import Mapping
from typing import Any

from trainer_core.rewards.errors import GraderError


def reference_text(item: Mapping[str, Any], name: str) -> str:
    """The field ``name`` of ``item`` as text.

    Raises:
        GraderError: the row has no such field, or it holds neither text nor a number that can be written out.
    """
    if name not in item or item[name] is None:
        raise GraderError(f"the row has no field {name!r} to compare with")
    value = item[name]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise GraderError(f"the field {name!r} holds {type(value).__name__}, not text or a number")
    try:
        return str(value)
    except ValueError as error:
        # Python writes out no int above 4300 digits.
        raise GraderError(f"the field {name!r} cannot be read: {error}") from error
