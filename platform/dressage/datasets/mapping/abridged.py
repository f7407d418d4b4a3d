"""Values shortened for display."""

from typing import Any

_TEXT, _ELEMENTS, _DEPTH = 2_000, 24, 6


def abridged(value: Any, depth: int = 0) -> Any:
    """The value with long texts and lists cut. Each cut notes how much is missing."""
    match value:
        case str() if len(value) > _TEXT:
            return f"{value[:_TEXT]}… ({len(value) - _TEXT:,} more characters)"
        case list() | dict() if depth == _DEPTH:
            return "…"
        case list():
            made = [abridged(one, depth + 1) for one in value[:_ELEMENTS]]
            return [*made, f"… ({len(value) - _ELEMENTS:,} more)"] if len(value) > _ELEMENTS else made
        case dict():
            return {name[:_TEXT]: abridged(inner, depth + 1) for name, inner in list(value.items())[: _ELEMENTS * 4]}
    return value
