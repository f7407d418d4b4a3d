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

        Runs on other versions of the dataset count if these have the row with the same id. Steps that a later attempt
        has repeated count once.
        """
        version = selectors.readable_version(request.team, dataset_id, number)
        with selectors.missing_files("/number"):
            found = row_history(request.team, version, index)
        return Response(RowHistorySerializer(found).data)
