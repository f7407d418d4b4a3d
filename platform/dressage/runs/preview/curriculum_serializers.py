"""Bodies of the curriculum's endpoints."""

from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.runs.facts.serializers import ChangeSerializer
from dressage.runs.preview.curriculum import CurriculumDocument, CurriculumPreviewDocument


class CurriculumSerializer(DocumentSerializer, document=CurriculumDocument):
    """A run's curriculum with its pass rates."""


class CurriculumPreviewRequestSerializer(serializers.Serializer):
    changes = serializers.ListField(
        child=ChangeSerializer(), max_length=100, help_text="Changes that would be staged together; may be empty."
    )


class CurriculumPreviewSerializer(DocumentSerializer, document=CurriculumPreviewDocument):
    """Two previews of the next batch."""
