"""Indexes that are built while the installation's other connections write. Such migrations are not ``atomic``."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db.migrations import RunSQL
from django.db.migrations.operations.base import Operation
from django.db.models import Index


def index_concurrently(model: str, index: Index) -> list[Operation]:
    """Operations that build ``index``. Leftovers of an interrupted build are dropped first."""
    return [
        RunSQL(f'DROP INDEX CONCURRENTLY IF EXISTS "{index.name}"', RunSQL.noop),
        AddIndexConcurrently(model, index),
    ]
