"""Bodies of the endpoints of reports."""

from rest_framework import serializers

from dressage.common.openapi.serializers import PydanticField
from dressage.reports.document import ReportContent

_REVISION = "Number of saves. Send it as `If-Match` with a change."


class ContentField(PydanticField, model=ReportContent):
    """Content of a report."""


class ReportEntrySerializer(serializers.Serializer):
    """A report without its content."""

    id = serializers.CharField()
    title = serializers.CharField()
    revision = serializers.IntegerField(help_text=_REVISION)
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField(help_text="Its creator.")
    updated_at = serializers.DateTimeField()
    updated_by = serializers.CharField(help_text="Who changed it last.")


class ReportSerializer(ReportEntrySerializer):
    """A report."""

    content = ContentField()


class CreateReportSerializer(serializers.Serializer):
    """A report to create."""

    title = serializers.CharField(max_length=200)
    content = ContentField()


class UpdateReportSerializer(serializers.Serializer):
    """Changes to a report."""

    title = serializers.CharField(max_length=200, required=False)
    content = ContentField(required=False)


class ReportRevisionEntrySerializer(serializers.Serializer):
    """A revision without its content."""

    id = serializers.CharField()
    number = serializers.IntegerField(help_text="From 1.")
    title = serializers.CharField()
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField(help_text="Who saved it.")


class ReportRevisionSerializer(ReportRevisionEntrySerializer):
    """Content of a report as it was saved."""

    content = ContentField()
