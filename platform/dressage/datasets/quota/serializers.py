"""Responses of the quota endpoint."""

from dressage.common.openapi.documents import DocumentSerializer
from dressage.datasets.quota.usage import DatasetUsage


class DatasetUsageSerializer(DocumentSerializer, document=DatasetUsage):
    """What a team stores, and its limits."""
