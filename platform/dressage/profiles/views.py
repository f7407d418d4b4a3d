"""REST views of profiles."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsEditor
from dressage.common.scopes import Noun
from dressage.datasets.derivation.services import Into
from dressage.datasets.selectors import stored_version
from dressage.datasets.views.serializers import DerivedSerializer
from dressage.profiles import selectors, services
from dressage.profiles.cost import cost_of
from dressage.profiles.documents import profile_document, profile_row
from dressage.profiles.serializers import (
    CreateProfileSerializer,
    DeriveFromProfileSerializer,
    ProfileCostBodySerializer,
    ProfileCostSerializer,
    ProfileRowSerializer,
    ProfileSerializer,
)
from dressage.profiles.versions import derive_from_profile
from dressage.teams.api import ApiView, TeamRequest


class ProfilesView(ApiView):
    """New profiles."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 429)}

    @extend_schema(
        operation_id="createProfile",
        tags=["profiles"],
        request=CreateProfileSerializer,
        responses={202: ProfileSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest) -> Response:
        """Let a policy answer the rows of a version, as often as needed to sort them by difficulty."""
        profile = services.create_profile(request.team, request.actor, **self.body(CreateProfileSerializer))
        return Response(profile_document(profile), status=status.HTTP_202_ACCEPTED)


class VersionProfilesView(ApiView):
    """Profiles of one version."""

    noun = Noun.DATASETS
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listProfiles", tags=["profiles"], responses=ProfileRowSerializer(many=True))
    def get(self, request: TeamRequest, dataset_id: str, number: int) -> Response:
        """The profiles of a version, newest first, without specs and reports."""
        version = stored_version(request.team, dataset_id, number)
        paginator = self.pagination_class()
        rows = paginator.paginate_queryset(selectors.profiles(version), request, self)
        return paginator.get_paginated_response([profile_row(row) for row in rows])


class ProfileCostView(ApiView):
    """Estimated cost of a profile."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}

    @extend_schema(
        operation_id="costProfile",
        tags=["profiles"],
        request=ProfileCostBodySerializer,
        responses=ProfileCostSerializer,
    )
    def post(self, request: TeamRequest) -> Response:
        """Samples, tokens and time that a profile would need. Nothing is created."""
        fields = self.body(ProfileCostBodySerializer)
        version = services.version_of(request.team, fields["spec"])
        services.require_budget(version, fields["plan"])
        return Response(cost_of(request.team, version, fields["spec"], fields["plan"]))


class ProfileView(ApiView):
    """One profile."""

    noun = Noun.DATASETS

    @extend_schema(operation_id="getProfile", tags=["profiles"], responses=ProfileSerializer)
    def get(self, request: TeamRequest, profile_id: str) -> Response:
        """A profile: its progress, then row counts, dead groups by group size, and suspects."""
        return Response(profile_document(selectors.profile(request.team, profile_id)))


class CancelProfileView(ApiView):
    """Cancellation of a profile."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    without_body = frozenset({"POST"})
    problem_statuses = {"POST": (409,)}

    @extend_schema(operation_id="cancelProfile", tags=["profiles"], request=None, responses={202: ProfileSerializer})
    @idempotent
    def post(self, request: TeamRequest, profile_id: str) -> Response:
        """Cancel a waiting or running profile. Its worker stops within seconds; no notes are written."""
        profile = services.cancel_profile(request.team, request.actor, profile_id)
        return Response(profile_document(profile), status=status.HTTP_202_ACCEPTED)


class DeriveFromProfileView(ApiView):
    """Versions derived from a profile."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 429, 503)}

    @extend_schema(
        operation_id="deriveFromProfile",
        tags=["profiles"],
        request=DeriveFromProfileSerializer,
        responses={200: DerivedSerializer, 201: DerivedSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest, profile_id: str) -> Response:
        """Create a version of the rows within a band of pass rates, or without suspects. `dry_run` creates nothing."""
        profile = selectors.profile(request.team, profile_id)
        fields = self.body(DeriveFromProfileSerializer)
        fields["into"] = Into(**fields["into"]) if fields["into"] else None
        made = derive_from_profile(profile, request.actor, **fields)
        code = status.HTTP_200_OK if fields["dry_run"] else status.HTTP_201_CREATED
        return Response(DerivedSerializer(made).data, status=code)
