"""Bodies of the endpoints of profiles."""

from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.common.openapi.serializers import PydanticField
from dressage.datasets.views.serializers import NewDatasetSerializer
from dressage.profiles import review
from dressage.profiles.cost import ProfileCost
from dressage.profiles.documents import ProfileDocument, ProfileRowDocument
from dressage.runs.facts.serializers import ClusterField, RunSpecField
from trainer_core.link.profile import ProfilePlan

MAX_VERDICTS = 1000
"""Maximum number of verdicts in one request: the number of suspects that a report lists."""


class AskedPlan(ProfilePlan, extra="forbid"):
    """Limits of the sampling, as clients request them."""


class PlanField(PydanticField, model=AskedPlan):
    """Limits of the sampling."""


class CreateProfileSerializer(serializers.Serializer):
    """A spec over one version, and how much of it to sample."""

    spec = RunSpecField(
        help_text="Spec of a run over this version only: its policy, reward, prompt format and sampling are used."
    )
    plan = PlanField()
    threshold = serializers.FloatField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Least reward of a right answer; null: the reward's own.",
    )
    cluster = ClusterField("Cluster to run it on, by name; null: the platform chooses.")


class ProfileCostBodySerializer(serializers.Serializer):
    """The profile to estimate."""

    spec = RunSpecField()
    plan = PlanField()


class DeriveFromProfileSerializer(serializers.Serializer):
    """The rows to keep."""

    min_pass_rate = serializers.FloatField(min_value=0, max_value=1, allow_null=True, default=None)
    max_pass_rate = serializers.FloatField(min_value=0, max_value=1, allow_null=True, default=None)
    without_suspects = serializers.BooleanField(
        default=False, help_text="Exclude rows with a suspect gold, except those that a user confirmed."
    )
    into = NewDatasetSerializer(required=False, allow_null=True, default=None)
    latest = serializers.IntegerField(min_value=1, required=False, allow_null=True, default=None)
    dry_run = serializers.BooleanField(default=False, help_text="Only count; create nothing.")


class AskedVerdictSerializer(serializers.Serializer):
    """A person's verdict on the gold of one row."""

    row = serializers.IntegerField(min_value=0, max_value=2**31 - 1, help_text="Number of the row, from 0.")
    verdict = serializers.ChoiceField(
        choices=review.VERDICTS,
        allow_null=True,
        help_text="The gold is right, it is wrong, or the row is excluded; null withdraws the verdict.",
    )
    answer = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        max_length=2000,
        help_text="The right answer if the gold is wrong; otherwise ignored.",
    )


class SayVerdictsSerializer(serializers.Serializer):
    """Verdicts on golds. Each replaces an earlier one on the same row."""

    verdicts = serializers.ListField(child=AskedVerdictSerializer(), allow_empty=False, max_length=MAX_VERDICTS)


class DeriveFromReviewSerializer(serializers.Serializer):
    """Target of the version."""

    into = NewDatasetSerializer(required=False, allow_null=True, default=None)
    latest = serializers.IntegerField(min_value=1, required=False, allow_null=True, default=None)
    dry_run = serializers.BooleanField(default=False, help_text="Only count; create nothing.")


class ReviewSerializer(DocumentSerializer, document=review.ReviewDocument):
    """Verdicts on the golds."""


class ProfileCostSerializer(DocumentSerializer, document=ProfileCost):
    """Estimated cost of a profile."""


class ProfileRowSerializer(DocumentSerializer, document=ProfileRowDocument):
    """A profile as lists show it."""


class ProfileSerializer(DocumentSerializer, document=ProfileDocument):
    """A profile with its spec and, once it is done, its report."""
