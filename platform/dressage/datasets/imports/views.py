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
        """List the places that datasets may be imported from, and why other places are not available."""
        return Response(DatasetSourcesSerializer(places.dataset_sources(request.team)).data)


class DatasetListingView(ApiView):
    """Files at a place."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (429, 503)}

    @extend_schema(
        operation_id="listImportableFiles", tags=["datasets"], request=PlaceSerializer, responses=ListedPlaceSerializer
    )
    def post(self, request: TeamRequest) -> Response:
        """List what can be imported from a place: configs and splits with their data files. Nothing is stored."""
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
        """List the team's imports of datasets with their progress, newest first."""
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

        Rows are read like those of an upload. If their shape is unknown and no mapping is given, the import keeps its
        files and waits for a person to say how to read them.
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
        """Return an import with its progress."""
        return Response(DatasetImportSerializer(selectors.dataset_import(request.team, dataset_import_id)).data)


class DatasetImportReportView(ApiView):
    """Faults of an import."""

    noun = Noun.DATASETS

    @extend_schema(operation_id="getDatasetImportReport", tags=["datasets"], responses=ImportReportSerializer)
    def get(self, request: TeamRequest, dataset_import_id: str) -> Response:
        """List all faults of rows because of which an import was refused, up to 10,000."""
        return Response(ImportReportSerializer(selectors.dataset_import(request.team, dataset_import_id)).data)


class PreviewImportView(ApiView):
    """Preview of the fetched rows."""

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
        """Preview the first rows of an import that waits for a person or was refused, as `previewDataset` does."""
        row = selectors.dataset_import(request.team, dataset_import_id)
        fields = self.body(HowToReadSerializer)
        mapping = mapping_of(request.team, fields["mapping"], fields["mapping_id"])
        services.require_files(row)
        with files.path_of(row.id, 0).open("rb") as file:
            found = preview(request.team, file, row.files[0]["path"], whole=True, mapping=mapping)
        return Response(DatasetPreviewSerializer(found).data)


class ReadImportView(ApiView):
    """A person's decision on how to read the rows."""

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
        """Read the files of an import that waits for a person or whose rows were refused."""
        row = selectors.dataset_import(request.team, dataset_import_id)
        fields = self.body(HowToReadSerializer)
        mapping = mapping_of(request.team, fields["mapping"], fields["mapping_id"])
        return Response(DatasetImportSerializer(services.read_import(request.team, request.actor, row, mapping)).data)


class CancelDatasetImportView(ApiView):
    """Cancellation of an import."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409,)}
    without_body = frozenset({"POST"})

    @extend_schema(
        operation_id="cancelDatasetImport", tags=["datasets"], request=None, responses=DatasetImportSerializer
    )
    @idempotent
    def post(self, request: TeamRequest, dataset_import_id: str) -> Response:
        """Cancel an import, or dismiss a failed one. Its files are removed."""
        row = selectors.dataset_import(request.team, dataset_import_id)
        return Response(DatasetImportSerializer(services.cancel_import(request.team, request.actor, row)).data)


class RetryDatasetImportView(ApiView):
    """Retry of an import."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 429)}
    without_body = frozenset({"POST"})

    @extend_schema(
        operation_id="retryDatasetImport", tags=["datasets"], request=None, responses=DatasetImportSerializer
    )
    @idempotent
    def post(self, request: TeamRequest, dataset_import_id: str) -> Response:
        """Retry an import that failed or was cancelled. Files that were already fetched are not fetched again."""
        row = selectors.dataset_import(request.team, dataset_import_id)
        return Response(DatasetImportSerializer(services.retry_import(request.team, request.actor, row)).data)
