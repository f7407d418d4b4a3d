"""Holds on versions: a transaction that is about to name a version prevents its deletion until it ends."""

from collections.abc import Iterable

from django.db import connection

from dressage.datasets.models import Dataset, DatasetShare, DatasetVersion
from dressage.teams.models import Team

_SHARE = f"""
    SELECT version.id FROM {DatasetVersion._meta.db_table} version
    JOIN {Dataset._meta.db_table} dataset ON dataset.id = version.dataset_id
    WHERE dataset.team_id = %s AND dataset.slug || '@' || version.number = ANY(%s)
    ORDER BY version.id FOR SHARE OF version
"""  # nosec B608: names of our own tables


_SHARED = f"""
    SELECT version.id FROM {DatasetShare._meta.db_table} share
    JOIN {DatasetVersion._meta.db_table} version ON version.dataset_id = share.dataset_id
    WHERE share.guest_id = %s AND share.revoked_at IS NULL AND share.slug || '@' || version.number = ANY(%s)
    ORDER BY version.id FOR SHARE OF share, version
"""  # nosec B608: names of our own tables


def hold(team: Team, refs: Iterable[str]) -> None:
    """Wait for deletions of the versions ``slug@number`` in progress, and prevent new ones until the commit.

    If a version belongs to another team, the same applies to the end of the share.

    Call it in a transaction, before checking that the versions exist. Holders do not wait for each other.
    """
    with connection.cursor() as cursor:
        wanted = sorted(set(refs))
        cursor.execute(_SHARE, [team.pk, wanted])
        cursor.execute(_SHARED, [team.pk, wanted])
