"""REST views that use versions: derived versions, differences, downloads."""

from pathlib import Path
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import LIMIT
from dressage.common.api.permissions import IsEditor
from dressage.common.api.problems import invalid
from dressage.common.api.query import Choice, Flag, Query, Whole
from dressage.common.lengthy import FILES
from dressage.common.scopes import Noun
from dressage.datasets import selectors
from dressage.datasets.derivation.services import Into, derive
from dressage.datasets.versions import diff, downloads
from dressage.datasets.views.serializers import DerivedSerializer, DeriveSerializer, DiffPageSerializer
from dressage.teams.api import ApiView, TeamRequest


class DeriveView(ApiView):
    """Operations on a version."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 413, 429, 503)}

    @extend_schema(
        operation_id="deriveDatasetVersion",
        tags=["datasets"],
        request=DeriveSerializer,
        responses={200: DerivedSerializer, 201: DerivedSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest, dataset_id: str, number: int) -> Response:
        """Derive versions from this one: edit, filter, split or merge. `dry_run` only counts and creates nothing."""
        parent = selectors.readable_version(request.team, dataset_id, number)
        fields = self.body(DeriveSerializer)
        into = Into(**fields["into"]) if fields["into"] else None
        made = derive(
            request.team,
            parent,
            request.actor,
            fields["operation"].root,
            into=into,
            latest=fields["latest"],
            dry_run=fields["dry_run"],
        )
        code = status.HTTP_200_OK if fields["dry_run"] else status.HTTP_201_CREATED
        return Response(DerivedSerializer(made).data, status=code)


class DiffView(ApiView):
    """Difference between two versions."""

    noun = Noun.DATASETS
    problem_statuses = {"GET": (429, 503)}
    queries = {
        "GET": Query.of(
            Whole(
                name="against",
                least=1,
                description="Number of the version that came before; by default the parent, or the one made before.",
            ),
            Choice(name="kind", choices=diff.KINDS, description="Only rows of this kind."),
            Whole(name="after", most=10**11, what="the `next` of a page", code="invalid_cursor"),
            LIMIT,
        )
    }

    @extend_schema(operation_id="diffDatasetVersions", tags=["datasets"], responses=DiffPageSerializer)
    def get(self, request: TeamRequest, dataset_id: str, number: int) -> Response:
        """List the rows added, removed or changed since another version of the dataset, matched by their ids."""
        after = selectors.readable_version(request.team, dataset_id, number)
        against = self.query["against"] or selectors.number_before(after)
        if against is None:
            raise invalid("/against", "There is no earlier version: say which one to compare with.")
        before = selectors.readable_version(request.team, dataset_id, against)
        limit = self.query["limit"]
        with selectors.missing_files("/against"):
            found = _diff(request.team.id, before.path, after.path)
            counts = diff.counts_of(found)
            start, end = _stretch(counts, self.query["kind"])
            if self.query["after"] is not None:
                start = max(start, self.query["after"] + 1)
            data = diff.read_diff(found, before.path, after.path, start, max(0, min(limit, end - start)))
        more = start + limit < end
        page = {
            "object": "list",
            "against": against,
            "counts": counts,
            "data": data,
            "has_more": more,
            "next": start + limit - 1 if more else None,
        }
        return Response(DiffPageSerializer(page).data)


def _diff(team_id: str, before: Path, after: Path) -> Path:
    with FILES.place(team_id):
        return diff.make_diff(before, after)


def _stretch(counts: diff.DiffCounts, kind: diff.Kind | None) -> tuple[int, int]:
    """First index of the differences of a kind, and the index after its last."""
    if kind is None:
        return 0, counts["added"] + counts["removed"] + counts["changed"]
    start = sum(counts[before] for before in diff.KINDS[: diff.KINDS.index(kind)])
    return start, start + counts[kind]


_DOWNLOADED = (*downloads.CONTENT_TYPES.values(), *(kind for kind, _ in downloads.PACKED.values()))


class DownloadView(ApiView):
    """Download of a version's rows as a file."""

    noun = Noun.DATASETS
    queries = {
        "GET": Query.of(
            Choice(
                name="type", choices=tuple(downloads.CONTENT_TYPES), default="jsonl", description="Format of the file."
            ),
            Flag(name="gzip", description="Whether it is packed with gzip."),
            Flag(name="zstd", description="Whether it is packed with Zstandard instead."),
            Flag(
                name="raw",
                description="CSV only: texts as they are, and plain names of columns. Spreadsheets may take such texts "
                "for formulas, and an upload of the file has other rows.",
            ),
        )
    }

    @extend_schema(
        operation_id="downloadDatasetVersion",
        tags=["datasets"],
        responses={
            **{(200, kind): OpenApiTypes.BINARY for kind in _DOWNLOADED},
            (200, downloads.CONTENT_TYPES["json"]): {"type": "array", "items": {"type": "object"}},
        },
    )
    def get(self, request: TeamRequest, dataset_id: str, number: int) -> Any:
        """Download all rows in order, as JSON lines, a JSON array, CSV or Parquet. An upload of it has the same rows.

        In CSV, a header that ends with `::json` declares cells of JSON, and one that ends with `::escaped` texts with
        an apostrophe in front of those that a spreadsheet would take for formulas. `raw=true` writes texts as they are.
        The response header `Dressage-Cells` says which it is: `escaped` or `raw`.
        """
        version = selectors.readable_version(request.team, dataset_id, number)
        wanted, packing, raw = self.query["type"], self._packing(), self.query["raw"]
        if raw and wanted != "csv":
            raise invalid("/raw", "Only CSV is escaped: ask for raw cells with type=csv.")
        with selectors.missing_files("/type"):
            file = version.path.open("rb")  # an open file can be read to its end, even if it is deleted
        columns = [column["name"] for column in version.columns]
        kind, ending = downloads.PACKED[packing] if packing else (downloads.CONTENT_TYPES[wanted], "")
        name = f"{version.dataset.slug}-{version.number}.{wanted}{ending}"
        response = StreamingHttpResponse(
            downloads.stream(file, wanted, columns, packing, raw=raw),
            content_type=kind,
            headers={
                "Content-Disposition": f'attachment; filename="{name}"',
                **({"Dressage-Cells": "raw" if raw else "escaped"} if wanted == "csv" else {}),
            },
        )
        response._resource_closers.append(file.close)  # type: ignore[attr-defined]
        return response

    def _packing(self) -> downloads.Packing | None:
        if self.query["gzip"] and self.query["zstd"]:
            raise invalid("/zstd", "Ask for one of gzip and zstd.")
        return "gzip" if self.query["gzip"] else "zstd" if self.query["zstd"] else None
