"""Request and response bodies of the proposal endpoints."""

from rest_framework import serializers

from dressage.rewards.models.proposal import ProposalState
from dressage.rewards.serializers import RewardVersionSerializer


class RubricProposalSerializer(serializers.Serializer):
    """A proposed rubric item with the two rollouts that it distinguishes."""

    id = serializers.CharField()
    state = serializers.ChoiceField(ProposalState.choices)
    component = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    weight = serializers.FloatField(help_text="Negative for a pitfall.")
    run = serializers.CharField(source="run_id", allow_null=True)
    run_name = serializers.CharField(source="run.name", allow_null=True, default=None)
    step = serializers.IntegerField()
    reward_version = serializers.CharField(
        source="reward_version.ref", help_text="Version under which they were scored."
    )
    prompt_id = serializers.CharField()
    prompt_text = serializers.CharField(allow_blank=True)
    better = serializers.CharField(allow_blank=True)
    worse = serializers.CharField(allow_blank=True)
    better_reward = serializers.FloatField(allow_null=True)
    worse_reward = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_blank=True, help_text="The judge's text.")
    created_at = serializers.DateTimeField()
    decided_by = serializers.CharField(allow_blank=True)
    decided_at = serializers.DateTimeField(allow_null=True)
    note = serializers.CharField(allow_blank=True)
    accepted_version = serializers.CharField(source="accepted_version.ref", allow_null=True, default=None)
    accepted_name = serializers.CharField(allow_blank=True)


class AcceptProposalSerializer(serializers.Serializer):
    """Changes to the item before it is added to the rubric."""

    name = serializers.CharField(max_length=200, required=False)
    description = serializers.CharField(max_length=4000, required=False)
    weight = serializers.FloatField(min_value=-1000.0, max_value=1000.0, required=False)
    note = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")


class RetireProposalSerializer(serializers.Serializer):
    note = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")


class AcceptedProposalSerializer(serializers.Serializer):
    proposal = RubricProposalSerializer()
    version = RewardVersionSerializer(help_text="The version created with the item.")


class RetiredProposalSerializer(serializers.Serializer):
    proposal = RubricProposalSerializer()
    version = RewardVersionSerializer(
        allow_null=True, help_text="Version created without the item, if the newest still had it."
    )
