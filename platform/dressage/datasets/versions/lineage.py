"""Lineage of versions: what each was made of, and how."""

from typing import Any, Literal

from typing_extensions import TypedDict


class OperationCounts(TypedDict):
    """What an operation did, row by row."""

    before: int
    """Rows of the version that it was made of."""
    after: int
    added: int
    removed: int
    changed: int


class VersionOperation(TypedDict):
    """How a version was made."""

    name: Literal["upload", "import", "edit", "filter", "split", "merge", "integers", "synthesis"]
    arguments: dict[str, Any]
    """What was asked for; of an edit, no more than the ids of the rows."""
    counts: OperationCounts


def made_of_nothing(rows: int) -> OperationCounts:
    """Counts of an upload, or of an import."""
    return {"before": 0, "after": rows, "added": rows, "removed": 0, "changed": 0}
