"""Request and response bodies of the policy endpoints."""

from typing import Any

from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.common.openapi.serializers import SlugField
from dressage.common.roles import Role
from dressage.policies.documents import PolicyFactsDocument, PolicyOriginDocument
from dressage.policies.models import Policy


class PolicyOriginSerializer(DocumentSerializer, document=PolicyOriginDocument):
    pass


class PolicyFactsSerializer(DocumentSerializer, document=PolicyFactsDocument):
    pass


class PolicySerializer(serializers.Serializer):
    id = serializers.CharField()
    slug = serializers.CharField(help_text="Its name in run specs.")
    name = serializers.CharField()
    path = serializers.CharField(required=False, help_text="Folder on the platform's machine. Only admins see it.")
    checkpoint = serializers.CharField(
        allow_null=True, help_text="The checkpoint whose weights it has; null for a registered folder."
    )
    origin = PolicyOriginSerializer(
        allow_null=True, help_text="Where it was imported from; null for a folder and for a checkpoint."
    )
    architecture = serializers.CharField()
    parameters = serializers.IntegerField(help_text="Number of values in the stored tensors.")
    vocab_size = serializers.IntegerField()
    max_position_embeddings = serializers.IntegerField()
    bytes = serializers.IntegerField(help_text="Size of the weights.")
    sha256 = serializers.CharField(help_text="Hash over configuration, tokenizer and weights.")
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()

    def to_representation(self, instance: Policy) -> dict[str, Any]:
        document: dict[str, Any] = super().to_representation(instance)
        if self.context.get("role") != Role.ADMIN:
            del document["path"]
        return document


class RegisterPolicySerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120)
    slug = SlugField(required=False, allow_null=True, default=None, help_text="Derived from the name when omitted.")
    path = serializers.CharField(max_length=1000, help_text="Hugging Face folder on the platform's machine.")


class NamePolicySerializer(serializers.Serializer):
    """Names for a policy that is created from a checkpoint."""

    name = serializers.CharField(max_length=120)
    slug = SlugField(required=False, allow_null=True, default=None, help_text="Derived from the name when omitted.")
