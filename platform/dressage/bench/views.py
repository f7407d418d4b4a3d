"""REST views of the bench."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.bench import selectors, services
from dressage.bench.documents import bench_document, bench_row
from dressage.bench.samples import collect, run_tags
from dressage.bench.serializers import BenchJobRowSerializer, BenchJobSerializer, CreateBenchJobSerializer
from dressage.common.api.errors import FieldError
from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsEditor, require_scope
from dressage.common.api.problems import Problem, validated
from dressage.common.scopes import Noun, Scope
from dressage.rewards import needs
from dressage.rewards.judges import records
from dressage.rewards.selectors import version_by_ref
from dressage.rewards.trial import DEFAULT_TAGS
from dressage.teams.api import ApiView, TeamRequest
from trainer_core.rewards import RewardDefinition

_SHOWN = {"dataset": Scope.DATASETS_READ, "run": Scope.RUNS_READ}
"""Scope that a token needs to read each source of samples, because the job shows them."""


class BenchJobsView(ApiView):
    """All bench jobs."""

    noun = Noun.REWARDS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 429)}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listRewardBenches", tags=["rewards"], responses=BenchJobRowSerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """The team's bench jobs of the last month, newest first, without samples and results."""
        paginator = self.pagination_class()
        rows = paginator.paginate_queryset(selectors.bench_jobs(request.team), request, self)
        return paginator.get_paginated_response([bench_row(job) for job in rows])

    @extend_schema(
        operation_id="createRewardBench",
        tags=["rewards"],
        request=CreateBenchJobSerializer,
        responses={202: BenchJobSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest) -> Response:
        """Score samples by one or two definitions on the cluster, which has the code sandbox and the judges."""
        fields = self.body(CreateBenchJobSerializer)
        entries = self._entries(fields["definitions"])
        source, samples = collect(request.team, fields["samples"].root)
        if source["type"] in _SHOWN:
            require_scope(request, _SHOWN[source["type"]])
        job = services.create_bench_job(
            request.team,
            request.actor,
            definitions=entries,
            source=source,
            samples=samples,
            thinking=fields.get("thinking") or run_tags(request.team, fields["samples"].root) or DEFAULT_TAGS,
            timeout_s=fields["timeout_s"],
            probed=fields["probes"],
            cluster=fields.get("cluster"),
        )
        return Response(bench_document(job), status=status.HTTP_202_ACCEPTED)

    def _entries(self, wanted: list[dict[str, Any]]) -> list[services.Entry]:
        """Resolve each entry to a definition. Raises a 422 problem that points to every fault."""
        entries: list[services.Entry] = []
        errors: list[FieldError] = []
        for index, entry in enumerate(wanted):
            ref = entry.get("ref")
            try:
                stored = version_by_ref(self.request.team, ref) if ref else None
            except LookupError as error:
                errors.append(FieldError(pointer=f"/definitions/{index}/ref", detail=str(error)))
                continue
            where = ("definitions", index, "definition")
            definition = (
                entry["definition"] if stored is None else validated(RewardDefinition, stored.definition, *where)
            )
            faults = needs.missing(self.request.team, definition, *where)
            errors += [
                FieldError(pointer=f"/definitions/{index}/ref", detail=f["detail"]) if ref else f for f in faults
            ]
            if stored is not None:
                changed = records.faults(self.request.team, stored)
                errors += [FieldError(pointer=f"/definitions/{index}/ref", detail=detail) for detail in changed]
            entries.append((entry.get("label") or ref or "draft", ref, definition))
        if errors:
            raise Problem(422, "Invalid request", errors[0]["detail"], errors=errors, code="unknown_reference")
        return entries


class BenchJobView(ApiView):
    """One bench job."""

    noun = Noun.REWARDS

    @extend_schema(operation_id="getRewardBench", tags=["rewards"], responses=BenchJobSerializer)
    def get(self, request: TeamRequest, bench_id: str) -> Response:
        """A bench job with its samples, its results, flips between two definitions, and flagged probes."""
        return Response(bench_document(selectors.bench_job(request.team, bench_id)))
