"""Quota usage of a team: what it stores in datasets, and its limits.

Each stored file of a version that was not deleted counts once: versions of one dataset with equal rows share a file.
Row notes and indexes do not count. Rows that others share with the team count for their owner.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Sum
from django.utils import timezone

from dressage.common.api.problems import Problem
from dressage.datasets.checking.check import TooManyRows, require_few
from dressage.datasets.files.columnar.stored import TakenRows
from dressage.datasets.models import (
    DatasetImport,
    DatasetImportState,
    DatasetUpload,
    DatasetVersion,
    TeamDatasetQuota,
)
from dressage.datasets.rows.row import Row

_UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


@dataclass(frozen=True, slots=True)
class DatasetUsage:
    """What a team stores, and its limits."""

    bytes: int
    """Size of the stored files."""
    rows: int
    bytes_limit: int
    rows_limit: int

    @property
    def rows_left(self) -> int:
        return max(0, self.rows_limit - self.rows)


def usage_of(team_id: str) -> DatasetUsage:
    """Usage of a team's quota. Lock the team first if the result must stay valid."""
    stored = DatasetVersion.objects.filter(dataset__team=team_id, deleted_at=None).order_by()
    files = stored.values("dataset", "sha256", "bytes", "rows").distinct()
    used = files.aggregate(all_bytes=Sum("bytes"), all_rows=Sum("rows"))
    own = TeamDatasetQuota.objects.filter(team=team_id).first()
    return DatasetUsage(
        bytes=used["all_bytes"] or 0,
        rows=used["all_rows"] or 0,
        bytes_limit=usual(own.bytes if own else None, settings.DATASET_BYTES_PER_TEAM),
        rows_limit=usual(own.rows if own else None, settings.DATASET_ROWS_PER_TEAM),
    )


def usual(own: int | None, of_all: int) -> int:
    """A team's limit: its own, or the one for all teams."""
    return of_all if own is None else own


def on_the_way(team_id: str, *, but: str = "") -> int:
    """Bytes of the team's unfinished uploads and imports, excluding the import ``but``."""
    uploads = DatasetUpload.objects.filter(team=team_id, expires_at__gt=timezone.now())
    imports = DatasetImport.objects.filter(team=team_id).exclude(pk=but)
    imports = imports.filter(state__in=[*DatasetImport.open_states(), DatasetImportState.WAITING])
    found = uploads.aggregate(bytes=Sum("size"))["bytes"], imports.aggregate(bytes=Sum("bytes_total"))["bytes"]
    return sum(count or 0 for count in found)


def require_quota(team_id: str, *, bytes: int = 0, rows: int = 0, promised: int = 0) -> DatasetUsage:
    """Require that a team may store this many more bytes and rows.

    Args:
        team_id: the team.
        bytes: additional bytes.
        rows: additional rows.
        promised: bytes of other files that are still arriving.

    Returns:
        The current usage.

    Raises:
        Problem: 409 with the usage and advice.
    """
    usage = usage_of(team_id)
    if usage.bytes + promised + bytes > usage.bytes_limit:
        coming = f", unfinished uploads and imports {size(promised)}" if promised else ""
        raise _full(f"have {size(usage.bytes)} of {size(usage.bytes_limit)}{coming}; this needs {size(bytes)} more")
    if usage.rows + rows > usage.rows_limit:
        raise _full(f"have {usage.rows:,} of {usage.rows_limit:,} rows; this needs {rows:,} more")
    return usage


def within(parts: Iterable[Row | TakenRows], left: int) -> Iterator[Row | TakenRows]:
    """Pass rows through. Raises a 409 problem at the first row beyond what the team has left."""
    try:
        yield from require_few(parts, left)
    except TooManyRows as error:
        raise too_many_rows(left) from error


def too_many_rows(left: int) -> Problem:
    """The 409 problem for a file with more rows than the team has left."""
    return _full(f"may have {left:,} rows more; this file has more than that")


def size(count: int) -> str:
    """A number of bytes in readable form."""
    for unit, name in _UNITS:
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count} bytes"


def _full(fact: str) -> Problem:
    detail = (
        f"The datasets of your team {fact}. Delete versions that nobody needs, or ask the operator of the installation "
        "for a higher limit."
    )
    return Problem(409, "Conflict", detail, code="dataset_quota")
