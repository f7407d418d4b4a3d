"""REST views of served policies."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent, idempotent_for_its_caller
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsEditor
from dressage.common.scopes import Noun
from dressage.serving import selectors, services
from dressage.serving.documents import new_serving_document, serving_document
from dressage.serving.serializers import NewServingSerializer, ServePolicySerializer, ServingSerializer
from dressage.teams.api import ApiView, TeamRequest


class ServingsView(ApiView):
    """All served policies."""

    noun = Noun.POLICIES
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 429)}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listServings", tags=["policies"], responses=ServingSerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """List the policies that the team serves, and those it stopped within the last day, newest first."""
        paginator = self.pagination_class()
        rows = paginator.paginate_queryset(selectors.servings(request.team), request, self)
        return paginator.get_paginated_response([serving_document(row) for row in rows])

    @extend_schema(
        operation_id="servePolicy",
        tags=["policies"],
        request=ServePolicySerializer,
        responses={202: NewServingSerializer},
    )
    @idempotent_for_its_caller
    def post(self, request: TeamRequest) -> Response:
        """Serve a policy over HTTP, in the form of OpenAI's API. It stops after an hour without a request.

        The key in the response is shown only this once.
        """
        serving, key = services.serve_policy(request.team, request.actor, **self.body(ServePolicySerializer))
        return Response(new_serving_document(serving, key), status=status.HTTP_202_ACCEPTED)


class ServingView(ApiView):
    """One served policy."""

    noun = Noun.POLICIES

    @extend_schema(operation_id="getServing", tags=["policies"], responses=ServingSerializer)
    def get(self, request: TeamRequest, serving_id: str) -> Response:
        """Return a served policy, with the address for its clients once it is up."""
        return Response(serving_document(selectors.serving(request.team, serving_id)))


class StopServingView(ApiView):
    """The end of a served policy."""

    noun = Noun.POLICIES
    roles = {"POST": IsEditor}
    without_body = frozenset({"POST"})

    @extend_schema(operation_id="stopServing", tags=["policies"], request=None, responses={202: ServingSerializer})
    @idempotent
    def post(self, request: TeamRequest, serving_id: str) -> Response:
        """Stop to serve a policy. Requests under way are cut off within seconds. Stopping twice is the same as once."""
        serving = services.stop_serving(request.team, request.actor, serving_id)
        return Response(serving_document(serving), status=status.HTTP_202_ACCEPTED)
