"""Answers of the endpoint of quotas."""

from dressage.common.openapi.documents import DocumentSerializer
from dressage.datasets.quota.usage import DatasetUsage


class DatasetUsageSerializer(DocumentSerializer, document=DatasetUsage):
    """What a team keeps, and may keep."""
