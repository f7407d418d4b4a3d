"""REST views of mappings: the preview of a file, and the team's saved mappings."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsEditor
from dressage.common.scopes import Noun
from dressage.datasets.limits import MAX_PREVIEW_BYTES
from dressage.datasets.mapping import selectors, services
from dressage.datasets.mapping.preview import preview
from dressage.datasets.mapping.serializers import (
    CreateSavedMappingSerializer,
    DatasetPreviewSerializer,
    PreviewRequestSerializer,
    SavedMappingSerializer,
    UpdateSavedMappingSerializer,
)
from dressage.teams.api import ApiView, TeamRequest


class DatasetPreviewView(ApiView):
    """Preview of an upload."""

    noun = Noun.DATASETS
    parser_classes = (MultiPartParser,)
    max_body_bytes = MAX_PREVIEW_BYTES
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (413, 429, 503)}

    @extend_schema(
        operation_id="previewDataset",
        tags=["datasets"],
        request={"multipart/form-data": PreviewRequestSerializer},
        responses=DatasetPreviewSerializer,
    )
    def post(self, request: TeamRequest) -> Response:
        """Preview a file, or its beginning, before uploading it.

        The first rows are read by `mapping` or `mapping_id`. Without either, their known shape, a saved mapping for the
        same columns, or a proposal is used. Nothing is stored.
        """
        fields = self.body(PreviewRequestSerializer)
        mapping = selectors.mapping_of(request.team, fields.get("mapping"), fields.get("mapping_id"))
        upload = fields["file"]
        found = preview(request.team, upload.file, upload.name or "", whole=fields["whole"], mapping=mapping)
        return Response(DatasetPreviewSerializer(found).data)


class SavedMappingsView(ApiView):
    """All saved mappings of the team."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409,)}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listDatasetMappings", tags=["datasets"], responses=SavedMappingSerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """List the team's saved mappings, newest first."""
        return self.page(selectors.saved_mappings(request.team), SavedMappingSerializer)

    @extend_schema(
        operation_id="createDatasetMapping",
        tags=["datasets"],
        request=CreateSavedMappingSerializer,
        responses={201: SavedMappingSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest) -> Response:
        """Save a mapping under a name. It is offered for files with the same columns."""
        saved = services.save_mapping(request.team, request.actor, **self.body(CreateSavedMappingSerializer))
        return Response(SavedMappingSerializer(saved).data, status=status.HTTP_201_CREATED)


class SavedMappingView(ApiView):
    """One saved mapping."""

    noun = Noun.DATASETS
    roles = {"PATCH": IsEditor, "DELETE": IsEditor}
    problem_statuses = {"PATCH": (409,)}

    @extend_schema(operation_id="getDatasetMapping", tags=["datasets"], responses=SavedMappingSerializer)
    def get(self, request: TeamRequest, mapping_id: str) -> Response:
        """Return a saved mapping."""
        return Response(SavedMappingSerializer(selectors.saved_mapping(request.team, mapping_id)).data)

    @extend_schema(
        operation_id="updateDatasetMapping",
        tags=["datasets"],
        request=UpdateSavedMappingSerializer,
        responses=SavedMappingSerializer,
    )
    def patch(self, request: TeamRequest, mapping_id: str) -> Response:
        """Rename a mapping, or replace its content. Versions created with it keep the content of that time."""
        saved = selectors.saved_mapping(request.team, mapping_id)
        changed = services.change_mapping(saved, request.actor, self.body(UpdateSavedMappingSerializer))
        return Response(SavedMappingSerializer(changed).data)

    @extend_schema(operation_id="deleteDatasetMapping", tags=["datasets"], responses={204: None})
    def delete(self, request: TeamRequest, mapping_id: str) -> Response:
        """Delete a mapping. Versions created with it keep their copy."""
        services.delete_mapping(selectors.saved_mapping(request.team, mapping_id), request.actor)
        return Response(status=status.HTTP_204_NO_CONTENT)
