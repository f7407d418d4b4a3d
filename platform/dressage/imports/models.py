"""Base of the rows of transfers: what is fetched or sent in the background, by workers that may be killed anywhere."""

from typing import ClassVar

from django.db import models

from dressage.jobs.models import LocalJob, Slots

QUEUED, DOWNLOADING, VERIFYING = "queued", "downloading", "verifying"
READY, FAILED, CANCELLED = "ready", "failed", "cancelled"
"""States that every kind of import has. Each kind names them, and its own, as choices."""


MAX_ACTIVE = 2
"""Imports of a kind that are worked on at once in the installation; the others wait for their turn."""


class Transfer(LocalJob):
    """Files on their way."""

    files_total = models.PositiveIntegerField(default=0)
    files_done = models.PositiveIntegerField(default=0)
    bytes_total = models.PositiveBigIntegerField(default=0)
    bytes_done = models.PositiveBigIntegerField(default=0)
    """Bytes that are there; of those that were compared, while an import verifies."""
    faults = models.PositiveIntegerField(default=0)
    """Faults of the network since something was last transferred."""

    class Meta:
        abstract = True


class Import(Transfer):
    """Something on its way from elsewhere."""

    noun: ClassVar[str] = "import"
    task_argument: ClassVar[str] = "import_id"
    slots: ClassVar[tuple[Slots, ...]] = (Slots(MAX_ACTIVE),)

    name = models.CharField(max_length=120)
    slug = models.CharField(max_length=63)
    location = models.CharField(max_length=1000)
    revision = models.CharField(max_length=200, blank=True)
    """Branch, tag or commit that was asked for; empty for the main one, and where there are none."""
    commit = models.CharField(max_length=64, blank=True)
    """The commit that it was resolved to; each further try fetches the same."""
    state = models.CharField(max_length=12, default=QUEUED)

    class Meta:
        abstract = True
