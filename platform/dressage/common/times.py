"""Timestamps as the API writes them."""

from datetime import UTC, datetime
from typing import overload


@overload
def iso(moment: datetime) -> str: ...
@overload
def iso(moment: None) -> None: ...
def iso(moment: datetime | None) -> str | None:
    """UTC with milliseconds, such as ``2026-11-21T06:30:00.000Z``."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
