"""REST views of the review of golds."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.permissions import IsEditor
from dressage.common.scopes import Noun
from dressage.datasets.derivation.services import Into
from dressage.datasets.views.serializers import DerivedSerializer
from dressage.profiles import review, selectors
from dressage.profiles.serializers import DeriveFromReviewSerializer, ReviewSerializer, SayVerdictsSerializer
from dressage.teams.api import ApiView, TeamRequest


class ReviewView(ApiView):
    """People's verdicts on golds."""

    noun = Noun.DATASETS
    roles = {"PUT": IsEditor}
    problem_statuses = {"PUT": (409,)}

    @extend_schema(operation_id="getReview", tags=["profiles"], responses=ReviewSerializer)
    def get(self, request: TeamRequest, profile_id: str) -> Response:
        """Verdicts on the golds of the profile's version, with their authors and times."""
        profile = selectors.profile(request.team, profile_id)
        return Response(ReviewSerializer(review.review(profile)).data)

    @extend_schema(
        operation_id="sayVerdicts", tags=["profiles"], request=SayVerdictsSerializer, responses=ReviewSerializer
    )
    def put(self, request: TeamRequest, profile_id: str) -> Response:
        """Set verdicts on golds: right, wrong, or leave the row out.

        Verdicts on other rows remain. They are stored as the row notes `review`; the rows themselves do not change.
        """
        profile = selectors.profile(request.team, profile_id)
        said = review.say(profile, request.actor, self.body(SayVerdictsSerializer)["verdicts"])
        return Response(ReviewSerializer(said).data)


class DeriveFromReviewView(ApiView):
    """Versions derived from verdicts."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 429, 503)}

    @extend_schema(
        operation_id="deriveFromReview",
        tags=["profiles"],
        request=DeriveFromReviewSerializer,
        responses={200: DerivedSerializer, 201: DerivedSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest, profile_id: str) -> Response:
        """Create a version with wrong golds corrected and rows left out, by the verdicts. `dry_run` creates nothing."""
        profile = selectors.profile(request.team, profile_id)
        fields = self.body(DeriveFromReviewSerializer)
        fields["into"] = Into(**fields["into"]) if fields["into"] else None
        made = review.derive_from_review(profile, request.actor, **fields)
        code = status.HTTP_200_OK if fields["dry_run"] else status.HTTP_201_CREATED
        return Response(DerivedSerializer(made).data, status=code)
