"""Lineage of versions: what each was derived from, and how."""

from typing import Any, Literal

from typing_extensions import TypedDict


class OperationCounts(TypedDict):
    """What an operation did, row by row."""

    before: int
    """Number of rows in the version that it was derived from."""
    after: int
    added: int
    removed: int
    changed: int


class VersionOperation(TypedDict):
    """How a version was created."""

    name: Literal["upload", "import", "edit", "filter", "split", "merge", "integers", "synthesis", "rollouts"]
    arguments: dict[str, Any]
    """The arguments of the request; for an edit only the ids of the rows."""
    counts: OperationCounts


def made_of_nothing(rows: int) -> OperationCounts:
    """Counts of an upload, or of an import."""
    return {"before": 0, "after": rows, "added": rows, "removed": 0, "changed": 0}
