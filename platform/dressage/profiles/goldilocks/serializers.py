"""Bodies of the endpoints of goldilocks."""

from typing import Any

from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.datasets.derivation.services import Into
from dressage.datasets.views.serializers import NewDatasetSerializer
from dressage.profiles.goldilocks.asked import OUTSIDE_FIRST, SUSPECT_GOLDS, SecondStage
from dressage.profiles.goldilocks.documents import GoldilocksDocument, StartedGoldilocks
from dressage.profiles.serializers import PlanField
from dressage.runs.facts.serializers import ClusterField, RunSpecField


class SecondStageSerializer(serializers.Serializer):
    """The stronger policy, and how much to sample with it."""

    policy = serializers.CharField(max_length=63)
    plan = PlanField()


class StartGoldilocksSerializer(serializers.Serializer):
    """A spec over one version, with the policies, bands and limits of both stages."""

    spec = RunSpecField(
        help_text="Of a run over the version alone: its policy is the first one; its reward, prompt format and sampling"
        " are used for both stages."
    )
    plan = PlanField(help_text="Bounds and band of the first stage.")
    second = SecondStageSerializer(
        required=False,
        allow_null=True,
        default=None,
        help_text="Null: stage one only, which creates the version to train the second policy on.",
    )
    outside_first = serializers.ChoiceField(
        OUTSIDE_FIRST,
        default="may_return",
        help_text="Rows outside the first band but inside the second: whether the second policy decides on all rows, or"
        " these are excluded.",
    )
    suspects = serializers.ChoiceField(
        SUSPECT_GOLDS,
        default="leave_out",
        help_text="Rows whose gold the last stage's samples contradict; those that a user confirmed are kept.",
    )
    reuse = serializers.BooleanField(
        default=True, help_text="Reuse a stored profile with the same sampling instead of sampling again."
    )
    threshold = serializers.FloatField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Least reward of a right answer; null: the reward's own.",
    )
    cluster = ClusterField("Cluster to sample on, by name; null: the platform chooses.")
    into = NewDatasetSerializer(
        required=False, allow_null=True, default=None, help_text="Null creates the next version of the same dataset."
    )
    dry_run = serializers.BooleanField(required=False, default=False, help_text="Only estimate the cost.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs.setdefault("cluster", None)
        attrs["second"] = SecondStage(**attrs["second"]) if attrs["second"] else None
        attrs["into"] = Into(**attrs["into"]) if attrs["into"] else None
        return attrs


class GoldilocksSerializer(DocumentSerializer, document=GoldilocksDocument):
    """A goldilocks in one or two stages."""


class StartedGoldilocksSerializer(DocumentSerializer, document=StartedGoldilocks):
    """The cost, and the job if it was started."""
