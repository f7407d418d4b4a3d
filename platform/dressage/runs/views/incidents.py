"""Incidents of a run: what is wrong, since when, why, and what to do."""

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.scopes import Noun
from dressage.runs.facts import selectors
from dressage.runs.watch.incidents.documents import incidents_document
from dressage.runs.watch.incidents.serializers import IncidentsSerializer
from dressage.teams.api import ApiView, TeamRequest


class IncidentsView(ApiView):
    noun = Noun.RUNS

    @extend_schema(operation_id="listIncidents", tags=["runs"], responses=IncidentsSerializer)
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """Present and past problems of the run, with cause, evidence, and what to do. Derived from its stored findings,
        alerts, metrics and state; at most 50."""
        return Response(incidents_document(selectors.plain_run(request.team, run_id, with_spec=True)))
