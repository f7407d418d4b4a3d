"""Views of charts that people save under a name."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from dressage.common.models import TeamModel


class ChartView(TeamModel):
    """A view of charts: private to its owner, or shared in the team."""

    id_prefix: ClassVar[str] = "view"

    name = models.CharField(max_length=80)
    owner = models.CharField(max_length=40)
    """Id of the user or token that owns it."""
    shared = models.BooleanField(default=False, db_default=False)
    default = models.BooleanField(default=False, db_default=False)
    """Whether a run's charts open with it if the address names no view."""
    charts = models.JSONField()
    """``dressage.chart_views.document.ChartsDocument``."""
    created_by = models.CharField(max_length=300)

    class Meta:
        indexes = [models.Index(fields=["team", "created_at", "id"], name="chart_view_page")]
        constraints = [
            models.UniqueConstraint(fields=["team", "owner", "name"], name="one_view_per_name"),
            models.UniqueConstraint(fields=["team"], condition=Q(default=True), name="one_default_view"),
            models.CheckConstraint(condition=Q(default=False) | Q(shared=True), name="default_views_are_shared"),
        ]
