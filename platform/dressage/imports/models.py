"""Base models of transfers: background downloads and uploads by workers that may be killed at any point."""

from typing import ClassVar

from django.db import models

from dressage.jobs.models import LocalJob, Slots

QUEUED, DOWNLOADING, VERIFYING = "queued", "downloading", "verifying"
READY, FAILED, CANCELLED = "ready", "failed", "cancelled"
"""States that all kinds of import share. Each kind lists them, along with its own, as choices."""


MAX_ACTIVE = 2
"""Maximum number of active imports per kind in the installation. Others wait their turn."""


class Transfer(LocalJob):
    """Files that are being transferred."""

    files_total = models.PositiveIntegerField(default=0)
    files_done = models.PositiveIntegerField(default=0)
    bytes_total = models.PositiveBigIntegerField(default=0)
    bytes_done = models.PositiveBigIntegerField(default=0)
    """Bytes transferred; while an import verifies, bytes compared."""
    faults = models.PositiveIntegerField(default=0)
    """Number of network faults since data was last transferred."""

    class Meta:
        abstract = True


class Import(Transfer):
    """Something that is being imported."""

    noun: ClassVar[str] = "import"
    task_argument: ClassVar[str] = "import_id"
    slots: ClassVar[tuple[Slots, ...]] = (Slots(MAX_ACTIVE),)

    name = models.CharField(max_length=120)
    slug = models.CharField(max_length=63)
    location = models.CharField(max_length=1000)
    revision = models.CharField(max_length=200, blank=True)
    """Requested branch, tag or commit; empty for the main branch, and if the place has none."""
    commit = models.CharField(max_length=64, blank=True)
    """The commit that it was resolved to. Later attempts fetch the same commit."""
    state = models.CharField(max_length=12, default=QUEUED)

    class Meta:
        abstract = True
