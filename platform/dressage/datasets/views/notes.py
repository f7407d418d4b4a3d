"""REST views of row notes."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsEditor
from dressage.common.scopes import Noun
from dressage.datasets import selectors
from dressage.datasets.versions import notes
from dressage.datasets.views.serializers import RowNotesSerializer
from dressage.teams.api import ApiView, TeamRequest


class NotesView(ApiView):
    """Notes of a version."""

    noun = Noun.DATASETS
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listRowNotes", tags=["datasets"], responses=RowNotesSerializer(many=True))
    def get(self, request: TeamRequest, dataset_id: str, number: int) -> Response:
        """List what operations have found about the rows of a version, newest first."""
        version = selectors.readable_version(request.team, dataset_id, number)
        return self.page(notes.visible(version), RowNotesSerializer)


class OneNotesView(ApiView):
    """Notes with one name."""

    noun = Noun.DATASETS
    roles = {"DELETE": IsEditor}

    @extend_schema(operation_id="deleteRowNotes", tags=["datasets"], responses={204: None})
    def delete(self, request: TeamRequest, dataset_id: str, number: int, name: str) -> Response:
        """Delete the results of an operation. The rows do not change."""
        found = notes.named(selectors.stored_version(request.team, dataset_id, number), name)
        notes.delete(found, request.actor)
        return Response(status=status.HTTP_204_NO_CONTENT)
