"""Request and response bodies of the reward endpoints."""

from typing import Any

from rest_framework import serializers

from dressage.common.openapi.serializers import PydanticField, SlugField
from dressage.rewards.trial import MAX_SAMPLES, MAX_TEXT
from trainer_core.rewards import RewardDefinition


class RewardDefinitionField(PydanticField, model=RewardDefinition):
    """A reward definition."""


class JudgeRecordSerializer(serializers.Serializer):
    """What a judge was when a version was made."""

    base_url = serializers.CharField(allow_blank=True, help_text="Empty if the cluster serves `policy`.")
    policy = serializers.CharField(allow_blank=True, help_text="Empty if the judge has an address.")
    model = serializers.CharField()


class RewardVersionSerializer(serializers.Serializer):
    """An immutable definition with its judges."""

    number = serializers.IntegerField()
    ref = serializers.CharField(help_text="Its name in run specs: `slug@number`.")
    definition = RewardDefinitionField()
    judges = serializers.DictField(
        child=JudgeRecordSerializer(),
        allow_null=True,
        help_text="What its judges were when it was made, by slug; null: made by an earlier release, not used since.",
    )
    note = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()


class RewardSerializer(serializers.Serializer):
    id = serializers.CharField()
    slug = serializers.CharField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()
    latest_version = RewardVersionSerializer()
    versions = RewardVersionSerializer(source="versions.all", many=True)


class CreateRewardVersionSerializer(serializers.Serializer):
    definition = RewardDefinitionField()
    note = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")


class CreateRewardSerializer(CreateRewardVersionSerializer):
    name = serializers.CharField(max_length=120)
    slug = SlugField(required=False, allow_null=True, default=None, help_text="Derived from the name when omitted.")


class PastedSampleSerializer(serializers.Serializer):
    output_text = serializers.CharField(max_length=MAX_TEXT, allow_blank=True, trim_whitespace=False)
    item = serializers.DictField(help_text="The dataset row, such as `{prompt, answer}`.")
    completion_tokens = serializers.IntegerField(
        min_value=0, max_value=10**7, required=False, help_text="Needed if the reward uses the length."
    )
    finish_reason = serializers.ChoiceField(["stop", "length"], required=False, default="stop")


class ThinkingTagsSerializer(serializers.Serializer):
    start = serializers.CharField(max_length=64, default="<think>")
    end = serializers.CharField(max_length=64, default="</think>")
    answer_start = serializers.CharField(
        max_length=200,
        allow_null=True,
        default=None,
        help_text="Text that opens the answer if the closing tag alone does not, such as that of Harmony's final"
        " channel.",
    )


class TryRewardSerializer(serializers.Serializer):
    """Either a definition or the reference of a stored one."""

    definition = RewardDefinitionField(required=False)
    ref = serializers.CharField(required=False, max_length=80)
    samples: serializers.ListSerializer = serializers.ListSerializer(
        child=PastedSampleSerializer(), min_length=1, max_length=MAX_SAMPLES
    )
    thinking = ThinkingTagsSerializer(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("definition" in attrs) == ("ref" in attrs):
            raise serializers.ValidationError("Give either definition or ref.")
        return attrs


class ScoredPartSerializer(serializers.Serializer):
    weight = serializers.FloatField(help_text="The component's grade is multiplied by this and added to the reward.")
    reason = serializers.CharField(allow_null=True, help_text="The grader's own reason; null if it gives none.")


class ScoreSerializer(serializers.Serializer):
    reward = serializers.FloatField(
        allow_null=True, help_text="null when a component failed: an error is never a zero."
    )
    parts = serializers.DictField(
        child=serializers.FloatField(), help_text="Grade of each component before its weight."
    )
    explanation = serializers.DictField(
        source="explained",
        child=ScoredPartSerializer(),
        help_text="Weight and reason of each component that applied to the row.",
    )
    error = serializers.CharField(allow_null=True)


class TryRewardResultSerializer(serializers.Serializer):
    results = ScoreSerializer(many=True, help_text="One per sample, in order.")
