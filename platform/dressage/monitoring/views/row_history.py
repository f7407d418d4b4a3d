"""The history of a row over runs."""

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.scopes import Noun
from dressage.datasets import selectors
from dressage.monitoring.row_history import row_history
from dressage.monitoring.serializers import RowHistorySerializer
from dressage.teams.api import ApiView, TeamRequest


class RowHistoryView(ApiView):
    noun = Noun.RUNS

    @extend_schema(operation_id="getRowHistory", tags=["telemetry"], responses=RowHistorySerializer)
    def get(self, request: TeamRequest, dataset_id: str, number: int, index: int) -> Response:
        """Pass rates of a row in the team's runs, by step.

        Runs on other versions of the dataset count where these have the row by the same id. What a later attempt has
        done again does not count.
        """
        version = selectors.readable_version(request.team, dataset_id, number)
        with selectors.missing_files("/number"):
            found = row_history(request.team, version, index)
        return Response(RowHistorySerializer(found).data)
