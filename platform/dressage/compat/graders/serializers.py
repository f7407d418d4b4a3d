"""Bodies of the compatible endpoints, field for field OpenAI's."""

from rest_framework import serializers

from dressage.rewards.trial import MAX_TEXT

_HELP = "A grader as OpenAI writes it, or any of ours: see `GET /rewards/schema`."


class ValidateGraderSerializer(serializers.Serializer):
    grader = serializers.DictField(help_text=_HELP)


class RunGraderSerializer(ValidateGraderSerializer):
    model_sample = serializers.CharField(max_length=MAX_TEXT, allow_blank=True, trim_whitespace=False)
    item = serializers.DictField(required=False, help_text="The dataset row, for `{{item.…}}`.")


class GraderErrorsSerializer(serializers.Serializer):
    """What went wrong; all false when there is a reward."""

    formula_parse_error = serializers.BooleanField()
    invalid_variable_error = serializers.BooleanField(help_text="The row lacks a field that the grader reads.")
    model_grader_parse_error = serializers.BooleanField()
    model_grader_refusal_error = serializers.BooleanField()
    model_grader_server_error = serializers.BooleanField()
    model_grader_server_error_details = serializers.CharField(allow_null=True)
    other_error = serializers.BooleanField()
    other_error_details = serializers.CharField(allow_null=True, help_text="An addition to OpenAI's members.")
    python_grader_runtime_error = serializers.BooleanField()
    python_grader_runtime_error_details = serializers.CharField(allow_null=True)
    python_grader_server_error = serializers.BooleanField()
    python_grader_server_error_type = serializers.CharField(allow_null=True)
    sample_parse_error = serializers.BooleanField(help_text="The grader reads JSON, and the sample is none.")
    truncated_observation_error = serializers.BooleanField()
    unresponsive_reward_error = serializers.BooleanField(help_text="There was no answer in time.")


class GraderMetadataSerializer(serializers.Serializer):
    name = serializers.CharField()
    type = serializers.CharField()
    errors = GraderErrorsSerializer()
    execution_time = serializers.FloatField(help_text="Seconds.")
    scores = serializers.DictField(child=serializers.FloatField())
    token_usage = serializers.IntegerField(allow_null=True)
    sampled_model_name = serializers.CharField(allow_null=True)


class GraderTokenUsageSerializer(serializers.Serializer):
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    total_tokens = serializers.IntegerField()
    cached_tokens = serializers.IntegerField()


class GraderRunSerializer(serializers.Serializer):
    reward = serializers.FloatField(allow_null=True, help_text="null when it could not be computed: never a zero.")
    sub_rewards = serializers.DictField(child=serializers.FloatField(), help_text="Of a `multi`: grade by name.")
    metadata = GraderMetadataSerializer()
    model_grader_token_usage_per_model = serializers.DictField(child=GraderTokenUsageSerializer())
