"""REST views of marks: people's opinions of rows that a judge has scored."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.permissions import IsEditor
from dressage.common.api.query import Number, Query, Whole
from dressage.common.scopes import Noun
from dressage.lab import selectors
from dressage.lab.quality.drawing import MOST_MARKS, TO_MARK
from dressage.lab.quality.selectors import marks
from dressage.lab.quality.serializers import MarkRowsSerializer, MarksSerializer
from dressage.lab.quality.services import mark
from dressage.teams.api import ApiView, TeamRequest


class MarksView(ApiView):
    """People's opinions of rows."""

    noun = Noun.DATASETS
    roles = {"PUT": IsEditor}
    problem_statuses = {"GET": (409,), "PUT": (409,)}
    queries = {
        "GET": Query.of(
            Whole(name="size", default=TO_MARK, least=1, most=MOST_MARKS, description="Rows to draw."),
            Number(name="threshold", default=0.5, description="Least score of a row that the judge calls good."),
        )
    }

    @extend_schema(operation_id="getLabMarks", tags=["datasets"], responses=MarksSerializer)
    def get(self, request: TeamRequest, job_id: str) -> Response:
        """List the rows that a person should mark, and the agreement so far.

        The rows are drawn evenly over the judge's scores, which are not shown. Everyone gets the same rows. Agreement
        is reported for each person who has marked rows.
        """
        job = selectors.job(request.team, job_id)
        return Response(MarksSerializer(marks(job, request.actor, **self.query)).data)

    @extend_schema(operation_id="markLabRows", tags=["datasets"], request=MarkRowsSerializer, responses={204: None})
    def put(self, request: TeamRequest, job_id: str) -> Response:
        """Mark rows as good or bad. Marks of other rows stay."""
        job = selectors.job(request.team, job_id)
        mark(job, request.actor, self.body(MarkRowsSerializer)["marks"])
        return Response(status=status.HTTP_204_NO_CONTENT)
