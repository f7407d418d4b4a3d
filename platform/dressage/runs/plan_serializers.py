"""Bodies of the planner's endpoint."""

from dataclasses import dataclass

from rest_framework import serializers

from dressage.common.documents import DocumentSerializer
from dressage.common.serializers import PydanticField
from dressage.runs.serializers import RunSpecField
from trainer_core.planning import Rates, RunPlan


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


@dataclass(frozen=True, slots=True)
class PlanDocument(RunPlan):
    """Time and cost of a run before it starts."""

    run: str | None
    """The run whose times told the rates."""


class PlanSerializer(DocumentSerializer, document=PlanDocument):
    """A plan and where its rates come from."""
