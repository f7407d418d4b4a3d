"""Bodies of the bench's endpoints."""

from typing import Any, get_args

from rest_framework import serializers

from dressage.bench.sources import BenchSamples
from dressage.common.serializers import PydanticField
from dressage.rewards.models.bench import BenchState
from dressage.rewards.serializers import RewardDefinitionField, ThinkingTagsSerializer
from trainer_core.rewards.probes import ProbeKind

PROBES = list(get_args(ProbeKind))


class BenchSamplesField(PydanticField, model=BenchSamples):
    """Where samples come from."""


class BenchEntrySerializer(serializers.Serializer):
    """Either a definition or the ref of a stored one."""

    definition = RewardDefinitionField(required=False)
    ref = serializers.CharField(required=False, max_length=80)
    label = serializers.CharField(required=False, max_length=80, help_text="By default the ref, or `draft`.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("definition" in attrs) == ("ref" in attrs):
            raise serializers.ValidationError("Give either definition or ref.")
        return attrs


class CreateBenchJobSerializer(serializers.Serializer):
    """What to score, and by which one or two definitions."""

    definitions: serializers.ListSerializer = serializers.ListSerializer(
        child=BenchEntrySerializer(), min_length=1, max_length=2
    )
    samples = BenchSamplesField()
    probes = serializers.BooleanField(default=True, help_text="Also score adversarial outputs, and flag high rewards.")
    thinking = ThinkingTagsSerializer(required=False)
    timeout_s = serializers.FloatField(
        min_value=1.0, max_value=600.0, default=60.0, help_text="Longest time that one sample's score may take."
    )


class BenchDefinitionSerializer(serializers.Serializer):
    label = serializers.CharField()
    ref = serializers.CharField(allow_null=True)
    definition = RewardDefinitionField()


class BenchSourceSerializer(serializers.Serializer):
    """Where the samples came from; the other members depend on the type."""

    type = serializers.ChoiceField(["pasted", "dataset", "run"])
    dataset = serializers.CharField(required=False)
    outputs = serializers.CharField(required=False)
    run = serializers.CharField(required=False)
    name = serializers.CharField(required=False, help_text="The run's.")
    step = serializers.IntegerField(required=False, allow_null=True)


class BenchJobRowSerializer(serializers.Serializer):
    """A bench job as lists show it."""

    id = serializers.CharField()
    state = serializers.ChoiceField(BenchState.choices)
    error = serializers.CharField(allow_null=True)
    definitions = BenchDefinitionSerializer(many=True)
    source = BenchSourceSerializer()
    probes = serializers.BooleanField()
    tries = serializers.IntegerField(help_text="Workers that have taken it.")
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    created_by = serializers.CharField()


class BenchStoredSerializer(serializers.Serializer):
    """What a sample was before: the row of a dataset, or a run's rollout with its reward then."""

    row = serializers.IntegerField(required=False)
    rollout = serializers.CharField(required=False)
    step = serializers.IntegerField(required=False)
    reward = serializers.FloatField(required=False, allow_null=True)
    reward_version = serializers.CharField(required=False, allow_null=True)
    reward_error = serializers.CharField(required=False, allow_null=True)


class BenchSampleSerializer(serializers.Serializer):
    id = serializers.CharField()
    output_text = serializers.CharField(allow_blank=True)
    item = serializers.DictField(help_text="The dataset row.")
    completion_tokens = serializers.IntegerField(allow_null=True)
    finish_reason = serializers.CharField()
    probe = serializers.ChoiceField(PROBES, allow_null=True, help_text="null for a sample proper.")
    stored = BenchStoredSerializer(allow_null=True)


class BenchScoreSerializer(serializers.Serializer):
    reward = serializers.FloatField(allow_null=True, help_text="null when a part failed: an error is never a zero.")
    success = serializers.BooleanField(allow_null=True, help_text="Whether the reward reaches the threshold.")
    parts = serializers.DictField(child=serializers.FloatField(), help_text="Grade of each part before its weight.")
    error = serializers.CharField(allow_null=True)
    traceback = serializers.CharField(allow_null=True)
    seconds = serializers.FloatField()
    forgiven = serializers.ListField(child=serializers.CharField(), help_text="Parts that failed and count as 0.")


class BenchJudgeSerializer(serializers.Serializer):
    """What the judges were asked."""

    calls = serializers.IntegerField()
    cached = serializers.IntegerField()
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)
    seconds_p50 = serializers.FloatField(allow_null=True)
    seconds_p95 = serializers.FloatField(allow_null=True)
    agreement_repeat = serializers.FloatField(allow_null=True, help_text="Share of repeated questions answered alike.")
    agreement_swap = serializers.FloatField(allow_null=True, help_text="Share answered alike in the other order.")


class BenchErrorKindSerializer(serializers.Serializer):
    message = serializers.CharField()
    count = serializers.IntegerField()


class BenchSummarySerializer(serializers.Serializer):
    """One definition over all samples proper."""

    label = serializers.CharField()
    samples = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)
    std = serializers.FloatField(allow_null=True, help_text="Of the population.")
    success_share = serializers.FloatField(allow_null=True, help_text="Among those with a reward.")
    errors = serializers.IntegerField()
    error_kinds = BenchErrorKindSerializer(many=True)
    parts = serializers.DictField(child=serializers.FloatField(), help_text="Mean grade of each part.")
    seconds_p50 = serializers.FloatField(allow_null=True)
    seconds_p95 = serializers.FloatField(allow_null=True)


class BenchFlipSerializer(serializers.Serializer):
    """A sample on whose success two definitions differ."""

    sample = serializers.CharField()
    before = serializers.BooleanField(allow_null=True)
    after = serializers.BooleanField(allow_null=True)
    reward_before = serializers.FloatField(allow_null=True)
    reward_after = serializers.FloatField(allow_null=True)


class BenchFlagSerializer(serializers.Serializer):
    """A probe that earns a success."""

    sample = serializers.CharField()
    definition = serializers.IntegerField(help_text="Which of the definitions, from 0.")
    label = serializers.CharField()
    probe = serializers.ChoiceField(PROBES)
    reward = serializers.FloatField()
    severity = serializers.ChoiceField(["info", "warn"])
    detail = serializers.CharField()


class BenchJobSerializer(BenchJobRowSerializer):
    """A bench job with its samples and, when it is done, its results."""

    thinking = ThinkingTagsSerializer()
    timeout_s = serializers.FloatField()
    samples = BenchSampleSerializer(many=True)
    results = serializers.ListField(
        child=BenchScoreSerializer(many=True), allow_null=True, help_text="[definition][sample]."
    )
    judge = BenchJudgeSerializer(allow_null=True)
    summary = BenchSummarySerializer(many=True, help_text="One per definition; empty until the job is done.")
    flips = BenchFlipSerializer(many=True)
    flags = BenchFlagSerializer(many=True)
