"""Groups of rollouts, and their tokens."""

import base64
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import LIMIT
from dressage.common.api.permissions import IsEditor, has_scopes
from dressage.common.api.problems import Problem, invalid, not_found
from dressage.common.api.query import Choice, Query, Text
from dressage.common.scopes import Noun, Scope
from dressage.datasets.derivation.services import Into
from dressage.datasets.views.serializers import DerivedSerializer
from dressage.monitoring.rollout_dataset import RolloutChoice, make_dataset
from dressage.monitoring.rollout_filters import FILTERS, REASON_SCOPES, chosen
from dressage.monitoring.serializers import (
    GroupPageSerializer,
    KeptSerializer,
    RolloutDatasetSerializer,
    RolloutTokensSerializer,
)
from dressage.runs.facts.selectors import plain_run
from dressage.runs.models import Run
from dressage.teams.api import ApiView, TeamRequest
from dressage.telemetry.models import Rollout
from dressage.telemetry.traces.export import CONTENT_TYPES, stream
from dressage.telemetry.traces.groups import GroupPlace, matching, page
from dressage.telemetry.traces.kept import kept
from dressage.telemetry.traces.reading import TraceGone, sample_tokens
from trainer_core.spec.operation.traces import Traces


class GroupsView(ApiView):
    noun = Noun.RUNS
    queries = {
        "GET": Query.of(
            Text(name="after", longest=200, code="invalid_cursor", description="`next` of the previous page."),
            LIMIT,
            *FILTERS,
        )
    }

    @extend_schema(operation_id="listGroups", tags=["telemetry"], responses=GroupPageSerializer)
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """Stored groups, newest step first, the dead groups of each step last.

        A page of a search may hold fewer groups than requested, or none, and still have a `next`: the search continues
        there.
        """
        run = plain_run(request.team, run_id)
        after = None
        if self.query["after"] is not None:
            try:
                after = GroupPlace.read(self.query["after"])
            except ValueError as error:
                raise invalid("/after", "after must be the `next` of a page.", code="invalid_cursor") from error
        groups, following = page(*chosen(run, self.query), after=after, limit=self.query["limit"])
        document = {"object": "list", "data": groups, "has_more": following is not None, "next": following}
        return Response(document)


class KeptView(ApiView):
    noun = Noun.RUNS

    @extend_schema(operation_id="retrieveKeptRollouts", tags=["telemetry"], responses=KeptSerializer)
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """The stored rollouts of the run, and their retention rule."""
        run = plain_run(request.team, run_id, with_spec=True)
        rule = Traces.model_validate(run.effective_spec.get("traces", {}))
        return Response(kept(run.id, rule))


class ExportView(ApiView):
    noun = Noun.RUNS
    queries = {
        "GET": Query.of(
            Choice(name="type", choices=tuple(CONTENT_TYPES), default="jsonl", description="Format of the file."),
            *FILTERS,
        )
    }

    @extend_schema(
        operation_id="exportRollouts",
        tags=["telemetry"],
        responses={(200, kind): OpenApiTypes.BINARY for kind in CONTENT_TYPES.values()},
    )
    def get(self, request: TeamRequest, run_id: str) -> Any:
        """Every stored sample that matches, with its texts and tokens, newest step first."""
        run = plain_run(request.team, run_id)
        kind = self.query["type"]
        return StreamingHttpResponse(
            stream(matching(*chosen(run, self.query)), kind, reasons=has_scopes(request, *REASON_SCOPES)),
            content_type=CONTENT_TYPES[kind],
            headers={"Content-Disposition": f'attachment; filename="{run.id}-rollouts.{kind}"'},
        )


class RolloutDatasetView(ApiView):
    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 413, 429, 503)}

    @extend_schema(
        operation_id="createRolloutDataset",
        tags=["datasets"],
        request=RolloutDatasetSerializer,
        responses={200: DerivedSerializer, 201: DerivedSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest, run_id: str) -> Response:
        """Make a dataset of the run's stored rollouts: its best answers, or pairs of a better and a worse one.

        Needs the scope `runs:read` as well. `dry_run` only counts and creates nothing.
        """
        if not has_scopes(request, Scope.RUNS_READ):
            raise Problem(403, "Not allowed", "This needs a token with the scope runs:read.", code="missing_scope")
        run = plain_run(request.team, run_id, with_spec=True)
        fields = dict(self.body(RolloutDatasetSerializer))
        into, dry_run = Into(**fields.pop("into")), fields.pop("dry_run")
        made = make_dataset(run, request.actor, RolloutChoice(**fields), into, dry_run=dry_run)
        code = status.HTTP_200_OK if dry_run else status.HTTP_201_CREATED
        return Response(DerivedSerializer(made).data, status=code)


class RolloutTokensView(ApiView):
    noun = Noun.RUNS

    @extend_schema(operation_id="retrieveRolloutTokens", tags=["telemetry"], responses=RolloutTokensSerializer)
    def get(self, request: TeamRequest, run_id: str, rollout_id: str) -> Response:
        """Every token of a sample with everything known about it."""
        run = plain_run(request.team, run_id)
        try:
            found = sample_tokens(_rollout(run, rollout_id))
        except TraceGone as gone:
            raise Problem(404, "Not found", str(gone), code="tokens_gone") from gone
        columns = {
            name: None if values is None else base64.b64encode(_bytes(values)).decode()
            for name, values in found.columns.items()
        }
        document = {
            "prompt": found.prompt,
            "completion": found.completion,
            "columns": columns,
            "vocabulary": {str(one): text for one, text in found.vocabulary.items()},
        }
        return Response(document)


def _rollout(run: Run, rollout_id: str) -> Rollout:
    number = int(rollout_id) if rollout_id.isdecimal() and len(rollout_id) <= 18 else -1
    found = Rollout.objects.filter(run=run, pk=number).select_related("trace").first()
    if found is None:
        raise not_found("rollout")
    return found


def _bytes(values: Any) -> bytes:
    """Little-endian; booleans as bytes."""
    kind = values.dtype.newbyteorder("<") if values.dtype.itemsize > 1 else "uint8"
    data: bytes = values.astype(kind, copy=False).tobytes()
    return data
