"""Describes the telemetry documents for the schema."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers


class SeriesSerializer(serializers.Serializer):
    """A down-sampled metric: one entry per bucket."""

    x = serializers.ListField(child=serializers.FloatField(), help_text="Where each bucket's last point is.")
    min = serializers.ListField(child=serializers.FloatField(allow_null=True))
    mean = serializers.ListField(child=serializers.FloatField(allow_null=True))
    max = serializers.ListField(child=serializers.FloatField(allow_null=True))
    raw_count = serializers.IntegerField(help_text="Points behind the buckets.")
    nan = serializers.ListField(child=serializers.FloatField(), help_text="x of values that are NaN or infinite.")


class MetricsSerializer(serializers.Serializer):
    x = serializers.ChoiceField(["step", "time", "tokens"])
    series = serializers.DictField(child=SeriesSerializer())
    superseded = serializers.DictField(
        child=SeriesSerializer(), required=False, help_text="Steps that a later attempt has done again."
    )


class MetricNameSerializer(serializers.Serializer):
    name = serializers.CharField()
    title = serializers.CharField()
    unit = serializers.CharField(allow_blank=True)
    formula = serializers.CharField(allow_blank=True)
    group = serializers.CharField()


class MetricNameListSerializer(serializers.Serializer):
    object = serializers.ChoiceField(["list"])
    data = MetricNameSerializer(many=True)


class EventSerializer(serializers.Serializer):
    """Something that happened in a run."""

    seq = serializers.IntegerField(help_text="1, 2, 3 … without gaps.")
    kind = serializers.CharField(
        help_text="state, desired, control, step, eval, rollouts, rubric_proposals, checkpoint, alert, log or run."
    )
    step = serializers.IntegerField(allow_null=True)
    at = serializers.DateTimeField()
    attempt = serializers.IntegerField()
    data = serializers.DictField()


class EventPageSerializer(serializers.Serializer):
    object = serializers.ChoiceField(["list"])
    data = EventSerializer(many=True)
    has_more = serializers.BooleanField()
    next = serializers.CharField(allow_null=True, help_text="The `after` of the next page.")


@extend_schema_field({"description": "The reference answer of the dataset's row: any JSON."})
class AnswerField(serializers.JSONField):
    """Any JSON."""


@extend_schema_field({"oneOf": [{"type": "number"}, {"type": "string", "enum": ["NaN", "Infinity", "-Infinity"]}]})
class PartField(serializers.JSONField):
    """A number, or the word for what JSON cannot write."""


class RolloutSerializer(serializers.Serializer):
    """A sampled completion."""

    id = serializers.CharField()
    step = serializers.IntegerField()
    attempt = serializers.IntegerField()
    group_id = serializers.CharField()
    sample = serializers.IntegerField()
    prompt_id = serializers.CharField()
    source = serializers.CharField()
    prompt = serializers.CharField()
    completion = serializers.CharField()
    answer = AnswerField(allow_null=True)
    reward = serializers.FloatField(allow_null=True)
    reward_parts = serializers.DictField(child=PartField())
    reward_error = serializers.CharField(allow_null=True)
    advantage = serializers.FloatField(allow_null=True)
    excluded = serializers.CharField(allow_null=True, help_text="Why it took no part in the loss.")
    finish_reason = serializers.CharField()
    length = serializers.IntegerField()
    thinking_tokens = serializers.IntegerField()
    budget_hit = serializers.BooleanField()
    control_revision = serializers.IntegerField()
    policy_versions = serializers.ListField(child=serializers.IntegerField(), max_length=2)
    reward_version = serializers.CharField(allow_null=True, help_text="`slug@n` that has scored it.")
    shadow = serializers.DictField(
        child=serializers.FloatField(allow_null=True),
        help_text="What versions that only watch give, by `slug@n`; null where one could not be computed.",
    )
