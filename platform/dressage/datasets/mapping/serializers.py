"""Request and response bodies of the mapping endpoints."""

from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.datasets.mapping import columns, preview
from dressage.datasets.mapping.fields import MappingField, MappingTextField, PartField
from trainer_core.datasets.mapping.document import MAX_NAME


class SavedMappingSerializer(serializers.Serializer):
    """A saved mapping of the team."""

    id = serializers.CharField()
    name = serializers.CharField()
    mapping = MappingField()
    columns = serializers.ListField(
        child=serializers.CharField(), help_text="Columns of the file that it was made for, sorted."
    )
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()


class CreateSavedMappingSerializer(serializers.Serializer):
    """A mapping to save."""

    name = serializers.CharField(max_length=120)
    mapping = MappingField()
    columns = serializers.ListField(
        child=serializers.CharField(max_length=MAX_NAME, trim_whitespace=False),
        min_length=1,
        max_length=256,
        help_text="All columns of the file that it was made for: files with the same are offered it.",
    )


class UpdateSavedMappingSerializer(serializers.Serializer):
    """Changes to a saved mapping."""

    name = serializers.CharField(max_length=120, required=False)
    mapping = MappingField(required=False)


class PreviewRequestSerializer(serializers.Serializer):
    """A file to preview, or its beginning."""

    file = serializers.FileField(allow_empty_file=True, help_text="The file, or its first bytes.")
    whole = serializers.BooleanField(
        required=False,
        default=True,
        help_text="Whether it is the whole file. Of a beginning, the last row is not looked at, since it may be cut; "
        "Parquet and archives are read whole only.",
    )
    mapping = MappingTextField(help_text="JSON of a mapping to try.")
    mapping_id = PartField(max_length=40, help_text="Id of a saved mapping to try.")


class PreviewColumnSerializer(DocumentSerializer, document=columns.PreviewColumn):
    """A column of the file."""


class PreviewRowSerializer(DocumentSerializer, document=preview.PreviewRow):
    """One of the first rows."""


class PreviewFaultSerializer(DocumentSerializer, document=preview.PreviewFault):
    """A row that would be refused."""


class PreviewShapeSerializer(DocumentSerializer, document=preview.PreviewShape):
    """The known shape that was found."""


class MappingProposalSerializer(serializers.Serializer):
    """A mapping that converts all rows examined, and what to check before using it."""

    mapping = MappingField()
    notes = serializers.ListField(child=serializers.CharField())


class DatasetPreviewSerializer(serializers.Serializer):
    """What an upload would make of the first rows."""

    format = serializers.ChoiceField(["jsonl", "json", "csv", "tsv", "parquet", "kattis", "harbor"])
    packing = serializers.ChoiceField(["gzip", "zstd"], allow_null=True)
    unit = serializers.ChoiceField(["line", "row"], help_text="What the numbers of rows count.")
    columns = PreviewColumnSerializer(many=True)
    shape = PreviewShapeSerializer(allow_null=True, help_text="The known shape that the rows are of.")
    saved = SavedMappingSerializer(many=True, help_text="Saved mappings that were made for the same columns.")
    proposal = MappingProposalSerializer(allow_null=True, help_text="A mapping guessed from the rows, if one is sure.")
    by = serializers.ChoiceField(
        ["given", "shape", "saved", "proposal"], allow_null=True, help_text="What the rows below were read by."
    )
    mapping = MappingField(allow_null=True, help_text="The mapping that they were read by.")
    mapping_id = serializers.CharField(allow_null=True, help_text="The saved mapping that it is.")
    rows = PreviewRowSerializer(many=True)
    faults = PreviewFaultSerializer(many=True, help_text="The first faults of the rows examined.")
    examined = serializers.IntegerField(help_text="Rows that were read.")
    faulty = serializers.IntegerField(help_text="Those of them that would be refused or left out.")
    whole = serializers.BooleanField(help_text="Whether these are all rows of the file.")
