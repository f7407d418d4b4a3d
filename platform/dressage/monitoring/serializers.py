"""Describes the documents of monitoring for the schema."""

from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.datasets.views.serializers import NewDatasetSerializer
from dressage.monitoring.row_history import RowHistory
from dressage.telemetry.documents import RolloutDocument, RunEventDocument
from dressage.telemetry.prompts import PromptDocument
from dressage.telemetry.selectors import MetricNameDocument, MetricsDocument
from dressage.telemetry.traces.groups import GroupDocument
from dressage.telemetry.traces.kept import KeptDocument
from dressage.telemetry.traces.reading import RolloutTokensDocument


class RolloutDatasetSerializer(serializers.Serializer):
    """Which stored rollouts become a dataset."""

    kind = serializers.ChoiceField(
        ["completions", "pairs"],
        help_text="`completions`: the best answers of each prompt, as rows for the objective `sft`. `pairs`: the best "
        "and the worst answer of a group, as rows for `preference`.",
    )
    into = NewDatasetSerializer()
    per_prompt = serializers.IntegerField(
        min_value=1, max_value=64, required=False, default=1, help_text="Most rows of one prompt."
    )
    min_reward = serializers.FloatField(
        required=False,
        allow_null=True,
        default=None,
        help_text="`completions`: least reward. Null: answers that succeed by their reward version's threshold.",
    )
    min_gap = serializers.FloatField(
        min_value=0.0, required=False, default=0.0, help_text="`pairs`: the rewards differ by more than this."
    )
    first_step = serializers.IntegerField(min_value=1, required=False, allow_null=True, default=None)
    last_step = serializers.IntegerField(min_value=1, required=False, allow_null=True, default=None)
    dry_run = serializers.BooleanField(required=False, default=False, help_text="Only count.")


class MetricsSerializer(DocumentSerializer, document=MetricsDocument):
    """Charts of several metrics."""


class MetricNameSerializer(DocumentSerializer, document=MetricNameDocument):
    """A metric that a run has reported."""


class MetricNameListSerializer(serializers.Serializer):
    object = serializers.ChoiceField(["list"])
    data = MetricNameSerializer(many=True)


class RunMetricsDocument(MetricsDocument):
    """Charts of several metrics for one of several runs."""

    run: str


class RunMetricsSerializer(DocumentSerializer, document=RunMetricsDocument):
    """Charts of several metrics for one of several runs."""


class RunsMetricsSerializer(serializers.Serializer):
    object = serializers.ChoiceField(["list"])
    data = RunMetricsSerializer(many=True)
    missing = serializers.ListField(child=serializers.CharField(), help_text="Runs that do not exist.")


class RunMetricNamesSerializer(serializers.Serializer):
    run = serializers.CharField()
    data = MetricNameSerializer(many=True)


class RunsMetricNamesSerializer(serializers.Serializer):
    object = serializers.ChoiceField(["list"])
    data = RunMetricNamesSerializer(many=True)
    missing = serializers.ListField(child=serializers.CharField(), help_text="Runs that do not exist.")


class EventSerializer(DocumentSerializer, document=RunEventDocument):
    """An event of a run."""


class EventPageSerializer(serializers.Serializer):
    object = serializers.ChoiceField(["list"])
    data = EventSerializer(many=True)
    has_more = serializers.BooleanField()
    next = serializers.CharField(allow_null=True, help_text="The `after` of the next page.")


class PromptSerializer(DocumentSerializer, document=PromptDocument):
    """A prompt whose group has come back in a run."""


class RowHistorySerializer(DocumentSerializer, document=RowHistory):
    """Outcomes of a row in runs."""


class GroupSerializer(DocumentSerializer, document=GroupDocument):
    """The samples of one prompt in one step."""


class GroupPageSerializer(serializers.Serializer):
    object = serializers.ChoiceField(["list"])
    data = GroupSerializer(many=True)
    has_more = serializers.BooleanField()
    next = serializers.CharField(allow_null=True, help_text="The `after` of the next page.")


class KeptSerializer(DocumentSerializer, document=KeptDocument):
    """Stored rollouts of a run."""


class RolloutTokensSerializer(DocumentSerializer, document=RolloutTokensDocument):
    """Every token of a sample."""


class RolloutSerializer(DocumentSerializer, document=RolloutDocument):
    """A sampled completion."""
