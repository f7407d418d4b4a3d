"""Bodies of the endpoints of rehearsals."""

from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.rehearsals.documents import RehearsalDocument, RehearsalRowDocument
from dressage.runs.facts.serializers import ClusterField, RunSpecField


class CreateRehearsalSerializer(serializers.Serializer):
    """A spec, and how much of it to try."""

    spec = RunSpecField()
    prompts = serializers.IntegerField(min_value=1, max_value=32, default=8, help_text="Prompts of each source.")
    samples = serializers.IntegerField(min_value=1, max_value=32, default=4, help_text="Samples of each prompt.")
    cluster = ClusterField("Cluster to run it on, by name; null: the platform chooses.")
    run = serializers.CharField(
        required=False,
        max_length=40,
        help_text="The run that the spec belongs to or comes from; if `cluster` is omitted, its cluster is used.",
    )


class RehearsalRowSerializer(DocumentSerializer, document=RehearsalRowDocument):
    """A rehearsal as lists show it."""


class RehearsalSerializer(DocumentSerializer, document=RehearsalDocument):
    """A rehearsal with its spec and, once it is done, its report."""
