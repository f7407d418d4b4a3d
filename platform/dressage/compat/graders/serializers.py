"""Bodies of the compatible endpoints, with exactly OpenAI's fields."""

from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.compat.graders.response import GraderRunDocument
from dressage.rewards.trial import MAX_TEXT

_HELP = "A grader in OpenAI's format, or any of ours: see `GET /rewards/schema`."


class ValidateGraderSerializer(serializers.Serializer):
    grader = serializers.DictField(help_text=_HELP)


class RunGraderSerializer(ValidateGraderSerializer):
    model_sample = serializers.CharField(max_length=MAX_TEXT, allow_blank=True, trim_whitespace=False)
    item = serializers.DictField(required=False, help_text="The dataset row, for `{{item.…}}`.")


class GraderRunSerializer(DocumentSerializer, document=GraderRunDocument):
    """A reward and how it was computed."""
