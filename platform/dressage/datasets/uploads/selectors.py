"""Queries for uploads."""

from django.db.models import QuerySet
from django.utils import timezone

from dressage.common.api.problems import not_found
from dressage.datasets.models import DatasetUpload
from dressage.teams.models import Team


def uploads(team: Team) -> QuerySet[DatasetUpload]:
    """The team's uploads that have not expired."""
    return DatasetUpload.objects.for_team(team).filter(expires_at__gt=timezone.now())


def upload(team: Team, upload_id: str) -> DatasetUpload:
    """One upload. Raises a 404 problem."""
    found = uploads(team).filter(pk=upload_id).first()
    if found is None:
        raise not_found("dataset upload")
    return found
