"""Request and response bodies of the row search."""

from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.common.openapi.serializers import PydanticField
from dressage.datasets.rows.query import RowQuery
from dressage.datasets.search.find import FoundRows
from dressage.datasets.search.one import OneRow
from dressage.datasets.search.values import RowValues


class RowQueryField(PydanticField, model=RowQuery):
    """Conditions on rows. A row must fulfil all of them."""


class SearchRowsSerializer(serializers.Serializer):
    """A query for rows."""

    query = RowQueryField(help_text="The same that the operation `filter` takes; an empty one finds every row.")
    after = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        min_value=0,
        max_value=10**11,
        help_text="`next` of the page before, or the index of any row: what is behind it is looked at.",
    )
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=200)


class FoundRowsSerializer(DocumentSerializer, document=FoundRows):
    """One page of query results."""


class OneRowSerializer(DocumentSerializer, document=OneRow):
    """One row with everything that is known about it."""


class RowValuesSerializer(DocumentSerializer, document=RowValues):
    """Values that row filters can offer."""
