"""Bodies of the forecast of a step."""

from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.runs.facts.serializers import ValueField
from dressage.runs.preview.batch_preview import BatchPreviewDocument


class BatchChangeSerializer(serializers.Serializer):
    target = serializers.ChoiceField(["rollout.group_size", "filters"], help_text="The part of the spec.")
    value = ValueField(allow_null=True)


class BatchPreviewRequestSerializer(serializers.Serializer):
    changes = serializers.ListField(
        child=BatchChangeSerializer(), max_length=2, help_text="What the draft changes; may be empty."
    )


class BatchPreviewSerializer(DocumentSerializer, document=BatchPreviewDocument):
    """A step now and under the draft."""
