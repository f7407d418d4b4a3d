"""API tokens."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.idempotency import idempotent_for_its_caller
from dressage.common.paging import page_query
from dressage.common.permissions import IsAdmin
from dressage.common.roles import Role
from dressage.teams import selectors, services
from dressage.teams.api import ApiView, TeamRequest
from dressage.teams.serializers import CreateTokenSerializer, NewTokenSerializer, TokenSerializer, with_secret


class TokensView(ApiView):
    """The team's tokens."""

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
        """Make a token. Its secret is shown this once."""
        fields = self.body(CreateTokenSerializer)
        token, secret = services.create_token(
            request.team, request.actor, name=fields["name"], role=Role(fields["role"]), expires_at=fields["expires_at"]
        )
        return Response(with_secret(NewTokenSerializer, token, secret=secret), status=status.HTTP_201_CREATED)


class ApiTokenView(ApiView):
    """One token."""

    roles = {"DELETE": IsAdmin}

    @extend_schema(operation_id="revokeToken", tags=["tokens"], request=None, responses={204: None})
    def delete(self, request: TeamRequest, token_id: str) -> Response:
        """Revoke a token; it stops working at once."""
        services.revoke_token(request.team, request.actor, selectors.token(request.team, token_id))
        return Response(status=status.HTTP_204_NO_CONTENT)
