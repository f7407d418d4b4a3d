"""Bodies of the bench's endpoints."""

from typing import Any

from rest_framework import serializers

from dressage.bench.documents import BenchJobDocument, BenchJobRowDocument
from dressage.bench.sources import BenchSamples
from dressage.common.openapi.documents import DocumentSerializer
from dressage.common.openapi.serializers import PydanticField
from dressage.rewards.serializers import RewardDefinitionField, ThinkingTagsSerializer
from dressage.runs.facts.serializers import ClusterField


class BenchSamplesField(PydanticField, model=BenchSamples):
    """Source of the samples."""


class BenchEntrySerializer(serializers.Serializer):
    """Either a definition or the reference of a stored one."""

    definition = RewardDefinitionField(required=False)
    ref = serializers.CharField(required=False, max_length=80)
    label = serializers.CharField(required=False, max_length=80, help_text="By default the ref, or `draft`.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("definition" in attrs) == ("ref" in attrs):
            raise serializers.ValidationError("Give either definition or ref.")
        return attrs


class CreateBenchJobSerializer(serializers.Serializer):
    """The samples to score, and the one or two definitions to score them by."""

    definitions: serializers.ListSerializer = serializers.ListSerializer(
        child=BenchEntrySerializer(), min_length=1, max_length=2
    )
    samples = BenchSamplesField()
    probes = serializers.BooleanField(default=True, help_text="Also score adversarial outputs, and flag high rewards.")
    thinking = ThinkingTagsSerializer(required=False)
    timeout_s = serializers.FloatField(
        min_value=1.0, max_value=600.0, default=60.0, help_text="Longest time for scoring one sample."
    )
    cluster = ClusterField("Where to score, by name; null: the platform chooses.")


class BenchJobRowSerializer(DocumentSerializer, document=BenchJobRowDocument):
    """A bench job as lists show it."""


class BenchJobSerializer(DocumentSerializer, document=BenchJobDocument):
    """A bench job with its samples and, when it is done, its results."""
