"""Request and response bodies of the import endpoints."""

from typing import Any

from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.common.openapi.serializers import SlugField
from dressage.datasets.imports import documents
from dressage.datasets.imports.choices import MAX_FILES
from dressage.datasets.mapping.fields import MappingField
from dressage.datasets.models import DatasetImportState, DatasetSourceKind


class DatasetSourcesSerializer(DocumentSerializer, document=documents.DatasetSourcesDocument):
    """Places that datasets may be imported from."""


class ListedPlaceSerializer(DocumentSerializer, document=documents.ListedPlace):
    """What can be imported from a place."""


class PlaceSerializer(serializers.Serializer):
    """A place that datasets are imported from."""

    source = serializers.ChoiceField(DatasetSourceKind.choices)
    location = serializers.CharField(
        max_length=1000,
        help_text="`owner/name` of a dataset of the hub; an address; or the path of a file or folder of the platform's "
        "machine. Addresses and folders must be allowed by the installation.",
    )
    revision = serializers.CharField(
        max_length=200,
        required=False,
        allow_blank=True,
        default="",
        help_text="Branch, tag or commit of the repository; its main branch when empty.",
    )


class HowToReadSerializer(serializers.Serializer):
    """How to read the rows. By default a known shape, or a saved mapping for the same columns, is used."""

    mapping = MappingField(required=False, allow_null=True, default=None)
    mapping_id = serializers.CharField(
        max_length=40,
        required=False,
        allow_null=True,
        default=None,
        help_text="Id of a mapping that the team has saved.",
    )


class StartDatasetImportSerializer(PlaceSerializer, HowToReadSerializer):
    """A dataset to import, or the next version of an existing dataset."""

    name = serializers.CharField(
        max_length=120, required=False, help_text="Of a new dataset. Left out with `dataset`, which has one."
    )
    slug = SlugField(required=False, allow_null=True, default=None, help_text="Made from the name when omitted.")
    description = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")
    dataset = serializers.CharField(
        max_length=40,
        required=False,
        allow_null=True,
        default=None,
        help_text="Id of the dataset of which it is to be the next version; null for a new one.",
    )
    config = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    split = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    files = serializers.ListField(
        child=serializers.CharField(max_length=1000),
        required=False,
        default=list,
        max_length=MAX_FILES,
        help_text="Names of the files to read, in this order; when empty, those of `config` and `split`. Without any "
        "of them the split `train` of the first config, or the only one.",
    )
    review = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Whether it waits for a person to look at the rows, even where their shape is known.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require either a name or a dataset, not both."""
        if ("name" in attrs) == (attrs["dataset"] is not None):
            told = "Give one of `name`, for a new dataset, and `dataset`, for its next version"
            raise serializers.ValidationError({"name": told + (", not both." if "name" in attrs else ".")})
        if len(set(attrs["files"])) < len(attrs["files"]):
            raise serializers.ValidationError({"files": "A file is named twice."})
        return attrs


class ImportedVersionSerializer(serializers.Serializer):
    """The version created by an import."""

    dataset_id = serializers.CharField()
    number = serializers.IntegerField()
    ref = serializers.CharField()


class ImportFileSerializer(serializers.Serializer):
    """A file of an import."""

    path = serializers.CharField()
    bytes = serializers.IntegerField()
    sha256 = serializers.CharField(help_text="Empty until it has come and was compared.")


class RowFaultSerializer(serializers.Serializer):
    """A fault in a row or in a file."""

    place = serializers.CharField(help_text="Pointer such as `/file/rows/17`.")
    detail = serializers.CharField()


class DatasetImportSerializer(serializers.Serializer):
    """A dataset that is being imported."""

    id = serializers.CharField()
    name = serializers.CharField()
    slug = serializers.CharField(help_text="How run specs will name the dataset.")
    dataset = serializers.CharField(
        source="dataset_id", allow_null=True, help_text="The dataset of which it is to be the next version."
    )
    source = serializers.ChoiceField(DatasetSourceKind.choices)
    location = serializers.CharField(source="shown_location", help_text="Of an address, without its query.")
    revision = serializers.CharField(help_text="As it was asked for; empty for the main branch.")
    commit = serializers.CharField(help_text="What the revision was resolved to; empty until then.")
    config = serializers.CharField()
    split = serializers.CharField()
    files = ImportFileSerializer(many=True, help_text="Empty until they are listed.")
    licence = serializers.CharField(help_text="As the repository's card names it.")
    review = serializers.BooleanField()
    state = serializers.ChoiceField(DatasetImportState.choices)
    error = serializers.CharField(help_text="Why it failed or waits, and what to do; else empty.")
    has_files = serializers.BooleanField(
        help_text="Whether it waits or has failed with all its files here, so that a mapping can be tried on them."
    )
    faults = serializers.IntegerField(source="faults_of_rows", help_text="Faults of rows for which it was refused.")
    first_faults = RowFaultSerializer(many=True, help_text="The first hundred; the report has all, up to 10,000.")
    files_total = serializers.IntegerField(help_text="0 until the files are known.")
    files_done = serializers.IntegerField()
    bytes_total = serializers.IntegerField(help_text="0 until the files are known.")
    bytes_done = serializers.IntegerField(help_text="Fetched; compared, while it verifies; or read.")
    version = ImportedVersionSerializer(allow_null=True, help_text="What it has become, once it is ready.")
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()
    finished_at = serializers.DateTimeField(allow_null=True)


class ImportReportSerializer(serializers.Serializer):
    """All faults because of which an import was refused."""

    report = RowFaultSerializer(many=True)
