"""REST views of saved views of charts."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.chart_views import selectors, services
from dressage.chart_views.serializers import (
    ChartViewSerializer,
    CreateChartViewSerializer,
    UpdateChartViewSerializer,
)
from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsViewer
from dressage.common.scopes import Noun
from dressage.teams.api import ApiView, TeamRequest


class ChartViewsView(ApiView):
    """All views."""

    noun = Noun.RUNS
    roles = {"POST": IsViewer}
    problem_statuses = {"POST": (409,)}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listChartViews", tags=["views"], responses=ChartViewSerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """Views that are yours or shared in the team, newest first."""
        return self.page(selectors.chart_views(request.team, request.actor), ChartViewSerializer)

    @extend_schema(
        operation_id="createChartView",
        tags=["views"],
        request=CreateChartViewSerializer,
        responses={201: ChartViewSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest) -> Response:
        """Save a view under a name. Sharing it requires the editor role."""
        fields = self.body(CreateChartViewSerializer)
        view = services.create_view(request.team, request.actor, request.role, **fields)
        return Response(ChartViewSerializer(view).data, status=status.HTTP_201_CREATED)


class ChartViewView(ApiView):
    """One view."""

    noun = Noun.RUNS
    roles = {"PATCH": IsViewer, "DELETE": IsViewer}
    problem_statuses = {"PATCH": (409,)}

    @extend_schema(operation_id="getChartView", tags=["views"], responses=ChartViewSerializer)
    def get(self, request: TeamRequest, view_id: str) -> Response:
        """A view."""
        return Response(ChartViewSerializer(selectors.chart_view(request.team, request.actor, view_id)).data)

    @extend_schema(
        operation_id="updateChartView", tags=["views"], request=UpdateChartViewSerializer, responses=ChartViewSerializer
    )
    def patch(self, request: TeamRequest, view_id: str) -> Response:
        """Rename a view, replace its content, share it, or make it the team's default."""
        view = selectors.chart_view(request.team, request.actor, view_id)
        fields = self.body(UpdateChartViewSerializer)
        return Response(ChartViewSerializer(services.change_view(view, request.actor, request.role, fields)).data)

    @extend_schema(operation_id="deleteChartView", tags=["views"], responses={204: None})
    def delete(self, request: TeamRequest, view_id: str) -> Response:
        """Delete a view."""
        services.delete_view(selectors.chart_view(request.team, request.actor, view_id), request.actor, request.role)
        return Response(status=status.HTTP_204_NO_CONTENT)
