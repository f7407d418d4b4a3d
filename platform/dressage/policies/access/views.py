"""REST views of the places that policies are imported from, and of a team's credentials for them."""

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.api.permissions import IsAdmin
from dressage.common.scopes import Noun
from dressage.policies.access import selectors, services
from dressage.policies.access.serializers import (
    PolicySourceSerializer,
    PolicySourcesSerializer,
    SetBucketKeysSerializer,
    SetHubTokenSerializer,
)
from dressage.policies.models import SourceKind
from dressage.teams.api import ApiView, TeamRequest


class PolicySourcesView(ApiView):
    """All places."""

    noun = Noun.POLICIES

    @extend_schema(operation_id="getPolicySources", tags=["policies"], responses=PolicySourcesSerializer)
    def get(self, request: TeamRequest) -> Response:
        """List the places that policies may be imported from, and whether the team has credentials for each."""
        return Response(selectors.sources(request.team))


class HubSourceView(ApiView):
    """The hub."""

    noun = Noun.POLICIES
    roles = {"PUT": IsAdmin, "DELETE": IsAdmin}

    @extend_schema(
        operation_id="setHubToken",
        tags=["policies"],
        request=SetHubTokenSerializer,
        responses=PolicySourceSerializer,
    )
    def put(self, request: TeamRequest) -> Response:
        """Store the team's token for the hub. It replaces an earlier one."""
        body = self.body(SetHubTokenSerializer)
        services.set_credentials(request.team, request.actor, SourceKind.HUB, body)
        return Response(selectors.sources(request.team)["hub"])

    @extend_schema(operation_id="forgetHubToken", tags=["policies"], responses={204: None})
    def delete(self, request: TeamRequest) -> Response:
        """Delete the team's token for the hub."""
        services.forget_credentials(request.team, request.actor, SourceKind.HUB)
        return Response(status=204)


class BucketSourceView(ApiView):
    """The object store."""

    noun = Noun.POLICIES
    roles = {"PUT": IsAdmin, "DELETE": IsAdmin}

    @extend_schema(
        operation_id="setBucketKeys",
        tags=["policies"],
        request=SetBucketKeysSerializer,
        responses=PolicySourceSerializer,
    )
    def put(self, request: TeamRequest) -> Response:
        """Store the team's keys for the object store. They replace earlier ones."""
        body = self.body(SetBucketKeysSerializer)
        services.set_credentials(request.team, request.actor, SourceKind.BUCKET, body)
        return Response(selectors.sources(request.team)["bucket"])

    @extend_schema(operation_id="forgetBucketKeys", tags=["policies"], responses={204: None})
    def delete(self, request: TeamRequest) -> Response:
        """Delete the team's keys for the object store."""
        services.forget_credentials(request.team, request.actor, SourceKind.BUCKET)
        return Response(status=204)
