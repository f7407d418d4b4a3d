"""REST views of datasets."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import LIMIT, page_query
from dressage.common.api.permissions import IsEditor
from dressage.common.api.query import Query, Whole
from dressage.common.scopes import Noun
from dressage.datasets import selectors, services
from dressage.datasets.limits import MAX_UPLOAD_BYTES
from dressage.datasets.mapping.selectors import mapping_of
from dressage.datasets.uploads import services as uploads
from dressage.datasets.versions import deletion
from dressage.datasets.views.serializers import (
    CreateDatasetSerializer,
    DatasetRowPageSerializer,
    DatasetSerializer,
    DatasetVersionSerializer,
    UploadSerializer,
)
from dressage.teams.api import ApiView, TeamRequest
from dressage.teams.models import Team


@contextmanager
def given_file(team: Team, fields: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The file of a request as the services expect it: from the body, or from an upload that is removed afterwards."""
    if "upload" in fields:
        with uploads.finished(team, fields["upload"]) as file:
            yield file
    else:
        sent: UploadedFile = fields["file"]
        yield {"file": sent.file, "size": sent.size or 0, "file_name": sent.name or ""}


class DatasetsView(ApiView):
    """All datasets."""

    noun = Noun.DATASETS
    parser_classes = (MultiPartParser,)
    max_body_bytes = MAX_UPLOAD_BYTES
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 413, 429, 503)}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listDatasets", tags=["datasets"], responses=DatasetSerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """List the team's datasets, newest first."""
        return self.page(selectors.datasets(request.team), DatasetSerializer)

    @extend_schema(
        operation_id="createDataset",
        tags=["datasets"],
        request={"multipart/form-data": CreateDatasetSerializer},
        responses={201: DatasetSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest) -> Response:
        """Upload a dataset.

        Rows of known shapes (GSM8K, MATH, MBPP, verl, TRL and others) are mapped to `prompt` or `messages`, `answer`
        and the columns that graders read; `origin` says how. Other rows are read by a `mapping`, or by the saved
        mapping `mapping_id`. Faulty rows are returned as `errors` with pointers such as `/file/lines/17`, or
        `/file/rows/17` if the format has no lines. `errors` contains the first hundred. If there are more, `report`
        lists up to ten thousand as `{place, detail}`.
        """
        fields = self.body(CreateDatasetSerializer)
        with given_file(request.team, fields) as file:
            made = services.create_dataset(
                request.team,
                request.actor,
                name=fields["name"],
                slug=fields["slug"],
                description=fields["description"],
                mapping=mapping_of(request.team, fields.get("mapping"), fields.get("mapping_id")),
                **file,
            )
        document = DatasetSerializer(selectors.dataset(request.team, made.id)).data
        return Response(document, status=status.HTTP_201_CREATED)


class DatasetView(ApiView):
    """One dataset."""

    noun = Noun.DATASETS
    roles = {"DELETE": IsEditor}
    problem_statuses = {"DELETE": (409,)}

    @extend_schema(operation_id="getDataset", tags=["datasets"], responses=DatasetSerializer)
    def get(self, request: TeamRequest, dataset_id: str) -> Response:
        """Return a dataset with all its versions."""
        return Response(DatasetSerializer(selectors.readable_dataset(request.team, dataset_id)).data)

    @extend_schema(operation_id="deleteDataset", tags=["datasets"], responses={204: None})
    def delete(self, request: TeamRequest, dataset_id: str) -> Response:
        """Delete a dataset with all its versions, unless a run, a rehearsal or a bench job needs one of them."""
        deletion.delete_dataset(selectors.dataset(request.team, dataset_id), request.actor)
        return Response(status=status.HTTP_204_NO_CONTENT)


class DatasetVersionsView(ApiView):
    """The versions of a dataset."""

    noun = Noun.DATASETS
    parser_classes = (MultiPartParser,)
    max_body_bytes = MAX_UPLOAD_BYTES
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 413, 429, 503)}

    @extend_schema(
        operation_id="createDatasetVersion",
        tags=["datasets"],
        request={"multipart/form-data": UploadSerializer},
        responses={201: DatasetVersionSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest, dataset_id: str) -> Response:
        """Upload the next version. Runs that use an earlier version keep it."""
        found = selectors.dataset(request.team, dataset_id)
        fields = self.body(UploadSerializer)
        mapping = mapping_of(request.team, fields.get("mapping"), fields.get("mapping_id"))
        with given_file(request.team, fields) as file:
            made = services.create_version(found, request.actor, mapping=mapping, **file)
        return Response(DatasetVersionSerializer(made).data, status=status.HTTP_201_CREATED)


class DatasetVersionView(ApiView):
    """One version."""

    noun = Noun.DATASETS
    roles = {"DELETE": IsEditor}
    problem_statuses = {"DELETE": (409,)}

    @extend_schema(operation_id="getDatasetVersion", tags=["datasets"], responses=DatasetVersionSerializer)
    def get(self, request: TeamRequest, dataset_id: str, number: int) -> Response:
        """Return a version of a dataset."""
        return Response(DatasetVersionSerializer(selectors.known_version(request.team, dataset_id, number)).data)

    @extend_schema(operation_id="deleteDatasetVersion", tags=["datasets"], responses={204: None})
    def delete(self, request: TeamRequest, dataset_id: str, number: int) -> Response:
        """Delete the rows of a version, unless a run, a rehearsal or a bench job needs them. Its lineage stays."""
        deletion.delete_version(selectors.stored_version(request.team, dataset_id, number), request.actor)
        return Response(status=status.HTTP_204_NO_CONTENT)


class DatasetRowsView(ApiView):
    """The rows of a version."""

    noun = Noun.DATASETS
    queries = {
        "GET": Query.of(
            Whole(
                name="after",
                most=10**11,
                what="the index of a row",
                code="invalid_cursor",
                description="Index of the last row seen.",
            ),
            LIMIT,
        )
    }

    @extend_schema(
        operation_id="listDatasetRows",
        tags=["datasets"],
        responses=DatasetRowPageSerializer,
    )
    def get(self, request: TeamRequest, dataset_id: str, number: int) -> Response:
        """List rows in the order of the upload."""
        version = selectors.readable_version(request.team, dataset_id, number)
        limit, after = self.query["limit"], self.query["after"]
        start = 0 if after is None else after + 1
        rows = selectors.rows(version, start, limit)
        more = start + len(rows) < version.rows and bool(rows)
        document = {"object": "list", "data": rows, "has_more": more, "next": rows[-1]["index"] if more else None}
        return Response(DatasetRowPageSerializer(document).data)
