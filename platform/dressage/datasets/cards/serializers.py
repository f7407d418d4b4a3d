"""Request and response bodies of the card endpoints."""

from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.datasets.cards.documents import DatasetCardDocument, card_of
from dressage.datasets.cards.licences import MAX_LICENCE
from dressage.datasets.cards.services import MAX_CAVEATS, MAX_DAYS
from dressage.datasets.models import Dataset


class DatasetCardSerializer(DocumentSerializer, document=DatasetCardDocument):
    """What people should know about a dataset."""


class CardOfDatasetSerializer(DatasetCardSerializer, document=DatasetCardDocument):
    """The same card, as part of a dataset."""

    def to_representation(self, instance: Dataset) -> DatasetCardDocument:
        return card_of(instance)


class WriteDatasetCardSerializer(serializers.Serializer):
    """The whole card. Empty fields clear what they said."""

    source = serializers.CharField(max_length=2000, allow_blank=True, help_text="Where the rows are from.")
    licence = serializers.CharField(
        max_length=MAX_LICENCE, allow_blank=True, help_text="Identifier of SPDX, such as `CC-BY-4.0`, else free text."
    )
    purpose = serializers.CharField(max_length=2000, allow_blank=True, help_text="What the rows are for.")
    caveats = serializers.CharField(
        max_length=MAX_CAVEATS, allow_blank=True, help_text="What one must know before using them."
    )
    owner = serializers.CharField(
        max_length=40, allow_null=True, help_text="Id of the membership of who answers for the dataset; null for none."
    )
    keep_days = serializers.IntegerField(
        min_value=1,
        max_value=MAX_DAYS,
        allow_null=True,
        required=False,
        help_text="Days after which a version goes that a newer one has replaced, where no run has ever read it; null "
        "keeps all. Left out, it stays as it is.",
    )
