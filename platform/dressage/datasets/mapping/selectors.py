"""Queries for saved mappings."""

from collections.abc import Iterable

from django.db.models import QuerySet

from dressage.common.api.problems import invalid, not_found, validated
from dressage.datasets.models import SavedMapping
from dressage.teams.models import Team
from trainer_core.datasets.mapping import DatasetMapping


def saved_mappings(team: Team) -> QuerySet[SavedMapping]:
    """The team's mappings."""
    return SavedMapping.objects.for_team(team)


def saved_mapping(team: Team, mapping_id: str) -> SavedMapping:
    """One saved mapping. Raises a 404 problem."""
    found = saved_mappings(team).filter(id=mapping_id).first()
    if found is None:
        raise not_found("dataset mapping")
    return found


def fitting(team: Team, columns: Iterable[str]) -> list[SavedMapping]:
    """Mappings that were saved for files with exactly these columns, newest first."""
    found = saved_mappings(team).filter(columns=sorted(columns)).order_by("-created_at", "-id")
    return list(found[:20])


def mapping_of(team: Team, mapping: DatasetMapping | None, mapping_id: str | None) -> DatasetMapping | None:
    """The mapping that a request gives or names; None if it does neither.

    Raises:
        Problem: 422 if it gives both, or the id is not one of the team's.
    """
    if mapping_id is None:
        return mapping
    if mapping is not None:
        raise invalid("/mapping_id", "Give either a mapping or the id of a saved one.")
    found = saved_mappings(team).filter(id=mapping_id).first()
    if found is None:
        raise invalid("/mapping_id", "There is no such dataset mapping in this team.", code="unknown_reference")
    return validated(DatasetMapping, found.mapping, "mapping")
