"""Bodies of the endpoints of served policies."""

from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.runs.facts.serializers import ClusterField
from dressage.serving.documents import NewServingDocument, ServingDocument


class ServePolicySerializer(serializers.Serializer):
    """The policy to serve."""

    policy = serializers.CharField(max_length=63, help_text="Its slug.")
    cluster = ClusterField("Where to serve it, by name; null: the platform chooses.")


class ServingSerializer(DocumentSerializer, document=ServingDocument):
    pass


class NewServingSerializer(DocumentSerializer, document=NewServingDocument):
    pass
