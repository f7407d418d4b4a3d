"""Request and response bodies of the marks endpoints."""

from typing import get_args

from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.lab.quality.documents import MarksDocument, Word
from dressage.lab.quality.drawing import MOST_MARKS


class MarksSerializer(DocumentSerializer, document=MarksDocument):
    """Rows to mark, and the agreement so far."""


class AskedMarkSerializer(serializers.Serializer):
    """A person's opinion of one row."""

    row = serializers.IntegerField(min_value=0, max_value=2**31 - 1, help_text="Number of the row, from 0.")
    word = serializers.ChoiceField(choices=get_args(Word), allow_null=True, help_text="Null withdraws the mark.")


class MarkRowsSerializer(serializers.Serializer):
    """Marks of rows. Each replaces an earlier mark by the same person."""

    marks = serializers.ListField(child=AskedMarkSerializer(), allow_empty=False, max_length=MOST_MARKS)
