"""What is wrong with a run, since when, why, and what to do."""

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
        """What is wrong with the run, or was: cause, evidence, and what to do. Told from its findings, alerts, metrics
        and state as they are stored; 50 at most."""
        return Response(incidents_document(selectors.plain_run(request.team, run_id, with_spec=True)))
