"""REST view of what a team keeps in datasets."""

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.scopes import Noun
from dressage.datasets.quota.serializers import DatasetUsageSerializer
from dressage.datasets.quota.usage import usage_of
from dressage.teams.api import ApiView, TeamRequest


class DatasetUsageView(ApiView):
    """Use of the quota."""

    noun = Noun.DATASETS

    @extend_schema(operation_id="getDatasetUsage", tags=["datasets"], responses=DatasetUsageSerializer)
    def get(self, request: TeamRequest) -> Response:
        """Bytes and rows that the team keeps in datasets, and how many it may keep."""
        return Response(DatasetUsageSerializer(usage_of(request.team.id)).data)
