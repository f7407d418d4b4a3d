"""Service accounts."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsAdmin
from dressage.common.roles import Role
from dressage.common.scopes import Noun
from dressage.teams import selectors, service_accounts
from dressage.teams.api import ApiView, TeamRequest
from dressage.teams.serializers import (
    CreateServiceAccountSerializer,
    ServiceAccountSerializer,
    UpdateServiceAccountSerializer,
)
from dressage.teams.services import acting_as_admin


class ServiceAccountsView(ApiView):
    """The team's service accounts."""

    noun = Noun.TEAM
    people_only = frozenset({"POST"})
    roles = {"GET": IsAdmin, "POST": IsAdmin}
    problem_statuses = {"POST": (409,)}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listServiceAccounts", tags=["tokens"], responses=ServiceAccountSerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """Accounts for programs, including disabled ones."""
        return self.page(selectors.service_accounts(request.team), ServiceAccountSerializer)

    @extend_schema(
        operation_id="createServiceAccount",
        tags=["tokens"],
        request=CreateServiceAccountSerializer,
        responses={201: ServiceAccountSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest) -> Response:
        """Create an account for programs. Its tokens outlive the people who create them."""
        fields = self.body(CreateServiceAccountSerializer)
        with acting_as_admin(request.team, request.actor):
            made = service_accounts.create_service_account(
                request.team, request.actor, name=fields["name"], role=Role(fields["role"])
            )
        document = ServiceAccountSerializer(selectors.service_account(request.team, made.id)).data
        return Response(document, status=status.HTTP_201_CREATED)


class ServiceAccountView(ApiView):
    """One service account."""

    noun = Noun.TEAM
    people_only = frozenset({"PATCH"})
    roles = {"PATCH": IsAdmin}
    problem_statuses = {"PATCH": (409,)}

    @extend_schema(
        operation_id="updateServiceAccount",
        tags=["tokens"],
        request=UpdateServiceAccountSerializer,
        responses=ServiceAccountSerializer,
    )
    def patch(self, request: TeamRequest, account_id: str) -> Response:
        """Rename an account, give it another role, disable or enable it. Its tokens follow immediately."""
        found = selectors.service_account(request.team, account_id)
        changes = self.body(UpdateServiceAccountSerializer)
        with acting_as_admin(request.team, request.actor):
            service_accounts.update_service_account(request.team, request.actor, found, changes)
        return Response(ServiceAccountSerializer(selectors.service_account(request.team, account_id)).data)
