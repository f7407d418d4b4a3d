"""API tokens."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent_for_its_caller
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsAdmin
from dressage.common.api.problems import Problem, invalid
from dressage.common.roles import Role
from dressage.common.scopes import Noun, Scope
from dressage.teams import selectors, tokens
from dressage.teams.api import ApiView, TeamRequest
from dressage.teams.models import ServiceAccount
from dressage.teams.serializers import (
    CreateTokenSerializer,
    HandOverTokenSerializer,
    NewTokenSerializer,
    TokenOptionsSerializer,
    TokenSerializer,
    with_secret,
)
from dressage.teams.services import acting_as_admin


def named_account(request: TeamRequest, account_id: str) -> ServiceAccount:
    """The service account that a body names. Raises a 422 problem."""
    try:
        return selectors.service_account(request.team, account_id)
    except Problem as error:
        raise invalid("/service_account", error.detail, code="unknown_service_account") from error


class TokensView(ApiView):
    """The team's tokens."""

    noun = Noun.TEAM
    people_only = frozenset({"POST"})
    roles = {"GET": IsAdmin, "POST": IsAdmin}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listTokens", tags=["tokens"], responses=TokenSerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """Tokens that have not been revoked. Their secrets are not stored."""
        return self.page(selectors.tokens(request.team), TokenSerializer)

    @extend_schema(
        operation_id="createToken", tags=["tokens"], request=CreateTokenSerializer, responses={201: NewTokenSerializer}
    )
    @idempotent_for_its_caller
    def post(self, request: TeamRequest) -> Response:
        """Create a token. Only people can: a token cannot create tokens. Its secret is shown only this once."""
        fields = self.body(CreateTokenSerializer)
        account = fields["service_account"]
        with acting_as_admin(request.team, request.actor):
            made, secret = tokens.create_token(
                request.team,
                request.actor,
                name=fields["name"],
                role=Role(fields["role"]),
                owner=request.user if account is None else named_account(request, account),
                scopes=None if fields["scopes"] is None else [Scope(scope) for scope in fields["scopes"]],
                expires_at=fields["expires_at"],
            )
        document = with_secret(NewTokenSerializer, selectors.token(request.team, made.id), secret=secret)
        return Response(document, status=status.HTTP_201_CREATED)


class TokenOptionsView(ApiView):
    """Options for a new token."""

    noun = Noun.TEAM
    roles = {"GET": IsAdmin}

    @extend_schema(operation_id="getTokenOptions", tags=["tokens"], responses=TokenOptionsSerializer)
    def get(self, request: TeamRequest) -> Response:
        """Scopes that a token may have, and its maximum lifetime."""
        scopes = [{"name": scope.value, "description": scope.label} for scope in Scope]
        life, longest = tokens.default_life().days, tokens.longest_life().days
        return Response(TokenOptionsSerializer({"default_days": life, "max_days": longest, "scopes": scopes}).data)


class ApiTokenView(ApiView):
    """One token."""

    noun = Noun.TEAM
    people_only = frozenset({"PATCH"})
    roles = {"PATCH": IsAdmin, "DELETE": IsAdmin}
    problem_statuses = {"PATCH": (409,)}

    @extend_schema(
        operation_id="handOverToken", tags=["tokens"], request=HandOverTokenSerializer, responses=TokenSerializer
    )
    def patch(self, request: TeamRequest, token_id: str) -> Response:
        """Give a token without an owner, from an earlier release, to a service account."""
        token = selectors.token(request.team, token_id)
        account = named_account(request, self.body(HandOverTokenSerializer)["service_account"])
        with acting_as_admin(request.team, request.actor):
            tokens.hand_over(request.team, request.actor, token, account)
        return Response(TokenSerializer(selectors.token(request.team, token_id)).data)

    @extend_schema(operation_id="revokeToken", tags=["tokens"], request=None, responses={204: None})
    def delete(self, request: TeamRequest, token_id: str) -> Response:
        """Revoke a token; it stops working immediately."""
        token = selectors.token(request.team, token_id)
        with acting_as_admin(request.team, request.actor):
            tokens.revoke_token(request.team, request.actor, token)
        return Response(status=status.HTTP_204_NO_CONTENT)
