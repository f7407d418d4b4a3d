"""Bodies of the runs' endpoints. ``documents.py`` builds documents; these classes describe them and parse requests."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.common.openapi.serializers import FieldErrorSerializer, PydanticField
from dressage.runs.facts.cluster_documents import ClusterDocument, GpuHoursDocument
from dressage.runs.facts.documents import (
    CheckpointDocument,
    ControlDocument,
    CreatedRunDocument,
    LiveRunDocument,
    RunDocument,
)
from trainer_core.explain import Explanation
from trainer_core.spec import RunSpec
from trainer_core.spec.controls import Target
from trainer_core.spec.ramps import LEAST_STEPS
from trainer_core.spec.recipes import Recipe

_APPLY_AT = {"oneOf": [{"type": "string", "enum": ["next"]}, {"type": "integer", "minimum": 1}]}


class RunSpecField(PydanticField, model=RunSpec):
    """A run spec."""


@extend_schema_field({"description": "Any JSON value of the target's type."})
class ValueField(serializers.JSONField):
    """A control's value: any JSON."""


@extend_schema_field(_APPLY_AT)
class ApplyAtField(serializers.Field):
    """``"next"`` or a step; the validated value is None or the step."""

    def to_internal_value(self, data: Any) -> int | None:
        if data == "next" or data is None:
            return None
        if isinstance(data, bool) or not isinstance(data, int) or not 1 <= data < 2**31:
            raise serializers.ValidationError('Use "next" or a step.')
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class LiveRunSerializer(DocumentSerializer, document=LiveRunDocument):
    """A run without its specs, as the live stream and lists send it."""


class RunSerializer(DocumentSerializer, document=RunDocument):
    """A run."""


class CreatedRunSerializer(DocumentSerializer, document=CreatedRunDocument):
    """A run that was just created."""


class RunsByIdSerializer(serializers.Serializer):
    object = serializers.ChoiceField(["list"])
    data = RunSerializer(many=True)
    missing = serializers.ListField(child=serializers.CharField(), help_text="Runs that do not exist.")


class ClusterField(serializers.CharField):
    """The name of a cluster; null for any."""

    def __init__(self, help_text: str) -> None:
        super().__init__(max_length=63, required=False, allow_null=True, help_text=help_text)


class CreateRunSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120)
    spec = RunSpecField()
    cluster = ClusterField("Cluster to train on, by name; null: the platform chooses.")
    start = serializers.BooleanField(default=False, help_text="Queue it immediately; needs the role operator.")


class UpdateRunSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120, required=False)
    notes = serializers.CharField(max_length=20_000, required=False, allow_blank=True)
    cluster = ClusterField("Cluster to train on, by name; null: the platform chooses. Only while it holds no slot.")


class ForkSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120, required=False)
    spec = RunSpecField(required=False, help_text="By default the parent's effective spec.")
    cluster = ClusterField("By default the parent's, if it still exists.")
    checkpoint = serializers.CharField(
        required=False,
        allow_null=True,
        help_text="Checkpoint to start from. Omitted: the parent's newest; null: the base policy.",
    )


class ClusterSerializer(DocumentSerializer, document=ClusterDocument):
    """A cluster that runs train on."""


class ClusterListSerializer(serializers.Serializer):
    object = serializers.ChoiceField(["list"])
    data = ClusterSerializer(many=True)


class GpuHoursSerializer(DocumentSerializer, document=GpuHoursDocument):
    """A team's GPU hours of this month."""


class TargetSerializer(DocumentSerializer, document=Target):
    """A steerable field."""


class TargetListSerializer(serializers.Serializer):
    object = serializers.ChoiceField(["list"])
    data = TargetSerializer(many=True)
    revision = serializers.IntegerField()


class ControlSerializer(DocumentSerializer, document=ControlDocument):
    """A change of one field while the run trains."""


class RampStepsField(serializers.IntegerField):
    """Steps of a ramp; null for none."""

    def __init__(self) -> None:
        help_text = "Steps over which numbers move from their current value to the new one; null: immediately."
        super().__init__(
            min_value=LEAST_STEPS, max_value=2**31 - 1, required=False, allow_null=True, help_text=help_text
        )


class StageControlSerializer(serializers.Serializer):
    target = serializers.CharField(max_length=200, help_text="Path of a steerable field, see `targets`.")
    value = ValueField(allow_null=True)
    apply_at = ApplyAtField(required=False)
    ramp_steps = RampStepsField()
    reason = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")


class ChangeSerializer(serializers.Serializer):
    target = serializers.CharField(max_length=200, help_text="Path of a steerable field, see `targets`.")
    value = ValueField(allow_null=True)


class StageControlsSerializer(serializers.Serializer):
    """Changes to stage. They take effect together or not at all."""

    changes = serializers.ListField(child=ChangeSerializer(), allow_empty=False, max_length=100)
    apply_at = ApplyAtField(required=False)
    ramp_steps = RampStepsField()
    reason = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")

    def validate(self, fields: dict[str, Any]) -> dict[str, Any]:
        both = [name for name in ("target", "value") if name in self.initial_data]
        if both:
            detail = "Send either `changes`, or one `target` with its `value`."
            raise serializers.ValidationError(dict.fromkeys(both, detail))
        return fields


class ControlListSerializer(serializers.Serializer):
    """The controls of one change set, in the order of its changes."""

    object = serializers.ChoiceField(["list"])
    data = ControlSerializer(many=True)
    revision = serializers.IntegerField(help_text="The run's, after the last of them.")


class RevertSerializer(serializers.Serializer):
    reason = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")


class RewindSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120, required=False)


class CheckpointSerializer(DocumentSerializer, document=CheckpointDocument):
    """A saved policy."""


class RecipeSerializer(DocumentSerializer, document=Recipe):
    """A named preset."""


class RecipeListSerializer(serializers.Serializer):
    object = serializers.ChoiceField(["list"])
    data = RecipeSerializer(many=True)


class ValidateSerializer(serializers.Serializer):
    spec = serializers.DictField(help_text="A run spec that may be invalid.")


class ExplanationSerializer(DocumentSerializer, document=Explanation):
    """What a spec amounts to."""


class ValidationSerializer(serializers.Serializer):
    valid = serializers.BooleanField()
    errors = FieldErrorSerializer(many=True)
    resolved = RunSpecField(allow_null=True, help_text="With all defaults; null when it is not valid.")
    explanation = ExplanationSerializer(allow_null=True, help_text="Summary of the spec; null with `resolved`.")
