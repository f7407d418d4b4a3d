"""Bodies of the runs' endpoints. Documents are built in ``documents.py``; these describe them and read requests."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from dressage.common.serializers import FieldErrorSerializer, PydanticField
from dressage.runs.states import ControlState, DesiredState, RunState
from trainer_core.spec import RunSpec

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


class ProgressSerializer(serializers.Serializer):
    phase = serializers.CharField()
    done = serializers.IntegerField()
    total = serializers.IntegerField()
    step = serializers.IntegerField(allow_null=True)
    at = serializers.CharField()


class ParentSerializer(serializers.Serializer):
    run = serializers.CharField()
    name = serializers.CharField()
    checkpoint = serializers.CharField(allow_null=True)
    step = serializers.IntegerField(allow_null=True)
    continues = serializers.BooleanField(help_text="True for a rewind, which goes on at `step` + 1.")


class SummarySerializer(serializers.Serializer):
    reward = serializers.FloatField(allow_null=True, help_text="Mean reward of the last step.")
    eval = serializers.FloatField(allow_null=True, help_text="Mean score of the last evaluation.")
    tokens_total = serializers.IntegerField()
    seconds_per_step = serializers.FloatField(allow_null=True)
    eta_seconds = serializers.FloatField(allow_null=True)


class LastCheckpointSerializer(serializers.Serializer):
    id = serializers.CharField()
    step = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    reason = serializers.CharField()


class LiveRunSerializer(serializers.Serializer):
    """A run without its specs, as the live stream and lists send it."""

    id = serializers.CharField()
    name = serializers.CharField()
    notes = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(RunState.choices)
    desired_state = serializers.ChoiceField(DesiredState.choices)
    state_reason = serializers.CharField(allow_blank=True)
    queue_position = serializers.IntegerField(allow_null=True)
    step = serializers.IntegerField()
    total_steps = serializers.IntegerField()
    revision = serializers.IntegerField(help_text="Number of the newest control: the `If-Match` of the next one.")
    attempt = serializers.IntegerField()
    progress = ProgressSerializer(allow_null=True)
    policy = serializers.CharField()
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    created_by = serializers.CharField()
    parent = ParentSerializer(allow_null=True)
    summary = SummarySerializer()
    last_checkpoint = LastCheckpointSerializer(allow_null=True)
    lease_age_s = serializers.FloatField(allow_null=True, help_text="Seconds since the worker was last heard of.")


class RunSerializer(LiveRunSerializer):
    """A run."""

    spec = RunSpecField()
    effective_spec = RunSpecField(help_text="The spec with every applied control.")


class CreateRunSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120)
    spec = RunSpecField()
    start = serializers.BooleanField(default=False, help_text="Queue it at once; needs the role operator.")


class UpdateRunSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120, required=False)
    notes = serializers.CharField(max_length=20_000, required=False, allow_blank=True)


class ForkSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120, required=False)
    spec = RunSpecField(required=False, help_text="By default the parent's effective spec.")
    checkpoint = serializers.CharField(
        required=False,
        allow_null=True,
        help_text="Whose weights to begin with. Omitted: the parent's newest; null: the base policy.",
    )


class TargetSerializer(serializers.Serializer):
    path = serializers.CharField()
    boundary = serializers.ChoiceField(["group_dispatch", "optimizer_step"])
    value = ValueField(allow_null=True)
    schema = serializers.DictField(help_text="JSON Schema of the field.")


class TargetListSerializer(serializers.Serializer):
    object = serializers.ChoiceField(["list"])
    data = TargetSerializer(many=True)
    revision = serializers.IntegerField()


class ControlSerializer(serializers.Serializer):
    """A change of one field while the run goes."""

    id = serializers.CharField()
    revision = serializers.IntegerField()
    target = serializers.CharField()
    boundary = serializers.ChoiceField(["group_dispatch", "optimizer_step"])
    before = ValueField(allow_null=True)
    value = ValueField(allow_null=True)
    state = serializers.ChoiceField(ControlState.choices)
    apply_at = ApplyAtField()
    reason = serializers.CharField(allow_blank=True)
    actor = serializers.CharField()
    created_at = serializers.DateTimeField()
    reverts = serializers.CharField(allow_null=True)
    checkpoint = serializers.CharField(allow_null=True)
    applied_step = serializers.IntegerField(allow_null=True)
    applied_group = serializers.CharField(allow_null=True)
    settled_step = serializers.IntegerField(allow_null=True)
    error = serializers.CharField(allow_null=True)


class StageControlSerializer(serializers.Serializer):
    target = serializers.CharField(max_length=200, help_text="Path of a steerable field, see `targets`.")
    value = ValueField(allow_null=True)
    apply_at = ApplyAtField(required=False)
    reason = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")


class RevertSerializer(serializers.Serializer):
    reason = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")


class RewindSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120, required=False)


class CheckpointSerializer(serializers.Serializer):
    """A saved policy."""

    id = serializers.CharField()
    run = serializers.CharField()
    attempt = serializers.IntegerField()
    step = serializers.IntegerField()
    bytes = serializers.IntegerField()
    manifest_sha256 = serializers.CharField()
    reason = serializers.ChoiceField(["schedule", "requested", "before_control", "final"])
    policy_version = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    available = serializers.BooleanField(help_text="False once the worker has deleted the files of an old one.")


class RecipeSerializer(serializers.Serializer):
    name = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    spec = serializers.DictField(help_text="As written: defaults are not filled in.")


class RecipeListSerializer(serializers.Serializer):
    object = serializers.ChoiceField(["list"])
    data = RecipeSerializer(many=True)


class ValidateSerializer(serializers.Serializer):
    spec = serializers.DictField(help_text="A run spec that may be faulty.")


class EffectiveBatchSerializer(serializers.Serializer):
    prompts_per_step = serializers.IntegerField()
    samples_per_prompt = serializers.IntegerField()
    samples_per_step = serializers.IntegerField()
    tokens_per_step = serializers.IntegerField(help_text="At most: every completion at its maximum length.")
    updates_per_step = serializers.IntegerField()
    prompts_per_update = serializers.IntegerField()
    samples_per_update = serializers.IntegerField()
    tokens_per_update = serializers.IntegerField()
    steps = serializers.IntegerField()
    samples = serializers.IntegerField(help_text="In the whole run.")
    updates = serializers.IntegerField(help_text="In the whole run.")


class BandSerializer(serializers.Serializer):
    path = serializers.CharField(help_text="Part of the spec that weighs by this ratio.")
    ratio = serializers.CharField(help_text="Which importance ratio, as a formula.")
    ratio_min = serializers.FloatField(allow_null=True)
    ratio_max = serializers.FloatField(allow_null=True)
    ratios = serializers.ListField(child=serializers.FloatField())
    positive = serializers.ListField(child=serializers.FloatField(), help_text="Weight where the advantage is above 0.")
    negative = serializers.ListField(child=serializers.FloatField(), help_text="Weight where the advantage is below 0.")


class MethodSerializer(serializers.Serializer):
    path = serializers.CharField()
    title = serializers.CharField()
    formula = serializers.CharField()
    source = serializers.CharField()
    parameters = serializers.DictField(child=serializers.JSONField())
    when = serializers.CharField()
    watch = serializers.ListField(child=serializers.CharField())


class LearnerMemorySerializer(serializers.Serializer):
    zero_stage = serializers.IntegerField()
    ranks = serializers.IntegerField()
    weights = serializers.IntegerField()
    gathered = serializers.IntegerField(help_text="Whole weights while they are computed with, under ZeRO 3.")
    gradients = serializers.IntegerField()
    masters = serializers.IntegerField(help_text="float32 copies that AdamW steps, under ZeRO.")
    moments = serializers.IntegerField()
    reference = serializers.IntegerField()
    proximal = serializers.IntegerField()
    teacher = serializers.IntegerField()
    critic = serializers.IntegerField()
    activations = serializers.IntegerField(help_text="Of one micro-batch, at the worst moment.")
    accumulates = serializers.BooleanField(help_text="Whether gradients stay while the next micro-batch is computed.")
    reducing = serializers.IntegerField(help_text="Gradients copied before they are added up over the ranks.")
    export = serializers.IntegerField(help_text="Whole weights on their way to the engines, between updates.")
    standing = serializers.IntegerField(help_text="What is there all the time.")
    peak = serializers.IntegerField(help_text="At the worst moment of a step.")


class EngineMemorySerializer(serializers.Serializer):
    weights = serializers.IntegerField()
    output_layer = serializers.IntegerField(help_text="A float32 copy, where it projects in float32.")
    kv_cache = serializers.IntegerField()
    kv_tokens = serializers.IntegerField(help_text="Tokens that the cache holds.")
    total = serializers.IntegerField()


class MemorySerializer(serializers.Serializer):
    learner = LearnerMemorySerializer(help_text="One rank, as the spec has it; bytes, without libraries.")
    choices = LearnerMemorySerializer(many=True, help_text="One rank at other ZeRO stages and numbers of ranks.")
    engine = EngineMemorySerializer(help_text="One rollout engine; bytes.")


class ExplanationSerializer(serializers.Serializer):
    batch = EffectiveBatchSerializer()
    bands = BandSerializer(many=True)
    methods = MethodSerializer(many=True)
    watch = serializers.ListField(child=serializers.CharField(), help_text="Names of metrics worth watching.")
    memory = MemorySerializer(allow_null=True, help_text="Null where the policy's size is not known.")


class ValidationSerializer(serializers.Serializer):
    valid = serializers.BooleanField()
    errors = FieldErrorSerializer(many=True)
    resolved = RunSpecField(allow_null=True, help_text="With all defaults; null when it is not valid.")
    explanation = ExplanationSerializer(allow_null=True, help_text="What the spec amounts to; null with `resolved`.")
