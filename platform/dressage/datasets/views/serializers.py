"""Request and response bodies of the dataset endpoints."""

from typing import Any

from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.common.openapi.serializers import PydanticField, SlugField
from dressage.datasets.cards.serializers import CardOfDatasetSerializer
from dressage.datasets.derivation import operations
from dressage.datasets.derivation.services import Derived
from dressage.datasets.files.origin import Origin
from dressage.datasets.mapping.fields import MappingTextField, PartField
from dressage.datasets.versions import diff, lineage, notes


class ColumnSerializer(serializers.Serializer):
    name = serializers.CharField()
    type = serializers.ChoiceField(["string", "number", "boolean", "array", "object", "null", "mixed"])


class OriginSerializer(DocumentSerializer, document=Origin):
    """What a version was created from."""


class VersionOperationSerializer(DocumentSerializer, document=lineage.VersionOperation):
    """How a version was created."""


class ParentVersionSerializer(serializers.Serializer):
    """The version that another version was derived from."""

    dataset_id = serializers.CharField()
    number = serializers.IntegerField()
    ref = serializers.CharField()
    deleted = serializers.BooleanField(source="is_deleted", read_only=True)


class DatasetVersionSerializer(serializers.Serializer):
    """An immutable version: an upload, or the result of an operation on another version."""

    number = serializers.IntegerField()
    ref = serializers.CharField(help_text="How a run spec names it: `slug@number`.")
    rows = serializers.IntegerField()
    bytes = serializers.IntegerField(help_text="Size of the stored Parquet file.")
    sha256 = serializers.CharField(help_text="Hash of the stored Parquet file.")
    columns = ColumnSerializer(many=True)
    origin = OriginSerializer(allow_null=True, help_text="Versions of before it was kept have none.")
    parent = ParentVersionSerializer(allow_null=True, help_text="The version that it was made of; uploads have none.")
    operation = VersionOperationSerializer(allow_null=True, help_text="Uploads of before it was kept have none.")
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()
    deleted_at = serializers.DateTimeField(allow_null=True, help_text="Time since which its rows are gone.")
    deleted_by = serializers.CharField(allow_blank=True)


class DatasetSerializer(serializers.Serializer):
    id = serializers.CharField()
    slug = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()
    shared_by = serializers.CharField(
        allow_null=True, help_text="The team that it belongs to, where that shares it with yours; null for your own."
    )
    card = CardOfDatasetSerializer(source="*")
    latest_version = DatasetVersionSerializer()
    versions = DatasetVersionSerializer(source="versions.all", many=True)


class UploadSerializer(serializers.Serializer):
    """A new version."""

    file = serializers.FileField(
        required=False,
        allow_empty_file=True,
        help_text="JSON lines, JSON, CSV, TSV or Parquet, plain or packed with gzip or Zstandard, of rows with "
        "`prompt` (string) or `messages` (ending with the user), optionally `answer`, and any other keys; or of "
        "another shape that is known, such as GSM8K's; or a ZIP or TAR archive of Kattis problems or Harbor tasks. "
        "Each row is checked; nothing is stored when one is faulty.",
    )
    upload = PartField(
        max_length=40,
        help_text="Instead of `file`: the id of an upload in parts of which all has come.",
    )

    mapping = MappingTextField(
        help_text="JSON of a mapping: what becomes of the file's columns, in place of a known shape."
    )
    mapping_id = PartField(
        max_length=40,
        help_text="Id of a mapping that the team has saved.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require either a file or an upload, not both."""
        if ("file" in attrs) == ("upload" in attrs):
            told = "Send one of `file` and `upload`" + (", not both." if "file" in attrs else ".")
            raise serializers.ValidationError({"file": told})
        return attrs


class CreateDatasetSerializer(UploadSerializer):
    """A new dataset with its first version."""

    name = serializers.CharField(max_length=120)
    slug = SlugField(required=False, allow_null=True, default=None, help_text="Made from the name when omitted.")
    description = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")


class DatasetRowSerializer(serializers.Serializer):
    index = serializers.IntegerField(help_text="Position in the version, from 0.")
    id = serializers.CharField(help_text="Id of the row, which it keeps in versions that are made of this one.")
    prompt = serializers.CharField(help_text="The prompt, or the last message.")
    answer = serializers.CharField(allow_null=True)
    row = serializers.DictField(help_text="The whole row, mapped where the shape is mapped.")


class DatasetRowPageSerializer(serializers.Serializer):
    object = serializers.ChoiceField(["list"])
    data = DatasetRowSerializer(many=True)
    has_more = serializers.BooleanField()
    next = serializers.IntegerField(allow_null=True, help_text="The `after` of the next page.")


class NoteSourceSerializer(DocumentSerializer, document=notes.NoteSource):
    """The operation that found the notes."""


class NoteColumnSerializer(serializers.Serializer):
    name = serializers.CharField()
    type = serializers.ChoiceField(list(notes.TYPES.values()))


class RowNotesSerializer(serializers.Serializer):
    """Facts that an operation found about the rows of a version, such as their difficulty."""

    id = serializers.CharField()
    name = serializers.CharField()
    columns = NoteColumnSerializer(many=True)
    carried = serializers.BooleanField(help_text="Whether they hold for a row in other versions, too.")
    source = NoteSourceSerializer()
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()


class DatasetOperationField(PydanticField, model=operations.DatasetOperation):
    """The operation to apply to a version."""


class NewDatasetSerializer(serializers.Serializer):
    """A new dataset for the result. The parts of a split are named after it."""

    name = serializers.CharField(max_length=120)
    slug = SlugField(required=False, allow_null=True, default=None, help_text="Made from the name when omitted.")
    description = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")


class DeriveSerializer(serializers.Serializer):
    """An operation to apply to a version."""

    operation = DatasetOperationField()
    into = NewDatasetSerializer(
        required=False, allow_null=True, default=None, help_text="Null makes the next version of the same dataset."
    )
    latest = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        min_value=1,
        max_value=2**31 - 1,
        help_text="Number of the newest version that you have seen: with another there, nothing is made.",
    )
    dry_run = serializers.BooleanField(required=False, default=False, help_text="Only count what would be made.")


class DerivedSerializer(DocumentSerializer, document=Derived):
    """What an operation created, or would create."""


class DiffCountsSerializer(DocumentSerializer, document=diff.DiffCounts):
    """Number of rows of each kind."""


class RowDiffSerializer(DocumentSerializer, document=diff.RowDiff):
    """One row that differs."""


class DiffPageSerializer(serializers.Serializer):
    object = serializers.ChoiceField(["list"])
    against = serializers.IntegerField(help_text="Number of the version that it is compared with.")
    counts = DiffCountsSerializer()
    data = RowDiffSerializer(many=True)
    has_more = serializers.BooleanField()
    next = serializers.IntegerField(allow_null=True, help_text="The `after` of the next page.")
