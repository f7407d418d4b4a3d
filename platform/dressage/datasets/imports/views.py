"""REST views of imports."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsEditor
from dressage.common.scopes import Noun
from dressage.datasets.imports import files, places, selectors, services
from dressage.datasets.imports.serializers import (
    DatasetImportSerializer,
    DatasetSourcesSerializer,
    HowToReadSerializer,
    ImportReportSerializer,
    ListedPlaceSerializer,
    PlaceSerializer,
    StartDatasetImportSerializer,
)
from dressage.datasets.mapping.preview import preview
from dressage.datasets.mapping.selectors import mapping_of
from dressage.datasets.mapping.serializers import DatasetPreviewSerializer
from dressage.teams.api import ApiView, TeamRequest


class DatasetSourcesView(ApiView):
    """Places that datasets may be imported from."""

    noun = Noun.DATASETS
    roles = {"GET": IsEditor}

    @extend_schema(operation_id="getDatasetSources", tags=["datasets"], responses=DatasetSourcesSerializer)
    def get(self, request: TeamRequest) -> Response:
        """The places beside uploads that datasets may be imported from, and why from others not."""
        return Response(DatasetSourcesSerializer(places.dataset_sources(request.team)).data)


class DatasetListingView(ApiView):
    """Files of a place."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (429, 503)}

    @extend_schema(
        operation_id="listImportableFiles", tags=["datasets"], request=PlaceSerializer, responses=ListedPlaceSerializer
    )
    def post(self, request: TeamRequest) -> Response:
        """List what can be imported from a place: configs and splits, with the data files of each. Nothing is kept."""
        found = places.listed(request.team, **self.body(PlaceSerializer))
        return Response(ListedPlaceSerializer(found).data)


class DatasetImportsView(ApiView):
    """All imports."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (404, 409, 429)}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listDatasetImports", tags=["datasets"], responses=DatasetImportSerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """The team's imports of datasets, newest first, with how far each has come."""
        return self.page(selectors.imports(request.team), DatasetImportSerializer)

    @extend_schema(
        operation_id="startDatasetImport",
        tags=["datasets"],
        request=StartDatasetImportSerializer,
        responses={201: DatasetImportSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest) -> Response:
        """Import a dataset, or its next version, in the background.

        Rows are read as those of an upload are. Where their shape is not known and no mapping is given, the import
        waits with its files for a person to say how they are read.
        """
        fields = self.body(StartDatasetImportSerializer)
        mapping = mapping_of(request.team, fields.pop("mapping"), fields.pop("mapping_id"))
        paths = fields.pop("files")
        row = services.start_import(request.team, request.actor, mapping=mapping, paths=paths, **fields)
        return Response(DatasetImportSerializer(row).data, status=status.HTTP_201_CREATED)


class DatasetImportView(ApiView):
    """One import."""

    noun = Noun.DATASETS

    @extend_schema(operation_id="getDatasetImport", tags=["datasets"], responses=DatasetImportSerializer)
    def get(self, request: TeamRequest, dataset_import_id: str) -> Response:
        """An import, with how far it has come."""
        return Response(DatasetImportSerializer(selectors.dataset_import(request.team, dataset_import_id)).data)


class DatasetImportReportView(ApiView):
    """Faults of an import."""

    noun = Noun.DATASETS

    @extend_schema(operation_id="getDatasetImportReport", tags=["datasets"], responses=ImportReportSerializer)
    def get(self, request: TeamRequest, dataset_import_id: str) -> Response:
        """All faults of rows for which an import was refused, up to 10,000."""
        return Response(ImportReportSerializer(selectors.dataset_import(request.team, dataset_import_id)).data)


class PreviewImportView(ApiView):
    """Preview of what was fetched."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 429, 503)}

    @extend_schema(
        operation_id="previewDatasetImport",
        tags=["datasets"],
        request=HowToReadSerializer,
        responses=DatasetPreviewSerializer,
    )
    def post(self, request: TeamRequest, dataset_import_id: str) -> Response:
        """Look at the first rows of an import that waits for a person, or was refused, as `previewDataset` does."""
        row = selectors.dataset_import(request.team, dataset_import_id)
        fields = self.body(HowToReadSerializer)
        mapping = mapping_of(request.team, fields["mapping"], fields["mapping_id"])
        services.require_files(row)
        with files.path_of(row.id, 0).open("rb") as file:
            found = preview(request.team, file, row.files[0]["path"], whole=True, mapping=mapping)
        return Response(DatasetPreviewSerializer(found).data)


class ReadImportView(ApiView):
    """What a person says of the rows."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 429)}

    @extend_schema(
        operation_id="readDatasetImport",
        tags=["datasets"],
        request=HowToReadSerializer,
        responses=DatasetImportSerializer,
    )
    @idempotent
    def post(self, request: TeamRequest, dataset_import_id: str) -> Response:
        """Have the files of an import read that waits for a person, or whose rows were refused."""
        row = selectors.dataset_import(request.team, dataset_import_id)
        fields = self.body(HowToReadSerializer)
        mapping = mapping_of(request.team, fields["mapping"], fields["mapping_id"])
        return Response(DatasetImportSerializer(services.read_import(request.team, request.actor, row, mapping)).data)


class CancelDatasetImportView(ApiView):
    """The end of an import."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409,)}
    without_body = frozenset({"POST"})

    @extend_schema(
        operation_id="cancelDatasetImport", tags=["datasets"], request=None, responses=DatasetImportSerializer
    )
    @idempotent
    def post(self, request: TeamRequest, dataset_import_id: str) -> Response:
        """End an import, or put one away that has failed; what it has fetched is removed."""
        row = selectors.dataset_import(request.team, dataset_import_id)
        return Response(DatasetImportSerializer(services.cancel_import(request.team, request.actor, row)).data)


class RetryDatasetImportView(ApiView):
    """Another try."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 429)}
    without_body = frozenset({"POST"})

    @extend_schema(
        operation_id="retryDatasetImport", tags=["datasets"], request=None, responses=DatasetImportSerializer
    )
    @idempotent
    def post(self, request: TeamRequest, dataset_import_id: str) -> Response:
        """Try an import again that has failed or was cancelled. What was fetched is not fetched again."""
        row = selectors.dataset_import(request.team, dataset_import_id)
        return Response(DatasetImportSerializer(services.retry_import(request.team, request.actor, row)).data)
