"""REST views of the row search."""

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.api.permissions import IsViewer
from dressage.common.scopes import Noun
from dressage.datasets import selectors
from dressage.datasets.search import building
from dressage.datasets.search.find import find
from dressage.datasets.search.one import one_row
from dressage.datasets.search.serializers import (
    FoundRowsSerializer,
    OneRowSerializer,
    RowValuesSerializer,
    SearchRowsSerializer,
)
from dressage.datasets.search.values import row_values
from dressage.teams.api import ApiView, TeamRequest


class RowSearchView(ApiView):
    """Search in the rows of a version."""

    noun = Noun.DATASETS
    roles = {"POST": IsViewer}

    @extend_schema(
        operation_id="searchDatasetRows",
        tags=["datasets"],
        request=SearchRowsSerializer,
        responses=FoundRowsSerializer,
    )
    def post(self, request: TeamRequest, dataset_id: str, number: int) -> Response:
        """Find rows, in the order of the version. Nothing is changed.

        The first search in a large version starts to build its index. Until the index is ready, a page covers only the
        rows that could be examined in time: continue with `after` while `has_more` is true.
        """
        version = selectors.readable_version(request.team, dataset_id, number)
        fields = self.body(SearchRowsSerializer)
        with selectors.missing_files("/number"):
            found = find(version, fields["query"], fields["after"], fields["limit"])
        if found["index"]["state"] == "building":
            building.ask(version)
        return Response(FoundRowsSerializer(found).data)


class RowView(ApiView):
    """One row of a version."""

    noun = Noun.DATASETS

    @extend_schema(operation_id="getDatasetRow", tags=["datasets"], responses=OneRowSerializer)
    def get(self, request: TeamRequest, dataset_id: str, number: int, index: int) -> Response:
        """Return one stored row by its position from 0, with what operations found about it."""
        version = selectors.readable_version(request.team, dataset_id, number)
        with selectors.missing_files("/number"):
            found = one_row(version, index)
        return Response(OneRowSerializer(found).data)


class RowValuesView(ApiView):
    """Values of a version's rows."""

    noun = Noun.DATASETS

    @extend_schema(operation_id="listDatasetRowValues", tags=["datasets"], responses=RowValuesSerializer)
    def get(self, request: TeamRequest, dataset_id: str, number: int) -> Response:
        """List values for filters: of columns and scripts from a sample of the rows, and of texts in notes."""
        version = selectors.readable_version(request.team, dataset_id, number)
        with selectors.missing_files("/number"):
            found = row_values(version)
        return Response(RowValuesSerializer(found).data)
