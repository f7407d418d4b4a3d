"""Bodies of the policies' endpoints."""

from rest_framework import serializers

from dressage.common.serializers import SlugField


class PolicySerializer(serializers.Serializer):
    id = serializers.CharField()
    slug = serializers.CharField(help_text="How a run spec names it.")
    name = serializers.CharField()
    path = serializers.CharField()
    architecture = serializers.CharField()
    parameters = serializers.IntegerField(help_text="Numbers in the stored tensors.")
    vocab_size = serializers.IntegerField()
    max_position_embeddings = serializers.IntegerField()
    bytes = serializers.IntegerField(help_text="Size of the weights.")
    sha256 = serializers.CharField(help_text="Hash over configuration, tokenizer and weights.")
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()


class RegisterPolicySerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120)
    slug = SlugField(required=False, allow_null=True, default=None, help_text="Made from the name when omitted.")
    path = serializers.CharField(max_length=1000, help_text="Hugging Face folder on the platform's machine.")
