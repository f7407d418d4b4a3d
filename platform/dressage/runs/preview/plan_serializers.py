"""Bodies of the planner's endpoint."""

from dataclasses import dataclass

from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.common.openapi.serializers import PydanticField
from dressage.runs.facts.serializers import RunSpecField
from trainer_core.planning import Rates, RunPlan
from trainer_core.planning.cluster import NODES, SIZES, ClusterEstimate
from trainer_core.planning.plan import MAX_GPUS


class RatesField(PydanticField, model=Rates):
    """Speeds of engine and learner."""


class PlanRequestSerializer(serializers.Serializer):
    spec = RunSpecField()
    gpus = serializers.IntegerField(min_value=1, max_value=65_536, help_text="For engines and learner together.")
    rates = RatesField(required=False, help_text="Speeds of engine and learner, as the command line measures them.")
    run = serializers.CharField(
        required=False,
        help_text="A run of the team whose reported times give the rates. Without it and without `rates`, the newest"
        " run with the same policy is used.",
    )
    price = serializers.FloatField(required=False, min_value=0, help_text="Of one GPU for an hour.")


@dataclass(frozen=True, slots=True)
class PlanDocument(RunPlan):
    """Time and cost of a run before it starts."""

    run: str | None
    """The run whose measured times gave the rates."""


class PlanSerializer(DocumentSerializer, document=PlanDocument):
    """A plan, and the source of its rates."""


class ClusterPlanRequestSerializer(serializers.Serializer):
    spec = RunSpecField()
    gpu = serializers.ChoiceField(
        choices=list(NODES), default="H100", help_text="Kind of the GPUs, in hosts of eight on one fast network."
    )
    gpus = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=MAX_GPUS),
        default=list(SIZES),
        min_length=1,
        max_length=8,
        help_text="Numbers of GPUs: up to eight, or multiples of eight.",
    )
    prompt_tokens = serializers.FloatField(
        required=False, min_value=1, max_value=1e7, help_text="Mean length of prompts. Without it a run's, or assumed."
    )
    median_tokens = serializers.FloatField(
        required=False,
        min_value=1,
        max_value=1e7,
        help_text="Median length of completions, which are then lognormal with σ 1. Without it a run's, or assumed.",
    )
    price = serializers.FloatField(required=False, min_value=0, help_text="Of one GPU for an hour.")


@dataclass(frozen=True, slots=True)
class ClusterPlanDocument:
    """Time and cost of a run on clusters of several sizes, from manufacturers' figures for GPUs and links."""

    gpu: str
    """Type of the GPUs."""
    parameters: float
    """Number of parameters of the policy."""
    prompt_tokens: float
    """Mean length of prompts, as used in the estimate."""
    mean_tokens: float
    """Mean length of completions, as used in the estimate."""
    tokens_source: str
    """Source of these lengths."""
    estimates: tuple[ClusterEstimate, ...]
    """One for each number of GPUs."""


class ClusterPlanSerializer(DocumentSerializer, document=ClusterPlanDocument):
    """Plans for hypothetical clusters."""
