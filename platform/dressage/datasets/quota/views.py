"""REST view of a team's dataset usage."""

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.scopes import Noun
from dressage.datasets.quota.serializers import DatasetUsageSerializer
from dressage.datasets.quota.usage import usage_of
from dressage.teams.api import ApiView, TeamRequest


class DatasetUsageView(ApiView):
    """Usage of the quota."""

    noun = Noun.DATASETS

    @extend_schema(operation_id="getDatasetUsage", tags=["datasets"], responses=DatasetUsageSerializer)
    def get(self, request: TeamRequest) -> Response:
        """Return the bytes and rows that the team stores in datasets, and its limits."""
        return Response(DatasetUsageSerializer(usage_of(request.team.id)).data)
