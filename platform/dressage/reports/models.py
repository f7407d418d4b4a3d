"""Reports of a team, and their earlier revisions."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from dressage.common.models import PrefixedModel, TeamModel, TeamQuerySet


class Report(TeamModel):
    """The current state of a report. Everyone in the team can read it."""

    id_prefix: ClassVar[str] = "report"

    title = models.CharField(max_length=200)
    content = models.JSONField()
    """``dressage.reports.document.ReportContent``."""
    revision = models.PositiveIntegerField(default=1)
    """Number of the newest revision; ``If-Match`` is compared with it."""
    created_by = models.CharField(max_length=300)
    updated_at = models.DateTimeField(default=timezone.now)
    updated_by = models.CharField(max_length=300)

    class Meta:
        indexes = [models.Index(fields=["team", "created_at", "id"], name="report_page")]


class ReportRevision(PrefixedModel):
    """Content of a report as it was saved. Written once, never changed."""

    id_prefix: ClassVar[str] = "reprev"
    team_path: ClassVar[str] = "report__team"

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    title = models.CharField(max_length=200)
    content = models.JSONField()
    size = models.PositiveIntegerField()
    """Characters of the content, written as JSON."""
    created_by = models.CharField(max_length=300)

    objects = TeamQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["report", "created_at", "id"], name="report_revision_page")]
        constraints = [models.UniqueConstraint(fields=["report", "number"], name="one_revision_per_number")]
