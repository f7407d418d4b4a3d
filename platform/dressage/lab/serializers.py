"""Request and response bodies of the lab endpoints."""

from typing import Any

from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.common.openapi.serializers import PydanticField
from dressage.lab.arguments import LabOperation
from dressage.lab.cost import LabCost
from dressage.lab.models import LabKind, LabState
from dressage.lab.reports import LabReport, completed


class LabOperationField(PydanticField, model=LabOperation):
    """The operation to apply to the rows of a version."""


class StartLabJobSerializer(serializers.Serializer):
    """An operation to start on the rows of a version."""

    operation = LabOperationField()
    dry_run = serializers.BooleanField(required=False, default=False, help_text="Only estimate the cost.")


class LabCostSerializer(DocumentSerializer, document=LabCost):
    """What an operation reads and needs."""


class LabReportSerializer(DocumentSerializer, document=LabReport):
    """What an operation found."""

    def to_representation(self, instance: Any) -> Any:
        return completed(instance)


class LabVersionSerializer(serializers.Serializer):
    """A version created by a job."""

    dataset_id = serializers.CharField()
    number = serializers.IntegerField()
    ref = serializers.CharField()
    rows = serializers.IntegerField()


class LabJobSerializer(serializers.Serializer):
    """An operation on the rows of a version, with its progress."""

    id = serializers.CharField()
    ref = serializers.CharField(source="version.ref", help_text="The version.")
    kind = serializers.ChoiceField(LabKind.choices)
    operation = LabOperationField()
    state = serializers.ChoiceField(LabState.choices)
    error = serializers.CharField(help_text="Why it failed or waits, and what to do; else empty.")
    stage = serializers.CharField(help_text="Current stage.")
    steps_done = serializers.IntegerField(help_text="Rows or steps of the stage.")
    steps_total = serializers.IntegerField()
    rows = serializers.IntegerField(help_text="Rows that it reads, including those of other versions.")
    notes = serializers.ListField(
        child=serializers.CharField(), help_text="Row notes that it wrote, unless they were undone or replaced."
    )
    made = LabVersionSerializer(
        allow_null=True,
        source="made_version",
        help_text="The version that it created; null if it creates none, or the version was deleted.",
    )
    seconds = serializers.FloatField(allow_null=True, help_text="What it used; null until it is done.")
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class LabJobWithReportSerializer(LabJobSerializer):
    """An operation with its result."""

    report = LabReportSerializer(allow_null=True, help_text="Null until it is done.")


class StartedLabJobSerializer(serializers.Serializer):
    """The cost of an operation, and its job if it was started."""

    cost = LabCostSerializer()
    job = LabJobSerializer(allow_null=True, help_text="Null if only the cost was requested.")
