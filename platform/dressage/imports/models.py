"""Base of the rows of imports: what is fetched in the background, by workers that may be killed anywhere."""

from typing import ClassVar

from django.db import models

from dressage.common.models import TeamModel

QUEUED, DOWNLOADING, VERIFYING = "queued", "downloading", "verifying"
READY, FAILED, CANCELLED = "ready", "failed", "cancelled"
"""States that every kind of import has. Each kind names them, and its own, as choices."""


class Import(TeamModel):
    """Something on its way from elsewhere."""

    task: ClassVar[str]
    """Name of the worker's task."""
    active_states: ClassVar[tuple[str, ...]]
    """States in which a worker has it."""

    name = models.CharField(max_length=120)
    slug = models.CharField(max_length=63)
    location = models.CharField(max_length=1000)
    revision = models.CharField(max_length=200, blank=True)
    """Branch, tag or commit that was asked for; empty for the main one, and where there are none."""
    commit = models.CharField(max_length=64, blank=True)
    """The commit that it was resolved to; each further try fetches the same."""
    state = models.CharField(max_length=12, default=QUEUED)
    error = models.TextField(blank=True)
    """Why it failed or waits, and what to do."""
    files_total = models.PositiveIntegerField(default=0)
    files_done = models.PositiveIntegerField(default=0)
    bytes_total = models.PositiveBigIntegerField(default=0)
    bytes_done = models.PositiveBigIntegerField(default=0)
    """Bytes that are on the disk; of those that were compared, while it verifies."""
    attempt = models.PositiveIntegerField(default=0)
    """Number of the worker that has it: an older one that comes back is told so."""
    faults = models.PositiveIntegerField(default=0)
    """Faults of the network since something was last fetched."""
    heard_at = models.DateTimeField(null=True)
    """When its worker last wrote."""
    rung_at = models.DateTimeField(null=True)
    """When a worker was last asked."""
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    actor = models.JSONField()
    """Who asked for it: ``{kind, id, name}``."""
    created_by = models.CharField(max_length=300)

    class Meta:
        abstract = True

    @classmethod
    def open_states(cls) -> tuple[str, ...]:
        """States in which a worker has it, or is to have it."""
        return (QUEUED, *cls.active_states)
