"""Bodies of the planner's endpoint."""

from rest_framework import serializers

from dressage.common.serializers import PydanticField
from dressage.runs.serializers import RunSpecField
from trainer_core.planning import Rates


class RatesField(PydanticField, model=Rates):
    """Speeds of engine and learner."""


class PlanRequestSerializer(serializers.Serializer):
    spec = RunSpecField()
    gpus = serializers.IntegerField(min_value=1, max_value=65_536, help_text="For engines and learner together.")
    rates = RatesField(required=False, help_text="Speeds of engine and learner, as the command line measures them.")
    run = serializers.CharField(
        required=False,
        help_text="A run of the team whose reported times tell the rates. Without it and without `rates`, the newest "
        "run with the same policy does.",
    )
    price = serializers.FloatField(required=False, min_value=0, help_text="Of one GPU for an hour.")


class ModePlanSerializer(serializers.Serializer):
    """What to expect of one mode on one split."""

    mode = serializers.ChoiceField(["sync", "streamed", "async", "in_flight"])
    max_staleness = serializers.IntegerField(help_text="Bound, in versions.")
    rollout_gpus = serializers.IntegerField()
    learner_gpus = serializers.IntegerField()
    rollout_workers = serializers.IntegerField()
    learner_ranks = serializers.IntegerField()
    unused_gpus = serializers.IntegerField(help_text="Of those given, that would not make the step shorter.")
    step_seconds = serializers.FloatField()
    total_seconds = serializers.FloatField(help_text="All steps, without start-up, evaluations and checkpoints.")
    generate_seconds = serializers.FloatField(help_text="Of a step, in which the mean engine generates.")
    learn_seconds = serializers.FloatField(help_text="Of a step, in which the learner learns and publishes.")
    load_seconds = serializers.FloatField(help_text="Of a step, in which engines stand still for new weights.")
    engine_idle_share = serializers.FloatField()
    learner_idle_share = serializers.FloatField()
    tokens_per_s = serializers.FloatField(help_text="Completion tokens learned per second.")
    staleness = serializers.FloatField(help_text="Mean number of updates between a group's dispatch and its own.")
    gpu_hours = serializers.FloatField(help_text="Of the whole run.")
    cost = serializers.FloatField(allow_null=True, help_text="`gpu_hours` times `price`; null without a price.")


class PlanSerializer(serializers.Serializer):
    """Time and cost of a run before it starts."""

    gpus = serializers.IntegerField()
    source = serializers.CharField(help_text="Where the rates come from.")
    run = serializers.CharField(allow_null=True, help_text="The run whose times told the rates.")
    mean_tokens = serializers.FloatField(help_text="Mean completion length.")
    current = ModePlanSerializer(help_text="The spec as it stands.")
    modes = ModePlanSerializer(many=True, help_text="The best split of each mode.")
